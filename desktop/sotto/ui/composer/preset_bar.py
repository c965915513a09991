"""The bar in the settings of a chat where presets are applied, saved, renamed and deleted."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from sotto.ui.preferences.presets import Preset, PresetStore
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import (
    ElidedButton,
    EscapableLineEdit,
    Label,
    TextButton,
    add_action,
    add_choices,
    popup,
    restyle,
)


class PresetBar(QWidget):
    """A button with the name of the chat's preset and a menu, and a field for names.

    Signals:
        applied: The user wants to apply this preset to the chat (`Preset`).
    """

    applied = Signal(object)

    def __init__(self) -> None:
        """Create the bar, without presets."""
        super().__init__()
        self._keeper: PresetStore | None = None
        self._system, self._options = "", dict[str, Any]()
        # Name of the preset that was applied last, to which changes can be saved.
        self._last = ""
        # Called with the name that the user types.
        self._use_name: Callable[[str], None] = lambda name: None
        self.button = ElidedButton("", "outlined")
        self.button.setObjectName("presets")
        self.button.clicked.connect(self._show_menu)
        self.name = EscapableLineEdit(tr("Preset name"))
        self.name.setObjectName("value")
        self.name.returnPressed.connect(self._commit_name)
        self.name.escaped.connect(self._end_naming)
        self.name.textEdited.connect(lambda: self._show_note(""))
        self.note = Label("", "caption", wrap=True)
        self.undo = TextButton(tr("Undo"), "quiet", tr("Undo: restore the preset"))
        self._deleted: Preset | None = None
        self.undo.clicked.connect(self._undo)
        below = QHBoxLayout()
        below.setContentsMargins(0, 0, 0, 0)
        below.addWidget(self.note, 1)
        below.addWidget(self.undo)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.button)
        layout.addWidget(self.name)
        layout.addLayout(below)
        for widget in (self.name, self.note, self.undo):
            widget.hide()
        self._show()

    def attach(self, keeper: PresetStore) -> None:
        """Offer the presets of `keeper`."""
        self._keeper = keeper
        keeper.changed.connect(self._show)
        self._show()

    def show_choices(self, system: str, options: Mapping[str, Any]) -> None:
        """Show which preset matches the settings of the chat.

        Args:
            system: The chat's system prompt.
            options: The chat's options, by name.
        """
        self._system, self._options = system, dict(options)
        self._show()

    @property
    def current(self) -> Preset | None:
        """The preset that equals the settings of the chat; None if none does."""
        return self._keeper.find(self._system, self._options) if self._keeper is not None else None

    def menu(self) -> QMenu:
        """Return the menu of presets and actions."""
        menu, keeper, current = QMenu(self), self._keeper, self.current
        if keeper is None:
            return menu
        # The first one has no name and sets nothing.
        presets = (Preset(""), *keeper.presets) if keeper.presets else ()
        names = ((preset, preset.name.replace("&", "&&") or tr("None", "preset")) for preset in presets)
        here = self._system, self._options
        add_choices(menu, names, lambda preset: (preset.system, preset.options) == here, self._apply)
        menu.addSeparator()
        last = keeper.with_name(self._last) if current is None else None
        if last is not None:
            text = tr("Save Changes to “{name}”").format(name=last.name.replace("&", "&&"))
            add_action(menu, text, partial(self._save_changes, last))
        add_action(menu, tr("Save as Preset…"), lambda: self._begin_naming("", self._save)).setEnabled(
            current is None and bool(self._system.strip() or self._options)
        )
        if current is not None:
            add_action(menu, tr("Rename…"), lambda: self._begin_naming(current.name, partial(self._rename, current)))
            add_action(menu, tr("Delete"), partial(self._delete, current))
        return menu

    def _show_menu(self) -> None:
        popup(self.menu(), self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def _show(self) -> None:
        current = self.current
        if current is not None:
            self._last = current.name
        shown = tr("Preset: {name}").format(name=current.name if current is not None else tr("None", "preset"))
        self.button.setText(f"{shown} ▾".replace("&", "&&"))
        self.button.setAccessibleName(shown)

    def _apply(self, preset: Preset) -> None:
        self._last = preset.name
        self._show_note("")
        self.applied.emit(preset)

    def _save(self, name: str) -> None:
        assert self._keeper is not None
        self._keeper.save(name, self._system, self._options)

    def _save_changes(self, preset: Preset) -> None:
        assert self._keeper is not None
        self._keeper.replace(preset.name, self._system, self._options)

    def _rename(self, preset: Preset, name: str) -> None:
        assert self._keeper is not None
        self._keeper.rename(preset.name, name)

    def _delete(self, preset: Preset) -> None:
        assert self._keeper is not None
        self._keeper.delete(preset.name)
        self._show_note(
            tr("“{name}” was deleted; this chat keeps its settings.").format(name=preset.name), deleted=preset
        )

    def _undo(self) -> None:
        assert self._keeper is not None
        if self._deleted is not None:
            self._keeper.restore(self._deleted)
        self._show_note("")
        self.button.setFocus()

    def _begin_naming(self, name: str, use_name: Callable[[str], None]) -> None:
        self._use_name = use_name
        self._show_note("")
        self.button.hide()
        self.name.setText(name)
        self.name.show()
        self.name.selectAll()
        self.name.setFocus()

    def _commit_name(self) -> None:
        try:
            self._use_name(self.name.text())
        except ValueError as error:
            self._show_note(str(error), role="error")
            return
        self._end_naming()

    def _end_naming(self) -> None:
        self._show_note("")
        self.name.hide()
        self.button.show()
        self.button.setFocus()

    def _show_note(self, text: str, role: str = "caption", deleted: Preset | None = None) -> None:
        self._deleted = deleted
        restyle(self.note, "role", role)
        self.note.setText(text)
        self.note.setVisible(bool(text))
        self.undo.setVisible(deleted is not None)
        self.name.setAccessibleDescription(text)
