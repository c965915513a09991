"""Lets a model that is idle leave memory after a while, if that was chosen and it is not to stay."""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.runner.residents import KEEP_ALIVE
from sotto.store.records import ModelRecord
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.model_state import ModelState, Phase

_TICK_MS = 5000


class IdleUnloader(QObject):
    """Takes the time of an idle model.

    Attributes:
        gone: The model that left last because it was idle, until another one is loaded.

    Signals:
        changed: The model in memory has more or less time.
    """

    changed = Signal()

    def __init__(
        self,
        session: Session,
        book: ModelNotes,
        preferences: PreferenceStore,
        parent: QObject | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch over `session`; `now` tells the time in seconds."""
        super().__init__(parent)
        self._session, self._book, self._preferences, self._now = session, book, preferences, now
        self._idle_since: float | None = None
        self.gone: ModelRecord | None = None
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self.check)
        session.state_changed.connect(self._follow)
        book.changed.connect(self.check)
        preferences.changed.connect(self.check)

    @property
    def left(self) -> float | None:
        """Seconds until the model leaves; None if it stays."""
        record, minutes = self._session.state.record, self._preferences.values.keep_alive_minutes
        if self._idle_since is None or not minutes or record is None or self._book.is_pinned(record):
            return None
        return self._idle_since + 60 * minutes - self._now()

    @property
    def line(self) -> str:
        """What a person should know of it."""
        record, left = self._session.state.record, self.left
        if record is not None and self._session.state.loaded and self._book.is_pinned(record):
            return "Stays loaded"
        return "" if left is None else f"Leaves memory in {wording.duration(max(0.0, left))} if it stays idle"

    @Slot()
    def check(self) -> None:
        """Let the model leave if its time has come."""
        resident = self._session.resident
        if self._idle_since is not None and resident is not None and resident.visits:
            self._idle_since = self._now()
        minutes = self._preferences.values.keep_alive_minutes
        self._session.keeper.residents.keep_alive = 60.0 * minutes if minutes else KEEP_ALIVE
        left = self.left
        if left is not None and left <= 0 and self._session.state.phase is Phase.READY:
            self._idle_since = None
            self.gone = self._session.state.record
            self._session.eject()
        if left is None:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
        self.changed.emit()

    def wake(self) -> None:
        """Load the model again that left because it was idle."""
        if self.gone is not None and self._session.state.phase is Phase.FOUND:
            self._session.load(self.gone)

    @Slot(object)
    def _follow(self, state: ModelState) -> None:
        if state.phase is Phase.LOADING:
            self.gone = None
        idle = state.phase is Phase.READY
        if idle != (self._idle_since is not None):
            self._idle_since = self._now() if idle else None
            self.check()
