"""Prompt lookup: drafts from the text itself, namely what followed when the last tokens occurred before.

Where an answer repeats its prompt or itself (edited code, names, quotations, lists), the tokens that followed the same
few tokens before are a good guess, and cost almost nothing to find. For each length of `LENGTHS`, a dictionary maps
every run of so many tokens to the position after its most recent occurrence. The longest run is looked up first,
because the more tokens match, the more likely the next one matches too.

A token is indexed in constant time. A long prompt is indexed at about a microsecond per token, at most `SLICE` tokens
per call, so that no step of an answer waits for all of it.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

LENGTHS = (5, 3)
SLICE = 4096


@dataclass(frozen=True, slots=True)
class Proposal:
    """Tokens that may come next.

    Attributes:
        tokens: The proposed continuation, the next token first; may be empty.
        matched: Number of last tokens that matched; 0 if nothing was found.
    """

    tokens: tuple[int, ...] = ()
    matched: int = 0


class PromptLookup:
    """The tokens of one prompt and its answer, and where each run of them last occurred.

    Attributes:
        tokens: All tokens that were added; read-only.
    """

    def __init__(
        self, tokens: Iterable[int] = (), ends: Set[int] = frozenset(), lengths: Sequence[int] = LENGTHS
    ) -> None:
        """Start with `tokens`, which are indexed by later calls.

        Args:
            tokens: The prompt.
            ends: Tokens that end an answer: nothing is proposed after one.
            lengths: Numbers of tokens that must match, the preferred one first.
        """
        self.tokens = list(tokens)
        self._ends = ends
        # The position after each run, by the run's hash: one dictionary for each length. Keys of tuples would be many
        # small objects, which take memory and keep the garbage collector busy.
        self._behind: dict[int, dict[int, int]] = {length: {} for length in lengths}
        # Runs that end before this position are indexed.
        self._indexed = 0

    def extend(self, tokens: Iterable[int]) -> None:
        """Add tokens to the end."""
        self.tokens.extend(tokens)

    def propose(self, most: int) -> Proposal:
        """Return at most `most` tokens that may come next.

        If the match overlaps the end of the text, the proposal repeats the tokens between the two.
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
        """Index added tokens, at most `SLICE` of them."""
        # The run at the very end has no following token yet, so it is indexed with the next one.
        end = min(self._indexed + SLICE, len(self.tokens))
        if end == self._indexed:
            return
        for length, runs in self._behind.items():
            first = max(self._indexed, length)
            part = self.tokens[first - length : end - 1]
            shifted = (part[start:] for start in range(length))
            runs.update(zip(map(hash, zip(*shifted, strict=False)), range(first, end), strict=False))
        self._indexed = end
