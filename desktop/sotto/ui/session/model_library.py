"""The models to choose from: those in the stores of this machine, and those that a person opened."""

import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sotto.errors import CancelledError, SottoError
from sotto.runner.residents import same
from sotto.store.records import ModelRecord
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.model_sources import Models, StoreModels
from sotto.ui.session.store_watch import StoreWatch
from sotto.ui.state.drop_contents import DropContents, path_names
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import join_names, model_name

if TYPE_CHECKING:
    from sotto.store.roots import Root
    from sotto.ui.toolkit.async_tasks import Flows


class ModelList:
    """What was found, and before it what was opened and is not among that."""

    def __init__(self) -> None:
        """Start empty."""
        self._found: tuple[ModelRecord, ...] = ()
        self._opened: dict[Path, ModelRecord] = {}

    @property
    def records(self) -> tuple[ModelRecord, ...]:
        """All of them, in the order to show."""
        opened = [one for one in self._opened.values() if not any(same(one, other) for other in self._found)]
        return (*opened, *self._found)

    def set_found(self, records: Sequence[ModelRecord]) -> None:
        """Take the models of the stores in place of those that were there before."""
        self._found = tuple(records)

    def add_opened(self, record: ModelRecord) -> None:
        """Add a model that a person opened."""
        self._opened[record.path] = record

    def known(self, record: ModelRecord) -> ModelRecord | None:
        """Return the one here that is the same model; None if there is none."""
        return next((one for one in self.records if same(one, record)), None)


