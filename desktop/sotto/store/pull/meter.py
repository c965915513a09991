"""How far a download is and how fast it goes, from what its connections say."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from sotto.store.pull.progress import PullProgress, PullState

# Long enough for a speed that can be read, short enough to follow what happens.
_WINDOW = 5.0
# What came in less says nothing of the speed.
_SHORTEST = 0.5


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why nothing comes over one connection."""

    state: PullState
    note: str


class Meter:
    """Gathers news of one download; tells at once what it does, and how far it is whenever `tick` is called."""

    def __init__(
        self, before: PullProgress, tell: Callable[[PullProgress], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with what was last known of the download."""
        self._last = before
        self._tell = tell
        self._clock = clock
        self._state = before.state
        self._note = before.note
        self._here = 0
        self._open: set[str] = set()
        self._troubles: dict[str, _Trouble] = {}
        self._came: deque[tuple[float, int]] = deque()
        self._began = 0.0

    def enter(self, state: PullState, note: str = "") -> None:
        """Begin something else, over no connection yet."""
        self._state, self._note = state, note
        self._open.clear()
        self._troubles.clear()
        self._came.clear()
        self._began = self._clock()
        self.tick()

    def planned(self, here: int, total: int) -> None:
        """Take in how many bytes are here, and how many there are in all; another total begins another count."""
        self._here = here
        self._say(self._last if total == self._last.total else replace(self._last, done=here, total=total))

    def opened(self, stream: str) -> None:
        """Take in that a connection is wanted."""
        self._open.add(stream)

    def closed(self, stream: str) -> None:
        """Take in that a connection is no longer needed."""
        self._open.discard(stream)
        self._troubles.pop(stream, None)

    def came(self, stream: str, count: int) -> None:
        """Take in that bytes came over a connection, so whatever was wrong with it is over."""
        self._here += count
        self._came.append((self._clock(), count))
        if self._troubles.pop(stream, None):
            self.tick()

    def found(self, count: int) -> None:
        """Take in bytes that were here already; a negative number for those that turned out to be wrong."""
        self._here += count

    def trouble(self, stream: str, state: PullState, note: str) -> None:
        """Take in why nothing comes over a connection; it is told unless others go on."""
        self._troubles[stream] = _Trouble(state, note)
        self.tick()

    def tick(self) -> None:
        """Tell how far the download is, if that is news."""
        self._say(self._last)

    @property
    def last(self) -> PullProgress:
        """What was told last, with all bytes that have come since."""
        return replace(self._last, done=max(self._last.done, self._here))

    def _speed(self) -> float | None:
        now = self._clock()
        since = max(self._began, now - _WINDOW)
        while self._came and self._came[0][0] < since:
            self._came.popleft()
        if now - since < _SHORTEST:
            return None
        return sum(count for _, count in self._came) / (now - since)

    def _say(self, before: PullProgress) -> None:
        state, note = self._state, self._note
        # One connection that works is enough: then nobody need hear of the others.
        if self._troubles and self._troubles.keys() >= self._open:
            trouble = next(reversed(self._troubles.values()))
            state, note = trouble.state, trouble.note
        done = max(before.done, self._here)
        speed = self._speed() if state is PullState.DOWNLOADING else None
        left = (before.total - done) / speed if speed and before.total is not None else None
        progress = replace(before, state=state, done=done, speed=speed, seconds_left=left, note=note)
        if progress != self._last:
            self._last = progress
            self._tell(progress)
