"""The gauge of how full the context is, and the panel with actions when it is too full."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sotto.ui.composer.action_panel import ActionPanel, PanelAction
from sotto.ui.conversation.context_meter import ContextUse
from sotto.ui.state import wording
from sotto.ui.state.names import join_sentences
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import Label

_RING_SIZE = 14


class ContextGauge(QWidget):
    """A ring that fills, with numbers beside it; hidden if there is nothing to measure.

    Attributes:
        text: The numbers: used and available tokens.
    """

    def __init__(self) -> None:
        """Create the gauge, hidden."""
        super().__init__()
        self.setObjectName("contextGauge")
        self._ring = _Ring()
        self._numbers = Label("", "caption")
        self.text = ""
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.margins(0, 0, theme.GAP_4, 0))
        layout.setSpacing(theme.GAP_4 + 2)
        layout.addWidget(self._ring)
        layout.addWidget(self._numbers)
        self.show_use(None)

    def show_numbers(self, shown: bool) -> None:
        """Show the numbers beside the ring, or leave them to the tool tip."""
        # The text is cleared instead of hiding the label, which would lay out everything again.
        self._numbers.setText(self.text if shown else "")

    def show_use(self, use: ContextUse | None) -> None:
        """Show how full the context would be; None if unknown."""
        self.setVisible(use is not None)
        if use is None:
            return
        self._ring.share = use.used / use.limit if use.limit else 1.0
        self._ring.tight = use.tight
        self._ring.update()
        self.text = f"{wording.count(use.used)} / {wording.count(use.limit)}"
        self._numbers.setText(self.text)
        spoken = _context_line(use.used, use.limit)
        if use.shortened:
            dropped = tr("The oldest messages are dropped; with them it would be {tokens}.")
            spoken = join_sentences((spoken, dropped.format(tokens=wording.count(use.tokens))))
        self.setAccessibleName(spoken)
        self.setToolTip(spoken)


class ContextPanel(ActionPanel):
    """A warning that the context is nearly or too full, with a button for each action; hidden otherwise."""

    def show_use(self, use: ContextUse, actions: Sequence[PanelAction]) -> None:
        """Show a warning and the actions."""
        self.show_warning(*_context_warning(use), actions)


class _Ring(QWidget):
    """A ring that fills clockwise from the top."""

    def __init__(self) -> None:
        super().__init__()
        self.share = 0.0
        self.tight = False
        theme.current().changed.connect(self._fit_to_text_size)
        self._fit_to_text_size()

    def _fit_to_text_size(self) -> None:
        edge = theme.current().scaled(_RING_SIZE)
        self.setFixedSize(QSize(edge, edge))

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current().tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = self.width() / 6
        area = QRectF(self.rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2)
        painter.setPen(QPen(QColor(tokens.track), width))
        painter.drawEllipse(area)
        color = QColor(tokens.alert if self.tight else tokens.accent)
        painter.setPen(QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(area, 90 * 16, -round(360 * 16 * min(1.0, self.share)))


def _context_line(used: int, limit: int) -> str:
    """Return a sentence on how full a context is."""
    line = (
        tr("Context: {used} of {limit} tokens, {share} %.") if limit else tr("Context: {used} of {limit} tokens, all.")
    )
    share = f"{100 * used / limit:.0f}" if limit else ""
    return line.format(used=wording.count(used), limit=wording.count(limit), share=share)


def _context_warning(use: ContextUse) -> tuple[str, str]:
    """Return the title and the message of the warning that a context is nearly or too full."""
    used, limit, room, left = map(wording.count, (use.used, use.limit, use.room, use.limit - use.used))
    if use.over and use.shortened:
        message = tr("{used} of {limit} tokens, even without the oldest messages.")
        return tr("Too long"), message.format(used=used, limit=room)
    if use.over:
        return tr("Too long"), tr("{used} of {limit} tokens.").format(used=used, limit=limit)
    message = tr("{left} of {limit} tokens are left for the answer.")
    return tr("Context nearly full"), message.format(left=left, limit=limit)
