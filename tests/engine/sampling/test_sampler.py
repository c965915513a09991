"""The sampler against plain numpy: each step alone, all steps in order, and the distribution of the samples."""

import io
import math
import re

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.sampling.distribution import best, distribution
from sotto.engine.sampling.draw_keys import draw_key
from sotto.engine.sampling.sampler import Sampler, sample_each
from thoroughness import examples, share

OPEN = SamplingOptions(temperature=1.0, top_k=0, top_p=1.0)
GREEDY = SamplingOptions(temperature=0)


def options(**changes):
    """Return options that disable every step of sampling except for `changes`."""
    return SamplingOptions(**{"temperature": 1.0, "top_k": 0, "top_p": 1.0, **changes})


def penalized(logits, window, chosen):
    """Apply the penalties in plain numpy, in double precision."""
    scores = np.array(logits, dtype=np.float64)
    penalty = chosen.repeat_penalty if chosen.repeat_penalty > 0 else 1.0
    for token in set(window):
        scores[token] = scores[token] * penalty if scores[token] < 0 else scores[token] / penalty
        scores[token] -= chosen.presence_penalty
    for token in window:
        scores[token] -= chosen.frequency_penalty
    return scores


def expected_distribution(scores, chosen):
    """Return the probability of each token, in plain numpy and double precision."""
    order = np.argsort(-scores, kind="stable")
    if 0 < chosen.top_k < len(scores):
        order = order[: chosen.top_k]
    kept = scores[order]
    weights = np.exp((kept - kept.max()) / chosen.temperature)
    probabilities = weights / weights.sum()
    if 0 < chosen.top_p < 1:
        before = np.concatenate([[0], np.cumsum(probabilities)[:-1]])
        probabilities = np.where(before < chosen.top_p, probabilities, 0)
    if 0 < chosen.min_p <= 1:
        probabilities = np.where(probabilities < chosen.min_p * probabilities.max(), 0, probabilities)
    result = np.zeros(len(scores))
    result[order] = probabilities / probabilities.sum()
    return result


def actual_distribution(scores, chosen):
    log_probs, ids = distribution(mx.array(np.asarray(scores, dtype=np.float32))[None], chosen)
    result = np.zeros(len(scores))
    result[np.array(ids[0])] = np.exp(np.array(log_probs[0], dtype=np.float64))
    return result


def clear_of_edges(scores, chosen):
    """Return whether no threshold is so close to a value that rounding would decide."""
    loose = expected_distribution(scores, options(temperature=chosen.temperature, top_k=chosen.top_k))
    mass = np.cumsum(np.sort(loose)[::-1])
    cut = expected_distribution(scores, options(temperature=chosen.temperature, top_k=chosen.top_k, top_p=chosen.top_p))
    return np.abs(mass[:-1] - chosen.top_p).min() > 1e-4 and np.abs(cut / cut.max() - chosen.min_p).min() > 1e-4


SCORES = np.array([2.0, -1.0, 0.5, 3.0, 1.0, -4.0, 2.5, 0.0])


@pytest.mark.parametrize(
    "chosen",
    [
        OPEN,
        options(temperature=0.5),
        options(temperature=3.0),
        options(top_k=1),
        options(top_k=3),
        options(top_k=8),
        options(top_k=100),
        options(top_p=0.0),
        options(top_p=0.5),
        options(top_p=1e-9),
        options(top_p=0.999),
        options(min_p=0.2),
        options(min_p=1.0),
        options(top_k=5, top_p=0.7),
        options(top_k=5, top_p=0.95, min_p=0.3, temperature=1.7),
    ],
)
def test_single_steps_and_combinations_equal_numpy(chosen):
    np.testing.assert_allclose(actual_distribution(SCORES, chosen), expected_distribution(SCORES, chosen), atol=1e-6)


def test_top_k_comes_before_top_p():
    # The two best tokens have probabilities of 0.5 and 0.3, which top-k rescales to 0.625 and 0.375.
    scores = np.log([0.5, 0.3, 0.1, 0.1])
    assert np.count_nonzero(actual_distribution(scores, options(top_k=2, top_p=0.6))) == 1
    assert np.count_nonzero(actual_distribution(scores, options(top_p=0.6))) == 2


