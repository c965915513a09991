"""The thread that reads and writes conversations on disk.

Work is done in the order in which it is submitted. Results are delivered on the window's thread.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sotto.errors import SottoError
from sotto.ui.conversation.pictures.chat_images import ChatImages
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from sotto.chats.chat_store import ChatStore

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


class ChatThread(QObject):
    """Owns the store of conversations.

    Signals:
        noticed: Something that the user should know about the file of conversations (`Notice`).
        failed: Some work failed; the reason, in one sentence.

    Attributes:
        path: The file of conversations.
        images: The images of the conversations.
    """

    noticed = Signal(object)
    failed = Signal(str)
    _done = Signal(object)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """Store conversations in the file `path`, which is opened for the first work."""
        super().__init__(parent)
        self.path = path
        self.images = ChatImages(path, self.do, self)
        # Created for the first work, so that the window can be painted before the imports.
        self._pool: ThreadPoolExecutor | None = None
        self._store: ChatStore | None = None
        self._done.connect(self._call, Qt.ConnectionType.QueuedConnection)

    def do(
        self,
        work: Callable[["ChatStore"], _T],
        then: Callable[[_T], None] | None = None,
        otherwise: Callable[[], None] | None = None,
        *,
        quiet: bool = False,
    ) -> None:
        """Submit work on the store.

        Args:
            work: Called with the store, on its thread.
            then: Called on the window's thread with the result of `work`.
            otherwise: Called on the window's thread if `work` failed, after `failed` was emitted.
            quiet: Whether `failed` is not emitted, because it was for earlier work of the same kind.
        """
        self._submit(self._run, work, then, otherwise, quiet)

    def fetch(self, work: Callable[["ChatStore"], _T]) -> _T:
        """Do work on the store, and wait for its result on a thread other than the window's.

        Raises:
            SottoError: It failed.
        """

        def described(store: "ChatStore") -> _T:
            try:
                return work(store)
            except SottoError:
                raise
            except Exception as error:
                raise SottoError(self._reason(error)) from error

        return self._submit(lambda: described(self._open_store())).result()

    def wait(self, seconds: float) -> None:
        """Wait until the work submitted so far is done, for at most `seconds`."""
        if self._pool is not None:
            from concurrent.futures import wait

            wait([self._pool.submit(lambda: None)], timeout=seconds)

    def close(self) -> None:
        """Finish the submitted work, and close the file."""
        self.images.close()
        if self._pool is not None:
            self._pool.submit(self._close)
            self._pool.shutdown(wait=True)

    def _submit(self, function: Callable[..., _T], *args: Any) -> "Future[_T]":
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(1, thread_name_prefix="chats")
        return self._pool.submit(function, *args)

    def _run(
        self,
        work: Callable[["ChatStore"], Any],
        then: Callable[[Any], None] | None,
        otherwise: Callable[[], None] | None,
        quiet: bool,
    ) -> None:
        try:
            result = work(self._open_store())
        except Exception as error:
            # Built here, because `error` no longer exists when the lambda is called.
            why = "" if quiet else self._reason(error)
            if why:
                _log.error("Work on the chats failed.", exc_info=error)
            self._done.emit(lambda: self._fail(why, otherwise))
        else:
            if then is not None:
                self._done.emit(lambda: then(result))

    def _reason(self, error: Exception) -> str:
        refusal = self._store.database.refusal if self._store is not None and _is_refused(error) else ""
        return refusal or _describe(error, self.path)

    def _open_store(self) -> "ChatStore":
        if self._store is None:
            from sotto.chats.chat_store import ChatStore
            from sotto.chats.database import Database

            database = Database(self.path)
            self._store = ChatStore(database)
            for notice in database.notices:
                self._done.emit(lambda notice=notice: self.noticed.emit(notice))
        return self._store

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _fail(self, why: str, otherwise: Callable[[], None] | None) -> None:
        if why:
            self.failed.emit(why)
        if otherwise is not None:
            otherwise()

    @Slot(object)
    def _call(self, callback: Callable[[], None]) -> None:
        callback()


def _is_refused(error: Exception) -> bool:
    """Return whether something should have been written to a file that is only read."""
    import sqlite3

    # Only errors of SQLite itself have a code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF == sqlite3.SQLITE_READONLY


def _describe(error: Exception, path: Path) -> str:
    import sqlite3

    if isinstance(error, SottoError):
        return error.message
    if isinstance(error, sqlite3.Error):
        return tr("{file} could not be read or written: {reason}.").format(file=path, reason=error)
    return f"{type(error).__name__}: {error}"
