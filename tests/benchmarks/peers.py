"""Programs that run models in a separate process, and answer lines of JSON with lines of JSON."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, Self

HERE = Path(__file__).resolve().parent


class Rates(NamedTuple):
    """Tokens per second of prefill and decoding."""

    prefill: float
    decode: float


class _Peer:
    """A script of this folder in a separate process, used as a context manager."""

    def __init__(self, script: str, *arguments: str) -> None:
        """Start the script, and wait until its model is loaded."""
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.loaded = self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def ask(self, *request: Any) -> Any:
        """Send one request, and return its answer."""
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended with status {self._process.wait()}.")
        return json.loads(line)


class MlxPeer(_Peer):
    """Bare MLX and mlx-lm."""

    def __init__(self, folder: Path, compute_type: str) -> None:
        """Load a model; `compute_type` is `own` or `float32`."""
        super().__init__("peer_mlx.py", str(folder), compute_type)

    def measure(self, what: str, prompt: int, tokens: int, seconds: float) -> Rates:
        """Measure `bare` or `mlx-lm` with at most these numbers of tokens, for about `seconds` each."""
        found = self.ask(what, prompt, tokens, seconds)
        return Rates(found["prefill"], found["decode"])


class SottoPeer(_Peer):
    """Our engine, where it may not use all cores or should not keep its memory.

    Attributes:
        active_bytes: Bytes of the weights that one token of an answer reads.
    """

    def __init__(self, model: Path, kv_bits: int | None = None) -> None:
        """Load a model by its folder or file; `kv_bits` are those of keys and values."""
        super().__init__("peer_sotto.py", str(model), str(kv_bits or 0))
        self.active_bytes: int = self.loaded["active_bytes"]

    def prefill(self, tokens: int) -> float:
        """Return tokens per second while a new prompt is evaluated."""
        return self.ask("prefill", tokens)

    def fill(self, depth: int) -> int:
        """Cache a context of `depth` tokens for `decode`; return the bytes of its keys and values."""
        return self.ask("fill", depth)

    def decode(self, tokens: int) -> float:
        """Return tokens per second of an answer of that many tokens after the context of `fill`."""
        return self.ask("decode", tokens)

    def read(self, tokens: int) -> list[tuple[int, float]]:
        """Return the numbers of tokens of a new prompt that were evaluated, each with the seconds until then."""
        return self.ask("read", tokens)
