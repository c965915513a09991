"""An area that is scrolled up and down."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget


class Scroller(QScrollArea):
    """As wide as what is in it; what the keyboard reaches in it comes into view."""

    def __init__(self, body: QWidget | None = None) -> None:
        """Scroll `body`, or what is set later."""
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if body is not None:
            self.setWidget(body)
        QApplication.instance().focusChanged.connect(self._follow)  # type: ignore[union-attr]

    @Slot(QWidget, QWidget)
    def _follow(self, before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to what has the focus now; Qt does so only on the way from one part of an area to another.

        Nothing moves under the mouse that is pressed, nor when the person comes back to the window.
        """
        if before is None or now is None or QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return
        if self.isAncestorOf(now):
            self.ensureWidgetVisible(now)