def test_top_p_considers_the_mass_before_a_token():
    scores = np.log([0.5, 0.25, 0.125, 0.125])
    # The mass before the second token is exactly one half, which is not less than one half.
    assert np.count_nonzero(actual_distribution(scores, options(top_p=0.5))) == 1
    assert np.count_nonzero(actual_distribution(scores, options(top_p=0.51))) == 2


def test_min_p_is_relative_to_the_most_likely_token_after_temperature():
    scores = np.log([0.6, 0.3, 0.1])
    assert np.count_nonzero(actual_distribution(scores, options(min_p=0.4))) == 2
    assert np.count_nonzero(actual_distribution(scores, options(min_p=0.4, temperature=0.5))) == 1


@examples(200)
@given(
    scores=st.lists(st.floats(-30, 30, width=32), min_size=2, max_size=40, unique=True),
    temperature=st.floats(0.05, 5),
    top_k=st.integers(-1, 45),
    top_p=st.floats(0, 1),
    min_p=st.floats(0, 1),
)
def test_any_options_equal_numpy(scores, temperature, top_k, top_p, min_p):
    chosen = options(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    scores = np.array(scores, dtype=np.float64)
    actual = actual_distribution(scores, chosen)
    assert math.isclose(actual.sum(), 1, rel_tol=1e-4)
    assert actual.argmax() == scores.argmax() or math.isclose(actual.max(), actual[scores.argmax()], rel_tol=1e-4)
    if clear_of_edges(scores, chosen):
        np.testing.assert_allclose(actual, expected_distribution(scores, chosen), atol=1e-4)


@examples(100)
@given(
    scores=st.lists(st.floats(-(2.0**100), 2.0**100, width=32) | st.just(-math.inf), min_size=2, max_size=200),
    chosen=st.builds(
        SamplingOptions,
        temperature=st.sampled_from([0, 1e-6, 1e-5, 1e-4, 0.8, 100]),
        top_k=st.integers(0, 60),
        top_p=st.floats(0, 1),
        min_p=st.floats(0, 1),
        repeat_penalty=st.sampled_from([0, 1, 1.1, 100]),
        frequency_penalty=st.floats(-2, 2),
        seed=st.integers(0, 2**64 - 1),
        typical_p=st.floats(0, 1),
        xtc_probability=st.sampled_from([0, 1]),
        xtc_threshold=st.floats(0, 1),
        dry_multiplier=st.sampled_from([0, 100]),
        dry_base=st.sampled_from([1, 10]),
        mirostat=st.sampled_from([0, 1, 2]),
    ),
    prompt=st.lists(st.integers(0, 1), min_size=1, max_size=5),
)
def test_extreme_options_give_a_possible_token(scores, chosen, prompt):
    if max(scores) == -math.inf:
        scores[0] = 0.0
    sampler = Sampler(chosen, prompt)
    for _ in range(3):
        token = sampler.sample(mx.array(scores, dtype=mx.float32)[None]).item()
        assert 0 <= token < len(scores)
        assert scores[token] > -math.inf


def greedy_walk(logits, chosen, prompt, steps):
    """Sample greedily from rows of logits, and check it against numpy with a plain list as the window."""
    sampler = Sampler(chosen, prompt)
    window = list(prompt)
    for row in logits[:steps]:
        seen = window if chosen.repeat_last_n < 0 else window[-chosen.repeat_last_n :] if chosen.repeat_last_n else []
        scores = penalized(row, seen, chosen)
        token = sampler.sample(mx.array(row, dtype=mx.float32)[None]).item()
        # In single precision, an almost equal token may win.
        assert scores[token] >= scores.max() - 1e-4
        window.append(token)


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    vocabulary=st.sampled_from([5, 64, 130, 640]),
    last=st.sampled_from([-1, 0, 1, 2, 5, 64]),
    repeat=st.sampled_from([0.0, 0.7, 1.0, 1.3, 5.0]),
    presence=st.sampled_from([0.0, 0.5, -0.5]),
    frequency=st.sampled_from([0.0, 0.3, -0.3]),
    length=st.integers(1, 12),
)
def test_penalties_equal_numpy(seed, vocabulary, last, repeat, presence, frequency, length):
    generator = np.random.default_rng(seed)
    logits = generator.normal(size=(15, vocabulary)).astype(np.float32)
    prompt = generator.integers(0, vocabulary, length).tolist()
    chosen = SamplingOptions(
        temperature=0,
        repeat_last_n=last,
        repeat_penalty=repeat,
        presence_penalty=presence,
        frequency_penalty=frequency,
    )
    greedy_walk(logits, chosen, prompt, 15)


