"""The thread that owns the engine, and the signal its events come up by."""

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from PySide6.QtCore import QObject, QThread, Signal

from sotto.engine.types import Event, GenerateRequest, LoadProgress, MemoryFigures, PrefillProgress, TextChunk
from sotto.store.records import ModelRecord

_STACK_BYTES = 16 << 20  # macOS gives other threads than the first 512 KB, less than deep Python needs
_EVERY_SECONDS = 0.033


class Loop(Protocol):
    """What the thread runs: `sotto.runner.loop.EngineLoop`, whose documentation counts."""

    def load(self, record: ModelRecord, num_ctx: int | None = None) -> None:
        """Load a model in place of what is loaded."""

    def unload(self) -> None:
        """Unload the model."""

    def generate(self, request: GenerateRequest) -> None:
        """Generate with the loaded model."""

    def cancel(self, request_id: str) -> None:
        """End a request as cancelled."""

    def cancel_load(self) -> None:
        """Stop the load that runs or waits."""

    def close(self) -> None:
        """End everything and make `run` return."""

    def run(self) -> None:
        """Serve commands until `close`."""


@dataclass(frozen=True, slots=True)
class EngineLost:
    """The engine's thread ended by itself; the next command starts it anew."""

    message: str
    details: str


class Coalescer:
    """Joins events that come faster than anyone reads: the first goes on at once, the others every 33 ms.

    Each event that goes up makes the window's thread ask for the interpreter's lock, which costs it more than the event
    itself. Only neighbours are joined, so the order stays.
    """

    def __init__(self, emit: Callable[[object], None], now: Callable[[], float] = time.monotonic) -> None:
        """Pass joined events to `emit`."""
        self._emit = emit
        self._now = now
        self._held: list[Event] = []
        self._due = 0.0

    def put(self, event: Event) -> None:
        """Take an event; it goes on now, or joined with its neighbours."""
        if self._held and not _joinable(self._held[-1], event):
            self.flush()
        self._held.append(event)
        if not _joinable(event, event):
            self.flush()
        elif self._now() >= self._due:
            self.flush()
            self._due = self._now() + _EVERY_SECONDS

    def flush(self) -> None:
        """Pass on what is held."""
        if self._held:
            held, self._held = self._held, []
            self._emit(_joined(held))


def _joinable(first: Event, second: Event) -> bool:
    if isinstance(first, TextChunk | PrefillProgress):
        return type(first) is type(second) and first.request_id == second.request_id
    if isinstance(first, LoadProgress):
        return isinstance(second, LoadProgress) and first.phase == second.phase
    return isinstance(first, MemoryFigures) and isinstance(second, MemoryFigures)


def _joined(events: list[Event]) -> Event:
    """Return one event in place of neighbours: texts are put together, of reports only the newest counts."""
    newest = events[-1]
    chunks = [event for event in events if isinstance(event, TextChunk)]
    if len(chunks) < 2:
        return newest
    text = "".join(chunk.text for chunk in chunks)
    return replace(chunks[0], text=text, token_ids=tuple(token for chunk in chunks for token in chunk.token_ids))


def _engine_loop(emit: Callable[[Event], None]) -> Loop:
    # Imported on the engine's own thread: reading it takes time that the window's first paint should not wait for.
    from sotto.runner.loop import EngineLoop

    return EngineLoop(emit)


class EngineThread(QThread):
    """Owns the engine and its KV caches; the only thread that touches MLX.

    Commands may be given from the window's thread at any time, before the engine exists too. They mean what they mean
    to `EngineLoop`.

    Signals:
        happened: An event of `sotto.engine.types`, or `EngineLost`.
    """

    happened = Signal(object)

    def __init__(
        self, parent: QObject | None = None, make_loop: Callable[[Callable[[Event], None]], Loop] = _engine_loop
    ) -> None:
        """Make the thread; it starts with `start()` or the first command."""
        super().__init__(parent)
        self.setObjectName("engine")
        self.setStackSize(_STACK_BYTES)
        self._make_loop = make_loop
        self._lock = threading.Lock()
        self._loop: Loop | None = None
        self._waiting: list[Callable[[Loop], None]] = []
        self._closed = False

    def load(self, record: ModelRecord, num_ctx: int | None = None) -> None:
        """Load a model in place of what is loaded."""
        self._tell(lambda loop: loop.load(record, num_ctx))

    def unload(self) -> None:
        """Unload the model."""
        self._tell(lambda loop: loop.unload())

    def generate(self, request: GenerateRequest) -> None:
        """Generate with the loaded model."""
        self._tell(lambda loop: loop.generate(request))

    def cancel(self, request_id: str) -> None:
        """End a request as cancelled."""
        self._tell(lambda loop: loop.cancel(request_id))

    def cancel_load(self) -> None:
        """Stop the load that runs or waits."""
        self._tell(lambda loop: loop.cancel_load())

    def close(self, milliseconds: int = 5000) -> bool:
        """End everything; return whether the thread has ended in time."""
        self._closed = True
        if not self.isRunning():
            return True
        self._tell(lambda loop: loop.close())
        return self.wait(milliseconds)

    def _tell(self, command: Callable[[Loop], None]) -> None:
        with self._lock:
            if self._loop is None:
                self._waiting.append(command)
            else:
                command(self._loop)
        if not self._closed and not self.isRunning():
            self.start()

    def run(self) -> None:
        """Run the engine's loop until `close`."""
        coalescer = Coalescer(self.happened.emit)
        lost = None
        try:
            loop = self._make_loop(coalescer.put)
            with self._lock:
                self._loop = loop
                for command in self._waiting:
                    command(loop)
                self._waiting.clear()
            loop.run()
        except Exception as error:
            reason = f"The engine could not go on ({type(error).__name__}: {error})."
            lost = EngineLost(reason, "".join(traceback.format_exception(error)))
        with self._lock:
            self._loop = None
        coalescer.flush()
        if lost:
            self.happened.emit(lost)
