"""Importing with quantization, compared with `convert` of mlx-lm for the same recipe, and the memory that it takes."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench_models import BenchmarkModel, Models
from rows import Row, at_most, turns

from sotto.store.sources.plain_folders import look_into

_MOST_TIME = 1.3
_FREE_BYTES = 300 << 20
# What its libraries take to import is not counted for mlx-lm, but everything is counted for Sotto.
_CONVERT = """
import json, sys, time
from mlx_lm.convert import convert
started = time.perf_counter()
convert(sys.argv[1], sys.argv[2], quantize=True, q_group_size=64, q_bits=4, quant_predicate=sys.argv[3] or None)
print(json.dumps(time.perf_counter() - started))
"""
_IMPORT = """
import json, sys, threading
from pathlib import Path
import psutil
from sotto.engine.quantizing.importer import plan_import, run_import
from sotto.store.importing import import_plan

this, most, done = psutil.Process(), 0, threading.Event()
def watch():
    global most
    while not done.wait(0.02):
        total = 0
        for process in [this, *this.children(recursive=True)]:
            try:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:
                pass
        most = max(most, total)
watcher = threading.Thread(target=watch)
watcher.start()
plan = plan_import(Path(sys.argv[1]), sys.argv[2])
run_import(plan, "benchmark:it", lambda progress: None, lambda: False)
done.set()
watcher.join()
print(json.dumps(most))
"""


def import_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare the time of an import with mlx-lm's, and its memory with the largest tensor."""
    for shape in ("smollm2-135m",) if quick else ("smollm2-135m", "llama-3.2-1b"):
        yield from _rows(models.get(shape, "bf16"), 1 if quick else 3)


def _rows(model: BenchmarkModel, rounds: int) -> Iterator[Row]:
    peaks = []

    def ours() -> float:
        with tempfile.TemporaryDirectory(dir=model.folder.parent) as folder:
            started = time.perf_counter()
            peaks.append(_run(_IMPORT, {"XDG_DATA_HOME": folder}, str(model.folder), "mixed_4_6"))
            return time.perf_counter() - started

    def theirs() -> float:
        folder = Path(tempfile.mkdtemp(dir=model.folder.parent))
        try:
            return _run(_CONVERT, {"HF_HUB_OFFLINE": "1"}, str(model.folder), str(folder / "mlx"), "mixed_4_6")
        finally:
            shutil.rmtree(folder)

    found = turns(rounds, ours=ours, theirs=theirs)
    ratios = sorted(mine / other for mine, other in zip(found["ours"], found["theirs"], strict=True))
    mine, other = (sorted(found[name])[rounds // 2] for name in ("ours", "theirs"))
    detail = f"{mine:.1f} vs. {other:.1f} s, {rounds} rounds, mixed_4_6"
    yield at_most(f"{model.name}: time of an import / mlx-lm's convert", ratios[rounds // 2], _MOST_TIME, detail)
    largest = max(tensor.nbytes for tensor in _tensors(model.folder))
    limit = 3 * largest + _FREE_BYTES
    detail = f"{max(peaks) / 1e6:.0f} MB for a largest tensor of {largest / 1e6:.0f} MB, mixed_4_6"
    yield at_most(
        f"{model.name}: peak memory of an import / (3 x largest tensor + 300 MB)", max(peaks) / limit, 1, detail
    )


def _tensors(folder: Path):
    from sotto.store.safetensors_header import read_header

    for path in look_into(folder).weight_files():
        yield from read_header(path).tensors.values()


def _run(script: str, variables: dict[str, str], *arguments: str) -> float:
    import os

    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | variables)
    return json.loads(done.stdout.splitlines()[-1])
