"""Build the native kernels: C++ in `desktop/native` to shared libraries in `desktop/sotto/_native`.

    python packaging/native_build.py          build with the packages of this Python, and print the result

The normal install does the same through `build_hook.py`. The kernels are optional: on platforms other than Linux,
without a C++20 compiler, or if the compilation fails, the folder contains only a record of the reason, and Sotto
computes with MLX alone. The compiler is called directly. Files whose names end in `_avx2`, `_dotprod` or another level
of `LEVELS` are compiled with the flags for those instructions, and only for processors of that architecture; all others
run on any processor.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "desktop" / "native"
TARGET = ROOT / "desktop" / "sotto" / "_native"
OBJECTS = ROOT / "build" / "native"
# Shares types with MLX, so its ABI version must be that of the nanobind which the MLX wheel was built with.
NANOBIND = "nanobind==3.1.0"
COMPILERS = ("g++", "clang++", "c++")
COMMON = ("-O3", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-pthread")
# Results must not depend on which multiplications the compiler fuses; the code fuses explicitly where it should.
CPP = ("-std=c++20", "-ffp-contract=off", "-DNB_DOMAIN=mlx", "-DNB_COMPACT_ASSERTIONS", "-Wall", "-Wextra")
# WORKAROUND: GCC 12 warns about the undefined upper parts of vectors in its own AVX-512 headers. Retry without these
# flags when Debian's default compiler changes.
SILENCED = ("-Wno-uninitialized", "-Wno-maybe-uninitialized")
AVX512 = ("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mfma", "-mf16c")
# WORKAROUND: scheduled before registers are allocated, the kernels' accumulators do not fit into GCC 12's 32 registers.
# Count the instructions of the inner loops without this flag when Debian's default compiler changes.
ARM = ("-fno-schedule-insns",)
LEVELS: dict[str, dict[str, tuple[str, ...]]] = {
    "x86_64": {
        "_sse2": (),
        "_avx2": ("-mavx2", "-mfma", "-mf16c", *SILENCED),
        "_avx512": (*AVX512, *SILENCED),
        "_vnni": (*AVX512, "-mavx512vnni", *SILENCED),
        "_amx": (*AVX512, "-mavx512vnni", *SILENCED),
    },
    "aarch64": {
        "_neon": ARM,
        "_dotprod": ("-march=armv8.2-a+dotprod", *ARM),
        "_i8mm": ("-march=armv8.2-a+dotprod+i8mm", *ARM),
    },
}
COMPILATION_TIMEOUT_S = 600.0


class NotBuiltError(Exception):
    """The kernels cannot be built; the message says why."""


def main() -> int:
    """Build in the source tree, print the result, and return 0 if the kernels were built."""
    record = build()
    print(f"Native kernels: {'built' if record['built'] else record['reason']}")
    return 0 if record["built"] else 1


def build() -> dict[str, object]:
    """Build the kernels for this platform, and return the record that is written beside them."""
    TARGET.mkdir(exist_ok=True)
    record_path = TARGET / record_name()
    record_path.unlink(missing_ok=True)
    try:
        record = _build()
    except NotBuiltError as error:
        record = {"built": False, "reason": str(error)}
    for path in products():
        if not record["built"]:
            path.unlink(missing_ok=True)
    record_path.write_text(json.dumps(record, indent=2) + "\n")
    return record


def record_name() -> str:
    """Return the name of the record for this Python."""
    return f"{sysconfig.get_config_var('SOABI')}.json"


def why_missing() -> str:
    """Return why the last build for this Python made no kernels; an empty text if it did, or none are made here."""
    if unsupported_platform():
        return ""
    record = json.loads((TARGET / record_name()).read_text())
    return str(record["reason"])


def products() -> tuple[Path, Path]:
    """Return the paths of the Python module and of the BLAS forwarder for this Python."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return TARGET / f"kernels{suffix}", TARGET / f"libsotto_blas.{platform.machine()}.so"


def count_objects() -> int:
    """Return how many files are compiled for this platform, nanobind's one included."""
    return len(sources(platform.machine())) + 1


def sources(machine: str) -> list[Path]:
    """Return the C++ files for an architecture, the largest first, as these take longest to compile."""
    others = tuple(suffix for other, levels in LEVELS.items() if other != machine for suffix in levels)
    found = sorted(SOURCES.rglob("*.cpp"), key=lambda path: -path.stat().st_size)
    return [path for path in found if not path.stem.endswith(others)]


def level_flags(path: Path, machine: str) -> tuple[str, ...]:
    """Return the compiler flags for the instructions that a file's name ends in."""
    return next((flags for suffix, flags in LEVELS[machine].items() if path.stem.endswith(suffix)), ())


def requirements() -> list[str]:
    """Return the packages that the build requires; none on an unsupported platform."""
    if unsupported_platform():
        return []
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    mlx = next(line for line in project["dependencies"] if line.startswith("mlx[cpu]"))
    return [mlx, NANOBIND]


