"""Exports chats to files and prints them: they are read on the chats' thread, and written on another one.

A file is replaced in one step, so that nothing half-written stays.
"""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThreadPool, Signal, Slot
from PySide6.QtWidgets import QApplication

from sotto.chats.chat_records import Chat, Turn
from sotto.errors import SottoError
from sotto.store.atomic_writing import replace_atomically
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.state.model_state import Problem
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

    from sotto.chats.chat_store import ChatStore

_ReadChat = tuple[Chat, tuple[Turn, ...]]


class Form(Enum):
    """A form in which a chat is exported: its name, and the suffix of its files."""

    MARKDOWN = ("Markdown", ".md")
    JSON = ("JSON", ".json")
    HTML = ("HTML", ".html")
    PDF = ("PDF", ".pdf")

    @property
    def label(self) -> str:
        """Its name."""
        return self.value[0]

    @property
    def suffix(self) -> str:
        """The suffix of its files."""
        return self.value[1]


class ChatExporting(QObject):
    """Exports and prints chats off the window's thread, one after the other.

    Signals:
        exported: Chats were exported (the path of the file).
        printed: A chat was printed (its title).
        problem: Nothing was exported or printed (`Problem`).
    """

    exported = Signal(object)
    printed = Signal(str)
    problem = Signal(object)
    _done = Signal(object)

    def __init__(self, chats: ChatThread, parent: QObject | None = None) -> None:
        """Export the conversations of `chats`."""
        super().__init__(parent)
        self._chats = chats
        self._stop = Event()
        # A thread that Qt knows, which the layout of documents needs.
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._done.connect(self._tell)

    def close(self) -> None:
        """Stop what is under way, and wait for its end."""
        self._stop.set()
        self._pool.waitForDone()

    @property
    def busy(self) -> bool:
        """Whether anything is being written."""
        return self._pool.activeThreadCount() > 0

    def export(self, chat: int, form: Form, path: Path) -> None:
        """Export a chat: the branch in view, or with JSON all its branches."""
        family = QApplication.font().family()

        def content(read: _ReadChat) -> bytes:
            if form is Form.HTML:
                from sotto.ui.transfer.chat_page import web_page

                return web_page(*read, self._stop.is_set).encode()
            from sotto.ui.transfer.paper import pdf_of

            return pdf_of(*read, family, self._stop.is_set)

        if form in (Form.HTML, Form.PDF):
            self._chats.do(lambda store: _read(store, chat), lambda read: self._write(lambda: content(read), path))
        elif form is Form.MARKDOWN:
            self._chats.do(lambda store: _markdown(store, chat), lambda text: self._write(text.encode, path))
        else:
            self._export_json(path, (chat,))

    def export_all(self, path: Path) -> None:
        """Export all chats that are not in the trash as JSON, with all their branches."""
        self._export_json(path, None)

    def print_chat(self, chat: int, printer: "QPrinter") -> None:
        """Print the branch of a chat that is in view, on a printer that the user has chosen."""
        family = QApplication.font().family()

        def work(read: _ReadChat) -> Callable[[], None]:
            from sotto.ui.transfer.chat_page import title_of
            from sotto.ui.transfer.paper import print_chat

            pages = (printer.fromPage(), printer.toPage()) if printer.toPage() else None
            print_chat(*read, family, printer, self._stop.is_set, pages)
            return lambda: self.printed.emit(title_of(read[0]))

        self._chats.do(
            lambda store: _read(store, chat), lambda read: self._start(tr("Not printed"), lambda: work(read))
        )

    def _export_json(self, path: Path, chats: tuple[int, ...] | None) -> None:
        def text(store: "ChatStore") -> str:
            from sotto.chats.exchange import as_json

            return as_json(store.database, chats)

        self._chats.do(text, lambda text: self._write(text.encode, path))

    def _write(self, content: Callable[[], bytes], path: Path) -> None:
        """Write a file in one step; an incomplete one is not written."""

        def work() -> Callable[[], None]:
            data = content()
            if self._stop.is_set():
                return lambda: None
            try:
                replace_atomically(path, data)
            except OSError as error:
                sentence = tr("{file} could not be written: {reason}.")
                raise SottoError(sentence.format(file=path, reason=error.strerror or error)) from error
            return lambda: self.exported.emit(path)

        self._start(tr("Nothing was exported"), work)

    def _start(self, title: str, work: Callable[[], Callable[[], None]]) -> None:
        """Run `work` on the pool's thread, and what it returns, or the report of its failure, on Qt's."""

        def run() -> None:
            try:
                told = work()
            except Exception as error:
                known = error.message if isinstance(error, SottoError) else f"{type(error).__name__}: {error}"
                self._done.emit(lambda: self.problem.emit(Problem(title, known)))
            else:
                self._done.emit(told)

        self._pool.start(run)

    @Slot(object)
    def _tell(self, told: Callable[[], None]) -> None:
        told()


def _read(store: "ChatStore", chat: int) -> _ReadChat:
    """Read the branch of a chat that is in view.

    Raises:
        SottoError: There is no such chat any more.
    """
    found = store.chat(chat)
    if found is None:
        raise SottoError(tr("The chat is no longer there, so it was not exported."))
    return found, store.branch(chat).turns


def _markdown(store: "ChatStore", chat: int) -> str:
    from sotto.chats.exchange import Names, as_markdown
    from sotto.ui.conversation.plain_markdown import to_markdown

    names = Names(tr("You"), tr("Model"), tr("Chat"))
    return as_markdown(store.database, chat, to_markdown, names)
