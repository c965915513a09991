"""Measures how fast an answer is generated and how long its thoughts take."""

import time
from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Signal

from sotto.engine.contract.answer_parts import Kind, Piece

# At the beginning, the speed would be overestimated.
_QUIET_SECONDS = 1.0
# A number that changes more often cannot be read.
_INTERVAL_SECONDS = 0.5


class AnswerPace(QObject):
    """Measures the speed of one answer at a time.

    Signals:
        measured: The number of tokens so far, and the tokens per second; not emitted in the first second.
    """

    measured = Signal(int, float)

    def __init__(self, parent: QObject | None = None, now: Callable[[], float] = time.monotonic) -> None:
        """Measure with the clock `now`, which returns seconds."""
        super().__init__(parent)
        self._now = now
        self._tokens = self._first = 0
        self._began = self._last = 0.0

    def begin(self) -> None:
        """Begin a new answer."""
        self._tokens = 0

    def add(self, tokens: int) -> None:
        """Add tokens that have arrived."""
        now = self._now()
        if not self._tokens:
            # How long the first tokens took is unknown, so the speed is measured from here.
            self._began, self._last, self._tokens = now, now, max(1, tokens)
            self._first = self._tokens
            return
        self._tokens += tokens
        if now - self._began >= _QUIET_SECONDS and now - self._last >= _INTERVAL_SECONDS:
            self._last = now
            self.measured.emit(self._tokens, (self._tokens - self._first) / (now - self._began))


class ThoughtClock:
    """Measures how long each thought of an answer takes.

    Attributes:
        seconds: The seconds of each completed thought, in order; 0 if its beginning was not seen.
    """

    def __init__(self) -> None:
        """Wait for an answer."""
        self.seconds: list[int] = []
        self._since: float | None = None

    def update(self, pieces: Iterable[Piece]) -> None:
        """Process the next pieces of the answer."""
        for piece in pieces:
            if piece.kind is not Kind.THOUGHT:
                continue
            if piece.begins:
                self._since = time.monotonic()
            if piece.ends:
                self.seconds.append(0 if self._since is None else round(time.monotonic() - self._since))
                self._since = None
