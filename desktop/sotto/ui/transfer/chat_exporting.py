"""Exports chats to files and folders and prints them, on a thread of its own that fetches them from the chats' thread.

A file is replaced in one step, and a folder appears when it is complete, so that nothing half-written stays.
"""

import contextlib
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThreadPool, Signal, Slot
from PySide6.QtWidgets import QApplication

from sotto.chats.chat_records import Chat, Picture, Turn
from sotto.chats.image_store import MissingImageError
from sotto.errors import CancelledError, SottoError
from sotto.store.atomic_writing import replace_atomically
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.state.model_state import Problem
from sotto.ui.toolkit.translation import tr
from sotto.ui.transfer.exported_images import ImageFolder, PagePictures
from sotto.ui.transfer.file_names import UniqueNames, file_name, free_path

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

    from sotto.chats.chat_store import ChatStore

_log = logging.getLogger(__name__)


class _GoneError(SottoError):
    """A chat was erased before it could be exported."""


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
        exported: Chats were exported (the path of the file or folder).
        printed: A chat was printed (its title).
        stopped: What was under way was stopped, and nothing of it was written.
        problem: Nothing was exported or printed (`Problem`).
    """

    exported = Signal(object)
    printed = Signal(str)
    stopped = Signal()
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
        self._under_way = 0
        # How many files of a folder are written, and how many there will be; set by the other thread.
        self._written = self._count = 0
        self._done.connect(self._tell)

    def close(self) -> None:
        """Stop what is under way, and wait for its end."""
        self._stop.set()
        self._pool.waitForDone()

    @Slot()
    def stop(self) -> None:
        """Stop what is under way, and leave out what waits."""
        self._stop.set()

    @property
    def busy(self) -> bool:
        """Whether anything is being written."""
        return self._under_way > 0

    @property
    def progress(self) -> tuple[int, int]:
        """How many files of a folder are written, and how many there will be; zeros for a single file."""
        return self._written, self._count

    def export(self, chat: int, form: Form, path: Path) -> None:
        """Export a chat: the branch in view, or with JSON all its branches."""
        self._write(path, partial(self._export, form, QApplication.font().family(), chat))

    def export_all(self, path: Path) -> None:
        """Export all chats that are not in the trash as one file of JSON, with all their branches."""
        self._write(path, lambda path: replace_atomically(path, self._json(None)))

    def export_each(self, form: Form, folder: Path) -> None:
        """Export all chats that are not in the trash into a new folder inside `folder`, with a file for each chat."""
        family = QApplication.font().family()

        def work() -> Callable[[], None]:
            path = free_path(folder, tr("Chats as {form}").format(form=form.label))
            with _reporting(path), _whole_folder(path) as partial_folder:
                self._fill(partial_folder, form, family)
            return lambda: self.exported.emit(path)

        self._start(tr("Nothing was exported"), work)

    def _fill(self, folder: Path, form: Form, family: str) -> None:
        """Write the file of each chat.

        Raises:
            SottoError: There is no chat.
            CancelledError: It was stopped.
        """
        chats = self._chats.fetch(lambda store: store.chats())
        # The oldest first, so that a later export numbers equal titles alike.
        begun = sorted((chat for chat in chats if chat.title and chat.trashed is None), key=lambda chat: chat.id)
        if not begun:
            raise SottoError(tr("There are no chats yet."))
        names, self._count = UniqueNames(), len(begun)
        for chat in begun:
            with contextlib.suppress(_GoneError):
                self._export(form, family, chat.id, folder / f"{names.of(file_name(chat.title))}{form.suffix}")
            self._written += 1

    def print_chat(self, chat: int, printer: "QPrinter") -> None:
        """Print the branch of a chat that is in view, on a printer that the user has chosen."""
        family = QApplication.font().family()

        def work() -> Callable[[], None]:
            from sotto.ui.transfer.chat_page import title_of
            from sotto.ui.transfer.paper import print_chat

            found, turns = self._chats.fetch(partial(_read, chat=chat))
            pages = (printer.fromPage(), printer.toPage()) if printer.toPage() else None
            pictures = PagePictures(self._chats.images, self._stop.is_set)
            print_chat(found, turns, family, printer, self._stop.is_set, pages, thumbnail_of=pictures.of)
            return lambda: self.printed.emit(title_of(found))

        self._start(tr("Not printed"), work)

    def _export(self, form: Form, family: str, chat: int, path: Path) -> None:
        """Write a chat in a form to a file, and the images of Markdown into a folder beside it.

        Raises:
            SottoError: It cannot be read.
            OSError: It cannot be written.
            CancelledError: It was stopped.
        """
        content: bytes | Iterator[bytes]
        if form is Form.JSON:
            content = self._json((chat,))
        elif form is Form.MARKDOWN:
            beside = ImageFolder(path, self._chats.images)
            content = self._chats.fetch(partial(_markdown, chat=chat, link=beside.link)).encode()
            beside.write(self._stop.is_set)
        else:
            found, turns = self._chats.fetch(partial(_read, chat=chat))
            pictures = PagePictures(self._chats.images, self._stop.is_set)
            if form is Form.HTML:
                from sotto.ui.transfer.chat_page import web_page

                content = web_page(found, turns, self._stop.is_set, thumbnail_of=pictures.of).encode()
            else:
                from sotto.ui.transfer.paper import pdf_of

                content = pdf_of(found, turns, family, self._stop.is_set, thumbnail_of=pictures.of)
        if self._stop.is_set():
            raise CancelledError("The export was stopped.")
        replace_atomically(path, content)

    def _json(self, chats: tuple[int, ...] | None) -> Iterator[bytes]:
        """Yield chats as JSON, after their images; `chats` None means all that are not in the trash."""
        from sotto.chats.exchange import as_json, image_as_json, images_in

        text, digests = self._chats.fetch(
            lambda store: (as_json(store.database, chats), images_in(store.database, chats))
        )
        if not digests:
            yield text.encode()
            return
        yield b"[\n"
        for digest in digests:
            if self._stop.is_set():
                raise CancelledError("The export was stopped.")
            # What is no longer there cannot be exported; an import then counts it as lost.
            with contextlib.suppress(MissingImageError):
                yield image_as_json(self._chats.images.data(digest)).encode() + b",\n"
        yield text.encode() + b"\n]\n"

    def _write(self, path: Path, write: Callable[[Path], None]) -> None:
        """Write a file."""

        def work() -> Callable[[], None]:
            with _reporting(path):
                write(path)
            return lambda: self.exported.emit(path)

        self._start(tr("Nothing was exported"), work)

    def _start(self, title: str, work: Callable[[], Callable[[], None]]) -> None:
        """Run `work` on the pool's thread, and what it returns, or the report of its failure, on Qt's."""

        def run() -> None:
            self._written = self._count = 0
            try:
                told = work()
            except CancelledError:
                self._done.emit(self.stopped.emit)
            except Exception as error:
                if not isinstance(error, SottoError | OSError):
                    _log.error("An export failed.", exc_info=error)
                known = error.message if isinstance(error, SottoError) else f"{type(error).__name__}: {error}"
                self._done.emit(lambda: self.problem.emit(Problem(title, known)))
            else:
                self._done.emit(told)

        if not self._under_way:
            self._stop.clear()
        self._under_way += 1
        self._pool.start(run)

    @Slot(object)
    def _tell(self, told: Callable[[], None]) -> None:
        self._under_way -= 1
        told()


@contextlib.contextmanager
def _reporting(path: Path) -> Iterator[None]:
    """Say which file or folder an error of the system is about.

    Raises:
        SottoError: It cannot be written.
    """
    try:
        yield
    except OSError as error:
        sentence = tr("{file} could not be written: {reason}.")
        raise SottoError(sentence.format(file=path, reason=error.strerror or error)) from error


@contextlib.contextmanager
def _whole_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `path` at the end; after an error, nothing of it stays."""
    folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        yield folder
        folder.rename(path)
    except BaseException:
        shutil.rmtree(folder)
        raise


def _find(store: "ChatStore", chat: int) -> Chat:
    """Return a chat.

    Raises:
        _GoneError: There is no such chat any more.
    """
    found = store.chat(chat)
    if found is None:
        raise _GoneError(tr("The chat is no longer there, so it was not exported."))
    return found


def _read(store: "ChatStore", chat: int) -> tuple[Chat, tuple[Turn, ...]]:
    """Read the branch of a chat that is in view."""
    return _find(store, chat), store.branch(chat).turns


def _markdown(store: "ChatStore", chat: int, link: Callable[[Picture], str]) -> str:
    from sotto.chats.exchange import Names, as_markdown
    from sotto.ui.conversation.plain_markdown import to_markdown

    names = Names(tr("You"), tr("Model"), tr("Chat"))
    return as_markdown(store.database, _find(store, chat).id, lambda turn: to_markdown(turn, link), names)
