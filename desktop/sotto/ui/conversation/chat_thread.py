"""The conversations on disk, read and written on a thread of their own.

Work is done in the order in which it is asked for: of two changes, the first is there when the second is made. What
comes of it is reported on the window's thread.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sotto.errors import SottoError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from sotto.chats.chat_store import ChatStore

_T = TypeVar("_T")


class ChatThread(QObject):
    """Owns the store of conversations, on a thread of its own.

    Signals:
        noticed: What a person should know about the file of conversations (`Notice`).
        failed: Some work could not be done; why, in one sentence.
    """

    noticed = Signal(object)
    failed = Signal(str)
    _done = Signal(object)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """Keep conversations in the file `path`, which is opened when there is something to do."""
        super().__init__(parent)
        self._path = path
        # Made when there is something to do: the window is painted before what they need is imported.
        self._pool: ThreadPoolExecutor | None = None
        self._store: ChatStore | None = None
        self._done.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def do(
        self,
        work: Callable[["ChatStore"], _T],
        then: Callable[[_T], None] | None = None,
        otherwise: Callable[[], None] | None = None,
    ) -> None:
        """Do some work on the store.

        Args:
            work: What to do, on the keeper's thread.
            then: Called on the window's thread with what `work` returned.
            otherwise: Called there where the work could not be done, once that was told.
        """
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(1, thread_name_prefix="chats")
        self._pool.submit(self._work, work, then, otherwise)

    def wait(self, seconds: float) -> None:
        """Wait until what was asked for until now is done, but no longer than so many seconds."""
        if self._pool is not None:
            from concurrent.futures import wait

            wait([self._pool.submit(lambda: None)], timeout=seconds)

    def close(self) -> None:
        """Do what is still to be done, and close the file."""
        if self._pool is not None:
            self._pool.submit(self._close)
            self._pool.shutdown(wait=True)

    def _work(
        self,
        work: Callable[["ChatStore"], Any],
        then: Callable[[Any], None] | None,
        otherwise: Callable[[], None] | None,
    ) -> None:
        try:
            result = work(self._opened())
        except Exception as error:
            # In a name of its own: that of the exception is gone when this is told. That a file cannot be written was
            # told when it was opened.
            told = self._store is not None and not self._store.database.writable
            why = "" if told else _sentence(error, self._path)
            self._done.emit(lambda: self._fail(why, otherwise))
        else:
            if then is not None:
                self._done.emit(lambda: then(result))

    def _opened(self) -> "ChatStore":
        if self._store is None:
            from sotto.chats.chat_store import ChatStore
            from sotto.chats.database import Database

            database = Database(self._path)
            self._store = ChatStore(database)
            for notice in database.notices:
                self._done.emit(lambda notice=notice: self.noticed.emit(notice))
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.database.close()
            self._store = None

    def _fail(self, why: str, otherwise: Callable[[], None] | None) -> None:
        if why:
            self.failed.emit(why)
        if otherwise is not None:
            otherwise()

    @Slot(object)
    def _tell(self, what: Callable[[], None]) -> None:
        what()


def _sentence(error: Exception, path: Path) -> str:
    import sqlite3

    if isinstance(error, SottoError):
        return error.message
    if isinstance(error, sqlite3.Error):
        return f"{path} could not be read or written: {error}."
    return f"{type(error).__name__}: {error}"
