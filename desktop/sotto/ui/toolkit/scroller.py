"""A vertical scroll area that keeps the focused widget in view, and what looks hovered under the pointer."""

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, Qt, QTimer, Slot
from PySide6.QtGui import QCursor, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget


class Scroller(QScrollArea):
    """Scrolls to the widget that the keyboard focuses, and keeps it in view when the layout changes."""

    def __init__(self, body: QWidget | None = None) -> None:
        """Scroll `body`, or the widget that is set later."""
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # The focused widget that was scrolled to, until something else scrolls.
        self._followed: QWidget | None = None
        if body is not None:
            self.setWidget(body)
        self.verticalScrollBar().valueChanged.connect(self._stop_following)
        self._hover = HoverRefresher(self)
        self.verticalScrollBar().valueChanged.connect(self._hover.note_movement)
        QApplication.instance().focusChanged.connect(self._follow)  # type: ignore[union-attr]

    def setWidget(self, widget: QWidget) -> None:
        """Scroll a widget; what is behind the area shines through."""
        super().setWidget(widget)
        widget.setAutoFillBackground(False)

    @Slot(QWidget, QWidget)
    def _follow(self, before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to the newly focused widget; Qt does so only if the focus was within the area before.

        Nothing scrolls while a mouse button is pressed, nor when the user returns to the window.
        """
        if before is None or now is None or QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return
        self._followed = now if self.isAncestorOf(now) else None
        self._keep_visible()

    @Slot()
    def _stop_following(self) -> None:
        self._followed = None

    def _keep_visible(self) -> None:
        focused = QApplication.focusWidget()
        if focused is not None and focused is self._followed:
            self.ensureWidgetVisible(focused)
            self._followed = focused

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the focused widget in view when the content moves; Qt installs this filter on the body."""
        handled = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._keep_visible()
            self._hover.note_movement()
        return handled

    def showEvent(self, event: QShowEvent) -> None:
        """Give the content the height that it has come to need while it was hidden."""
        super().showEvent(event)
        # Layouts within layouts do not always hear of parts that came to need more while none of them were visible.
        body = self.widget()
        if body is not None and (layout := body.layout()) is not None:
            layout.invalidate()
        QCoreApplication.postEvent(self.viewport(), QEvent(QEvent.Type.LayoutRequest))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the focused widget in view when the area is resized."""
        super().resizeEvent(event)
        self._keep_visible()


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
