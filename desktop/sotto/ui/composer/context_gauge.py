"""How full the context is, and what can be done where it has no room."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sotto.ui.conversation.context_meter import ContextUse
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.flow_layout import FlowLayout
from sotto.ui.toolkit.widgets import IconLabel, Label, TextButton

_EDGE = 14


@dataclass(frozen=True, slots=True)
class ContextAction:
    """Something that makes room, in a few words, and how it is done."""

    text: str
    act: Callable[[], object]


class ContextGauge(QWidget):
    """A ring that fills, with its numbers; hidden where there is nothing to measure.

    Attributes:
        text: The numbers.
    """

    def __init__(self) -> None:
        """Begin hidden."""
        super().__init__()
        self.setObjectName("contextGauge")
        self._ring = _Ring()
        self._numbers = Label("", "caption")
        self.text = ""
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, theme.GAP_4, 0)
        layout.setSpacing(theme.GAP_4 + 2)
        layout.addWidget(self._ring)
        layout.addWidget(self._numbers)
        self.show_use(None)

    def show_numbers(self, shown: bool) -> None:
        """Show the numbers beside the ring, or leave them to the tool tip."""
        # Hidden and shown again, it would have everything laid out in between.
        self._numbers.setText(self.text if shown else "")

    def show_use(self, use: ContextUse | None) -> None:
        """Show what the context would hold; None where that is not known."""
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
            spoken += f" The oldest turns are left out: with them it would be {wording.count(use.tokens)}."
        self.setAccessibleName(spoken)
        self.setToolTip(spoken)


class ContextPanel(QFrame):
    """Says that there is hardly room, and offers what makes room; hidden while there is enough."""

    def __init__(self) -> None:
        """Begin hidden."""
        super().__init__()
        self.setObjectName("contextPanel")
        self.title = Label("", "strong", wrap=True)
        self.message = Label("", "muted", wrap=True)
        self.buttons: list[TextButton] = []
        self._row = QWidget()
        self._choices = FlowLayout(self._row, theme.GAP_8)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.title)
        texts.addWidget(self.message)
        texts.addSpacing(theme.GAP_4)
        texts.addWidget(self._row)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.GAP_12, theme.GAP_8 + 2, theme.GAP_12, theme.GAP_8 + 2)
        layout.setSpacing(theme.GAP_12)
        layout.addWidget(IconLabel("alert", "alert"), 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(texts, 1)
        self.hide()

    def show_use(self, use: ContextUse, choices: Sequence[ContextAction]) -> None:
        """Say how things stand, and offer these choices."""
        title, message = _context_warning(use)
        self.title.setText(title)
        self.message.setText(message)
        self.setAccessibleName(f"{title}: {message}")
        if [button.text() for button in self.buttons] != [choice.text for choice in choices]:
            for button in self.buttons:
                self._choices.removeWidget(button)
                button.hide()
                button.deleteLater()
            self.buttons = [TextButton(choice.text) for choice in choices]
            for button in self.buttons:
                self._choices.addWidget(button)
        else:
            for button in self.buttons:
                button.clicked.disconnect()
        for button, choice in zip(self.buttons, choices, strict=True):
            button.clicked.connect(lambda _=False, act=choice.act: act())
        self._row.setVisible(bool(choices))
        self.show()

    def point_out(self) -> None:
        """Bring the first choice to the person's keys."""
        if self.buttons:
            self.buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)


class _Ring(QWidget):
    """A ring, filled from the top on."""

    def __init__(self) -> None:
        super().__init__()
        self.share = 0.0
        self.tight = False
        theme.current().changed.connect(self._measure)
        self._measure()

    def _measure(self) -> None:
        edge = theme.current().scaled(_EDGE)
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
    """Return how full a context is, in a sentence."""
    share = f"{100 * used / limit:.0f} %" if limit else "all"
    return f"Context: {wording.count(used)} of {wording.count(limit)} tokens, {share}."


def _context_warning(use: ContextUse) -> tuple[str, str]:
    """Return that a context has hardly room, or none: in a few words, and in a sentence."""
    used, limit, room, left = map(wording.count, (use.used, use.limit, use.room, use.limit - use.used))
    if use.over and use.shortened:
        why = f"Even without the oldest turns it takes {used} tokens, and there is room for {room}."
        return "This does not fit", why
    if use.over:
        why = f"With everything before it this takes {used} tokens, and the model has room for {limit}."
        return "This does not fit", why
    return "The context is nearly full", f"{left} of {limit} tokens are left for the answer."
