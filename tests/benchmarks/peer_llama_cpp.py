"""llama.cpp's own programs: find them, or build them from the source in the package llama-cpp-python, and run them.

`python tests/benchmarks/peer_llama_cpp.py` prints the path of `llama-bench`, and builds all of them first if necessary.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

import platformdirs
from peers import Rates

from sotto.engine.kernels.native import thread_count

VARIABLE = "SOTTO_LLAMA_BENCH"
_PACKAGE = "llama-cpp-python"
_VERSION = "0.3.36"
# Its benchmark, the program that answers a prompt in a terminal, and the server.
_BENCH, _COMPLETION, _SERVER = _PROGRAMS = ("llama-bench", "llama-completion", "llama-server")
# Tuned to this machine, with OpenMP, and without parts that only other devices need.
_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DGGML_NATIVE=ON",
    "-DGGML_OPENMP=ON",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_SERVER=ON",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_BUILD_TOOLS=ON",
)
# Prompts at least this long are measured without a warm-up of the same length, after a short one.
_LONG, _SHORT = 2048, 32


def find(*, build: bool = False) -> Path | None:
    """Return the path of llama-bench, from the environment variable, the search path or an earlier build.

    Args:
        build: Whether to build it, and the other programs, if it is not complete.
    """
    path = os.environ.get(VARIABLE)
    if path:
        if not Path(path).is_file():
            raise FileNotFoundError(f"{VARIABLE} names {path}, which is not a file.")
        return Path(path)
    on_path = shutil.which(_BENCH)
    if on_path:
        return Path(on_path)
    folder = _folder() / "build" / "bin"
    if build and not all((folder / name).is_file() for name in _PROGRAMS):
        _build()
    return folder / _BENCH if (folder / _BENCH).is_file() else None


def server_of(llama_bench: Path | None) -> Path | None:
    """Return the path of llama-server, which is beside llama-bench; None if it is not there."""
    return _beside(llama_bench, _SERVER)


def completion_of(llama_bench: Path | None) -> Path | None:
    """Return the path of llama-completion, which is beside llama-bench; None if it is not there."""
    return _beside(llama_bench, _COMPLETION)


def _beside(llama_bench: Path | None, name: str) -> Path | None:
    found = llama_bench.with_name(name) if llama_bench else None
    return found if found is not None and found.is_file() else None


def _folder() -> Path:
    return Path(platformdirs.user_cache_dir("sotto-benchmarks", appauthor=False)) / f"llama-cpp-{_VERSION}"


def _build() -> None:
    """Download the source and build it in the cache folder, which takes some minutes."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "source"
    if not source.is_dir():
        with tempfile.TemporaryDirectory(dir=folder) as fetched:
            download = ["-m", "pip", "download", "--no-deps", "--no-binary", _PACKAGE, "-q", "-d", fetched]
            _run(_python(folder), *download, f"{_PACKAGE}=={_VERSION}")
            (archive,) = Path(fetched).glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                packed.extractall(fetched, filter="data")
            (found,) = Path(fetched).glob("*/vendor/llama.cpp")
            found.rename(source)
    cmake, generator = _cmake(folder)
    flags = f"-DCMAKE_CXX_FLAGS=-include {Path(__file__).with_name('peer_tiles.h')}"
    _run(cmake, "-S", str(source), "-B", str(folder / "build"), *generator, *_OPTIONS, flags)
    _run(cmake, "--build", str(folder / "build"), "--target", *_PROGRAMS, "-j", str(os.cpu_count()))


def _cmake(folder: Path) -> tuple[str, list[str]]:
    """Return the path of cmake, from PyPI if the system has none, and the options that select a generator."""
    found = shutil.which("cmake")
    if found and (shutil.which("ninja") or shutil.which("make")):
        return found, ["-G", "Ninja"] if shutil.which("ninja") else []
    _run(python := _python(folder), "-m", "pip", "install", "-q", "cmake", "ninja")
    programs = Path(python).parent
    return str(programs / "cmake"), ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={programs / 'ninja'}"]


def _python(folder: Path) -> str:
    """Return the path of a Python with pip, which the environment of the tests need not have."""
    python = folder / "tools" / "bin" / "python"
    if not python.is_file():
        venv.create(folder / "tools", with_pip=True)
    return str(python)


def _run(*command: str) -> None:
    print(" ".join(command), file=sys.stderr, flush=True)
    subprocess.run(command, check=True, stdout=sys.stderr)


class LlamaCpp:
    """llama-bench with flash attention, as many threads as there are cores for it, and one model."""

    def __init__(self, program: Path, file: Path, threads: int | None = None) -> None:
        self._program = program
        self._file = file
        self._threads = threads or thread_count()

    def measure(self, prompt: int, tokens: int) -> Rates:
        """Measure once with a prompt and an answer of these numbers of tokens."""
        found = self._tests("-p", str(prompt), "-n", str(tokens))
        rates = {bool(test["n_gen"]): float(test["avg_ts"]) for test in found}
        return Rates(prefill=rates[False], decode=rates[True])

    def prefill(self, tokens: int) -> float:
        """Return tokens per second while a prompt is evaluated."""
        amounts = [str(tokens)] if tokens < _LONG else [f"{_SHORT},{tokens}", "--no-warmup"]
        return float(self._tests("-p", *amounts, "-n", "0")[-1]["avg_ts"])

    def decode(self, tokens: int, depth: int, rounds: int = 1) -> list[float]:
        """Return tokens per second of `rounds` answers of that many tokens after a context of `depth` tokens."""
        amounts = ["-p", "0", "-n", str(tokens), "-d", str(depth), "-r", str(rounds)]
        return [float(rate) for rate in self._tests(*amounts)[-1]["samples_ts"]]

    def _tests(self, *options: str) -> list[dict]:
        command = [str(self._program), "-m", str(self._file), "-t", str(self._threads), "-fa", "1", "-o", "json"]
        once = () if "-r" in options else ("-r", "1")
        done = subprocess.run([*command, *once, *options], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"llama-bench failed with {self._file.name}: {done.stderr.strip()[-500:]}")
        return json.loads(done.stdout)


if __name__ == "__main__":
    print(find(build=True))
