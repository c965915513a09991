"""The engines' loop: commands from any thread become steps on the one thread that owns MLX.

A host calls `EngineLoop.run` on the thread that is to own MLX and the other methods from anywhere. Events are handed to
`emit` on the owning thread. Each model that is loaded has a seat, whose name whoever loads it chooses; commands and
events name it, and where they name none, it is the one without a name. What every caller can rely on:

- A request ends with exactly one `Finished`, `Embedded` or `Failed`, a load with exactly one `Loaded`, `Unloaded` (it
  was stopped) or `Failed`, in the order asked for its seat; a request that is cancelled while it waits ends at once.
- Requests for one seat are begun first come, first served, those of people before others, up to `SLOTS` at a time, and
  those that are begun take turns. Between any two steps (a prefill chunk, a token) the loop looks at what has arrived,
  and the next requests are rendered and tokenized on a helper thread meanwhile. What goes wrong in one request ends
  that request alone.
- Models that have work take turns, step by step; those that work in the background alone get every fourth step where
  people wait for others. While a model is loaded, the others go on between the pieces that are read.
- Counting waits for nobody: it is done on a helper thread, for the model that is in the seat then, and ends with one
  `Counted` or `Failed`, unless the loop is closed first.
- Loading into a seat and unloading it ends everything that was asked of it before: what runs or waits ends as
  cancelled. Closing does so for all.
- Models are measured one by one while nothing else is to be done, and each ends with one `Measured`, unless the loop is
  closed before.
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
from sotto.engine.contract.failure_events import failed
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
    from sotto.engine.prompt.prepared import Prepared
    from sotto.engine.tokens.tokenizer import Tokenizer
    from sotto.engine.vectors.embedding import PreparedTexts

# Requests that are in flight at a time for one model. More would each be slower, and each takes memory for its context.
SLOTS = 4
_FIGURES_EVERY = 0.5
# One for the requests, and one so that a count holds none of them up.
_HELPERS = 2
# Of so many steps one is for those in the background, where people wait for others.
_BACKGROUND_EVERY = 4


@dataclass(eq=False)
class _Count:
    command: Count
    counted: "Future[Counted] | None" = None


@dataclass(eq=False)
class _Seat:
    """A model's place: its engine, the requests that it works on, and the number of the step it had last."""

    engine: "Engine"
    running: dict[str, Order] = field(default_factory=dict)
    stepped: int = 0

    @property
    def in_background(self) -> bool:
        """Whether no person waits for what it does."""
        return all(one.in_background for one in self.running.values())


