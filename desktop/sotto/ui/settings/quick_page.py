"""The page of the quick prompt, and of whether the system starts Sotto."""

import functools
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit

from sotto.errors import SottoError
from sotto.ui.platform import login_item
from sotto.ui.preferences.preferences import MAX_QUICK_FRESH_MINUTES, Preferences, PreferenceStore
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.form_rows import FormPage, FormRow, Switch
from sotto.ui.toolkit.number import Number
from sotto.ui.toolkit.number_field import NumberField

if TYPE_CHECKING:
    from sotto.ui.platform.global_shortcut import GlobalShortcut
    from sotto.ui.toolkit.async_tasks import AsyncTasks

_FRESH = Number("quick_fresh_minutes", "A new chat after", 0, MAX_QUICK_FRESH_MINUTES, 5, 0, "In minutes")
_PORTABLE = QKeySequence.SequenceFormat.PortableText
_WIDTH = 170


class QuickPage(FormPage):
    """The quick prompt's keys, when it begins anew, and launch at login, which is as the system has it."""

    name, title, icon = "quick", "Quick prompt", "bolt"

    def __init__(self, preferences: PreferenceStore, flows: "AsyncTasks", shortcut: "GlobalShortcut | None") -> None:
        """Show and change `preferences`; `shortcut` tells whether the keys can be had."""
        super().__init__()
        self._preferences, self._flows, self._shortcut = preferences, flows, shortcut
        self.keys = QKeySequenceEdit()
        for widget in (self.keys, *self.keys.findChildren(QLineEdit)):
            widget.setAccessibleName("Keys of the quick prompt")
        self.keys.setMaximumSequenceLength(1)
        self.keys.setClearButtonEnabled(True)
        self.keys.keySequenceChanged.connect(self._choose_keys)
        self.keys_row = FormRow("Keys", "", self.keys)
        self.fresh = NumberField(_FRESH, optional=False, unit=" min")
        self.fresh.chosen.connect(self._choose_minutes)
        fresh = FormRow(
            "Start a new chat after", "Minutes out of sight; until then the same conversation goes on.", self.fresh
        )
        self.fresh.refused.connect(fresh.show_error)
        self.login = Switch("Launch at login")
        self.login.toggled.connect(self._choose_login)
        self.login_row = FormRow(
            "Launch at login", "Without a window, so that the quick prompt is there at once.", self.login
        )
        group = self.add_group()
        group.add(self.keys_row)
        group.add(fresh)
        self.add_note(
            "The command sotto --toggle, typed or bound to keys in the settings of your desktop, does the same."
        )
        self.add_group("When the computer starts").add(self.login_row)
        preferences.changed.connect(self._show)
        if shortcut is not None:
            shortcut.changed.connect(self._show_keys)
        theme.current().changed.connect(self._fit)
        self._fit()
        self._show(preferences.values)

    def refresh(self) -> None:
        """Ask the system what it starts; that may have been changed elsewhere."""
        self._flows.start(self._look())

    def _show(self, values: Preferences) -> None:
        wanted = QKeySequence.fromString(values.quick_shortcut, _PORTABLE)
        if self.keys.keySequence() != wanted:
            blocked = self.keys.blockSignals(True)
            self.keys.setKeySequence(wanted)
            self.keys.blockSignals(blocked)
        if self.fresh.number != round(values.quick_fresh_minutes):
            self.fresh.show_number(values.quick_fresh_minutes)
        self._show_keys()

    @Slot()
    def _show_keys(self) -> None:
        """Say what the keys do, or why they cannot be had."""
        shown = self.keys.keySequence().toString(QKeySequence.SequenceFormat.NativeText)
        problem = note = ""
        if self._shortcut is not None and shown:
            problem, note = self._shortcut.problem, self._shortcut.note
        usual = f"{shown} shows and hides it from everywhere." if shown else "None: click here and press some."
        self.keys_row.set_hint("" if problem else note or usual)
        self.keys_row.show_error(problem)

    def _choose_keys(self, keys: QKeySequence) -> None:
        self._preferences.change(quick_shortcut=keys.toString(_PORTABLE))

    def _choose_minutes(self) -> None:
        if (minutes := self.fresh.number) is not None:
            self._preferences.change(quick_fresh_minutes=minutes)

    def _choose_login(self, wanted: bool) -> None:
        self._flows.start(self._set_login(wanted))

    async def _set_login(self, wanted: bool) -> None:
        why = ""
        try:
            await self._flows.call(functools.partial(login_item.set_enabled, wanted))
        except SottoError as error:
            why = error.message
        await self._look()
        self.login_row.show_error(why)

    async def _look(self) -> None:
        enabled = await self._flows.call(login_item.enabled)
        blocked = self.login.blockSignals(True)
        self.login.setChecked(enabled)
        self.login.blockSignals(blocked)

    def _fit(self) -> None:
        self.keys.setFixedWidth(theme.current().scaled(_WIDTH))
        self.fresh.setFixedWidth(theme.current().scaled(_WIDTH))
