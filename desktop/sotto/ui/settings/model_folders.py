"""The folders that are searched for models: which exist, how many models they contain, and which the user added.

Folders are checked on a worker thread, because they may be on a sleeping disk or a slow network.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sotto.store.printable import printable_path
from sotto.store.records import ModelRecord, Source
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that is searched.

    Attributes:
        source: The program or person that it belongs to.
        path: Path of the folder.
        exists: Whether it exists now.
        models: Number of models found in it.
        own: Whether the user added it.
    """

    source: Source
    path: Path
    exists: bool
    models: int
    own: bool


class ModelFolders(QObject):
    """Lists, adds and removes folders.

    Signals:
        loaded: The folders were checked (a tuple of `ModelFolder`).
        refused: A folder was not added; the reason in a sentence, or an empty text after one was added.
    """

    loaded = Signal(object)
    refused = Signal(str)

    def __init__(
        self, session: Session, preferences: PreferenceStore, tasks: "AsyncTasks", parent: QObject | None = None
    ) -> None:
        """Prepare to check folders; nothing is checked before `refresh`.

        Args:
            session: Has the library of models.
            preferences: Contain the user's folders.
            tasks: Runs the checks.
            parent: Owner of this object.
        """
        super().__init__(parent)
        self._session, self._preferences, self._tasks = session, preferences, tasks
        self._round = 0
        self._folders = preferences.values.folders
        preferences.changed.connect(self._refresh_if_changed)
        session.library.changed.connect(self.refresh)

    @Slot()
    def refresh(self) -> None:
        """Check all folders again."""
        self._round += 1
        self._tasks.start(self._load(self._round))

    def add(self, folder: Path) -> None:
        """Add a folder to the search, if it exists."""
        self._tasks.start(self._add(folder))

    def remove(self, folder: Path) -> None:
        """Remove one of the user's folders from the search; the folder itself is not touched."""
        others = tuple(other for other in self._preferences.values.folders if Path(other) != folder)
        self._preferences.change(folders=others)

    @Slot(object)
    def _refresh_if_changed(self, values: Preferences) -> None:
        if values.folders != self._folders:
            self._folders = values.folders
            self.refresh()

    async def _load(self, number: int) -> None:
        folders = await self._tasks.call(_list_folders, self._preferences.values.folders, self._session.library.models)
        if number == self._round:
            self.loaded.emit(folders)

    async def _add(self, folder: Path) -> None:
        folders = self._preferences.values.folders
        reason = await self._tasks.call(_refusal, folder, folders)
        if reason:
            self.refused.emit(reason)
        elif str(folder) not in self._preferences.values.folders:
            self.refused.emit("")
            self._preferences.change(folders=(*self._preferences.values.folders, str(folder)))


def _list_folders(folders: Sequence[str], records: Sequence[ModelRecord]) -> tuple[ModelFolder, ...]:
    from sotto.store.roots import default_roots

    defaults = len(default_roots())
    paths = [path for record in records for path in (record.path, *(place.path for place in record.also))]
    return tuple(
        ModelFolder(
            root.kind,
            root.path,
            _exists(root.path),
            sum(path.is_relative_to(root.path) for path in paths),
            own=index >= defaults,
        )
        for index, root in enumerate(default_roots(folders=folders))
    )


def _refusal(folder: Path, folders: Sequence[str]) -> str:
    """Return why a folder cannot be added; empty if it can."""
    from sotto.store.files import absolute
    from sotto.store.roots import default_roots

    if not _exists(folder):
        sentence = tr("{folder} is not a folder that can be read; choose the folder that contains your models.")
        return sentence.format(folder=printable_path(folder))
    if any(root.path == absolute(folder) for root in default_roots(folders=folders)):
        return tr("{folder} is already searched.").format(folder=printable_path(folder))
    return ""


def _exists(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
