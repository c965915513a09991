"""The item in the menu bar or tray: how the model stands in words, and the way to everything without a window.

Its menu is made of plain values, each of which says what it does; whoever shows them draws nothing else.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from sotto.paths import resources_dir
from sotto.runner.residents import same
from sotto.store.records import ModelRecord
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import short_name

# A desktop may get a tray later than the app starts.
_LOOK_MS = 5000
_MOST_RECENT = 5


class Do(StrEnum):
    """What an entry does."""

    NOTHING = "nothing"
    LINE = "line"
    WINDOW = "window"
    NEW_CHAT = "new chat"
    QUICK = "quick prompt"
    LOAD = "load"
    EJECT = "eject"
    QUIT = "quit"


_IN_DOCK = (Do.NEW_CHAT, Do.QUICK, Do.LOAD)


@dataclass(frozen=True, slots=True)
class TrayEntry:
    """An entry of the menu.

    Attributes:
        text: What it says.
        does: What it does; `nothing` for words alone, `line` for a line between entries.
        model: The model that it loads.
        checked: Whether that is the one in use.
        keys: The keys that do the same, to be shown.
    """

    text: str
    does: Do
    model: ModelRecord | None = None
    checked: bool = False
    keys: str = ""


def state_words(state: ModelState) -> str:
    """Return the model and how it stands: `qwen3 · ready`."""
    if state.record is None:
        return "No model"
    doing = {
        Phase.FOUND: "not loaded",
        Phase.LOADING: "loading",
        Phase.READY: "ready",
        Phase.GENERATING: "answering",
        Phase.UNLOADING: "ejecting",
        Phase.FAILED: "could not be loaded",
    }.get(state.phase, "not loaded")
    percent = f" {round(100 * state.fraction)} %" if state.phase is Phase.LOADING and state.fraction is not None else ""
    return f"{short_name(state.record.name)} · {doing}{percent}"


def recent(models: Sequence[ModelRecord], names: Sequence[str]) -> tuple[ModelRecord, ...]:
    """Return the models that were used last, as far as they are there, the last one first."""
    by_name = {model.name: model for model in reversed(models) if model.runnable}
    return tuple(by_name[name] for name in names if name in by_name)[:_MOST_RECENT]


def noted(names: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the names of the models that were used last, now that one is used."""
    return (name, *(other for other in names if other != name))[:_MOST_RECENT]


def entries(state: ModelState, models: Sequence[ModelRecord], shortcut: str = "") -> tuple[TrayEntry, ...]:
    """Return the menu.

    Args:
        state: How the model stands.
        models: Those that were used last.
        shortcut: The keys of the quick prompt; empty for none.
    """
    line = TrayEntry("", Do.LINE)
    used = state.record if state.loaded or state.phase is Phase.LOADING else None
    rows = [
        TrayEntry(short_name(model.name), Do.LOAD, model, checked=used is not None and same(model, used))
        for model in models
    ]
    return (
        TrayEntry(state_words(state), Do.NOTHING),
        *((TrayEntry("Eject Model", Do.EJECT),) if state.loaded else ()),
        *((line, *rows) if rows else ()),
        line,
        TrayEntry("Quick Prompt", Do.QUICK, keys=shortcut),
        TrayEntry("New Chat", Do.NEW_CHAT),
        TrayEntry("Open Sotto", Do.WINDOW),
        line,
        TrayEntry("Quit Sotto", Do.QUIT),
    )


def fill(menu: QMenu, rows: Sequence[TrayEntry], spell: Callable[[str], str]) -> None:
    """Let a menu show entries, each of which is the data of its action.

    Where they only read differently now, the actions stay: a menu that is open in a panel loses no click then.

    Args:
        menu: The menu.
        rows: The entries.
        spell: Writes a text so that the menu shows it as it is.
    """
    if [_does(action.data()) for action in menu.actions()] != [_does(row) for row in rows]:
        menu.clear()
        for row in rows:
            if row.does is Do.LINE:
                menu.addSeparator()
            else:
                menu.addAction("").setCheckable(row.model is not None)
    for action, row in zip(menu.actions(), rows, strict=True):
        action.setData(row)
        if row.does is not Do.LINE:
            action.setText(spell(row.text) + (f"\t{row.keys}" if row.keys else ""))
            action.setEnabled(row.does is not Do.NOTHING)
            action.setChecked(row.checked)


