"""DRY against plain Python that compares every position of the text with its end, token by token."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.sampling.dry import Passages
from sotto.engine.sampling.sampler import Sampler
from thoroughness import examples


def options(**changes):
    return SamplingOptions(**{"temperature": 0, "dry_multiplier": 0.8, **changes})


def penalties(text, vocabulary, chosen, breakers=()):
    """Return the penalty of each token after `text`, by comparing one token at a time."""
    last = chosen.dry_penalty_last_n
    text = list(text) if last < 0 else list(text)[-last:] if last else []
    found = np.zeros(vocabulary)
    for end in range(len(text) - 1):
        length = 0
        while length <= end and text[end - length] == text[-1 - length] and text[end - length] not in breakers:
            length += 1
        following = text[end + 1]
        if length >= chosen.dry_allowed_length and following not in breakers:
            penalty = chosen.dry_multiplier * chosen.dry_base ** (length - chosen.dry_allowed_length)
            found[following] = max(found[following], penalty)
    return found


def actual(text, vocabulary, chosen, breakers=(), begun=1):
    """Return the penalties from `Passages`, with `begun` tokens as the prompt, and the others added one at a time."""
    passages = Passages.of(chosen, text[:begun], breakers)
    if passages is None:
        return np.zeros(vocabulary)
    passages = passages.as_wide_as(vocabulary)
    for token in text[begun:]:
        passages = passages.pushed(mx.array([token], dtype=mx.uint32))
    return -np.array(passages.penalize(mx.zeros((1, vocabulary))))[0]


def test_longer_passages_are_penalized_more():
    chosen = options(dry_multiplier=1.0, dry_base=2.0, dry_allowed_length=2)
    # The first "1 2" was followed by 3, and so was the longer "5 1 2".
    assert penalties([1, 2, 3, 9, 1, 2], 10, chosen)[3] == 1
    assert actual([1, 2, 3, 9, 1, 2], 10, chosen)[3] == 1
    assert actual([5, 1, 2, 3, 9, 5, 1, 2], 10, chosen)[3] == 2
    assert actual([2, 3, 9, 5, 2], 10, chosen).tolist() == [0] * 10


def test_breakers_end_a_passage_and_are_never_penalized():
    chosen = options(dry_multiplier=1.0, dry_base=2.0, dry_allowed_length=2)
    assert actual([5, 1, 2, 3, 9, 5, 1, 2], 10, chosen, {5})[3] == 1
    assert actual([5, 1, 2, 3, 9, 5, 1, 2], 10, chosen, {1})[3] == 0
    assert actual([1, 2, 3, 9, 1, 2], 10, chosen, {3}).tolist() == [0] * 10


@examples(200)
@given(
    text=st.lists(st.integers(0, 4), min_size=1, max_size=40),
    begun=st.integers(1, 40),
    breakers=st.sets(st.integers(0, 5), max_size=2),
    last=st.sampled_from([-1, 0, 1, 2, 7, 100]),
    allowed=st.integers(1, 4),
    base=st.sampled_from([1.0, 1.75, 3.0]),
)
def test_penalties_for_any_text_equal_plain_python(text, begun, breakers, last, allowed, base):
    chosen = options(dry_allowed_length=allowed, dry_base=base, dry_penalty_last_n=last)
    expected = penalties(text, 6, chosen, breakers)
    np.testing.assert_allclose(actual(text, 6, chosen, breakers, begun), expected, rtol=1e-5)


def test_penalties_of_a_long_loop_are_finite():
    found = actual([1, 2] * 400, 4, options(dry_base=4.0, dry_multiplier=100.0), begun=700)
    assert np.isfinite(found).all()
    assert found.argmax() == 1


def test_long_prompts_of_one_token_are_indexed_quickly():
    # Comparing each position with the end would take 20 billion steps.
    passages = Passages.of(options(), [7] * 200_000, {3})
    assert passages.lengths[:3].tolist() == [1, 2, 3]
    assert passages.lengths[-3:].tolist() == [199_998, 199_999, 0]


@pytest.mark.parametrize("last", [-1, 12])
@examples(25)
@given(seed=st.integers(0, 2**32))
def test_an_answer_with_dry_equals_plain_python(last, seed):
    generator = np.random.default_rng(seed)
    chosen = options(dry_penalty_last_n=last, dry_multiplier=2.0)
    text = generator.integers(0, 5, 10).tolist()
    sampler = Sampler(chosen, text, breakers={4})
    for _ in range(25):
        row = generator.normal(size=6).astype(np.float32)
        token = sampler.sample(mx.array(row)[None]).item()
        scores = row - penalties(text, 6, chosen, {4})
        assert scores[token] >= scores.max() - 1e-4
        text.append(token)