def test_penalties_are_applied_in_order():
    # (1 / 2) - 0.25 - 2 x 0.125 for a positive score, (-1 x 2) - 0.25 - 0.125 for a negative one.
    chosen, samples = options(repeat_penalty=2.0, presence_penalty=0.25, frequency_penalty=0.125), share(3000, 1500)
    expected = expected_distribution(np.array([0.0, -2.375, 0.1]), OPEN)
    logits = mx.array([[1.0, -1.0, 0.1]])
    counts = np.bincount([Sampler(seeded(chosen, seed), [0, 1, 0]).sample(logits).item() for seed in range(samples)])
    assert np.abs(counts / samples - expected).max() < 0.03


def test_the_window_slides():
    chosen = SamplingOptions(temperature=0, repeat_last_n=2, presence_penalty=10.0)
    sampler = Sampler(chosen, [9])
    row = mx.array([[4.0, 3.0, 2.0, 1.0, 0, 0, 0, 0, 0, 5.0]])
    # 9 leaves the window of two tokens when 1 enters it, and so on.
    assert [sampler.sample(row).item() for _ in range(7)] == [0, 1, 9, 0, 1, 9, 0]


def test_an_empty_window_penalizes_nothing():
    chosen = SamplingOptions(temperature=0, repeat_last_n=0, presence_penalty=10.0, repeat_penalty=5.0)
    sampler = Sampler(chosen, [3])
    row = mx.array([[0.0, 1.0, 2.0, 3.0]])
    assert [sampler.sample(row).item() for _ in range(4)] == [3, 3, 3, 3]


def test_logits_may_be_wider_than_the_prompt_s_vocabulary():
    sampler = Sampler(SamplingOptions(temperature=0, presence_penalty=10.0, repeat_last_n=3), [1])
    row = mx.arange(200, dtype=mx.float32)[None]
    assert [sampler.sample(row).item() for _ in range(3)] == [199, 198, 197]


def test_banned_tokens_are_never_sampled():
    row = mx.array([[9.0, 8.0, 7.0, 6.0]])
    assert Sampler(GREEDY, [0], banned=[0, 1]).sample(row).item() == 2
    sampled = {Sampler(options(temperature=50, seed=seed), [0], banned=[0, 2]).sample(row).item() for seed in range(50)}
    assert sampled == {1, 3}


@pytest.mark.parametrize("temperature", [0, -1.0, 1e-9])
def test_zero_temperature_takes_the_most_likely_token_without_random_numbers(temperature):
    sampler = Sampler(SamplingOptions(temperature=temperature, seed=1), [0])
    for _ in range(3):
        assert sampler.sample(mx.array([[1.0, 3.0, 3.0, 2.0]])).item() == 1
    assert sampler._draws == 0


def seeded(chosen, seed):
    return SamplingOptions(**{name: getattr(chosen, name) for name in SamplingOptions.__slots__} | {"seed": seed})


def answer(chosen, prompt=(1, 2, 3), count=30, beside=()):
    generator = np.random.default_rng(5)
    rows = mx.array(generator.normal(size=(count, 1, 300)).astype(np.float32))
    sampler = Sampler(chosen, prompt)
    tokens = []
    for row in rows:
        for other in beside:
            other.sample(row)
        tokens.append(sampler.sample(row).item())
    return tokens


