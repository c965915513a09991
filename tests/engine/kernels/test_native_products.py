"""The native products against float64 and against those of MLX, in every format and at every instruction level."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_kernels import KERNELS, LEVELS, assert_close, bits, kernels_at_each_level, needs_kernels, normal
from thoroughness import examples

pytestmark = needs_kernels
__all__ = ["kernels_at_each_level"]

SCHEMES = [
    *((size, group, "affine") for size in (4, 8) for group in (32, 64, 128)),
    (4, 32, "mxfp4"),
    (8, 32, "mxfp8"),
    (4, 16, "nvfp4"),
]
FLOATS = [mx.float32, mx.bfloat16, mx.float16]
# Relative to the sum of the products' magnitudes: the error of some roundings in float32, or of 16-bit results.
TOLERANCE = {mx.float32: 1e-6, mx.bfloat16: 2**-8, mx.float16: 2**-10}
# Absolute tolerances, for results that are too small to have full precision.
SMALLEST = {mx.float32: 1e-38, mx.bfloat16: 1e-38, mx.float16: 2**-24}


class Packed:
    """A quantized matrix, and its values in float64."""

    def __init__(self, rng, shape, scheme, scale_type=mx.float32):
        self.bits, self.group, self.mode = scheme
        parts = mx.quantize(mx.array(normal(rng, *shape)), self.group, self.bits, mode=self.mode)
        self.weight, self.scales = parts[0], parts[1]
        self.biases = None
        if self.mode == "affine":
            self.scales, self.biases = self.scales.astype(scale_type), parts[2].astype(scale_type)
        # Affine weights are dequantized here in float64, because MLX would round to the type of the scales.
        if self.mode == "affine":
            codes = np.array(self.weight).view(np.uint8).astype(np.int64)
            if self.bits == 4:
                codes = np.stack([codes & 15, codes >> 4], axis=-1).reshape(*shape)
            spread = [
                np.repeat(np.array(each.astype(mx.float32), dtype=np.float64), self.group, axis=-1)
                for each in (self.scales, self.biases)
            ]
            self.exact = codes * spread[0] + spread[1]
        else:
            self.exact = np.array(
                mx.dequantize(self.weight, self.scales, None, self.group, self.bits, self.mode, dtype=mx.float32),
                dtype=np.float64,
            )

    def times(self, kernels, x):
        return kernels.quantized_matmul(
            x, self.weight, self.scales, self.biases, True, self.group, self.bits, self.mode
        )

    def gathered(self, kernels, x, left, right):
        return kernels.gather_qmm(
            x, self.weight, self.scales, self.biases, left, right, True, self.group, self.bits, self.mode
        )


def exact(x):
    return np.array(x.astype(mx.float32), dtype=np.float64)


def agree(found, x, weights, extra=0.0):
    """Check `found` against x @ weights.T + extra, each element within the rounding error of its own sum."""
    wanted = x @ np.swapaxes(weights, -1, -2) + extra
    sizes = np.abs(x) @ np.swapaxes(np.abs(weights), -1, -2) + np.abs(extra)
    assert found.shape == wanted.shape
    assert np.all(np.abs(exact(found) - wanted) <= TOLERANCE[found.dtype] * sizes + SMALLEST[found.dtype])


@pytest.fixture(autouse=True)
def _reset_few_rows():
    yield
    KERNELS.set_few_rows(0)


@examples(250)
@given(
    scheme=st.sampled_from(SCHEMES),
    level=st.integers(0, len(LEVELS) - 1),
    lead=st.lists(st.integers(0, 5), max_size=2),
    rows=st.integers(1, 70),
    blocks=st.integers(1, 9),
    x_type=st.sampled_from(FLOATS),
    scale_type=st.sampled_from(FLOATS),
    few=st.sampled_from([0, 2, 1000]),
    threads=st.sampled_from([1, 2, 3]),
)
def test_quantized(scheme, level, lead, rows, blocks, x_type, scale_type, few, threads):
    before = KERNELS.level(), KERNELS.threads()
    KERNELS.set_level(level)
    KERNELS.set_few_rows(few)
    KERNELS.set_threads(threads)
    try:
        rng = np.random.default_rng(rows * 31 + blocks)
        columns = max(32, scheme[1]) * blocks
        matrix = Packed(rng, (rows, columns), scheme, scale_type)
        x = mx.array(normal(rng, *lead, columns)).astype(x_type)
        found = matrix.times(KERNELS, x)
        plain = mx.quantized_matmul(
            x, matrix.weight, matrix.scales, matrix.biases, True, matrix.group, matrix.bits, matrix.mode
        )
        assert found.dtype == plain.dtype
        agree(found, exact(x), matrix.exact)
    finally:
        KERNELS.set_level(LEVELS.index(before[0]))
        KERNELS.set_threads(before[1])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_quantized_as_in_a_model(kernels, scheme, rows):
    rng = np.random.default_rng(7)
    matrix = Packed(rng, (260, 1152), scheme)
    x = normal(rng, rows, 1152)
    agree(matrix.times(kernels, mx.array(x)), x, matrix.exact)


@pytest.mark.covering(3)
@pytest.mark.parametrize("weight_type", FLOATS)
@pytest.mark.parametrize("x_type", FLOATS)
@pytest.mark.parametrize("columns", [1, 5, 64, 131])
@pytest.mark.parametrize("rows", [0, 1, 6, 40])
def test_dense(kernels, weight_type, x_type, columns, rows):
    rng = np.random.default_rng(columns)
    weight = mx.array(normal(rng, 37, columns)).astype(weight_type)
    x = mx.array(normal(rng, 2, rows, columns)).astype(x_type)
    bias = mx.array(normal(rng, 37))
    found = kernels.linear(x, weight, None)
    assert found.dtype == (x @ weight.T).dtype
    agree(found, exact(x), exact(weight))
    agree(kernels.linear(x, weight, bias), exact(x), exact(weight), exact(bias))
    assert kernels.linear(x, weight, bias).dtype == mx.addmm(bias, x, weight.T).dtype


def test_special_codes_of_the_8_bit_floats(kernels):
    codes = np.arange(256, dtype=np.uint8).reshape(8, 32)
    scales = np.array([0, 1, 2, 100, 127, 130, 200, 254], dtype=np.uint8).reshape(8, 1)
    weight, scale = mx.array(codes.view(np.uint32)), mx.array(scales)
    unit = mx.eye(32)
    found = np.array(kernels.quantized_matmul(unit, weight, scale, None, True, 32, 8, "mxfp8")).T
    plain = np.array(mx.dequantize(weight, scale, None, 32, 8, "mxfp8", dtype=mx.float32))
    # All sums with a row that has a NaN are NaN.
    whole = ~np.isnan(plain).any(axis=1)
    assert whole.sum() >= 6
    np.testing.assert_array_equal(found[whole], plain[whole])
    assert np.isnan(found[~whole]).all()


def test_all_codes_of_the_4_bit_floats(kernels):
    words = np.frombuffer(bytes(low | high << 4 for high in range(16) for low in range(16)), dtype=np.uint32)
    for mode, group in (("mxfp4", 32), ("nvfp4", 16)):
        weight = mx.array(words.reshape(-1, group // 8))
        scale = mx.array(np.linspace(40, 126, len(weight)).astype(np.uint8)[:, None])
        found = kernels.quantized_matmul(mx.eye(group), weight, scale, None, True, group, 4, mode)
        plain = mx.dequantize(weight, scale, None, group, 4, mode, dtype=mx.float32)
        np.testing.assert_array_equal(np.array(found).T, np.array(plain))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("scheme", [*SCHEMES, *FLOATS], ids=str)
def test_a_row_has_the_same_bits_alone_or_in_a_batch_and_on_any_number_of_threads(kernels, scheme):
    rng = np.random.default_rng(3)
    columns = 1152 if isinstance(scheme, tuple) else 1147
    x = mx.array(normal(rng, kernels.few_rows(), columns))
    if isinstance(scheme, tuple):
        matrix = Packed(rng, (531, columns), scheme)

        def times(x):
            return matrix.times(kernels, x)
    else:
        weight = mx.array(normal(rng, 531, columns)).astype(scheme)

        def times(x):
            return kernels.linear(x, weight, None)

    before = kernels.threads()
    try:
        kernels.set_threads(1)
        together = times(x)
        mx.eval(together)
        kernels.set_threads(3)
        assert bits(times(x)) == bits(together)
        for count in range(1, len(x)):
            assert bits(times(x[:count])) == bits(together[:count])
        assert bits(times(x[-1])) == bits(together[-1])
    finally:
        kernels.set_threads(before)


@pytest.mark.parametrize("scheme", [SCHEMES[1], SCHEMES[4], *FLOATS], ids=str)
def test_layouts_of_the_input_and_of_the_weights_do_not_matter(kernels, scheme):
    rng = np.random.default_rng(4)
    x = normal(rng, 3, 4, 128)
    transposed = mx.array(np.ascontiguousarray(np.moveaxis(x, -1, 0)))
    wide = mx.array(np.concatenate([x, x], axis=-1))
    layouts = [
        mx.moveaxis(transposed, 0, -1),
        wide[..., :128],
        mx.array(x)[:, ::2],
        mx.broadcast_to(mx.array(x[:1]), x.shape),
    ]
    if isinstance(scheme, tuple):
        whole = Packed(rng, (24, 128), scheme)
        every_other = Packed(rng, (24, 128), scheme)
        every_other.weight, every_other.scales = whole.weight[::2], whole.scales[::2]
        every_other.biases = whole.biases[::2]
        products = [(whole.times, whole.exact), (every_other.times, whole.exact[::2])]
    else:
        weight = mx.array(normal(rng, 128, 24)).astype(scheme)
        products = [(lambda kernels, x: kernels.linear(x, weight.T, None), exact(weight).T)]
    for layout in layouts:
        for times, weights in products:
            agree(times(kernels, layout), exact(layout), weights)


@pytest.mark.covering(2)
@pytest.mark.parametrize("scheme", [*SCHEMES, *FLOATS], ids=str)
@pytest.mark.parametrize("tokens", [0, 1, 5, 90])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_experts(kernels, scheme, tokens, is_sorted):
    rng = np.random.default_rng(5)
    experts, chosen, columns = 4, 3, 128
    packed = isinstance(scheme, tuple)
    matrix = Packed(rng, (experts, 24, columns), scheme) if packed else None
    weight = None if packed else mx.array(normal(rng, experts, 24, columns)).astype(scheme)
    weights = matrix.exact if packed else exact(weight)

    def gathered(x, left, right):
        return matrix.gathered(kernels, x, left, right) if packed else kernels.gather_mm(x, weight, left, right)

    if is_sorted:
        # As mlx-lm calls it for a prompt: a separate row for each pair of a token and an expert.
        indices = np.sort(rng.integers(0, experts, tokens * chosen)).astype(np.uint32)
        x = normal(rng, tokens * chosen, 1, columns)
        agree(gathered(mx.array(x), None, mx.array(indices)), x, weights[indices])
        return
    # As mlx-lm calls it for a few tokens: each row with several experts.
    indices = rng.integers(0, experts, (tokens, chosen)).astype(np.uint32)
    x = normal(rng, tokens, 1, 1, columns)
    found = gathered(mx.array(x), None, mx.array(indices))
    agree(found, np.broadcast_to(x, (tokens, chosen, 1, columns)), weights[indices])
    if tokens:
        both = mx.array(np.arange(tokens, dtype=np.int32)[::-1].copy())[:, None]
        agree(gathered(mx.array(x[:, 0]), both, mx.array(indices)), x[::-1], weights[indices])


def test_an_expert_that_does_not_exist_is_an_error():
    matrix = Packed(np.random.default_rng(6), (2, 8, 64), SCHEMES[1])
    with pytest.raises((IndexError, ValueError, RuntimeError), match="beyond the end"):
        mx.eval(matrix.gathered(KERNELS, mx.ones((1, 1, 64)), None, mx.array([2])))


@pytest.mark.parametrize(
    ("change", "value"), [("bits", 3), ("bits", 2), ("group", 256), ("mode", "mxfp4"), ("weight", None), ("x", None)]
)
def test_unsupported_inputs_return_none(change, value):
    matrix = Packed(np.random.default_rng(8), (16, 256), (4, 64, "affine"))
    x = mx.ones((1, 256))
    if change == "weight":
        matrix.weight = matrix.weight[None]
    elif change == "x":
        x = mx.ones((1, 192))
    else:
        setattr(matrix, change, value)
    assert matrix.times(KERNELS, x) is None
    assert KERNELS.quantized_matmul(x, matrix.weight, matrix.scales, None, False, 64, 4, "affine") is None
    assert KERNELS.linear(mx.ones((2, 8), dtype=mx.int32), mx.ones((3, 8)), None) is None
    assert KERNELS.linear(mx.ones((2, 8)), mx.ones((3, 9)), None) is None


def test_a_product_waits_for_its_inputs():
    weight = mx.random.normal((64, 64)) / 16
    x = mx.random.normal((2, 64))
    chain = x
    for _ in range(20):
        chain = mx.tanh(KERNELS.linear(chain, weight, None))
    other = x
    for _ in range(20):
        other = mx.tanh(other @ weight.T)
    assert mx.allclose(chain, other, atol=1e-5)


@pytest.mark.parametrize("size", [4, 8])
def test_rows_longer_than_the_cache_have_the_same_bits_alone_and_together(kernels, size):
    rng = np.random.default_rng(8)
    packed = mx.quantize(mx.array(normal(rng, 37, 14336)), 64, size)
    x = mx.array(normal(rng, 3, 14336))
    together = kernels.quantized_matmul(x, *packed, True, 64, size, "affine")
    assert_close(together, np.array(x, np.float64) @ np.array(mx.dequantize(*packed, 64, size), np.float64).T)
    for row in range(3):
        alone = kernels.quantized_matmul(x[row : row + 1], *packed, True, 64, size, "affine")
        assert bits(alone) == bits(together[row : row + 1])
