"""What can be chosen for one conversation: what the model is told first, and how its answers are drawn."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from sotto.ui import theme
from sotto.ui.number_field import NumberField
from sotto.ui.parts import IconButton, Label, TextButton, line_height
from sotto.ui.preset_bar import PresetBar
from sotto.ui.presets import Preset
from sotto.ui.sampling import NUMBERS, Origin, inherited
from sotto.ui.states import ChatSettings, ModelState

_LINES = 5
_WIDTH, _FIELD = 400, 104
_SYSTEM = "What the model is told before everything you say"


class Choices(QFrame):
    """A panel over the conversation. Of each value it says where it comes from.

    Signals:
        chosen: The system prompt, and the options that are set here, by Ollama's names.
        closed: The panel is to go away.
    """

    chosen = Signal(str, object)
    closed = Signal()

    def __init__(self) -> None:
        """Begin hidden, with nothing set."""
        super().__init__()
        self.setObjectName("choices")
        self.setAccessibleName("Settings of this chat")
        self._settings, self._model, self._told = ChatSettings(), dict[str, Any](), ""
        self.presets = PresetBar()
        self.presets.applied.connect(self._apply)
        self.system = QPlainTextEdit()
        self.system.setObjectName("system")
        self.system.setAccessibleName("System prompt")
        self.system.setTabChangesFocus(True)
        self.system.setAcceptDrops(False)
        self.system.viewport().setAcceptDrops(False)
        self.fields = {number.name: NumberField(number) for number in NUMBERS}
        self.origins = {name: Label("", "caption") for name in ("system", *self.fields)}
        self.refusal = Label("", "error", wrap=True)
        self.reset = TextButton("Set nothing here", "quiet")
        self.reset.clicked.connect(lambda: self._put("", {}, tells=True))
        body = QWidget()
        body.setObjectName("choicesBody")
        inside = QVBoxLayout(body)
        inside.setContentsMargins(theme.GAP_16, 0, theme.GAP_16, theme.GAP_12)
        inside.setSpacing(theme.GAP_8)
        inside.addWidget(self.presets)
        above = QHBoxLayout()
        above.addWidget(Label("System prompt"), 1)
        above.addWidget(self.origins["system"])
        inside.addLayout(above)
        inside.addWidget(self.system)
        inside.addSpacing(theme.GAP_4)
        inside.addLayout(self._grid())
        inside.addWidget(self.refusal)
        inside.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeft)
        inside.addStretch(1)
        self.refusal.hide()
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidget(body)
        self._body = body
        close = IconButton("close", "Close the settings of this chat")
        close.clicked.connect(self.closed)
        top = QHBoxLayout()
        top.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_8)
        top.addWidget(Label("This chat", "strong"), 1)
        top.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self._area, 1)
        self.system.textChanged.connect(self._tell)
        theme.current().changed.connect(self._measure)
        self._measure()
        self._show_origins()
        self.hide()

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.GAP_12)
        grid.setVerticalSpacing(theme.GAP_8)
        for row, number in enumerate(NUMBERS):
            label, field = Label(number.title), self.fields[number.name]
            label.setToolTip(number.tip)
            field.chosen.connect(self._tell)
            field.refused.connect(self._refuse)
            for column, widget in enumerate((label, self.origins[number.name], field)):
                grid.addWidget(widget, row, column)
        grid.setColumnStretch(0, 1)
        return grid

    def show_choices(self, system: str, options: Mapping[str, Any]) -> None:
        """Show what was chosen for the conversation in view."""
        self._put(system, options, tells=False)

    def show_settings(self, settings: ChatSettings) -> None:
        """Show what holds for every chat that chooses nothing."""
        self._settings = settings
        self._show_origins()

    def show_state(self, state: ModelState) -> None:
        """Show what the model in use says for itself."""
        if state.info is not None:
            self._model, self._told = dict(state.info.options), state.info.system
        else:
            self._model, self._told = {}, ""
        self._show_origins()

    @property
    def options(self) -> dict[str, Any]:
        """What is set here."""
        numbers = {name: field.number for name, field in self.fields.items()}
        return {name: number for name, number in numbers.items() if number is not None}

    def _apply(self, preset: Preset) -> None:
        self._put(preset.system, preset.options, tells=True)

    def _put(self, system: str, options: Mapping[str, Any], *, tells: bool) -> None:
        blocked = self.system.blockSignals(True)
        self.system.setPlainText(system)
        self.system.blockSignals(blocked)
        for name, field in self.fields.items():
            field.show_number(options.get(name))
        self._refuse("")
        if tells:
            self._tell()
        else:
            self._show_origins()

    def _tell(self) -> None:
        self._show_origins()
        self.chosen.emit(self.system.toPlainText(), self.options)

    def _show_origins(self) -> None:
        """Say of each value where it comes from, and show what holds where nothing is set here."""
        for number in NUMBERS:
            field = self.fields[number.name]
            held = inherited(number, self._settings.options, self._model)
            field.show_inherited(held)
            self._say_origin(number.name, field, Origin.HERE if field.number is not None else held.origin)
        ours, told = self._settings.system.strip(), self._told.strip()
        self.system.setPlaceholderText(ours or told or _SYSTEM)
        here = bool(self.system.toPlainText().strip())
        self._say_origin(
            "system", self.system, Origin.HERE if here else Origin.SETTINGS if ours else Origin.MODEL if told else None
        )
        self.presets.show_choices(self.system.toPlainText(), self.options)
        self.reset.setEnabled(here or bool(self.options))

    def _say_origin(self, name: str, control: QWidget, origin: Origin | None) -> None:
        self.origins[name].setText(origin or "")
        control.setAccessibleDescription(origin or "")

    def _refuse(self, why: str) -> None:
        self.refusal.setText(why)
        self.refusal.setVisible(bool(why))

    def _measure(self) -> None:
        look = theme.current()
        self.system.setFixedHeight(_LINES * line_height(self.system) + 2 * theme.GAP_8)
        for field in self.fields.values():
            field.setFixedWidth(look.scaled(_FIELD))

    def room(self) -> QSize:
        """Return the size at which nothing has to be scrolled."""
        height = self.sizeHint().height() - self._area.sizeHint().height() + self._body.sizeHint().height()
        return QSize(theme.current().scaled(_WIDTH), height)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go away with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)
