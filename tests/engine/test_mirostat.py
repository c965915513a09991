"""Mirostat v2 against plain numpy: what is drawn from, and how the limit follows."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sotto.engine.mirostat import first_limit, steered
from sotto.engine.randomness import draw_key
from sotto.engine.sampler import Sampler, sample_each
from sotto.engine.types import SamplingOptions


def options(**changes):
    return SamplingOptions(**{"temperature": 1.0, "mirostat": 2, **changes})


def drawn_from(scores, limit, temperature=1.0):
    """Return what is drawn from: what surprises at most as much as the limit, from the likeliest token down."""
    weights = np.exp((scores - scores.max()) / temperature)
    probabilities = weights / weights.sum()
    order = np.argsort(-probabilities)
    kept = [token for rank, token in enumerate(order) if rank == 0 or -np.log2(probabilities[token]) <= limit]
    result = np.zeros(len(scores))
    result[kept] = probabilities[kept] / probabilities[kept].sum()
    return result


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    tau=st.sampled_from([0.5, 3.0, 5.0]),
    eta=st.sampled_from([0.05, 0.3]),
    temperature=st.sampled_from([0.7, 1.0, 1.5]),
)
def test_every_step_is_that_of_numpy(seed, tau, eta, temperature):
    chosen = options(mirostat_tau=tau, mirostat_eta=eta, temperature=temperature, seed=seed)
    generator = np.random.default_rng(seed)
    limit, expected = first_limit(chosen), 2 * tau
    for draw in range(12):
        scores = generator.normal(size=50) * 3
        token, limit = steered(mx.array(scores.astype(np.float32))[None], chosen, limit, draw_key(seed, draw))
        possible = drawn_from(scores, expected, temperature)
        assert possible[token.item()] > 0
        expected -= eta * (-np.log2(possible[token.item()]) - tau)
        assert limit.item() == pytest.approx(expected, abs=1e-3)
        expected = limit.item()


def test_what_is_drawn_has_the_distribution_that_is_left():
    scores = np.random.default_rng(3).normal(size=64) * 2
    row, limit = mx.array(scores.astype(np.float32))[None], mx.array([[4.0]])
    tokens = [steered(row, options(), limit, draw_key(9, draw))[0] for draw in range(4000)]
    counts = np.bincount(np.array(mx.concatenate(tokens)), minlength=64) / 4000
    expected = drawn_from(scores, 4.0)
    assert counts[expected == 0].sum() == 0
    assert np.abs(counts - expected).max() < 0.03


@pytest.mark.parametrize("tau", [1.0, 2.0, 3.0])
def test_the_surprise_of_an_answer_comes_to_the_target(tau):
    # From a flat distribution of 64 tokens it would be 6 bits, from the likeliest half of it 5.
    scores = np.linspace(0, 4, 64)
    row = mx.array(scores.astype(np.float32))[None]
    chosen = options(mirostat_tau=tau, seed=4)
    limit, surprises = first_limit(chosen), []
    for draw in range(600):
        allowed = drawn_from(scores, limit.item())
        token, limit = steered(row, chosen, limit, draw_key(4, draw))
        surprises.append(-np.log2(allowed[token.item()]))
    assert np.mean(surprises[100:]) == pytest.approx(tau, abs=0.4)


def test_nothing_is_cut_off_by_other_steps():
    # Top-k of one, and a top-p and min-p that would leave one: mirostat takes their place.
    chosen = options(top_k=1, top_p=0.01, min_p=1.0, seed=3, mirostat_tau=10.0)
    sampler = Sampler(chosen, [0])
    tokens = {sampler.sample(mx.zeros((1, 8))).item() for _ in range(60)}
    assert tokens == set(range(8))


def test_without_a_temperature_the_best_is_taken():
    sampler = Sampler(options(temperature=0), [0])
    assert sampler.sample(mx.array([[0.0, 2.0, 1.0]])).item() == 1


def rows(count, width=100):
    return mx.array(np.random.default_rng(8).normal(size=(count, width)).astype(np.float32) * 2)


def test_rows_behind_drafts_are_drawn_as_one_after_the_other():
    logits = rows(6)
    one_by_one, at_once = Sampler(options(seed=5), [0]), Sampler(options(seed=5), [0])
    expected = [one_by_one.sample(logits[row : row + 1]).item() for row in range(6)]
    found = at_once.sample_rows(logits[:4], expected[:3])
    assert found.tolist() == expected[:4]
    at_once.commit(2)
    assert at_once.sample_rows(logits[2:], expected[2:5]).tolist() == expected[2:]
    at_once.commit(4)
    assert at_once._limit.item() == one_by_one._limit.item()


def test_answers_drawn_together_keep_their_own_limits():
    together = [Sampler(options(seed=seed), [0]) for seed in (1, 2, 3)]
    alone = [Sampler(options(seed=seed), [0]) for seed in (1, 2, 3)]
    for _ in range(8):
        tokens = [token.item() for token in sample_each(together, rows(3))]
        assert tokens == [sampler.sample(rows(3)[row : row + 1]).item() for row, sampler in enumerate(alone)]
