"""Placeholders for the native kernels while a computation is traced: MLX cannot list operations that are not its own.

Each function takes and returns what the kernel of the same name does, as far as shapes, types and memory go: it
allocates one new buffer, for the output, and holds all inputs until then. The values are meaningless and never
computed.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import mlx.core as mx

from sotto.engine.architectures import cache_types
from sotto.engine.footprint.graph import kernel
from sotto.engine.kernels import native, native_fused, native_products
from sotto.engine.kernels.native_panels import is_interleaved

_WORD_BITS = 32
# Results of `unpack` and `widened` by their ids, with what caches hold. They are kept, so that no id is used again.
_unpacked: dict[int, tuple[mx.array, list[mx.array]]] = {}


def linear(x: mx.array, weight: mx.array, bias: mx.array | None) -> mx.array | None:
    """Replace the product with a matrix [out, in] of any floating-point type."""
    if x.dtype != mx.float32:
        return None
    return kernel(_with_width(x, weight.shape[0]), x, weight, *(() if bias is None else (bias,)))


def gather_mm(a: mx.array, b: mx.array, lhs: mx.array | None, rhs: mx.array | None) -> mx.array | None:
    """Replace the products of [..., rows, in] with the matrices [out, in] that the indices select."""
    if a.dtype != mx.float32 or rhs is None:
        return None
    chosen = mx.broadcast_shapes(a.shape[:-2] if lhs is None else lhs.shape, rhs.shape)
    return kernel(mx.broadcast_to(a[(0,) * (a.ndim - 1)][:1], (*chosen, a.shape[-2], b.shape[-2])), a, b, rhs)


def quantized_matmul(
    x: mx.array, w: mx.array, scales: mx.array, biases: mx.array | None, transpose: bool, *_: object
) -> mx.array | None:
    """Replace the product with a packed matrix [out, words], whatever the type of its scales.

    Types that the kernels do not know count as known here: `cpu_linear` computes with them in another way.
    """
    if x.dtype != mx.float32 or not transpose or w.ndim != 2:
        return None
    return kernel(_with_width(x, w.shape[0]), x, w, scales, *(() if biases is None else (biases,)))


def gather_qmm(
    x: mx.array,
    w: mx.array,
    scales: mx.array,
    _biases: mx.array | None,
    lhs: mx.array | None,
    rhs: mx.array | None,
    _transpose: bool,
    _group: object,
    _bits: object,
    mode: str,
) -> mx.array | None:
    """Replace products with interleaved rows; leave others to MLX, which needs no additional memory for them either."""
    if not is_interleaved(mode) or rhs is None:
        return None
    chosen = mx.broadcast_shapes(x.shape[:-2] if lhs is None else lhs.shape, rhs.shape)
    row = x[(0,) * (x.ndim - 1)][:1]
    return kernel(mx.broadcast_to(row, (*chosen, x.shape[-2], w.shape[-2])), x, w, scales, rhs)


def embedding(
    ids: mx.array,
    weight: mx.array,
    scales: mx.array | None,
    biases: mx.array | None,
    _group: object,
    bits: int,
    *_: object,
) -> mx.array:
    """Replace looking up rows of a table [rows, width], plain or packed."""
    width = weight.shape[1] if scales is None else weight.shape[1] * _WORD_BITS // bits
    others = (part for part in (scales, biases) if part is not None)
    return kernel(mx.broadcast_to(mx.array(0.0), (*ids.shape, width)), ids, weight, *others)


def rms_norm(x: mx.array, *_: object) -> mx.array:
    """Replace a norm of [..., width]."""
    return kernel(x, x)


layer_norm = rms_norm


def rope(a: mx.array, *_: object) -> mx.array:
    """Replace the rotation of [batch, heads, tokens, width]."""
    return kernel(a, a)


def attention(
    q: mx.array, k: mx.array, v: mx.array, _scale: float, _causal: bool, *others: mx.array | None
) -> mx.array:
    """Replace attention, whose output is stored as [batch, tokens, heads, width of v]."""
    rows = q.swapaxes(1, 2)
    read = [part for held in (k, v) for part in _unpacked.get(id(held), (held, [held]))[1]]
    return kernel(_with_width(rows, v.shape[-1]), q, *read, *(other for other in others if other is not None)).swapaxes(
        1, 2
    )


def pack(x: mx.array, group_size: int, bits: int) -> list[mx.array]:
    """Replace packing what a cache will hold: words, scales and biases, all of four bytes."""
    width = x.shape[-1]
    words, groups = _with_width(x, width * bits // _WORD_BITS), _with_width(x, width // group_size)
    return [kernel(part, x) for part in (words, groups, groups)]


def unpack(words: mx.array, scales: mx.array, biases: mx.array, _group: int, bits: int) -> mx.array:
    """Replace unpacking what a cache holds, which attention reads as it is."""
    width = words.shape[-1] * _WORD_BITS // bits
    result = kernel(_with_width(scales, width), words, scales, biases)
    _unpacked[id(result)] = (result, [words, scales, biases])
    return result


def widened(halves: mx.array) -> mx.array:
    """Replace the conversion of float16 that a cache holds, which attention reads as it is."""
    result = halves.astype(mx.float32)
    _unpacked[id(result)] = (result, [halves])
    return result


def silu(gate: mx.array, *others: mx.array) -> mx.array:
    """Replace an activation, or one that is multiplied by a second input."""
    return kernel(gate, gate, *others)


gelu = gelu_approx = gelu_fast_approx = silu


def swiglu_oai(gate: mx.array, x: mx.array, *_: object) -> mx.array:
    """Replace the activation of gpt-oss."""
    return kernel(gate, gate, x)


def recurrence(
    q: mx.array, k: mx.array, v: mx.array, decay: mx.array, rate: mx.array, state: mx.array, _corrects: bool
) -> tuple[mx.array, mx.array]:
    """Replace a recurrence, which makes outputs like the values and a state like the one before."""
    others = (q, k, decay, rate)
    return kernel(v, v, *others, state), kernel(state, state)


def most_taps() -> int:
    """Return more numbers than any definition's convolution adds up."""
    return sys.maxsize


def short_convolution(x: mx.array, weight: mx.array) -> mx.array:
    """Replace a convolution, whose output is shorter than its input."""
    return kernel(x[:, weight.shape[1] - 1 :], x, weight)


@contextmanager
def traceable(kernels: Any | None) -> Iterator[None]:
    """Let MLX list every operation in a `with` block, whichever kernels are installed.

    Args:
        kernels: The native kernels to replace; None if MLX alone computes.
    """
    products, fused = native_products.is_installed(), bool(native_fused._undo)  # noqa: SLF001
    conversion = cache_types.widened
    native.uninstall()
    try:
        if kernels is not None:
            this = cast("Any", sys.modules[__name__])
            native_products.install(this)
            native_fused.install(this)
            cache_types.widened = widened
        yield
    finally:
        cache_types.widened = conversion
        _unpacked.clear()
        native.uninstall()
        if products:
            native.install()
        if fused:
            native_fused.install(cast("Any", native.kernels()))


def _with_width(x: mx.array, width: int) -> mx.array:
    """Return an array shaped like `x` but for its last axis, which is `width` long."""
    return mx.broadcast_to(x[..., :1], (*x.shape[:-1], width))
