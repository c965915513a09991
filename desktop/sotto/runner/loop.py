"""The engine's loop: commands from any thread become steps on the one thread that owns MLX.

A host calls `EngineLoop.run` on the thread that is to own MLX and the other methods from anywhere. Events are handed to
`emit` on the owning thread. What every caller can rely on:

- A request ends with exactly one `Finished`, `Embedded` or `Failed`, a load with exactly one `Loaded`, `Unloaded` (it
  was stopped) or `Failed`, in the order asked; a request that is cancelled while it waits ends at once.
- Requests are begun first come, first served, up to `SLOTS` at a time, and those that are begun take turns. Between any
  two steps (a prefill chunk, a token) the loop looks at what has arrived, and the next requests are rendered and
  tokenized on a helper thread meanwhile. What goes wrong in one request ends that request alone.
- Counting waits for nobody: it is done on a helper thread, for the model that is loaded then, and ends with one
  `Counted` or `Failed`, unless the loop is closed first.
- Loading, unloading and closing end everything that was asked before: what runs or waits ends as cancelled.
- Models are measured one by one while nothing else is to be done, and each ends with one `Measured`, unless the loop is
  closed before.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from sotto.engine.failures import failed
from sotto.engine.memory_figures import Measured
from sotto.engine.types import (
    Counted,
    CountRequest,
    Embedded,
    EmbedRequest,
    EngineSettings,
    Event,
    Failed,
    Finished,
    GenerateRequest,
    Loaded,
    LoadProgress,
    Unloaded,
)
from sotto.errors import NO_MODEL, CancelledError, InvalidRequestError
from sotto.store.opening import open_model
from sotto.store.records import ModelRecord

if TYPE_CHECKING:
    from sotto.engine.embedding import PreparedTexts
    from sotto.engine.engine import Engine
    from sotto.engine.preparing import Prepared
    from sotto.engine.tokenizer import Tokenizer

# Requests that are in flight at a time. More would each be slower, and each takes memory for its context.
SLOTS = 4
_FIGURES_EVERY = 0.5
# One for the requests, and one so that a count holds none of them up.
_HELPERS = 2


@dataclass(eq=False)
class _Command:
    """Something to be served in its turn; `cancelled` asks it to end early."""

    cancelled: threading.Event = field(default_factory=threading.Event, init=False)


@dataclass(eq=False)
class _Load(_Command):
    record: ModelRecord
    num_ctx: int | None
    anyway: bool


@dataclass(eq=False)
class _Unload(_Command):
    pass


@dataclass(eq=False)
class _Request(_Command):
    request: GenerateRequest | EmbedRequest
    received: int
    prepared: "Future[Prepared] | Future[PreparedTexts] | None" = None


@dataclass(eq=False)
class _Count:
    request: CountRequest
    counted: "Future[Counted] | None" = None


class EngineLoop:
    """Runs an engine on one thread for callers on others."""

    def __init__(self, emit: Callable[[Event], None], settings: Callable[[], EngineSettings] = EngineSettings) -> None:
        """Make a loop that nobody runs yet; commands may be given already.

        Args:
            emit: Receives every event, on the thread that runs the loop. Must not raise.
            settings: Returns those of the engine; asked before each load, on the thread that runs the loop.
        """
        self._emit = emit
        self._settings = settings
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._waiting: deque[_Command] = deque()
        self._current: _Command | None = None
        self._running: dict[str, _Request] = {}
        self._engine: Engine | None = None
        self._counts: list[_Count] = []
        self._unmeasured: deque[ModelRecord] = deque()
        self._closed = False
        self._figures_due = 0.0

    # Any thread

    def load(self, record: ModelRecord, num_ctx: int | None = None, *, anyway: bool = False) -> None:
        """Load a model in place of what is loaded, and end everything asked before.

        Args:
            record: The model.
            num_ctx: Most tokens that a conversation may hold; None as the model says, or as many as fit.
            anyway: Load it even where it is known not to fit.
        """
        self._ask(_Load(record, num_ctx, anyway), instead=True)

    def unload(self) -> None:
        """Unload the model, and end everything asked before."""
        self._ask(_Unload(), instead=True)

    def generate(self, request: GenerateRequest) -> None:
        """Generate with the model that is loaded when the request's turn comes."""
        self._ask(_Request(request, time.perf_counter_ns()), instead=False)

    def embed(self, request: EmbedRequest) -> None:
        """Make vectors of texts with the model that is loaded when the request's turn comes."""
        self._ask(_Request(request, time.perf_counter_ns()), instead=False)

    def count(self, request: CountRequest) -> None:
        """Count the tokens of a conversation, beside whatever else is served."""
        with self._lock:
            self._counts.append(_Count(request))
        self._changed.set()

    def cancel(self, request_id: str) -> None:
        """End a request as cancelled, wherever it is; an id that is not known has just ended and is ignored."""
        self._cancel(lambda command: isinstance(command, _Request) and command.request.id == request_id)

    def cancel_load(self) -> None:
        """Stop the load that runs or waits, if there is one; nothing is loaded then."""
        self._cancel(lambda command: isinstance(command, _Load))

    def measure(self, record: ModelRecord) -> None:
        """Find out what a model needs in memory, once there is nothing else to do."""
        with self._lock:
            self._unmeasured.append(record)
        self._changed.set()

    def close(self) -> None:
        """End everything and make `run` return; later commands are never served."""
        with self._lock:
            self._closed = True
        self._cancel(lambda command: True)

    @property
    def tokenizer(self) -> "Tokenizer":
        """The loaded model's, for any thread.

        Raises:
            InvalidRequestError: No model is loaded.
        """
        engine = self._engine
        if engine is None:
            raise InvalidRequestError(NO_MODEL)
        return engine.tokenizer

    def _ask(self, command: _Command, *, instead: bool) -> None:
        with self._lock:
            if instead:
                self._mark(lambda earlier: True)
            self._waiting.append(command)
        self._changed.set()

    def _cancel(self, meant: Callable[[_Command], bool]) -> None:
        with self._lock:
            self._mark(meant)
        self._changed.set()

    def _mark(self, meant: Callable[[_Command], bool]) -> None:
        """Ask the commands that are meant to end; the lock is held."""
        current = (self._current,) if self._current else ()
        for command in (*self._waiting, *self._running.values(), *current):
            if meant(command):
                command.cancelled.set()

    # The owning thread

    def run(self) -> None:
        """Serve commands until `close`; the calling thread owns MLX from here on. The last event is `Unloaded`."""
        # Imported here because MLX belongs to this thread, and because the window is to be on the screen before it.
        from sotto.engine import device

        device.prepare()
        from sotto.engine.engine import Engine

        engine = self._engine = Engine()
        with ThreadPoolExecutor(_HELPERS, thread_name_prefix="prepare") as helper:
            try:
                while self._turn(engine, helper):
                    pass
            finally:
                self._engine = None
                self._look(engine, helper)
                engine.close()
        self._emit(Unloaded())

    def _turn(self, engine: "Engine", helper: ThreadPoolExecutor) -> bool:
        """Serve what can be served now, compute a step, or wait for something to do; False once all is closed."""
        self._changed.clear()
        self._look(engine, helper)
        command = self._next()
        if command is not None:
            self._serve(engine, helper, command)
            with self._lock:
                self._current = None
        elif self._running:
            self._step(engine)
        elif self._closed:
            return False
        elif (record := self._next_unmeasured()) is not None:
            self._measure(engine, record)
        else:
            self._changed.wait()
        return True

    def _next_unmeasured(self) -> ModelRecord | None:
        """Take the first model that is to be measured, unless something else waits."""
        with self._lock:
            return self._unmeasured.popleft() if self._unmeasured and not self._waiting else None

    def _measure(self, engine: "Engine", record: ModelRecord) -> None:
        try:
            self._emit(engine.measure(open_model(record)))
        except Exception as error:
            self._emit(Measured(record.digest, None, failed("", error).message))

    def _next(self) -> _Command | None:
        """Take the first command whose turn it is; None if there is none yet."""
        with self._lock:
            if self._closed or not self._waiting:
                return None
            first = self._waiting[0]
            if isinstance(first, _Request):
                ready = first.prepared is not None and first.prepared.done() and len(self._running) < SLOTS
            else:
                ready = not self._running  # all of them were asked to end
            if ready:
                self._current = self._waiting.popleft()
            return self._current

    def _look(self, engine: "Engine", helper: ThreadPoolExecutor) -> None:
        """Answer requests that were cancelled while they waited, and have the others prepared."""
        with self._lock:
            ended = [one for one in self._waiting if isinstance(one, _Request) and one.cancelled.is_set()]
            for request in ended:
                self._waiting.remove(request)
            # What waits behind a load is for the model that the load brings.
            first = () if isinstance(self._current, _Load) else takewhile(_is_request, self._waiting)
            fresh = [one for one in first if isinstance(one, _Request) and one.prepared is None]
        for request in ended:
            self._emit(_finished_unserved(request))
        for request in fresh:
            request.prepared = _preparing(engine, helper, request.request)
            request.prepared.add_done_callback(lambda _: self._changed.set())

        self._look_at_counts(engine, helper)

    def _look_at_counts(self, engine: "Engine", helper: ThreadPoolExecutor) -> None:
        """Have counted what is asked for, and answer what has been counted."""
        with self._lock:
            fresh = [one for one in self._counts if one.counted is None]
            done = [one for one in self._counts if one.counted is not None and one.counted.done()]
            self._counts = [one for one in self._counts if one not in done]
        for one in fresh:
            one.counted = helper.submit(engine.count, one.request)
            one.counted.add_done_callback(lambda _: self._changed.set())
        for one in done:
            assert one.counted is not None
            try:
                event: Event = one.counted.result()
            except Exception as error:
                event = failed(one.request.id, error)
            self._emit(event)

    def _serve(self, engine: "Engine", helper: ThreadPoolExecutor, command: _Command) -> None:
        try:
            if isinstance(command, _Load):
                self._load(engine, helper, command)
            elif isinstance(command, _Request):
                self._start(engine, command)
            else:
                engine.unload()
                self._emit(Unloaded())
        except CancelledError:
            self._emit(Unloaded())
        except Exception as error:
            self._emit(failed(command.request.id if isinstance(command, _Request) else "", error))
        if engine.info is None:
            # What a load that failed had read is referred to until its exception is done with.
            engine.unload()
        if not isinstance(command, _Request):
            self._emit_figures(engine, now=True)

    def _load(self, engine: "Engine", helper: ThreadPoolExecutor, command: _Load) -> None:
        def progress(event: LoadProgress) -> None:
            self._emit(event)
            self._emit_figures(engine)

        def cancelled() -> bool:
            self._look(engine, helper)
            return command.cancelled.is_set()

        engine.unload()
        if cancelled():
            raise CancelledError(f"Loading {command.record.name} was stopped.")
        source = open_model(command.record)
        engine.settings = self._settings()
        info = engine.load(
            source, num_ctx=command.num_ctx, progress=progress, cancelled=cancelled, anyway=command.anyway
        )
        self._emit(Loaded(info))

    def _start(self, engine: "Engine", command: _Request) -> None:
        from sotto.engine.embedding import PreparedTexts

        assert command.prepared is not None  # it is waited for before the request's turn comes
        prepared = command.prepared.result()
        if isinstance(prepared, PreparedTexts):
            engine.embed(prepared, command.cancelled.is_set)
        else:
            engine.start(prepared, command.cancelled.is_set)
        with self._lock:
            self._running[command.request.id] = command

    def _step(self, engine: "Engine") -> None:
        """Compute a step of what is running, and pass on what came of it."""
        try:
            events = engine.step()
        except Exception as error:
            # Not the fault of one request: those are told as events.
            engine.abort()
            events = [failed(request_id, error) for request_id in self._running]
        for event in events:
            if isinstance(event, Finished | Embedded | Failed):
                with self._lock:
                    del self._running[event.request_id]
            self._emit(event)
        self._emit_figures(engine, now=not self._running)

    def _emit_figures(self, engine: "Engine", *, now: bool = False) -> None:
        if now or time.monotonic() >= self._figures_due:
            self._emit(engine.memory())
            self._figures_due = time.monotonic() + _FIGURES_EVERY


def _preparing(
    engine: "Engine", helper: ThreadPoolExecutor, request: GenerateRequest | EmbedRequest
) -> "Future[Prepared] | Future[PreparedTexts]":
    """Have a request turned into tokens."""
    if isinstance(request, EmbedRequest):
        return helper.submit(engine.prepare_texts, request)
    return helper.submit(engine.prepare, request)


def _is_request(command: _Command) -> bool:
    return isinstance(command, _Request)


def _finished_unserved(command: _Request) -> Finished:
    """Return the end of a request that was cancelled before its turn."""
    return Finished.unserved(command.request.id, time.perf_counter_ns() - command.received)
