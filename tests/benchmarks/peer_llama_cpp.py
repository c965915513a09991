"""llama.cpp's own benchmark: find it, or build it from its source in the package llama-cpp-python, and run it.

`python tests/benchmarks/peer_llama_cpp.py` prints the path of `llama-bench`, and builds it first if necessary.
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
from bench_models import WEIGHTS, BenchmarkModel
from gguf_models import write_gguf
from peers import Rates

VARIABLE = "SOTTO_LLAMA_BENCH"
_PACKAGE = "llama-cpp-python"
_VERSION = "0.3.36"
# Tuned to this machine, with OpenMP, and without parts that only a server or other devices need.
_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DGGML_NATIVE=ON",
    "-DGGML_OPENMP=ON",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_SERVER=OFF",
    "-DLLAMA_BUILD_TOOLS=ON",
)


def find(*, build: bool = False) -> Path | None:
    """Return the path of llama-bench, from the environment variable, the search path or an earlier build.

    Args:
        build: Whether to build it if there is none.
    """
    path = os.environ.get(VARIABLE)
    if path:
        if not Path(path).is_file():
            raise FileNotFoundError(f"{VARIABLE} names {path}, which is not a file.")
        return Path(path)
    on_path = shutil.which("llama-bench")
    if on_path:
        return Path(on_path)
    built = _folder() / "build" / "bin" / "llama-bench"
    if not built.is_file() and build:
        _build()
    return built if built.is_file() else None


def _folder() -> Path:
    return Path(platformdirs.user_cache_dir("sotto-benchmarks", appauthor=False)) / f"llama-cpp-{_VERSION}"


def _build() -> None:
    """Download the source and build it in the cache folder, which takes some minutes."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "source"
    if not source.is_dir():
        with tempfile.TemporaryDirectory(dir=folder) as fetched:
            pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", _PACKAGE, "-q", "-d", fetched]
            _run(*pip, f"{_PACKAGE}=={_VERSION}")
            (archive,) = Path(fetched).glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                packed.extractall(fetched, filter="data")
            (found,) = Path(fetched).glob("*/vendor/llama.cpp")
            found.rename(source)
    cmake, generator = _cmake(folder)
    _run(cmake, "-S", str(source), "-B", str(folder / "build"), *generator, *_OPTIONS)
    _run(cmake, "--build", str(folder / "build"), "--target", "llama-bench", "-j", str(os.cpu_count()))


def _cmake(folder: Path) -> tuple[str, list[str]]:
    """Return the path of cmake, from PyPI if the system has none, and the options that select a generator."""
    found = shutil.which("cmake")
    if found and (shutil.which("ninja") or shutil.which("make")):
        return found, ["-G", "Ninja"] if shutil.which("ninja") else []
    tools = folder / "tools"
    venv.create(tools, with_pip=True)
    _run(str(tools / "bin" / "python"), "-m", "pip", "install", "-q", "cmake", "ninja")
    return str(tools / "bin" / "cmake"), ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'bin' / 'ninja'}"]


def _run(*command: str) -> None:
    print(" ".join(command), file=sys.stderr, flush=True)
    subprocess.run(command, check=True, stdout=sys.stderr)


class LlamaCpp:
    """llama.cpp on all cores, with a model of the same shape and number of bits as a benchmark model."""

    def __init__(self, program: Path, model: BenchmarkModel, folder: Path) -> None:
        """Write the model; the caller removes the file."""
        self._program = program
        self.file = write_gguf(folder / f"{model.name}.gguf", model.config, WEIGHTS[model.weights])

    def measure(self, prompt: int, tokens: int) -> Rates:
        """Measure once with a prompt and an answer of these numbers of tokens."""
        threads = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
        amounts = ["-p", str(prompt), "-n", str(tokens), "-r", "1", "-t", str(threads)]
        done = subprocess.run(
            [str(self._program), "-m", str(self.file), *amounts, "-o", "json"],
            capture_output=True,
            text=True,
            check=True,
        )
        rates = {bool(test["n_gen"]): float(test["avg_ts"]) for test in json.loads(done.stdout)}
        return Rates(prefill=rates[False], decode=rates[True])


if __name__ == "__main__":
    print(find(build=True))
