"""An engine in a child process, with the same commands and events as `EngineLoop`.

A crash in native code ends only the child: each pending request then ends with a `Failed` that says why, and `run`
raises. Unloading the last model ends the child too, which returns all its memory to the system; the next command that
needs a child starts another. `run` does everything on the thread that calls it, and waits only for the child's pipes,
its connection and commands.
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

# Long, because the engine then writes its prompt cache to disk.
_UNLOAD_SECONDS = 20.0
_CLOSE_SECONDS = 5.0
# From the end of the connection to the end of the process.
_DYING_SECONDS = 2.0
# Commands that need a child, and commands that are answered.
_NeedsChild = Load | Generate | Embed
_Answered = Load | Unload | Ask
_NO_MEMORY = MemoryFigures(0, 0, 0, 0, 0)


class RunnerProcess:
    """Runs an engine in a child process, for callers on any thread."""

    def __init__(self, emit: Callable[[Event], None], settings: EngineSettings | None = None) -> None:
        """Make a loop; commands may be sent before it runs.

        Args:
            emit: Receives every event, on the thread that calls `run`. Must not raise.
            settings: Those of the engine; None for those stored on this machine.
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
        """Queue a command. Unloading the last model ends the child, and measuring alone does not start one."""
        with self._lock:
            self._waiting.append(command)
        self._ring()

    def close(self) -> None:
        """Cancel everything and make `run` return; later commands are not served."""
        with self._lock:
            self._closed = True
        self._ring()

    @property
    def pid(self) -> int | None:
        """The child's process id; None without a child."""
        life = self._life
        return life.child.pid if life else None

    @property
    def port(self) -> int | None:
        """The loopback port on which the child listens; None if none does."""
        life = self._life
        address = life.address if life else None
        return address[0] if address else None

    def ping(self, seconds: float = 1.0) -> Status:
        """Return the child's status within `seconds`.

        Raises:
            EngineError: No child is listening, or it does not answer.
        """
        return self._calls().status(seconds)

    def tokenize(self, text: str) -> list[int]:
        """Tokenize a text with the model in the unnamed seat; see `Calls`."""
        return self._calls().tokenize(text)

    def detokenize(self, ids: Sequence[int]) -> str:
        """Return the text of tokens of the model in the unnamed seat; see `Calls`."""
        return self._calls().detokenize(ids)

    def _calls(self) -> Calls:
        life = self._life
        address = life.address if life else None
        if address is None:
            raise EngineError("The engine's process does not listen.")
        return Calls(*address)

    def _ring(self) -> None:
        # Fails harmlessly if the bell is ringing already (BlockingIOError) or `run` has ended.
        with suppress(OSError):
            self._ringer.send(b"!")

    # The thread that runs it

    def run(self) -> None:
        """Serve commands until `close`. The last event is `Unloaded`.

        Raises:
            ProcessEndedError: The child ended by itself. Every request has been answered; this error stands for the
                failure of a load under way.
        """
        with self._bell, self._ringer:
            # The first child starts before any command, so that it is ready for it.
            while not self._closed:
                self._run_child()
                self._wait_until_needed()
            self._cancel_all(self._take(connected=False)[0])
        self._emit(Unloaded())

    def _wait_until_needed(self) -> None:
        """Wait without a child until a command needs one."""
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
        """Serve commands with one child until it is unloaded or this loop is closed."""
        try:
            with Life(self._settings, self._bell) as life:
                self._life = life
                unserved = self._serve(life)
                if unserved is None:
                    by_itself = life.finish(_DYING_SECONDS)
                    self._fail_all(life.child.reason() if by_itself else "The engine's process stopped sending events.")
        except WireError as error:
            self._fail_all(error.message)
        finally:
            self._life = None
        self._cancel_all(unserved)

    def _serve(self, life: Life) -> list[Command] | None:
        """Serve until the child is gone; return the commands left unserved, None if it ended by itself.

        Raises:
            WireError: It violates the protocol.
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
        """End a child cleanly, or by force at `until`; its events are still passed on meanwhile."""
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
        """Take the commands to serve now; return also the seconds the child has to end because of them, else 0."""
        with self._lock:
            count, grace = len(self._waiting) if connected else 0, 0.0
            last = self._last_unload()
            if self._closed:
                count, grace = len(self._waiting), _CLOSE_SECONDS
            elif last is not None:
                count, grace = last + 1, _UNLOAD_SECONDS
            return [self._waiting.popleft() for _ in range(count)], grace

    def _last_unload(self) -> int | None:
        """Return the index in the queue of the last unload that leaves no model loaded; the lock is held."""
        seats, found = set(self._loaded), None
        for index, command in enumerate((*self._unanswered, *self._waiting)):
            if isinstance(command, Load):
                seats.add(command.seat)
            elif isinstance(command, Unload):
                seats.discard(command.seat)
                found = found if seats else index - len(self._unanswered)
        return found if found is None or found >= 0 else None

    def _on_event(self, event: Any) -> None:
        """Emit an event if it belongs to an unanswered command."""
        if isinstance(event, MemoryFigures | Measured):
            self._emit(event)
        elif command := self._find_command(event):
            if isinstance(event, RequestEnd | Loaded | Unloaded):
                self._unanswered.remove(command)
            if isinstance(event, Loaded):
                self._loaded.add(event.seat)
            elif isinstance(command, Load | Unload) and not isinstance(event, LoadProgress):
                self._loaded.discard(command.seat)
            self._emit(event)

    def _find_command(self, event: Any) -> _Answered | None:
        """Return the command that an event answers; None if no caller waits for it, as for a child's last event."""
        if is_load_event(event):
            changes = (command for command in self._unanswered if isinstance(command, Load | Unload))
            return next((change for change in changes if change.seat == event.seat), None)
        if not isinstance(event, RequestEvent):
            raise WireError(f"The engine's process says {type(event).__name__}, which is not an event.")
        asks = (command for command in self._unanswered if not isinstance(command, Load | Unload))
        return next((ask for ask in asks if ask.request.id == event.request_id), None)

    def _cancel_all(self, unserved: list[Command]) -> None:
        """End the unanswered and `unserved` commands as cancelled."""
        unanswered, self._unanswered = self._unanswered, []
        self._loaded.clear()
        for command in (*unanswered, *unserved):
            if isinstance(command, Generate | Embed):
                self._emit(_cancelled(command.request.id))
            elif isinstance(command, Count):
                self._emit(Failed(command.request.id, NOTHING_TO_COUNT_FOR))
            elif isinstance(command, Load | Unload):
                self._emit(Unloaded(command.seat))
        if any(isinstance(command, Unload) for command in unserved):
            self._emit(_NO_MEMORY)

    def _fail_all(self, message: str) -> NoReturn:
        """End every command with a failure because the child is gone.

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
