"""Mirostat against plain numpy: the distribution after truncation, and the adjustment of the limit."""

import math

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.sampling.draw_keys import draw_key
from sotto.engine.sampling.mirostat import VERSIONS, draw_mirostat, first_limit
from sotto.engine.sampling.sampler import Sampler, sample_each
from thoroughness import examples, share


def options(version=2, **changes):
    return SamplingOptions(**{"temperature": 1.0, "mirostat": version, **changes})


def truncated_distribution(scores, limit, version=2, temperature=1.0):
    """Return the distribution that is sampled from: the most likely tokens that the limit allows, at least one."""
    weights = np.exp((scores - scores.max()) / temperature)
    probabilities = weights / weights.sum()
    order = np.argsort(-probabilities)
    if version == 1:
        kept = order[: max(1, int(candidate_count(probabilities[order], limit)))]
    else:
        kept = [token for rank, token in enumerate(order) if rank == 0 or probabilities[token] >= 2**-limit]
    result = np.zeros(len(scores))
    result[kept] = probabilities[kept] / probabilities[kept].sum()
    return result


def candidate_count(ordered, limit):
    """Return the number of candidates by llama.cpp's `llama_sampler_mirostat_apply`, line by line, with m = 100."""
    sum_ti_bi = sum_ti_sq = 0.0
    for i in range(min(100 - 1, len(ordered) - 1)):
        if ordered[i + 1] > 0:  # llama.cpp has already removed such tokens here
            t_i, b_i = math.log((i + 2) / (i + 1)), math.log(ordered[i] / ordered[i + 1])
            sum_ti_bi += t_i * b_i
            sum_ti_sq += t_i * t_i
    s_hat = sum_ti_bi / sum_ti_sq
    epsilon_hat = s_hat - 1
    with np.errstate(over="ignore"):
        count = np.float64(epsilon_hat * 2**limit / (1 - len(ordered) ** -epsilon_hat)) ** (1 / s_hat)
    # Any number above the size of the vocabulary has the same effect.
    return min(count, len(ordered) + 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_step_equals_numpy(version):
    @examples(60)
    @given(
        seed=st.integers(0, 2**32),
        size=st.sampled_from([5, 50, 400]),
        tau=st.sampled_from([0.5, 3.0, 5.0]),
        eta=st.sampled_from([0.05, 0.3]),
        temperature=st.sampled_from([0.7, 1.0, 1.5]),
        banned=st.integers(0, 3),
    )
    def holds(seed, size, tau, eta, temperature, banned):
        chosen = options(version, mirostat_tau=tau, mirostat_eta=eta, temperature=temperature, seed=seed)
        generator = np.random.default_rng(seed)
        limit, expected = first_limit(chosen), 2 * tau
        for draw in range(12):
            scores = (generator.normal(size=size) * 3).astype(np.float32)
            scores[:banned] = -np.inf
            exact = scores.astype(float)
            weights = np.sort(np.exp((exact - exact.max()) / temperature))[::-1]
            if version == 1:
                # In float32, rounding may decide on the last candidate.
                count = candidate_count(weights / weights.sum(), expected)
                assume(count > size or abs(count - round(count)) > 1e-3 * max(count, 1))
            token, limit = draw_mirostat(mx.array(scores)[None], chosen, limit, draw_key(seed, draw))
            possible = truncated_distribution(exact, expected, version, temperature)
            assert possible[token.item()] > 0
            expected -= eta * (-np.log2(possible[token.item()]) - tau)
            assert limit.item() == pytest.approx(expected, abs=1e-3)
            expected = limit.item()

    holds()


@pytest.mark.parametrize("version", VERSIONS)
def test_samples_have_the_truncated_distribution(version):
    scores = np.random.default_rng(3).normal(size=64) * 2
    row, limit = mx.array(scores.astype(np.float32))[None], mx.array([[6.0]])
    tokens = [
        draw_mirostat(row, options(version), limit, draw_key(9, draw))[0]
        for draw in range(share(4000 if version == 2 else 2000, 1000))
    ]
    counts = np.bincount(np.array(mx.concatenate(tokens)), minlength=64) / len(tokens)
    expected = truncated_distribution(scores, 6.0, version)
    assert 1 < np.count_nonzero(expected) < 64
    assert counts[expected == 0].sum() == 0
    assert np.abs(counts - expected).max() < 0.03


@pytest.mark.one_in(3)
@pytest.mark.parametrize("tau", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_mean_surprise_of_an_answer_reaches_the_target(version, tau):
    # It would be 6 bits for a uniform distribution of 64 tokens, and 5 bits for half of them.
    scores = np.linspace(0, 4, 64)
    row = mx.array(scores.astype(np.float32))[None]
    chosen = options(version, mirostat_tau=tau, seed=4)
    limit, surprises = first_limit(chosen), []
    for draw in range(share(600 if version == 2 else 400, 250)):
        allowed = truncated_distribution(scores, limit.item(), version)
        token, limit = draw_mirostat(row, chosen, limit, draw_key(4, draw))
        surprises.append(-np.log2(allowed[token.item()]))
    assert np.mean(surprises[100:]) == pytest.approx(tau, abs=0.4)


@pytest.mark.parametrize("version", VERSIONS)
def test_other_truncation_steps_have_no_effect(version):
    # Mirostat replaces top-k, top-p and min-p, each of which would leave only one token.
    chosen = options(version, top_k=1, top_p=0.01, min_p=1.0, seed=3, mirostat_tau=10.0)
    sampler = Sampler(chosen, [0])
    tokens = {sampler.sample(mx.zeros((1, 8))).item() for _ in range(60)}
    assert tokens == set(range(8))


@pytest.mark.parametrize(
    "scores",
    [[3.0], [0.0, 0.0], [-math.inf, 2.0, -math.inf], [1e4, -1e4, 0.0], list(np.log(1 / np.arange(1, 200)))],
    ids=["alone", "alike", "only one possible", "far apart", "an exponent of one"],
)
@pytest.mark.parametrize("tau", [0.0, 5.0, 100.0])
def test_extreme_scores_leave_a_possible_token(scores, tau):
    chosen = options(1, mirostat_tau=tau, mirostat_eta=1.0)
    limit = first_limit(chosen)
    for draw in range(5):
        token, limit = draw_mirostat(mx.array(scores)[None], chosen, limit, draw_key(1, draw))
        assert scores[token.item()] > -math.inf
        assert math.isfinite(limit.item())


@pytest.mark.parametrize("version", VERSIONS)
def test_with_zero_temperature_the_most_likely_token_is_chosen(version):
    sampler = Sampler(options(version, temperature=0), [0])
    assert sampler.sample(mx.array([[0.0, 2.0, 1.0]])).item() == 1


def rows(count, width=100):
    return mx.array(np.random.default_rng(8).normal(size=(count, width)).astype(np.float32) * 2)


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_after_drafts_are_sampled_as_one_by_one(version):
    logits, chosen = rows(6), options(version, seed=5)
    one_by_one, at_once = Sampler(chosen, [0]), Sampler(chosen, [0])
    expected = [one_by_one.sample(logits[row : row + 1]).item() for row in range(6)]
    found = at_once.sample_rows(logits[:4], expected[:3])
    assert found.tolist() == expected[:4]
    at_once.commit(2)
    assert at_once.sample_rows(logits[2:], expected[2:5]).tolist() == expected[2:]
    at_once.commit(4)
    assert at_once._limit.item() == one_by_one._limit.item()


def test_answers_sampled_together_keep_their_own_limits():
    settings = [(1, 2), (2, 2), (3, 1), (4, 1)]
    together = [Sampler(options(version, seed=seed), [0]) for seed, version in settings]
    alone = [Sampler(options(version, seed=seed), [0]) for seed, version in settings]
    for _ in range(8):
        tokens = [token.item() for token in sample_each(together, rows(4))]
        assert tokens == [sampler.sample(rows(4)[row : row + 1]).item() for row, sampler in enumerate(alone)]
