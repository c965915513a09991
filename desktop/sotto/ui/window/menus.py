"""The menus of the main window, with the keyboard shortcuts of all actions."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QMenuBar, QPlainTextEdit, QTextEdit

from sotto.ui.preferences.preferences import MAX_ZOOM, MIN_ZOOM, PreferenceStore
from sotto.ui.toolkit.translation import tr
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
        actions, menu = self._actions, self._add_menu(tr("&File"))
        self._add(menu, tr("New Chat"), actions.new_chat, _Keys.New)
        self._add(menu, tr("Quick Prompt"), actions.quick_prompt, "Ctrl+Shift+Space")
        self._add(menu, tr("New Chat Folder"), actions.new_chat_folder, "Ctrl+Shift+N")
        self._add(menu, tr("Open Model…"), actions.open_model, _Keys.Open)
        self._add(menu, tr("Open Model Folder…"), actions.open_model_folder, "Ctrl+Shift+O")
        self._add(menu, tr("Add Model Folder…"), actions.add_folder_of_models)
        self._add(menu, tr("Get a Model…"), actions.get_model, "Ctrl+D")
        self._add(menu, tr("Get a Model by Name…"), actions.get_model_by_name, "Ctrl+Shift+D")
        self._add(menu, tr("Manage Models…"), actions.manage_models, "Ctrl+Shift+M")
        self._add(menu, tr("Rescan Models"), actions.rescan_models, "Ctrl+R")
        menu.addSeparator()
        self._add(menu, tr("Attach Files…"), actions.attach_files, "Ctrl+Shift+A")
        menu.addSeparator()
        self._add(menu, tr("Import Chats…"), actions.import_chats)
        self._add(menu, tr("Import Chat Folder…"), actions.import_chat_folder)
        export = menu.addMenu(tr("Export Chat"))
        for form in Form:
            self._add(export, export_label(form), partial(actions.export_chat, form), name=f"export_chat-{form.name}")
        export = menu.addMenu(tr("Export All Chats"))
        for form in Form:
            label = tr("Export All as {form}…").format(form=form.label)
            self._add(export, label, partial(actions.export_all_chats, form), name=f"export_all_chats-{form.name}")
        self._add(menu, tr("Print…"), actions.print_chat, _Keys.Print)
        menu.addSeparator()
        self.eject = self._add(menu, tr("Eject Model"), actions.eject_model, "Ctrl+E")
        menu.addSeparator()
        settings = self._add(menu, tr("Settings…"), actions.settings, _Keys.Preferences)
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        if settings.shortcut().isEmpty():
            settings.setShortcut("Ctrl+,")
        self._add(menu, tr("Close Window"), actions.close_window, "Ctrl+W")
        leave = self._add(menu, tr("Quit Sotto"), actions.quit, _Keys.Quit)
        leave.setMenuRole(QAction.MenuRole.QuitRole)
        if not leave.shortcut():
            leave.setShortcut("Ctrl+Q")

    def _make_edit(self) -> None:
        actions, menu = self._actions, self._add_menu(tr("&Edit"))
        for text, key, method in (
            (tr("Undo"), _Keys.Undo, "undo"),
            (tr("Redo"), _Keys.Redo, "redo"),
            (tr("Cut"), _Keys.Cut, "cut"),
            (tr("Copy"), _Keys.Copy, "copy"),
            (tr("Paste"), _Keys.Paste, "paste"),
            (tr("Select All"), _Keys.SelectAll, "selectAll"),
        ):
            # The shortcut is only displayed: text fields handle these keys themselves, and must keep them.
            action = self._add(menu, text, _in_field(method), key, name=method)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            if method == "redo":
                menu.addSeparator()
        menu.addSeparator()
        self._add(menu, tr("Find in Chat"), actions.find_in_chat, _Keys.Find)
        self._add(menu, tr("Search Chats and Models"), actions.search, "Ctrl+Shift+F")
        self._add(menu, tr("Go to Models"), actions.go_to_models, "Ctrl+L")

    def _make_view(self) -> None:
        actions, menu = self._actions, self._add_menu(tr("&View"))
        self._add(menu, tr("Larger Text"), lambda: self._zoom(_ZOOM_STEP), _Keys.ZoomIn, name="larger")
        self._add(menu, tr("Smaller Text"), lambda: self._zoom(1 / _ZOOM_STEP), _Keys.ZoomOut, name="smaller")
        self._add(menu, tr("Normal Text"), lambda: self._zoom(0), "Ctrl+0", name="normal")
        menu.addSeparator()
        self._add(menu, tr("Sidebar"), actions.toggle_sidebar, "Ctrl+B")
        self._add(menu, tr("Command Palette"), actions.command_palette, "Ctrl+K")
        self._add(menu, tr("Chat Settings"), actions.chat_settings, "Ctrl+Shift+,")
        self.local_server = self._add(menu, tr("Local Server"), actions.local_server, "Ctrl+Shift+L")
        self.local_server.setEnabled(False)
        self.stop = self._add(menu, tr("Stop"), actions.stop, "Esc")

    def _make_help(self) -> None:
        actions, menu = self._actions, self._add_menu(tr("&Help"))
        self._add(menu, tr("Sotto Help"), actions.help, _Keys.HelpContents)
        self._add(menu, tr("Shortcuts"), actions.shortcuts, "Ctrl+/")
        menu.addSeparator()
        self._add(menu, tr("Copy Report"), actions.copy_report)
        self._add(menu, tr("Show Logs"), actions.open_logs)
        self._add(menu, tr("Licences"), actions.licences)
        updates = self._add(menu, tr("Check for Updates…"), actions.check_updates)
        updates.setMenuRole(QAction.MenuRole.ApplicationSpecificRole)
        about = self._add(menu, tr("About Sotto"), actions.about)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    def _zoom(self, factor: float) -> None:
        """Multiply the text size by `factor`; 0 resets it to the system's."""
        zoom = self._preferences.values.zoom * factor if factor else 1.0
        self._preferences.change(zoom=min(MAX_ZOOM, max(MIN_ZOOM, zoom)))

    def _add_menu(self, title: str) -> QMenu:
        menu = self._bar.addMenu(title)
        menu.aboutToShow.connect(lambda: round_corners(menu))
        return menu

    def _add(
        self, menu: QMenu, text: str, act: Action, keys: QKeySequence.StandardKey | str | None = None, name: str = ""
    ) -> QAction:
        """Add an entry; its name, by which it is remembered, is the same in every language: that of its action."""
        # The parent is the window, so that the shortcut works everywhere in it.
        action = QAction(text, self._bar.window())
        action.setObjectName(name or self._actions.name_of(act))
        action.setMenuRole(QAction.MenuRole.NoRole)
        if keys is not None:
            action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda: act())
        menu.addAction(action)
        return action


def export_label(form: Form) -> str:
    """Return the entry that exports a chat in this form."""
    return tr("Export as {form}…").format(form=form.label)


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
