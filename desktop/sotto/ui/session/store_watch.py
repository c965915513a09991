"""Watches the folders of models while the window is open."""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot

from sotto.store.watching import WatchedFolders

# Nothing reports that a disk was attached or removed, so that is polled.
_DISK_CHECK_MS = 1000
# A download changes its folder many times: wait until nothing has changed for this long.
_CALM_MS = 1000


class StoreWatch(QObject):
    """Watches folders, and reports when models may have been added or removed.

    Signals:
        changed: The folders have changed, and have then stayed the same for a second.
        disk_check_due: It is time to check which disks are present.
    """

    changed = Signal()
    disk_check_due = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Watch nothing yet."""
        super().__init__(parent)
        self.watcher = QFileSystemWatcher(self)
        self.watched = WatchedFolders()
        self._calm = QTimer(self, singleShot=True, interval=_CALM_MS)
        self._calm.timeout.connect(self.changed)
        self._disk_check = QTimer(self, singleShot=True, interval=_DISK_CHECK_MS)
        self._disk_check.timeout.connect(self.disk_check_due)
        self.watcher.directoryChanged.connect(self._look)

    @property
    def settling(self) -> bool:
        """Whether a change has been seen that is not reported yet."""
        return self._calm.isActive()

    def watch(self, watched: WatchedFolders) -> None:
        """Watch these folders, and no others."""
        self.watched = watched
        wanted = {str(folder) for folder in (*watched.folders, *watched.awaited)}
        current = set(self.watcher.directories())
        if gone := sorted(current - wanted):
            self.watcher.removePaths(gone)
        if new := sorted(wanted - current):
            self.watcher.addPaths(new)

    @Slot(str)
    def _look(self, folder: str) -> None:
        """Handle a change in a folder; of an awaited one, it matters only if something awaited has appeared."""
        awaited = self.watched.awaited.get(Path(folder))
        if awaited is None or any(path.is_dir() for path in awaited):
            self._calm.start()

    def watch_disks(self, *, needed: bool) -> None:
        """Schedule one `disk_check_due`, if there are folders on disks that can be removed."""
        if needed:
            self._disk_check.start()
