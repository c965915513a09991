"""Deletes models from Sotto's own store, and brings them back as long as they are in the trash."""

import logging
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QMenu, QWidget

from sotto.errors import SottoError, StoreError
from sotto.store.records import ModelRecord
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import model_name
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import add_action

if TYPE_CHECKING:
    from sotto.store.removal import RemovedModel
    from sotto.ui.timing.async_tasks import AsyncTasks

_log = logging.getLogger(__name__)

UNDO_SECONDS = 10.0
_PRUNE_MS = 3600 * 1000


class ModelTrash(QObject):
    """Moves models to the trash and back; what has been there for an hour is erased, as everything that nobody needs.

    Signals:
        offered: Undoing is offered: title, message, label of the action, the action, and for how many seconds.
        changed: Other models are in the trash.

    Attributes:
        removed: The models in the trash, those deleted last first.
    """

    offered = Signal(str, str, str, object, float)
    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Delete models of `session`."""
        super().__init__(parent)
        self._session = session
        self._tasks: AsyncTasks | None = None
        self.removed: tuple[RemovedModel, ...] = ()
        self._timer = QTimer(self, interval=_PRUNE_MS)
        self._timer.timeout.connect(self._prune_now)
        session.library.changed.connect(self._list_now)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Prune the store, now and once an hour."""
        self._tasks = tasks
        self._prune_now()
        self._timer.start()

    def remove(self, record: ModelRecord) -> None:
        """Delete a model; if it is loaded, it is unloaded first."""
        self._session.stop_load(record)
        self._session.eject(record)
        if self._tasks is not None:
            self._tasks.start(self._remove(self._tasks, record))

    def restore(self, removed: "RemovedModel") -> None:
        """Bring a model back."""
        if self._tasks is not None:
            self._tasks.start(self._restore(self._tasks, removed))

    def empty(self) -> None:
        """Erase all models in the trash."""
        if self._tasks is not None:
            self._tasks.start(self._empty(self._tasks))

    async def _remove(self, tasks: "AsyncTasks", record: ModelRecord) -> None:
        from sotto.store.disk_use import freed_by_deleting
        from sotto.store.removal import remove

        name = model_name(record.name)
        try:
            freed = await tasks.call(freed_by_deleting, [place.path for place in record.places])
            removed = await tasks.call(remove, record)
        except SottoError as error:
            self._session.problem.emit(Problem(tr("{name} was not deleted").format(name=name), error.message))
            return
        self._session.library.rescan()
        title = tr("{name} was deleted").format(name=name)
        message = tr("Frees {size} once the trash is emptied, in an hour.").format(size=wording.size(freed))
        self.offered.emit(title, message, tr("Undo"), partial(self.restore, removed), UNDO_SECONDS)
        await self._list(tasks)

    async def _restore(self, tasks: "AsyncTasks", removed: "RemovedModel") -> None:
        from sotto.store.removal import restore

        try:
            await tasks.call(restore, removed)
        except SottoError as error:
            title = tr("{name} could not be restored").format(name=model_name(removed.name))
            self._session.problem.emit(Problem(title, error.message))
        self._session.library.rescan()
        await self._list(tasks)

    async def _empty(self, tasks: "AsyncTasks") -> None:
        from sotto.store.removal import empty_trash

        try:
            await tasks.call(empty_trash)
        except SottoError as error:
            self._session.problem.emit(Problem(tr("The trash of models could not be emptied"), error.message))
        await self._list(tasks)

    @Slot()
    def _prune_now(self) -> None:
        if self._tasks is not None:
            self._tasks.start(self._prune(self._tasks))

    async def _prune(self, tasks: "AsyncTasks") -> None:
        from sotto.store.removal import own_store
        from sotto.store.upkeep.pruning import prune

        try:
            await tasks.call(prune, own_store())
        except StoreError as error:
            # The list shows a model whose manifest cannot be read.
            _log.warning("The store was not pruned: %s", error)
        await self._list(tasks)

    @Slot()
    def _list_now(self) -> None:
        if self._tasks is not None:
            self._tasks.start(self._list(self._tasks))

    async def _list(self, tasks: "AsyncTasks") -> None:
        from sotto.store.removal import trash

        removed = await tasks.call(trash)
        if removed != self.removed:
            self.removed = removed
            self.changed.emit()


def trash_menu(trash: ModelTrash, parent: QWidget) -> QMenu:
    """Return a menu that brings back each model in the trash, or empties it."""
    menu = QMenu(parent)
    for removed in trash.removed:
        text = tr("Restore {name}").format(name=model_name(removed.name))
        add_action(menu, text.replace("&", "&&"), partial(trash.restore, removed))
    menu.addSeparator()
    add_action(menu, tr("Empty the Trash"), trash.empty)
    return menu
