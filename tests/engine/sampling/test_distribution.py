"""Typical sampling and XTC against plain numpy, which sorts and loops where the engine works on whole rows."""

import math

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.sampling.distribution import distribution
from sotto.engine.sampling.draw_keys import chance, draw_key
from sotto.engine.sampling.sampler import Sampler
from thoroughness import examples, share


def options(**changes):
    """Return options that disable every step of sampling except for `changes`."""
    return SamplingOptions(**{"temperature": 1.0, "top_k": 0, "top_p": 1.0, **changes})


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def typical(probabilities, p):
    """Return the tokens that are kept, from the most typical one on until their probability mass reaches p."""
    entropy = -sum(share * math.log(share) for share in probabilities if share > 0)
    order = sorted(range(len(probabilities)), key=lambda token: abs(-math.log(probabilities[token]) - entropy))
    kept, mass = [], 0.0
    for token in order:
        if mass >= p and kept:
            break
        kept.append(token)
        mass += probabilities[token]
    return sorted(kept)


def without_top_choices(probabilities, threshold):
    """Return the tokens that are kept: those below the threshold, and of the others only the least likely one."""
    order = sorted(range(len(probabilities)), key=lambda token: -probabilities[token])
    above = [token for token in order if probabilities[token] >= threshold and probabilities[token] > 0]
    return sorted(set(order) - set(above[:-1]))


def probabilities_of(scores, chosen, struck=()):
    log_probs, ids = distribution(mx.array(np.asarray(scores, dtype=np.float32))[None], chosen, struck)
    result = np.zeros(len(scores))
    result[np.array(ids[0])] = np.exp(np.array(log_probs[0], dtype=np.float64))
    return result


rows = st.lists(st.floats(-8, 8, width=16), min_size=2, max_size=40, unique=True).map(np.array)


@examples(200)
@given(scores=rows, p=st.floats(0.01, 0.99), temperature=st.sampled_from([0.5, 1.0, 2.0]))
def test_typical_sampling_equals_numpy(scores, p, temperature):
    probabilities = softmax(scores.astype(np.float64) / temperature)
    surprise = -np.log(probabilities)
    deviations = np.sort(np.abs(surprise - (probabilities * surprise).sum()))
    kept = typical(probabilities, p)
    masses = np.cumsum(probabilities[np.argsort(np.abs(surprise - (probabilities * surprise).sum()))])
    # No two tokens that are equally typical, and no mass close to p, because rounding would decide.
    assume(np.diff(deviations).min() > 1e-4)
    assume(np.abs(masses - p).min() > 1e-5)
    expected = np.zeros(len(scores))
    expected[kept] = probabilities[kept] / probabilities[kept].sum()
    found = probabilities_of(scores, options(typical_p=p, temperature=temperature))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_typical_sampling_removes_tokens_that_are_too_likely():
    # One token has the largest mass, and its surprise is far below the average.
    scores = np.log([0.4, 0.15, 0.15, 0.15, 0.15])
    found = probabilities_of(scores, options(typical_p=0.5))
    assert found[0] == 0
    np.testing.assert_allclose(found[1:], 0.25, atol=1e-6)


def test_typical_sampling_comes_between_top_k_and_top_p():
    scores = np.log([0.40, 0.20, 0.15, 0.13, 0.12])
    kept = typical(softmax(scores[:3]), 0.5)
    left = softmax(scores)[kept] / softmax(scores)[kept].sum()
    found = probabilities_of(scores, options(top_k=3, typical_p=0.5, top_p=0.99))
    np.testing.assert_allclose(found[kept], left, atol=1e-6)
    assert np.count_nonzero(found) == len(kept)


@examples(200)
@given(scores=rows, threshold=st.floats(0, 0.6), struck=st.booleans(), top_k=st.sampled_from([0, 3, 10]))
def test_xtc_equals_numpy(scores, threshold, struck, top_k):
    order = np.argsort(-scores)[: top_k or None]
    probabilities = np.zeros(len(scores))
    probabilities[order] = softmax(scores[order].astype(np.float64))
    assume(np.abs(probabilities[order] - threshold).min() > 1e-5)
    expected = probabilities.copy()
    if struck:
        expected[sorted(set(order) - set(without_top_choices(probabilities, threshold)))] = 0
    found = probabilities_of(scores, options(xtc_probability=1.0, xtc_threshold=threshold, top_k=top_k), [struck])
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-5)


@pytest.mark.parametrize("scores", [[0.5, 0.3, 0.15, 0.05], [0.5, 0.3, 0.2, 0.0]])
def test_tokens_that_top_p_removed_are_not_among_the_top_choices(scores):
    with np.errstate(divide="ignore"):
        scores = np.log(scores)
    found = probabilities_of(scores, options(xtc_probability=1.0, xtc_threshold=0.0, top_p=0.9), [True])
    np.testing.assert_allclose(found, [0, 0, 1, 0], atol=1e-6)


def test_xtc_applies_to_each_row_separately():
    scores = mx.array(np.log([[0.6, 0.3, 0.1]] * 2, dtype=np.float32))
    log_probs, _ = distribution(scores, options(xtc_probability=0.5, xtc_threshold=0.2), [True, False])
    np.testing.assert_allclose(np.exp(np.array(log_probs)), [[0, 0.75, 0.25], [0.6, 0.3, 0.1]], atol=1e-6)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_xtc_applies_with_the_given_probability(probability):
    scores = np.log([0.5, 0.3, 0.2])
    row = mx.array(scores.astype(np.float32))[None]
    sampler = Sampler(options(seed=8, xtc_probability=probability, xtc_threshold=0.25), [0])
    samples = share(4000, 1500)
    counts = np.bincount(np.array(mx.concatenate([sampler.sample(row) for _ in range(samples)])), minlength=3) / samples
    truncated, unchanged = np.array([0, 0.6, 0.4]), np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(counts, probability * truncated + (1 - probability) * unchanged, atol=0.03)


def test_chances_are_uniform_and_independent_of_the_sampled_tokens():
    found = np.array([chance(draw_key(5, draw)) for draw in range(20_000)])
    assert found.min() >= 0
    assert found.max() < 1
    assert np.abs(np.histogram(found, 10, (0, 1))[0] / 20_000 - 0.1).max() < 0.01
    following = np.array([draw_key(5, draw) / 2**64 for draw in range(20_000)])
    assert abs(np.corrcoef(found, following)[0, 1]) < 0.03


@examples(60)
@given(
    biases=st.dictionaries(st.integers(0, 9), st.floats(-100, 100, width=32), max_size=4),
    scores=st.lists(st.floats(-5, 5, width=32), min_size=10, max_size=10),
)
def test_a_bias_is_added_before_anything_else(biases, scores):
    expected = np.array(scores, dtype=np.float64)
    for token, bias in biases.items():
        expected[token] += bias
    chosen = SamplingOptions(temperature=0, logit_bias=tuple(biases.items()))
    token = Sampler(chosen, [0]).sample(mx.array(scores, dtype=mx.float32)[None]).item()
    assert expected[token] >= expected.max() - 1e-4


def test_a_ban_outweighs_a_bias():
    chosen = SamplingOptions(temperature=0, logit_bias=((1, 100.0), (2, 50.0)))
    assert Sampler(chosen, [0], banned=[1]).sample(mx.zeros((1, 8))).item() == 2
