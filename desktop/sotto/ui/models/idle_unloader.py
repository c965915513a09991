"""Unloads the loaded model after the idle time that the preferences set, unless the model is pinned."""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.runner.residents import FOREVER
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.toolkit.translation import tr

_TICK_MS = 5000


class IdleUnloader(QObject):
    """Measures how long the loaded model has been idle, and unloads it in time.

    Signals:
        changed: The remaining time changed.
    """

    changed = Signal()

    def __init__(
        self,
        session: Session,
        notes: ModelNotes,
        preferences: PreferenceStore,
        parent: QObject | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch the loaded model of a session.

        Args:
            session: Has the loaded model.
            notes: Know which models are pinned.
            preferences: Contain the idle time.
            parent: Owner of this object.
            now: Clock, in seconds.
        """
        super().__init__(parent)
        self._session, self._notes, self._preferences, self.now = session, notes, preferences, now
        self.idle_since: float | None = None
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self.check)
        session.state_changed.connect(self._follow)
        notes.changed.connect(self.check)
        preferences.changed.connect(self._apply)
        self._apply()

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the model is unloaded; None if it stays loaded."""
        record, minutes = self._session.state.record, self._preferences.values.keep_alive_minutes
        if self.idle_since is None or not minutes or record is None or self._notes.is_pinned(record):
            return None
        return self.idle_since + 60 * minutes - self.now()

    @property
    def line(self) -> str:
        """The remaining time in words; empty if there is nothing to say."""
        record, left = self._session.state.record, self.seconds_left
        if record is not None and self._session.state.loaded and self._notes.is_pinned(record):
            return tr("Stays loaded")
        if left is None:
            return ""
        return tr("Unloads in {time} if idle").format(time=wording.duration(max(0.0, left)))

    @Slot()
    def check(self) -> None:
        """Unload the model if its time is up."""
        resident = self._session.resident
        if self.idle_since is not None and resident is not None and resident.visits:
            self.idle_since = self.now()
        left = self.seconds_left
        if left is not None and left <= 0 and self._session.state.phase is Phase.READY:
            self.idle_since = None
            self._session.eject()
        if left is None:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
        self.changed.emit()

    @Slot()
    def _apply(self) -> None:
        """Apply the preferred idle time to all models, also to those that only other programs use."""
        minutes = self._preferences.values.keep_alive_minutes
        self._session.keeper.set_keep_alive(60.0 * minutes if minutes else FOREVER)
        self.check()

    @Slot(object)
    def _follow(self, state: ModelState) -> None:
        idle = state.phase is Phase.READY
        if idle != (self.idle_since is not None):
            self.idle_since = self.now() if idle else None
            self.check()
