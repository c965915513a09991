"""Fuzzy matching of a few letters."""

from hypothesis import given
from hypothesis import strategies as st

from sotto.ui.palette import fuzzy
from sotto.ui.palette.command_finder import MAX_RESULTS, Command, CommandFinder, Kind

letters = st.text("abcdefg ÄäßİX.-/", max_size=12)
texts = st.text("abcdefg ÄäßİX.-/", max_size=40)


def is_subsequence(word, text):
    """Return whether the letters of a word occur in a text in that order, computed in the simplest way."""
    rest = iter(text)
    return all(letter in rest for letter in word)


@given(letters, texts)
def test_a_text_matches_if_it_contains_the_letters_of_every_word(query, text):
    folded = fuzzy.fold(text)
    score = fuzzy.score(query, folded)
    assert (score is not None) == all(is_subsequence(fuzzy.fold(word), folded) for word in query.split())
    assert len(folded) == len(text)
    if score is not None:
        for word in query.split():
            meant = [folded[place] for place in fuzzy.match_positions(word, folded)]
            assert "".join(meant) == fuzzy.fold(word)


@given(letters, letters, texts)
def test_more_letters_never_find_more(query, more, text):
    folded = fuzzy.fold(text)
    if fuzzy.score(query, folded) is None:
        assert fuzzy.score(f"{query}{more}", folded) is None


@given(st.text("abc", min_size=1, max_size=6), st.text("abc", max_size=9), st.text("abc", max_size=9))
def test_whole_words_rank_above_scattered_letters(word, before, after):
    whole = fuzzy.score(word, word)
    typed = fuzzy.score(word, f"{before}{word}{after}")
    scattered = fuzzy.score(word, "x".join(word))
    assert whole >= typed
    if len(word) > 1:
        assert typed > scattered


def test_prefixes_rank_first_and_words_may_be_in_any_order():
    def order(query, *names):
        scored = [(fuzzy.score(query, fuzzy.fold(name)), name) for name in names]
        return [name for score, name in sorted(scored, key=lambda pair: -(pair[0] or 0)) if score is not None]

    assert order("set", "Reset", "Model Set", "Settings", "Set", "s e t") == [
        "Set", "Settings", "Model Set", "Reset", "s e t",
    ]  # fmt: skip
    assert order("8b lla", "llama 8b", "lama 7b") == ["llama 8b"]
    assert fuzzy.match_positions("nc", fuzzy.fold("New Chat")) == (0, 4)


def found_by(commands, query, recent=()):
    finder, found = CommandFinder(), []
    finder.found.connect(found.append)
    finder.search(query)
    found.clear()
    finder.set_commands(commands, recent)
    return finder, found


def test_many_commands_are_searched_in_slices(qtbot):
    commands = [Command.create(f"chat:{n}", Kind.CHAT, f"Chat {n:05d}", "", n) for n in range(5000)]
    finder, found = found_by(commands, "04999")
    assert found == []  # the search does not run in one go
    qtbot.waitUntil(lambda: bool(found))
    assert [command.target for command in found[-1]] == [4999]
    finder.search("chat")
    finder.search("0123")
    qtbot.waitUntil(lambda: len(found) > 1)
    assert {command.target for command in found[-1][:11]} == {123, *range(1230, 1240)}
    assert len(found) == 2  # an outdated query is never answered


@given(
    st.lists(st.text("abc ", max_size=6), max_size=30, unique=True),
    st.text("abc", max_size=2),
    st.lists(st.integers(0, 29), max_size=8, unique=True),
)
def test_the_order_is_by_score_then_by_use_then_as_given(titles, query, recent):
    commands = [Command.create(title, Kind.CHAT, title, "", place) for place, title in enumerate(titles)]
    used = [titles[place] for place in recent if place < len(titles)]
    _, found = found_by(commands, query, used)
    expected = [command for command in commands if fuzzy.score(query, command.folded) is not None]
    expected.sort(key=lambda command: used.index(command.key) if command.key in used else len(used))
    expected.sort(key=lambda command: -fuzzy.score(query, command.folded))
    assert [command.key for command in found[-1]] == [command.key for command in expected][:MAX_RESULTS]
