"""An engine in a process of its own, behind the same commands and events as `EngineLoop`.

What goes wrong in native code there ends that process and nothing else: everything that was asked then ends with one
`Failed`, which says why, and `run` raises. Unloading the last model ends the process too, so that the memory is given
back whatever the engine still held; the next command starts another one. `run` does everything on the thread that
calls it, and waits for nothing but the child's pipes, its connection and commands.
"""

import logging
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, NoReturn

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import (
    DoneReason,
    Event,
    Failed,
    Finished,
    Loaded,
    LoadProgress,
    RequestEnd,
    RequestEvent,
    Unloaded,
)
from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.errors import NOTHING_TO_COUNT_FOR, EngineError, ProcessEndedError
from sotto.runner.client_calls import Calls
from sotto.runner.codec import WireError
from sotto.runner.commands import Ask, Command, Count, Embed, Generate, Load, Unload
from sotto.runner.isolated.life import Life, silence
from sotto.runner.status import Status, is_load_event

_log = logging.getLogger(__name__)

# What was computed last is written to the disk meanwhile.
_UNLOAD_SECONDS = 20.0
_CLOSE_SECONDS = 5.0
# From the end of the connection to the end of the process.
_DYING_SECONDS = 2.0
# What a child is needed for, and what it answers.
_NeedsChild = Load | Generate | Embed
_Answered = Load | Unload | Ask
_NO_MEMORY = MemoryFigures(0, 0, 0, 0, 0)


