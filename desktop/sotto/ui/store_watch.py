"""Notices models that come and go while the window is open."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

# Disks come and go without a word.
_PULSE_MS = 1000
# A download changes a folder again and again.
_CALM_MS = 1000


class StoreWatch(QObject):
    """Watches the folders of the stores.

    Signals:
        changed: Something came or went, and nothing has for a second.
        pulse: Time to look whether disks are there, once.
    """

    changed = Signal()
    pulse = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Watch nothing yet."""
        super().__init__(parent)
        self._watcher = QFileSystemWatcher(self)
        self._calm = QTimer(self, singleShot=True, interval=_CALM_MS)
        self._calm.timeout.connect(self.changed)
        self._pulse = QTimer(self, singleShot=True, interval=_PULSE_MS)
        self._pulse.timeout.connect(self.pulse)
        self._watcher.directoryChanged.connect(self._calm.start)

    def watch(self, folders: Sequence[Path]) -> None:
        """Watch these folders, and no others."""
        wanted, watched = {str(folder) for folder in folders}, set(self._watcher.directories())
        if gone := sorted(watched - wanted):
            self._watcher.removePaths(gone)
        if new := sorted(wanted - watched):
            self._watcher.addPaths(new)

    def watch_disks(self, *, needed: bool) -> None:
        """Ask in a second whether disks are there, if there are folders that may be on another one."""
        if needed:
            self._pulse.start()
