"""The thumbnails of images in conversations, each made once while it is in use.

Widgets ask for them, and `ChatImages` has them made in a bounded process: what they are made of is never decoded here.
"""

from collections import OrderedDict

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPixmap

from sotto.ui.toolkit.app_singleton import app_singleton

# A thumbnail takes about a third of a megabyte.
_MOST = 200


class Thumbnails(QObject):
    """The thumbnails that were shown last.

    Signals:
        wanted: A thumbnail has to be made (the digest of the image).
        ready: A thumbnail is there, or cannot be made (the digest of the image).
    """

    wanted = Signal(str)
    ready = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        """Begin without any."""
        super().__init__(parent)
        self._pixmaps: OrderedDict[str, QPixmap] = OrderedDict()
        self._failures: dict[str, str] = {}
        self._asked: set[str] = set()

    def pixmap(self, digest: str) -> QPixmap:
        """Return the thumbnail of an image; an empty one if it is not there, which `ready` then tells."""
        found = self._pixmaps.get(digest)
        if found is not None:
            self._pixmaps.move_to_end(digest)
            return found
        if digest not in self._asked and digest not in self._failures:
            self._asked.add(digest)
            self.wanted.emit(digest)
        return QPixmap()

    def failure(self, digest: str) -> str:
        """Return why there is no thumbnail of an image, in a sentence; empty if there is one or will be."""
        return self._failures.get(digest, "")

    def add(self, digest: str, png: bytes) -> None:
        """Add the thumbnail of an image, which `sotto.images` has made."""
        pixmap = QPixmap()
        pixmap.loadFromData(png, "PNG")
        self._pixmaps[digest] = pixmap
        self._failures.pop(digest, None)
        while len(self._pixmaps) > _MOST:
            self._pixmaps.popitem(last=False)
        self._answer(digest)

    def fail(self, digest: str, why: str) -> None:
        """Note why there is no thumbnail of an image."""
        self._failures[digest] = why
        self._answer(digest)

    def _answer(self, digest: str) -> None:
        self._asked.discard(digest)
        self.ready.emit(digest)


def current() -> Thumbnails:
    """Return the thumbnails of the application."""
    return app_singleton(Thumbnails)
