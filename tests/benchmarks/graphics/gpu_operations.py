"""Single operations of a graphics processor, compared with MLX on the CPU in float32."""

import functools
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import mlx.core as mx

from sotto.engine.gguf import repack
from sotto.engine.kernels import device, native
from sotto.engine.sampling.draw_keys import draw_key, draw_rows
from sotto.store.gguf.block_types import BY_NAME

# The largest relative error of one operation: a few units in the last place; NVIDIA's float32 products have 11 bits.
_TOLERANCE = {mx.float32: 2e-3, mx.float16: 4e-3, mx.bfloat16: 2e-2}
_MODES = (
    *(("affine", bits, group) for bits in (4, 8, 2, 3, 5, 6) for group in (64, 32, 128)),
    ("mxfp4", 4, 32),
    ("mxfp8", 8, 32),
    ("nvfp4", 4, 16),
)
_HEADS, _KEY_HEADS = 8, 2
# Half-precision numbers whose high byte has all of these bits are infinite or none.
_EXPONENT, _HIGHEST = 0x7C, 0x40

Check = tuple[str, Callable[[], str]]


@contextmanager
def on_cpu() -> Iterator[None]:
    """Let MLX compute on the CPU in a `with` block, without our kernels, and models be loaded in float32."""
    known = {name: os.environ.get(name) for name in (device.SWITCH, native.SWITCH)}
    had_kernels, chosen = native.kernels() is not None, mx.default_device()
    native.uninstall()
    os.environ |= {device.SWITCH: "cpu", native.SWITCH: "0"}
    # Makes the CPU MLX's default as well.
    device.device()
    try:
        yield
    finally:
        for name, value in known.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        mx.set_default_device(chosen)
        if device.compiles():
            mx.enable_compile()
        if had_kernels:
            native.install()


def error(found: mx.array, wanted: mx.array) -> float:
    """Return the root mean square of the difference, relative to that of what is wanted; infinite for nonsense."""
    if found.shape != wanted.shape:
        return float("inf")
    found, wanted = found.astype(mx.float32), wanted.astype(mx.float32)
    value = mx.sqrt(mx.square(found - wanted).mean() / mx.maximum(mx.square(wanted).mean(), 1e-30)).item()
    return float("inf") if math.isnan(value) else value


def operations(*, quick: bool) -> Iterator[Check]:
    """Yield checks by name, each of which returns what is wrong, or an empty text."""
    # A CPU computes in float32 alone.
    own = device.compute_dtype()
    dtypes = (mx.bfloat16, mx.float16, mx.float32) if own is None else (own,)
    for mode, bits, group in _MODES[::6] if quick else _MODES:
        yield (
            f"products in {mode}, {bits} bits in groups of {group}",
            functools.partial(_products, mode, bits, group, dtypes),
        )
    for width in (64,) if quick else (64, 80, 96, 128, 256, 576):
        yield f"attention with heads of {width}", functools.partial(_attentions, width, dtypes)
    yield "norms and rotations", functools.partial(_smaller, dtypes)
    yield "GGUF types", _gguf_types
    yield "draws of tokens", _draws


def _compared(what: str, compute: Callable[..., mx.array], *inputs: mx.array | None) -> str:
    """Compute on the device in the inputs' types and on the CPU in float32; return what differs too much."""
    dtype = next(array.dtype for array in inputs if array is not None)
    mx.eval([array for array in inputs if array is not None])
    found = compute(*inputs)
    mx.eval(found)
    with on_cpu():
        wide = [array.astype(mx.float32) if _is_float(array) else array for array in inputs]
        wanted = compute(*wide)
        mx.eval(wanted)
        off = error(found, wanted)
    return "" if off <= _TOLERANCE[dtype] else f"{what} in {_name(dtype)}: off by {off:.2g} of the values"


def _is_float(array: mx.array | None) -> bool:
    return array is not None and mx.issubdtype(array.dtype, mx.floating)


def _name(dtype: mx.Dtype) -> str:
    return str(dtype).removeprefix("mlx.core.")


def _drawn(seed: int, shape: tuple[int, ...], dtype: mx.Dtype = mx.float32) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(seed)).astype(dtype)


def _wrong(found: Iterator[str]) -> str:
    return "; ".join(filter(None, found))


def _products(mode: str, bits: int, group: int, dtypes: tuple[mx.Dtype, ...]) -> str:
    """Multiply one row and many with a packed matrix, and rows with the matrices of experts."""
    experts, out, wide = 4, 192, 640
    kind = {"group_size": group, "bits": bits, "mode": mode}

    def check() -> Iterator[str]:
        with on_cpu():
            packed = mx.quantize(_drawn(1, (experts, out, wide)), **kind)
            mx.eval(packed)
        for dtype in dtypes:
            scales = [part.astype(dtype) if _is_float(part) else part for part in packed[1:]]

            def product(x: mx.array, *parts: mx.array) -> mx.array:
                return mx.quantized_matmul(x, packed[0][0], *(part[0] for part in parts), transpose=True, **kind)

            def gathered(x: mx.array, *parts: mx.array) -> mx.array:
                chosen = mx.array([[0, 3], [2, 1], [3, 3]], dtype=mx.uint32)
                return mx.gather_qmm(x, packed[0], *parts, rhs_indices=chosen, transpose=True, **kind)

            for rows in (1, 5, 17, 70):
                yield _compared(f"{rows} rows", product, _drawn(2, (1, rows, wide), dtype), *scales)
            yield _compared("experts", gathered, _drawn(3, (3, 1, 1, wide), dtype), *scales)
            if mode == "affine":
                yield _compared("unpacking", lambda *parts: mx.dequantize(packed[0], *parts, **kind), *scales)

    return _wrong(check())


