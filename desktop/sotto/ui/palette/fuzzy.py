"""Find what a person means from some of its letters: a score for each text, and which letters were meant.

Each word that was typed must be there, in any order: as it was typed, or letter by letter in between others. Words
that were typed as they are go before those that were not, and beginnings go before middles.
"""

from collections.abc import Sequence
from functools import lru_cache

LONGEST = 200
"""Letters of a text that are looked at."""
_WHOLE, _FIRST, _BEGINNING, _INSIDE, _SCATTERED = 500, 400, 300, 200, 100


def folded(text: str) -> str:
    """Return a text as it is compared: letter for letter, large and small ones alike."""
    # Letters that fold to several stay as they are, so that places mean the same in both.
    return "".join(low if len(low := letter.casefold()) == 1 else letter for letter in text[:LONGEST])


@lru_cache(maxsize=8)
def words_of(query: str) -> tuple[str, ...]:
    """Return what has to be there."""
    return tuple(folded(word) for word in query.split())


def score(query: str, text: str) -> int | None:
    """Return how well a folded text fits, more for better, or None where it does not."""
    total = 0
    for word in words_of(query):
        found = _places(word, text)
        if found is None:
            return None
        total += found[0]
    return total


def places(query: str, text: str) -> tuple[int, ...]:
    """Return which letters of a folded text were meant."""
    found = (_places(word, text) for word in words_of(query))
    return tuple(sorted({place for one in found if one is not None for place in one[1]}))


def _places(word: str, text: str) -> tuple[int, Sequence[int]] | None:
    """Return how well a word fits, and where."""
    at = text.find(word)
    if at < 0:
        return _scattered(word, text)
    if at == 0:
        return (_WHOLE if len(word) == len(text) else _FIRST), range(len(word))
    start = at
    while start > 0 and text[start - 1].isalnum():
        start = text.find(word, start + 1)
    if start > 0:
        return _BEGINNING - min(start, 50), range(start, start + len(word))
    return _INSIDE - min(at, 50), range(at, at + len(word))


def _scattered(word: str, text: str) -> tuple[int, Sequence[int]] | None:
    """Find the letters of a word one after the other, with others between them."""
    found: list[int] = []
    at = -1
    for letter in word:
        at = text.find(letter, at + 1)
        if at < 0:
            return None
        found.append(at)
    # From the last letter back, so that they lie as near to each other as they can.
    for place in range(len(found) - 2, -1, -1):
        found[place] = text.rfind(word[place], 0, found[place + 1])
    gaps = found[-1] - found[0] + 1 - len(word)
    return _SCATTERED - min(gaps, 50) - min(found[0], 40), found
