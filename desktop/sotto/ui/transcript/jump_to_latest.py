"""The round button that scrolls to the newest text, with a turning arc while an answer is arriving."""

from PySide6.QtCore import Property, QPropertyAnimation, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent

from sotto.ui.toolkit import motion, theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton

_TURN_MS = 1400
_ARC_DEGREES = 80
_MIN_SIZE = 30


class JumpToLatest(IconButton):
    """A button with an arc, which stands still if the user prefers reduced motion."""

    def __init__(self) -> None:
        """Create the button, without the arc."""
        super().__init__("arrow-down", tr("Jump to latest"), role="", color="text")
        self.setObjectName("newest")
        self._arriving = False
        self._degrees = 90.0
        self._turning = QPropertyAnimation(self, b"degrees", self)
        self._turning.setStartValue(90.0)
        self._turning.setEndValue(-270.0)
        self._turning.setDuration(_TURN_MS)
        self._turning.setLoopCount(-1)

    def show_arriving(self, arriving: bool) -> None:
        """Show whether an answer is arriving, by the arc and for screen readers."""
        self._arriving = arriving
        name = tr("Jump to latest, answer in progress") if arriving else tr("Jump to latest")
        self.setAccessibleName(name)
        self.setToolTip(name)
        self._start_or_stop()
        self.update()

    def place(self, viewport: QSize) -> None:
        """Move the button to the bottom centre of a viewport of this size, above the content."""
        size = self.sizeHint()
        edge = max(size.width(), size.height(), _MIN_SIZE)
        self.setFixedSize(edge, edge)
        self.move((viewport.width() - edge) // 2, viewport.height() - edge - theme.GAP_12)
        self.raise_()

    @property
    def is_turning(self) -> bool:
        """Whether the arc is turning."""
        return self._turning.state() is QPropertyAnimation.State.Running

    def _start_or_stop(self) -> None:
        wanted = self._arriving and self.isVisible() and not motion.is_reduced()
        if wanted and not self.is_turning:
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
        """Start turning if an answer is arriving."""
        super().showEvent(event)
        self._start_or_stop()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop turning."""
        super().hideEvent(event)
        self._start_or_stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the arc along the edge of the button."""
        super().paintEvent(event)
        if self._arriving:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(
                QPen(QColor(theme.current().tokens.accent), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            )
            painter.drawArc(QRectF(self.rect()).adjusted(1, 1, -1, -1), round(16 * self._degrees), -16 * _ARC_DEGREES)
