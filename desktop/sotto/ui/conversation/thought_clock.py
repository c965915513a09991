"""How long a model thinks, measured while its answer comes."""

import time
from collections.abc import Iterable

from sotto.engine.contract.answer_parts import Kind, Piece


class ThoughtClock:
    """Measures how long each thought of an answer takes.

    Attributes:
        seconds: For each thought that is complete, in order; 0 where its beginning was not seen.
    """

    def __init__(self) -> None:
        """Wait for an answer."""
        self.seconds: list[int] = []
        self._since: float | None = None

    def take(self, pieces: Iterable[Piece]) -> None:
        """Take more of the answer."""
        for piece in pieces:
            if piece.kind is not Kind.THOUGHT:
                continue
            if piece.begins:
                self._since = time.monotonic()
            if piece.ends:
                self.seconds.append(0 if self._since is None else round(time.monotonic() - self._since))
                self._since = None