@examples(60)
@given(
    settings=st.lists(
        st.tuples(
            st.builds(
                SamplingOptions,
                temperature=st.sampled_from([0, 0.8]),
                top_k=st.sampled_from([0, 5]),
                repeat_penalty=st.sampled_from([1.0, 1.5]),
                xtc_probability=st.sampled_from([0.0, 0.5]),
                dry_multiplier=st.sampled_from([0.0, 1.5]),
                mirostat=st.sampled_from([0, 1, 2]),
            ),
            st.sampled_from([(), (7, 9)]),
        ),
        min_size=1,
        max_size=2,
    ),
    answers=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 50)), min_size=1, max_size=5),
    vocabulary=st.sampled_from([60, 640]),
)
def test_answers_sampled_together_are_those_sampled_one_by_one(settings, answers, vocabulary):
    rows = mx.array(np.random.default_rng(3).normal(size=(6, len(answers), vocabulary)).astype(np.float32))

    def samplers():
        chosen = [(*settings[which % len(settings)], seed) for which, seed in answers]
        return [Sampler(seeded(setting, seed), range(seed, seed + 9), banned) for setting, banned, seed in chosen]

    together, alone = samplers(), samplers()
    for step in rows:
        tokens = [token.item() for token in sample_each(together, step)]
        assert tokens == [sampler.sample(step[row : row + 1]).item() for row, sampler in enumerate(alone)]


def test_the_same_seed_gives_the_same_answer_beside_other_requests():
    chosen = SamplingOptions(seed=42, repeat_penalty=1.2, frequency_penalty=0.1)
    alone = answer(chosen)
    mx.random.seed(99)
    assert answer(chosen, beside=[Sampler(SamplingOptions(seed=7), [1]), Sampler(SamplingOptions(), [1])]) == alone
    assert answer(seeded(chosen, 43)) != alone


def test_without_a_seed_answers_differ():
    assert Sampler(SamplingOptions(), [1]).seed != Sampler(SamplingOptions(), [1]).seed
    assert answer(SamplingOptions()) != answer(SamplingOptions())
    chosen = SamplingOptions()
    assert 0 <= Sampler(chosen, [1]).seed < 2**64


def test_the_largest_seeds_are_accepted():
    for seed in (0, 2**63, 2**64 - 1):
        assert answer(SamplingOptions(seed=seed)) == answer(SamplingOptions(seed=seed))


def test_draw_keys_are_those_of_splitmix64():
    # The first outputs of the published generator for seed 1234567.
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [draw_key(1234567, draw) for draw in range(5)] == published


def chi_square(counts, probabilities):
    """Return the statistic and the degrees of freedom, with rare tokens in one bin."""
    total = counts.sum()
    assert counts[probabilities == 0].sum() == 0
    common = probabilities * total >= 5
    observed = [*counts[common], counts[~common].sum()]
    expected = [*(probabilities[common] * total), probabilities[~common].sum() * total]
    pairs = [(count, mean) for count, mean in zip(observed, expected, strict=True) if mean > 0]
    return sum((count - mean) ** 2 / mean for count, mean in pairs), len(pairs) - 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "chosen",
    [
        options(seed=1),
        options(seed=2, temperature=0.7),
        options(seed=3, top_k=10),
        options(seed=4, top_p=0.8),
        options(seed=5, min_p=0.1),
        SamplingOptions(seed=6),
    ],
)
def test_samples_have_the_expected_distribution(chosen):
    scores = np.random.default_rng(11).normal(size=128) * 2
    row = mx.array(scores.astype(np.float32))[None]
    sampler = Sampler(chosen, [0])
    tokens = np.array(mx.concatenate([sampler.sample(row) for _ in range(share(4000, 1200))]))
    statistic, freedom = chi_square(np.bincount(tokens, minlength=128), expected_distribution(scores, chosen))
    # Five standard deviations above the mean of a chi-square distribution.
    assert statistic < freedom + 5 * math.sqrt(2 * freedom)


@examples(100)
@given(
    scores=st.lists(st.floats(-100, 100, width=32), min_size=2, max_size=400, unique=True),
    padded=st.booleans(),
    count=st.integers(1, 50),
)
def test_the_highest_scores_are_found(scores, padded, count):
    if padded:
        # Multiples of 64 are computed in another way than other sizes.
        scores = scores + [-200.0 - index for index in range(-len(scores) % 64)]
    count = min(count, len(scores) - 1)
    found = np.array(best(mx.array(scores)[None], count))[0]
    assert sorted(found.tolist()) == sorted(np.argsort(scores)[-count:].tolist())


