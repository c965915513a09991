"""The models to choose from: those in the stores of this machine, and those that the user opened."""

import logging
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sotto.errors import CancelledError, SottoError
from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.model_sources import ModelSource, StoreModels
from sotto.ui.session.store_watch import StoreWatch
from sotto.ui.state.drop_contents import DropContents, path_names
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import join_names, join_sentences, model_name
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.store.roots import Root
    from sotto.ui.timing.async_tasks import AsyncTasks


_log = logging.getLogger(__name__)


class ModelList:
    """The models that were opened and are not in any store, followed by those that were found in the stores."""

    def __init__(self) -> None:
        """Start empty."""
        self._found: tuple[ModelRecord, ...] = ()
        self._opened: dict[Path, ModelRecord] = {}

    @property
    def records(self) -> tuple[ModelRecord, ...]:
        """All models, in the order in which they are listed."""
        opened = [
            record for record in self._opened.values() if not any(is_same_model(record, other) for other in self._found)
        ]
        return (*opened, *self._found)

    def set_found(self, records: Sequence[ModelRecord]) -> None:
        """Replace the models that were found in the stores."""
        self._found = tuple(records)

    def add_opened(self, record: ModelRecord) -> None:
        """Add a model that the user opened."""
        self._opened[record.path] = record

    def find(self, record: ModelRecord) -> ModelRecord | None:
        """Return the listed record of the same model, or None."""
        return next((known for known in self.records if is_same_model(known, record)), None)


