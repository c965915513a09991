"""The engine loop: commands from any thread become steps on the one thread that owns MLX.

A host calls `EngineLoop.run` on the thread that will own MLX, and the other methods from any thread. Events are passed
to `emit` on the owning thread. Each loaded model has a seat, named by the caller that loads it; commands and events
carry that name, which is empty by default. The guarantees:

- A request ends with exactly one `Finished`, `Embedded` or `Failed`, a load with exactly one `Loaded`, `Unloaded` (if
  cancelled) or `Failed`, in the order sent to its seat; a request cancelled while it waits ends at once.
- Requests for a seat start in order of arrival, those that a person waits for first, up to `SLOTS` at a time, fewer
  where memory is short, and the started ones take turns. Between any two steps (a prefill chunk, a token) the loop
  handles new commands; a prefill that is cancelled also ends within its chunk, if its caches can go back. Meanwhile, a
  helper thread renders and tokenizes the next requests. An error in one request ends that request only.
- Models with work take turns step by step; those with background work only get every fourth step while a person waits
  for another one. While a model loads, the others continue between the parts that are read.
- Counts do not queue: a helper thread serves each with the model in the seat at that time. It ends with one `Counted`
  or `Failed`, unless the loop is closed first.
- Loading into a seat, and unloading it, cancels all its earlier commands, running or waiting. Closing does so for all
  seats.
- Models are measured one at a time while the loop is otherwise idle. Each measurement ends with one `Measured`, unless
  the loop is closed first.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Counted, Event, Finished, Loaded, LoadProgress, RequestEnd, Unloaded
from sotto.engine.contract.failure_events import failure_of
from sotto.engine.contract.requests import EmbedRequest
from sotto.engine.memory.memory_figures import Measured
from sotto.errors import NO_MODEL, NOTHING_TO_COUNT_FOR, CancelledError, InvalidRequestError
from sotto.runner import faults
from sotto.runner.commands import Cancel, CancelLoad, Command, Count, Embed, Generate, Load, Measure, Unload
from sotto.runner.orders import Order, next_orders
from sotto.store.opening import open_model
from sotto.store.records import ModelRecord

if TYPE_CHECKING:
    from sotto.engine.engine import Engine
    from sotto.engine.prompt.prepared import PreparedRequest
    from sotto.engine.tokens.tokenizer import Tokenizer
    from sotto.engine.vectors.embedding import PreparedTexts

# Concurrent requests of one model. With more than a few, each is slower, and each takes memory for its context: beyond
# `_SURE_SLOTS`, one begins only if there is memory for all of them.
SLOTS = 64
_SURE_SLOTS = 4
_FIGURES_EVERY = 0.5
# One for requests, and one so that counts do not delay them.
_HELPERS = 2
# One step in so many is for background work while a person waits for other work.
_BACKGROUND_EVERY = 4


@dataclass(eq=False)
class _Count:
    command: Count
    counted: "Future[Counted] | None" = None


@dataclass(eq=False)
class _Seat:
    """A model's seat: its engine, its running requests, and the number of its last step."""

    engine: "Engine"
    running: dict[str, Order] = field(default_factory=dict)
    stepped: int = 0

    @property
    def in_background(self) -> bool:
        """Whether no person waits for its requests."""
        return all(order.in_background for order in self.running.values())