class ModelLibrary(QObject):
    """Looks for models, now and whenever one may have come or gone; opens and verifies them. Loads none itself.

    Signals:
        changed: The tuple of records is another one.
        opened: A person opened this model (`ModelRecord`), to load it.
        begun_with: Models were looked for the first time; whether any was to be opened.
        told: Something to know: what it is about, and a sentence.
        problem: Something did not work (`Problem`).

    Attributes:
        roots: The folders that were searched.
        roots_there: Those of them that there are.
        searching: Whether a search is under way, or the first one has yet to come.
    """

    changed = Signal(object)
    opened = Signal(object)
    begun_with = Signal(bool)
    told = Signal(str, str)
    problem = Signal(object)

    def __init__(
        self, preferences: PreferenceStore, source: Models | None = None, parent: QObject | None = None
    ) -> None:
        """Look in `source`, or else in the stores of this machine, and in the folders that `preferences` have."""
        super().__init__(parent)
        self.roots: tuple[Root, ...] = ()
        self.roots_there: frozenset[Path] = frozenset()
        self.searching = True
        self._source: Models = source or StoreModels()
        self._preferences = preferences
        self._folders = preferences.values.folders
        self._list = ModelList()
        self._flows: Flows | None = None
        self._waiting: list[DropContents] = []
        self._closing = threading.Event()
        self._search_again = False
        self._presence: object = None
        self._watch = StoreWatch(self)
        self._watch.changed.connect(self.rescan)
        self._watch.pulse.connect(self._look)
        preferences.changed.connect(self._follow_folders)

    @property
    def models(self) -> tuple[ModelRecord, ...]:
        """The models to choose from."""
        return self._list.records

    @property
    def begun(self) -> bool:
        """Whether models are looked for, and opened."""
        return self._flows is not None

    def begin(self, flows: "Flows", paths: Sequence[Path] = ()) -> None:
        """Look for models, then open what `paths` mean, and what was to be opened before."""
        self._flows = flows
        flows.start(self._begin(tuple(paths)))

    @Slot()
    def rescan(self) -> None:
        """Look for models again; while that is under way, once more after it."""
        if self.searching:
            self._search_again = True
        elif self._flows is not None:
            self._flows.start(self._search(self._flows))

    def open(self, what: DropContents) -> None:
        """Open the first model among files and folders, and say why others are not opened."""
        if self._flows is None:
            self._waiting.append(what)
        else:
            self._flows.start(self._open(self._flows, what))

    def verify(self, record: ModelRecord) -> None:
        """Compare the files of a model with their digests, and tell what came of it."""
        if self._flows is not None:
            self._flows.start(self._verify(self._flows, record))

    def close(self) -> None:
        """Let nothing go on that takes long."""
        self._closing.set()

    @Slot(object)
    def _follow_folders(self, values: Preferences) -> None:
        if values.folders != self._folders:
            self._folders = values.folders
            self.rescan()

    # Flows

    async def _begin(self, paths: tuple[Path, ...]) -> None:
        assert self._flows is not None
        await self._search(self._flows)
        waiting, self._waiting = self._waiting, []
        if paths:
            waiting.insert(0, DropContents(paths, ()))
        for what in waiting:
            await self._open(self._flows, what)
        self.begun_with.emit(bool(waiting))

    async def _search(self, flows: "Flows") -> None:
        self.searching, self._search_again = True, False
        try:
            before = await flows.call(self._source.presence, self.roots)
            listing = await flows.call(self._source.find, self._folders)
        except Exception as error:
            # The window stays of use without the list: models can still be opened and dropped.
            details = "".join(traceback.format_exception(error))
            self.problem.emit(Problem("The models could not be listed", f"{type(error).__name__}: {error}", details))
            return
        finally:
            self.searching = False
        self._list.set_found(listing.records)
        same_roots = self.roots == listing.roots
        self.roots, self.roots_there = listing.roots, listing.existing
        self.changed.emit(self.models)
        self._watch.watch(await flows.call(self._source.folders, listing.roots))
        # What comes while the list is made is noticed the next time.
        self._presence = before if same_roots else await flows.call(self._source.presence, listing.roots)
        self._watch.watch_disks(needed=self._presence is not None)
        if self._search_again:
            self.rescan()

    @Slot()
    def _look(self) -> None:
        if self._flows is not None and not self.searching:
            self._flows.start(self._look_for_disks(self._flows))

    async def _look_for_disks(self, flows: "Flows") -> None:
        """Look for models again if a disk has come or gone."""
        before = self._presence
        now = await flows.call(self._source.presence, self.roots)
        if before is not self._presence:
            return
        if now != before:
            self.rescan()
        else:
            self._watch.watch_disks(needed=now is not None)

    async def _open(self, flows: "Flows", what: DropContents) -> None:
        good: list[ModelRecord] = []
        problems = [
            Problem("Not on this machine", f"{address} is elsewhere: download the model first, then drop its folder.")
            for address in what.remote
        ]
        for path in what.paths:
            try:
                record = await flows.call(self._source.open, path)
            except SottoError as error:
                problems.append(Problem(f"{path_names([path])} could not be loaded", error.message))
                continue
            if not any(same(record, other) for other in good):
                good.append(record)
        if good:
            self._take_opened(good[0])
        if others := good[1:]:
            for other in others:
                self._list.add_opened(other)
            self.changed.emit(self.models)
            names = join_names([model_name(other.name) for other in others])
            why = f"{names} waits in the list until it is chosen there."
            problems.append(Problem("Only one model was loaded", why))
        if len(problems) > 1:
            self.problem.emit(Problem("Not everything was loaded", " ".join(problem.message for problem in problems)))
        elif problems:
            self.problem.emit(problems[0])

    def _take_opened(self, record: ModelRecord) -> None:
        known = self._list.known(record)
        if known is None:
            self._list.add_opened(record)
            self.changed.emit(self.models)
        self.opened.emit(known or record)

    async def _verify(self, flows: "Flows", record: ModelRecord) -> None:
        name = model_name(record.name)
        self.told.emit("Checking files", f"The files of {name} are read and compared with their digests.")
        try:
            found = await flows.call(self._source.verify, record, self._closing.is_set)
        except CancelledError:
            return
        except SottoError as error:
            self.problem.emit(Problem(f"{name} could not be checked", error.message))
            return
        if found:
            self.problem.emit(Problem(f"{name} is damaged", found))
        else:
            self.told.emit("The files are good", f"Every file of {name} is as it should be.")
