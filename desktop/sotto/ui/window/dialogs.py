"""The dialogs of the main window, all of which leave the window alive."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from sotto import __version__
from sotto.chats.chat_records import Chat
from sotto.ui.conversation.chat_library import ChatLibrary
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state.drop_contents import DropContents

if TYPE_CHECKING:
    from sotto.ui.platform.global_shortcut import GlobalShortcut
    from sotto.ui.session.api_switch import ApiSwitch
    from sotto.ui.settings.settings_window import SettingsWindow
    from sotto.ui.toolkit.async_tasks import Flows


class Dialogs(QObject):
    """Lets a person choose files, for a window's session and chats.

    Attributes:
        flows: What slow work in the settings is done with; None before there is an event loop.
    """

    def __init__(
        self,
        window: QWidget,
        session: Session,
        chat_library: ChatLibrary,
        preferences: PreferenceStore,
        attach: Callable[[tuple[Path, ...]], None],
    ) -> None:
        """Open dialogs over `window`.

        Args:
            window: What they belong to.
            session: Opens models that are chosen.
            chat_library: Imports and exports chats.
            preferences: What the settings show.
            attach: Takes files that go along with the message.
        """
        super().__init__(window)
        self._window, self._session, self._chat_library = window, session, chat_library
        self._preferences, self._attach = preferences, attach
        self.flows: Flows | None = None
        self.settings: SettingsWindow | None = None
        # What lets other programs in, where there is one; the settings say how it stands.
        self.api: ApiSwitch | None = None
        # What takes the keys of the quick prompt, where something does.
        self.shortcut: GlobalShortcut | None = None

    def choose_model(self) -> None:
        """Let the person choose a manifest or a file of a model."""
        dialog = QFileDialog(self._window, "Open a model: a manifest, or a file in a model's folder")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        self._choose(dialog, self._open_path)

    def choose_model_folder(self) -> None:
        """Let the person choose a model's folder."""
        dialog = QFileDialog(self._window, "Open a model's folder")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        self._choose(dialog, self._open_path)

    def choose_attachments(self) -> None:
        """Let the person choose files that go along with the message."""
        dialog = QFileDialog(self._window, "Attach text files or PDFs")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda paths: self._attach(tuple(map(Path, paths))))
        dialog.open()

    def choose_import(self) -> None:
        """Let the person choose chats that were exported."""
        dialog = QFileDialog(self._window, "Import chats", "", "Chats (*.json)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        self._choose(dialog, self._chat_library.import_json)

    def choose_export(self) -> None:
        """Let the person choose where all chats are written."""
        self._save("Export all chats", "chats.json", self._chat_library.export_json)

    def export_markdown(self, chat: Chat) -> None:
        """Let the person choose where a chat is written as Markdown."""
        name = f"{_file_name(chat.title)}.md"
        self._save("Export as Markdown", name, lambda path: self._chat_library.export_markdown(chat.id, path))

    def export_json(self, chat: Chat) -> None:
        """Let the person choose where a chat is written with all its branches."""
        name = f"{_file_name(chat.title)}.json"
        self._save("Export as JSON", name, lambda path: self._chat_library.export_json(path, (chat.id,)))

    def show_settings(self, page: str = "") -> None:
        """Show the settings, with a page of this name where one is named."""
        from sotto.ui.settings.settings_window import SettingsWindow

        if self.settings is None and self.flows is not None:
            self.settings = SettingsWindow(
                self._session, self._preferences, self.flows, self._window, self.api, self.shortcut
            )
        if self.settings is not None:
            self.settings.open(page)

    def close_settings(self) -> None:
        """Close the settings, where they are open."""
        if self.settings is not None:
            self.settings.close()

    def show_about(self) -> None:
        """Say what this is."""
        about = QMessageBox(self._window)
        about.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        about.setWindowTitle("About Sotto")
        about.setIconPixmap(self._window.windowIcon().pixmap(64, 64))
        about.setText(f"Sotto {__version__}")
        about.setInformativeText("Runs language models on this machine.\nNothing leaves it. MIT licence.")
        about.open()

    def _save(self, title: str, name: str, write: Callable[[Path], None]) -> None:
        dialog = QFileDialog(self._window, title)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(name)
        self._choose(dialog, write)

    def _choose(self, dialog: QFileDialog, act: Callable[[Path], None]) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: act(Path(path)))
        dialog.open()

    def _open_path(self, path: Path) -> None:
        self._session.library.open(DropContents((path,), ()))


def _file_name(title: str) -> str:
    """Return what a file with a chat of this title is called, without an ending: no part of it leads anywhere else."""
    kept = "".join(letter if letter.isalnum() or letter in " -_,'" else " " for letter in title)
    return " ".join(kept.split())[:60].strip() or "chat"
