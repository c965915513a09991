"""The menus of the main window, with the keyboard shortcuts of all actions."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QMenuBar, QPlainTextEdit, QTextEdit

from sotto.ui.preferences.preferences import MAX_ZOOM, MIN_ZOOM, PreferenceStore
from sotto.ui.toolkit.widgets import round_corners
from sotto.ui.transfer.chat_exporting import Form
from sotto.ui.window.actions import Action, WindowActions

_Keys = QKeySequence.StandardKey
_ZOOM_STEP = 1.1


class Menus(QObject):
    """Fills a window's menu bar.

    Attributes:
        eject: The action to eject the model, enabled while one is loaded.
        stop: The action to stop an answer or load, enabled while one is under way.
        local_server: The action to show the local server, enabled if there is one.
    """

    def __init__(self, bar: QMenuBar, actions: WindowActions, preferences: PreferenceStore) -> None:
        """Fill `bar` with `actions`; the entries for the text size change the `preferences`."""
        super().__init__(bar)
        self._bar, self._actions, self._preferences = bar, actions, preferences
        self._make_file()
        self._make_edit()
        self._make_view()
        self._make_help()

    def actions(self) -> list[QAction]:
        """Return all actions, in order, also those of submenus."""
        return list(_actions_below(self._bar.actions()))

    def _make_file(self) -> None:
        actions, menu = self._actions, self._add_menu("&File")
        self._add(menu, "New Chat", actions.new_chat, _Keys.New)
        self._add(menu, "Quick Prompt", actions.quick_prompt, "Ctrl+Shift+Space")
        self._add(menu, "New Chat Folder", actions.new_chat_folder, "Ctrl+Shift+N")
        self._add(menu, "Open Model…", actions.open_model, _Keys.Open)
        self._add(menu, "Open Model Folder…", actions.open_model_folder, "Ctrl+Shift+O")
        self._add(menu, "Add Model Folder…", actions.add_folder_of_models)
        self._add(menu, "Get a Model…", actions.get_model, "Ctrl+D")
        self._add(menu, "Manage Models…", actions.manage_models, "Ctrl+Shift+M")
        self._add(menu, "Rescan Models", actions.rescan_models, "Ctrl+R")
        menu.addSeparator()
        self._add(menu, "Attach Files…", actions.attach_files, "Ctrl+Shift+A")
        menu.addSeparator()
        self._add(menu, "Import Chats…", actions.import_chats)
        self._add(menu, "Import Chat Folder…", actions.import_chat_folder)
        export = menu.addMenu("Export Chat")
        for form in Form:
            self._add(export, f"Export as {form.label}…", partial(actions.export_chat, form))
        self._add(menu, "Export All Chats…", actions.export_all_chats)
        self._add(menu, "Print…", actions.print_chat, _Keys.Print)
        menu.addSeparator()
        self.eject = self._add(menu, "Eject Model", actions.eject_model, "Ctrl+E")
        menu.addSeparator()
        settings = self._add(menu, "Settings…", actions.settings, _Keys.Preferences)
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        if settings.shortcut().isEmpty():
            settings.setShortcut("Ctrl+,")
        self._add(menu, "Close Window", actions.close_window, "Ctrl+W")
        leave = self._add(menu, "Quit Sotto", actions.quit, _Keys.Quit)
        leave.setMenuRole(QAction.MenuRole.QuitRole)
        if not leave.shortcut():
            leave.setShortcut("Ctrl+Q")

    def _make_edit(self) -> None:
        actions, menu = self._actions, self._add_menu("&Edit")
        for text, key, method in (
            ("Undo", _Keys.Undo, "undo"),
            ("Redo", _Keys.Redo, "redo"),
            ("Cut", _Keys.Cut, "cut"),
            ("Copy", _Keys.Copy, "copy"),
            ("Paste", _Keys.Paste, "paste"),
            ("Select All", _Keys.SelectAll, "selectAll"),
        ):
            # The shortcut is only displayed: text fields handle these keys themselves, and must keep them.
            action = self._add(menu, text, _in_field(method), key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            if text == "Redo":
                menu.addSeparator()
        menu.addSeparator()
        self._add(menu, "Find in Chat", actions.find_in_chat, _Keys.Find)
        self._add(menu, "Search Chats and Models", actions.search, "Ctrl+Shift+F")
        self._add(menu, "Go to Models", actions.go_to_models, "Ctrl+L")

    def _make_view(self) -> None:
        actions, menu = self._actions, self._add_menu("&View")
        self._add(menu, "Larger Text", lambda: self._zoom(_ZOOM_STEP), _Keys.ZoomIn)
        self._add(menu, "Smaller Text", lambda: self._zoom(1 / _ZOOM_STEP), _Keys.ZoomOut)
        self._add(menu, "Normal Text", lambda: self._zoom(0), "Ctrl+0")
        menu.addSeparator()
        self._add(menu, "Sidebar", actions.toggle_sidebar, "Ctrl+B")
        self._add(menu, "Command Palette", actions.command_palette, "Ctrl+K").setObjectName("palette")
        self._add(menu, "Chat Settings", actions.chat_settings, "Ctrl+Shift+,")
        self.local_server = self._add(menu, "Local Server", actions.local_server, "Ctrl+Shift+L")
        self.local_server.setEnabled(False)
        self.stop = self._add(menu, "Stop", actions.stop, "Esc")

    def _make_help(self) -> None:
        actions, menu = self._actions, self._add_menu("&Help")
        self._add(menu, "Sotto Help", actions.help, _Keys.HelpContents)
        self._add(menu, "Shortcuts", actions.shortcuts, "Ctrl+/")
        menu.addSeparator()
        self._add(menu, "Copy Versions", actions.copy_versions)
        self._add(menu, "Show Logs", actions.open_logs)
        self._add(menu, "Licences", actions.licences)
        about = self._add(menu, "About Sotto", actions.about)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    def _zoom(self, factor: float) -> None:
        """Multiply the text size by `factor`; 0 resets it to the system's."""
        zoom = self._preferences.values.zoom * factor if factor else 1.0
        self._preferences.change(zoom=min(MAX_ZOOM, max(MIN_ZOOM, zoom)))

    def _add_menu(self, title: str) -> QMenu:
        menu = self._bar.addMenu(title)
        menu.aboutToShow.connect(lambda: round_corners(menu))
        return menu

    def _add(self, menu: QMenu, text: str, act: Action, keys: QKeySequence.StandardKey | str | None = None) -> QAction:
        # The parent is the window, so that the shortcut works everywhere in it.
        action = QAction(text, self._bar.window())
        action.setMenuRole(QAction.MenuRole.NoRole)
        if keys is not None:
            action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda: act())
        menu.addAction(action)
        return action


def _actions_below(entries: Sequence[QAction]) -> Iterator[QAction]:
    for entry in entries:
        below = entry.menu()
        if isinstance(below, QMenu):
            yield from _actions_below(below.actions())
        elif entry.text():
            yield entry


def _in_field(method: str) -> Callable[[], None]:
    def act() -> None:
        field = QApplication.focusWidget()
        if isinstance(field, QLineEdit | QPlainTextEdit | QTextEdit):
            getattr(field, method)()

    return act
