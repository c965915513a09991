"""A stand-alone engine host, which runs the engine loop on a thread."""

import logging
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Event, Failed, Loaded, RequestEnd, RequestEvent
from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.errors import ProcessEndedError
from sotto.runner.catalogue import catalogue
from sotto.runner.commands import Ask, Cancel
from sotto.runner.host import (
    AnswerCallback,
    Loop,
    ModelCallback,
    ResidentStatus,
    Visit,
    not_loaded,
    resident_models,
    start_engine_thread,
)
from sotto.runner.keeper import Keeper
from sotto.runner.loop import SLOTS, EngineLoop
from sotto.runner.residents import FOREVER, KEEP_ALIVE, MAX_REQUESTS, ModelRequest, Residents
from sotto.runner.status import is_load_event
from sotto.store.records import ModelRecord

_log = logging.getLogger(__name__)


class LoopHost:
    """Implements `sotto.runner.host.Host`; a loop that has crashed is replaced when next needed.

    Attributes:
        slots: See `Host`.
    """

    def __init__(
        self,
        settings: Callable[[], EngineSettings] = EngineSettings,
        keep_alive: float = KEEP_ALIVE,
        make_loop: Callable[[Callable[[Event], None]], Loop] | None = None,
        models: Callable[[], Sequence[ModelRecord]] = lambda: catalogue().records,
        max_requests: int = MAX_REQUESTS,
    ) -> None:
        """Make a host; its loop starts when the first model is loaded.

        Args:
            settings: Returns the engine settings; called before each load.
            keep_alive: Seconds that an idle model stays loaded.
            make_loop: Makes the loop, given where to send events; None for an `EngineLoop` with `settings`.
            models: Returns the models on this machine.
            max_requests: How many requests may be open at a time; further ones are refused.
        """
        self.slots = SLOTS
        self._make_loop = make_loop or (lambda emit: EngineLoop(emit, settings))
        self._models = models
        # Reentrant, because callbacks run under it may call this host.
        self._lock = threading.RLock()
        self._loop: Loop | None = None
        self._thread: threading.Thread | None = None
        self._timer: threading.Timer | None = None
        self._answering: dict[str, AnswerCallback] = {}
        self._figures: MemoryFigures | None = None
        residents = Residents(time.monotonic, max_requests=max_requests, keep_alive=keep_alive)
        self._keeper = Keeper(residents, self._running, self._later)

    @property
    def resident_models(self) -> Sequence[ResidentStatus]:
        """The models that are loaded now."""
        with self._lock:
            return resident_models(self._keeper.residents, self._figures)

    def models(self) -> Sequence[ModelRecord]:
        """Return every model on this machine."""
        return self._models()

    def want(self, request: ModelRequest, callback: ModelCallback) -> Visit:
        """Have a model loaded, and keep it until `leave`."""
        with self._lock:
            return self._keeper.want(request, callback)

    def leave(self, visit: Visit) -> None:
        """End a visit, or withdraw its request."""
        with self._lock:
            self._keeper.leave(visit)

    def dismiss(self, record: ModelRecord, callback: Callable[[], None]) -> None:
        """Unload a model once it is idle."""
        with self._lock:
            self._keeper.dismiss_model(record, callback)

    def ask(self, command: Ask, callback: AnswerCallback) -> None:
        """Have a request answered by the model in a seat, if it is still loaded; counts do not queue behind answers."""
        with self._lock:
            ready = self._keeper.residents.is_ready(command.seat)
            if ready:
                self._answering[command.request.id] = callback
                self._running().send(command)
        if not ready:
            callback(not_loaded(command))

    def cancel(self, request_id: str) -> None:
        """Cancel an answer; an unknown id is ignored."""
        with self._lock:
            if self._loop is not None:
                self._loop.send(Cancel(request_id))

    def close(self, seconds: float = 20.0) -> bool:
        """End everything; return whether the engine thread has ended within `seconds`."""
        with self._lock:
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return True
        loop.close()
        thread.join(seconds)
        return not thread.is_alive()

    def _later(self, seconds: float) -> None:
        """Schedule `_tick` in so many seconds; the lock is held."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds < FOREVER:
            self._timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._tick)
            self._timer.daemon = True
            self._timer.start()

    def _tick(self) -> None:
        with self._lock:
            self._keeper.tick()

    def _running(self) -> Loop:
        """Return the loop, starting it if necessary; the lock is held."""
        if self._loop is None:
            self._loop = self._make_loop(self._on_event)
            self._thread = start_engine_thread(partial(self._run, self._loop))
        return self._loop

    def _run(self, loop: Loop) -> None:
        end, lost = Failed("", "The engine has been stopped."), False
        try:
            loop.run()
        except ProcessEndedError as error:
            _log.error("%s", error.message)
            end, lost = Failed("", error.message, bug=True, details=error.details), True
        except Exception as error:
            _log.error("The engine failed.", exc_info=error)
            reason = f"The engine failed ({type(error).__name__}: {error})."
            end, lost = Failed("", reason, bug=True, details="".join(traceback.format_exception(error))), True
        with self._lock:
            self._loop = self._thread = self._figures = None
            answering = dict(self._answering)
            self._answering.clear()
            self._keeper.crashed(end, permanently=not lost)
        for request_id, callback in answering.items():
            callback(replace(end, request_id=request_id))

    def _on_event(self, event: Event) -> None:
        """Pass on an event of the loop, on the engine thread."""
        if isinstance(event, MemoryFigures):
            self._figures = event
        elif is_load_event(event):
            if isinstance(event, Loaded) and event.info.doubts_template:
                _log.warning("%s: %s", event.info.name, event.info.template_note)
            with self._lock:
                self._keeper.receive(event)
        elif isinstance(event, RequestEvent):
            with self._lock:
                callback = self._answering.get(event.request_id)
                if isinstance(event, RequestEnd):
                    self._answering.pop(event.request_id, None)
            if callback is not None:
                callback(event)
