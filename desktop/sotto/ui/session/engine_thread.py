"""The thread that owns the engine, or the process that has it, and the signal its events come up by."""

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from sotto.engine.contract.events import Event, Failed, RequestEnd, RequestEvent
from sotto.engine.contract.types import CountRequest, EmbedRequest, GenerateRequest
from sotto.errors import ProcessEndedError
from sotto.runner.host import STACK_BYTES, HeardAnswer, Loop
from sotto.runner.joining import joined
from sotto.store.records import ModelRecord

_EVERY_MS = 33
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
        self._waiting: list[Callable[[Loop], None]] = []
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

    def load(
        self,
        record: ModelRecord,
        num_ctx: int | None = None,
        *,
        anyway: bool = False,
        seat: str = "",
        roomy: bool = False,
    ) -> None:
        """Load a model in place of what is in a seat."""
        self._tell(lambda loop: loop.load(record, num_ctx, anyway=anyway, seat=seat, roomy=roomy))

    def unload(self, seat: str = "") -> None:
        """Unload the model in a seat."""
        self._tell(lambda loop: loop.unload(seat))

    def generate(
        self, request: GenerateRequest, heard: HeardAnswer | None = None, *, seat: str = "", background: bool = False
    ) -> None:
        """Generate with the model in a seat.

        Args:
            request: What to generate from.
            heard: Takes the request's events on the engine's own thread, which then do not come up by `happened`.
            seat: Which model.
            background: Whether people who wait for others go first.
        """
        if heard is not None:
            with self._lock:
                self._answering[request.id] = heard
        self._tell(lambda loop: loop.generate(request, seat=seat, background=background))

    def embed(self, request: EmbedRequest, heard: HeardAnswer, *, seat: str = "", background: bool = False) -> None:
        """Make vectors of texts with the model in a seat.

        Args:
            request: The texts.
            heard: Takes the end of it on the engine's own thread.
            seat: Which model.
            background: Whether people who wait for others go first.
        """
        with self._lock:
            self._answering[request.id] = heard
        self._tell(lambda loop: loop.embed(request, seat=seat, background=background))

    def count(self, request: CountRequest, heard: HeardAnswer | None = None, *, seat: str = "") -> None:
        """Count the tokens of a conversation, beside whatever else is served; see `generate`."""
        if heard is not None:
            with self._lock:
                self._answering[request.id] = heard
        if not self._tell(lambda loop: loop.count(request, seat=seat), revives=False):
            self._post(Failed(request.id, _NOTHING_TO_COUNT_WITH))

    @property
    def answering(self) -> bool:
        """Whether it answers others than the window."""
        with self._lock:
            return bool(self._answering)

    def cancel(self, request_id: str) -> None:
        """End a request as cancelled."""
        self._tell(lambda loop: loop.cancel(request_id), revives=False)

    def cancel_load(self, seat: str = "") -> None:
        """Stop the load of a seat."""
        self._tell(lambda loop: loop.cancel_load(seat), revives=False)

    def measure(self, record: ModelRecord) -> None:
        """Find out what a model needs in memory, once there is nothing else to do and an engine that does it."""
        self._tell(lambda loop: loop.measure(record), revives=False)

    def close(self, milliseconds: int = 5000) -> bool:
        """End everything; return whether the thread has ended in time."""
        self._closed = True
        if not self.isRunning():
            return True
        self._tell(lambda loop: loop.close())
        return self.wait(milliseconds)

    def _tell(self, command: Callable[[Loop], None], *, revives: bool = True) -> bool:
        """Pass a command on, or keep it until there is an engine; return False for one that a lost engine is past."""
        with self._lock:
            if self._lost and not revives:
                return False
            if self._loop is None:
                self._waiting.append(command)
            else:
                command(self._loop)
            self._lost = False
        if not self._closed and not self.isRunning():
            self.start()
        return True

    def run(self) -> None:
        """Run the engine's loop until `close`."""
        lost = None
        try:
            loop = self._make_loop(self._post)
            with self._lock:
                self._loop = loop
                for command in self._waiting:
                    command(loop)
                self._waiting.clear()
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
        if asked and not self._closed and not self.isRunning():
            self.start()

    @Slot()
    def _read(self) -> None:
        events = self._mailbox.take()
        if events:
            self._reader.start()
        for event in events:
            self.happened.emit(event)
