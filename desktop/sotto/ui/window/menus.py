"""The menus of the main window: every action has its place and its keys here."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPlainTextEdit, QTextEdit

from sotto.ui.preferences.preferences import LARGEST_ZOOM, SMALLEST_ZOOM

if TYPE_CHECKING:
    from sotto.ui.window.main_window import MainWindow

_Keys = QKeySequence.StandardKey
_ZOOM_STEP = 1.1


class Menus(QObject):
    """Fills a window's menu bar.

    Attributes:
        eject: Of use while a model is loaded.
        stop: Of use while something can be stopped.
    """

    def __init__(self, window: "MainWindow") -> None:
        """Make every menu of `window`."""
        super().__init__(window)
        self._window = window
        self._make_file()
        self._make_edit()
        self._make_view()
        self._make_help()

    def actions(self) -> list[QAction]:
        """Return every action, in order."""
        menus = [action.menu() for action in self._window.menuBar().actions()]
        return [action for menu in menus if isinstance(menu, QMenu) for action in menu.actions() if action.text()]

    def _make_file(self) -> None:
        window, dialogs = self._window, self._window.dialogs
        menu = window.menuBar().addMenu("&File")
        self._add(menu, "New Chat", window.dialogue.new_chat, _Keys.New)
        self._add(menu, "Quick Prompt", window.quick_wanted.emit, "Ctrl+Shift+Space")
        self._add(menu, "New Chat Folder", window.shelf.add_folder, "Ctrl+Shift+N")
        self._add(menu, "Open Model…", dialogs.choose_model, _Keys.Open)
        self._add(menu, "Open Model Folder…", dialogs.choose_model_folder, "Ctrl+Shift+O")
        self._add(menu, "Add Folder of Models…", window.desk.choose_folder)
        self._add(menu, "Get a Model…", window.desk.getting.open, "Ctrl+D")
        self._add(menu, "Rescan Models", window.session.rescan, "Ctrl+R")
        menu.addSeparator()
        self._add(menu, "Attach Files…", dialogs.choose_attachments, "Ctrl+Shift+A")
        menu.addSeparator()
        self._add(menu, "Import Chats…", dialogs.choose_import)
        self._add(menu, "Export All Chats…", dialogs.choose_export)
        menu.addSeparator()
        self.eject = self._add(menu, "Eject Model", window.session.eject, "Ctrl+E")
        menu.addSeparator()
        settings = self._add(menu, "Settings…", dialogs.show_settings, _Keys.Preferences)
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        if settings.shortcut().isEmpty():
            settings.setShortcut("Ctrl+,")
        self._add(menu, "Close Window", window.close, "Ctrl+W")
        leave = self._add(menu, "Quit Sotto", window.quit_wanted.emit, _Keys.Quit)
        leave.setMenuRole(QAction.MenuRole.QuitRole)
        if not leave.shortcut():
            leave.setShortcut("Ctrl+Q")

    def _make_edit(self) -> None:
        window = self._window
        menu = window.menuBar().addMenu("&Edit")
        for text, key, method in (
            ("Undo", _Keys.Undo, "undo"),
            ("Redo", _Keys.Redo, "redo"),
            ("Cut", _Keys.Cut, "cut"),
            ("Copy", _Keys.Copy, "copy"),
            ("Paste", _Keys.Paste, "paste"),
            ("Select All", _Keys.SelectAll, "selectAll"),
        ):
            # Shown only: the field with the caret has these keys already, and must keep them.
            action = self._add(menu, text, _in_field(method), key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            if text == "Redo":
                menu.addSeparator()
        menu.addSeparator()
        self._add(menu, "Find in Chat", window.chat.find_bar.open, _Keys.Find)
        self._add(menu, "Search Chats and Models", window.sidebar.search.setFocus, "Ctrl+Shift+F")
        self._add(menu, "Go to Models", window.desk.panel.focus_chosen, "Ctrl+L")

    def _make_view(self) -> None:
        window = self._window
        menu = window.menuBar().addMenu("&View")
        self._add(menu, "Larger Text", lambda: self._zoom(_ZOOM_STEP), _Keys.ZoomIn)
        self._add(menu, "Smaller Text", lambda: self._zoom(1 / _ZOOM_STEP), _Keys.ZoomOut)
        self._add(menu, "Normal Text", lambda: self._zoom(0), "Ctrl+0")
        menu.addSeparator()
        self._add(menu, "Command Palette", window.commands.open, "Ctrl+K").setObjectName("palette")
        self._add(menu, "Settings of This Chat", window.chat.toggle_choices, "Ctrl+Shift+,")
        self.stop = self._add(menu, "Stop", window.stop, "Esc")

    def _make_help(self) -> None:
        menu = self._window.menuBar().addMenu("&Help")
        about = self._add(menu, "About Sotto", self._window.dialogs.show_about)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    def _zoom(self, factor: float) -> None:
        """Make all text larger by `factor`, or as large as the system asks for at 0."""
        chosen = self._window.preferences
        zoom = chosen.values.zoom * factor if factor else 1.0
        chosen.change(zoom=min(LARGEST_ZOOM, max(SMALLEST_ZOOM, zoom)))

    def _add(
        self, menu: QMenu, text: str, act: Callable[[], object], keys: QKeySequence.StandardKey | str | None = None
    ) -> QAction:
        made = QAction(text, self._window)
        made.setMenuRole(QAction.MenuRole.NoRole)
        if keys is not None:
            made.setShortcut(QKeySequence(keys))
        made.triggered.connect(lambda: act())
        menu.addAction(made)
        return made


def _in_field(method: str) -> Callable[[], None]:
    def act() -> None:
        field = QApplication.focusWidget()
        if isinstance(field, QLineEdit | QPlainTextEdit | QTextEdit):
            getattr(field, method)()

    return act
