"""Tests of keys and values in fewer bits: their accuracy, their memory, and the note on which layers have them."""

import mlx.core as mx
import pytest
from mlx.utils import tree_map

from sotto.engine.architectures.cache_types import FullKVCache, HalfKVCache, QuantizedKVCache
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.caches import kv_note, leaves, make_caches
from tiny_random import CONFIGS, VOCABULARY, random_model

# Heads of 32, because those of 8 share too few values for a scale.
WIDE = {"hidden_size": 128, "head_dim": 32}
PROMPT = [(7 * index) % VOCABULARY for index in range(40)]
NOTES = {
    "plain": "2 of 2 layers hold keys and values in {} bits",
    "window": "1 of 2 layers holds keys and values in {} bits; sliding windows are left as they are",
    "recurrent": "0 of 2 layers hold keys and values in {} bits; recurrent states are left as they are",
    "hybrid": "1 of 2 layers holds keys and values in {} bits; recurrent states are left as they are",
}


def wide_model(kind):
    mx.random.seed(3)
    model, _ = build(CONFIGS[kind] | WIDE)
    model.update(tree_map(lambda weight: weight + 0.1 * mx.random.normal(weight.shape), model.parameters()))
    model.eval()
    mx.eval(model.parameters())
    return model


MODELS = {kind: wide_model(kind) for kind in CONFIGS}


def logits_of(kind, caches, size):
    """Return the logits of a prompt that is fed `size` tokens at a time."""
    pieces = [PROMPT[start : start + size] for start in range(0, len(PROMPT), size)]
    return mx.concatenate([MODELS[kind](mx.array([piece]), cache=caches) for piece in pieces], axis=1)


@pytest.mark.parametrize("kind", sorted(CONFIGS))
@pytest.mark.parametrize(("bits", "bound"), [(16, 0.001), (8, 0.02), (4, 0.3)])
def test_fewer_bits_change_logits_little_and_are_noted(kind, bits, bound):
    caches = make_caches(MODELS[kind], bits)
    found, exact = logits_of(kind, caches, 7), logits_of(kind, make_caches(MODELS[kind]), 7)
    difference = mx.linalg.norm(found - exact).item()
    assert difference <= bound * mx.linalg.norm(exact).item()
    assert kv_note(caches, bits) == NOTES[kind].format(bits)
    differs = any(isinstance(leaf, HalfKVCache | QuantizedKVCache) for leaf in leaves(caches))
    assert differs == (difference > 0) == (not NOTES[kind].startswith("0 of"))


def test_fewer_bits_take_less_memory():
    sizes = []
    for bits in (None, 16, 8, 4):
        caches = make_caches(MODELS["plain"], bits)
        logits_of("plain", caches, 40)
        sizes.append(sum(cache.nbytes for cache in caches))
    # Every 32 values have a scale and a bias of 4 bytes each in addition.
    assert sizes == [sizes[0], sizes[0] / 2, sizes[0] * (1 + 8 / 32) / 4, sizes[0] * (0.5 + 8 / 32) / 4]


def test_heads_of_an_unsuitable_width_are_not_quantized_and_that_is_noted():
    caches = make_caches(random_model("plain"), 8)
    random_model("plain")(mx.array([PROMPT]), cache=caches)
    assert kv_note(caches, 8) == (
        "0 of 2 layers hold keys and values in 8 bits; heads whose width is not a multiple of 32 are left as they are"
    )


def test_numbers_beyond_float16_become_its_largest_ones_and_others_keep_their_type():
    cache = HalfKVCache()
    keys, values = mx.array([[[[1e5, -1e5, float("inf"), 0.1]]]]), mx.array([[[[1.0, 2.0, 3.0, 4.0]]]])
    found, _ = cache.update_and_fetch(keys, values)
    assert found.dtype == mx.float32
    assert found[0, 0, 0, :3].tolist() == [65504, -65504, 65504]
    assert found[0, 0, 0, 3].item() == pytest.approx(0.1, rel=2**-11)
    assert {buffer.dtype for buffer in cache.buffers} == {mx.float16}
    for dtype in (mx.float16, mx.bfloat16):
        cache = HalfKVCache()
        assert {part.dtype for part in cache.update_and_fetch(keys.astype(dtype), values.astype(dtype))} == {dtype}
        assert {buffer.dtype for buffer in cache.buffers} == {dtype}


def test_there_is_no_note_without_fewer_bits():
    assert kv_note(make_caches(MODELS["plain"]), None) == ""


def test_all_full_caches_of_a_model_know_the_longest_context():
    for kind in ("plain", "window", "hybrid"):
        full = [leaf for leaf in make_caches(MODELS[kind], max_tokens=300) if isinstance(leaf, FullKVCache)]
        assert full
        assert all(leaf.max_tokens == 300 for leaf in full)
