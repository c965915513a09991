"""The start of a first use: the time to the first token of a model in cold files, and the memory of its load."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bench_models import BenchmarkModel, Models
from fresh_home import fresh_home
from peer_llama_cpp import completion_of
from rows import Row, at_most, turns

from sotto.engine.kernels.native import thread_count
from sotto.runner.catalogue import find

_PROMPT, _CONTEXT = "tell me a story", "4096"
_GOAL, _MEMORY_GOAL = 0.9, 1.05


class _Start(NamedTuple):
    """The seconds until the first text, and the largest resident memory in bytes, mapped files included."""

    seconds: float
    peak: int


def start_rows(models: Models, llama_bench: Path | None, *, quick: bool) -> Iterator[Row]:
    """Compare `sotto run` with llama.cpp on the same GGUF files, and measure the memory of a load."""
    program = completion_of(llama_bench)
    shape, rounds = ("smollm2-135m", 1) if quick else ("qwen3-4b", 3)
    for weights in ("Q4_0",) if quick else ("Q4_0", "Q4_K_M"):
        model = models.gguf(shape, weights)
        if program is not None:
            yield from _time_rows(model, program, rounds)
        models.remove(model)
    model = models.get(shape, "4bit")
    yield _memory_row(model)
    models.remove(model)


def _time_rows(model: BenchmarkModel, program: Path, rounds: int) -> Iterator[Row]:
    command = [str(program), "-m", str(model.folder), "-p", _PROMPT, "-n", "1", "-t", str(thread_count())]
    quiet = ["-no-cnv", "--no-display-prompt", "-fa", "on", "-c", _CONTEXT]
    found = turns(
        rounds,
        ours=lambda: _first_use(model.folder),
        theirs=lambda: _started([*command, *quiet], model.folder, os.environ),
    )
    mine, other = (min(start.seconds for start in found[who]) for who in ("ours", "theirs"))
    peaks = [max(start.peak for start in found[who]) / 1e6 for who in ("ours", "theirs")]
    size = model.folder.stat().st_size / 1e6
    detail = f"{mine:.2f} s vs. {other:.2f} s, best of {rounds}; peak {peaks[0]:.0f} vs. {peaks[1]:.0f} MB"
    title = f"{model.name} as a file of {size:.0f} MB, cold: time to first token, ours / llama.cpp"
    yield at_most(title, mine / other, _GOAL, detail)


def _memory_row(model: BenchmarkModel) -> Row:
    """Compare the peak memory of a load with the file where weights need no change."""
    size = (model.folder / "model.safetensors").stat().st_size
    peak = _first_use(model.folder).peak
    # What a process takes with a tiny model: the interpreter, MLX and the tokenizer.
    alone = _first_use(find("sotto").path).peak
    detail = (
        f"{peak / 1e6:.0f} MB, of which {alone / 1e6:.0f} MB with the tiny built-in model; {size / 1e6:.0f} MB of file"
    )
    return at_most(f"{model.name}: peak memory of a start / file", (peak - alone) / size, _MEMORY_GOAL, detail)


def _first_use(model: Path) -> _Start:
    """Start `sotto run` with a new home, so that nothing is remembered from earlier starts."""
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "sotto", "run", str(model), "--raw", "--num-predict", "1"]
        return _started([*command, "--num-ctx", _CONTEXT, _PROMPT], model, fresh_home(home))


def _started(command: list[str], model: Path, environment: Mapping[str, str]) -> _Start:
    """Start a program while the files of a model are not in memory, and wait for the first text that it prints."""
    for path in model.iterdir() if model.is_dir() else (model,):
        _forget(path)
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    text = process.stdout.read(1)
    seconds = time.perf_counter() - began
    peak = _peak_of(process.pid)
    process.stdout.read()
    process.stdout.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if not text or process.returncode:
        raise RuntimeError(f"{command[0]} printed {text!r} and ended with status {process.returncode}.")
    return _Start(seconds, peak or used.ru_maxrss)


def _peak_of(pid: int) -> int:
    """Return the largest resident memory of a process so far; 0 where the system does not tell.

    On Linux, `ru_maxrss` of a process that has ended includes the memory of the one that started it.
    """
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else ()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _forget(path: Path) -> None:
    """Have the system drop what it holds of a file, where it can."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if hasattr(os, "posix_fadvise"):
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