def _does(row: TrayEntry) -> tuple[Do, str]:
    return row.does, row.model.name if row.model is not None else ""


def spelled(text: str) -> str:
    """Write a text so that a menu of Qt's shows it as it is."""
    return text.replace("&", "&&")


def spelled_for_panel(text: str) -> str:
    """Write a text so that a panel shows it as it is, in a menu that Qt hands on as `com.canonical.dbusmenu`.

    There two underscores are one and a single one marks a key, as the first ampersand does that Qt finds: an extra one
    stands for the others.
    """
    return ("&" if "&" in text else "") + text.replace("_", "__")


def template_icon() -> QIcon:
    """Return the icon of a menu bar, black and see-through, which the system colours."""
    icon = QIcon(str(resources_dir() / "icons" / "sotto-symbolic.svg"))
    icon.setIsMask(True)
    return icon


def tray_icon() -> QIcon:
    """Return the icon for the desktop at hand.

    Where one that the desktop can colour is not installed, the app's own is: black would be lost on a dark panel.
    """
    if sys.platform == "darwin":
        return template_icon()
    return QIcon.fromTheme("app.sotto-symbolic", QIcon(str(resources_dir() / "icons" / "sotto-256.png")))


class Tray(QObject):
    """The item, as soon as there is a place for it.

    Signals:
        wanted: An entry was chosen (`TrayEntry`).
    """

    wanted = Signal(object)

    def __init__(self, read: Callable[[], tuple[TrayEntry, ...]], parent: QObject | None = None) -> None:
        """Show what `read` returns whenever the menu is opened."""
        super().__init__(parent)
        self._read = read
        self._icon: QSystemTrayIcon | None = None
        self._menu: QMenu | None = None
        self._dock = _dock_menu()
        if self._dock is not None:
            self._dock.triggered.connect(self._choose)
        self._looks = QTimer(self, interval=_LOOK_MS)
        self._looks.timeout.connect(self.look)

    @property
    def there(self) -> bool:
        """Whether the item can be seen, so that the app is reachable without a window."""
        return self._icon is not None and QSystemTrayIcon.isSystemTrayAvailable()

    @Slot()
    def look(self) -> None:
        """Show the item if there is a place for it, and look again later if there is none."""
        if self._icon is not None:
            return
        if not QSystemTrayIcon.isSystemTrayAvailable():
            self._looks.start()
            return
        self._looks.stop()
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
        """Take note that what the menu shows is another now."""
        rows = self._read()
        if self._icon is not None and self._menu is not None:
            # A panel that shows the item and its menu by itself tells nobody where they are.
            by_panel = sys.platform.startswith("linux") and self._icon.geometry().isEmpty()
            fill(self._menu, rows, spelled_for_panel if by_panel else spelled)
            self._icon.setToolTip(f"Sotto: {rows[0].text}")
        if self._dock is not None:
            fill(self._dock, [row for row in rows if row.does in _IN_DOCK], spelled)

    def tell(self, title: str, message: str) -> bool:
        """Say something at the item; return whether that can be seen."""
        if self._icon is None or not QSystemTrayIcon.supportsMessages():
            return False
        self._icon.showMessage(title, message, tray_icon())
        return True

    def close(self) -> None:
        """Take the item away."""
        self._looks.stop()
        if self._icon is not None:
            self._icon.hide()

    @Slot(QAction)
    def _choose(self, action: QAction) -> None:
        self.wanted.emit(action.data())

    @Slot(QSystemTrayIcon.ActivationReason)
    def _activate(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        # macOS opens the menu at any click.
        if reason == QSystemTrayIcon.ActivationReason.Trigger and sys.platform != "darwin":
            self.wanted.emit(TrayEntry("Open Sotto", Do.WINDOW))


def _dock_menu() -> QMenu | None:
    """Return the menu of the app's icon in the Dock; None where there is no Dock."""
    menu = QMenu() if hasattr(QMenu, "setAsDockMenu") else None
    if menu is not None:
        menu.setAsDockMenu()  # type: ignore[attr-defined,unused-ignore]
    return menu