def _attentions(width: int, dtypes: tuple[mx.Dtype, ...]) -> str:
    """Compute attention with all kinds of masks, with sinks, and to a part of a longer buffer."""
    masks = {
        "no mask": lambda _rows, _keys, _dtype: None,
        "a causal mask": lambda rows, _keys, _dtype: "causal" if rows > 1 else None,
        "a window": lambda rows, keys, _dtype: _window(rows, keys),
        "an added mask": lambda rows, keys, dtype: mx.where(_window(rows, keys), 0.0, -1e4).astype(dtype),
    }

    def check() -> Iterator[str]:
        for dtype in dtypes:
            for rows, keys in ((1, 300), (1, 1100), (7, 300), (300, 300), (130, 700)):
                q = _drawn(4, (1, _HEADS, rows, width), dtype)
                # As caches return them: the first of the tokens that their buffers have room for.
                k, v = (_drawn(seed, (1, _KEY_HEADS, keys + 52, width), dtype)[:, :, :keys] for seed in (5, 6))
                for name, mask_of in masks.items():
                    for sinks in (None, _drawn(7, (_HEADS,), dtype)):

                        def attention(q, k, v, s, mask_of=mask_of, rows=rows, keys=keys):
                            mask = mask_of(rows, keys, q.dtype)
                            return mx.fast.scaled_dot_product_attention(q, k, v, scale=width**-0.5, mask=mask, sinks=s)

                        what = f"{rows} rows and {keys} keys with {name}{'' if sinks is None else ' and sinks'}"
                        yield _compared(what, attention, q, k, v, sinks)

    return _wrong(check())


def _window(rows: int, keys: int) -> mx.array:
    own, other = mx.arange(keys - rows, keys)[:, None], mx.arange(keys)[None]
    return (other <= own) & (other > own - 200)


def _smaller(dtypes: tuple[mx.Dtype, ...]) -> str:
    def check() -> Iterator[str]:
        for dtype in dtypes:
            x, weight, heads = _drawn(8, (3, 640), dtype), _drawn(9, (640,), dtype), _drawn(10, (3, 4, 5, 64), dtype)
            yield _compared("a norm", lambda x, w: mx.fast.rms_norm(x, w, 1e-5), x, weight)
            yield _compared("a layer's norm", lambda x, w: mx.fast.layer_norm(x, w, w, 1e-5), x, weight)
            for offset in (1000, mx.array([0, 7, 1000], dtype=mx.int32)):

                def rotated(x, offset=offset):
                    return mx.fast.rope(x, 32, traditional=False, base=1e4, scale=1.0, offset=offset)

                yield _compared("a rotation", rotated, heads)
            signal, filters = _drawn(11, (1, 20, 96), dtype), _drawn(12, (96, 4, 1), dtype)
            yield _compared("a convolution", lambda x, w: mx.conv1d(x, w, groups=96), signal, filters)

    return _wrong(check())


def _gguf_types() -> str:
    """Convert random blocks of every type, which should give the same words as on the CPU."""

    def check() -> Iterator[str]:
        for name, kind in BY_NAME.items():
            layout = repack.layout_of(name, on_cpu=False)
            if layout is None:
                continue
            raw = mx.random.randint(0, 256, (64, kind.nbytes), key=mx.random.key(13)).astype(mx.uint8)
            raw = mx.where((raw & _EXPONENT) == _EXPONENT, raw & (255 - _HIGHEST), raw)
            mx.eval(raw)
            found = repack.repack(name, raw, layout, mx.bfloat16)
            mx.eval(found)
            with on_cpu():
                wanted = repack.repack(name, raw, layout, mx.bfloat16)
                kinds = {"group_size": repack.GROUP_SIZE, "bits": layout.bits, "mode": layout.mode}
                values = [mx.dequantize(*parts, dtype=mx.float32, **kinds) for parts in (found, wanted)]
                same = not layout.exact or mx.array_equal(found[0], wanted[0]).item()
                # Where 8 bits are chosen anew, a value may be rounded to the next of 256 steps.
                off = error(*values)
            if not same or off > 1 / 256:
                yield f"{name} becomes other values, off by {off:.2g}"

    return _wrong(check())


def _draws() -> str:
    """Draw tokens with the same random numbers: the same tokens, as far as no two are equally likely."""
    rows, tokens = 64, 4096
    scores = _drawn(14, (rows, tokens))
    ids = mx.broadcast_to(mx.arange(tokens, dtype=mx.uint32), scores.shape)
    keys = [draw_key(1, row) for row in range(rows)]
    mx.eval(scores, ids)
    found = draw_rows(scores, ids, keys)
    mx.eval(found)
    with on_cpu():
        differ = (found != draw_rows(scores, ids, keys)).sum().item()
    return f"{differ} of {rows} tokens are others than on the CPU" if differ > 1 else ""
