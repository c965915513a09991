"""The device and the type that the engine computes with.

`prepare` must run before the first `import mlx`, on any thread, and does not import MLX. Everything else here imports
it, and so belongs to the thread that owns MLX.
"""

import ctypes
import functools
import importlib.metadata
import importlib.util
import logging
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)

# MLX's Linux wheel carries the reference BLAS, which multiplies float32 matrices 20 to 50 times slower than OpenBLAS.
# Its calls bind to the first global definition, so a library loaded before it takes them over. The package that comes
# with Sotto has its functions under names of its own; a library built beside the native kernels translates them.
_OPENBLAS_PACKAGE = "scipy_openblas32"
_FORWARDER = Path(__file__).resolve().parents[2] / "_native" / f"libsotto_blas.{platform.machine()}.so"
# Libraries of the system, if that one is missing.
_BLAS_LIBRARIES = ("libopenblas.so.0", "libopenblas.so", "libblis.so.4", "libblis.so")
_CUDA_DISTRIBUTIONS = ("mlx-cuda-13", "mlx-cuda-12", "mlx-cuda")
SWITCH = "SOTTO_DEVICE"
# A batch of weight files, the window's own files and sockets, and room to spare; macOS starts programs with 256.
_OPEN_FILES = 4096
# Parameters of glibc's mallopt, as numbered in its malloc.h: one arena for all threads (M_ARENA_MAX), blocks up to
# 32 MB from it (M_MMAP_THRESHOLD, no more is allowed), and 128 MB kept at its end (M_TRIM_THRESHOLD).
_MALLOC = {-8: 1, -3: 32 << 20, -1: 128 << 20}

_blas_path = ""
_forwarder: ctypes.CDLL | None = None


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What the engine computes with, for display.

    Attributes:
        mlx_version: Version of MLX.
        device: `metal`, `cuda` or `cpu`.
        compute_type: Type of activations: `float32`, or empty for the checkpoint's own.
        blas: Path of the BLAS library that was loaded for MLX; empty if MLX uses its own.
        compile: Whether MLX compiles functions at run time.
    """

    mlx_version: str
    device: str
    compute_type: str
    blas: str
    compile: bool


def prepare() -> None:
    """Set the process up for MLX; has its full effect only before MLX is imported, and can be repeated."""
    global _blas_path
    raise_file_limit()
    if sys.platform != "linux":
        return
    _keep_freed_memory()
    if cuda_distribution() is None:
        # On a CPU, MLX compiles by running g++ and loads the result from a shared temporary folder: slower to start,
        # no faster to run, and anybody's code. Where there is a graphics processor after all, `device` decides.
        os.environ.setdefault("MLX_DISABLE_COMPILE", "1")
    if not _blas_path and "mlx.core" not in sys.modules:
        _blas_path = _load_blas()


def device() -> str:
    """Return `metal`, `cuda` or `cpu`; the latter becomes MLX's default, and nothing is compiled at run time on it.

    `SOTTO_DEVICE=cpu` in the environment keeps the engine off a graphics processor, for comparison.
    """
    import mlx.core as mx

    # MLX for CUDA calls itself available where it finds no graphics processor, so those it found are counted.
    if os.environ.get(SWITCH) != "cpu" and mx.is_available(mx.gpu):
        return "metal" if mx.metal.is_available() else "cuda"
    mx.set_default_device(mx.cpu)
    mx.disable_compile()
    return "cpu"


def compiles() -> bool:
    """Return whether MLX compiles functions at run time."""
    return device() != "cpu" and "MLX_DISABLE_COMPILE" not in os.environ


def compute_dtype() -> Any:
    """Return the type of activations, or None for the checkpoint's own.

    On a CPU 16-bit arithmetic is emulated: 4-bit weights run 14 times faster with float32 activations.
    """
    import mlx.core as mx

    return mx.float32 if device() == "cpu" else None


def wire(nbytes: int) -> None:
    """Keep up to `nbytes` of what MLX holds from being paged out, on Metal; 0 gives that up.

    The limit is the weights and no more: wiring all that the system allows has taken whole machines down.
    """
    import mlx.core as mx

    if device() == "metal":
        mx.set_wired_limit(min(nbytes, int(mx.device_info()["max_recommended_working_set_size"])))


def describe() -> DeviceInfo:
    """Return what the engine computes with."""
    kind = device()
    return DeviceInfo(
        mlx_version=importlib.metadata.version("mlx"),
        device=kind,
        compute_type="float32" if kind == "cpu" else "",
        blas=_blas_path,
        compile=compiles(),
    )


def cuda_distribution() -> str | None:
    """Return the name of the package with MLX for CUDA, or None if it is not installed."""
    return next(filter(_installed, _CUDA_DISTRIBUTIONS), None)


def _keep_freed_memory() -> None:
    """Let glibc keep what was freed for the next allocation, up to a bound; `give_back` then returns it.

    A chunk of a prompt takes and frees some hundred megabytes of activations, piece by piece. In the small arenas that
    threads have, each piece goes back to the system at once, and getting it again costs up to a sixth of the time.
    """
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        for parameter, value in _MALLOC.items():
            mallopt(parameter, value)


def raise_file_limit(wanted: int = _OPEN_FILES) -> None:
    """Let this process open `wanted` files if it may; never lowers a limit and never touches the hard one."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


def _installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def openblas() -> ctypes.CDLL | None:
    """Return the OpenBLAS that comes with Sotto, under whose names of its own it can be called, or None."""
    path = _openblas_path()
    return None if path is None else ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def divide_products_with(address: int) -> None:
    """Let MLX's own float32 products be computed by the `cblas_sgemm` at `address`, where they pass through here."""
    if _forwarder is not None:
        _forwarder.sotto_blas_divide_with(ctypes.c_void_p(address))


@functools.cache
def _openblas_path() -> Path | None:
    # Found, not imported: importing it runs code that prints and loads more than is needed.
    spec = importlib.util.find_spec(_OPENBLAS_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted((Path(spec.origin).parent / "lib").glob("libscipy_openblas*.so"))), None)


def _load_blas() -> str:
    """Load the first fast BLAS there is and return its path; return an empty text if there is none."""
    global _forwarder
    if _FORWARDER.is_file() and openblas() is not None:
        try:
            _forwarder = ctypes.CDLL(str(_FORWARDER), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            # Built against another system's libraries: the next best is looked for.
            _log.warning("%s cannot be loaded: %s", _FORWARDER, error)
        else:
            return str(_openblas_path())
    for name in _BLAS_LIBRARIES:
        try:
            library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
        # Some builds have only the Fortran names, which MLX does not call.
        if hasattr(library, "cblas_sgemm"):
            return _mapped_path(name)
    return ""


def _mapped_path(name: str) -> str:
    """Return the path of a library that is loaded under `name`, or `name` where the system does not tell."""
    stem = name.split(".so")[0]
    maps = Path("/proc/self/maps")
    for line in maps.read_text(encoding="utf-8").splitlines() if maps.is_file() else ():
        path = line.partition("/")[2]
        if path and path.rpartition("/")[2].startswith(stem):
            return f"/{path}"
    return name
