"""The thread that owns the engine, or the connection to its process, and delivers its events to the window."""

import logging
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from sotto.engine.contract.events import Event, Failed, RequestEnd, RequestEvent
from sotto.errors import ProcessEndedError
from sotto.reports.report import Trouble, trouble_of
from sotto.runner.commands import Ask, Command, Count, Embed, Generate, Load, Unload
from sotto.runner.host import STACK_BYTES, AnswerCallback, Loop
from sotto.runner.joining import join_events

_log = logging.getLogger(__name__)

_INTERVAL_MS = 33
# The commands for which a lost engine is restarted.
_RestartingCommand = Load | Unload | Generate | Embed
_NOT_RUNNING = "The engine has stopped: load a model first."


@dataclass(frozen=True, slots=True)
class EngineLost:
    """The engine's thread ended unexpectedly; the next load, unload or request restarts it.

    Attributes:
        message: Why, in a sentence.
        details: More for a bug report.
        trouble: The error, for a report; None if a process ended, which is no error of the app.
    """

    message: str
    details: str
    trouble: Trouble | None = None


class Mailbox:
    """Events on their way to the window's thread; adjacent ones are merged before they are delivered.

    Waking the window's thread for each event would cost more than the event, because it must acquire the interpreter's
    lock. So the reader is woken once, takes all events, and then polls every 33 ms until it finds none: the first event
    arrives at once, and none is delayed for longer than that.
    """

    def __init__(self) -> None:
        """Begin empty, with a sleeping reader."""
        self._lock = threading.Lock()
        self._events: list[object] = []
        self._asleep = True

    def put(self, event: object) -> bool:
        """Add an event, on any thread; return whether the caller must wake the reader."""
        with self._lock:
            self._events.append(event)
            was_asleep, self._asleep = self._asleep, False
            return was_asleep

    def take(self) -> list[object]:
        """Return and remove all events, in order; after an empty list the reader sleeps."""
        with self._lock:
            events, self._events = self._events, []
            self._asleep = not events
        return join_events(events)


def engine_loop(emit: Callable[[Event], None]) -> Loop:
    """Return an engine that computes on the calling thread."""
    # Imported on the engine's thread, because the window's first paint should not wait for the import.
    from sotto.engine.contract.engine_settings import read_settings
    from sotto.runner.loop import EngineLoop

    return EngineLoop(emit, read_settings)


class EngineThread(QThread):
    """Owns the engine and its KV caches, as the only thread that uses MLX, or the connection to the engine's process.

    Commands may be sent from the window's thread at any time, even before the engine exists; `EngineLoop` documents
    them. A lost engine is restarted by loads, unloads and requests, but not by commands that only accompany these
    (counting, measuring, cancelling).

    Signals:
        event_received: An event of `sotto.engine.contract.events`, or `EngineLost`; emitted on the window's thread.

    Attributes:
        make_loop: Creates the engine's loop.
        loop: The running loop; None if none is running.
    """

    event_received = Signal(object)
    _woken = Signal()

    def __init__(
        self, parent: QObject | None = None, make_loop: Callable[[Callable[[Event], None]], Loop] = engine_loop
    ) -> None:
        """Prepare the thread, which starts with `start()` or the first command.

        Args:
            parent: The Qt parent.
            make_loop: Creates the engine's loop, on the thread, from the function that takes its events.
        """
        super().__init__(parent)
        self.setObjectName("engine")
        self.setStackSize(STACK_BYTES)
        self.make_loop = make_loop
        self._lock = threading.Lock()
        self.loop: Loop | None = None
        self._waiting: list[Command] = []
        self._closed = False
        self._lost = False
        self._answering: dict[str, AnswerCallback] = {}
        self._mailbox = Mailbox()
        self._reader = QTimer(self)
        self._reader.setSingleShot(True)
        self._reader.setInterval(_INTERVAL_MS)
        self._reader.timeout.connect(self._read)
        self._woken.connect(self._read)
        self.finished.connect(self._restart)

    def send(self, command: Command, heard: AnswerCallback | None = None) -> None:
        """Queue a command.

        Args:
            command: What to do.
            heard: Called with the events of a request, on the engine's thread, instead of `event_received`.
        """
        if heard is not None and isinstance(command, Ask):
            with self._lock:
                self._answering[command.request.id] = heard
        with self._lock:
            ignored = self._lost and not isinstance(command, _RestartingCommand)
            if not ignored:
                self._lost = False
                if self.loop is None:
                    self._waiting.append(command)
                else:
                    self.loop.send(command)
        if not ignored:
            self._begin()
        elif isinstance(command, Count):
            self._post(Failed(command.request.id, _NOT_RUNNING))

    @property
    def answering(self) -> bool:
        """Whether a request is under way whose events do not go to the window."""
        with self._lock:
            return bool(self._answering)

    def close(self, milliseconds: int = 5000) -> bool:
        """Stop the engine; return whether the thread ended within `milliseconds`."""
        self._closed = True
        if not self.isRunning():
            return True
        with self._lock:
            if self.loop is not None:
                self.loop.close()
        return self.wait(milliseconds)

    def _begin(self) -> None:
        if not self._closed and not self.isRunning():
            self.start()

    def run(self) -> None:
        """Run the engine's loop until `close`."""
        lost = None
        try:
            loop = self.make_loop(self._post)
            with self._lock:
                self.loop = loop
                for command in self._waiting:
                    loop.send(command)
                self._waiting.clear()
                if self._closed:
                    loop.close()
            loop.run()
        except ProcessEndedError as error:
            _log.error("%s", error.message)
            lost = EngineLost(error.message, error.details)
        except Exception as error:
            reason = f"The engine failed ({type(error).__name__}: {error})."
            # Not with the error, whose stack has arrays, which belong to this thread.
            lost = EngineLost(reason, "".join(traceback.format_exception(error)), trouble_of(error))
        with self._lock:
            self.loop = None
            self._lost = lost is not None
            unanswered = tuple(self._answering)
        for request_id in unanswered:
            self._post(Failed(request_id, lost.message if lost else "The engine has been stopped.", bug=bool(lost)))
        if lost:
            self._post(lost)

    def _post(self, event: object) -> None:
        if isinstance(event, RequestEvent):
            with self._lock:
                heard = self._answering.get(event.request_id)
                if isinstance(event, RequestEnd):
                    self._answering.pop(event.request_id, None)
            if heard is not None:
                heard(event)
                return
        if self._mailbox.put(event):
            self._woken.emit()

    @Slot()
    def _restart(self) -> None:
        """Restart for commands that came after the engine was lost and before its thread had ended."""
        with self._lock:
            waiting = bool(self._waiting)
        if waiting:
            self._begin()

    @Slot()
    def _read(self) -> None:
        events = self._mailbox.take()
        if events:
            self._reader.start()
        for event in events:
            self.event_received.emit(event)
