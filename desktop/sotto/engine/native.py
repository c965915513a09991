"""The native kernels for the CPU: whether there are any, why not, and where MLX's own functions give way to them.

The kernels are a module built from C++ at installation, see `packaging/native_build.py`. `install` puts them in the
place of MLX's functions and layers, for every model alike: definitions of models call `mx.quantized_matmul` or
`nn.Linear` as ever. What a kernel does not know goes to MLX. Nothing here happens on Metal or CUDA.

`SOTTO_NATIVE=0` in the environment switches all of it off, for comparison.
"""

import ctypes
import functools
import importlib.metadata
import importlib.util
import json
import os
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import mlx.core as mx
import psutil
from mlx import nn

from sotto.engine import device, native_fused
from sotto.engine.control_groups import cpu_quota

FOLDER = Path(__file__).resolve().parents[1] / "_native"
SWITCH = "SOTTO_NATIVE"
# Affine quantization that the kernels know.
_BITS, _GROUPS = (4, 8), (32, 64, 128)
_Product = Callable[..., mx.array]
_LEVELS = {"avx512": "AVX-512", "avx2": "AVX2", "portable": "NEON" if os.uname().machine == "aarch64" else "SSE2"}


@dataclass(frozen=True, slots=True)
class NativeStatus:
    """Whether the kernels can be used.

    Attributes:
        level: The instructions that they use, for people, for example `AVX-512`; empty where there are no kernels.
        threads: How many threads they use; 0 where there are none.
        reason: Why there are none; empty where there are.
    """

    level: str
    threads: int
    reason: str


def status() -> NativeStatus:
    """Say whether the kernels can be used, and load them if so."""
    found = kernels()
    if found is None:
        return NativeStatus("", 0, _reason() or _load()[1])
    return NativeStatus(_LEVELS[found.level()], found.threads(), "")


def kernels() -> Any | None:
    """Return the module of kernels, loaded once, or None where they cannot or shall not be used."""
    return None if _reason() else _load()[0]


def install() -> bool:
    """Let MLX's functions and layers use the kernels from now on; return whether there are any. Can be repeated."""
    found = kernels()
    if found is None or _originals:
        return found is not None
    for place, name, replacement in _replacements(found):
        _originals.append((place, name, getattr(place, name)))
        setattr(place, name, replacement)
    native_fused.install(found)
    return True


def uninstall() -> None:
    """Give MLX's functions and layers their own code back."""
    native_fused.uninstall()
    while _originals:
        place, name, original = _originals.pop()
        setattr(place, name, original)


# What was replaced: where, under which name, and what stood there.
_originals: list[tuple[Any, str, Any]] = []


def _reason() -> str:
    """Return why the kernels shall not be used, as far as that shows without them; empty if they may be."""
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


def as_stored(model: nn.Module) -> frozenset[str]:
    """Return the names of a model's parameters that the kernels read in 16 bits as well as in 32.

    They widen them on their way into registers, so half the memory is read. Every other use of these layers gives
    activations in 32 bits, see `install`.
    """
    from mlx_lm.models.switch_layers import QuantizedSwitchLinear, SwitchLinear

    names: set[str] = set()
    for path, layer in model.named_modules():
        kind = type(layer)
        if kind in (nn.Linear, nn.Embedding, SwitchLinear):
            names.add(f"{path}.weight")
        elif kind in (nn.QuantizedLinear, nn.QuantizedEmbedding, QuantizedSwitchLinear) and (
            layer.mode == "affine" and layer.bits in _BITS and layer.group_size in _GROUPS
        ):
            names |= {f"{path}.scales", f"{path}.biases"}
    return frozenset(names)


