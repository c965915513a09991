"""The menus of the main window: every action has its place and its keys here."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QMenuBar, QPlainTextEdit, QTextEdit

from sotto.ui.preferences.preferences import MAX_ZOOM, MIN_ZOOM, PreferenceStore
from sotto.ui.window.actions import Action, WindowActions

_Keys = QKeySequence.StandardKey
_ZOOM_STEP = 1.1


class Menus(QObject):
    """Fills a window's menu bar.

    Attributes:
        eject: Of use while a model is loaded.
        stop: Of use while something can be stopped.
    """

    def __init__(self, bar: QMenuBar, actions: WindowActions, preferences: PreferenceStore) -> None:
        """Fill `bar` with what `actions` do; the size of text is one of the `preferences`."""
        super().__init__(bar)
        self._bar, self._do, self._preferences = bar, actions, preferences
        self._make_file()
        self._make_edit()
        self._make_view()
        self._make_help()

    def actions(self) -> list[QAction]:
        """Return every action, in order."""
        menus = [action.menu() for action in self._bar.actions()]
        return [action for menu in menus if isinstance(menu, QMenu) for action in menu.actions() if action.text()]

    def _make_file(self) -> None:
        do, menu = self._do, self._bar.addMenu("&File")
        self._add(menu, "New Chat", do.new_chat, _Keys.New)
        self._add(menu, "Quick Prompt", do.quick_prompt, "Ctrl+Shift+Space")
        self._add(menu, "New Chat Folder", do.new_chat_folder, "Ctrl+Shift+N")
        self._add(menu, "Open Model…", do.open_model, _Keys.Open)
        self._add(menu, "Open Model Folder…", do.open_model_folder, "Ctrl+Shift+O")
        self._add(menu, "Add Folder of Models…", do.add_folder_of_models)
        self._add(menu, "Get a Model…", do.get_model, "Ctrl+D")
        self._add(menu, "Rescan Models", do.rescan_models, "Ctrl+R")
        menu.addSeparator()
        self._add(menu, "Attach Files…", do.attach_files, "Ctrl+Shift+A")
        menu.addSeparator()
        self._add(menu, "Import Chats…", do.import_chats)
        self._add(menu, "Export All Chats…", do.export_all_chats)
        menu.addSeparator()
        self.eject = self._add(menu, "Eject Model", do.eject_model, "Ctrl+E")
        menu.addSeparator()
        settings = self._add(menu, "Settings…", do.settings, _Keys.Preferences)
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        if settings.shortcut().isEmpty():
            settings.setShortcut("Ctrl+,")
        self._add(menu, "Close Window", do.close_window, "Ctrl+W")
        leave = self._add(menu, "Quit Sotto", do.quit, _Keys.Quit)
        leave.setMenuRole(QAction.MenuRole.QuitRole)
        if not leave.shortcut():
            leave.setShortcut("Ctrl+Q")

    def _make_edit(self) -> None:
        do, menu = self._do, self._bar.addMenu("&Edit")
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
        self._add(menu, "Find in Chat", do.find_in_chat, _Keys.Find)
        self._add(menu, "Search Chats and Models", do.search, "Ctrl+Shift+F")
        self._add(menu, "Go to Models", do.go_to_models, "Ctrl+L")

    def _make_view(self) -> None:
        do, menu = self._do, self._bar.addMenu("&View")
        self._add(menu, "Larger Text", lambda: self._zoom(_ZOOM_STEP), _Keys.ZoomIn)
        self._add(menu, "Smaller Text", lambda: self._zoom(1 / _ZOOM_STEP), _Keys.ZoomOut)
        self._add(menu, "Normal Text", lambda: self._zoom(0), "Ctrl+0")
        menu.addSeparator()
        self._add(menu, "Command Palette", do.command_palette, "Ctrl+K").setObjectName("palette")
        self._add(menu, "Settings of This Chat", do.chat_settings, "Ctrl+Shift+,")
        self.stop = self._add(menu, "Stop", do.stop, "Esc")

    def _make_help(self) -> None:
        about = self._add(self._bar.addMenu("&Help"), "About Sotto", self._do.about)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    def _zoom(self, factor: float) -> None:
        """Make all text larger by `factor`, or as large as the system asks for at 0."""
        zoom = self._preferences.values.zoom * factor if factor else 1.0
        self._preferences.change(zoom=min(MAX_ZOOM, max(MIN_ZOOM, zoom)))

    def _add(self, menu: QMenu, text: str, act: Action, keys: QKeySequence.StandardKey | str | None = None) -> QAction:
        # Its keys work all over the window that the bar belongs to.
        made = QAction(text, self._bar.window())
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
