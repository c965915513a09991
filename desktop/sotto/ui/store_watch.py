"""Notices models that come and go while the window is open."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

# A download changes a folder again and again.
_CALM_MS = 1000


class StoreWatch(QObject):
    """Watches the folders of the stores.

    Signals:
        changed: Something came or went, and nothing has for a second.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Watch nothing yet."""
        super().__init__(parent)
        self._watcher = QFileSystemWatcher(self)
        self._calm = QTimer(self, singleShot=True, interval=_CALM_MS)
        self._calm.timeout.connect(self.changed)
        self._watcher.directoryChanged.connect(self._calm.start)

    def watch(self, folders: Sequence[Path]) -> None:
        """Watch these folders, and no others."""
        wanted, watched = {str(folder) for folder in folders}, set(self._watcher.directories())
        if gone := sorted(watched - wanted):
            self._watcher.removePaths(gone)
        if new := sorted(wanted - watched):
            self._watcher.addPaths(new)
