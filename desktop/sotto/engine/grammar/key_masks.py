"""Removal of tokens that would repeat a key of a JSON object from a mask of allowed tokens."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from sotto.engine.grammar.json_places import Place

_QUOTE = b'"'
# The fewest quotes in a token that holds a whole key, starting in an object, in a string, or elsewhere.
_IN_OBJECT, _IN_TEXT, _ELSEWHERE = 2, 3, 4


class KeyMasks:
    """The tokens of a vocabulary that can end a key."""

    def __init__(self, spelled: Sequence[bytes]) -> None:
        """Find them in `spelled`, the bytes of each token by its id."""
        ending = sorted((data, token) for token, data in enumerate(spelled) if _QUOTE in data)
        self._spelled = [data for data, _ in ending]
        self._tokens = [token for _, token in ending]
        self._several = [(data.count(_QUOTE), data, token) for data, token in ending if data.count(_QUOTE) > 1]

    def without_repeats(self, mask: bytes, place: Place) -> bytes:
        """Return a mask without the tokens that would give an object the same key twice."""
        left = bytearray(mask)
        for token in self._repeating(left, place):
            left[token // 8] &= ~(1 << token % 8)
        return bytes(left)

    def _repeating(self, mask: bytearray, place: Place) -> Iterator[int]:
        keys = place.keys
        if keys is not None and keys.text is not None:
            for other in keys.others:
                if other.startswith(keys.text):
                    yield from self._beginning(other[len(keys.text) :] + _QUOTE)
        needed = _ELSEWHERE if keys is None or not keys.open else _IN_OBJECT if keys.text is None else _IN_TEXT
        for quotes, data, token in self._several:
            if quotes >= needed and mask[token // 8] >> token % 8 & 1 and place.after(data) is None:
                yield token

    def _beginning(self, data: bytes) -> Iterator[int]:
        """Yield the tokens that begin with some bytes."""
        at = bisect_left(self._spelled, data)
        while at < len(self._spelled) and self._spelled[at].startswith(data):
            yield self._tokens[at]
            at += 1