class EngineLoop:
    """Runs engines on one thread for callers on others."""

    def __init__(self, emit: Callable[[Event], None], settings: Callable[[], EngineSettings] = EngineSettings) -> None:
        """Make a loop; commands may be sent before it runs.

        Args:
            emit: Receives every event, on the thread that runs the loop. Must not raise.
            settings: Returns the engine settings; called before each load, on the thread that runs the loop.
        """
        self._emit = emit
        self._settings = settings
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._waiting: deque[Order] = deque()
        self._current: Order | None = None
        self._seats: dict[str, _Seat] = {}
        self._steps = 0
        self._counts: list[_Count] = []
        self._unmeasured: deque[ModelRecord] = deque()
        self._closed = False
        self._figures_due = 0.0

    # Any thread

    def send(self, command: Command) -> None:
        """Queue a command."""
        with self._lock:
            match command:
                case Load() | Unload():
                    self._cancel_where(lambda earlier: earlier.seat == command.seat)
                    self._waiting.append(Order(command))
                case Generate() | Embed():
                    self._waiting.append(Order(command))
                case Count():
                    self._counts.append(_Count(command))
                case Cancel(request_id):
                    self._cancel_where(lambda order: order.request is not None and order.request.id == request_id)
                case CancelLoad(seat):
                    self._cancel_where(lambda order: isinstance(order.command, Load) and order.seat == seat)
                case Measure(record):
                    self._unmeasured.append(record)
        self._changed.set()

    def close(self) -> None:
        """Cancel everything and make `run` return; later commands are not served."""
        with self._lock:
            self._closed = True
            self._cancel_where(lambda _: True)
        self._changed.set()

    @property
    def tokenizer(self) -> "Tokenizer":
        """The tokenizer of the model in the unnamed seat, for any thread.

        Raises:
            InvalidRequestError: No model is loaded.
        """
        with self._lock:
            seat = self._seats.get("")
        if seat is None:
            raise InvalidRequestError(NO_MODEL)
        return seat.engine.tokenizer

    def _cancel_where(self, matches: Callable[[Order], bool]) -> None:
        """Request cancellation of the orders that match; the lock is held."""
        current = (self._current,) if self._current else ()
        running = (order for seat in self._seats.values() for order in seat.running.values())
        for order in (*self._waiting, *running, *current):
            if matches(order):
                order.cancelled.set()

    # The owning thread

    def run(self) -> None:
        """Serve commands until `close`; the calling thread owns MLX from now on. The last event is `Unloaded`."""
        # Imported here because MLX belongs to this thread, and so that the window appears before it is imported.
        from sotto.engine.kernels import device

        device.prepare()
        from sotto.engine.engine import Engine

        # It loads no model: it measures, and ends this thread's use of MLX.
        engine = Engine()
        with ThreadPoolExecutor(_HELPERS, thread_name_prefix="prepare") as helper:
            try:
                while self._turn(engine, helper):
                    pass
            finally:
                self._prepare_waiting(helper)
                with self._lock:
                    remaining, self._seats = self._seats, {}
                for seat in remaining.values():
                    seat.engine.unload()
                engine.close()
        self._emit(Unloaded())

    def _turn(self, engine: "Engine", helper: ThreadPoolExecutor) -> bool:
        """Serve an order, compute a step, measure a model or wait; return False once the loop has been closed."""
        self._changed.clear()
        self._prepare_waiting(helper)
        order = self._next_order()
        if order is not None:
            self._serve(helper, order)
            with self._lock:
                self._current = None
        elif any(seat.running for seat in self._seats.values()):
            self._step()
        elif self._closed:
            return False
        elif (record := self._next_unmeasured()) is not None:
            self._measure(engine, record)
        else:
            self._changed.wait()
        return True

    def _next_unmeasured(self) -> ModelRecord | None:
        """Take the next model to measure, unless something else waits."""
        with self._lock:
            return self._unmeasured.popleft() if self._unmeasured and not self._waiting else None

    def _measure(self, engine: "Engine", record: ModelRecord) -> None:
        engine.settings = self._settings()
        try:
            self._emit(engine.measure(open_model(record)))
        except Exception as error:
            self._emit(Measured(record.digest, None, failure_of("", error).message))

    def _next_order(self, *, requests_only: bool = False) -> Order | None:
        """Take the next order that can be served now; None if no order can."""
        with self._lock:
            if self._closed:
                return None
            ready = (order for order in next_orders(self._waiting) if self._is_ready(order))
            found = next((order for order in ready if order.request is not None or not requests_only), None)
            if found is not None:
                self._waiting.remove(found)
                self._current = self._current if requests_only else found
            return found

    def _is_ready(self, order: Order) -> bool:
        seat = self._seats.get(order.seat)
        running = len(seat.running) if seat else 0
        if order.request is not None:
            if order.prepared is None or not order.prepared.done() or running >= SLOTS:
                return False
            # A request that could not be prepared needs no memory: starting it reports the error.
            if seat is None or running < _SURE_SLOTS or order.prepared.exception() is not None:
                return True
            return seat.engine.has_room(order.prepared.result())
        return not running  # all of them have been cancelled

    def _prepare_waiting(self, helper: ThreadPoolExecutor) -> None:
        """End requests that were cancelled while they waited, and start preparing the others."""
        with self._lock:
            ended = [order for order in self._waiting if order.request is not None and order.cancelled.is_set()]
            for order in ended:
                self._waiting.remove(order)
            # Requests behind a load are for the model that it loads.
            current = self._current
            closed = {current.seat} if current is not None and isinstance(current.command, Load) else set[str]()
            fresh = []
            for order in self._waiting:
                if order.request is None:
                    closed.add(order.seat)
                elif order.seat not in closed and order.prepared is None:
                    fresh.append(order)
        for order in ended:
            self._emit(_finished_unserved(order))
        for order in fresh:
            order.prepared = self._submit_preparation(helper, order)
            order.prepared.add_done_callback(lambda _: self._changed.set())

        self._serve_counts(helper)

    def _submit_preparation(
        self, helper: ThreadPoolExecutor, order: Order
    ) -> "Future[PreparedRequest] | Future[PreparedTexts]":
        """Start rendering and tokenizing a request on the helper."""
        seat, request = self._seats.get(order.seat), order.request
        assert request is not None
        if seat is None:
            return helper.submit(_no_model)
        if isinstance(request, EmbedRequest):
            return helper.submit(seat.engine.prepare_texts, request)
        return helper.submit(seat.engine.prepare, request)

    def _serve_counts(self, helper: ThreadPoolExecutor) -> None:
        """Start the new counts, and answer those that are done."""
        with self._lock:
            fresh = [count for count in self._counts if count.counted is None]
            done = [count for count in self._counts if count.counted is not None and count.counted.done()]
            self._counts = [count for count in self._counts if count not in done]
        for count in fresh:
            seat, request = self._seats.get(count.command.seat), count.command.request
            count.counted = helper.submit(seat.engine.count, request) if seat else helper.submit(_nothing_to_count)
            count.counted.add_done_callback(lambda _: self._changed.set())
        for count in done:
            assert count.counted is not None
            try:
                event: Event = count.counted.result()
            except Exception as error:
                event = failure_of(count.command.request.id, error)
            self._emit(event)

    def _serve(self, helper: ThreadPoolExecutor, order: Order) -> None:
        try:
            if isinstance(order.command, Load):
                self._load(helper, order, order.command)
            elif isinstance(order.command, Unload):
                self._empty_seat(order.seat)
                self._emit(Unloaded(order.seat))
            else:
                self._start(order)
        except CancelledError:
            self._emit(Unloaded(order.seat))
        except Exception as error:
            if order.request is not None:
                self._emit(failure_of(order.request.id, error))
            else:
                event = failure_of("", error)
                self._emit(replace(event, seat=order.seat, shortage=self._is_shortage(order.seat, error)))
        if order.request is None:
            seat = self._seats.get(order.seat)
            if seat is not None and seat.engine.info is None:
                # Only now, because the exception of a failed load refers to the weights that it had read.
                self._empty_seat(order.seat)
            self._settle_memory()
            self._emit_figures(now=True)

    def _load(self, helper: ThreadPoolExecutor, order: Order, command: Load) -> None:
        from sotto.engine.engine import Engine

        def progress(event: LoadProgress) -> None:
            self._emit(replace(event, seat=command.seat))
            self._emit_figures()

        def cancelled() -> bool:
            self._prepare_waiting(helper)
            self._serve_others()
            return order.cancelled.is_set()

        self._empty_seat(command.seat)
        if cancelled():
            raise CancelledError(f"Loading {command.record.name} was stopped.")
        source = open_model(command.record)
        engine = Engine(self._settings())
        others = [seat.engine for seat in self._seats.values()]
        with self._lock:
            self._seats[command.seat] = _Seat(engine)
        info = engine.load(
            source,
            num_ctx=command.num_ctx,
            progress=progress,
            cancelled=cancelled,
            anyway=command.anyway,
            others=others,
            roomy=command.roomy,
        )
        self._emit(Loaded(info, command.seat))

    def _serve_others(self) -> None:
        """Serve the loaded models between the parts of a load."""
        order = self._next_order(requests_only=True)
        if order is not None and order.request is not None:
            try:
                self._start(order)
            except Exception as error:
                self._emit(failure_of(order.request.id, error))
        if any(seat.running for seat in self._seats.values()):
            self._step()

    def _empty_seat(self, seat: str) -> None:
        """Unload the model in a seat, if any."""
        with self._lock:
            removed = self._seats.pop(seat, None)
        if removed is not None:
            removed.engine.unload()

    def _is_shortage(self, seat: str, error: Exception) -> bool:
        """Return whether a load failed because other models hold the memory that it needs."""
        from sotto.engine.memory_sharing import is_shortage

        return is_shortage(error, [other.engine for name, other in self._seats.items() if name != seat])

    def _settle_memory(self) -> None:
        from sotto.engine.memory_sharing import settle

        settle([seat.engine for seat in self._seats.values()])

    def _start(self, order: Order) -> None:
        from sotto.engine.vectors.embedding import PreparedTexts

        # `_is_ready` has waited for it.
        assert order.prepared is not None
        assert order.request is not None
        prepared = order.prepared.result()
        seat = self._seats.get(order.seat)
        if seat is None:
            raise InvalidRequestError(NO_MODEL)
        if isinstance(prepared, PreparedTexts):
            seat.engine.embed(prepared, order.cancelled.is_set)
        else:
            seat.engine.start(prepared, order.cancelled.is_set)
        with self._lock:
            seat.running[order.request.id] = order

    def _next_seat(self) -> _Seat:
        """Return the seat that computes the next step; at least one has work."""
        working = [seat for seat in self._seats.values() if seat.running]
        people = [seat for seat in working if not seat.in_background]
        self._steps += 1
        if people and len(people) < len(working):
            in_background = self._steps % _BACKGROUND_EVERY == 0
            working = [seat for seat in working if seat.in_background is in_background]
        first = min(working, key=lambda seat: seat.stepped)
        first.stepped = self._steps
        return first

    def _step(self) -> None:
        """Compute a step of the next seat and emit its events."""
        seat = self._next_seat()
        try:
            events = seat.engine.step()
        except Exception as error:
            # Not the fault of a single request: such faults come as events.
            seat.engine.abort()
            events = [failure_of(request_id, error) for request_id in seat.running]
        for event in events:
            if isinstance(event, RequestEnd):
                with self._lock:
                    del seat.running[event.request_id]
            if isinstance(event, Finished) and event.shared_fault and seat.engine.info:
                faults.record(seat.engine.info.name, event.shared_fault)
            self._emit(event)
        self._emit_figures(now=not seat.running)

    def _emit_figures(self, *, now: bool = False) -> None:
        if now or time.monotonic() >= self._figures_due:
            from sotto.engine.memory_sharing import figures

            for seat in self._seats.values():
                # A working engine does this in its steps.
                if not seat.running:
                    seat.engine.look_at_memory()
            self._emit(figures({name: seat.engine for name, seat in self._seats.items()}))
            self._figures_due = time.monotonic() + _FIGURES_EVERY


def _no_model() -> "PreparedRequest":
    raise InvalidRequestError(NO_MODEL)


def _nothing_to_count() -> Counted:
    raise InvalidRequestError(NOTHING_TO_COUNT_FOR)


def _finished_unserved(order: Order) -> Finished:
    """Return the end of a request that was cancelled before its turn."""
    assert order.request is not None
    return Finished.unserved(order.request.id, time.perf_counter_ns() - order.received)
