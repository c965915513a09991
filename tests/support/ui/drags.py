"""Drags over a window and drops on it, as Qt sends them."""

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

_BUTTONS = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)


def data_of(*urls: QUrl) -> QMimeData:
    """Return what a drag of these addresses carries."""
    data = QMimeData()
    data.setUrls(list(urls))
    return data


def enter(widget: QWidget, data: QMimeData) -> bool:
    """Drag over the widget's middle; return whether it would take a drop."""
    middle = widget.rect().center()
    # 6.12 wants a QPointF and warns of a QPoint, which older versions want.
    try:
        event = QDragEnterEvent(QPointF(middle), Qt.DropAction.CopyAction, data, *_BUTTONS)
    except TypeError:
        event = QDragEnterEvent(QPoint(middle), Qt.DropAction.CopyAction, data, *_BUTTONS)
    widget.dragEnterEvent(event)
    return event.isAccepted()


def let_go(widget: QWidget, data: QMimeData) -> None:
    """Drop on the widget's middle."""
    widget.dropEvent(QDropEvent(QPointF(widget.rect().center()), Qt.DropAction.CopyAction, data, *_BUTTONS))