def test_the_first_of_equal_scores_is_best():
    for size in (100, 128, 6400):
        row = mx.zeros((1, size))
        assert best(row, 1).item() == 0
        assert len(set(np.array(best(row, 40))[0].tolist())) == 40


def test_tokens_are_evaluated_lazily():
    # A token is fed to the next step before it is evaluated, so all tokens can be evaluated at the end.
    chosen = SamplingOptions(seed=3, repeat_penalty=1.3, frequency_penalty=0.2, repeat_last_n=4)
    table = mx.array(np.random.default_rng(2).normal(size=(64, 64)).astype(np.float32))

    def walk(look):
        sampler = Sampler(chosen, [1, 2])
        token = mx.array([5], dtype=mx.uint32)
        tokens = []
        for _ in range(20):
            token = sampler.sample(table[token])
            tokens.append(token)
            if look:
                mx.eval(token)
        return mx.concatenate(tokens).tolist()

    assert walk(look=False) == walk(look=True)


def operations(tokens):
    """Return the number of MLX operations that compute these tokens."""
    graph = io.StringIO()
    mx.export_to_dot(graph, *tokens)
    return len(re.findall(r'label ?= ?"', graph.getvalue()))


@pytest.mark.parametrize(
    ("chosen", "one", "three"),
    [
        (GREEDY, 20, 23),
        (SamplingOptions(), 59, 62),
        (OPEN, 49, 52),
        (SamplingOptions(min_p=0.1), 66, 69),
        (SamplingOptions(repeat_penalty=1.2), 93, 168),
    ],
)
def test_disabled_options_add_no_operations(chosen, one, three):
    # As many as before bias, typical-p, XTC, DRY, mirostat and log-probabilities were added.
    def make():
        return Sampler(chosen, [1, 2])

    assert operations([make().sample(mx.zeros((1, 640)))]) == one
    assert operations(sample_each([make(), make(), make()], mx.zeros((3, 640)))) == three


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32])
def test_half_precision_logits_are_sampled_in_single_precision(dtype):
    row = mx.array([[1.0, 2.0, 0.5, 3.0]]).astype(dtype)
    token = Sampler(SamplingOptions(seed=1, repeat_penalty=1.1), [1]).sample(row)
    assert token.dtype == mx.uint32
    assert token.shape == (1,)
    assert 0 <= token.item() < 4


any_options = st.builds(
    SamplingOptions,
    temperature=st.sampled_from([0, 0.3, 1.0]),
    top_k=st.sampled_from([0, 5, 40]),
    top_p=st.sampled_from([0.0, 0.7, 1.0]),
    repeat_penalty=st.sampled_from([1.0, 1.5]),
    frequency_penalty=st.sampled_from([0.0, 0.4]),
    repeat_last_n=st.sampled_from([-1, 0, 1, 3, 64]),
    seed=st.integers(0, 2**32),
    typical_p=st.sampled_from([1.0, 0.8]),
    xtc_probability=st.sampled_from([0.0, 0.5]),
    dry_multiplier=st.sampled_from([0.0, 1.5]),
    dry_penalty_last_n=st.sampled_from([-1, 6]),
    mirostat=st.sampled_from([0, 0, 1, 2]),
    logit_bias=st.sampled_from([(), ((3, 2.0), (4, -1.5))]),
)


def logits_after(history, vocabulary, shift=0.0):
    """Return a toy model's logits [V], which depend only on the number of tokens and the last three of them."""
    generator = np.random.default_rng([len(history), *(int(token) for token in history[-3:])])
    row = generator.normal(size=vocabulary) * 2
    return (row + shift * np.random.default_rng(7).normal(size=vocabulary)).astype(np.float32)


def one_by_one(sampler, prompt, vocabulary, count):
    text = list(prompt)
    for _ in range(count):
        text.append(sampler.sample(mx.array(logits_after(text, vocabulary))[None]).item())
    return text[len(prompt) :]


