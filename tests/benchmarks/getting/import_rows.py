"""Importing with quantization, compared with `mlx_lm.convert` for the same recipe, and the memory that it takes.

Both are measured as commands, from the start of their processes to the end.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping

import psutil
from bench_models import BenchmarkModel, Models
from rows import Row, at_most, turns

from sotto.store.safetensors_header import read_header
from sotto.store.sources.plain_folders import look_into

_RECIPE, _GROUP = "mixed_4_6", "64"
_MOST_TIME = 1.3
_FREE_BYTES = 300 << 20
_POLL_SECONDS = 0.02


def import_rows(models: Models, *, quick: bool) -> Iterator[Row]:
    """Compare the time of an import with mlx-lm's, and its memory with the largest tensor."""
    for shape in ("smollm2-135m",) if quick else ("smollm2-135m", "llama-3.2-1b"):
        yield from _rows(models.get(shape, "bf16"), 1 if quick else 5)


def _rows(model: BenchmarkModel, rounds: int) -> Iterator[Row]:
    peaks = []

    def ours() -> float:
        with tempfile.TemporaryDirectory(dir=model.folder.parent) as folder:
            line = ("sotto", "import", str(model.folder), "benchmark", "--quantize", _RECIPE)
            seconds, peak = _run(line, {"XDG_DATA_HOME": folder})
            peaks.append(peak)
            return seconds

    def theirs() -> float:
        with tempfile.TemporaryDirectory(dir=model.folder.parent) as folder:
            paths = ("--hf-path", str(model.folder), "--mlx-path", f"{folder}/mlx")
            line = ("mlx_lm", "convert", *paths, "-q", "--quant-predicate", _RECIPE, "--q-group-size", _GROUP)
            return _run(line, {"HF_HUB_OFFLINE": "1"})[0]

    found = turns(rounds, ours=ours, theirs=theirs)
    ratios = sorted(mine / other for mine, other in zip(found["ours"], found["theirs"], strict=True))
    mine, other = (sorted(found[name])[rounds // 2] for name in ("ours", "theirs"))
    detail = f"{mine:.1f} vs. {other:.1f} s, {rounds} rounds, {_RECIPE}"
    yield at_most(f"{model.name}: time of an import / mlx-lm's convert", ratios[rounds // 2], _MOST_TIME, detail)
    files = [read_header(path) for path in look_into(model.folder).weight_files()]
    largest = max(tensor.nbytes for file in files for tensor in file.tensors.values())
    share = max(peaks) / (3 * largest + _FREE_BYTES)
    detail = f"{max(peaks) / 1e6:.0f} MB for a largest tensor of {largest / 1e6:.0f} MB, {_RECIPE}"
    yield at_most(f"{model.name}: peak memory of an import / (3 x largest tensor + 300 MB)", share, 1, detail)


def _run(line: tuple[str, ...], variables: Mapping[str, str]) -> tuple[float, int]:
    """Run a module of Python with arguments; return the seconds, and the most memory of it and its children."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", *line],
        env=os.environ | variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    most = 0
    while process.poll() is None:
        most = max(most, _resident(process.pid))
        time.sleep(_POLL_SECONDS)
    if process.returncode:
        raise RuntimeError(f"{' '.join(line)} ended with status {process.returncode}.")
    return time.perf_counter() - started, most


def _resident(pid: int) -> int:
    """Return the resident bytes of a process and its children; those that have just ended count as none."""
    total = 0
    try:
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            total += one.memory_info().rss
    except psutil.NoSuchProcess:
        pass
    return total