class ModelLibrary(QObject):
    """Searches for models, again whenever some may have been added or removed; opens and verifies them.

    Signals:
        changed: The models have changed (a tuple of `ModelRecord`).
        opened: The user opened a model, which should be loaded (`ModelRecord`).
        first_searched: The first search has ended; whether the user opened anything before.
        notice: Something to tell the user: a title, and a sentence.
        problem: Something failed (`Problem`).

    Attributes:
        roots: The folders that were searched.
        present_roots: Those among `roots` that exist.
        searching: Whether a search is under way, or the first one has not begun yet.
    """

    changed = Signal(object)
    opened = Signal(object)
    first_searched = Signal(bool)
    notice = Signal(str, str)
    problem = Signal(object)

    def __init__(
        self, preferences: PreferenceStore, source: ModelSource | None = None, parent: QObject | None = None
    ) -> None:
        """Search nothing before `begin`.

        Args:
            preferences: Contain the additional folders to search.
            source: Where to search; None for the stores of this machine.
            parent: The Qt parent.
        """
        super().__init__(parent)
        self.roots: tuple[Root, ...] = ()
        self.present_roots: frozenset[Path] = frozenset()
        self.devices: Mapping[Path, int] = {}
        self.searching = True
        self.source: ModelSource = source or StoreModels()
        self._preferences = preferences
        self._folders = preferences.values.folders
        self._list = ModelList()
        self._tasks: AsyncTasks | None = None
        self._waiting: list[DropContents] = []
        self._closing = threading.Event()
        self._search_again = False
        self.watch = StoreWatch(self)
        self.watch.changed.connect(self.rescan)
        self.watch.disk_check_due.connect(self._check_disks)
        preferences.changed.connect(self._follow_folders)

    @property
    def models(self) -> tuple[ModelRecord, ...]:
        """The models to choose from."""
        return self._list.records

    def named(self, name: str) -> ModelRecord | None:
        """Return the model of this name that can run; None if there is none."""
        return next((record for record in self.models if name and record.name == name and record.runnable), None)

    @property
    def begun(self) -> bool:
        """Whether `begin` has been called."""
        return self._tasks is not None

    def begin(self, tasks: "AsyncTasks", paths: Sequence[Path] = ()) -> None:
        """Search for models, then open those at `paths` and those that `open` was given before."""
        self._tasks = tasks
        tasks.start(self._begin(tuple(paths)))

    @Slot()
    def rescan(self) -> None:
        """Search again; if a search is under way, once more after it."""
        if self.searching:
            self._search_again = True
        elif self._tasks is not None:
            self._tasks.start(self._search(self._tasks))

    def open(self, contents: DropContents) -> None:
        """Open the first model among files and folders, and report why others are not opened."""
        if self._tasks is None:
            self._waiting.append(contents)
        else:
            self._tasks.start(self._open(self._tasks, contents))

    def verify(self, record: ModelRecord) -> None:
        """Compare the files of a model with their digests, and report the result."""
        if self._tasks is not None:
            self._tasks.start(self._verify(self._tasks, record))

    def close(self) -> None:
        """Cancel a verification that is under way."""
        self._closing.set()

    @Slot(object)
    def _follow_folders(self, values: Preferences) -> None:
        if values.folders != self._folders:
            self._folders = values.folders
            self.rescan()

    # Flows

    async def _begin(self, paths: tuple[Path, ...]) -> None:
        assert self._tasks is not None
        await self._search(self._tasks)
        waiting, self._waiting = self._waiting, []
        if paths:
            waiting.insert(0, DropContents(paths, ()))
        if not waiting:
            await self._list_last(self._tasks)
        for contents in waiting:
            await self._open(self._tasks, contents)
        self.first_searched.emit(bool(waiting))

    async def _list_last(self, tasks: "AsyncTasks") -> None:
        """List the model that was in use last, if it was opened from outside the stores and still exists."""
        path = Path(self._preferences.values.model)
        known = any(path == place.path for record in self.models for place in record.places)
        if not path.is_absolute() or known or not await tasks.call(path.exists):
            return
        try:
            self._list.add_opened(await tasks.call(self.source.open, path))
        except SottoError as error:
            _log.warning("The model that was in use last cannot be opened again: %s", error.message)
        else:
            self.changed.emit(self.models)

    async def _search(self, tasks: "AsyncTasks") -> None:
        self.searching, self._search_again = True, False
        try:
            listing = await tasks.call(self.source.find, self._folders)
        except Exception as error:
            # The window remains useful without the list: models can still be opened and dropped.
            _log.error("The models could not be listed.", exc_info=error)
            details = "".join(traceback.format_exception(error))
            self.problem.emit(
                Problem(tr("The models could not be listed"), f"{type(error).__name__}: {error}", details)
            )
            self.searching = False
            self.changed.emit(self.models)
            self.watch.watch_disks(needed=bool(self.devices))
            return
        self.searching = False
        self._list.set_found(listing.records)
        self.roots, self.present_roots, self.devices = listing.roots, listing.existing, listing.devices
        self.changed.emit(self.models)
        self.watch.watch(await tasks.call(self.source.folders, listing.roots))
        self.watch.watch_disks(needed=bool(self.devices))
        if self._search_again:
            self.rescan()

    @Slot()
    def _check_disks(self) -> None:
        if self._tasks is not None and not self.searching:
            self._tasks.start(self._compare_devices(self._tasks))

    async def _compare_devices(self, tasks: "AsyncTasks") -> None:
        """Search again if a disk has appeared or disappeared since the models on it were listed."""
        before = self.devices
        now = await tasks.call(self.source.devices, self.roots)
        if before is not self.devices:
            return
        if now != before:
            self.rescan()
        else:
            self.watch.watch_disks(needed=True)

    async def _open(self, tasks: "AsyncTasks", contents: DropContents) -> None:
        opened: list[ModelRecord] = []
        remote = tr("{address} is not on this computer: download the model first, then drop its folder.")
        problems = [Problem(tr("Not on this computer"), remote.format(address=address)) for address in contents.remote]
        for path in contents.paths:
            try:
                record = await tasks.call(self.source.open, path)
            except SottoError as error:
                title = tr("{name} could not be loaded").format(name=path_names([path]))
                problems.append(Problem(title, error.message))
                continue
            if not any(is_same_model(record, other) for other in opened):
                opened.append(record)
        if opened:
            self._take_opened(opened[0])
        if others := opened[1:]:
            for other in others:
                self._list.add_opened(other)
            self.changed.emit(self.models)
            names = join_names([model_name(other.name) for other in others])
            why = tr("Load {names} from the list.")
            problems.append(Problem(tr("Only one model was loaded"), why.format(names=names)))
        if len(problems) > 1:
            messages = join_sentences(problem.message for problem in problems)
            self.problem.emit(Problem(tr("Not everything was loaded"), messages))
        elif problems:
            self.problem.emit(problems[0])

    def _take_opened(self, record: ModelRecord) -> None:
        known = self._list.find(record)
        if known is None:
            self._list.add_opened(record)
            self.changed.emit(self.models)
        self.opened.emit(known or record)

    async def _verify(self, tasks: "AsyncTasks", record: ModelRecord) -> None:
        name = model_name(record.name)
        message = tr("The files of {model} are read and compared with their digests.")
        self.notice.emit(tr("Checking files"), message.format(model=name))
        try:
            found = await tasks.call(self.source.verify, record, self._closing.is_set)
        except CancelledError:
            return
        except SottoError as error:
            self.problem.emit(Problem(tr("{model} could not be checked").format(model=name), error.message))
            return
        if found:
            self.problem.emit(Problem(tr("{model} is damaged").format(model=name), found))
        else:
            self.notice.emit(tr("No damage found"), tr("All files of {model} match their digests.").format(model=name))