class RunnerProcess:
    """Runs an engine in a child process for callers on any thread."""

    def __init__(self, emit: Callable[[Event], None], settings: EngineSettings | None = None) -> None:
        """Make a host that nobody runs yet; commands may be given already.

        Args:
            emit: Receives every event, on the thread that calls `run`. Must not raise.
            settings: Of the engine; None as they are kept on this machine.
        """
        self._emit = emit
        self._settings = settings
        self._lock = threading.Lock()
        self._waiting: deque[Command] = deque()
        self._closed = False
        self._bell, self._ringer = socket.socketpair()
        self._bell.setblocking(False)
        self._ringer.setblocking(False)
        self._unanswered: list[_Answered] = []
        self._loaded: set[str] = set()
        self._life: Life | None = None

    # Any thread

    def send(self, command: Command) -> None:
        """Have a command carried out. Unloading the last model ends the process, and measuring starts none."""
        with self._lock:
            self._waiting.append(command)
        self._ring()

    def close(self) -> None:
        """End everything and make `run` return; later commands are never served."""
        with self._lock:
            self._closed = True
        self._ring()

    @property
    def pid(self) -> int | None:
        """The child's process id; None while there is none."""
        life = self._life
        return life.child.pid if life else None

    @property
    def port(self) -> int | None:
        """Where the child listens, on this machine; None while there is none that does."""
        life = self._life
        address = life.address if life else None
        return address[0] if address else None

    def ping(self, seconds: float = 1.0) -> Status:
        """Return what the child's `/v1/status` says, within so many seconds.

        Raises:
            EngineError: There is no child that listens, or it does not answer.
        """
        return self._calls().status(seconds)

    def tokenize(self, text: str) -> list[int]:
        """Cut a text into tokens of the model in the seat without a name; see `Calls`."""
        return self._calls().tokenize(text)

    def detokenize(self, ids: Sequence[int]) -> str:
        """Put tokens of the model in the seat without a name together to a text; see `Calls`."""
        return self._calls().detokenize(ids)

    def _calls(self) -> Calls:
        life = self._life
        address = life.address if life else None
        if address is None:
            raise EngineError("The engine's process does not listen.")
        return Calls(*address)

    def _ring(self) -> None:
        # What keeps it from ringing: it rings already (BlockingIOError), or nobody listens any more.
        with suppress(OSError):
            self._ringer.send(b"!")

    # The thread that runs it

    def run(self) -> None:
        """Serve commands until `close`. The last event is `Unloaded`.

        Raises:
            ProcessEndedError: The child ended by itself; every request has been answered, and what was being loaded
                fails by this.
        """
        with self._bell, self._ringer:
            # The first child is started before anything is asked, so that it is ready when that comes.
            while not self._closed:
                self._run_child()
                self._wait_until_needed()
            self._cancel_all(self._take(connected=False)[0])
        self._emit(Unloaded())

    def _wait_until_needed(self) -> None:
        """Do without a child until one is needed."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._bell, selectors.EVENT_READ)
            while not self._closed:
                with self._lock:
                    idle = list(takewhile(lambda command: not isinstance(command, _NeedsChild), self._waiting))
                    needed = len(idle) < len(self._waiting)
                    for _ in idle:
                        self._waiting.popleft()
                self._cancel_all(idle)
                if needed:
                    return
                selector.select()
                silence(self._bell)

    def _run_child(self) -> None:
        """Serve with one child until it is unloaded or everything is closed."""
        try:
            with Life(self._settings, self._bell) as life:
                self._life = life
                unserved = self._serve(life)
                if unserved is None:
                    by_itself = life.finish(_DYING_SECONDS)
                    self._fail_all(life.child.reason() if by_itself else "The engine's process said no more.")
        except WireError as error:
            self._fail_all(error.message)
        finally:
            self._life = None
        self._cancel_all(unserved)

    def _serve(self, life: Life) -> list[Command] | None:
        """Serve until the child is gone; return what it need not serve any more, None if it ended by itself.

        Raises:
            WireError: It does not keep to what was agreed on.
        """
        while not life.gone:
            commands, grace = self._take(connected=life.connected)
            if grace:
                self._end(life, time.monotonic() + grace)
                return commands
            for command in commands:
                if isinstance(command, _Answered):
                    self._unanswered.append(command)
                life.send(command)
            for event in life.turn(None):
                self._on_event(event)
        return None

    def _end(self, life: Life, until: float) -> None:
        """End a child well, or by force at a time; it may say meanwhile what becomes of what was asked."""
        life.ask_to_end()
        try:
            while not life.gone and time.monotonic() < until:
                for event in life.turn(until):
                    self._on_event(event)
                if self._closed:
                    until = min(until, time.monotonic() + _CLOSE_SECONDS)
        except WireError as error:
            _log.warning("%s", error.message)
            until = 0.0
        life.finish(max(0.0, until - time.monotonic()))

    def _take(self, *, connected: bool) -> tuple[list[Command], float]:
        """Take the commands whose turn it is; return also how long the child has to end because of them, else 0."""
        with self._lock:
            count, grace = len(self._waiting) if connected else 0, 0.0
            last = self._last_unload()
            if self._closed:
                count, grace = len(self._waiting), _CLOSE_SECONDS
            elif last is not None:
                count, grace = last + 1, _UNLOAD_SECONDS
            return [self._waiting.popleft() for _ in range(count)], grace

    def _last_unload(self) -> int | None:
        """Return the place of the last command that leaves nothing loaded; the lock is held."""
        seats, found = set(self._loaded), None
        for index, command in enumerate((*self._unanswered, *self._waiting)):
            if isinstance(command, Load):
                seats.add(command.seat)
            elif isinstance(command, Unload):
                seats.discard(command.seat)
                found = found if seats else index - len(self._unanswered)
        return found if found is None or found >= 0 else None

    def _on_event(self, event: Any) -> None:
        """Pass an event on, if it belongs to something that was asked."""
        if isinstance(event, MemoryFigures | Measured):
            self._emit(event)
        elif asked := self._find_command(event):
            if isinstance(event, RequestEnd | Loaded | Unloaded):
                self._unanswered.remove(asked)
            if isinstance(event, Loaded):
                self._loaded.add(event.seat)
            elif isinstance(asked, Load | Unload) and not isinstance(event, LoadProgress):
                self._loaded.discard(asked.seat)
            self._emit(event)

    def _find_command(self, event: Any) -> _Answered | None:
        """Return what an event is about; None for what nobody waits for, as the last that a child says."""
        if is_load_event(event):
            changes = (one for one in self._unanswered if isinstance(one, Load | Unload))
            return next((one for one in changes if one.seat == event.seat), None)
        if not isinstance(event, RequestEvent):
            raise WireError(f"The engine's process says {type(event).__name__}, which is no event.")
        asked = (one for one in self._unanswered if not isinstance(one, Load | Unload))
        return next((one for one in asked if one.request.id == event.request_id), None)

    def _cancel_all(self, unserved: list[Command]) -> None:
        """End as cancelled what no child has answered, and nobody is to answer any more."""
        asked, self._unanswered = self._unanswered, []
        self._loaded.clear()
        for command in (*asked, *unserved):
            if isinstance(command, Generate | Embed):
                self._emit(_cancelled(command.request.id))
            elif isinstance(command, Count):
                self._emit(Failed(command.request.id, NOTHING_TO_COUNT_FOR))
            elif isinstance(command, Load | Unload):
                self._emit(Unloaded(command.seat))
        if any(isinstance(command, Unload) for command in unserved):
            self._emit(_NO_MEMORY)

    def _fail_all(self, message: str) -> NoReturn:
        """End everything because the child is gone.

        Raises:
            ProcessEndedError: Always.
        """
        with self._lock:
            self._closed = True
        details = self._life.child.words.text if self._life else ""
        for command in (*self._unanswered, *self._take(connected=False)[0]):
            if isinstance(command, Ask):
                self._emit(Failed(command.request.id, message, bug=True, details=details))
            elif isinstance(command, Unload):
                self._emit(Unloaded(command.seat))
        raise ProcessEndedError(message, details)


def _cancelled(request_id: str) -> Finished:
    return Finished(request_id, "", (), DoneReason.CANCELLED, 0, 0, 0, 0, 0)
