"""Prompt lookup, compared with a search of the whole text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.generation.prompt_lookup import LENGTHS, SLICE, PromptLookup, Proposal
from thoroughness import examples


def searched(tokens, count, ends=frozenset(), lengths=LENGTHS):
    """Search backwards for an earlier occurrence of the last tokens, trying longer runs first."""
    for length in lengths:
        suffix = tokens[-length:]
        for place in range(len(tokens) - 1, length - 1, -1):
            if tokens[place - length : place] == suffix and len(suffix) == length:
                grown = list(tokens)
                for step in range(count):
                    grown.append(grown[place + step])
                    if grown[-1] in ends:
                        break
                return Proposal(tuple(grown[len(tokens) :]), length) if count > 0 else Proposal()
    return Proposal()


def test_the_continuation_of_the_last_occurrence_is_proposed():
    text = [1, 2, 3, 4, 5, 9, 1, 2, 3, 4, 5, 8, 7, 6, 1, 2, 3, 4, 5]
    assert PromptLookup(text).propose(3) == Proposal((8, 7, 6), 5)
    assert PromptLookup(text).propose(0) == Proposal()


def test_a_longer_match_is_preferred_to_a_later_one():
    # 3 4 5 was last followed by 7, but 1 2 3 4 5 was followed by 9.
    text = [1, 2, 3, 4, 5, 9, 0, 3, 4, 5, 7, 0, 1, 2, 3, 4, 5]
    assert PromptLookup(text).propose(1) == Proposal((9,), 5)
    assert PromptLookup(text, lengths=(3,)).propose(1) == Proposal((7,), 3)


def test_a_repetition_is_continued():
    assert PromptLookup([1, 2, 1, 2, 1, 2]).propose(5) == Proposal((1, 2, 1, 2, 1), 3)
    assert PromptLookup([7] * 9).propose(16) == Proposal((7,) * 16, 5)


def test_nothing_is_proposed_after_an_end_token():
    text = [1, 2, 3, 4, 99, 5, 6, 1, 2, 3]
    assert PromptLookup(text, ends={99}).propose(8) == Proposal((4, 99), 3)


@pytest.mark.parametrize("tokens", [[], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4, 5, 6, 7, 8]])
def test_text_without_repetitions_gives_no_proposal(tokens):
    assert PromptLookup(tokens).propose(4) == Proposal()


few = st.lists(st.integers(0, 2), max_size=6)
many = st.lists(st.integers(0, 2), min_size=60, max_size=90)


@examples(200)
@given(
    prompt=st.lists(st.integers(0, 2), max_size=80),
    pieces=st.lists(few | many, max_size=25),
    ends=st.sets(st.integers(0, 3), max_size=1),
)
def test_any_text_gives_the_proposals_that_a_search_finds(prompt, pieces, ends):
    lookup, text = PromptLookup(prompt, ends), list(prompt)
    for piece in pieces:
        lookup.extend(piece)
        text += piece
        assert lookup.propose(6) == searched(text, 6, ends)
        assert lookup.tokens == text


def test_a_long_prompt_is_indexed_a_slice_at_a_time():
    unique = list(range(10, 3 * SLICE))
    lookup = PromptLookup([1, 2, 3, 4, 5, *unique, 6, 7, 8, *unique[:5], 6, 7, 8])
    proposals = [lookup.propose(1) for _ in range(4)]
    assert proposals[0] == Proposal()
    assert proposals[-1] == Proposal((10,), 3)


def test_the_cost_of_a_token_does_not_grow_with_the_text():
    def seconds(length):
        lookup = PromptLookup(index * 7919 % 9973 for index in range(length))
        for _ in range(length // SLICE + 1):
            lookup.propose(8)
        best = float("inf")
        for _ in range(5):
            begun = time.perf_counter()
            for token in range(300):
                lookup.extend([token])
                lookup.propose(8)
            best = min(best, time.perf_counter() - begun)
        return best

    # A search from the end would take 64 times as long.
    assert seconds(128_000) < 16 * seconds(2_000)
