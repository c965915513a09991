"""Our own cache types by themselves, compared with plain arrays."""

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.architectures.cache_types import FullKVCache, SlidingKVCache
from sotto.engine.caches.caches import full_cache
from thoroughness import examples


@examples(60)
@given(max_tokens=st.integers(1, 3000), data=st.data(), bits=st.sampled_from([None, 16, 8]))
def test_a_cache_never_has_room_for_more_than_its_longest_context(max_tokens, data, bits):
    cache = full_cache(bits, max_tokens)
    unlimited = FullKVCache()
    while cache.offset < max_tokens:
        length = data.draw(st.integers(1, min(max_tokens - cache.offset, 700)))
        values = mx.broadcast_to(
            mx.arange(cache.offset, cache.offset + length)[None, None, :, None], (1, 1, length, 32)
        )
        values = values.astype(mx.float32)
        keys, _ = cache.update_and_fetch(values, values)
        expected, _ = unlimited.update_and_fetch(values, values)
        assert keys.shape == expected.shape
        assert mx.allclose(keys, expected, rtol=1e-3)
        assert cache.buffers[0].shape[2] <= max_tokens


def test_a_cache_can_exceed_its_longest_context():
    cache = FullKVCache(10)
    cache.update_and_fetch(mx.zeros((1, 1, 10, 4)), mx.zeros((1, 1, 10, 4)))
    keys, _ = cache.update_and_fetch(mx.ones((1, 1, 3, 4)), mx.ones((1, 1, 3, 4)))
    assert keys[0, 0, :, 0].tolist() == [0] * 10 + [1] * 3


def numbered(start, end):
    """Return keys or values of tokens `start` to `end`, [1, 1, tokens, 4], filled with the token's number."""
    return mx.broadcast_to(mx.arange(start, end, dtype=mx.float32)[None, None, :, None], (1, 1, end - start, 4))


def numbers(array):
    return array[0, 0, :, 0].tolist()


@examples(60)
@given(window=st.integers(1, 90), data=st.data())
def test_a_window_returns_the_last_tokens_in_order_and_can_be_rewound(window, data):
    cache, tokens = SlidingKVCache(window), []
    for number in range(data.draw(st.integers(1, 8))):
        if data.draw(st.booleans()) and cache.can_rewind(length := data.draw(st.integers(0, len(tokens)))):
            cache.rewind(length)
            del tokens[length:]
        fed = data.draw(st.integers(1, 130))
        start = 1000 * number
        keys, values = cache.update_and_fetch(numbered(start, start + fed), numbered(start, start + fed) + 0.5)
        tokens += range(start, start + fed)
        seen = tokens[-(window - 1 + fed) :]
        assert numbers(keys) == seen
        assert numbers(values) == [token + 0.5 for token in seen]
        assert cache.offset == len(tokens)
        # The tokens fed last can always be removed again.
        assert cache.can_rewind(len(tokens) - fed)


@pytest.mark.parametrize("window", [1, 3, 8])
@pytest.mark.parametrize("before", [0, 2, 20])
@pytest.mark.parametrize("length", [1, 2, 9])
def test_the_mask_of_a_window_lets_each_token_see_the_whole_window(window, before, length):
    cache = SlidingKVCache(window)
    if before:
        cache.update_and_fetch(numbered(0, before), numbered(0, before))
    mask = cache.make_mask(length, return_array=True)
    keys, _ = cache.update_and_fetch(numbered(before, before + length), numbered(before, before + length))
    seen = [[max(0, at - window + 1) <= key <= at for key in numbers(keys)] for at in range(before, before + length)]
    if mask is None:
        assert length == 1
        assert seen == [[True] * keys.shape[2]]
    else:
        assert mx.broadcast_to(mask, (length, keys.shape[2])).tolist() == seen


@pytest.mark.parametrize("bits", [None, 16, 8, 4])
@pytest.mark.parametrize("width", [64, 32, 20])
@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_a_cache_built_from_parts_of_another_behaves_like_it(bits, width, dtype):
    values = mx.random.normal((1, 2, 400, width), key=mx.random.key(1)).astype(dtype)
    keys = mx.random.normal((1, 2, 400, width), key=mx.random.key(2)).astype(dtype)
    whole = full_cache(bits)
    whole.update_and_fetch(keys[:, :, :390], values[:, :, :390])
    copy = full_cache(bits)
    for start, end in ((0, 100), (100, 101), (101, 390)):
        copy.put(whole.part(start, end), 390)
        mx.eval(copy.buffers)
        assert copy.buffers[0].shape[2] == 512, "the room for all tokens was not allocated at once"
    from_copy = copy.update_and_fetch(keys[:, :, 390:], values[:, :, 390:])
    from_whole = whole.update_and_fetch(keys[:, :, 390:], values[:, :, 390:])
    for found, expected in zip(from_copy, from_whole, strict=True):
        assert found.dtype == expected.dtype == dtype
        assert mx.array_equal(found, expected)
