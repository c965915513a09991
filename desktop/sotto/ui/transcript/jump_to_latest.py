"""The round button that leads to the newest text, with an arc around it while more of it comes."""

from PySide6.QtCore import Property, QPropertyAnimation, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent

from sotto.ui.toolkit import motion, theme
from sotto.ui.toolkit.widgets import IconButton

_ROUND_MS = 1400
_SPAN = 80
_EDGE = 30


class JumpToLatest(IconButton):
    """Goes to the newest text. The arc turns, unless the person wants less motion; then it stands still."""

    def __init__(self) -> None:
        """Begin with nothing coming."""
        super().__init__("arrow-down", "Go to the newest text", role="", color="text")
        self.setObjectName("newest")
        self._coming = False
        self._degrees = 90.0
        self._turning = QPropertyAnimation(self, b"degrees", self)
        self._turning.setStartValue(90.0)
        self._turning.setEndValue(-270.0)
        self._turning.setDuration(_ROUND_MS)
        self._turning.setLoopCount(-1)

    def show_coming(self, coming: bool) -> None:
        """Show whether more text comes, for the eye and for screen readers."""
        self._coming = coming
        name = "Go to the newest text" + (", answer in progress" if coming else "")
        self.setAccessibleName(name)
        self.setToolTip(name)
        self._turn()
        self.update()

    def place(self, room: QSize) -> None:
        """Stand at the foot of a view of that size, over what is in it."""
        size = self.sizeHint()
        edge = max(size.width(), size.height(), _EDGE)
        self.setFixedSize(edge, edge)
        self.move((room.width() - edge) // 2, room.height() - edge - theme.GAP_12)
        self.raise_()

    @property
    def turns(self) -> bool:
        """Whether the arc moves."""
        return self._turning.state() is QPropertyAnimation.State.Running

    def _turn(self) -> None:
        wanted = self._coming and self.isVisible() and not motion.is_reduced()
        if wanted and not self.turns:
            self._turning.start()
        elif not wanted:
            self._turning.stop()
            self._degrees = 90.0

    def _read(self) -> float:
        return self._degrees

    def _write(self, degrees: float) -> None:
        self._degrees = degrees
        self.update()

    degrees = Property(float, _read, _write)

    def showEvent(self, event: QShowEvent) -> None:
        """Turn, where there is something to show."""
        super().showEvent(event)
        self._turn()

    def hideEvent(self, event: QHideEvent) -> None:
        """Turn no longer."""
        super().hideEvent(event)
        self._turn()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the arc on the button's edge."""
        super().paintEvent(event)
        if self._coming:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(
                QPen(QColor(theme.current().tokens.accent), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            )
            painter.drawArc(QRectF(self.rect()).adjusted(1, 1, -1, -1), round(16 * self._degrees), -16 * _SPAN)
