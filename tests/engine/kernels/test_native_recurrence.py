"""The native recurrences and short convolutions against float64 references and against mlx-lm's."""

import importlib

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_kernels import KERNELS, assert_close, at_level, bits, kernels_at_each_level, layouts, needs_kernels, normal
from sotto.engine.architectures import zoo
from sotto.engine.kernels import native_fused
from thoroughness import examples

pytestmark = needs_kernels
__all__ = ["kernels_at_each_level"]

zoo.install()
delta = importlib.import_module("mlx_lm.models.gated_delta")
space = importlib.import_module("mlx_lm.models.ssm")


def inputs(batch, tokens, shared, heads, depth, width, each, seed=0):
    """Return random inputs of a recurrence: queries, keys, values, decays, rates and the state."""
    rng = np.random.default_rng(seed)
    q, k = (normal(rng, batch, tokens, shared, depth) / np.float32(depth**0.5) for _ in range(2))
    decays = (batch, tokens, heads, depth) if each else (batch, tokens, heads)
    return (
        q,
        k,
        normal(rng, batch, tokens, heads, width),
        rng.uniform(0.5, 1, decays).astype(np.float32),
        rng.uniform(0, 1, (batch, tokens, heads)).astype(np.float32),
        normal(rng, batch, heads, width, depth),
    )


