"""What proposes tokens by computing them, as the speculator sees it: a draft model, or the model's own head."""

from collections.abc import Iterable
from typing import Protocol

import mlx.core as mx

from sotto.engine.generation.draft_depth import DraftDepth
from sotto.engine.generation.generation import Generation


class Drafter(Protocol):
    """Proposes drafts for one answer.

    A round consists of `propose` and, after the verification, `settle`. After an exception, call `drop`.
    """

    def gain(self, most: int) -> float:
        """Return the expected speed-up of a round with at most `most` drafts; 1 if none would be proposed."""

    def is_promising(self, most: int) -> bool:
        """Return whether `propose` would do anything now, without changing anything."""

    def propose(self, most: int) -> mx.array | None:
        """Return tokens [n], uint32, proposed to follow the pending one; None if a single step is better.

        Args:
            most: Maximum number of tokens.
        """

    @property
    def unfinished(self) -> Iterable[object]:
        """The arrays of a round to evaluate besides its tokens."""

    def settle(self, drafts: list[int], right: int) -> None:
        """End a round.

        Args:
            drafts: The tokens that were proposed.
            right: How many of them are part of the answer.
        """

    def end(self) -> None:
        """Release what was computed to later answers."""

    def drop(self) -> None:
        """Drop what was computed, whose content is undefined."""


class Drafts(Protocol):
    """A source of drafts, and what has been learnt about it over all answers."""

    @property
    def name(self) -> str:
        """Its name, for people."""

    @property
    def sees(self) -> bool:
        """Whether it can draft answers about images."""

    @property
    def depths(self) -> DraftDepth:
        """Chooses how many tokens it proposes."""

    def drafter(self, generation: Generation) -> Drafter:
        """Return what proposes drafts for an answer."""
