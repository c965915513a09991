"""How fast an answer comes, and how long its thoughts take, measured while it comes."""

import time
from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Signal

from sotto.engine.contract.answer_parts import Kind, Piece

# The first moments overstate, and nobody reads what changes faster.
_SECONDS_BEFORE = 1.0
_EVERY = 0.5


class AnswerPace(QObject):
    """Counts the tokens of one answer after the other.

    Signals:
        measured: Tokens so far, and about how many there are in a second; not in the first moments.
    """

    measured = Signal(int, float)

    def __init__(self, parent: QObject | None = None, now: Callable[[], float] = time.monotonic) -> None:
        """Measure by the clock `now`."""
        super().__init__(parent)
        self._now = now
        self._tokens = self._first = 0
        self._began = self._last = 0.0

    def begin(self) -> None:
        """Begin with another answer."""
        self._tokens = 0

    def add(self, tokens: int) -> None:
        """Count more tokens."""
        now = self._now()
        if not self._tokens:
            # Nothing is known of how long the first ones took.
            self._began, self._last, self._tokens = now, now, max(1, tokens)
            self._first = self._tokens
            return
        self._tokens += tokens
        if now - self._began >= _SECONDS_BEFORE and now - self._last >= _EVERY:
            self._last = now
            self.measured.emit(self._tokens, (self._tokens - self._first) / (now - self._began))


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
