"""The icon in the tray or menu bar, whose menu shows the state of the model and works without a window.

The menu is described by plain values, each of which names its action.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from sotto.paths import resources_dir
from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import join_facts, short_name
from sotto.ui.toolkit.translation import tr

# A desktop may start its tray after the app.
_RETRY_MS = 5000
_MAX_RECENT = 5


class TrayAction(StrEnum):
    """What a menu entry does."""

    NOTHING = "nothing"
    LINE = "line"
    WINDOW = "window"
    NEW_CHAT = "new chat"
    QUICK = "quick prompt"
    LOAD = "load"
    EJECT = "eject"
    QUIT = "quit"


_DOCK_ACTIONS = (TrayAction.NEW_CHAT, TrayAction.QUICK, TrayAction.LOAD)


@dataclass(frozen=True, slots=True)
class TrayEntry:
    """An entry of the menu.

    Attributes:
        text: The text.
        action: What it does; `nothing` for a text alone, `line` for a separator.
        model: The model that it loads.
        checked: Whether this model is in use.
        keys: The keyboard shortcut to display; empty for none.
    """

    text: str
    action: TrayAction
    model: ModelRecord | None = None
    checked: bool = False
    keys: str = ""


def state_text(state: ModelState) -> str:
    """Return the name and the state of the model: `qwen3 · ready`."""
    if state.record is None:
        return tr("No model")
    doing = {
        Phase.FOUND: tr("not loaded"),
        Phase.LOADING: tr("loading"),
        Phase.READY: tr("ready"),
        Phase.GENERATING: tr("answering"),
        Phase.UNLOADING: tr("ejecting"),
        Phase.FAILED: tr("could not be loaded"),
    }.get(state.phase, tr("not loaded"))
    percent = f" {round(100 * state.fraction)} %" if state.phase is Phase.LOADING and state.fraction is not None else ""
    return join_facts((short_name(state.record.name), f"{doing}{percent}"))


def recent_models(models: Sequence[ModelRecord], names: Sequence[str]) -> tuple[ModelRecord, ...]:
    """Return the models of these names that exist and can run, in the order of the names."""
    by_name = {model.name: model for model in reversed(models) if model.runnable}
    return tuple(by_name[name] for name in names if name in by_name)[:_MAX_RECENT]


def menu_entries(state: ModelState, models: Sequence[ModelRecord], shortcut: str = "") -> tuple[TrayEntry, ...]:
    """Return the entries of the menu.

    Args:
        state: The state of the model in use.
        models: The recently used models.
        shortcut: The keyboard shortcut of the quick prompt; empty for none.
    """
    line = TrayEntry("", TrayAction.LINE)
    used = state.record if state.loaded or state.phase is Phase.LOADING else None
    rows = [
        TrayEntry(
            short_name(model.name), TrayAction.LOAD, model, checked=used is not None and is_same_model(model, used)
        )
        for model in models
    ]
    return (
        TrayEntry(state_text(state), TrayAction.NOTHING),
        *((TrayEntry(tr("Eject Model"), TrayAction.EJECT),) if state.loaded else ()),
        *((line, *rows) if rows else ()),
        line,
        TrayEntry(tr("Quick Prompt"), TrayAction.QUICK, keys=shortcut),
        TrayEntry(tr("New Chat"), TrayAction.NEW_CHAT),
        TrayEntry(tr("Open Sotto"), TrayAction.WINDOW),
        line,
        TrayEntry(tr("Quit Sotto"), TrayAction.QUIT),
    )


def fill_menu(menu: QMenu, rows: Sequence[TrayEntry], escape: Callable[[str], str]) -> None:
    """Fill a menu with entries, each of which becomes the data of its action.

    If only texts have changed, the existing actions are kept, so that a click in an open menu is not lost.

    Args:
        menu: The menu.
        rows: The entries.
        escape: Escapes a text so that the menu shows it unchanged.
    """
    if [_key(action.data()) for action in menu.actions()] != [_key(row) for row in rows]:
        menu.clear()
        for row in rows:
            if row.action is TrayAction.LINE:
                menu.addSeparator()
            else:
                menu.addAction("").setCheckable(row.model is not None)
    for action, row in zip(menu.actions(), rows, strict=True):
        action.setData(row)
        if row.action is not TrayAction.LINE:
            action.setText(escape(row.text) + (f"\t{row.keys}" if row.keys else ""))
            action.setEnabled(row.action is not TrayAction.NOTHING)
            action.setChecked(row.checked)


def _key(row: TrayEntry) -> tuple[TrayAction, str]:
    return row.action, row.model.name if row.model is not None else ""


def escape(text: str) -> str:
    """Escape a text for a Qt menu, in which an ampersand marks a mnemonic."""
    return text.replace("&", "&&")


def escape_for_panel(text: str) -> str:
    """Escape a text for a menu that Qt exports to a desktop panel as `com.canonical.dbusmenu`.

    In this protocol an underscore marks a mnemonic, and two stand for one. Qt takes the first ampersand as the mark of
    a mnemonic and keeps all others, so one is added at the beginning.
    """
    # WORKAROUND: Qt converts only the first ampersand. Once it converts all, they must be doubled as in `escape`.
    return ("&" if "&" in text else "") + text.replace("_", "__")


def template_icon() -> QIcon:
    """Return the icon for a menu bar, black on transparent, which the system recolours."""
    icon = QIcon(str(resources_dir() / "icons" / "sotto-symbolic.svg"))
    icon.setIsMask(True)
    return icon


def tray_icon() -> QIcon:
    """Return the icon for the current desktop.

    If no symbolic icon is installed that the desktop can recolour, the app's colour icon is used, because a black one
    would be invisible on a dark panel.
    """
    if sys.platform == "darwin":
        return template_icon()
    return QIcon.fromTheme("app.sotto-symbolic", QIcon(str(resources_dir() / "icons" / "sotto-256.png")))


class Tray(QObject):
    """The tray icon, which is shown as soon as the desktop has a tray.

    Signals:
        chosen: The user has chosen an entry (`TrayEntry`).

    Attributes:
        retry_timer: Runs while the desktop has no tray.
    """

    chosen = Signal(object)

    def __init__(self, read: Callable[[], tuple[TrayEntry, ...]], parent: QObject | None = None) -> None:
        """Show the entries that `read` returns, which is called whenever the menu is opened."""
        super().__init__(parent)
        self._read_entries = read
        self._icon: QSystemTrayIcon | None = None
        self._menu: QMenu | None = None
        self._dock = _dock_menu()
        if self._dock is not None:
            self._dock.triggered.connect(self._choose)
        self.retry_timer = QTimer(self, interval=_RETRY_MS)
        self.retry_timer.timeout.connect(self.try_to_show)

    @property
    def is_visible(self) -> bool:
        """Whether the icon is visible, so that the app can be used without a window."""
        return self._icon is not None and QSystemTrayIcon.isSystemTrayAvailable()

    @Slot()
    def try_to_show(self) -> None:
        """Show the icon if the desktop has a tray, otherwise try again later."""
        if self._icon is not None:
            return
        if not QSystemTrayIcon.isSystemTrayAvailable():
            self.retry_timer.start()
            return
        self.retry_timer.stop()
        self._menu = QMenu()
        self._menu.aboutToShow.connect(self.refresh)
        self._menu.triggered.connect(self._choose)
        self._icon = QSystemTrayIcon(tray_icon(), self)
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._activate)
        self._icon.show()
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Update the menu and the tip."""
        rows = self._read_entries()
        if self._icon is not None and self._menu is not None:
            # The icon has no geometry if a panel displays it and its menu over D-Bus.
            by_panel = sys.platform.startswith("linux") and self._icon.geometry().isEmpty()
            fill_menu(self._menu, rows, escape_for_panel if by_panel else escape)
            self._icon.setToolTip(f"Sotto: {rows[0].text}")
        if self._dock is not None:
            fill_menu(self._dock, [row for row in rows if row.action in _DOCK_ACTIONS], escape)

    def show_message(self, title: str, message: str) -> bool:
        """Show a message at the icon; return False if the desktop shows no messages."""
        if self._icon is None or not QSystemTrayIcon.supportsMessages():
            return False
        self._icon.showMessage(title, message, tray_icon())
        return True

    def close(self) -> None:
        """Remove the icon."""
        self.retry_timer.stop()
        if self._icon is not None:
            self._icon.hide()

    @Slot(QAction)
    def _choose(self, action: QAction) -> None:
        self.chosen.emit(action.data())

    @Slot(QSystemTrayIcon.ActivationReason)
    def _activate(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        # macOS opens the menu at any click.
        if reason == QSystemTrayIcon.ActivationReason.Trigger and sys.platform != "darwin":
            self.chosen.emit(TrayEntry(tr("Open Sotto"), TrayAction.WINDOW))


def _dock_menu() -> QMenu | None:
    """Return the menu of the app's Dock icon; None if the system has no Dock."""
    menu = QMenu() if hasattr(QMenu, "setAsDockMenu") else None
    if menu is not None:
        menu.setAsDockMenu()  # type: ignore[attr-defined,unused-ignore]
    return menu
