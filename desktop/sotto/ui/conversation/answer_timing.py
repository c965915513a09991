"""How fast an answer comes while it comes."""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

# The first moments overstate, and nobody reads what changes faster.
_SECONDS_BEFORE = 1.0
_EVERY = 0.5


class AnswerPace(QObject):
    """Counts the tokens of one answer after the other.

    Signals:
        told: Tokens so far, and about how many there are in a second; not in the first moments.
    """

    told = Signal(int, float)

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
        """Take note of more tokens."""
        now = self._now()
        if not self._tokens:
            # Nothing is known of how long the first ones took.
            self._began, self._last, self._tokens = now, now, max(1, tokens)
            self._first = self._tokens
            return
        self._tokens += tokens
        if now - self._began >= _SECONDS_BEFORE and now - self._last >= _EVERY:
            self._last = now
            self.told.emit(self._tokens, (self._tokens - self._first) / (now - self._began))
