"""Images that are pasted or dropped as such, without a file."""

from collections.abc import Callable

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData
from PySide6.QtGui import QImage, QImageWriter

# In the order in which they are preferred: none of these is decoded here.
_KINDS = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp", "image/tiff")


def has_image(data: QMimeData) -> bool:
    """Return whether there is an image, and neither files nor text that are rather meant."""
    return data.hasImage() and not any(url.isLocalFile() for url in data.urls())


def image_loader(data: QMimeData) -> Callable[[], bytes]:
    """Return a function that returns the file of an image, and may be called on any thread.

    Where another program offers a file, that is taken as it is; from pixels, a PNG file is made.
    """
    for kind in _KINDS:
        if data.hasFormat(kind) and not (content := data.data(kind)).isEmpty():
            taken = bytes(content.data())
            return lambda: taken
    image = QImage(data.imageData())
    return lambda: _png(image)


def _png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())
