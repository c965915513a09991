"""Work on images that would hold up the window, on threads of its own."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from sotto.errors import CancelledError, SottoError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_T = TypeVar("_T")


class ImageWork(QObject):
    """Does work on its threads, and delivers the results on the window's."""

    _done = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Start no thread yet."""
        super().__init__(parent)
        # Created for the first work, so that the window can be painted before the import.
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False
        self._done.connect(self._call, Qt.ConnectionType.QueuedConnection)

    def start(
        self,
        work: Callable[[], _T],
        then: Callable[[_T], None],
        otherwise: Callable[[str], None],
        receiver: QObject,
    ) -> None:
        """Do some work, and call `then` with its result, or `otherwise` with why there is none, in a sentence.

        Nothing is called once `receiver` is deleted, or if the work is cancelled.
        """

        def run() -> None:
            try:
                result = work()
            except CancelledError:
                pass
            except SottoError as error:
                self._done.emit(partial(_report, receiver, otherwise, error.message))
            except Exception as error:
                # A bug, which is reported from the window's thread.
                self._done.emit(partial(_raise, error))
            else:
                self._done.emit(partial(_report, receiver, then, result))

        if not self._closed:
            if self._pool is None:
                from concurrent.futures import ThreadPoolExecutor

                self._pool = ThreadPoolExecutor(2, thread_name_prefix="images")
            self._pool.submit(run)

    def is_closed(self) -> bool:
        """Return whether work under way should be cancelled; for any thread."""
        return self._closed

    def close(self) -> None:
        """Give up what is under way."""
        self._closed = True
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    @Slot(object)
    def _call(self, callback: Callable[[], None]) -> None:
        callback()


def _report(receiver: QObject, call: Callable[[_T], None], result: _T) -> None:
    if isValid(receiver):
        call(result)


def _raise(error: Exception) -> None:
    raise error