def _imported(path: Path) -> ModuleType:
    # The name has to be that of the module's entry point. It is not left in sys.modules: nobody imports it by name.
    spec = importlib.util.spec_from_file_location("kernels", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module of this Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def thread_count() -> int:
    """Return how many threads pay: the cores that this process may use, each once, within a container's quota."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else psutil.cpu_count() or 1
    cores = psutil.cpu_count(logical=False) or usable
    limits = [usable, cores]
    quota = cpu_quota()
    if quota is not None:
        limits.append(quota)
    return max(1, min(limits))


def _replacements(kernels: Any) -> list[tuple[Any, str, Any]]:
    """Return what is put in which place: the object, the name of its attribute, and the new value."""
    mlx_quantized_matmul: _Product = mx.quantized_matmul
    mlx_gather_qmm: _Product = mx.gather_qmm
    mlx_gather_mm: _Product = mx.gather_mm
    mlx_linear: _Product = nn.Linear.__call__
    mlx_as_linear: _Product = nn.Embedding.as_linear
    mlx_embedding: _Product = nn.Embedding.__call__

    def quantized_matmul(
        x: mx.array,
        w: mx.array,
        /,
        scales: mx.array,
        biases: mx.array | None = None,
        transpose: bool = True,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
        *,
        stream: Any = None,
    ) -> mx.array:
        if stream is None:
            y: mx.array | None = kernels.quantized_matmul(x, w, scales, biases, transpose, group_size, bits, mode)
            if y is not None:
                return y
        return mlx_quantized_matmul(x, w, scales, biases, transpose, group_size, bits, mode, stream=stream)

    def gather_qmm(
        x: mx.array,
        w: mx.array,
        /,
        scales: mx.array,
        biases: mx.array | None = None,
        lhs_indices: mx.array | None = None,
        rhs_indices: mx.array | None = None,
        transpose: bool = True,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
        global_scale: mx.array | None = None,
        *,
        sorted_indices: bool = False,
        stream: Any = None,
    ) -> mx.array:
        if stream is None and global_scale is None:
            y: mx.array | None = kernels.gather_qmm(
                x, w, scales, biases, lhs_indices, rhs_indices, transpose, group_size, bits, mode
            )
            if y is not None:
                return y
        return mlx_gather_qmm(
            *(x, w, scales, biases, lhs_indices, rhs_indices, transpose, group_size, bits, mode, global_scale),
            sorted_indices=sorted_indices,
            stream=stream,
        )

    def gather_mm(
        a: mx.array,
        b: mx.array,
        /,
        lhs_indices: mx.array | None = None,
        rhs_indices: mx.array | None = None,
        *,
        sorted_indices: bool = False,
        stream: Any = None,
    ) -> mx.array:
        if stream is None and b.ndim >= 2:
            y: mx.array | None = kernels.gather_mm(a, b.swapaxes(-1, -2), lhs_indices, rhs_indices)
            if y is not None:
                return y
        return mlx_gather_mm(a, b, lhs_indices, rhs_indices, sorted_indices=sorted_indices, stream=stream)

    def linear(self: nn.Linear, x: mx.array) -> mx.array:
        y: mx.array | None = kernels.linear(x, self["weight"], self.get("bias"))
        return mlx_linear(self, x) if y is None else y

    def as_linear(self: nn.Embedding, x: mx.array) -> mx.array:
        y: mx.array | None = kernels.linear(x, self["weight"], None)
        return mlx_as_linear(self, x) if y is None else y

    def embedding(self: nn.Embedding, x: mx.array) -> mx.array:
        return mlx_embedding(self, x).astype(mx.float32)

    def quantized_embedding(self: nn.QuantizedEmbedding, x: mx.array) -> mx.array:
        # Scales in 16 bits would make values of 16 bits.
        biases = self.get("biases")
        return mx.dequantize(
            self["weight"][x],
            scales=_widened(self["scales"][x]),
            biases=None if biases is None else _widened(biases[x]),
            group_size=self.group_size,
            bits=self.bits,
            mode=self.mode,
            dtype=mx.float32,
        )

    return [
        (mx, "quantized_matmul", quantized_matmul),
        (mx, "gather_qmm", gather_qmm),
        (mx, "gather_mm", gather_mm),
        (nn.Linear, "__call__", linear),
        (nn.Embedding, "as_linear", as_linear),
        (nn.Embedding, "__call__", embedding),
        (nn.QuantizedEmbedding, "__call__", quantized_embedding),
    ]


def _widened(scales: mx.array) -> mx.array:
    """Return scales in 32 bits, where they are numbers and not the bytes of a floating-point format."""
    return scales.astype(mx.float32) if mx.issubdtype(scales.dtype, mx.floating) else scales
