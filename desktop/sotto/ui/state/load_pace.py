"""How fast a load is: speed, time left, and how long nothing has been heard of it."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from sotto.engine.contract.events import LoadProgress

# A load that is shorter than this is not shown, so that nothing flashes.
QUIET_SECONDS = 0.75
# Speed is what it was in so many seconds; after so many without news, that is said.
_WINDOW, _SILENT = 3.0, 3.0
_TICK_MS = 250


@dataclass(frozen=True, slots=True)
class Pace:
    """How a load goes.

    Attributes:
        shown: Whether it takes long enough to be shown.
        speed: Bytes per second; None when that is not known.
        left: Seconds to come; None when that is not known.
        silence: Seconds since the last news, once they are worth a word; else 0.
    """

    shown: bool = False
    speed: float | None = None
    left: float | None = None
    silence: int = 0


class LoadClock(QObject):
    """Takes the time of a load.

    Signals:
        ticked: There is another pace.
    """

    ticked = Signal(object)

    def __init__(self, parent: QObject | None = None, now: Callable[[], float] = time.monotonic) -> None:
        """Stand still; `now` tells the time."""
        super().__init__(parent)
        self._now = now
        self._began = self._heard = 0.0
        self._news: deque[tuple[float, int]] = deque()
        self._total = 0
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(lambda: self.ticked.emit(self.pace))

    def begin(self) -> None:
        """Take the time of a load that begins now."""
        self._began = self._heard = self._now()
        self._news.clear()
        self._total = 0
        self._timer.start()

    def hear(self, progress: LoadProgress) -> None:
        """Take news."""
        now = self._now()
        if not self._news or progress.done > self._news[-1][1]:
            self._news.append((now, progress.done))
        while len(self._news) > 2 and self._news[0][0] < now - _WINDOW:
            self._news.popleft()
        self._heard, self._total = now, progress.total

    def end(self) -> None:
        """Stand still."""
        self._timer.stop()

    @property
    def pace(self) -> Pace:
        """How the load goes now."""
        now = self._now()
        silence = now - self._heard
        speed = left = None
        if len(self._news) > 1:
            (first, before), (last, done) = self._news[0], self._news[-1]
            speed = (done - before) / (last - first) if last > first else None
            left = (self._total - done) / speed if speed and self._total > done else None
        shown = now - self._began >= QUIET_SECONDS
        return Pace(shown, speed, left, int(silence) if silence >= _SILENT else 0)
