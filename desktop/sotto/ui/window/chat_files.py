"""Chats from and to files: the dialogs for that, and what is said about it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QFileDialog, QMainWindow

from sotto.ui.conversation.chat_importing import ChatImporting
from sotto.ui.conversation.chat_library import ChatLibrary
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.transcript.notices import Notices

if TYPE_CHECKING:
    from sotto.chats.adding import Added
    from sotto.ui.toolkit.async_tasks import AsyncTasks

_IMPORTING = "Importing chats"
_FILTERS = "Exported chats (*.json *.jsonl *.zip *.sqlite);;All files (*)"


class ChatFiles(QObject):
    """Imports and exports chats of a window.

    Attributes:
        importing: Imports chats.
    """

    def __init__(
        self,
        window: QMainWindow,
        chats: ChatThread,
        library: ChatLibrary,
        notices: Notices,
        open_chat: Callable[[int], object],
    ) -> None:
        """Open dialogs over `window`.

        Args:
            window: The parent window.
            chats: The conversations on disk.
            library: Lists the chats.
            notices: Say what was imported and exported.
            open_chat: Brings the chat of a given number into view.
        """
        super().__init__(window)
        self._window, self._library, self._notices, self._open_chat = window, library, notices, open_chat
        self._told = False
        self.importing = ChatImporting(chats, self)
        self.importing.progressed.connect(self._show_progress)
        self.importing.imported.connect(self._show_imported)
        self.importing.stopped.connect(self._show_stopped)
        self.importing.problem.connect(notices.show_problem)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` for slow work."""
        self.importing.begin(tasks)

    def close(self) -> None:
        """Stop what is under way."""
        self.importing.stop()

    def choose_import(self) -> None:
        """Let the user choose files of exported chats, and import them."""
        dialog = QFileDialog(self._window, "Import chats", "", _FILTERS)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        self._open(dialog)

    def choose_import_folder(self) -> None:
        """Let the user choose a folder in which another program keeps its chats, and import them."""
        dialog = QFileDialog(self._window, "Import a folder of chats")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        self._open(dialog)

    def _open(self, dialog: QFileDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda paths: self.import_files([Path(path) for path in paths]))
        dialog.open()

    @Slot(object)
    def import_files(self, paths: Sequence[Path]) -> None:
        """Import the chats in files and folders."""
        self._told = False
        self.importing.start(paths)

    @Slot(str)
    def _show_progress(self, how_far: str) -> None:
        # Once it is dismissed or replaced, it does not come back.
        if not self._told or self._notices.title == _IMPORTING:
            self._told = True
            self._notices.show_progress(_IMPORTING, how_far, "Cancel", self.importing.stop)

    @Slot()
    def _show_stopped(self) -> None:
        self._notices.show_success("Import cancelled", "Nothing was imported.")

    @Slot(object, str, bool)
    def _show_imported(self, added: "Added", sentence: str, is_partial: bool) -> None:
        self._library.refresh()
        changed = (*added.new, *added.grown)
        if len(changed) == 1:
            self._notices.show_offer("Chats imported", sentence, "Open chat", lambda: self._open_chat(changed[0]))
        else:
            # What is missing is to be seen.
            self._notices.show_success("Chats imported", sentence, stays=is_partial)