class EngineLoop:
    """Runs engines on one thread for callers on others."""

    def __init__(self, emit: Callable[[Event], None], settings: Callable[[], EngineSettings] = EngineSettings) -> None:
        """Make a loop that nobody runs yet; commands may be given already.

        Args:
            emit: Receives every event, on the thread that runs the loop. Must not raise.
            settings: Returns those of the engines; asked before each load, on the thread that runs the loop.
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
        """Have a command carried out, in its turn."""
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
        """End everything and make `run` return; later commands are never served."""
        with self._lock:
            self._closed = True
            self._cancel_where(lambda _: True)
        self._changed.set()

    @property
    def tokenizer(self) -> "Tokenizer":
        """That of the model in the seat without a name, for any thread.

        Raises:
            InvalidRequestError: No model is loaded.
        """
        with self._lock:
            there = self._seats.get("")
        if there is None:
            raise InvalidRequestError(NO_MODEL)
        return there.engine.tokenizer

    def _cancel_where(self, matches: Callable[[Order], bool]) -> None:
        """Ask the orders that are meant to end; the lock is held."""
        current = (self._current,) if self._current else ()
        running = (one for seat in self._seats.values() for one in seat.running.values())
        for order in (*self._waiting, *running, *current):
            if matches(order):
                order.cancelled.set()

    # The owning thread

    def run(self) -> None:
        """Serve commands until `close`; the calling thread owns MLX from here on. The last event is `Unloaded`."""
        # Imported here because MLX belongs to this thread, and because the window is to be on the screen before it.
        from sotto.engine.kernels import device

        device.prepare()
        from sotto.engine.engine import Engine

        # It loads nothing: it measures, and ends this thread's use of MLX.
        engine = Engine()
        with ThreadPoolExecutor(_HELPERS, thread_name_prefix="prepare") as helper:
            try:
                while self._turn(engine, helper):
                    pass
            finally:
                self._prepare_waiting(helper)
                with self._lock:
                    left, self._seats = self._seats, {}
                for one in left.values():
                    one.engine.unload()
                engine.close()
        self._emit(Unloaded())

    def _turn(self, engine: "Engine", helper: ThreadPoolExecutor) -> bool:
        """Serve what can be served now, compute a step, or wait for something to do; False once all is closed."""
        self._changed.clear()
        self._prepare_waiting(helper)
        order = self._next_order()
        if order is not None:
            self._serve(helper, order)
            with self._lock:
                self._current = None
        elif any(one.running for one in self._seats.values()):
            self._step()
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
        engine.settings = self._settings()
        try:
            self._emit(engine.measure(open_model(record)))
        except Exception as error:
            self._emit(Measured(record.digest, None, failed("", error).message))

    def _next_order(self, *, requests_only: bool = False) -> Order | None:
        """Take the first order whose turn it is; None if there is none yet."""
        with self._lock:
            if self._closed:
                return None
            ready = (one for one in next_orders(self._waiting) if self._is_ready(one))
            found = next((one for one in ready if one.request is not None or not requests_only), None)
            if found is not None:
                self._waiting.remove(found)
                self._current = self._current if requests_only else found
            return found

    def _is_ready(self, order: Order) -> bool:
        there = self._seats.get(order.seat)
        running = len(there.running) if there else 0
        if order.request is not None:
            return order.prepared is not None and order.prepared.done() and running < SLOTS
        return not running  # all of them were asked to end

    def _prepare_waiting(self, helper: ThreadPoolExecutor) -> None:
        """Answer requests that were cancelled while they waited, and have the others prepared."""
        with self._lock:
            ended = [one for one in self._waiting if one.request is not None and one.cancelled.is_set()]
            for order in ended:
                self._waiting.remove(order)
            # What waits behind a load is for the model that the load brings.
            current = self._current
            shut = {current.seat} if current is not None and isinstance(current.command, Load) else set[str]()
            fresh = []
            for order in self._waiting:
                if order.request is None:
                    shut.add(order.seat)
                elif order.seat not in shut and order.prepared is None:
                    fresh.append(order)
        for order in ended:
            self._emit(_finished_unserved(order))
        for order in fresh:
            order.prepared = self._submit_preparation(helper, order)
            order.prepared.add_done_callback(lambda _: self._changed.set())

        self._serve_counts(helper)

    def _submit_preparation(
        self, helper: ThreadPoolExecutor, order: Order
    ) -> "Future[Prepared] | Future[PreparedTexts]":
        """Have a request turned into tokens."""
        there, request = self._seats.get(order.seat), order.request
        assert request is not None
        if there is None:
            return helper.submit(_no_model)
        if isinstance(request, EmbedRequest):
            return helper.submit(there.engine.prepare_texts, request)
        return helper.submit(there.engine.prepare, request)

    def _serve_counts(self, helper: ThreadPoolExecutor) -> None:
        """Have counted what is asked for, and answer what has been counted."""
        with self._lock:
            fresh = [one for one in self._counts if one.counted is None]
            done = [one for one in self._counts if one.counted is not None and one.counted.done()]
            self._counts = [one for one in self._counts if one not in done]
        for one in fresh:
            there, request = self._seats.get(one.command.seat), one.command.request
            one.counted = helper.submit(there.engine.count, request) if there else helper.submit(_nothing_to_count)
            one.counted.add_done_callback(lambda _: self._changed.set())
        for one in done:
            assert one.counted is not None
            try:
                event: Event = one.counted.result()
            except Exception as error:
                event = failed(one.command.request.id, error)
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
                self._emit(failed(order.request.id, error))
            else:
                event = failed("", error)
                self._emit(replace(event, seat=order.seat, shortage=self._is_shortage(order.seat, error)))
        if order.request is None:
            there = self._seats.get(order.seat)
            if there is not None and there.engine.info is None:
                # What a load that failed had read is referred to until its exception is done with.
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
        others = [one.engine for one in self._seats.values()]
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
        """Let the models that are loaded go on while another one is."""
        order = self._next_order(requests_only=True)
        if order is not None and order.request is not None:
            try:
                self._start(order)
            except Exception as error:
                self._emit(failed(order.request.id, error))
        if any(one.running for one in self._seats.values()):
            self._step()

    def _empty_seat(self, seat: str) -> None:
        """Unload what is in a seat."""
        with self._lock:
            there = self._seats.pop(seat, None)
        if there is not None:
            there.engine.unload()

    def _is_shortage(self, seat: str, error: Exception) -> bool:
        """Return whether a load failed for want of memory that other models hold."""
        from sotto.engine.memory_sharing import is_shortage

        return is_shortage(error, [one.engine for name, one in self._seats.items() if name != seat])

    def _settle_memory(self) -> None:
        from sotto.engine.memory_sharing import settle

        settle([one.engine for one in self._seats.values()])

    def _start(self, order: Order) -> None:
        from sotto.engine.vectors.embedding import PreparedTexts

        # It is waited for before the request's turn comes.
        assert order.prepared is not None
        assert order.request is not None
        prepared = order.prepared.result()
        there = self._seats.get(order.seat)
        if there is None:
            raise InvalidRequestError(NO_MODEL)
        if isinstance(prepared, PreparedTexts):
            there.engine.embed(prepared, order.cancelled.is_set)
        else:
            there.engine.start(prepared, order.cancelled.is_set)
        with self._lock:
            there.running[order.request.id] = order

    def _next_seat(self) -> _Seat:
        """Return the model whose step is next; some have work."""
        working = [one for one in self._seats.values() if one.running]
        people = [one for one in working if not one.in_background]
        self._steps += 1
        if people and len(people) < len(working):
            behind = self._steps % _BACKGROUND_EVERY == 0
            working = [one for one in working if one.in_background is behind]
        first = min(working, key=lambda one: one.stepped)
        first.stepped = self._steps
        return first

    def _step(self) -> None:
        """Compute a step of what is running, and pass on what came of it."""
        there = self._next_seat()
        try:
            events = there.engine.step()
        except Exception as error:
            # Not the fault of one request: those are told as events.
            there.engine.abort()
            events = [failed(request_id, error) for request_id in there.running]
        for event in events:
            if isinstance(event, RequestEnd):
                with self._lock:
                    del there.running[event.request_id]
            if isinstance(event, Finished) and event.shared_fault and there.engine.info:
                faults.record(there.engine.info.name, event.shared_fault)
            self._emit(event)
        self._emit_figures(now=not there.running)

    def _emit_figures(self, *, now: bool = False) -> None:
        if now or time.monotonic() >= self._figures_due:
            from sotto.engine.memory_sharing import figures

            for one in self._seats.values():
                # Whoever works looks by itself.
                if not one.running:
                    one.engine.look_at_memory()
            self._emit(figures({name: one.engine for name, one in self._seats.items()}))
            self._figures_due = time.monotonic() + _FIGURES_EVERY


def _no_model() -> "Prepared":
    raise InvalidRequestError(NO_MODEL)


def _nothing_to_count() -> Counted:
    raise InvalidRequestError(NOTHING_TO_COUNT_FOR)


def _finished_unserved(order: Order) -> Finished:
    """Return the end of a request that was cancelled before its turn."""
    assert order.request is not None
    return Finished.unserved(order.request.id, time.perf_counter_ns() - order.received)
