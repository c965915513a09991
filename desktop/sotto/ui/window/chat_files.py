"""Chats from and to files and printers: the dialogs for that, and what is said about it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QMainWindow

from sotto.chats.chat_records import Chat
from sotto.ui.conversation.chat_library import ChatLibrary
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.transcript.notices import Notices
from sotto.ui.transfer.chat_exporting import ChatExporting, Form
from sotto.ui.transfer.chat_importing import ChatImporting
from sotto.ui.transfer.file_names import file_name

if TYPE_CHECKING:
    from sotto.chats.adding import Added
    from sotto.ui.timing.async_tasks import AsyncTasks

_IMPORTING, _IMPORTED = QT_TR_NOOP("Importing chats"), QT_TR_NOOP("Import complete")
_PATIENCE_MS = 700
_PATTERNS = "*.json *.jsonl *.zip *.sqlite"


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
        # Whether the progress of an import and of an export has been shown.
        self._import_shown = self._export_shown = False
        self.importing = ChatImporting(chats, self)
        self.importing.progressed.connect(self._show_progress)
        self.importing.imported.connect(self._show_imported)
        self.importing.stopped.connect(self._show_stopped)
        self.importing.problem.connect(notices.show_problem)
        library.erasing.connect(self.importing.stop)
        self.exporting = ChatExporting(chats, self)
        self.exporting.exported.connect(self._show_exported)
        self.exporting.printed.connect(self._show_printed)
        self.exporting.stopped.connect(self._show_export_stopped)
        self.exporting.problem.connect(notices.show_problem)
        self._patience = QTimer(self, interval=_PATIENCE_MS)
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
        kinds = ((tr("Exported chats"), _PATTERNS), (tr("All files"), "*"))
        dialog = FileDialog(self._window, tr("Import chats"), kinds)
        dialog.setFileMode(FileDialog.FileMode.ExistingFiles)
        self._open(dialog)

    def choose_import_folder(self) -> None:
        """Let the user choose a folder in which another program keeps its chats, and import them."""
        dialog = FileDialog(self._window, tr("Import a folder of chats"))
        dialog.setFileMode(FileDialog.FileMode.Directory)
        self._open(dialog)

    def _open(self, dialog: FileDialog) -> None:
        dialog.filesSelected.connect(lambda paths: self.import_files([Path(path) for path in paths]))
        dialog.open()

    @Slot(object)
    def import_files(self, paths: Sequence[Path]) -> None:
        """Import the chats in files and folders."""
        self._import_shown = False
        self.importing.start(paths)

    # Exports

    def export_current(self, form: Form) -> None:
        """Let the user choose a file, and export the chat in view into it."""
        chat = self._current.session.chat
        if chat is None or not self._current.session.turns:
            self._notices.show_problem(Problem(tr("Nothing to export"), tr("This chat has no messages yet.")))
        else:
            self._library.read_chat(chat, lambda found: self.export(found, form))

    @Slot(object, object)
    def export(self, chat: Chat, form: Form) -> None:
        """Let the user choose a file, and export a chat into it."""
        name = f"{file_name(chat.title)}{form.suffix}"
        title = tr("Export as {form}").format(form=form.label)
        self._save(title, name, lambda path: self.exporting.export(chat.id, form, path))

    def export_all(self, form: Form) -> None:
        """Let the user choose where to, and export all chats: as one file of JSON, or as a folder of files."""
        if form is Form.JSON:
            self._save(tr("Export all chats"), "chats.json", self.exporting.export_all)
            return
        dialog = FileDialog(self._window, tr("Choose where to put the folder of chats"))
        dialog.setFileMode(FileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda path: self._begin(lambda: self.exporting.export_each(form, Path(path))))
        dialog.open()

    def _save(self, title: str, name: str, write: Callable[[Path], None]) -> None:
        dialog = FileDialog(self._window, title)
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(name.rpartition(".")[2])
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda path: self._begin(lambda: write(Path(path))))
        dialog.open()

    def print_current(self) -> None:
        """Let the user choose a printer, and print the chat in view."""
        chat = self._current.session.chat
        if chat is None or not self._current.session.turns:
            self._notices.show_problem(Problem(tr("Nothing to print"), tr("This chat has no messages yet.")))
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
        self._export_shown = False
        self._patience.start()

    @Slot()
    def _show_exporting(self) -> None:
        title, how_far = tr("Exporting"), tr("Long chats take a moment.")
        # Once it is dismissed or replaced, it does not come back.
        if not self.exporting.busy or (self._export_shown and self._notices.title != title):
            self._patience.stop()
            return
        self._export_shown = True
        written, count = self.exporting.progress
        if count:
            how_far = tr("{written} of {count} chats written").format(
                written=wording.count(written), count=wording.count(count)
            )
        self._notices.show_progress(title, how_far, tr("Cancel"), self.exporting.stop)

    @Slot(object)
    def _show_exported(self, path: Path) -> None:
        folder = QUrl.fromLocalFile(str(path.parent))
        written = tr("Written to {path}.").format(path=path)
        self._notices.show_offer(tr("Exported"), written, tr("Show folder"), lambda: QDesktopServices.openUrl(folder))

    @Slot()
    def _show_export_stopped(self) -> None:
        self._notices.show_success(tr("Export cancelled"), tr("Nothing was written."))

    @Slot(str)
    def _show_printed(self, title: str) -> None:
        self._notices.show_success(tr("Printed"), title)

    # Imports

    @Slot(str)
    def _show_progress(self, how_far: str) -> None:
        # Once it is dismissed or replaced, it does not come back.
        if not self._import_shown or self._notices.title == tr(_IMPORTING):
            self._import_shown = True
            self._notices.show_progress(tr(_IMPORTING), how_far, tr("Cancel"), self.importing.stop)

    @Slot(str)
    def _show_stopped(self, kept: str) -> None:
        self._notices.show_success(tr("Import cancelled"), kept or tr("Nothing was imported."))

    @Slot(object, str, bool)
    def _show_imported(self, added: "Added", sentence: str, is_partial: bool) -> None:
        self._library.refresh()
        changed = (*added.new, *added.grown)
        if len(changed) == 1:
            self._notices.show_offer(tr(_IMPORTED), sentence, tr("Open chat"), lambda: self._current.open(changed[0]))
        else:
            # What is missing is to be seen.
            self._notices.show_success(tr(_IMPORTED), sentence, stays=is_partial)
