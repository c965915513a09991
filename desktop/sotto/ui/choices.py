"""What can be chosen for one conversation: what the model is told first, and how its answers are drawn."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QSpinBox,
    QVBoxLayout,
)

from sotto.ui import theme
from sotto.ui.parts import IconButton, Label, TextButton, line_height

_LINES = 5
_WIDTH = 340
_OWN = "The model’s own"
# By Ollama's name: what it is called, least, most, step, places behind the point, and what it does.
_NUMBERS: tuple[tuple[str, str, float, float, float, int, str], ...] = (
    ("temperature", "Temperature", 0, 5, 0.1, 2, "0 always takes the likeliest word; more is more varied"),
    ("top_p", "Top-p", 0, 1, 0.05, 2, "Leaves out unlikely words beyond this share"),
    ("top_k", "Top-k", 0, 1000, 5, 0, "Draws from so many of the likeliest words; 0 from all"),
    ("min_p", "Min-p", 0, 1, 0.01, 2, "Leaves out words that are so much less likely than the likeliest"),
    ("repeat_penalty", "Repeat penalty", 0, 5, 0.05, 2, "More than 1 repeats less"),
    ("seed", "Seed", 0, 2**31 - 1, 1, 0, "The same seed gives the same answer"),
    ("num_predict", "Longest answer", 1, 2**31 - 1, 64, 0, "In tokens"),
)


class Choices(QFrame):
    """A panel over the conversation.

    Signals:
        chosen: The system prompt, and the options that are not the model's own, by Ollama's names.
        closed: The panel is to go away.
    """

    chosen = Signal(str, object)
    closed = Signal()

    def __init__(self) -> None:
        """Begin hidden, with everything as the model has it."""
        super().__init__()
        self.setObjectName("choices")
        self.setAccessibleName("Settings of this chat")
        self.system = QPlainTextEdit()
        self.system.setObjectName("system")
        self.system.setAccessibleName("System prompt")
        self.system.setPlaceholderText("What the model is told before everything you say")
        self.system.setTabChangesFocus(True)
        self.system.setAcceptDrops(False)
        self.system.viewport().setAcceptDrops(False)
        self.fields: dict[str, QSpinBox | QDoubleSpinBox] = {}
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.GAP_12)
        grid.setVerticalSpacing(theme.GAP_8)
        for row, (name, title, least, most, step, places, tip) in enumerate(_NUMBERS):
            label, field = Label(title), _field(least, most, step, places)
            field.setAccessibleName(title)
            for widget in (label, field):
                widget.setToolTip(tip)
            field.valueChanged.connect(self._tell)
            self.fields[name] = field
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.setColumnStretch(0, 1)
        close = IconButton("close", "Close the settings of this chat")
        close.clicked.connect(self.closed)
        reset = TextButton("Everything as the model has it", "quiet")
        reset.clicked.connect(lambda: self._put("", {}, tells=True))
        top = QHBoxLayout()
        top.addWidget(Label("This chat", "strong"), 1)
        top.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_12)
        layout.setSpacing(theme.GAP_8)
        layout.addLayout(top)
        layout.addWidget(Label("System prompt", "caption"))
        layout.addWidget(self.system)
        layout.addSpacing(theme.GAP_4)
        layout.addLayout(grid)
        layout.addWidget(reset, 0, Qt.AlignmentFlag.AlignLeft)
        self.system.textChanged.connect(self._tell)
        theme.current().changed.connect(self._measure)
        self._measure()
        self.hide()

    def show_choices(self, system: str, options: Mapping[str, Any]) -> None:
        """Show what was chosen for the conversation in view."""
        self._put(system, options, tells=False)

    @property
    def options(self) -> dict[str, Any]:
        """What is not as the model has it."""
        return {name: field.value() for name, field in self.fields.items() if field.value() > field.minimum()}

    def _put(self, system: str, options: Mapping[str, Any], *, tells: bool) -> None:
        for widget in (self.system, *self.fields.values()):
            widget.blockSignals(True)
        self.system.setPlainText(system)
        for name, field in self.fields.items():
            value = options.get(name)
            number = field.minimum() if isinstance(value, bool) or not isinstance(value, int | float) else value
            # Numbers from a file may be larger than a field takes.
            number = min(max(number, field.minimum()), field.maximum())
            field.setValue(int(number) if isinstance(field, QSpinBox) else number)  # type: ignore[arg-type]
        for widget in (self.system, *self.fields.values()):
            widget.blockSignals(False)
        if tells:
            self._tell()

    def _tell(self) -> None:
        self.chosen.emit(self.system.toPlainText(), self.options)

    def _measure(self) -> None:
        self.setFixedWidth(theme.current().scaled(_WIDTH))
        self.system.setFixedHeight(_LINES * line_height(self.system) + 2 * theme.GAP_8)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go away with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)


def _field(least: float, most: float, step: float, places: int) -> QSpinBox | QDoubleSpinBox:
    """Return a field for a number; one step below the least stands for what the model has."""
    field: QSpinBox | QDoubleSpinBox
    if places:
        field = QDoubleSpinBox()
        field.setDecimals(places)
        field.setRange(least - step, most)
        field.setSingleStep(step)
    else:
        field = QSpinBox()
        field.setRange(int(least) - 1, int(most))
        field.setSingleStep(int(step))
    field.setSpecialValueText(_OWN)
    field.setValue(field.minimum())  # type: ignore[arg-type]
    field.setAlignment(Qt.AlignmentFlag.AlignRight)
    field.lineEdit().setTextMargins(0, 0, theme.GAP_8, 0)
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return field
