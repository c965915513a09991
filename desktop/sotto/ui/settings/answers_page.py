"""The settings page for answers: the defaults of all chats."""

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPlainTextEdit

from sotto.engine.contract.requests import Think
from sotto.ui.composer.thinking_button import ThinkingButton
from sotto.ui.preferences.preferences import MAX_TEXT_LENGTH, Preferences, PreferenceStore
from sotto.ui.preferences.sampling_options import (
    ADVANCED_NUMBERS,
    ALL_NUMBERS,
    COMMON_NUMBERS,
    CONTEXT_LENGTH,
    inherited_value,
)
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.form_rows import FormGroup, FormPage, FormRow, Switch
from sotto.ui.toolkit.number import Number
from sotto.ui.toolkit.number_field import NumberField
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import line_height

_SYSTEM_LINES = 4
# The system prompt is saved when nothing has been typed for this time.
_SAVE_MS = 300
_FIELD_WIDTH = 130


class AnswersPage(FormPage):
    """System prompt, thinking, sampling, context length, and whether the view follows answers."""

    name, title, icon = "answers", QT_TR_NOOP("Answers"), "speech"

    def __init__(self, preferences: PreferenceStore) -> None:
        """Show and change `preferences`."""
        super().__init__()
        self._preferences = preferences
        self.follow = Switch(tr("Scroll with the answer"))
        self.follow.toggled.connect(lambda on: preferences.change(follow=on))
        self.system = QPlainTextEdit()
        self.system.setObjectName("system")
        self.system.setPlaceholderText(tr("Instructions that models get before your messages"))
        self.system.setTabChangesFocus(True)
        self.system.setAcceptDrops(False)
        self.system.viewport().setAcceptDrops(False)
        self.thinking = ThinkingButton()
        self.thinking.chosen.connect(self._set_thinking)
        self.fields = {number.name: NumberField(number) for number in ALL_NUMBERS}
        self.context = NumberField(CONTEXT_LENGTH)
        group = self.add_group()
        group.add(
            FormRow(
                tr("Scroll with the answer"),
                tr("Stops when the answer fills the window, or when you scroll."),
                self.follow,
            )
        )
        group = self.add_group(tr("Defaults for new chats"))
        self._system_row = FormRow(tr("System prompt"), "", self.system, below=True)
        group.add(self._system_row)
        hint = tr(
            "Whether the model thinks before it answers and, if it can be set, how much. No effect on models without "
            "it."
        )
        group.add(FormRow(tr("Thinking"), hint, self.thinking))
        self._add_numbers(group, COMMON_NUMBERS)
        self._add_numbers(self.add_group(tr("Advanced")), ADVANCED_NUMBERS)
        self.add_note(tr("Individual chats can override these."))
        row = FormRow(
            tr("Context length"),
            tr(
                "In tokens, up to the maximum of each model. If there is not enough memory, the model is not loaded "
                "and you see how many would fit. Applies from the next load."
            ),
            self.context,
        )
        self.context.setSpecialValueText(tr("Default"))
        self.context.refused.connect(row.show_error)
        self.context.chosen.connect(lambda: preferences.change(num_ctx=self.context.number or 0))
        self.add_group(tr("Models")).add(row)
        self._save_timer = QTimer(self, singleShot=True, interval=_SAVE_MS)
        self._save_timer.timeout.connect(self._save_system)
        self.system.textChanged.connect(self._save_timer.start)
        preferences.changed.connect(self._show)
        theme.current().changed.connect(self._fit_fields)
        self._fit_fields()
        self._show(preferences.values)

    def _add_numbers(self, group: FormGroup, numbers: Iterable[Number]) -> None:
        for number in numbers:
            field = self.fields[number.name]
            field.show_inherited(inherited_value(number, {}, {}))
            field.setSpecialValueText(tr("Default"))
            row = FormRow(tr(number.title), tr(number.tip), field)
            field.refused.connect(row.show_error)
            field.chosen.connect(self._save_options)
            group.add(row)

    def _show(self, values: Preferences) -> None:
        blocked = self.follow.blockSignals(True)
        self.follow.setChecked(values.follow)
        self.follow.blockSignals(blocked)
        if not self._save_timer.isActive() and self.system.toPlainText() != values.system:
            blocked = self.system.blockSignals(True)
            self.system.setPlainText(values.system)
            self.system.blockSignals(blocked)
        for name, field in self.fields.items():
            if field.number != values.options.get(name):
                field.show_number(values.options.get(name))
        self.thinking.show_choices(values.options)
        if (self.context.number or 0) != values.num_ctx:
            self.context.show_number(values.num_ctx or None)

    def _save_options(self) -> None:
        values: dict[str, Any] = {name: field.number for name, field in self.fields.items()}
        values["think"] = self.thinking.value
        self._preferences.change(options={name: value for name, value in values.items() if value is not None})

    def _set_thinking(self, value: Think | None) -> None:
        self.thinking.show_choices({"think": value})
        self._save_options()

    def _save_system(self) -> None:
        text = self.system.toPlainText()
        if len(text) > MAX_TEXT_LENGTH:
            sentence = tr("The system prompt can have at most {most} characters; this one has {count} and is not used.")
            self._system_row.show_error(
                sentence.format(most=wording.count(MAX_TEXT_LENGTH), count=wording.count(len(text)))
            )
            return
        self._system_row.show_error("")
        self._preferences.change(system=text)

    def _fit_fields(self) -> None:
        self.system.setFixedHeight(_SYSTEM_LINES * line_height(self.system) + 2 * theme.GAP_8)
        for field in (*self.fields.values(), self.context):
            field.setFixedWidth(theme.current().scaled(_FIELD_WIDTH))

    def commit(self) -> None:
        """Save the system prompt that was typed last."""
        if self._save_timer.isActive():
            self._save_timer.stop()
            self._save_system()
