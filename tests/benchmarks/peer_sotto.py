"""Our engine in a separate process, which may be limited to some cores: `python peer_sotto.py MODEL KV_BITS`.

It prints a line of JSON once the model is loaded, then one for each line on stdin, `[what, number]`:

- `prefill`: tokens per second while a new prompt of that many tokens is evaluated;
- `fill`: cache a context of that many tokens; the bytes of the keys and values that an answer's first token reads;
- `decode`: tokens per second of an answer of that many tokens after this context;
- `read`: the numbers of tokens of a new prompt of that many tokens that were evaluated, with the seconds until then.
"""

import json
import sys
from pathlib import Path

from sotto.engine.kernels import device

device.prepare()

from hosting import Host  # noqa: E402

from sotto.engine.contract.engine_settings import EngineSettings  # noqa: E402

# Chunk sizes adapt to the duration of earlier chunks, and memory is touched for the first time.
_WARM_UP_TOKENS = 256


class _Session:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._prompt = ""

    def prefill(self, tokens: int) -> float:
        self._host.forget()
        return self._host.prefill(tokens)

    def fill(self, tokens: int) -> int:
        self._host.forget()
        self._prompt, seen = self._host.fill(tokens) if tokens else ("a b c d", 0)
        return seen

    def decode(self, tokens: int) -> float:
        return self._host.decode(tokens, self._prompt)

    def read(self, tokens: int) -> list[tuple[int, float]]:
        self._host.forget()
        return self._host.progress(tokens)


def main() -> None:
    kv_bits = int(sys.argv[2]) or None
    with Host(Path(sys.argv[1]), EngineSettings(kv_bits=kv_bits)) as host:
        session = _Session(host)
        session.prefill(_WARM_UP_TOKENS)
        print(json.dumps({"active_bytes": host.active_bytes, "config": dict(host.config)}), flush=True)
        for line in sys.stdin:
            what, number = json.loads(line)
            print(json.dumps(getattr(session, what)(number)), flush=True)


main()
