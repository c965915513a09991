"""A vertical scroll area that keeps the focused widget in view."""

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from sotto.ui.toolkit.hover import HoverRefresher


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

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the focused widget in view when the area is resized."""
        super().resizeEvent(event)
        self._keep_visible()
