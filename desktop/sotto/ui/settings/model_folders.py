"""Where models are looked for: what is there, how many models it has, and folders of a person's own. Draws nothing.

Whether a folder is there is found out off the window's thread: it may lie on a disk that sleeps, or is far away.
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

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import AsyncTasks


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that is searched.

    Attributes:
        source: Whose it is.
        path: Where it is.
        there: Whether there is a folder now.
        models: How many models were found in it.
        own: Whether a person added it here.
    """

    source: Source
    path: Path
    there: bool
    models: int
    own: bool


class ModelFolders(QObject):
    """Knows what is searched, and lets folders be added and removed.

    Signals:
        known: What is searched (a tuple of `ModelFolder`).
        refused: A folder is not added; why, in a sentence.
    """

    known = Signal(object)
    refused = Signal(str)

    def __init__(
        self, session: Session, preferences: PreferenceStore, flows: "AsyncTasks", parent: QObject | None = None
    ) -> None:
        """Look at nothing before `look`."""
        super().__init__(parent)
        self._session, self._preferences, self._flows = session, preferences, flows
        self._newest = 0
        self._folders = preferences.values.folders
        preferences.changed.connect(self._compare)
        session.library.changed.connect(self.look)

    @Slot()
    def look(self) -> None:
        """Find out what is searched."""
        self._newest += 1
        self._flows.start(self._look(self._newest))

    def add(self, folder: Path) -> None:
        """Search another folder from now on, if there is one."""
        self._flows.start(self._add(folder))

    def remove(self, folder: Path) -> None:
        """Search one of a person's own folders no longer; nothing in it is touched."""
        kept = tuple(one for one in self._preferences.values.folders if Path(one) != folder)
        self._preferences.change(folders=kept)

    @Slot(object)
    def _compare(self, values: Preferences) -> None:
        if values.folders != self._folders:
            self._folders = values.folders
            self.look()

    async def _look(self, number: int) -> None:
        found = await self._flows.call(_stores, self._preferences.values.folders, self._session.library.models)
        if number == self._newest:
            self.known.emit(found)

    async def _add(self, folder: Path) -> None:
        folders = self._preferences.values.folders
        why = await self._flows.call(_refusal, folder, folders)
        if why:
            self.refused.emit(why)
        elif str(folder) not in self._preferences.values.folders:
            self.refused.emit("")
            self._preferences.change(folders=(*self._preferences.values.folders, str(folder)))


def _stores(folders: Sequence[str], records: Sequence[ModelRecord]) -> tuple[ModelFolder, ...]:
    from sotto.store.roots import default_roots

    usual = len(default_roots())
    places = [path for record in records for path in (record.path, *(place.path for place in record.also))]
    return tuple(
        ModelFolder(
            root.kind,
            root.path,
            _is_there(root.path),
            sum(path.is_relative_to(root.path) for path in places),
            own=place >= usual,
        )
        for place, root in enumerate(default_roots(folders=folders))
    )


def _refusal(folder: Path, folders: Sequence[str]) -> str:
    """Return why a folder is not added, or nothing."""
    from sotto.store.files import absolute
    from sotto.store.roots import default_roots

    if not _is_there(folder):
        return f"{printable_path(folder)} is no folder that can be read; choose the folder that your models are in."
    if any(root.path == absolute(folder) for root in default_roots(folders=folders)):
        return f"{printable_path(folder)} is searched already."
    return ""


def _is_there(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
