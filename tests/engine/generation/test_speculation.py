"""Speculation over a toy model that is a pure function from the text so far to logits."""

import math
from itertools import product

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.generation.speculation import LookupDepths, LookupDrafter, Verdict, verify
from sotto.engine.sampling.sampler import Sampler
from thoroughness import examples, share

WORDS = 4
TABLE = np.random.default_rng(3).normal(size=(WORDS, WORDS, WORDS)).astype(np.float32) * 1.3
PROMPT = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]


def logits(text, table=TABLE):
    return table[text[-2], text[-1]]


def depths_with_costs(costs, limit=4):
    """Return depths that have measured these seconds for 0, 1, ... drafts."""
    depths = LookupDepths(limit)
    for drafts, seconds in enumerate(costs):
        for _ in range(3):
            depths.costs.took(drafts, seconds)
    return depths


def plain(options, count, ends=frozenset(), table=TABLE):
    """Sample one token at a time, without drafts."""
    sampler, text = Sampler(options, PROMPT), list(PROMPT)
    while len(text) < len(PROMPT) + count:
        text.append(sampler.sample(mx.array(logits(text, table))[None]).item())
        if text[-1] in ends:
            break
    return text[len(PROMPT) :]


class Random:
    """Proposes a random number of random drafts."""

    def __init__(self, options, table):
        self.random = np.random.default_rng(options.seed)

    def propose(self, most, sampler, text):
        return self.random.integers(0, WORDS, self.random.integers(0, most + 1)).tolist()

    def advance(self, tokens):
        pass


class Certain(Random):
    """Always proposes the same drafts."""

    def propose(self, most, sampler, text):
        return [1, 1, 3, 0][:most]


class Model(Random):
    """Proposes drafts from a model similar to the target, sampled with the keys of the next tokens."""

    def __init__(self, options, table):
        self.table = table + 0.4 * np.random.default_rng(9).normal(size=table.shape).astype(np.float32)

    def propose(self, most, sampler, text):
        fork, drafts = sampler.fork(), []
        for _ in range(most):
            drafts.append(fork.sample(mx.array(logits([*text, *drafts], self.table))[None]).item())
        return drafts


class Lookup:
    """Proposes drafts by prompt lookup, with costs that have been measured."""

    def __init__(self, options, table):
        self.drafter = LookupDrafter(PROMPT, depths_with_costs([1.0] * 5))

    def propose(self, most, sampler, text):
        return self.drafter.propose(most)

    def advance(self, tokens):
        self.drafter.advance(tokens)


def speculated(drafter, options, count, ends=frozenset(), table=TABLE, most=4):
    """Sample in rounds with drafts; return the tokens and the number of accepted drafts."""
    sampler, text, accepted = Sampler(options, PROMPT), list(PROMPT), 0
    drafter = drafter(options, table)
    while len(text) < len(PROMPT) + count:
        remaining = len(PROMPT) + count - len(text)
        drafts = drafter.propose(min(most, remaining - 1), sampler, text)
        rows = np.stack([logits([*text, *drafts[:row]], table) for row in range(len(drafts) + 1)])
        verdict = verify(sampler.sample_rows(mx.array(rows), drafts).tolist(), drafts, ends)
        sampler.commit(len(verdict.tokens))
        drafter.advance(verdict.tokens)
        text += verdict.tokens
        accepted += verdict.accepted
        if text[-1] in ends:
            break
    return text[len(PROMPT) :], accepted


DRAFTERS = [Random, Certain, Model, Lookup]
drafters = pytest.mark.parametrize("drafter", DRAFTERS)


@pytest.mark.one_in(2)
@drafters
def test_answers_have_the_distribution_of_the_model(drafter):
    # Whole answers of three tokens, which show errors that the distribution of single tokens would not.
    length, answers = 3, share(1500, 500)
    expected = np.zeros((WORDS,) * length)
    for answer in product(range(WORDS), repeat=length):
        chance, text = 1.0, list(PROMPT)
        for token in answer:
            weights = np.exp(logits(text).astype(np.float64) / 0.9)
            chance *= weights[token] / weights.sum()
            text.append(token)
        expected[answer] = chance * answers
    seen, accepted = np.zeros_like(expected), 0
    for seed in range(answers):
        options = SamplingOptions(temperature=0.9, top_k=0, top_p=1.0, seed=seed)
        answer, right = speculated(drafter, options, length)
        seen[tuple(answer)] += 1
        accepted += right
    assert accepted > answers / 20
    rare = expected < 5
    observed, due = [*seen[~rare], seen[rare].sum()], [*expected[~rare], expected[rare].sum()]
    statistic = sum((count - mean) ** 2 / mean for count, mean in zip(observed, due, strict=True))
    freedom = len(due) - 1
    # Five standard deviations above the mean of a chi-square distribution.
    assert statistic < freedom + 5 * math.sqrt(2 * freedom)


