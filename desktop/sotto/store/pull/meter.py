"""Measuring the progress and speed of a download over several connections."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from sotto.store.pull.progress import PullProgress, PullState

# In seconds: long enough for a steady figure, short enough to follow changes.
_WINDOW = 5.0
# In seconds; a shorter period is too short to measure a speed.
_MIN_PERIOD = 0.5


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why one connection delivers nothing."""

    state: PullState
    note: str


class Meter:
    """Records the progress of one download; reports changes of state at once, and progress at each `tick`."""

    def __init__(
        self, last: PullProgress, report: Callable[[PullProgress], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with the last progress that was reported of the download."""
        self._last = last
        self._report = report
        self._clock = clock
        self._state = last.state
        self._note = last.note
        self._present = 0
        self._open: set[str] = set()
        self._troubles: dict[str, _Trouble] = {}
        self._received: deque[tuple[float, int]] = deque()
        self._began = 0.0

    def enter(self, state: PullState, note: str = "") -> None:
        """Change to another state, with no open connections."""
        self._state, self._note = state, note
        self._open.clear()
        self._troubles.clear()
        self._received.clear()
        self._began = self._clock()
        self.tick()

    def set_total(self, present: int, total: int) -> None:
        """Set the bytes present and their total; if the total changes, the bytes done may fall."""
        self._present = present
        self._emit(self._last if total == self._last.total else replace(self._last, done=present, total=total))

    def set_about(self, about: str) -> None:
        """Set what is said of the model."""
        self._emit(replace(self._last, about=about))

    def set_unchanged(self) -> None:
        """Record that nothing had to be downloaded, as this version of the model is there."""
        self._emit(replace(self._last, unchanged=True))

    def open_stream(self, stream: str) -> None:
        """Record that a connection is in use."""
        self._open.add(stream)

    def close_stream(self, stream: str) -> None:
        """Record that a connection is no longer in use."""
        self._open.discard(stream)
        self._troubles.pop(stream, None)

    def add_received(self, stream: str, count: int) -> None:
        """Add bytes received over a connection, which ends any trouble with it."""
        self._present += count
        self._received.append((self._clock(), count))
        if self._troubles.pop(stream, None):
            self.tick()

    def add_present(self, count: int) -> None:
        """Add bytes that were on the disk already; a negative count for bytes that proved to be wrong."""
        self._present += count

    def set_trouble(self, stream: str, state: PullState, note: str) -> None:
        """Record why a connection delivers nothing; reported only while no other connection works."""
        self._troubles[stream] = _Trouble(state, note)
        self.tick()

    def tick(self) -> None:
        """Report the progress if it has changed."""
        self._emit(self._last)

    @property
    def last(self) -> PullProgress:
        """The last reported progress, updated with the bytes received since."""
        return replace(self._last, done=max(self._last.done, self._present))

    def _speed(self) -> float | None:
        now = self._clock()
        since = max(self._began, now - _WINDOW)
        while self._received and self._received[0][0] < since:
            self._received.popleft()
        if now - since < _MIN_PERIOD:
            return None
        return sum(count for _, count in self._received) / (now - since)

    def _emit(self, before: PullProgress) -> None:
        state, note = self._state, self._note
        # While one connection works, trouble with the others is not worth reporting.
        if self._troubles and self._troubles.keys() >= self._open:
            trouble = next(reversed(self._troubles.values()))
            state, note = trouble.state, trouble.note
        done = max(before.done, self._present)
        speed = self._speed() if state is PullState.DOWNLOADING else None
        left = (before.total - done) / speed if speed and before.total is not None else None
        progress = replace(before, state=state, done=done, speed=speed, seconds_left=left, note=note)
        if progress != self._last:
            self._last = progress
            self._report(progress)