@examples(80)
@given(chosen=any_options, data=st.data(), vocabulary=st.sampled_from([7, 130, 640]), banned=st.booleans())
def test_rows_after_drafts_are_sampled_as_one_by_one_wherever_a_draft_is_wrong(chosen, data, vocabulary, banned):
    prompt, count = [1, 2, 3, 1], 24
    bans = [2, 5] if banned else []
    expected = one_by_one(Sampler(chosen, prompt, bans), prompt, vocabulary, count)
    sampler, text = Sampler(chosen, prompt, bans), list(prompt)
    while len(text) < len(prompt) + count:
        done = len(text) - len(prompt)
        drafts = expected[done : done + data.draw(st.integers(0, 6))]
        wrong = data.draw(st.integers(0, len(drafts)))
        if wrong < len(drafts):
            drafts[wrong] = (drafts[wrong] + 1) % vocabulary
        rows = [logits_after([*text, *drafts[:row]], vocabulary) for row in range(len(drafts) + 1)]
        lazily = data.draw(st.booleans())
        given_drafts = mx.array(drafts, dtype=mx.uint32) if lazily else drafts
        tokens = sampler.sample_rows(mx.array(np.stack(rows)), given_drafts)
        assert tokens.dtype == mx.uint32
        kept = wrong + 1
        sampler.commit(kept)
        text += tokens.tolist()[:kept]
    assert text[len(prompt) :][:count] == expected


def arrays_in(past):
    """Return the arrays in a value as lists."""
    values = [getattr(past, name) for name in past.__slots__]
    return [value.tolist() for value in values if isinstance(value, mx.array)]


@examples(30)
@given(chosen=any_options, kept=st.integers(0, 4))
def test_tokens_that_are_not_committed_leave_no_trace(chosen, kept):
    vocabulary, prompt = 130, [3, 3, 4]
    sampler, plain = Sampler(chosen, prompt), Sampler(chosen, prompt)
    expected = one_by_one(plain, prompt, vocabulary, kept)
    drafts = [*expected[: max(kept - 1, 0)], 11, 12, 13, 14]
    rows = np.stack([logits_after([*prompt, *drafts[:row]], vocabulary) for row in range(len(drafts) + 1)])
    assert sampler.sample_rows(mx.array(rows), drafts).tolist()[:kept] == expected
    sampler.commit(kept)
    after = mx.array(logits_after([9], vocabulary))[None]
    for _ in range(6):
        assert sampler.sample(after).item() == plain.sample(after).item()
    assert [arrays_in(past) for past in sampler._pasts] == [arrays_in(past) for past in plain._pasts]


def test_only_sampled_tokens_can_be_committed():
    sampler = Sampler(GREEDY, [0])
    with pytest.raises(RuntimeError, match="no 1 sampled tokens"):
        sampler.commit(1)
    sampler.sample_rows(mx.zeros((2, 9)), [1])
    with pytest.raises(RuntimeError, match="no 3 sampled tokens"):
        sampler.commit(3)


@examples(40)
@given(chosen=any_options, drawn=st.integers(0, 5), width=st.sampled_from([130, 192]))
def test_a_fork_samples_with_the_next_keys_and_does_not_affect_the_sampler(chosen, drawn, width):
    prompt = [1, 5, 5]
    sampler, plain = Sampler(chosen, prompt), Sampler(chosen, prompt)
    text = [*prompt, *one_by_one(sampler, prompt, 130, drawn)]
    one_by_one(plain, prompt, 130, drawn)
    fork = sampler.fork()
    # The logits are as wide as those of the target, or padded with tokens that do not exist.
    proposals = []
    for _ in range(4):
        row = np.full(width, -1e9, dtype=np.float32)
        row[:130] = logits_after([*text, *proposals], 130)
        proposals.append(fork.sample(mx.array(row)[None]).item())
    assert proposals == one_by_one(sampler.fork(), text, 130, 4)
    assert one_by_one(sampler, text, 130, 8) == one_by_one(plain, text, 130, 8)


def test_samples_with_the_same_keys_agree_more_often_for_similar_models():
    def agreement(shift):
        agreed = 0
        for seed in range(300):
            sampler = Sampler(SamplingOptions(seed=seed, temperature=1.0), [0])
            draft = sampler.fork().sample(mx.array(logits_after([seed], 200, shift))[None])
            agreed += draft.item() == sampler.sample(mx.array(logits_after([seed], 200))[None]).item()
        return agreed / 300

    assert agreement(0.0) == 1
    assert agreement(0.1) > 0.75 > 0.5 > agreement(3.0)
