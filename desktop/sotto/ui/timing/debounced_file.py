"""A small file that is written shortly after its last change, on a worker thread."""

import logging
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from sotto.store.atomic_writing import write_atomically
from sotto.store.printable import printable_path
from sotto.ui.toolkit.translation import tr

_log = logging.getLogger(__name__)

_SAVE_MS = 300


def keep_aside(path: Path) -> None:
    """Rename a file that cannot be read, so that writing it anew destroys nothing."""
    try:
        path.replace(path.with_name(f"{path.name}.unreadable"))
    except OSError as error:
        _log.warning("%s cannot be renamed: %s", printable_path(path), error.strerror)


class DebouncedFile(QObject):
    """Writes a text to a file, once for many changes in a row.

    Signals:
        failed: The file cannot be written; the reason, in a sentence.
    """

    failed = Signal(str)

    def __init__(self, path: Path, text: Callable[[], str], parent: QObject | None = None) -> None:
        """Write the result of `text` to `path` after each `touch`."""
        super().__init__(parent)
        self._path = path
        self._text = text
        self._writers = QThreadPool()
        self._writers.setMaxThreadCount(1)
        self._saver = QTimer(self, singleShot=True, interval=_SAVE_MS)
        self._saver.timeout.connect(self._save)

    def touch(self) -> None:
        """Schedule writing the file."""
        self._saver.start()

    def close(self) -> None:
        """Write pending changes and wait until they are on the disk."""
        if self._saver.isActive():
            self._saver.stop()
            self._save()
        self._writers.waitForDone()

    def _save(self) -> None:
        text = self._text()
        self._writers.start(lambda: self._write(text))

    def _write(self, text: str) -> None:
        try:
            write_atomically(self._path, text)
        except OSError as error:
            self.failed.emit(
                tr("{file} cannot be written: {reason}.").format(file=printable_path(self._path), reason=error.strerror)
            )
