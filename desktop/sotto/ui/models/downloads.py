"""Downloads of models: what is asked of the queue, and what it says, brought to the window's thread. Draws nothing.

The queue works on a thread of its own, however the window is; nothing here waits for it but the end of the app.
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
from sotto.store.sources.model_names import parse_name
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import model_name

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import AsyncTasks

UNDO_SECONDS = 10.0
# Rows that change more often than this cannot be read.
_NEWS_MS = 200
RESTING = frozenset((PullState.PAUSED, PullState.FAILED))
"""Where a download stays until a person wants it to go on."""


class Queue(Protocol):
    """What downloads; see `sotto.store.pull.queue.PullQueue`."""

    def add(self, name: str) -> None:
        """Download a model after those that were added before."""

    def pause(self, name: str) -> None:
        """Stop a download, and keep what is here of it."""

    def resume(self, name: str) -> None:
        """Go on with a download."""

    def cancel(self, name: str) -> None:
        """Stop a download, and remove what is here of it."""

    def limit(self, bytes_per_second: int | None) -> None:
        """Let all downloads together be no faster."""

    def unfinished(self) -> tuple[PullProgress, ...]:
        """Return the downloads that an earlier run left."""

    def close(self) -> None:
        """Stop within a second, and keep what is here."""


def open_queue(tell: Callable[[PullProgress], None]) -> Queue:
    """Return the queue that downloads into Sotto's own store what the engine can run."""
    from sotto.store.pull.queue import PullQueue

    return PullQueue(data_dir() / "models", tell, judge=_refusal)


def _refusal(config: Mapping[str, Any]) -> str:
    """Return why the engine cannot run a model of this configuration, or nothing; called on the queue's thread."""
    from sotto.engine.config.supported_models import refusal

    return refusal(config)


