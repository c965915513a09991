"""Keeps what looks hovered right where Qt does not notice: when widgets move under the pointer, or are hidden."""

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, Qt, QTimer, Slot
from PySide6.QtGui import QCursor, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget


class HoverRefresher(QObject):
    """Has Qt look again at what is under the pointer, once for all movements of a moment.

    Qt does so only when the pointer moves: a list that is scrolled by the wheel would leave the wrong row highlighted.
    """

    def __init__(self, widget: QWidget) -> None:
        """Serve the window of `widget`, which owns this object."""
        super().__init__(widget)
        self._widget = widget
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._refresh)

    @Slot()
    def note_movement(self) -> None:
        """Look again soon, because widgets have moved."""
        self._timer.start()

    @Slot()
    def _refresh(self) -> None:
        window = self._widget.window()
        handle, none = window.windowHandle(), Qt.MouseButton.NoButton
        if handle is None or not window.underMouse() or QApplication.mouseButtons() != none:
            return
        if QApplication.activePopupWidget() is None:
            place = QPointF(QCursor.pos())
            inside, keys = window.mapFromGlobal(place), QApplication.keyboardModifiers()
            moved = QMouseEvent(QEvent.Type.MouseMove, inside, inside, place, none, none, keys)
            QCoreApplication.sendEvent(handle, moved)


def forget_pointer(window: QWidget) -> None:
    """Have nothing look hovered in a window that is hidden, so that nothing does when it is shown again."""
    handle = window.windowHandle()
    if handle is not None and window.underMouse():
        QCoreApplication.sendEvent(handle, QEvent(QEvent.Type.Leave))
