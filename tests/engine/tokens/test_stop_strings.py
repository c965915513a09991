"""Stop strings in streamed text that is split at every position."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.tokens.stop_strings import StopMatcher
from thoroughness import examples


def reference(text, stops):
    """Return the text before the first stop string to be complete, and that stop string."""
    for end in range(len(text) + 1):
        complete = [stop for stop in stops if stop and text[:end].endswith(stop)]
        if complete:
            longest = max(complete, key=len)
            return text[: end - len(longest)], longest
    return text, ""


def stream(pieces, stops):
    matcher = StopMatcher(stops)
    out = "".join(map(matcher.add, pieces))
    found = matcher.found
    return out + matcher.finish(), found


def split(text, places):
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@examples(500)
@given(
    text=st.text("ab\n🦜", max_size=20),
    stops=st.lists(st.text("ab\n🦜", max_size=5), max_size=4),
    places=st.lists(st.integers(0, 100), max_size=6),
)
def test_it_does_not_matter_where_the_text_is_split(text, stops, places):
    expected = reference(text, stops)
    assert stream([text], stops) == expected
    assert stream(list(text), stops) == expected
    assert stream(split(text, places), stops) == expected


def test_every_split_of_an_answer():
    text = "Paris is the capital.\n\nUser: thanks"
    for end in range(len(text) + 1):
        pieces = [text[:end], text[end:]]
        assert stream(pieces, ["\n\nUser:", "\n\nUsher"]) == ("Paris is the capital.", "\n\nUser:")
        assert stream(pieces, ["\n\nUsher"]) == (text, "")


@examples(300)
@given(text=st.text("ab", max_size=20), stops=st.lists(st.text("ab", min_size=1, max_size=5), max_size=3))
def test_only_possible_beginnings_of_stop_strings_are_held_back(text, stops):
    matcher = StopMatcher(stops)
    out = ""
    for count, character in enumerate(text, 1):
        out += matcher.add(character)
        if matcher.found:
            return
        held = text[len(out) : count]
        assert not held or any(stop.startswith(held) for stop in stops)
        assert not any(
            text[:count].endswith(stop[:length]) for stop in stops for length in range(len(held) + 1, len(stop))
        )


def test_the_first_complete_stop_string_wins():
    assert stream(["abcd"], ["abcd", "bc"]) == ("a", "bc")
    assert stream(["xabc"], ["bc", "abc", "c"]) == ("x", "abc")


def test_nothing_is_emitted_after_a_stop_string():
    matcher = StopMatcher(["END"])
    assert matcher.add("one EN") == "one "
    assert not matcher.found
    assert matcher.add("D two") == ""
    assert matcher.found
    assert matcher.add("three") == ""
    assert matcher.finish() == ""


def test_text_held_back_is_emitted_at_the_end():
    matcher = StopMatcher(["END"])
    assert matcher.add("the EN") == "the "
    assert matcher.finish() == "EN"
    assert matcher.finish() == ""


def test_without_stop_strings_nothing_is_held_back():
    for stops in ([], [""]):
        matcher = StopMatcher(stops)
        assert matcher.add("text") == "text"
        assert matcher.finish() == ""
        assert not matcher.found
