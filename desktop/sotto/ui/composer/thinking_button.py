"""The button that chooses whether the model thinks before it answers."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu

from sotto.engine.contract.events import ModelInfo
from sotto.engine.contract.requests import Think
from sotto.ui.preferences.answer_options import THINK_LABELS, THINKING_TIP, is_think_option, think_choices
from sotto.ui.toolkit.number import Origin
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import IconButton, add_choices, popup

_BRIEF: Mapping[Think, str] = {
    Think.ON: QT_TR_NOOP("Think: on"),
    Think.OFF: QT_TR_NOOP("Think: off"),
    Think.LOW: QT_TR_NOOP("Think: low"),
    Think.MEDIUM: QT_TR_NOOP("Think: medium"),
    Think.HIGH: QT_TR_NOOP("Think: high"),
    Think.MAX: QT_TR_NOOP("Think: max"),
}


class ThinkingButton(IconButton):
    """A button with the current choice, and a menu of all choices.

    Signals:
        chosen: The user's choice (`Think`); None for the default.
    """

    chosen = Signal(object)

    def __init__(self, *, brief: bool = False) -> None:
        """Create the button with nothing chosen; `brief` shortens its text."""
        super().__init__("thought", tr("Thinking"), " ", "quiet" if brief else "outlined", tip=tr(THINKING_TIP))
        self._brief = brief
        self._info: ModelInfo | None = None
        self._own: Think | None = None
        self._inherited: Think | None = None
        # Whether the choice is for all chats and models, rather than for one chat.
        self._is_setting = True
        self.clicked.connect(lambda: popup(self.menu(), self.mapToGlobal(self.rect().bottomLeft())))
        self._show()

    @property
    def value(self) -> Think | None:
        """The choice made here; None for the default."""
        return self._own

    @property
    def effective(self) -> Think | None:
        """The choice that applies, made here or in the settings; None for the model's default."""
        return self._own if self._own is not None else self._inherited

    @property
    def origin(self) -> Origin:
        """Where the choice that applies comes from."""
        if self._own is not None:
            return Origin.HERE
        return Origin.SETTINGS if self._inherited is not None else Origin.MODEL

    @property
    def refusal(self) -> str:
        """Why nothing can be chosen for the loaded model; empty if something can."""
        return tr("No thinking mode") if self._info is not None and not self._info.thinks else ""

    def show_model(self, info: ModelInfo | None) -> None:
        """Offer the choices of the loaded model; None if no model is loaded."""
        self._info = info
        self._show()

    def show_choices(self, own: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> None:
        """Show the current choice.

        Args:
            own: Options that are set here, by name.
            settings: Options that apply to chats without their own; None if this button is part of the settings.
        """
        self._own = _think_option(own)
        self._inherited, self._is_setting = _think_option(settings or {}), settings is None
        self._show()

    def menu(self) -> QMenu:
        """Return the menu of choices."""
        menu = QMenu(self)
        default = tr("Default")
        if self._inherited is not None:
            default = tr("From Settings: {choice}").format(choice=tr(THINK_LABELS[self._inherited]))
        choices: list[tuple[Think | None, str]] = [(None, default)]
        values = (*THINK_LABELS,) if self._is_setting else think_choices(self._info, self._own)
        choices += [(value, tr(THINK_LABELS[value])) for value in values]
        add_choices(menu, choices, lambda value: value == self._own, self.chosen.emit)
        return menu

    def _show(self) -> None:
        choice = self.effective
        words = tr("Default") if choice is None else tr(THINK_LABELS[choice])
        brief = tr("Think") if choice is None else tr(_BRIEF[choice])
        self.setText(f" {brief if self._brief else f'{words} ▾'}")
        self.setAccessibleName(tr("Thinking: {choice}").format(choice=words))
        self.setEnabled(not self.refusal)
        tip = self.refusal or tr(THINKING_TIP)
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)


def _think_option(options: Mapping[str, Any]) -> Think | None:
    return Think(options["think"]) if is_think_option(options.get("think")) else None
