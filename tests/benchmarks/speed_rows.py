"""The speed of prefill and decoding, compared with bare MLX, mlx-lm and llama.cpp."""

import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench_models import BenchmarkModel, Models
from hosting import Host
from peer_llama_cpp import LlamaCpp
from peers import MlxPeer, Rates
from rows import Row, at_least, ratio, turns

from sotto.engine.contract.requests import SamplingOptions

_SHAPES = ("smollm2-135m", "qwen3-0.6b", "llama-3.2-1b")
_WEIGHTS = ("4bit", "8bit", "bf16")
# The model that the targets apply to.
_TARGET_MODEL = ("qwen3-0.6b", "4bit")
_DECODE_TARGET, _PREFILL_TARGET = 10, 40
_SMALL, _LARGE = "smollm2-135m", "llama-3.2-1b"
# The default of llama-bench.
_PROMPT = 512


def speed_rows(models: Models, llama_bench: Path | None, only: str, *, quick: bool) -> Iterator[Row]:
    """Compare all shapes, each with weights in 4 bits, in 8 bits and in bfloat16.

    Args:
        models: Creates the models.
        llama_bench: llama.cpp's benchmark; None skips it.
        only: A part of the names of the models to measure.
        quick: Measure less; without `only`, just the smallest shape.
    """
    for shape in _SHAPES if only or not quick else (_SMALL,):
        for weights in _WEIGHTS:
            if only in f"{shape}-{weights}":
                yield from _rows(models, models.get(shape, weights), llama_bench, quick=quick)


def _rows(models: Models, model: BenchmarkModel, llama_bench: Path | None, *, quick: bool) -> Iterator[Row]:
    small = model.shape == _SMALL
    rounds, tokens, prompt, seconds = (1, 16, 128, 1.0) if quick else (3, 32, _PROMPT, 4.0 if small else 10.0)
    with ExitStack() as stack:
        host = stack.enter_context(Host(model.folder))
        host.prefill(2 * prompt)  # chunk sizes adapt to the duration of earlier chunks
        stock = stack.enter_context(MlxPeer(model.folder, "float32"))

        def ours() -> Rates:
            host.forget()
            return Rates(host.prefill(prompt), host.decode(tokens))

        def equal(what: str) -> Rates:
            return stock.measure(what, 32, 8, seconds)

        candidates = {"ours": ours, "stock": lambda: equal("bare")}
        if llama_bench is not None:
            twin = models.gguf(model.shape, model.gguf_type)
            stack.callback(models.remove, twin)
            llama = LlamaCpp(llama_bench, twin.folder)
            candidates["llama"] = lambda: llama.measure(prompt, tokens)
        if small:
            candidates["lm"] = lambda: equal("mlx-lm")
        found = turns(rounds, **candidates)
        has_target = (model.shape, model.weights) == _TARGET_MODEL
        mine = found["ours"]
        for theirs, title, limits in (
            (
                "stock",
                "bare MLX in its best type, float32",
                (_PREFILL_TARGET, _DECODE_TARGET) if has_target else (None, None),
            ),
            ("lm", "mlx-lm in float32", (None, None)),
            ("llama", "llama.cpp at the same bits", (1.0, 1.0) if has_target else (None, None)),
        ):
            if theirs in found:
                for at, what in enumerate(("prefill", "decode")):
                    name = f"{model.name}: {what}, ours / {title}"
                    yield ratio(name, [rates[at] for rates in mine], [rates[at] for rates in found[theirs]], limits[at])
        if small:
            yield from _overhead_rows(model, host, 2 * tokens, 3 * rounds)
    yield from _own_type_rows(model, mine, seconds)


def _overhead_rows(model: BenchmarkModel, host: Host, tokens: int, rounds: int) -> Iterator[Row]:
    """Compare with the shortest loop around the same model and kernels, and greedy answers with sampled ones."""
    found = turns(
        rounds,
        ours=lambda: host.decode(tokens),
        bare=lambda: host.bare(tokens),
        drawn=lambda: host.decode(tokens, sampling=SamplingOptions(seed=1)),
    )
    yield ratio(f"{model.name}: decode, ours / shortest loop with the same kernels", found["ours"], found["bare"], 0.97)
    yield ratio(f"{model.name}: decode, default sampling / greedy", found["drawn"], found["ours"], None)


def _own_type_rows(model: BenchmarkModel, ours: list[Rates], seconds: float) -> Iterator[Row]:
    """Compare with the checkpoint's own type, which is so slow on a CPU that one round of few tokens is enough."""
    mine = Rates(*(statistics.median(values) for values in zip(*ours, strict=True)))
    with MlxPeer(model.folder, "own") as peer:
        # The largest shape takes minutes, so only one is measured: both spend their time in the same matrix products.
        both = (("mlx-lm", "mlx-lm"), ("bare", "bare MLX"))
        for which, title in both[:1] if model.shape == _LARGE else both:
            theirs = peer.measure(which, 32, 8, min(seconds / 2, 2.0))
            for at, what in enumerate(("prefill", "decode")):
                name = f"{model.name}: {what}, ours / {title} in the checkpoint's type"
                limit = 1.0 if which == "mlx-lm" else None
                yield at_least(name, mine[at] / theirs[at], limit, f"{mine[at]:.4g} vs. {theirs[at]:.4g} tok/s")
