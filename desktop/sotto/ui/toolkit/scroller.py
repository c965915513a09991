"""An area that is scrolled up and down."""

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget


class Scroller(QScrollArea):
    """As wide as what is in it; what the keyboard reaches in it comes into view, and stays when the layout changes."""

    def __init__(self, body: QWidget | None = None) -> None:
        """Scroll `body`, or what is set later."""
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # The widget with the focus that was scrolled to, until anything else scrolls elsewhere.
        self._followed: QWidget | None = None
        if body is not None:
            self.setWidget(body)
        self.verticalScrollBar().valueChanged.connect(self._leave)
        QApplication.instance().focusChanged.connect(self._follow)  # type: ignore[union-attr]

    @Slot(QWidget, QWidget)
    def _follow(self, before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to what has the focus now; Qt does so only on the way from one part of an area to another.

        Nothing moves under the mouse that is pressed, nor when the person comes back to the window.
        """
        if before is None or now is None or QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return
        self._followed = now if self.isAncestorOf(now) else None
        self._stay()

    @Slot()
    def _leave(self) -> None:
        self._followed = None

    def _stay(self) -> None:
        focused = QApplication.focusWidget()
        if focused is not None and focused is self._followed:
            self.ensureWidgetVisible(focused)
            self._followed = focused

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay where the focus is when what is in the area moves; Qt installs this on the body."""
        done = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._stay()
        return done

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stay where the focus is when the area has more or less room."""
        super().resizeEvent(event)
        self._stay()
