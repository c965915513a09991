"""Measures how fast a model is loading: the speed, the time left, and how long there has been no progress."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from sotto.engine.contract.events import LoadProgress

# A load that takes less time than this is not shown, so that nothing flashes.
QUIET_SECONDS = 0.75
# The speed is an average over this many seconds.
_WINDOW_SECONDS = 3.0
# After this many seconds without progress, the silence is reported.
_SILENT_SECONDS = 3.0
_TICK_MS = 250


@dataclass(frozen=True, slots=True)
class LoadPace:
    """How fast a model is loading.

    Attributes:
        shown: Whether the load has taken long enough to be shown.
        speed: Bytes per second; None if unknown.
        seconds_left: Estimated seconds until the load ends; None if unknown.
        seconds_silent: Seconds since the last progress, once there are enough of them to report; 0 before.
    """

    shown: bool = False
    speed: float | None = None
    seconds_left: float | None = None
    seconds_silent: int = 0


class LoadClock(QObject):
    """Measures the pace of one load at a time.

    Signals:
        ticked: The pace has changed (`LoadPace`).
    """

    ticked = Signal(object)

    def __init__(self, parent: QObject | None = None, now: Callable[[], float] = time.monotonic) -> None:
        """Measure nothing yet; `now` returns the time in seconds."""
        super().__init__(parent)
        self._now = now
        self._began = self._updated = 0.0
        self._samples: deque[tuple[float, int]] = deque()
        self._total = 0
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(lambda: self.ticked.emit(self.pace))

    def begin(self) -> None:
        """Begin to measure a load that starts now."""
        self._began = self._updated = self._now()
        self._samples.clear()
        self._total = 0
        self._timer.start()

    def update(self, progress: LoadProgress) -> None:
        """Record the progress of the load."""
        now = self._now()
        if not self._samples or progress.done > self._samples[-1][1]:
            self._samples.append((now, progress.done))
        while len(self._samples) > 2 and self._samples[0][0] < now - _WINDOW_SECONDS:
            self._samples.popleft()
        self._updated, self._total = now, progress.total

    def end(self) -> None:
        """Stop measuring."""
        self._timer.stop()

    @property
    def pace(self) -> LoadPace:
        """The current pace."""
        now = self._now()
        silent = now - self._updated
        speed = left = None
        if len(self._samples) > 1:
            (first, before), (last, done) = self._samples[0], self._samples[-1]
            speed = (done - before) / (last - first) if last > first else None
            left = (self._total - done) / speed if speed and self._total > done else None
        shown = now - self._began >= QUIET_SECONDS
        return LoadPace(shown, speed, left, int(silent) if silent >= _SILENT_SECONDS else 0)
