"""Deletes models from Sotto's own store, and offers to undo that for a while."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from sotto.errors import SottoError
from sotto.store.records import ModelRecord
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import model_name
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.store.removal import RemovedModel
    from sotto.ui.timing.async_tasks import AsyncTasks

UNDO_SECONDS = 10.0


class ModelTrash(QObject):
    """Moves models to the trash and erases them after the undo period, at the latest after the next start.

    Signals:
        offered: Undoing is offered: title, message, label of the action, the action, and for how many seconds.
    """

    offered = Signal(str, str, str, object, float)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Delete models of `session`."""
        super().__init__(parent)
        self._session = session
        self._tasks: AsyncTasks | None = None
        # By folder in the trash.
        self.removed: dict[str, RemovedModel] = {}

    def begin(self, tasks: "AsyncTasks") -> None:
        """Empty the trash that an earlier run left."""
        self._tasks = tasks
        tasks.start(self._empty(tasks))

    def remove(self, record: ModelRecord) -> None:
        """Delete a model; if it is loaded, it is unloaded first."""
        self._session.stop_load(record)
        self._session.eject(record)
        if self._tasks is not None:
            self._tasks.start(self._remove(self._tasks, record))

    async def _remove(self, tasks: "AsyncTasks", record: ModelRecord) -> None:
        from sotto.store.removal import remove

        name = model_name(record.name)
        try:
            removed = await tasks.call(remove, record)
        except SottoError as error:
            self._session.problem.emit(Problem(tr("{name} was not deleted").format(name=name), error.message))
            return
        key = str(removed.folder)
        self.removed[key] = removed
        self._session.library.rescan()
        title = tr("{name} was deleted").format(name=name)
        self.offered.emit(title, wording.size(record.size), tr("Undo"), partial(self._undo, key), UNDO_SECONDS)
        QTimer.singleShot(round(1000 * UNDO_SECONDS), self, partial(self._expire, key))

    def _undo(self, key: str) -> None:
        if self._tasks is not None and (removed := self.removed.pop(key, None)) is not None:
            self._tasks.start(self._restore(self._tasks, removed))

    async def _restore(self, tasks: "AsyncTasks", removed: "RemovedModel") -> None:
        from sotto.store.removal import restore

        try:
            await tasks.call(restore, removed)
        except SottoError as error:
            title = tr("{name} could not be restored").format(name=model_name(removed.name))
            self._session.problem.emit(Problem(title, error.message))
        self._session.library.rescan()

    def _expire(self, key: str) -> None:
        if self._tasks is not None and (removed := self.removed.pop(key, None)) is not None:
            self._tasks.start(self._erase(self._tasks, removed))

    async def _erase(self, tasks: "AsyncTasks", removed: "RemovedModel") -> None:
        from sotto.store.removal import erase

        try:
            await tasks.call(erase, removed)
        except SottoError as error:
            title = tr("{name} still uses disk space").format(name=model_name(removed.name))
            self._session.problem.emit(Problem(title, error.message))

    async def _empty(self, tasks: "AsyncTasks") -> None:
        from sotto.store.removal import empty_trash

        try:
            await tasks.call(empty_trash)
        except SottoError as error:
            self._session.problem.emit(Problem(tr("The trash of models could not be emptied"), error.message))
