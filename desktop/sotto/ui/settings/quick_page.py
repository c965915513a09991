"""The settings page for the quick prompt and for launch at login."""

import functools
import sys
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
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

if TYPE_CHECKING:
    from sotto.ui.platform.global_shortcut import GlobalShortcut
    from sotto.ui.timing.async_tasks import AsyncTasks

_FRESH = Number(
    "quick_fresh_minutes", QT_TR_NOOP("New chat after"), 0, MAX_QUICK_FRESH_MINUTES, 5, 0, QT_TR_NOOP("In minutes")
)
_PORTABLE = QKeySequence.SequenceFormat.PortableText
# Qt's own hint in the field for keys is long in some languages.
_WIDTH = 230


class QuickPage(FormPage):
    """The quick prompt's shortcut, when it starts a new chat, launch at login, which the system stores, the Dock."""

    name, title, icon = "quick", QT_TR_NOOP("Quick prompt"), "bolt"

    def __init__(self, preferences: PreferenceStore, tasks: "AsyncTasks", shortcut: "GlobalShortcut | None") -> None:
        """Show and change settings.

        Args:
            preferences: The preferences.
            tasks: Runs calls that ask the system.
            shortcut: Knows whether the shortcut is available; None without global shortcuts.
        """
        super().__init__()
        self._preferences, self._tasks, self._shortcut = preferences, tasks, shortcut
        self._login_reads = self._login_choices = 0
        self.keys = QKeySequenceEdit()
        for widget in (self.keys, *self.keys.findChildren(QLineEdit)):
            widget.setAccessibleName(tr("Quick prompt shortcut"))
        self.keys.setMaximumSequenceLength(1)
        self.keys.setClearButtonEnabled(True)
        self.keys.keySequenceChanged.connect(self._save_keys)
        self.keys_row = FormRow(tr("Shortcut"), "", self.keys)
        self.fresh = NumberField(_FRESH, optional=False, unit=" " + tr("min"))
        self.fresh.chosen.connect(self._save_minutes)
        fresh = FormRow(tr("New chat after"), tr("Start fresh if unused for this many minutes."), self.fresh)
        self.fresh.refused.connect(fresh.show_error)
        self.login = Switch(tr("Launch at login"))
        self.login.toggled.connect(self._start_set_login)
        self.login_row = FormRow(
            tr("Launch at login"), tr("Without a window, so that the quick prompt opens at once."), self.login
        )
        self.dock = Switch(tr("Keep in Dock"))
        self.dock.toggled.connect(lambda wanted: preferences.change(dock_icon=wanted))
        self.dock_row = FormRow(
            tr("Keep in Dock"), tr("Otherwise, Sotto is only in the menu bar while its window is closed."), self.dock
        )
        group = self.add_group()
        group.add(self.keys_row)
        group.add(fresh)
        self.add_note(
            tr("The command sotto --toggle does the same; you can bind it to a shortcut in your desktop’s settings.")
        )
        startup = self.add_group(tr("Startup"))
        startup.add(self.login_row)
        if sys.platform == "darwin":
            startup.add(self.dock_row)
        else:
            self.dock_row.hide()
        preferences.changed.connect(self._show)
        if shortcut is not None:
            shortcut.changed.connect(self._show_keys)
        theme.current().changed.connect(self._fit_fields)
        self._fit_fields()
        self._show(preferences.values)

    def refresh(self) -> None:
        """Ask the system again whether it launches Sotto, which may have been changed elsewhere."""
        self._tasks.start(self._read_login())

    def _show(self, values: Preferences) -> None:
        wanted = QKeySequence.fromString(values.quick_shortcut, _PORTABLE)
        if self.keys.keySequence() != wanted:
            blocked = self.keys.blockSignals(True)
            self.keys.setKeySequence(wanted)
            self.keys.blockSignals(blocked)
        blocked = self.dock.blockSignals(True)
        self.dock.setChecked(values.dock_icon)
        self.dock.blockSignals(blocked)
        if self.fresh.number != round(values.quick_fresh_minutes):
            self.fresh.show_number(values.quick_fresh_minutes)
        self._show_keys()

    @Slot()
    def _show_keys(self) -> None:
        """Show what the shortcut does, or why it is not available."""
        keys = self.keys.keySequence().toString(QKeySequence.SequenceFormat.NativeText)
        problem = note = ""
        if self._shortcut is not None and keys:
            problem, note = self._shortcut.problem, self._shortcut.note
        default = tr("{keys} shows and hides it anywhere.").format(keys=keys) if keys else tr("Click to record")
        self.keys_row.set_hint("" if problem else note or default)
        self.keys_row.show_error(problem)

    def _save_keys(self, keys: QKeySequence) -> None:
        self._preferences.change(quick_shortcut=keys.toString(_PORTABLE))

    def _save_minutes(self) -> None:
        if (minutes := self.fresh.number) is not None:
            self._preferences.change(quick_fresh_minutes=minutes)

    def _start_set_login(self, wanted: bool) -> None:
        self._tasks.start(self._set_login(wanted))

    async def _set_login(self, wanted: bool) -> None:
        self._login_choices = number = self._login_choices + 1
        problem = ""
        try:
            await self._tasks.call(functools.partial(login_item.set_enabled, wanted))
        except SottoError as error:
            problem = error.message
        await self._read_login()
        if number == self._login_choices:
            self.login_row.show_error(problem)

    async def _read_login(self) -> None:
        self._login_reads = number = self._login_reads + 1
        enabled = await self._tasks.call(login_item.enabled)
        if number != self._login_reads:
            return  # what was asked later is newer, even if it was answered earlier
        blocked = self.login.blockSignals(True)
        self.login.setChecked(enabled)
        self.login.blockSignals(blocked)

    def _fit_fields(self) -> None:
        self.keys.setFixedWidth(theme.current().scaled(_WIDTH))
        self.fresh.setFixedWidth(theme.current().scaled(_WIDTH))
