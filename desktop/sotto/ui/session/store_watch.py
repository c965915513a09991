"""Notices models that come and go while the window is open."""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot

from sotto.store.watching import WatchedFolders

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
        self._watched = WatchedFolders()
        self._calm = QTimer(self, singleShot=True, interval=_CALM_MS)
        self._calm.timeout.connect(self.changed)
        self._pulse = QTimer(self, singleShot=True, interval=_PULSE_MS)
        self._pulse.timeout.connect(self.pulse)
        self._watcher.directoryChanged.connect(self._look)

    def watch(self, what: WatchedFolders) -> None:
        """Watch this, and nothing else."""
        self._watched = what
        wanted = {str(folder) for folder in (*what.folders, *what.awaited)}
        watched = set(self._watcher.directories())
        if gone := sorted(watched - wanted):
            self._watcher.removePaths(gone)
        if new := sorted(wanted - watched):
            self._watcher.addPaths(new)

    @Slot(str)
    def _look(self, folder: str) -> None:
        """Take note of a change, if it is one that matters."""
        coming = self._watched.awaited.get(Path(folder))
        if coming is None or any(path.is_dir() for path in coming):
            self._calm.start()

    def watch_disks(self, *, needed: bool) -> None:
        """Ask in a second whether disks are there, if there are folders that may be on another one."""
        if needed:
            self._pulse.start()
