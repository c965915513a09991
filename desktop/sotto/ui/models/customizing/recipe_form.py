"""The form of a new model: name, system prompt, options and template, with what the model will read beside it."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QPlainTextEdit, QVBoxLayout, QWidget

from sotto.ui.preferences.sampling_options import COMMON_NUMBERS, CONTEXT_LENGTH, inherited_value
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.number_field import NumberField
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import EscapableLineEdit, Label, TextButton, line_height, restyle

_SHOWN = ("temperature", "top_p", "top_k", "min_p", "repeat_penalty", "seed", "num_predict")
NUMBERS = (*(number for number in COMMON_NUMBERS if number.name in _SHOWN), CONTEXT_LENGTH)
"""The options with a field. The others, which few people need, stay as they are; a Modelfile can have them."""
_SYSTEM_LINES, _STOP_LINES, _TEMPLATE_LINES = 6, 2, 9
_FIELD_WIDTH = 176
# Width below which what the model reads is below the fields, at 13 px text.
_NARROW = 640
_PAUSE_MS = 250


class RecipeForm(QWidget):
    """The fields, at first with what a model has.

    Signals:
        changed: What the model will read may have changed, a moment ago.
        name_changed: The name was edited.
        escaped: The user wants to leave the form.
    """

    changed = Signal()
    name_changed = Signal()
    escaped = Signal()

    def __init__(self, name: str, system: str, params: Mapping[str, Any], template: str) -> None:
        """Create the form.

        Args:
            name: The proposed name.
            system: The system prompt of the model that it is made from.
            params: Its options.
            template: Its template; empty for a built-in format.
        """
        super().__init__()
        self._template, self._stop = template, _stops(params)
        # Whether the fields are scrolled to their end with the next change of their height.
        self._follows_end = False
        self.name = EscapableLineEdit(tr("Name of the model"), name)
        self.name.setObjectName("value")
        self.name.setText(name)
        self.name.textChanged.connect(self.name_changed)
        self.name.escaped.connect(self.escaped)
        self.name_note = Label("", "caption", wrap=True)
        self.system = _text_edit("system", tr("System prompt"))
        self.system.setPlaceholderText(tr("Instructions that the model gets before each conversation"))
        self.system.setPlainText(system)
        self.fields = {number.name: NumberField(number) for number in NUMBERS}
        self.refusal = Label("", "error", wrap=True)
        for number in NUMBERS:
            field = self.fields[number.name]
            field.show_inherited(inherited_value(number, {}, params))
            field.refused.connect(self._show_refusal)
        self.stop = _text_edit("system", tr("Stop texts"))
        self.stop.setPlaceholderText(tr("One per line"))
        self.stop.setPlainText("\n".join(self._stop))
        self.template = _text_edit("schema", tr("Template"))
        self.template.setFont(theme.current().code_font())
        self.template.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.template.setPlainText(template)
        self.unfold = TextButton("", "quiet")
        self.unfold.clicked.connect(lambda: self._show_template(shown=self.template.isHidden()))
        self.preview = _text_edit("schema", tr("What the model reads"))
        self.preview.setReadOnly(True)
        self.preview.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.preview.setFont(theme.current().code_font())
        self.preview_note = Label("", "caption", wrap=True)
        self.preview_error = Label("", "error", wrap=True)
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._timer.timeout.connect(self.changed)
        for text in (self.system, self.template):
            text.textChanged.connect(self._timer.start)
        self._arrange()
        self._show_template(shown=False)
        self._show_refusal("")
        self.show_preview("", "")
        theme.current().changed.connect(self._fit_to_text_size)
        self._fit_to_text_size()

    def _arrange(self) -> None:
        fields = QWidget()
        fields.setObjectName("column")
        column = QVBoxLayout(fields)
        column.setContentsMargins(theme.margins(theme.GAP_24, 0, theme.GAP_16, theme.GAP_16))
        column.setSpacing(theme.GAP_8)
        for title, *widgets in (
            (tr("Name"), self.name, self.name_note),
            (tr("System prompt"), self.system),
            (tr("Options"), self._make_grid(), self.refusal),
            (tr("Stop texts"), self.stop),
        ):
            label = Label(title, "strong")
            label.setBuddy(widgets[0])
            column.addWidget(label)
            for widget in widgets:
                column.addWidget(widget)
            column.addSpacing(theme.GAP_8)
        column.addWidget(self.unfold, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.template)
        column.addStretch(1)
        self._area = Scroller(fields)
        self._area.verticalScrollBar().rangeChanged.connect(self._show_end)
        side = QFrame()
        shown = self._shown = QVBoxLayout(side)
        shown.setSpacing(theme.GAP_8)
        shown.addWidget(Label(tr("What the model reads"), "strong"))
        shown.addWidget(self.preview, 1)
        shown.addWidget(self.preview_note)
        shown.addWidget(self.preview_error)
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._across.setContentsMargins(0, 0, 0, 0)
        self._across.setSpacing(0)
        self._across.addWidget(self._area, 3)
        self._across.addWidget(side, 2)

    def _make_grid(self) -> QWidget:
        block = QWidget()
        grid = QGridLayout(block)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.GAP_12)
        grid.setVerticalSpacing(theme.GAP_8)
        for row, number in enumerate(NUMBERS):
            title = Label(tr(number.title))
            title.setToolTip(tr(number.tip))
            title.setBuddy(self.fields[number.name])
            grid.addWidget(title, row, 0)
            grid.addWidget(self.fields[number.name], row, 1)
        grid.setColumnStretch(0, 1)
        return block

    # Values

    @property
    def system_text(self) -> str:
        """The system prompt; empty for none."""
        return self.system.toPlainText().strip()

    @property
    def template_text(self) -> str | None:
        """The template, None for that of the model that it is made from."""
        text = self.template.toPlainText()
        return text if text.strip() and text != self._template else None

    @property
    def params(self) -> dict[str, Any]:
        """The options that are set here, and the stop texts if they were changed: None for none at all."""
        chosen: dict[str, Any] = {name: field.number for name, field in self.fields.items() if field.number is not None}
        stop = [line for line in self.stop.toPlainText().splitlines() if line.strip()]
        return chosen if stop == self._stop else chosen | {"stop": stop or None}

    def show_preview(self, text: str, error: str) -> None:
        """Show what the model will read, or why that is not known; then what is shown stays."""
        self.preview_error.setText(error)
        self.preview_error.setVisible(bool(error))
        self.preview.setAccessibleDescription(error)
        if not error:
            self.preview.setPlainText(text)
        left_out = not error and bool(self.system_text) and self.system_text not in text
        self.preview_note.setText(tr("The template leaves the system prompt out.") if left_out else "")
        self.preview_note.setVisible(left_out)

    def show_name_note(self, text: str, *, wrong: bool = False) -> None:
        """Show what is to be known about the name."""
        self.name_note.setText(text)
        self.name_note.setVisible(bool(text))
        restyle(self.name_note, "role", "error" if wrong else "caption")
        self.name.setAccessibleDescription(text)

    def _show_template(self, *, shown: bool) -> None:
        self.template.setVisible(shown)
        self.unfold.setText(tr("Hide the template") if shown else tr("Change the template"))
        self.unfold.setAccessibleName(self.unfold.text())
        if shown:
            self._follows_end = True
            self.template.setFocus()

    def _show_end(self) -> None:
        """Show all of the template, which is the last field, once there is room for it."""
        if self._follows_end:
            self._follows_end = False
            bar = self._area.verticalScrollBar()
            bar.setValue(bar.maximum())

    def _show_refusal(self, message: str) -> None:
        self.refusal.setText(message)
        self.refusal.setVisible(bool(message))

    def _fit_to_text_size(self) -> None:
        for edit, lines in (
            (self.system, _SYSTEM_LINES),
            (self.stop, _STOP_LINES),
            (self.template, _TEMPLATE_LINES),
        ):
            edit.setFixedHeight(lines * line_height(edit) + 2 * theme.GAP_8)
        for field in self.fields.values():
            field.setFixedWidth(theme.current().scaled(_FIELD_WIDTH))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put what the model reads beside the fields, or below them if there is no room."""
        super().resizeEvent(event)
        beside = event.size().width() >= theme.current().scaled(_NARROW)
        self._across.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        start, top = (theme.GAP_8, 0) if beside else (theme.GAP_24, theme.GAP_12)
        self._shown.setContentsMargins(theme.margins(start, top, theme.GAP_24, theme.GAP_16))


def _text_edit(identifier: str, name: str) -> QPlainTextEdit:
    edit = QPlainTextEdit()
    edit.setObjectName(identifier)
    edit.setAccessibleName(name)
    edit.setTabChangesFocus(True)
    edit.setAcceptDrops(False)
    edit.viewport().setAcceptDrops(False)
    return edit


def _stops(params: Mapping[str, Any]) -> list[str]:
    stop = params.get("stop", [])
    return [stop] if isinstance(stop, str) else [text for text in stop if isinstance(text, str)]
