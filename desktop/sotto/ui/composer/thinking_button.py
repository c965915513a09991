"""Whether the model thinks first, as a button with the choices that there are."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu

from sotto.engine.contract.events import ModelInfo
from sotto.engine.contract.requests import Think
from sotto.ui.preferences.answer_options import THINK_LABELS, THINKING_TIP, is_think_option, think_choices
from sotto.ui.toolkit.number import Origin
from sotto.ui.toolkit.widgets import IconButton, add_action, popup

_CANNOT = "This model cannot be asked to think."
_AS_IT_DOES = "As the model does"


class ThinkingButton(IconButton):
    """What is chosen, and in its menu what can be.

    Signals:
        chosen: What was chosen (`Think`); None to choose nothing here.
    """

    chosen = Signal(object)

    def __init__(self, *, brief: bool = False) -> None:
        """Show that nothing is chosen; `brief` where there is hardly room for words."""
        super().__init__("thought", "Thinking", " ", "quiet" if brief else "outlined", tip=THINKING_TIP)
        self._brief = brief
        self._info: ModelInfo | None = None
        self._own: Think | None = None
        self._inherited: Think | None = None
        self._settles = True
        self.clicked.connect(lambda: popup(self.menu(), self.mapToGlobal(self.rect().bottomLeft())))
        self._show()

    @property
    def value(self) -> Think | None:
        """What is chosen here; None for nothing."""
        return self._own

    @property
    def held(self) -> Think | None:
        """What holds, wherever it was chosen; None as the model does by itself."""
        return self._own if self._own is not None else self._inherited

    @property
    def origin(self) -> Origin:
        """Where that comes from."""
        if self._own is not None:
            return Origin.HERE
        return Origin.SETTINGS if self._inherited is not None else Origin.MODEL

    @property
    def refusal(self) -> str:
        """Why nothing can be chosen for the model that is loaded; empty where something can."""
        return _CANNOT if self._info is not None and not self._info.thinks else ""

    def show_model(self, info: ModelInfo | None) -> None:
        """Offer what the loaded model can do; None where none is loaded."""
        self._info = info
        self._show()

    def show_choices(self, own: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> None:
        """Show what is chosen in a chat.

        Args:
            own: What is chosen here, by name.
            settings: What holds for every chat; None where this is chosen here.
        """
        self._own = _read(own)
        self._inherited, self._settles = _read(settings or {}), settings is None
        self._show()

    def menu(self) -> QMenu:
        """Return what can be chosen."""
        menu = QMenu(self)
        group = QActionGroup(menu)
        usual = _AS_IT_DOES if self._inherited is None else f"As the settings say: {THINK_LABELS[self._inherited]}"
        choices: list[tuple[Think | None, str]] = [(None, usual)]
        known = (*THINK_LABELS,) if self._settles else think_choices(self._info, self._own)
        choices += [(one, THINK_LABELS[one]) for one in known]
        for value, text in choices:
            action = add_action(menu, text, partial(self.chosen.emit, value))
            action.setCheckable(True)
            action.setChecked(value == self._own)
            group.addAction(action)
        return menu

    def _show(self) -> None:
        said = _AS_IT_DOES if self.held is None else THINK_LABELS[self.held]
        brief = "Think" if self.held is None else f"Think: {said.lower()}"
        self.setText(f" {brief if self._brief else f'{said} ▾'}")
        self.setAccessibleName(f"Thinking: {said}")
        self.setEnabled(not self.refusal)
        self.setToolTip(self.refusal or THINKING_TIP)
        self.setAccessibleDescription(self.refusal or THINKING_TIP)


def _read(options: Mapping[str, Any]) -> Think | None:
    return Think(options["think"]) if is_think_option(options.get("think")) else None
