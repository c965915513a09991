"""Sending drag and drop events to a widget as Qt does."""

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

_BUTTONS = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)


def data_of(*urls: QUrl) -> QMimeData:
    """Return the MIME data of a drag of these URLs."""
    data = QMimeData()
    data.setUrls(list(urls))
    return data


def enter(widget: QWidget, data: QMimeData) -> bool:
    """Drag into a widget, and return whether it accepts the drag."""
    middle = widget.rect().center()
    # WORKAROUND: PySide6 6.12 takes a QPointF and warns about a QPoint, which older versions require. Remove the
    # fallback when 6.12 is the oldest version supported.
    try:
        event = QDragEnterEvent(QPointF(middle), Qt.DropAction.CopyAction, data, *_BUTTONS)
    except TypeError:
        event = QDragEnterEvent(QPoint(middle), Qt.DropAction.CopyAction, data, *_BUTTONS)
    widget.dragEnterEvent(event)
    return event.isAccepted()


def drop_on(widget: QWidget, data: QMimeData) -> None:
    """Drop on the middle of a widget."""
    widget.dropEvent(QDropEvent(QPointF(widget.rect().center()), Qt.DropAction.CopyAction, data, *_BUTTONS))
