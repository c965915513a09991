"""Perplexity and KL divergence against sums written out by hand, as llama.cpp's tool writes them."""

import math

import mlx.core as mx
import numpy as np
import pytest

from quality_sums import flat, sums
from sotto.engine.quality.comparison import Comparison


def compared(original, other, targets, rows):
    comparison = Comparison()
    for start in range(0, len(targets), rows):
        part = slice(start, start + rows)
        comparison.add(mx.array(original[part]), mx.array(other[part]), targets[part])
    return comparison.result().as_json()


@pytest.mark.parametrize("noise", [2.0, 0.1, 1e-2])
def test_figures_are_those_of_sums_written_out(noise):
    random = np.random.default_rng(5)
    original = (4 * random.standard_normal((203, 301))).astype(np.float32)
    other = original + (noise * random.standard_normal(original.shape)).astype(np.float32)
    targets = random.integers(0, 301, 203).tolist()
    wanted = dict(flat(sums(original, other, targets)))
    assert dict(flat(compared(original, other, targets, rows=37))) == pytest.approx(wanted, rel=1e-5, abs=1e-7)


def test_a_model_is_no_distance_from_itself():
    logits = np.random.default_rng(1).standard_normal((20, 50)).astype(np.float32)
    figures = compared(logits, logits, list(range(20)), rows=20)
    assert figures["divergence"] == {"value": 0.0, "error": 0.0}
    assert figures["ratio"] == {"value": 1.0, "error": 0.0}
    assert figures["same_token"] == {"value": 1.0, "error": 0.0}


def test_large_logits_and_impossible_tokens_give_finite_figures():
    original = np.array([[-np.inf, 900.0, 899.0], [-np.inf, 3.0, 3.5]], dtype=np.float32)
    other = np.array([[-np.inf, 900.0, 899.5], [-np.inf, 3.0, 3.5]], dtype=np.float32)
    figures = compared(original, other, [1, 2], rows=2)
    chances = np.exp([0.0, -1.0]) / np.exp([0.0, -1.0]).sum()
    others = np.exp([0.0, -0.5]) / np.exp([0.0, -0.5]).sum()
    assert figures["divergence"]["value"] == pytest.approx(np.sum(chances * np.log(chances / others)) / 2, abs=1e-7)
    assert all(math.isfinite(value) for _, value in flat(figures))
