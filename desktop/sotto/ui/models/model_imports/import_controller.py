"""Connects the sheet, the imports under way and the lists of models in a window."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMenu, QWidget

from sotto.ui.models.memory_planner import MemoryPlanner
from sotto.ui.models.model_imports.import_job import ImportJob, JobState, end_message
from sotto.ui.models.model_imports.import_list import ImportList
from sotto.ui.models.model_imports.import_sheet import ImportSheet, name_taken
from sotto.ui.models.model_imports.running_imports import Imports
from sotto.ui.session.session import Session
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.names import model_name
from sotto.ui.toolkit.announcements import announce
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import popup

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

_OFFER_SECONDS = 60.0


class ImportController(QObject):
    """Owns the imports, and offers to load models that have arrived.

    Signals:
        load_wanted: An imported model should be loaded (`ModelRecord`).
        offered: An action is offered for a while: title, message, label of the action, the action, and for how many
            seconds.
    """

    load_wanted = Signal(object)
    offered = Signal(str, str, str, object, float)

    def __init__(self, session: Session, planner: MemoryPlanner, parent: QObject | None = None) -> None:
        """Import into the store of `session`."""
        super().__init__(parent)
        self._session, self._planner = session, planner
        self._tasks: AsyncTasks | None = None
        self.imports = Imports(session, self)
        self.imports.ended.connect(self._offer_load)

    def begin(self, tasks: "AsyncTasks", window: QWidget) -> None:
        """List the imports that an earlier run left unfinished; sheets open over `window`."""
        self._tasks, self._window = tasks, window
        self.imports.begin(tasks)

    def make_list(self) -> ImportList:
        """Return a list of the imports."""
        return ImportList(self.imports)

    def close(self) -> None:
        """Stop all imports until they are resumed."""
        self.imports.close()

    def open(self, source: Path) -> ImportSheet | None:
        """Show the sheet for a folder or file; return None before there is an event loop."""
        if self._tasks is None:
            return None
        sheet = ImportSheet(self._window.window(), source, self._tasks, self._refuse, self._free)
        sheet.submitted.connect(self.imports.start)
        sheet.open_wanted.connect(self._open_in_place)
        sheet.open()
        return sheet

    def choose(self, button: QWidget) -> None:
        """Let the user choose a folder or a file in a menu below a button."""
        menu = QMenu(button)
        menu.addAction(tr("Folder…"), partial(self._choose, FileDialog.FileMode.Directory))
        menu.addAction(tr("GGUF file…"), partial(self._choose, FileDialog.FileMode.ExistingFile))
        popup(menu, button.mapToGlobal(button.rect().bottomLeft()))

    def _choose(self, mode: FileDialog.FileMode) -> None:
        kinds = () if mode is FileDialog.FileMode.Directory else ((tr("GGUF files"), "*.gguf"),)
        dialog = FileDialog(self._window, tr("Import a model"), kinds)
        dialog.setFileMode(mode)
        dialog.fileSelected.connect(lambda path: self.open(Path(path)))
        dialog.open()

    def _open_in_place(self, source: Path) -> None:
        self._session.library.open(DropContents((source,), ()))

    def _refuse(self, name: str) -> str:
        """Return why a model cannot get this name; empty if it can."""
        if name in self.imports.names:
            return tr("{name} is being imported already; choose another name.").format(name=model_name(name))
        wanted = model_name(name)
        taken = any(record.own and model_name(record.name) == wanted for record in self._session.library.models)
        return name_taken(name) if taken else ""

    def _free(self) -> int | None:
        """Return the bytes of memory that are free for a model, after the loaded one has left."""
        memory = self._planner.memory
        if memory.sample is None or not memory.sample.known:
            return None
        return max(0, memory.sample.available + memory.held - memory.sample.reserve)

    @Slot(object)
    def _offer_load(self, job: ImportJob) -> None:
        """Announce the end of an import, and offer to load the model."""
        title, message = end_message(job)
        announce(self._window, f"{title}. {message}")
        if job.state is JobState.DONE:
            self.offered.emit(title, message, tr("Load"), partial(self._load, job.name), _OFFER_SECONDS)

    def _load(self, name: str) -> None:
        wanted = model_name(name)
        for record in self._session.library.models:
            if record.own and model_name(record.name) == wanted:
                self.load_wanted.emit(record)
                return
