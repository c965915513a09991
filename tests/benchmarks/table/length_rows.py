"""How the cost of a prompt grows with its length, and answers in a long context with keys and values in fewer bits."""

import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path

from bench_models import Models
from peer_llama_cpp import LlamaCpp
from peers import SottoPeer
from rows import Row, at_most, ratio, turns
from table.choice import Choice

_SHAPE = "qwen3-0.6b"
_GOAL = 1.1
_LENGTHS = (1024, 2048, 4096, 8192)
_DEPTH, _TOKENS, _ROUNDS = 16384, 32, 3
_STEP_GOAL = 1.25
_FEWER_BITS = (16, 8, 4)


def length_rows(models: Models, llama_bench: Path | None, choice: Choice, *, quick: bool) -> Iterator[Row]:
    """Evaluate one long prompt with marks at shorter lengths, and compare each with llama.cpp."""
    shape = "smollm2-135m" if quick else _SHAPE
    lengths = sorted(choice.lengths) or ((128, 256) if quick else _LENGTHS)
    model, twin = models.get(shape, "4bit"), models.gguf(shape, "Q4_0")
    with SottoPeer(model.folder) as ours:
        # The last token of a prompt is computed with the answer.
        steps = ours.read(lengths[-1] + 1)
    for length in lengths:
        seconds = _seconds_until(length, steps)
        if llama_bench is not None:
            theirs = LlamaCpp(llama_bench, twin.folder).prefill(length)
            name = f"{model.name}: prompt of {length} tokens, ours / llama.cpp in Q4_0"
            row = ratio(name, [length / seconds], [theirs], _GOAL)
            rates = {"ours": length / seconds, "theirs": theirs}
            figures = {"shape": shape, "weights": "4bit", "what": "length", "tokens": length, "rate": rates}
            yield Row(row.name, row.value, row.unit, row.target, row.met, row.detail, figures)
    yield _step_row(model.name, steps)
    yield from _kv_rows(model.folder, model.name, 256 if quick else _DEPTH)
    for done in (model, twin):
        models.remove(done)


def _seconds_until(length: int, steps: Sequence[tuple[int, float]]) -> float:
    """Return the seconds until `length` tokens were done, between two steps in proportion."""
    for (before, began), (after, ended) in pairwise([(0, 0.0), *steps]):
        if after >= length:
            return began + (ended - began) * (length - before) / (after - before)
    raise RuntimeError(f"Only {steps[-1][0]} of {length} tokens were evaluated.")


def _step_row(name: str, steps: Sequence[tuple[int, float]]) -> Row:
    """Compare the cost per token of each eighth of the prompt with what the costs of its neighbours suggest."""
    total = steps[-1][0]
    marks = [_seconds_until(total * eighth // 8, steps) for eighth in range(1, 9)]
    costs = [later - before for before, later in pairwise([0.0, *marks])]
    most = max(
        (costs[at] / statistics.mean((costs[at - 1], costs[at + 1])) for at in range(1, len(costs) - 1)), default=1.0
    )
    detail = "seconds of each eighth: " + ", ".join(f"{cost:.2f}" for cost in costs)
    title = f"{name}: largest step in the cost of a prompt of {total} tokens, an eighth / the mean of its neighbours"
    return at_most(title, most, _STEP_GOAL, detail)


def _kv_rows(folder: Path, name: str, depth: int) -> Iterator[Row]:
    """Compare answers with keys and values in 16, 8 and 4 bits with those of full precision."""
    with ExitStack() as stack:
        peers = {str(bits): stack.enter_context(SottoPeer(folder, bits)) for bits in (None, *_FEWER_BITS)}
        for peer in peers.values():
            peer.fill(depth)
            peer.decode(_TOKENS)
        rates = turns(_ROUNDS, **{bits: partial(peer.decode, _TOKENS) for bits, peer in peers.items()})
    for bits in _FEWER_BITS:
        title = f"{name}: decode at {depth}, keys and values in {bits} bits / in full"
        yield ratio(title, rates[str(bits)], rates[str(None)], 1.0)