def unsupported_platform() -> str:
    """Return why this platform cannot have native kernels, or an empty string if it can."""
    if sys.platform != "linux" or platform.machine() not in LEVELS:
        return f"there are none for {platform.system()} on {platform.machine()}"
    return ""


def _build() -> dict[str, object]:
    if reason := unsupported_platform():
        raise NotBuiltError(reason)
    compiler = _compiler()
    mlx, nanobind = _package("mlx"), _package("nanobind")
    include = Path(sysconfig.get_paths()["include"])
    if not (include / "Python.h").is_file():
        raise NotBuiltError(f"Python's headers are missing in {include} (on Debian: python3-dev)")
    includes = [
        *("-I", str(SOURCES), "-isystem", str(mlx / "include"), "-isystem", str(include)),
        *("-isystem", str(nanobind / "include"), "-isystem", str(nanobind / "ext" / "robin_map" / "include")),
    ]
    jobs = [(nanobind / "src" / "nb_combined.cpp", [*COMMON, *CPP, "-w", "-fno-strict-aliasing", *includes])]
    machine = platform.machine()
    jobs += [(path, [*COMMON, *CPP, *level_flags(path, machine), *includes]) for path in sources(machine)]
    OBJECTS.mkdir(parents=True, exist_ok=True)
    state = _headers_state(compiler, mlx, nanobind)
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)))) as pool:
        objects = list(pool.map(lambda job: _compile(compiler, job[0], job[1], state), jobs))
    module, forwarder = products()
    link = [*compiler, "-shared", "-pthread", *map(str, objects), f"-L{mlx / 'lib'}", "-l:libmlx.so", "-ldl"]
    _run([*link, "-Wl,-s", "-Wl,--as-needed"], module)
    _run([*compiler, "-x", "c++", str(SOURCES / "blas_forwarder.cc"), *COMMON, "-shared", "-ldl", "-Wl,-s"], forwarder)
    for outdated in set(OBJECTS.glob("*.o")) - set(objects):
        outdated.unlink()
    return {
        "built": True,
        "reason": "",
        "mlx": importlib.metadata.version("mlx"),
        "nanobind": importlib.metadata.version("nanobind"),
        "compiler": " ".join(compiler),
    }


def _compiler() -> list[str]:
    """Return the command of the C++ compiler: the value of CXX, else the first of `COMPILERS` that is installed."""
    named = os.environ.get("CXX", "").split()
    for command in [named] if named else [[name] for name in COMPILERS]:
        if shutil.which(command[0]):
            return command
    raise NotBuiltError(
        f"there was no C++ compiler ({' '.join(named) or ', '.join(COMPILERS)}) when Sotto was installed"
    )


def _package(name: str) -> Path:
    """Return the folder of an installed package without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise NotBuiltError(f"the Python package {name}, which the build needs, is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def _headers_state(compiler: list[str], mlx: Path, nanobind: Path) -> bytes:
    """Return a digest of everything that all object files depend on."""
    digest = hashlib.sha256()
    for path in sorted(path for path in SOURCES.rglob("*") if path.suffix in (".h", ".inc")):
        digest.update(path.read_bytes())
    version = subprocess.run([*compiler, "--version"], capture_output=True, check=False).stdout
    digest.update(version + f"{mlx}{nanobind}{sys.version}".encode())
    digest.update(importlib.metadata.version("mlx").encode() + importlib.metadata.version("nanobind").encode())
    return digest.digest()


def _compile(compiler: list[str], source: Path, flags: list[str], state: bytes) -> Path:
    """Compile a source file, unless there is an object file of the same input, and return the object file."""
    digest = hashlib.sha256(state + source.read_bytes() + "\0".join([*compiler, *flags]).encode()).hexdigest()
    target = OBJECTS / f"{source.stem}-{digest[:16]}.o"
    if target.is_file():
        # Counted by its time among those that are done.
        target.touch()
    else:
        _run([*compiler, "-c", str(source), *flags], target)
    return target


def _run(command: list[str], target: Path) -> None:
    """Run the compiler, and move its output to `target` once it is complete."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        output = Path(folder) / target.name
        try:
            result = subprocess.run(
                [*command, "-o", str(output)],
                capture_output=True,
                text=True,
                timeout=COMPILATION_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotBuiltError(f"the compiler failed: {error}") from error
        if result.returncode != 0:
            lines = result.stderr.strip().splitlines() or [f"it ended with status {result.returncode}"]
            first = next((line for line in lines if "error" in line), lines[0])
            raise NotBuiltError(f"the build failed: {first.strip()}")
        if result.stderr:
            print(result.stderr, file=sys.stderr)
        output.replace(target)


if __name__ == "__main__":
    sys.exit(main())
