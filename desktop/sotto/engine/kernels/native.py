"""The native kernels for the CPU: loading them, and installing them in place of MLX's functions.

The kernels are a module built from C++ at installation, see `packaging/native_build.py`. `install` replaces MLX's
functions and layers for all models: products (`native_products`) and smaller operations (`native_fused`). Inputs that a
kernel does not support go to MLX. They are not used on Metal or CUDA.

`SOTTO_NATIVE=0` in the environment switches them off, for comparison.
"""

import ctypes
import functools
import importlib.metadata
import importlib.util
import json
import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil

from sotto.engine.gguf.kept import KEPT
from sotto.engine.kernels import device, native_fused, native_products
from sotto.engine.memory.control_groups import cpu_quota

FOLDER = Path(__file__).resolve().parents[2] / "_native"
SWITCH = "SOTTO_NATIVE"
LEVEL_SWITCH = "SOTTO_NATIVE_LEVEL"
_LEVELS = {
    "amx": "AMX",
    "vnni": "AVX-512 VNNI",
    "avx512": "AVX-512",
    "avx2": "AVX2",
    "portable": "SSE2",
    "i8mm": "NEON I8MM",
    "dotprod": "NEON dot products",
    "neon": "NEON",
}


@dataclass(frozen=True, slots=True)
class NativeStatus:
    """Whether the kernels can be used.

    Attributes:
        level: The instructions that they use, for people, for example `AVX-512`; empty without kernels.
        threads: Number of threads; 0 without kernels.
        reason: Why there are none; empty if there are.
        best: The instructions that they would use if `LEVEL_SWITCH` did not limit them; empty without kernels.
    """

    level: str
    threads: int
    reason: str
    best: str = ""


def status() -> NativeStatus:
    """Return whether the kernels can be used, and load them if so."""
    found = kernels()
    if found is None:
        return NativeStatus("", 0, _reason() or _load()[1])
    return NativeStatus(_LEVELS[found.level()], found.threads(), "", _LEVELS[found.best_level()])


def kernels() -> Any | None:
    """Return the module of kernels, loaded once, or None if they cannot or should not be used."""
    return None if _reason() else _load()[0]


def kept_modes() -> frozenset[str]:
    """Return the modes of GGUF's types whose blocks the kernels compute with as they are."""
    found = kernels()
    if found is None:
        return frozenset()
    return frozenset(mode for mode, kept in KEPT.items() if found.knows(mode, kept.group, kept.bits))


def install() -> bool:
    """Have MLX's functions and layers use the kernels; return whether there are any. May be called repeatedly."""
    found = kernels()
    if found is None:
        return False
    native_products.install(found)
    native_fused.install(found)
    return True


def uninstall() -> None:
    """Restore MLX's own functions and layers."""
    native_fused.uninstall()
    native_products.uninstall()


def _reason() -> str:
    """Return why the kernels should not be used, as far as is known without loading them; empty if they may be."""
    kind = device.device()
    if kind != "cpu":
        return f"not needed: {'Metal' if kind == 'metal' else 'CUDA'} computes"
    if os.environ.get(SWITCH) == "0":
        return f"switched off by {SWITCH}=0"
    return ""


@functools.cache
def _load() -> tuple[Any | None, str]:
    """Return the module of kernels, ready for use, and an empty text; or None and why."""
    found, reason = load_from(FOLDER)
    if found is None:
        return None, reason
    found.set_threads(thread_count())
    library = device.openblas()
    if library is not None:
        # Products are divided among the threads of the kernels; OpenBLAS with threads of its own would fight them.
        library.scipy_openblas_set_num_threads(1)
        found.set_sgemm(ctypes.cast(library.scipy_cblas_sgemm, ctypes.c_void_p).value)
        device.divide_products_with(found.divided_sgemm())
    return found, ""


def load_from(folder: Path) -> tuple[Any | None, str]:
    """Import the module of kernels in `folder` if it was built for the MLX and the Python that run.

    Returns:
        The module and an empty text, or None and the reason.
    """
    record_path = folder / f"{sysconfig.get_config_var('SOABI')}.json"
    if not record_path.is_file():
        return None, "this installation was not built with any"
    record = json.loads(record_path.read_text(encoding="utf-8"))
    if not record["built"]:
        return None, str(record["reason"])
    installed = importlib.metadata.version("mlx")
    if record["mlx"] != installed:
        return None, f"built for MLX {record['mlx']}, but {installed} is installed: install Sotto again"
    path = folder / f"kernels{sysconfig.get_config_var('EXT_SUFFIX')}"
    try:
        return _imported(path), ""
    except ImportError as error:
        return None, f"they cannot be loaded: {error}"


def _imported(path: Path) -> ModuleType:
    # The name must be that of the module's entry point. It is not added to sys.modules, as nothing imports it by name.
    spec = importlib.util.spec_from_file_location("kernels", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a module of this Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _physical_cores() -> int | None:
    """Return the number of physical cores, or None where the system does not tell."""
    try:
        return psutil.cpu_count(logical=False)
    except OSError:
        # Linux tells in /sys or /proc.
        return None


def thread_count() -> int:
    """Return the number of threads: the physical cores that this process may use, within a container's quota."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else psutil.cpu_count() or 1
    cores = _physical_cores() or usable
    limits = [usable, cores]
    quota = cpu_quota()
    if quota is not None:
        limits.append(quota)
    return max(1, min(limits))
