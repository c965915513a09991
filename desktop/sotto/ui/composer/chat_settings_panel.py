"""The panel with the settings of one chat: preset, system prompt, thinking, answer format and sampling."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from sotto.engine.contract.requests import Think
from sotto.ui.composer.format_field import FormatField
from sotto.ui.composer.preset_bar import PresetBar
from sotto.ui.composer.thinking_button import ThinkingButton
from sotto.ui.preferences.presets import Preset
from sotto.ui.preferences.sampling_options import (
    ADVANCED_NUMBERS,
    ALL_NUMBERS,
    COMMON_NUMBERS,
    THINK_BUDGET,
    inherited_value,
)
from sotto.ui.state.model_state import ChatSettings, ModelState
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.number import Number, Origin
from sotto.ui.toolkit.number_field import NumberField
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import IconButton, Label, TextButton, line_height

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

_SYSTEM_LINES = 5
WIDTH, _FIELD_WIDTH = 340, 104
# Width of the panel below which fields move under their titles, at 13 px text.
_NARROW = 300
_SYSTEM = QT_TR_NOOP("Instructions that the model gets before your messages")


class ChatSettingsPanel(QFrame):
    """A column beside the conversation that shows each value with its origin.

    Signals:
        chosen: The user changed the settings: the system prompt, and the options that are set here by name.
        closed: The user closed the panel.
    """

    chosen = Signal(str, object)
    closed = Signal()

    def __init__(self) -> None:
        """Create the panel, hidden and with nothing set."""
        super().__init__()
        self.setObjectName("choices")
        self.setAccessibleName(tr("Chat settings"))
        self._settings, self._model_options, self._model_system = ChatSettings(), dict[str, Any](), ""
        self.presets = PresetBar()
        self.presets.applied.connect(self._apply)
        self.system = QPlainTextEdit()
        self.system.setObjectName("system")
        self.system.setAccessibleName(tr("System prompt"))
        self.system.setTabChangesFocus(True)
        self.system.setAcceptDrops(False)
        self.system.viewport().setAcceptDrops(False)
        self.thinking = ThinkingButton()
        self.thinking.chosen.connect(self.think)
        self.unable = Label("", "caption", wrap=True)
        self.format = FormatField()
        self.format.chosen.connect(self._emit_chosen)
        self.fields = {number.name: NumberField(number) for number in ALL_NUMBERS}
        self.titles = {number.name: Label(tr(number.title)) for number in ALL_NUMBERS}
        self._grids: list[tuple[QGridLayout, tuple[Number, ...]]] = []
        self._narrow = False
        self.origins = {name: Label("", "caption") for name in ("system", "think", "format", *self.fields)}
        self.refusal = Label("", "error", wrap=True)
        self.reset = TextButton(tr("Reset to defaults"), "quiet")
        self.reset.clicked.connect(lambda: self._set_values("", {}, emits=True))
        body = QWidget()
        body.setObjectName("choicesBody")
        inside = QVBoxLayout(body)
        inside.setContentsMargins(theme.GAP_16, 0, theme.GAP_16, theme.GAP_12)
        inside.setSpacing(theme.GAP_8)
        inside.addWidget(self.presets)
        inside.addLayout(self._make_heading(tr("System prompt"), "system"))
        inside.addWidget(self.system)
        inside.addSpacing(theme.GAP_4)
        inside.addLayout(self._make_heading(tr("Thinking"), "think"))
        inside.addWidget(self.thinking, 0, Qt.AlignmentFlag.AlignLeft)
        inside.addWidget(self.unable)
        inside.addLayout(self._make_heading(tr("Answers"), "format"))
        inside.addWidget(self.format)
        inside.addSpacing(theme.GAP_4)
        inside.addWidget(self._make_grid(COMMON_NUMBERS))
        self._rest = self._make_grid(ADVANCED_NUMBERS)
        self.more = TextButton("", "quiet")
        self.more.clicked.connect(lambda: self._show_more(shown=self._rest.isHidden()))
        inside.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        inside.addWidget(self._rest)
        inside.addWidget(self.refusal)
        inside.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeft)
        inside.addStretch(1)
        self.refusal.hide()
        self._show_more(shown=False)
        self._area = Scroller(body)
        close = IconButton("close", tr("Close chat settings"))
        close.clicked.connect(self.closed)
        top = QHBoxLayout()
        top.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_8)
        top.addWidget(Label(tr("This chat"), "strong"), 1)
        top.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self._area, 1)
        self.system.textChanged.connect(self._emit_chosen)
        theme.current().changed.connect(self._fit_to_text_size)
        self._fit_to_text_size()
        self._show_origins()
        self.hide()

    def _make_heading(self, title: str, name: str) -> QHBoxLayout:
        """Return a line with the title of a setting and the origin of its value."""
        line = QHBoxLayout()
        line.addWidget(Label(title), 1)
        line.addWidget(self.origins[name])
        return line

    def _make_grid(self, numbers: tuple[Number, ...]) -> QWidget:
        block = QWidget()
        grid = QGridLayout(block)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.GAP_12)
        grid.setVerticalSpacing(theme.GAP_8)
        for number in numbers:
            self.titles[number.name].setToolTip(tr(number.tip))
            self.fields[number.name].chosen.connect(self._emit_chosen)
            self.fields[number.name].refused.connect(self._show_error)
        grid.setColumnStretch(0, 1)
        self._grids.append((grid, numbers))
        self._lay_out(grid, numbers)
        return block

    def _lay_out(self, grid: QGridLayout, numbers: tuple[Number, ...]) -> None:
        """Put each field beside its title and origin, or below them if the panel is narrow."""
        for index, number in enumerate(numbers):
            row = 2 * index if self._narrow else index
            grid.addWidget(self.titles[number.name], row, 0)
            grid.addWidget(self.origins[number.name], row, 1)
            if self._narrow:
                grid.addWidget(self.fields[number.name], row + 1, 0, 1, 2)
            else:
                grid.addWidget(self.fields[number.name], row, 2)

    def _fit(self) -> None:
        narrow = self.width() < theme.current().scaled(_NARROW)
        if narrow != self._narrow:
            self._narrow = narrow
            for label in (*self.titles.values(), *self.origins.values()):
                label.setWordWrap(narrow)
            for grid, numbers in self._grids:
                self._lay_out(grid, numbers)

    def _show_more(self, *, shown: bool) -> None:
        """Show or hide the numbers that few people need."""
        self._rest.setVisible(shown)
        self.more.setText(tr("Fewer options") if shown else tr("More options"))
        self.more.setAccessibleName(self.more.text())

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to check schemas."""
        self.format.begin(tasks)

    def show_choices(self, system: str, options: Mapping[str, Any]) -> None:
        """Show the settings of the current chat, without emitting `chosen`.

        Args:
            system: System prompt; empty if none is set for the chat.
            options: Options that are set for the chat, by name.
        """
        self._set_values(system, options, emits=False)

    def show_settings(self, settings: ChatSettings) -> None:
        """Show the settings that apply to chats without their own."""
        self._settings = settings
        self._show_origins()

    def show_state(self, state: ModelState) -> None:
        """Show the defaults of the loaded model."""
        if state.info is not None:
            self._model_options, self._model_system = dict(state.info.options), state.info.system
        else:
            self._model_options, self._model_system = {}, ""
        self.thinking.show_model(state.info)
        self._show_origins()

    @property
    def options(self) -> dict[str, Any]:
        """The options that are set here, by name."""
        values: dict[str, Any] = {name: field.number for name, field in self.fields.items()}
        values |= {"think": self.thinking.value, "format": self.format.value}
        return {name: value for name, value in values.items() if value is not None}

    def think(self, value: Think | None) -> None:
        """Set whether the model thinks first; None for the default."""
        self.thinking.show_choices({"think": value}, self._settings.options)
        self._emit_chosen()

    def _apply(self, preset: Preset) -> None:
        self._set_values(preset.system, preset.options, emits=True)

    def _set_values(self, system: str, options: Mapping[str, Any], *, emits: bool) -> None:
        blocked = self.system.blockSignals(True)
        self.system.setPlainText(system)
        self.system.blockSignals(blocked)
        for name, field in self.fields.items():
            field.show_number(options.get(name))
        self.thinking.show_choices(options, self._settings.options)
        self.format.show_format(options.get("format"))
        self._show_more(shown=any(number.name in options for number in ADVANCED_NUMBERS))
        self._show_error("")
        if emits:
            self._emit_chosen()
        else:
            self._show_origins()

    def _emit_chosen(self) -> None:
        self._show_origins()
        self.chosen.emit(self.system.toPlainText(), self.options)

    def _show_origins(self) -> None:
        """Show the origin of each value, and the inherited values of fields that are not set here."""
        for number in ALL_NUMBERS:
            field = self.fields[number.name]
            fallback = inherited_value(number, self._settings.options, self._model_options)
            field.show_inherited(fallback)
            self._show_origin(number.name, field, Origin.HERE if field.number is not None else fallback.origin)
        self.thinking.show_choices({"think": self.thinking.value}, self._settings.options)
        self._show_origin("think", self.thinking, self.thinking.origin)
        if self.thinking.refusal:
            self.thinking.setAccessibleDescription(self.thinking.refusal)
        self._show_origin("format", self.format, Origin.HERE if self.format.value is not None else Origin.DEFAULT)
        self.unable.setText(self.thinking.refusal)
        self.unable.setVisible(bool(self.thinking.refusal))
        self.fields[THINK_BUDGET.name].setEnabled(not self.thinking.refusal)
        from_settings, from_model = self._settings.system.strip(), self._model_system.strip()
        self.system.setPlaceholderText(from_settings or from_model or tr(_SYSTEM))
        here = bool(self.system.toPlainText().strip())
        self._show_origin(
            "system",
            self.system,
            Origin.HERE if here else Origin.SETTINGS if from_settings else Origin.MODEL if from_model else None,
        )
        self.presets.show_choices(self.system.toPlainText(), self.options)
        self.reset.setEnabled(here or bool(self.options))

    def _show_origin(self, name: str, control: QWidget, origin: Origin | None) -> None:
        words = tr(origin) if origin is not None else ""
        self.origins[name].setText(words)
        control.setAccessibleDescription(words)

    def _show_error(self, message: str) -> None:
        self.refusal.setText(message)
        self.refusal.setVisible(bool(message))

    def _fit_to_text_size(self) -> None:
        look = theme.current()
        self.system.setFixedHeight(_SYSTEM_LINES * line_height(self.system) + 2 * theme.GAP_8)
        for field in self.fields.values():
            field.setFixedWidth(look.scaled(_FIELD_WIDTH))
        self._fit()

    def focus_format(self) -> None:
        """Scroll to the answer format and focus it."""
        self._area.ensureWidgetVisible(self.format)
        self.format.take_focus()

    def sizeHint(self) -> QSize:
        """Return the width at which nothing is cut off; whatever height there is will do."""
        body, bar = self._area.widget(), self._area.verticalScrollBar()
        needed = body.minimumSizeHint().width() + bar.sizeHint().width() if body is not None else 0
        return QSize(max(theme.current().scaled(WIDTH), needed), 0)

    def minimumSizeHint(self) -> QSize:
        """Ask for no height, because the column scrolls."""
        return QSize(min(super().minimumSizeHint().width(), self.sizeHint().width()), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the fields beside or below their titles."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)