class Downloads(QObject):
    """What is being downloaded, in the order in which it was asked for.

    Signals:
        changed: Something of it is other than before (a tuple of `PullProgress`); what the queue says is passed on at
            most five times a second.
        began: A download was asked for; the model's name.
        ended: A model is on the disk, or could not be downloaded (`PullProgress`).
        offered: What was done, about what, the words for undoing it, what undoes it, and for how many seconds.
    """

    changed = Signal(object)
    began = Signal(str)
    ended = Signal(object)
    offered = Signal(str, str, str, object, float)
    _told = Signal()

    def __init__(self, session: Session, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Know of no downloads before `begin`; models that come are shown by `session`."""
        super().__init__(parent)
        self._session, self._preferences = session, preferences
        self._closed = False
        self._limit = 0
        self._shown: dict[str, PullProgress] = {}
        self._doomed: dict[str, PullProgress] = {}
        # What came since the window's thread last looked: filled by the queue's thread.
        self._lock = threading.Lock()
        self._news: dict[str, PullProgress] = {}
        self._calm = QTimer(self, singleShot=True, interval=_NEWS_MS)
        self._calm.timeout.connect(self._take)
        self._told.connect(self._hear, Qt.ConnectionType.QueuedConnection)

    @property
    def all(self) -> tuple[PullProgress, ...]:
        """Every download that is not over, in the order in which they were asked for."""
        return tuple(self._shown.values())

    @cached_property
    def _queue(self) -> Queue:
        """The queue, made when it is wanted first: nothing is imported for it before the window can be seen."""
        queue = open_queue(self._tell)
        self._limit = self._preferences.values.download_limit
        queue.limit(self._limit or None)
        self._preferences.changed.connect(self._follow)
        return queue

    def begin(self, flows: "AsyncTasks") -> None:
        """Look for downloads that an earlier run left; they wait for a person."""
        flows.start(self._begin(flows))

    async def _begin(self, flows: "AsyncTasks") -> None:
        # What the queue needs is imported where nothing waits for that.
        await flows.call(import_module, "sotto.store.pull.queue")
        try:
            left = await flows.call(self._queue.unfinished)
        except (SottoError, OSError) as error:
            self._session.problem.emit(Problem("Earlier downloads could not be read", str(error)))
            return
        for progress in left:
            self._shown.setdefault(progress.name, progress)
        if left:
            self.changed.emit(self.all)

    # What a person does

    def add(self, text: str) -> str:
        """Download a model, or go on with it where it rests; return its name.

        Raises:
            InvalidNameError: `text` is no name of a model that can be had.
        """
        name = parse_name(text).short
        if name in self._doomed:
            self._bring_back(name)
        if name not in self._shown:
            self._queue.add(text)
            self._shown[name] = PullProgress(name, PullState.WAITING)
            self.began.emit(name)
            self.changed.emit(self.all)
        elif self._shown[name].state in RESTING:
            self.resume(name)
        return name

    def pause(self, name: str) -> None:
        """Let a download rest; what is here of it stays."""
        self._queue.pause(name)

    def resume(self, name: str) -> None:
        """Go on with a download that rests."""
        self._queue.resume(name)

    def cancel(self, name: str) -> None:
        """Give a download up; what is here of it goes when nobody has wanted it back for some seconds."""
        progress = self._shown.pop(name, None)
        if progress is None:
            return
        self.changed.emit(self.all)
        if not progress.done:
            self._queue.cancel(name)
            return
        self._doomed[name] = progress
        self.pause(name)
        title = f"The download of {model_name(name)} is cancelled"
        why = f"The {wording.size(progress.done)} of it that are here are deleted in a moment."
        self.offered.emit(title, why, "Undo", partial(self._bring_back, name), UNDO_SECONDS)
        QTimer.singleShot(round(1000 * UNDO_SECONDS), self, lambda: self._doom(name, progress))

    def _bring_back(self, name: str) -> None:
        progress = self._doomed.pop(name, None)
        if progress is not None:
            self._shown[name] = progress
            if progress.state not in RESTING:
                self.resume(name)
            self.changed.emit(self.all)

    def _doom(self, name: str, progress: PullProgress) -> None:
        # The same model may have been brought back, and given up once more, meanwhile.
        if self._doomed.get(name) is progress:
            del self._doomed[name]
            self._queue.cancel(name)

    def close(self) -> None:
        """Stop within a second; what is here of downloads stays, but of those that were given up."""
        if self._closed:
            return
        self._closed = True
        self._calm.stop()
        if "_queue" in self.__dict__:
            for name in self._doomed:
                self._queue.cancel(name)
            self._queue.close()

    @Slot(object)
    def _follow(self, values: Preferences) -> None:
        if values.download_limit != self._limit:
            self._limit = values.download_limit
            self._queue.limit(values.download_limit or None)

    # What the queue says

    def _tell(self, progress: PullProgress) -> None:
        """Keep the newest word of each download; called on the queue's thread."""
        with self._lock:
            first = not self._news
            self._news[progress.name] = progress
        if first and not self._closed:
            self._told.emit()

    @Slot()
    def _hear(self) -> None:
        if not self._calm.isActive():
            self._take()

    @Slot()
    def _take(self) -> None:
        with self._lock:
            news, self._news = self._news, {}
        ends = list(self._ends(news))
        if not news or self._closed:
            return
        self._calm.start()
        self.changed.emit(self.all)
        for progress in ends:
            self.ended.emit(progress)

    def _ends(self, news: dict[str, PullProgress]) -> Iterator[PullProgress]:
        """Take what is new of downloads that are shown, and yield those that are over."""
        for name, progress in news.items():
            before = self._shown.get(name)
            if progress.state is PullState.DONE:
                # One that was given up may have been there already.
                if (self._shown.pop(name, None) or self._doomed.pop(name, None)) is not None:
                    self._session.library.rescan()
                    yield progress
            elif before is not None:
                self._shown[name] = progress
                if progress.state is PullState.FAILED and before.state is not PullState.FAILED:
                    yield progress
            elif progress.state is PullState.FAILED and name not in self._doomed:
                # It was given up, and cannot be deleted.
                self._shown[name] = progress
                yield progress
