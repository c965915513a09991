"""Matrix products by the native kernels for inputs that they support, and by MLX for all others.

Model definitions call `mx.quantized_matmul` or `nn.Linear` as usual.
"""

from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures import zoo
from sotto.engine.architectures.attention import Projected
from sotto.engine.kernels.native_panels import is_interleaved

# Affine quantization that the kernels support.
_BITS, _GROUPS = (4, 8), (32, 64, 128)
_Product = Callable[..., mx.array]

# What was replaced: the object, the name of its attribute, and the original value.
_originals: list[tuple[Any, str, Any]] = []


def install(kernels: Any) -> None:
    """Replace MLX's functions by ones that use the kernels; does nothing if installed already.

    Args:
        kernels: The native module, or a substitute.
    """
    if _originals:
        return
    for place, name, replacement in _replacements(kernels):
        _originals.append((place, name, getattr(place, name)))
        setattr(place, name, replacement)


def uninstall() -> None:
    """Restore MLX's own functions."""
    while _originals:
        place, name, original = _originals.pop()
        setattr(place, name, original)


def is_installed() -> bool:
    """Return whether MLX's functions are replaced now."""
    return bool(_originals)


def as_stored(model: nn.Module) -> frozenset[str]:
    """Return the names of the parameters that the kernels can read in 16 bits.

    The kernels widen them in registers, so only half the memory is read. All other uses of these layers give
    activations in 32 bits, see `install`.
    """
    from mlx_lm.models.switch_layers import QuantizedSwitchLinear, SwitchLinear

    names: set[str] = set()
    for path, layer in model.named_modules():
        kind = type(layer)
        if kind in (nn.Linear, nn.Embedding, SwitchLinear):
            names.add(f"{path}.weight")
        elif kind not in (nn.QuantizedLinear, nn.QuantizedEmbedding, QuantizedSwitchLinear):
            continue
        elif is_interleaved(layer.mode):
            names.add(f"{path}.scales")
        elif layer.mode == "affine" and layer.bits in _BITS and layer.group_size in _GROUPS:
            names |= {f"{path}.scales", f"{path}.biases"}
    return frozenset(names)


def with_blocks(model: nn.Module) -> frozenset[str]:
    """Return the names of the parameters whose rows the kernels take interleaved."""
    return frozenset(
        f"{path}.{part}"
        for path, layer in model.named_modules()
        if is_interleaved(getattr(layer, "mode", ""))
        for part in ("weight", "scales")
    )


def absorb_projections(model: nn.Module) -> None:
    """Have multi-head latent attention project queries and outputs, instead of the keys and values of a context.

    WORKAROUND: not in `mistral4`, whose prompts need the keys as an array. Check with new versions of mlx-lm.
    """
    for layer in model.modules():
        if "embed_q" in layer and "unembed_out" in layer and type(layer).__module__ != "mlx_lm.models.mistral4":
            # MLX does not count attributes whose names begin with _ among the weights.
            layer.embed_q._absorbed = layer.unembed_out._absorbed = True  # noqa: SLF001


def _replacements(kernels: Any) -> list[tuple[Any, str, Any]]:
    """Return the replacements: the object, the name of its attribute, and the new value."""
    zoo.install()
    from mlx_lm.models import mla

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
        y: mx.array | None = kernels.embedding(x, self["weight"], None, None, None, None, "")
        return mlx_embedding(self, x).astype(mx.float32) if y is None else y

    def quantized_embedding(self: nn.QuantizedEmbedding, x: mx.array) -> mx.array:
        parts = (self["weight"], self["scales"], self.get("biases"), self.group_size, self.bits, self.mode)
        y: mx.array | None = kernels.embedding(x, *parts)
        if y is not None:
            return y
        # With 16-bit scales, MLX would return 16-bit values.
        biases = self.get("biases")
        return mx.dequantize(
            self["weight"][x],
            scales=_widen(self["scales"][x]),
            biases=None if biases is None else _widen(biases[x]),
            group_size=self.group_size,
            bits=self.bits,
            mode=self.mode,
            dtype=mx.float32,
        )

    def multi_linear(own: _Product, product: Callable[[Any, mx.array], mx.array | None]) -> Callable[..., Any]:
        """Return a layer with a matrix for each head, whose product with [B, heads, L, in] is native."""

        def call(self: Any, x: mx.array, transpose: bool = True) -> Any:
            of_heads = transpose and x.shape[1] == self["weight"].shape[0]
            if not of_heads and getattr(self, "_absorbed", False):
                return Projected(self, x)
            y = product(self, x) if of_heads else None
            if y is None and "scales" in self:
                # MLX would unpack the matrices for each row anew.
                matrices = unpacked(self)
                y = x @ (matrices.swapaxes(-1, -2) if transpose else matrices)
            return own(self, x, transpose) if y is None else y

        return call

    def unpacked(self: Any) -> mx.array:
        scales, biases = _widen(self["scales"]), self.get("biases")
        kind = {"group_size": self.group_size, "bits": self.bits, "mode": self.mode}
        return mx.dequantize(
            self["weight"], scales, None if biases is None else _widen(biases), dtype=mx.float32, **kind
        )

    def quantized_heads(self: Any, x: mx.array) -> mx.array | None:
        parts = (self["weight"], self["scales"], self.get("biases"))
        y: mx.array | None = kernels.gather_qmm(x, *parts, None, None, True, self.group_size, self.bits, self.mode)
        return y

    def plain_heads(self: Any, x: mx.array) -> mx.array | None:
        y: mx.array | None = kernels.gather_mm(x, self["weight"], None, None)
        return y

    return [
        (mla.QuantizedMultiLinear, "__call__", multi_linear(mla.QuantizedMultiLinear.__call__, quantized_heads)),
        (mla.MultiLinear, "__call__", multi_linear(mla.MultiLinear.__call__, plain_heads)),
        (mx, "quantized_matmul", quantized_matmul),
        (mx, "gather_qmm", gather_qmm),
        (mx, "gather_mm", gather_mm),
        (nn.Linear, "__call__", linear),
        (nn.Embedding, "as_linear", as_linear),
        (nn.Embedding, "__call__", embedding),
        (nn.QuantizedEmbedding, "__call__", quantized_embedding),
    ]


def _widen(scales: mx.array) -> mx.array:
    """Return scales in 32 bits, unless they are the raw bytes of a floating-point format."""
    return scales.astype(mx.float32) if mx.issubdtype(scales.dtype, mx.floating) else scales
