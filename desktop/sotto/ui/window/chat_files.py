"""Chats from and to files and printers: the dialogs for that, and what is said about it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QDialog, QFileDialog, QMainWindow

from sotto.chats.chat_records import Chat
from sotto.ui.conversation.chat_library import ChatLibrary
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.state.model_state import Problem
from sotto.ui.transcript.notices import Notices
from sotto.ui.transfer.chat_exporting import ChatExporting, Form
from sotto.ui.transfer.chat_importing import ChatImporting

if TYPE_CHECKING:
    from sotto.chats.adding import Added
    from sotto.ui.timing.async_tasks import AsyncTasks

_IMPORTING, _IMPORTED = "Importing chats", "Import complete"
_PATIENCE_MS = 700
_FILTERS = "Exported chats (*.json *.jsonl *.zip *.sqlite);;All files (*)"


class ChatFiles(QObject):
    """Imports, exports and prints chats of a window.

    Attributes:
        importing: Imports chats.
        exporting: Exports and prints chats.
    """

    def __init__(
        self,
        window: QMainWindow,
        chats: ChatThread,
        library: ChatLibrary,
        notices: Notices,
        current: CurrentChat,
    ) -> None:
        """Open dialogs over `window`.

        Args:
            window: The parent window.
            chats: The conversations on disk.
            library: Lists the chats.
            notices: Say what was imported and exported.
            current: The conversation in view.
        """
        super().__init__(window)
        self._window, self._library, self._notices, self._current = window, library, notices, current
        self._told = False
        self.importing = ChatImporting(chats, self)
        self.importing.progressed.connect(self._show_progress)
        self.importing.imported.connect(self._show_imported)
        self.importing.stopped.connect(self._show_stopped)
        self.importing.problem.connect(notices.show_problem)
        self.exporting = ChatExporting(chats, self)
        self.exporting.exported.connect(self._show_exported)
        self.exporting.printed.connect(self._show_printed)
        self.exporting.problem.connect(notices.show_problem)
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._patience.timeout.connect(self._show_exporting)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` for slow work."""
        self.importing.begin(tasks)

    def close(self) -> None:
        """Stop what is under way."""
        self.importing.stop()
        self.exporting.close()

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

    # Exports

    def export_current(self, form: Form) -> None:
        """Let the user choose a file, and export the chat in view into it."""
        chat = self._current.session.chat
        if chat is None or not self._current.session.turns:
            self._notices.show_problem(Problem("Nothing to export", "This chat has no messages yet."))
        else:
            self._library.read_chat(chat, lambda found: self.export(found, form))

    @Slot(object, object)
    def export(self, chat: Chat, form: Form) -> None:
        """Let the user choose a file, and export a chat into it."""
        name = f"{_file_name(chat.title)}{form.suffix}"
        self._save(f"Export as {form.label}", name, lambda path: self.exporting.export(chat.id, form, path))

    def export_all(self) -> None:
        """Let the user choose a file, and export all chats into it."""
        self._save("Export all chats", "chats.json", self.exporting.export_all)

    def _save(self, title: str, name: str, write: Callable[[Path], None]) -> None:
        dialog = QFileDialog(self._window, title)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(name.rpartition(".")[2])
        dialog.selectFile(name)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self._begin(lambda: write(Path(path))))
        dialog.open()

    def print_current(self) -> None:
        """Let the user choose a printer, and print the chat in view."""
        chat = self._current.session.chat
        if chat is None or not self._current.session.turns:
            self._notices.show_problem(Problem("Nothing to print", "This chat has no messages yet."))
        else:
            self._library.read_chat(chat, self.print_chat)

    @Slot(object)
    def print_chat(self, chat: Chat) -> None:
        """Let the user choose a printer, and print a chat."""
        # Imported late: loading it would delay the start.
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter

        from sotto.ui.transfer.paper import usual_layout

        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setPageLayout(usual_layout())
        printer.setDocName(" ".join(chat.title.split()))
        dialog = QPrintDialog(printer, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self._begin(lambda: self.exporting.print_chat(chat.id, printer)))
        # Not the overload that takes a slot.
        QDialog.open(dialog)

    def _begin(self, work: Callable[[], None]) -> None:
        work()
        self._patience.start()

    @Slot()
    def _show_exporting(self) -> None:
        if self.exporting.busy:
            self._notices.show_progress("Writing the chat", "Long ones take a moment.")

    @Slot(object)
    def _show_exported(self, path: Path) -> None:
        self._notices.show_success("Exported", f"Written to {path}.")

    @Slot(str)
    def _show_printed(self, title: str) -> None:
        self._notices.show_success("Printed", title)

    # Imports

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
            self._notices.show_offer(_IMPORTED, sentence, "Open chat", lambda: self._current.open(changed[0]))
        else:
            # What is missing is to be seen.
            self._notices.show_success(_IMPORTED, sentence, stays=is_partial)


def _file_name(title: str) -> str:
    """Return a file name for a chat of this title, without a suffix and without characters that form paths."""
    clean = "".join(letter if letter.isalnum() or letter in " -_,'" else " " for letter in title)
    return " ".join(clean.split())[:60].strip() or "chat"
