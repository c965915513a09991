"""The native attention against a float64 reference and against that of MLX."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_kernels import KERNELS, assert_close, at_level, bits, kernels_at_each_level, needs_kernels, normal
from thoroughness import examples, some

pytestmark = needs_kernels
__all__ = ["kernels_at_each_level"]


def _attention(q, k, v, scale, mask=None, sinks=None):
    """Compute attention in float64; if a boolean mask hides all keys, the values are averaged, as in MLX."""
    heads, length, keys = q.shape[1], q.shape[2], k.shape[2]
    shared = heads // k.shape[1]
    k, v = (np.repeat(x.astype(np.float64), shared, axis=1) for x in (k, v))
    scores = scale * q.astype(np.float64) @ k.swapaxes(-1, -2)
    if isinstance(mask, str):
        mask = np.arange(length)[:, None] + keys - length >= np.arange(keys)[None]
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(np.float32).min) if mask.dtype == np.bool_ else scores + mask
    top = scores.max(-1, keepdims=True)
    if sinks is not None:
        top = np.maximum(top, sinks[:, None, None])
    weights = np.exp(scores - top)
    total = weights.sum(-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks.astype(np.float64)[:, None, None] - top)
    return (weights / total) @ v


_SHAPES = [  # batch, query heads, key heads, queries, keys, key width, value width
    (1, 16, 8, 1, 1, 128, 128),
    (1, 4, 4, 1, 63, 64, 64),
    (2, 8, 1, 1, 700, 96, 96),
    (1, 6, 2, 3, 257, 80, 72),
    (1, 32, 1, 8, 300, 40, 24),
    (2, 3, 3, 9, 65, 7, 5),
    (1, 8, 4, 64, 64, 64, 64),
    (1, 7, 1, 130, 200, 48, 33),
    (1, 5, 5, 100, 193, 128, 128),
    (1, 2, 2, 70, 30, 16, 16),
]


def _filled(rng, batch, heads, kv_heads, length, keys, depth, width):
    """Return queries, keys and values as in model definitions, and the same values as plain arrays.

    Queries are transposed, and keys and values are the filled part of longer buffers.
    """
    q = normal(rng, batch, length, heads, depth) * 2
    k, v = normal(rng, batch, kv_heads, keys + 9, depth), normal(rng, batch, kv_heads, keys + 4, width)
    arrays = mx.array(q).transpose(0, 2, 1, 3), mx.array(k)[:, :, :keys], mx.array(v)[:, :, :keys]
    return arrays, (q.swapaxes(1, 2), k[:, :, :keys], v[:, :, :keys])


def _call(kernels, arrays, scale, mask=None, sinks=None):
    """Call the kernel with a mask as `_attention` takes it."""
    given_mask = mx.array(mask) if isinstance(mask, np.ndarray) else None
    return kernels.attention(
        *arrays, scale, isinstance(mask, str), given_mask, None if sinks is None else mx.array(sinks)
    )


def _masks(rng, batch, heads, length, keys):
    """Return masks of every kind, some of which hide all keys from some queries."""
    visible = rng.random((batch, 1, length, keys)) < 0.6
    visible[..., : keys // 2] &= rng.random((batch, 1, length, 1)) < 0.5
    return [
        None,
        "causal",
        visible,
        visible[:1] & (rng.random((1, heads, length, 1)) < 0.8),
        rng.random((heads, 1, keys)) < 0.7,
        normal(rng, heads, length, keys) * 3,
        np.where(rng.random((length, keys)) < 0.9, 0, np.finfo(np.float32).min).astype(np.float32),
        normal(rng, batch, 1, 1, keys),
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("shape", some(_SHAPES, 20), ids=str)
def test_attention(kernels, shape):
    batch, heads, _, length, keys, depth, _ = shape
    rng = np.random.default_rng(sum(shape))
    arrays, values = _filled(rng, *shape)
    for mask in _masks(rng, batch, heads, length, keys):
        for sinks in (None, normal(rng, heads)):
            found = _call(kernels, arrays, depth**-0.5, mask, sinks)
            assert_close(found, _attention(*values, depth**-0.5, mask, sinks), 3e-6)


@examples(60)
@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 90),
    st.integers(1, 300),
    st.integers(1, 70),
    st.integers(1, 70),
    st.integers(0, 7),
    st.booleans(),
    st.integers(0, 2),
)
def test_attention_of_any_shape(batch, kv_heads, shared, length, keys, depth, width, kind, has_sinks, level):
    heads = kv_heads * shared
    rng = np.random.default_rng(length * 1000 + keys)
    arrays, values = _filled(rng, batch, heads, kv_heads, length, keys, depth, width)
    mask = _masks(rng, batch, heads, length, keys)[kind]
    sinks = normal(rng, heads) if has_sinks else None
    with at_level(level):
        found = _call(KERNELS, arrays, depth**-0.5, mask, sinks)
        mx.eval(found)
    assert_close(found, _attention(*values, depth**-0.5, mask, sinks), 3e-6)


@pytest.mark.parametrize("length", [1, 5, 40])
def test_attention_equals_mlx_where_queries_see_nothing(kernels, length):
    shape = (1, 4, 2, length, 90, 32, 32)
    rng = np.random.default_rng(8)
    arrays, _ = _filled(rng, *shape)
    nothing = np.zeros((length, 90), dtype=bool)
    nothing[0, :70] = length > 1  # of several queries, the first one sees some keys
    sinks = normal(rng, 4)
    hidden = np.where(nothing, 0, -np.inf).astype(np.float32)
    for mask in (nothing, hidden):
        for sink in (None, sinks):
            wanted = mx.fast.scaled_dot_product_attention(
                *arrays, scale=0.2, mask=mx.array(mask), sinks=None if sink is None else mx.array(sink)
            )
            found = _call(kernels, arrays, 0.2, mask, sink)
            np.testing.assert_allclose(np.array(found), np.array(wanted), rtol=0, atol=2e-6, equal_nan=True)


@pytest.mark.parametrize(("length", "keys"), [(1, 6000), (6, 3000), (24, 3000)])
def test_attention_over_many_keys(kernels, length, keys):
    rng = np.random.default_rng(9)
    arrays, values = _filled(rng, 1, 4, 2, length, keys, 64, 64)
    assert_close(_call(kernels, arrays, 0.125, "causal"), _attention(*values, 0.125, "causal"), 2e-6)
    # The scores grow with the position, so that every block has a new maximum.
    values[1][..., 0] = np.linspace(-40, 40, keys)
    grown = arrays[0], mx.array(values[1]), arrays[2]
    assert_close(_call(kernels, grown, 1.0), _attention(values[0], values[1], values[2], 1.0), 2e-5)


@pytest.mark.parametrize(("length", "past", "window"), [(1, 700, 128), (300, 0, 64), (130, 333, 100)])
def test_attention_in_a_sliding_window(kernels, length, past, window):
    keys = length + past
    position, key = np.arange(past, keys)[:, None], np.arange(keys)[None]
    mask = (position >= key) & (position < key + window)
    arrays, values = _filled(np.random.default_rng(10), 1, 4, 1, length, keys, 64, 64)
    wanted = _attention(*values, 0.125, mask)
    assert_close(_call(kernels, arrays, 0.125, mask), wanted, 2e-6)
    # Blocks of keys that no query sees are not read: infinities in them would change the result.
    outside = max(0, past - window) // 64 * 64
    assert outside > 0 or past == 0
    for each in values[1:]:
        each[:, :, :outside] = np.inf
    assert_close(_call(kernels, (arrays[0], *map(mx.array, values[1:])), 0.125, mask), wanted, 2e-6)


@pytest.mark.parametrize("length", [1, 7, 70])
@pytest.mark.parametrize("kind", [mx.bfloat16, mx.float16, mx.float32])
def test_attention_reads_keys_and_values_of_other_types_and_layouts(kernels, length, kind):
    rng = np.random.default_rng(11)
    arrays, _ = _filled(rng, 2, 4, 2, length, 90, 24, 40)
    k, v = (x.astype(kind) for x in arrays[1:])
    transposed = [mx.contiguous(x.swapaxes(-1, -2)).swapaxes(-1, -2) for x in (k, v)]
    wide = np.array(k.astype(mx.float32)), np.array(v.astype(mx.float32))
    wanted = _attention(np.array(arrays[0]), *wide, 0.2, "causal")
    for keys, values in ((k, v), transposed):
        assert_close(kernels.attention(arrays[0], keys, values, 0.2, True), wanted, 2e-6)
    spread = mx.contiguous(arrays[0].swapaxes(-1, -2)).swapaxes(-1, -2)
    assert_close(kernels.attention(spread, k, v, 0.2, True), wanted, 2e-6)


@pytest.mark.parametrize("length", [1, 8, 33, 100])
def test_a_row_of_a_batch_is_bit_identical_to_the_row_alone(kernels, length):
    rng = np.random.default_rng(12)
    arrays, _ = _filled(rng, 4, 8, 2, length, 600, 64, 64)
    visible = mx.array(rng.random((4, 1, length, 600)) < 0.7)
    together = kernels.attention(*arrays, 0.125, False, visible), kernels.attention(*arrays, 0.125, True)
    for row in range(4):
        alone = [x[row : row + 1] for x in arrays]
        assert bits(kernels.attention(*alone, 0.125, False, visible[row : row + 1])) == bits(together[0][row])
        assert bits(kernels.attention(*alone, 0.125, True)) == bits(together[1][row])


def test_results_do_not_depend_on_the_number_of_threads(kernels):
    rng = np.random.default_rng(13)
    few, _ = _filled(rng, 2, 8, 2, 1, 2000, 64, 64)
    many, _ = _filled(rng, 1, 8, 2, 200, 500, 64, 64)
    before = kernels.threads()
    try:
        kernels.set_threads(1)
        alone = bits(kernels.attention(*few, 0.125)), bits(kernels.attention(*many, 0.125, True))
        for count in (2, 5):
            kernels.set_threads(count)
            assert (bits(kernels.attention(*few, 0.125)), bits(kernels.attention(*many, 0.125, True))) == alone
    finally:
        kernels.set_threads(before)


_WIDE = 64


@pytest.mark.parametrize("group_size", [32, 64])
@pytest.mark.parametrize("count", [4, 8])
def test_packing_gives_the_same_bits_as_mlx(kernels, count, group_size):
    rng = np.random.default_rng(16)
    x = normal(rng, 2, 3, 40, 128) * np.exp(3 * normal(rng, 2, 3, 40, 1))
    x[0, 0, :5] = [np.zeros(128), np.full(128, 3), np.full(128, -2), np.abs(x[0, 0, 3]), -np.abs(x[0, 0, 4])]
    wanted, found = mx.quantize(mx.array(x), group_size, count), kernels.pack(mx.array(x), group_size, count)
    assert [bits(part) for part in found] == [bits(part) for part in wanted]
    assert bits(kernels.unpack(*found, group_size, count)) == bits(mx.dequantize(*wanted, group_size, count))


@pytest.mark.parametrize("kv_bits", [(4, 4), (8, 8), (8, None), (None, 4), (16, 16), (16, 4)])
@pytest.mark.parametrize(
    ("length", "heads", "width", "group"),
    [(1, 14, 64, 64), (1, 2, 96, 32), (1, 6, 256, 128), (9, 8, 64, 64), (130, 8, 64, 64)],
)
def test_attention_to_packed_keys_and_values_has_the_bits_of_that_to_unpacked_ones(
    kernels, length, heads, width, group, kv_bits
):
    rng = np.random.default_rng(17)
    (q, *held), _ = _filled(rng, 2, heads, 2, length, 301, width, width)

    def packed(array, count, *, swapped=False):
        if count == 16:
            half = array.astype(mx.float16)
            return (mx.contiguous(half.swapaxes(1, 2)).swapaxes(1, 2) if swapped else half).astype(mx.float32)
        parts = kernels.pack(array, group, count)
        if swapped:  # stored with the tokens before the heads
            parts = [mx.contiguous(part.swapaxes(1, 2)).swapaxes(1, 2) for part in parts[:2]] + parts[2:]
        return kernels.unpack(*parts, group, count)

    plain = [mx.array(np.array(packed(x, count))) if count else x for x, count in zip(held, kv_bits, strict=True)]
    for mask in (None, "causal", *_masks(rng, 2, heads, length, 301)[2:4]):
        wanted = bits(_call(kernels, (q, *plain), 0.125, mask))
        for swapped in (False, True):
            read = [packed(x, count, swapped=swapped) if count else x for x, count in zip(held, kv_bits, strict=True)]
            assert bits(_call(kernels, (q, *read), 0.125, mask)) == wanted


def test_attention_to_packed_keys_and_values_does_not_unpack_them_as_a_whole():
    arrays, _ = _filled(np.random.default_rng(18), 1, 8, 2, 1, 3000, _WIDE, _WIDE)
    q, *parts = arrays[0], KERNELS.pack(arrays[1], _WIDE, 4), KERNELS.pack(arrays[2], _WIDE, 8)
    mx.eval(q, parts)
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(KERNELS.attention(q, KERNELS.unpack(*parts[0], _WIDE, 4), KERNELS.unpack(*parts[1], _WIDE, 8), 0.125))
    assert mx.get_peak_memory() - before < 1 << 16


def test_attention_to_float16_does_not_convert_it_as_a_whole():
    arrays, _ = _filled(np.random.default_rng(19), 1, 8, 2, 1, 3000, _WIDE, _WIDE)
    q, *held = (array.astype(dtype) for array, dtype in zip(arrays, (mx.float32, mx.float16, mx.float16), strict=True))
    mx.eval(q, held)
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(KERNELS.attention(q, *(half.astype(mx.float32) for half in held), 0.125))
    assert mx.get_peak_memory() - before < 1 << 16


@pytest.mark.parametrize("rows", [1, 3, 8, 20])
@pytest.mark.parametrize("width", [1 << 16, 7])
def test_every_float16_is_read_as_the_number_that_it_is(kernels, rows, width):
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)[:: (1 << 16) // width][:width]
    # All weight is on a single key, so the result is its value.
    q, k = mx.zeros((1, rows, 1, 16)), mx.zeros((1, 1, 1, 16), dtype=mx.float16)
    found = np.array(kernels.attention(q, k, mx.array(halves.reshape(1, 1, 1, -1)), 1.0))
    finite = np.isfinite(halves)
    for row in found[0, :, 0]:
        np.testing.assert_array_equal(row[finite], halves.astype(np.float32)[finite])
        assert not np.isfinite(row[~finite]).any()


def test_packed_numbers_that_do_not_fit_are_refused():
    x = mx.zeros((1, 2, 3, 64))
    with pytest.raises(ValueError, match="4 or 8 bits"):
        KERNELS.pack(x, 64, 2)
    with pytest.raises(ValueError, match="whole groups"):
        KERNELS.pack(x[..., :40], 32, 8)
    words, scales, biases = KERNELS.pack(x, 64, 8)
    with pytest.raises(ValueError, match="for each group"):
        KERNELS.unpack(words, scales, biases, 64, 4)


def test_attention_allocates_nothing_but_its_result():
    arrays, _ = _filled(np.random.default_rng(14), 1, 8, 2, 600, 1200, 64, 64)
    mx.eval(arrays)
    KERNELS.attention(*arrays, 0.125, True)
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    found = KERNELS.attention(*arrays, 0.125, True)
    mx.eval(found)
    # A matrix of scores would be 23 MB, the result is 1.2 MB.
    assert mx.get_peak_memory() - before < 1.5 * found.nbytes


def test_joining_the_heads_of_the_result_copies_nothing():
    arrays, _ = _filled(np.random.default_rng(15), 1, 8, 2, 300, 300, 64, 64)
    mx.eval(arrays)
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    joined = KERNELS.attention(*arrays, 0.125, True).transpose(0, 2, 1, 3).reshape(1, 300, -1)
    mx.eval(joined)
    assert mx.get_peak_memory() - before < 1.5 * joined.nbytes


def test_inputs_that_do_not_fit_together_are_refused():
    x = mx.zeros((1, 4, 3, 8))
    with pytest.raises(ValueError, match="depth"):
        KERNELS.attention(x, x[..., :6], x, 1.0)
    with pytest.raises(ValueError, match="divide"):
        KERNELS.attention(x, x[:, :3], x[:, :3], 1.0)
    with pytest.raises(ValueError, match="shape of the scores"):
        KERNELS.attention(x, x, x, 1.0, False, mx.zeros((2, 3)))
    with pytest.raises(ValueError, match="shape of the scores"):
        KERNELS.attention(x, x, x, 1.0, False, mx.zeros((5, 1, 1, 3)))
    with pytest.raises(ValueError, match="sinks"):
        KERNELS.attention(x, x, x, 1.0, False, None, mx.zeros((3,)))
