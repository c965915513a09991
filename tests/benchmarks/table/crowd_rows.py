"""Several clients at once of `sotto serve`, compared with llama.cpp's own server."""

import math
from collections.abc import Iterator
from pathlib import Path

from bench_models import Models
from hosting import unseen
from load_rows import Clients, quantile
from peer_llama_cpp import server_of
from rows import Row, at_most, ratio, turns
from servers import LlamaServer, SottoServer

_COUNTS = (1, 4, 16, 64)
_RATE_GOAL, _FIRST_GOAL = 1.2, 0.8
_PROMPT, _TOKENS, _CONTEXT = 64, 48, 256
_FEWEST = 4


def crowd_rows(models: Models, llama_bench: Path | None, *, quick: bool) -> Iterator[Row]:
    """Compare tokens per second of all streams together, and the time to the first token."""
    program = server_of(llama_bench)
    if program is None:
        print("The comparison with llama-server is skipped: it is not beside llama-bench.")
        return
    shape, counts = ("smollm2-135m", (1, 4)) if quick else ("llama-3.2-1b", _COUNTS)
    model, twin = models.get(shape, "4bit"), models.gguf(shape, "Q4_0")
    with (
        SottoServer(model.name, model.folder) as ours,
        LlamaServer(program, twin.folder, counts[-1], _CONTEXT) as theirs,
        Clients() as clients,
    ):
        for server in (ours, theirs):
            clients.ask_well(server, 1, [unseen(_PROMPT)], _TOKENS)
        for count in counts:
            each = math.ceil(_FEWEST / count)

            def prompts(count: int = count, each: int = each) -> list[str]:
                return [unseen(_PROMPT) for _ in range(count * each)]

            found = turns(
                1 if count == _COUNTS[-1] else 2,
                ours=lambda count=count: clients.ask_well(ours, count, prompts(), _TOKENS),
                theirs=lambda count=count: clients.ask_well(theirs, count, prompts(), _TOKENS),
            )
            title = f"{model.name} over HTTP, {count} at once"
            rates = {who: [part.rate for part in of] for who, of in found.items()}
            yield ratio(f"{title}: total tokens/s, ours / llama-server", rates["ours"], rates["theirs"], _RATE_GOAL)
            firsts = {who: sorted(answer.first for part in of for answer in part.answers) for who, of in found.items()}
            mine, other = (quantile(firsts[who], 99) for who in ("ours", "theirs"))
            detail = f"{mine * 1e3:.0f} ms vs. {other * 1e3:.0f} ms, {len(firsts['ours'])} requests"
            yield at_most(f"{title}: time to first token p99, ours / llama-server", mine / other, _FIRST_GOAL, detail)
    for done in (model, twin):
        models.remove(done)
