"""The dialogs of the main window, none of which blocks the event loop."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMainWindow, QMenu

from sotto.paths import log_dir, make_folder
from sotto.ui.conversation.chat_library import ChatLibrary
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.preferences.presets import PresetStore
from sotto.ui.session.session import Session
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.translation import tr
from sotto.ui.window.about import About

if TYPE_CHECKING:
    from sotto.ui.platform.global_shortcut import GlobalShortcut
    from sotto.ui.session.api_switch import ApiSwitch
    from sotto.ui.settings.settings_window import SettingsWindow
    from sotto.ui.timing.async_tasks import AsyncTasks
    from sotto.ui.updating.update_checker import UpdateChecker
    from sotto.ui.window.help_window import HelpWindow

# Files that a model consists of. Ollama's manifests have no suffix; they are among all files.
_MODELS = "*.gguf *.safetensors *.json"


class Dialogs(QObject):
    """Opens file dialogs, the settings, the help and the about box.

    Signals:
        link_asked: A link to a web page was clicked in the help or the settings (its address).

    Attributes:
        tasks: Runs slow work of the settings; None before there is an event loop.
        settings: The settings window; None before it is first opened.
        help: The help window; None before it is first opened.
        api: The switch of the API, for the settings; None if there is none.
        shortcut: The global shortcut of the quick prompt, for the settings; None if there is none.
        updates: Looks for new versions, for the settings; None if nothing does.
    """

    link_asked = Signal(str)

    def __init__(
        self,
        window: QMainWindow,
        session: Session,
        chat_library: ChatLibrary,
        preferences: PreferenceStore,
        presets: PresetStore,
        attach: Callable[[tuple[Path, ...]], None],
    ) -> None:
        """Open dialogs over `window`.

        Args:
            window: The parent window.
            session: Opens the chosen models.
            chat_library: Imports and exports chats.
            preferences: The preferences that the settings show.
            presets: The presets, which the settings can delete.
            attach: Attaches the chosen files to the draft.
        """
        super().__init__(window)
        self._window, self._session, self._chat_library = window, session, chat_library
        self._preferences, self._presets, self._attach = preferences, presets, attach
        self.tasks: AsyncTasks | None = None
        self.settings: SettingsWindow | None = None
        self.help: HelpWindow | None = None
        self.api: ApiSwitch | None = None
        self.shortcut: GlobalShortcut | None = None
        self.updates: UpdateChecker | None = None

    def choose_model(self) -> None:
        """Let the user choose a model's manifest or file, and open it."""
        kinds = ((tr("Models"), _MODELS), (tr("All files"), "*"))
        dialog = FileDialog(self._window, tr("Open model"), kinds)
        dialog.setFileMode(FileDialog.FileMode.ExistingFile)
        self._choose(dialog, self._open_path)

    def choose_model_folder(self) -> None:
        """Let the user choose a model's folder, and open it."""
        dialog = FileDialog(self._window, tr("Open model folder"))
        dialog.setFileMode(FileDialog.FileMode.Directory)
        self._choose(dialog, self._open_path)

    def choose_attachments(self) -> None:
        """Let the user choose files, and attach them to the draft."""
        dialog = FileDialog(self._window, tr("Attach files"))
        dialog.setFileMode(FileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda paths: self._attach(tuple(map(Path, paths))))
        dialog.open()

    def show_settings(self, page: str = "") -> None:
        """Show the settings, at the page of this name; an empty name keeps the page."""
        from sotto.ui.settings.settings_window import SettingsWindow

        if self.settings is None and self.tasks is not None:
            from sotto.ui.settings.user_data import UserData

            data = UserData(self._chat_library, self._preferences, self._presets, self.tasks, self)
            self.settings = SettingsWindow(
                self._session, self._preferences, data, self.tasks, self._window, self.api, self.shortcut, self.updates
            )
            self.settings.link_asked.connect(self.link_asked)
        if self.settings is not None:
            self.settings.open(page)

    def show_updates(self) -> None:
        """Show what is known about new versions."""
        self.show_settings("updates")

    def check_updates(self) -> None:
        """Look for new versions, and show what is found."""
        self.show_updates()
        if self.updates is not None:
            self.updates.check()

    def close_settings(self) -> None:
        """Close the settings and the help if they are open."""
        for window in (self.settings, self.help):
            if window is not None:
                window.close()

    def show_help(self, page: str = "") -> None:
        """Show the help, at the page of this name; an empty name keeps the page."""
        from sotto.ui.window.help_window import HelpWindow

        if self.help is None:
            entries = [entry for menu in self._window.menuBar().findChildren(QMenu) for entry in menu.actions()]
            self.help = HelpWindow(self._window, entries)
            self.help.link_asked.connect(self.link_asked)
        self.help.open(page)

    def show_about(self) -> None:
        """Show the name, version and licence of the app."""
        about = About(self._window)
        about.licences_wanted.connect(lambda: self.show_help("licences"))
        about.open()

    def _choose(self, dialog: FileDialog, act: Callable[[Path], None]) -> None:
        dialog.fileSelected.connect(lambda path: act(Path(path)))
        dialog.open()

    def _open_path(self, path: Path) -> None:
        self._session.library.open(DropContents((path,), ()))


def open_logs() -> None:
    """Show the folder of the logs in the file manager."""
    folder = log_dir()
    make_folder(folder)
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
