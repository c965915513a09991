"""Pooling against numpy, at once and in pieces."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.config.pooling_config import FIRST, LAST, MAX, MEAN, ROOT, WEIGHTED
from sotto.engine.vectors.pooling import Pool, normalise

# The expected vector of each mode, from the hidden states [L, D] of one text.
EXPECTED = {
    MEAN: lambda rows: rows.mean(0),
    ROOT: lambda rows: rows.sum(0) / np.sqrt(len(rows)),
    FIRST: lambda rows: rows[0],
    LAST: lambda rows: rows[-1],
    MAX: lambda rows: rows.max(0),
    WEIGHTED: lambda rows: np.average(rows, axis=0, weights=np.arange(1, len(rows) + 1)),
}


def random(*shape, seed=3):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("mode", EXPECTED)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_texts_of_different_lengths_are_pooled_separately(mode, lengths):
    hidden = random(len(lengths), max(lengths), 5)
    pool = Pool([mode])
    pool.add(mx.array(hidden), mx.arange(max(lengths))[None] < mx.array(lengths)[:, None])
    wanted = [EXPECTED[mode](hidden[row, :length]) for row, length in enumerate(lengths)]
    assert np.allclose(np.array(pool.vectors()), wanted, atol=1e-5)


@pytest.mark.parametrize("mode", EXPECTED)
@given(pieces=st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_a_text_in_pieces_is_pooled_as_at_once(mode, pieces):
    hidden = random(1, sum(pieces), 5)
    pool, start = Pool([mode]), 0
    for size in pieces:
        pool.add(mx.array(hidden[:, start : start + size]), mx.ones((1, size), dtype=mx.bool_))
        start += size
    assert np.allclose(np.array(pool.vectors())[0], EXPECTED[mode](hidden[0]), atol=1e-5)


def test_several_modes_are_concatenated():
    hidden = random(2, 4, 3)
    pool = Pool([FIRST, MEAN])
    pool.add(mx.array(hidden), mx.ones((2, 4), dtype=mx.bool_))
    wanted = np.concatenate([hidden[:, 0], hidden.mean(1)], axis=1)
    assert np.allclose(np.array(pool.vectors()), wanted, atol=1e-5)


def test_hidden_states_in_16_bits_are_summed_in_32():
    ones = mx.ones((1, 4096, 1), dtype=mx.bfloat16)
    pool = Pool([MEAN])
    pool.add(ones, mx.ones((1, 4096), dtype=mx.bool_))
    assert pool.vectors().item() == 1.0


def test_vectors_are_normalised_and_zeros_are_unchanged():
    vectors = np.array(normalise(mx.array(np.stack([random(6), np.zeros(6, np.float32)]))))
    assert np.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-6)
    assert not vectors[1].any()