def exact(q, k, v, decay, rate, state, corrects):
    """Return the outputs and the new state, computed token by token in float64."""
    q, k, v, decay, rate, state = (np.asarray(part, np.float64) for part in (q, k, v, decay, rate, state))
    q, k = (np.repeat(part, v.shape[2] // part.shape[2], axis=2) for part in (q, k))
    outputs = []
    for t in range(v.shape[1]):
        state = state * (decay[:, t, :, None, None] if decay.ndim == 3 else decay[:, t, :, None, :])
        known = np.einsum("bhwd,bhd->bhw", state, k[:, t]) if corrects else 0
        state = state + ((v[:, t] - known) * rate[:, t, :, None])[..., None] * k[:, t, :, None, :]
        outputs.append(np.einsum("bhwd,bhd->bhw", state, q[:, t]))
    return np.stack(outputs, axis=1), state


@examples(60)
@given(
    st.integers(1, 3),
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 70),
    st.integers(1, 70),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
)
def test_recurrences(batch, tokens, shared, each_shares, depth, width, each, corrects, level):
    given_inputs = inputs(batch, tokens, shared, shared * each_shares, depth, width, each)
    outputs, state = exact(*given_inputs, corrects)
    with at_level(level) as kernels:
        found, after = kernels.recurrence(*map(mx.array, given_inputs), corrects)
        assert_close(found, outputs, 2e-5)
        assert_close(after, state, 2e-5)


def test_inputs_of_any_layout_are_read(kernels):
    given_inputs = inputs(2, 5, 2, 4, 24, 10, each=False)
    wanted = [bits(part) for part in kernels.recurrence(*map(mx.array, given_inputs), True)]
    for parts in zip(*map(layouts, given_inputs), strict=True):
        assert [bits(part) for part in kernels.recurrence(*parts, True)] == wanted


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("corrects", [False, True])
def test_a_prompt_in_parts_and_in_a_batch_gives_the_same_bits(kernels, corrects, each):
    *parts, state = map(mx.array, inputs(3, 45, 2, 4, 128, 72, each))
    whole, after = kernels.recurrence(*parts, state, corrects)
    for row in range(3):
        own, outputs = state[row : row + 1], []
        for begin, end in ((0, 1), (1, 17), (17, 18), (18, 45)):
            found, own = kernels.recurrence(*(part[row : row + 1, begin:end] for part in parts), own, corrects)
            outputs.append(found)
        assert bits(mx.concatenate(outputs, axis=1)) == bits(whole[row : row + 1])
        assert bits(own) == bits(after[row : row + 1])


def test_any_number_of_threads_gives_the_same_bits(kernels):
    parts = [mx.array(part) for part in inputs(2, 40, 4, 8, 64, 100, each=False)]
    x, weight = (
        mx.array(normal(np.random.default_rng(1), 2, 50, 700)),
        mx.array(normal(np.random.default_rng(2), 700, 4, 1)),
    )
    before, results = kernels.threads(), set()
    try:
        for threads in (1, 2, 3):
            kernels.set_threads(threads)
            found = (*kernels.recurrence(*parts, True), kernels.short_convolution(x, weight))
            results.add(b"".join(map(bits, found)))
    finally:
        kernels.set_threads(before)
    assert len(results) == 1


def test_a_state_that_is_still_needed_stays_as_it_is(kernels):
    *parts, state = map(mx.array, inputs(1, 3, 1, 2, 16, 16, each=False))
    mx.eval(state)
    before = bits(state)
    mx.eval(kernels.recurrence(*parts, state, True))
    assert bits(state) == before
    # This one nobody else has, so that it is written in place.
    own = state + 0
    found = kernels.recurrence(*parts, own, True)
    del own
    assert [bits(part) for part in found] == [bits(part) for part in kernels.recurrence(*parts, state, True)]


def test_no_tokens_leave_a_state_as_it_was(kernels):
    *parts, state = map(mx.array, inputs(1, 2, 1, 2, 16, 16, each=False))
    outputs, after = kernels.recurrence(*(part[:, :0] for part in parts), state, True)
    assert outputs.shape == (1, 0, 2, 16)
    assert bits(after) == bits(state)


@pytest.mark.parametrize("taps", [1, 2, 4, 8])
@pytest.mark.parametrize("shape", [(1, 8, 1), (2, 30, 37), (1, 9, 300)])
def test_short_convolutions(kernels, shape, taps):
    rng = np.random.default_rng(3)
    x, weight = normal(rng, *shape), normal(rng, shape[2], taps, 1)
    tokens = shape[1] - taps + 1
    wanted = sum(x[:, j : j + tokens].astype(np.float64) * weight[:, j, 0] for j in range(taps))
    for each in layouts(x):
        assert_close(kernels.short_convolution(each, mx.array(weight)), wanted)


def test_inputs_that_do_not_fit_together_are_refused():
    q, k, v, decay, rate, state = map(mx.array, inputs(1, 3, 2, 4, 8, 6, each=False))
    for wrong in (
        (q[:, :2], k, v, decay, rate, state),
        (q, k[..., :4], v, decay, rate, state),
        (q, k, v[:, :, :3], decay, rate, state),
        (q, k, v, decay[..., None, None], rate, state),
        (q, k, v, decay, rate[:, 1:], state),
        (q, k, v, decay, rate, state[:, 1:]),
        (q.astype(mx.float16), k, v, decay, rate, state),
        (q[0], k, v, decay, rate, state),
    ):
        with pytest.raises(ValueError, match=r"must"):
            KERNELS.recurrence(*wrong, True)
    x, weight = mx.zeros((1, 5, 3)), mx.zeros((3, 4, 1))
    for wrong in ((x[:, :3], weight), (x, weight[:2]), (x, mx.zeros((3, 9, 1))), (x.astype(mx.float16), weight)):
        with pytest.raises(ValueError, match=r"must"):
            KERNELS.short_convolution(*wrong)


@pytest.fixture
def installed():
    """Use the kernels in the definitions, as they may already be used or not."""
    before = bool(native_fused._undo)
    native_fused.install(KERNELS)
    yield
    if not before:
        native_fused.uninstall()


def both(call):
    """Return what `call` gets from mlx-lm's functions, and from the native ones."""
    found = []
    for use in (native_fused.uninstall, lambda: native_fused.install(KERNELS)):
        use()
        found.append([np.array(part, dtype=np.float64) for part in call()])
    return found


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("has_state", [False, True])
def test_the_delta_rule_equals_that_of_mlx_lm(installed, has_state, each):
    *parts, state = map(mx.array, inputs(2, 9, 2, 4, 32, 16, each))
    own, native = both(lambda: delta.gated_delta_ops(*parts, state if has_state else None))
    for mine, other in zip(native, own, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-5)


def test_a_padded_batch_is_left_to_mlx_lm(installed):
    *parts, state = map(mx.array, inputs(2, 4, 2, 4, 32, 16, each=False))
    mask = mx.array([[True, True, True, False], [True, False, False, False]])
    own, native = both(lambda: delta.gated_delta_ops(*parts, state, mask))
    for mine, other in zip(native, own, strict=True):
        assert mine.tobytes() == other.tobytes()


@pytest.mark.parametrize("has_state", [False, True])
@pytest.mark.parametrize("tokens", [1, 7, 300])
def test_the_state_space_model_equals_that_of_mlx_lm(installed, tokens, has_state):
    rng = np.random.default_rng(5)
    x, b, c = (mx.array(normal(rng, *shape)) for shape in ((2, tokens, 6, 8), (2, tokens, 2, 16), (2, tokens, 2, 16)))
    logarithm, skip, bias = (mx.array(rng.uniform(0, 1, 6).astype(np.float32)) for _ in range(3))
    steps = mx.array(normal(rng, 2, tokens, 6))
    state = mx.array(normal(rng, 2, 6, 8, 16)) if has_state else None
    own, native = both(lambda: space.ssm_attn(x, logarithm, b, c, skip, steps, bias, state))
    for mine, other in zip(native, own, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=3e-5 * np.abs(other).max())


def test_other_convolutions_are_left_to_mlx(installed):
    rng = np.random.default_rng(6)
    x, weight, mixing = (mx.array(normal(rng, *shape)) for shape in ((1, 20, 6), (6, 3, 1), (4, 3, 6)))
    for call in (
        lambda: [mx.conv1d(x, mixing)],
        lambda: [mx.conv1d(x, weight, stride=2, groups=6)],
        lambda: [mx.conv1d(x, weight, padding=1, groups=6)],
        lambda: [mx.conv1d(x, weight, dilation=2, groups=6)],
    ):
        own, native = both(call)
        assert own[0].tobytes() == native[0].tobytes()
    own, native = both(lambda: [mx.conv1d(x, weight, groups=6)])
    np.testing.assert_allclose(native[0], own[0], rtol=0, atol=1e-5)