@drafters
@examples(25)
@given(
    options=st.builds(
        SamplingOptions,
        temperature=st.sampled_from([0, 0.5, 1.0]),
        top_k=st.sampled_from([0, 2]),
        top_p=st.sampled_from([0.8, 1.0]),
        repeat_penalty=st.sampled_from([1.0, 1.4]),
        presence_penalty=st.sampled_from([0.0, 0.3]),
        repeat_last_n=st.sampled_from([-1, 2, 64]),
        seed=st.integers(0, 2**32),
    ),
    ends=st.sets(st.integers(0, WORDS - 1), max_size=1),
    table=st.integers(0, 20),
)
def test_each_answer_is_the_same_as_without_drafts(drafter, options, ends, table):
    model = np.random.default_rng(table).normal(size=TABLE.shape).astype(np.float32)
    assert speculated(drafter, options, 20, ends, model)[0] == plain(options, 20, ends, model)


def test_drafts_of_a_repetitive_greedy_answer_are_accepted():
    # 0 1 2 0 1 2 ... endlessly.
    table = np.full(TABLE.shape, -5.0, dtype=np.float32)
    for token in range(3):
        table[:, token, (token + 1) % 3] = 5.0
    options = SamplingOptions(temperature=0)
    answer, accepted = speculated(Lookup, options, 21, table=table)
    assert answer == [1, 2, 0] * 7
    assert accepted >= 10


@pytest.mark.parametrize(
    ("sampled", "drafts", "ends", "expected"),
    [
        ([7], [], set(), Verdict((7,), 0, 0)),
        ([7], [], {7}, Verdict((7,), 0, 0)),
        ([5, 6, 7], [5, 6], set(), Verdict((5, 6, 7), 2, 2)),
        ([5, 9, 7], [5, 6], set(), Verdict((5, 9), 1, 2)),
        ([9, 6, 7], [5, 6], set(), Verdict((9,), 0, 1)),
        ([5, 6, 7], [5, 6], {5}, Verdict((5,), 1, 1)),
        ([5, 6, 7], [5, 6], {6}, Verdict((5, 6), 2, 2)),
        ([9, 6, 7], [5, 6], {9}, Verdict((9,), 0, 1)),
    ],
)
def test_verdicts(sampled, drafts, ends, expected):
    assert verify(sampled, drafts, ends) == expected


@examples(200)
@given(sampled=st.lists(st.integers(0, 2), min_size=1, max_size=6), data=st.data(), ends=st.sets(st.integers(0, 2)))
def test_a_verdict_keeps_sampled_tokens_and_nothing_after_an_end_token(sampled, data, ends):
    drafts = data.draw(st.lists(st.integers(0, 2), min_size=len(sampled) - 1, max_size=len(sampled) - 1))
    verdict = verify(sampled, drafts, ends)
    kept = len(verdict.tokens)
    assert list(verdict.tokens) == sampled[:kept]
    assert sampled[: kept - 1] == drafts[: kept - 1]
    assert not ends & set(verdict.tokens[:-1])
    assert verdict.accepted <= verdict.judged <= len(drafts)
    assert kept == len(sampled) or verdict.tokens[-1] in ends or sampled[kept - 1] != drafts[kept - 1]


def test_proposals_that_are_not_fed_are_judged_by_the_sampled_tokens():
    depths = LookupDepths(4)  # no cost is known, so nothing is fed
    drafter = LookupDrafter(PROMPT, depths)
    assert not drafter.promising(4)
    assert drafter.propose(4) == []
    drafter.advance([1, 2])
    assert drafter.propose(4) == []
    drafter.advance([3])
    # 1 2 0 1 was proposed, and 1 2 3 was sampled.
    assert depths.controller(5)._samples == [1, 1, 1, 0]
    assert depths.controller(5)._rates == [1.0, 1.0, 0.0, 0.0]
    assert depths.controller(3)._samples == [0, 0, 0, 0]


def test_drafts_end_when_they_are_rejected_and_resume_when_the_text_repeats():
    depths = depths_with_costs([1.0, 1.3, 1.6, 1.9, 2.2])
    generator = np.random.default_rng(0)
    drafter = LookupDrafter([], depths)
    fed = []
    for _ in range(400):
        # The token after 1 2 3 is never one that followed 1 2 3 before.
        drafter.advance([1, 2, 3, *generator.integers(10, 10**6, 1).tolist()])
        drafter.advance([1, 2, 3])
        fed.append(len(drafter.propose(4)))
        drafter.advance(generator.integers(10, 10**6, 1).tolist())
    assert depths.controller(3).acceptance[0] < 0.05
    assert sum(fed[100:]) < 10
    passage = list(range(2000, 2100))
    drafter.advance(passage + passage[:5])
    fed = []
    for start in range(5, 95):
        fed.append(len(drafter.propose(4)))
        drafter.advance(passage[start : start + 1])
    assert sum(fed) > 90


def test_drafts_can_be_limited_to_none():
    drafter = LookupDrafter([7] * 20, LookupDepths(0))
    assert drafter.propose(4) == []
    drafter = LookupDrafter([7] * 20, depths_with_costs([1.0] * 5))
    assert drafter.propose(0) == []
