"""Downloads as Qt sees them: passes commands to the download queue and brings its news to Qt's thread.

The queue works on its own thread. Nothing here waits for it, except closing the app.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from sotto.errors import SottoError
from sotto.paths import data_dir
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.sources.hugging_face_names import parse_wanted, wanted_name
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import model_name
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

UNDO_SECONDS = 10.0
# Figures that change more often than this cannot be read.
_NEWS_MS = 200
STOPPED = frozenset((PullState.PAUSED, PullState.FAILED))
"""States that a download leaves only when the user resumes it."""


class Queue(Protocol):
    """The interface of `sotto.store.pull.queue.PullQueue`, which tests replace."""

    def add(self, name: str) -> None:
        """Append a model to the queue."""

    def pause(self, name: str) -> None:
        """Stop a download and keep its files."""

    def resume(self, name: str) -> None:
        """Resume a download."""

    def cancel(self, name: str) -> None:
        """Stop a download and remove its files."""

    def limit(self, bytes_per_second: int | None) -> None:
        """Limit the speed of all downloads together; None for no limit."""

    def unfinished(self) -> tuple[PullProgress, ...]:
        """Return the downloads that an earlier run left unfinished."""

    def close(self) -> None:
        """Stop within a second and keep all files."""


def open_queue(report: Callable[[PullProgress], None]) -> Queue:
    """Return a queue that downloads models into Sotto's own store, and refuses those that the engine cannot run.

    Args:
        report: Called with each change of progress, on the queue's thread.
    """
    from sotto.store.pull.queue import PullQueue

    return PullQueue(data_dir() / "models", report, judge=_refusal, room=_room)


def _room() -> int | None:
    """Return how many bytes of weights the memory holds; None if that is not known."""
    from sotto.engine.memory.room_for_weights import room_for_weights

    return room_for_weights()


def _refusal(config: Mapping[str, Any]) -> str:
    """Return why the engine cannot run a model with this configuration; empty if it can."""
    from sotto.engine.config.supported_models import refusal

    return refusal(config)


class Downloads(QObject):
    """The unfinished downloads, in the order in which they were started.

    Signals:
        changed: The downloads or their progress changed (a tuple of `PullProgress`), at most five times a second.
        started: The user started a download; the model's name.
        ended: A download is complete or has failed (`PullProgress`).
        offered: Undoing is offered: title, message, label of the action, the action, and for how many seconds.
    """

    changed = Signal(object)
    started = Signal(str)
    ended = Signal(object)
    offered = Signal(str, str, str, object, float)
    _news_arrived = Signal()

    def __init__(self, session: Session, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Create an empty list, which `begin` fills; `session` rescans the library when a model has arrived."""
        super().__init__(parent)
        self._session, self._preferences = session, preferences
        self._closed = False
        self._limit = 0
        self._shown: dict[str, PullProgress] = {}
        # Cancelled downloads whose files are kept until undoing is no longer offered.
        self._cancelled: dict[str, PullProgress] = {}
        # Newest progress that Qt's thread has not processed yet; written by the queue's thread.
        self._lock = threading.Lock()
        self._news: dict[str, PullProgress] = {}
        self._throttle = QTimer(self, singleShot=True, interval=_NEWS_MS)
        self._throttle.timeout.connect(self._process_news)
        self._news_arrived.connect(self._process_unless_throttled, Qt.ConnectionType.QueuedConnection)

    @property
    def all(self) -> tuple[PullProgress, ...]:
        """All unfinished downloads, in the order in which they were started."""
        return tuple(self._shown.values())

    @cached_property
    def _queue(self) -> Queue:
        """The queue, created on first use so that its imports do not delay the window."""
        queue = open_queue(self._receive)
        self._limit = self._preferences.values.download_limit
        queue.limit(self._limit or None)
        self._preferences.changed.connect(self._apply_limit)
        return queue

    def begin(self, tasks: "AsyncTasks") -> None:
        """List the downloads that an earlier run left unfinished; they stay paused until the user resumes them."""
        tasks.start(self._begin(tasks))

    async def _begin(self, tasks: "AsyncTasks") -> None:
        # Imported on a worker thread, so that the window does not wait.
        await tasks.call(import_module, "sotto.store.pull.queue")
        try:
            unfinished = await tasks.call(self._queue.unfinished)
        except (SottoError, OSError) as error:
            self._session.problem.emit(Problem(tr("Earlier downloads could not be read"), str(error)))
            return
        for progress in unfinished:
            self._shown.setdefault(progress.name, progress)
        if unfinished:
            self.changed.emit(self.all)

    # Commands

    def add(self, text: str) -> str:
        """Start or resume the download of a model, and return its full name.

        Raises:
            InvalidNameError: `text` is not a valid model name.
        """
        name = wanted_name(parse_wanted(text))
        if name in self._cancelled:
            self._restore(name)
        if name not in self._shown:
            self._queue.add(text)
            self._shown[name] = PullProgress(name, PullState.WAITING)
            self.started.emit(name)
            self.changed.emit(self.all)
        elif self._shown[name].state in STOPPED:
            self.resume(name)
        return name

    def pause(self, name: str) -> None:
        """Pause a download and keep its files."""
        self._queue.pause(name)

    def resume(self, name: str) -> None:
        """Resume a download that is paused or has failed."""
        self._queue.resume(name)

    def cancel(self, name: str) -> None:
        """Cancel a download; its files are removed after a delay in which the user can undo this."""
        progress = self._shown.pop(name, None)
        if progress is None:
            return
        self.changed.emit(self.all)
        if not progress.done:
            self._queue.cancel(name)
            return
        self._cancelled[name] = progress
        self.pause(name)
        title = tr("The download of {name} was cancelled").format(name=model_name(name))
        message = tr("The {size} downloaded so far will be deleted in a moment.")
        message = message.format(size=wording.size(progress.done))
        self.offered.emit(title, message, tr("Undo"), partial(self._restore, name), UNDO_SECONDS)
        QTimer.singleShot(round(1000 * UNDO_SECONDS), self, lambda: self._remove_files(name, progress))

    def _restore(self, name: str) -> None:
        progress = self._cancelled.pop(name, None)
        if progress is not None:
            self._shown[name] = progress
            if progress.state not in STOPPED:
                self.resume(name)
            self.changed.emit(self.all)

    def _remove_files(self, name: str, progress: PullProgress) -> None:
        # The same download may have been restored and cancelled again meanwhile.
        if self._cancelled.get(name) is progress:
            del self._cancelled[name]
            self._queue.cancel(name)

    def close(self) -> None:
        """Stop within a second; files of cancelled downloads are removed, all others kept."""
        if self._closed:
            return
        self._closed = True
        self._throttle.stop()
        if "_queue" in self.__dict__:
            for name in self._cancelled:
                self._queue.cancel(name)
            self._queue.close()

    @Slot(object)
    def _apply_limit(self, values: Preferences) -> None:
        if values.download_limit != self._limit:
            self._limit = values.download_limit
            self._queue.limit(values.download_limit or None)

    # News from the queue

    def _receive(self, progress: PullProgress) -> None:
        """Keep the newest progress of each download; called on the queue's thread."""
        with self._lock:
            first = not self._news
            self._news[progress.name] = progress
        if first and not self._closed:
            self._news_arrived.emit()

    @Slot()
    def _process_unless_throttled(self) -> None:
        if not self._throttle.isActive():
            self._process_news()

    @Slot()
    def _process_news(self) -> None:
        with self._lock:
            news, self._news = self._news, {}
        ended = list(self._update(news))
        if not news or self._closed:
            return
        self._throttle.start()
        self.changed.emit(self.all)
        for progress in ended:
            self.ended.emit(progress)

    def _update(self, news: dict[str, PullProgress]) -> Iterator[PullProgress]:
        """Update the downloads, and yield those that have just ended."""
        for name, progress in news.items():
            before = self._shown.get(name)
            if progress.state is PullState.DONE:
                # A cancelled download may have been complete already.
                if (self._shown.pop(name, None) or self._cancelled.pop(name, None)) is not None:
                    self._session.library.rescan()
                    yield progress
            elif before is not None:
                self._shown[name] = progress
                if progress.state is PullState.FAILED and before.state is not PullState.FAILED:
                    yield progress
            elif progress.state is PullState.FAILED and name not in self._cancelled:
                # It was cancelled, and its files could not be removed.
                self._shown[name] = progress
                yield progress
