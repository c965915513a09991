"""The thread that owns the engine, or the process that has it, and the signal its events come up by."""

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from sotto.engine.contract.events import Event, Failed, RequestEnd, RequestEvent
from sotto.errors import ProcessEndedError
from sotto.runner.commands import Ask, Command, Count, Embed, Generate, Load, Unload
from sotto.runner.host import STACK_BYTES, HeardAnswer, Loop
from sotto.runner.joining import joined

_EVERY_MS = 33
# What a lost engine is started anew for.
_Reviving = Load | Unload | Generate | Embed
_NOTHING_TO_COUNT_WITH = "The engine has stopped: load a model before anything is counted."


@dataclass(frozen=True, slots=True)
class EngineLost:
    """The engine's thread ended by itself; the next load, unload or request starts it anew."""

    message: str
    details: str


class Mailbox:
    """Events on their way to the window's thread, neighbours joined until it takes them.

    Each event that is sent up by itself makes the window's thread ask for the interpreter's lock, which costs it more
    than the event. So the reader is woken once, takes what there is, and then looks again every 33 ms until it finds
    nothing: the first event is there at once, and none is later than that.
    """

    def __init__(self) -> None:
        """Begin empty, with a reader who sleeps."""
        self._lock = threading.Lock()
        self._events: list[object] = []
        self._asleep = True

    def put(self, event: object) -> bool:
        """Leave an event, on any thread; return whether the reader must be woken."""
        with self._lock:
            self._events.append(event)
            woken, self._asleep = self._asleep, False
            return woken

    def take(self) -> list[object]:
        """Return what has come, in order; after an empty list the reader sleeps."""
        with self._lock:
            events, self._events = self._events, []
            self._asleep = not events
        return joined(events)


def engine_loop(emit: Callable[[Event], None]) -> Loop:
    """Return an engine that computes on the very thread that asks for it."""
    # Imported on the engine's own thread: reading it takes time that the window's first paint should not wait for.
    from sotto.engine.contract.engine_settings import read_settings
    from sotto.runner.loop import EngineLoop

    return EngineLoop(emit, read_settings)


class EngineThread(QThread):
    """Owns the engine and its KV caches, as the only thread that touches MLX; or the process that has the engine.

    Commands may be given from the window's thread at any time, before the engine exists too. They mean what they mean
    to `EngineLoop`. An engine that was lost comes back for what a person or a program asks of it; what goes on beside
    that (counting, measuring, cancelling) finds none until then.

    Signals:
        happened: An event of `sotto.engine.contract.events`, or `EngineLost`; sent on the window's thread.
    """

    happened = Signal(object)
    _woken = Signal()

    def __init__(
        self, parent: QObject | None = None, make_loop: Callable[[Callable[[Event], None]], Loop] = engine_loop
    ) -> None:
        """Make the thread; it starts with `start()` or the first command."""
        super().__init__(parent)
        self.setObjectName("engine")
        self.setStackSize(STACK_BYTES)
        self._make_loop = make_loop
        self._lock = threading.Lock()
        self._loop: Loop | None = None
        self._waiting: list[Command] = []
        self._closed = False
        self._lost = False
        self._answering: dict[str, HeardAnswer] = {}
        self._mailbox = Mailbox()
        self._reader = QTimer(self)
        self._reader.setSingleShot(True)
        self._reader.setInterval(_EVERY_MS)
        self._reader.timeout.connect(self._read)
        self._woken.connect(self._read)
        self.finished.connect(self._go_on)

    def send(self, command: Command, heard: HeardAnswer | None = None) -> None:
        """Have a command carried out, in its turn.

        Args:
            command: What to do.
            heard: Takes the events that answer it, on the engine's own thread; they do not come up by `happened` then.
        """
        if heard is not None and isinstance(command, Ask):
            with self._lock:
                self._answering[command.request.id] = heard
        with self._lock:
            past = self._lost and not isinstance(command, _Reviving)
            if not past:
                self._lost = False
                if self._loop is None:
                    self._waiting.append(command)
                else:
                    self._loop.send(command)
        if not past:
            self._begin()
        elif isinstance(command, Count):
            self._post(Failed(command.request.id, _NOTHING_TO_COUNT_WITH))

    @property
    def answering(self) -> bool:
        """Whether it answers others than the window."""
        with self._lock:
            return bool(self._answering)

    def close(self, milliseconds: int = 5000) -> bool:
        """End everything; return whether the thread has ended in time."""
        self._closed = True
        if not self.isRunning():
            return True
        with self._lock:
            if self._loop is not None:
                self._loop.close()
        return self.wait(milliseconds)

    def _begin(self) -> None:
        if not self._closed and not self.isRunning():
            self.start()

    def run(self) -> None:
        """Run the engine's loop until `close`."""
        lost = None
        try:
            loop = self._make_loop(self._post)
            with self._lock:
                self._loop = loop
                for command in self._waiting:
                    loop.send(command)
                self._waiting.clear()
                if self._closed:
                    loop.close()
            loop.run()
        except ProcessEndedError as error:
            lost = EngineLost(error.message, error.details)
        except Exception as error:
            reason = f"The engine could not go on ({type(error).__name__}: {error})."
            lost = EngineLost(reason, "".join(traceback.format_exception(error)))
        with self._lock:
            self._loop = None
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
    def _go_on(self) -> None:
        """Start anew for commands that came when the engine was lost and its thread had not ended yet."""
        with self._lock:
            asked = bool(self._waiting)
        if asked:
            self._begin()

    @Slot()
    def _read(self) -> None:
        events = self._mailbox.take()
        if events:
            self._reader.start()
        for event in events:
            self.happened.emit(event)
