"""Looks for new versions, once a day if the user has agreed, and whenever the user asks."""

import logging
import time
from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sotto import __version__
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.timing.delayed_call import DelayedCall
from sotto.updates import feed_source
from sotto.updates.feed import Feed, Release, read_feed
from sotto.updates.feed_source import Source
from sotto.updates.minisign import signed_text
from sotto.updates.update_errors import UpdateError

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

_log = logging.getLogger(__name__)

DAY = 86_400.0
# After the start, and between two looks whether an answer has ended, in seconds.
_PAUSE = 60.0
# A timer stands still while the machine sleeps, so the clock is looked at more often than needed.
_LONGEST_WAIT = 3600.0


def usable_source() -> Source | None:
    """Return where this build looks for new versions; None if it cannot, or if its file is damaged."""
    try:
        return feed_source.own_source()
    except UpdateError as error:
        _log.error("%s", error.message)
        return None


class Agreement(StrEnum):
    """Whether the user lets Sotto look for new versions by itself."""

    NOT_ASKED = ""
    YES = "yes"
    NO = "no"


class UpdateChecker(QObject):
    """What is known about new versions.

    Signals:
        changed: Anything here has changed.
        found: A newer version was found without the user asking for it just now (`Release`).

    Attributes:
        source: Where to look; None if this build cannot.
        version: The version that runs.
        checking: Whether a look is under way.
        looked: Whether the list of versions was read since the start.
        releases: The newer versions, the newest first.
        problem: Why the last look failed, in a sentence; empty if it did not.
    """

    changed = Signal()
    found = Signal(object)

    def __init__(
        self,
        preferences: PreferenceStore,
        is_busy: Callable[[], bool],
        source: Source | None,
        parent: QObject | None = None,
        version: str = __version__,
    ) -> None:
        """Prepare to look at `source`, but not by itself while `is_busy` returns True."""
        super().__init__(parent)
        self.source, self.version = source, version
        self.checking = self.looked = False
        self.releases: tuple[Release, ...] = ()
        self.problem = ""
        self._preferences, self._is_busy = preferences, is_busy
        self._tasks: AsyncTasks | None = None
        self._timer = DelayedCall(self._look_if_due, self)
        self._agreement = self.agreement

    @property
    def agreement(self) -> Agreement:
        """What the user has answered."""
        return Agreement(self._preferences.values.updates)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Begin to look once a day, a while after the start."""
        self._tasks = tasks
        if self.source is not None:
            self._preferences.changed.connect(self._follow)
            self._timer.schedule(_PAUSE)

    def agree(self, *, agreed: bool) -> None:
        """Let Sotto look by itself, or not."""
        self._preferences.change(updates=Agreement.YES if agreed else Agreement.NO)

    @Slot()
    def check(self) -> None:
        """Look now, because the user asks for it."""
        self._look(asked=True)

    @Slot(object)
    def _follow(self, values: Preferences) -> None:
        if self._agreement is not self.agreement:
            self._agreement = self.agreement
            self._timer.schedule(0)
            self.changed.emit()

    def _look_if_due(self) -> None:
        if self.agreement is not Agreement.YES:
            return
        elapsed = time.time() - self._preferences.values.updates_checked
        # Negative after the clock has been put back.
        if 0 <= elapsed < DAY:
            self._timer.schedule(min(DAY - elapsed, _LONGEST_WAIT))
        elif self._is_busy():
            self._timer.schedule(_PAUSE)
        else:
            self._look(asked=False)

    def _look(self, *, asked: bool) -> None:
        if self.source is None or self._tasks is None or self.checking:
            return
        self.checking, self.problem = True, ""
        self._preferences.change(updates_checked=time.time())
        self.changed.emit()
        self._tasks.start(self._read(self._tasks, self.source, asked=asked))

    async def _read(self, tasks: "AsyncTasks", source: Source, *, asked: bool) -> None:
        try:
            feed = await self._fetch(tasks, source)
        except UpdateError as error:
            # Told where the user looks for it; a machine without a network is nothing to report.
            _log.info("No new versions could be looked for: %s", error.message)
            self.problem = error.message
        else:
            self.looked = True
            self.releases = feed.newer(self.version)
            self._preferences.change(updates_signed=feed.signed)
            if self.releases and not asked:
                self.found.emit(self.releases[0])
        finally:
            self.checking = False
            self._timer.schedule(_LONGEST_WAIT)
            self.changed.emit()

    async def _fetch(self, tasks: "AsyncTasks", source: Source) -> Feed:
        await tasks.call(import_module, "httpx")
        content = await feed_source.fetch(source.url, await tasks.call(feed_source.tls))
        text = await tasks.call(signed_text, content, source.key)
        return await tasks.call(read_feed, text, time.time(), self._preferences.values.updates_signed)
