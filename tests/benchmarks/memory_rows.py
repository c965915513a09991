"""Planned memory compared with the memory used, and the memory that a load takes."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mlx.core as mx
from bench_models import BenchmarkModel, Models
from hosting import Host, unseen
from rows import Row, at_most

from sotto.engine.footprint.model_needs import limits_here, needs_of
from sotto.engine.generation.chunk_sizing import ChunkSize, ChunkSizing
from sotto.engine.kernels import native
from sotto.engine.memory.memory_plan import plan
from sotto.store.opening import open_model, record_of

_MAX_ERROR = 0.15
_ANSWER_TOKENS = 8
_LOAD = """
import json, sys
from pathlib import Path
from sotto.engine.kernels import device
device.prepare()
import mlx.core as mx
from sotto.engine.engine import Engine
from sotto.store.opening import open_model, record_of
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
before = peak()
engine = Engine()
info = engine.load(open_model(record_of(Path(sys.argv[1]))))
print(json.dumps({"weights": info.weight_bytes, "mlx": mx.get_peak_memory(), "process": peak() - before,
                  "seconds": info.load_duration / 1e9}))
"""


def plan_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare the memory planned for a context with the peak while that context is filled."""
    if quick:
        yield _plan_row(models.get("smollm2-135m", "4bit"), 1024, 512)
        return
    for shape, weights, context, chunk in (
        ("smollm2-135m", "4bit", 8192, 2048),
        ("smollm2-135m", "bf16", 2048, 128),
        ("qwen3-0.6b", "4bit", 4096, 2048),
        ("qwen3-0.6b", "8bit", 1024, 512),
        ("llama-3.2-1b", "4bit", 2048, 512),
    ):
        yield _plan_row(models.get(shape, weights), context, chunk)


def _plan_row(model: BenchmarkModel, context: int, chunk: int) -> Row:
    source = open_model(record_of(model.folder))
    planned = plan(needs_of(source, limits_here(), native.kernels()), limits_here(), context, chunk)
    mx.clear_cache()
    before = mx.get_active_memory()
    with Host(model.folder, num_ctx=context) as host:
        # Use the planned chunk size instead of one adapted to the machine's speed.
        host.scheduler._sizing = ChunkSizing(ChunkSize(largest=planned.chunk))
        host.start("m", unseen(context - _ANSWER_TOKENS), _ANSWER_TOKENS - 1)
        for _ in host.steps():
            pass
        taken = mx.get_peak_memory() - before
    detail = f"{planned.needed / 1e6:.0f} MB planned, {taken / 1e6:.0f} MB taken, {model.folder.name}"
    name = f"{model.name}: error of the memory plan, {context} tokens in chunks of {planned.chunk}"
    return at_most(name, abs(planned.needed / taken - 1), _MAX_ERROR, detail, unit="")


def load_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare the peak memory of a load with the size of the weights."""
    for weights in ("4bit",) if quick else ("4bit", "bf16"):
        yield from _load_rows(models.get("smollm2-135m", weights))


def _load_rows(model: BenchmarkModel) -> Iterator[Row]:
    command = [sys.executable, "-c", _LOAD, str(model.folder)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for what in ("mlx", "process") if Path("/proc/self/status").exists() else ("mlx",):
        detail = f"{found[what] / 1e6:.0f} MB for {found['weights'] / 1e6:.0f} MB of weights, {found['seconds']:.2f} s"
        name = f"{model.name}: peak memory of a load / weights ({what})"
        yield at_most(name, found[what] / found["weights"], 1.15 if what == "mlx" else None, detail)
