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
    """Draw one token at a time."""
    sampler, text = Sampler(options, PROMPT), list(PROMPT)
    while len(text) < len(PROMPT) + count:
        text.append(sampler.sample(mx.array(logits(text, table))[None]).item())
        if text[-1] in ends:
            break
    return text[len(PROMPT) :]


class Random:
    """Drafts at random, more or fewer of them."""

    def __init__(self, options, table):
        self.random = np.random.default_rng(options.seed)

    def propose(self, most, sampler, text):
        return self.random.integers(0, WORDS, self.random.integers(0, most + 1)).tolist()

    def advance(self, tokens):
        pass


class Certain(Random):
    """Always drafts the same."""

    def propose(self, most, sampler, text):
        return [1, 1, 3, 0][:most]


class Model(Random):
    """Drafts by a model that is a little like the target, with the keys of the draws to come."""

    def __init__(self, options, table):
        self.table = table + 0.4 * np.random.default_rng(9).normal(size=table.shape).astype(np.float32)

    def propose(self, most, sampler, text):
        fork, drafts = sampler.fork(), []
        for _ in range(most):
            drafts.append(fork.sample(mx.array(logits([*text, *drafts], self.table))[None]).item())
        return drafts


class Lookup:
    """Drafts by prompt lookup, of which some depth has been learnt."""

    def __init__(self, options, table):
        self.drafter = LookupDrafter(PROMPT, depths_with_costs([1.0] * 5))

    def propose(self, most, sampler, text):
        return self.drafter.propose(most)

    def advance(self, tokens):
        self.drafter.advance(tokens)


def speculated(drafter, options, count, ends=frozenset(), table=TABLE, most=4):
    """Draw by rounds of drafts; return the tokens and how many drafts were accepted."""
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


@drafters
def test_the_distribution_of_answers_is_the_model_s(drafter):
    # Whole answers of three tokens, which sees what a single token's distribution would not.
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
    # Five standard deviations of a chi-square distribution.
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
def test_each_answer_is_the_same_as_without(drafter, options, ends, table):
    model = np.random.default_rng(table).normal(size=TABLE.shape).astype(np.float32)
    assert speculated(drafter, options, 20, ends, model)[0] == plain(options, 20, ends, model)


def test_a_greedy_answer_that_repeats_itself_is_accepted_whole():
    # 0 1 2 0 1 2 ... for ever.
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
def test_a_verdict_keeps_what_the_model_drew_and_nothing_behind_an_end(sampled, data, ends):
    drafts = data.draw(st.lists(st.integers(0, 2), min_size=len(sampled) - 1, max_size=len(sampled) - 1))
    verdict = verify(sampled, drafts, ends)
    kept = len(verdict.tokens)
    assert list(verdict.tokens) == sampled[:kept]
    assert sampled[: kept - 1] == drafts[: kept - 1]
    assert not ends & set(verdict.tokens[:-1])
    assert verdict.accepted <= verdict.judged <= len(drafts)
    assert kept == len(sampled) or verdict.tokens[-1] in ends or sampled[kept - 1] != drafts[kept - 1]


def test_proposals_that_are_not_fed_are_judged_by_what_comes():
    depths = LookupDepths(4)  # no cost is known, so nothing is fed
    drafter = LookupDrafter(PROMPT, depths)
    assert not drafter.promising(4)
    assert drafter.propose(4) == []
    drafter.advance([1, 2])
    assert drafter.propose(4) == []
    drafter.advance([3])
    # 1 2 0 1 was proposed, and 1 2 3 came.
    assert depths.controller(5)._samples == [1, 1, 1, 0]
    assert depths.controller(5)._rates == [1.0, 1.0, 0.0, 0.0]
    assert depths.controller(3)._samples == [0, 0, 0, 0]


def test_a_text_that_stops_repeating_is_left_alone_and_one_that_begins_to_is_taken_up():
    depths = depths_with_costs([1.0, 1.3, 1.6, 1.9, 2.2])
    options = np.random.default_rng(0)
    drafter = LookupDrafter([], depths)
    fed = []
    for _ in range(400):
        # What follows three equal tokens is never what followed them before.
        drafter.advance([1, 2, 3, *options.integers(10, 10**6, 1).tolist()])
        drafter.advance([1, 2, 3])
        fed.append(len(drafter.propose(4)))
        drafter.advance(options.integers(10, 10**6, 1).tolist())
    assert depths.controller(3).acceptance[0] < 0.05
    assert sum(fed[100:]) < 10
    passage = list(range(2000, 2100))
    drafter.advance(passage + passage[:5])
    fed = []
    for start in range(5, 95):
        fed.append(len(drafter.propose(4)))
        drafter.advance(passage[start : start + 1])
    assert sum(fed) > 90


def test_there_may_be_no_drafts_at_all():
    drafter = LookupDrafter([7] * 20, LookupDepths(0))
    assert drafter.propose(4) == []
    drafter = LookupDrafter([7] * 20, depths_with_costs([1.0] * 5))
    assert drafter.propose(0) == []
