"""Fuzzy matching: scores texts for a query, and finds the letters that match.

Every word of the query must occur, in any order: contiguously, or letter by letter with others between them.
Contiguous matches score higher than scattered ones, and beginnings higher than middles.
"""

from collections.abc import Sequence
from functools import lru_cache

MAX_LENGTH = 200
"""Letters at the start of a text that are searched."""
_WHOLE, _FIRST, _BEGINNING, _INSIDE, _SCATTERED = 500, 400, 300, 200, 100


def fold(text: str) -> str:
    """Return a text in lower case for matching, letter by letter."""
    # Letters that fold to several stay as they are, so that positions are the same in both texts.
    return "".join(low if len(low := letter.casefold()) == 1 else letter for letter in text[:MAX_LENGTH])


@lru_cache(maxsize=8)
def split_query(query: str) -> tuple[str, ...]:
    """Return the folded words of a query."""
    return tuple(fold(word) for word in query.split())


def score(query: str, text: str) -> int | None:
    """Return how well a folded text matches, higher is better; None if it does not."""
    total = 0
    for word in split_query(query):
        match = _match(word, text)
        if match is None:
            return None
        total += match[0]
    return total


def match_positions(query: str, text: str) -> tuple[int, ...]:
    """Return the indices of the letters of a folded text that match."""
    matches = (_match(word, text) for word in split_query(query))
    return tuple(sorted({index for match in matches if match is not None for index in match[1]}))


def _match(word: str, text: str) -> tuple[int, Sequence[int]] | None:
    """Return the score and the indices of the best match of a word; None if there is none."""
    first = text.find(word)
    if first < 0:
        return _scattered_match(word, text)
    if first == 0:
        return (_WHOLE if len(word) == len(text) else _FIRST), range(len(word))
    start = first
    while start > 0 and text[start - 1].isalnum():
        start = text.find(word, start + 1)
    if start > 0:
        return _BEGINNING - min(start, 50), range(start, start + len(word))
    return _INSIDE - min(first, 50), range(first, first + len(word))


def _scattered_match(word: str, text: str) -> tuple[int, Sequence[int]] | None:
    """Match the letters of a word in order, with others between them."""
    indices: list[int] = []
    index = -1
    for letter in word:
        index = text.find(letter, index + 1)
        if index < 0:
            return None
        indices.append(index)
    # Move all letters towards the last one, so that the gaps are small.
    for number in range(len(indices) - 2, -1, -1):
        indices[number] = text.rfind(word[number], 0, indices[number + 1])
    gaps = indices[-1] - indices[0] + 1 - len(word)
    return _SCATTERED - min(gaps, 50) - min(indices[0], 40), indices
