"""Drafts from the text itself: what followed the last time when the last tokens were the same (prompt lookup).

Where an answer repeats its prompt or itself (code that is edited, names, quotations, lists), the tokens that followed
the same few tokens before are a good guess at what comes next, and they cost nothing to find: for each length of
`LENGTHS` a dictionary takes every run of so many tokens to the place behind its most recent occurrence. The longest
run is looked up first, because the more tokens agree, the likelier the next one does.

A token is indexed in constant time. A long prompt is indexed at about a microsecond a token, in slices of at most
`SLICE` tokens a call, so that no step of an answer waits for all of it.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

LENGTHS = (5, 3)
SLICE = 4096


@dataclass(frozen=True, slots=True)
class Proposal:
    """Tokens that may come next.

    Attributes:
        tokens: The likeliest continuation, the next token first; may be empty.
        matched: How many of the last tokens were found before it; 0 where nothing was found.
    """

    tokens: tuple[int, ...] = ()
    matched: int = 0


class PromptLookup:
    """The tokens of one prompt and its answer, and where each run of them last occurred.

    Attributes:
        tokens: All that was added; for others to read.
    """

    def __init__(
        self, tokens: Iterable[int] = (), ends: Set[int] = frozenset(), lengths: Sequence[int] = LENGTHS
    ) -> None:
        """Start with `tokens`, which are indexed later.

        Args:
            tokens: The prompt.
            ends: Tokens that end an answer: nothing is proposed after one.
            lengths: How many tokens must agree, the preferred number first.
        """
        self.tokens = list(tokens)
        self._ends = ends
        # Where the token behind a run stands, by the run's hash: one dictionary for each length. The runs themselves
        # would be many small objects, which take memory and keep the garbage collector busy.
        self._behind: dict[int, dict[int, int]] = {length: {} for length in lengths}
        # Runs that end in front of this place are indexed.
        self._indexed = 0

    def extend(self, tokens: Iterable[int]) -> None:
        """Add tokens to the end."""
        self.tokens.extend(tokens)

    def propose(self, most: int) -> Proposal:
        """Return at most `most` tokens that may come next.

        Where the match overlaps the end, what lies between the two repeats, as often as there is room.
        """
        self._index()
        if most <= 0:
            return Proposal()
        for length, runs in self._behind.items():
            run = self.tokens[-length:]
            place = runs.get(hash(tuple(run)))
            if place is not None and self.tokens[place - length : place] == run:
                return Proposal(self._following(place, most), length)
        return Proposal()

    def _following(self, place: int, most: int) -> tuple[int, ...]:
        found = self.tokens[place : place + most]
        found = (found * -(-most // len(found)))[:most]
        end = next((index for index, token in enumerate(found, 1) if token in self._ends), most)
        return tuple(found[:end])

    def _index(self) -> None:
        """Index tokens that were added, at most a slice of them."""
        # The run at the very end has nothing behind it yet, so the last token's run waits for the next one.
        end = min(self._indexed + SLICE, len(self.tokens))
        if end == self._indexed:
            return
        for length, runs in self._behind.items():
            first = max(self._indexed, length)
            part = self.tokens[first - length : end - 1]
            shifted = (part[start:] for start in range(length))
            runs.update(zip(map(hash, zip(*shifted, strict=False)), range(first, end), strict=False))
        self._indexed = end
