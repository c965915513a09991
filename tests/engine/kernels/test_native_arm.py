"""The native products for ARM's processors against float64, in an emulator of processors with each level."""

import fcntl
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
CHECKS = Path(__file__).parent / "arm" / "checks.cpp"
COMPILER = "aarch64-linux-gnu-g++"
EMULATOR = next(filter(shutil.which, ("qemu-aarch64-static", "qemu-aarch64")), "")
MACHINE = "aarch64"
# Processors, and the levels that the kernels must choose there.
PROCESSORS = {"cortex-a72": "neon", "cortex-a76": "dotprod", "max": "i8mm"}
# All that the products consist of, besides their kernels.
PARTS = ("cpu", "thread_pool", "blas", "product", "fixed_rows", "many_rows", "tiled_rows")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the kernels are built on Linux only"),
    pytest.mark.skipif(platform.machine() == MACHINE, reason="the other tests run these kernels here"),
    pytest.mark.skipif(not shutil.which(COMPILER), reason=f"{COMPILER} is missing (Debian: g++-aarch64-linux-gnu)"),
    pytest.mark.skipif(not EMULATOR, reason="an emulator is missing (Debian: qemu-user-static)"),
]


def builder() -> ModuleType:
    """Return the module that builds the kernels."""
    spec = importlib.util.spec_from_file_location("native_build", ROOT / "packaging" / "native_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def include_flags(build: ModuleType) -> tuple[str, ...]:
    """Return the compiler's flags for the headers of the kernels and of MLX."""
    mlx = importlib.util.find_spec("mlx")
    assert mlx is not None
    assert mlx.submodule_search_locations
    return ("-I", str(build.SOURCES), "-isystem", str(Path(next(iter(mlx.submodule_search_locations))) / "include"))


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process of the tests works in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def program() -> Path:
    """Compile the kernels with `CHECKS`, unless that has been done since they were changed, and return the result."""
    build = builder()
    folder = ROOT / "build" / "native-arm"
    includes = include_flags(build)
    digest = hashlib.sha256(f"{build.COMMON} {build.CPP} {build.LEVELS[MACHINE]} {includes}".encode())
    arm = [path for path in build.sources(MACHINE) if path.parent.name == "arm" or path.stem in PARTS]
    headers = sorted(path for path in build.SOURCES.rglob("*") if path.suffix in (".h", ".inc"))
    headers += CHECKS.parent.glob("*.h")
    for path in [CHECKS, *arm, *headers]:
        digest.update(path.read_bytes())
    result = folder / f"checks-{digest.hexdigest()[:16]}"
    with alone(folder):
        if result.is_file():
            return result
        for path in folder.glob("checks-*"):
            path.unlink()

        def compiled(source: Path) -> str:
            target = folder / f"{source.stem}.o"
            flags = (*build.COMMON, *build.CPP, *build.level_flags(source, MACHINE), *includes)
            subprocess.run([COMPILER, "-c", str(source), *flags, "-o", str(target)], check=True)
            return str(target)

        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            objects = list(pool.map(compiled, [*arm, CHECKS]))
        subprocess.run([COMPILER, "-static", "-pthread", *objects, "-o", str(result)], check=True)
    return result


def said(program: Path, processor: str, check: str) -> str:
    done = subprocess.run(
        [EMULATOR, "-cpu", processor, str(program), check], stdout=subprocess.PIPE, text=True, check=False, timeout=300
    )
    assert done.returncode in (0, 1), done
    return done.stdout.strip()


def test_the_compiler_accepts_all_sources(tmp_path: Path) -> None:
    """Bindings are left out, as they need a Python for ARM."""
    build = builder()
    sources = [path for path in build.sources(MACHINE) if "nanobind" not in path.read_text(encoding="utf-8")]
    flags = (*build.CPP, *include_flags(build))
    # Most of the time would be spent on MLX's headers.
    common = tmp_path / "common.h"
    common.write_text('#include "mlx/primitives.h"\n', encoding="utf-8")
    subprocess.run([COMPILER, "-x", "c++-header", str(common), *flags, "-o", f"{common}.gch"], check=True)

    def complaints(path: Path) -> str:
        # A compiled header is for the same instructions.
        more = build.level_flags(path, MACHINE) or ("-include", str(common))
        command = [COMPILER, "-fsyntax-only", str(path), *flags, *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        return done.stderr if done.returncode else ""

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        assert not "".join(pool.map(complaints, sources))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_best_level_of_a_processor_is_chosen(program: Path, processor: str) -> None:
    assert said(program, processor, "level") == PROCESSORS[processor]


@pytest.mark.parametrize("check", ["few", "many", "spread", "step", "largest", "codes", "special"])
@pytest.mark.parametrize("processor", PROCESSORS)
def test_products(program: Path, processor: str, check: str) -> None:
    """What is checked is said in `CHECKS`, which prints what is wrong."""
    assert said(program, processor, check) == ""
