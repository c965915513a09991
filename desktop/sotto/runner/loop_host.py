"""A host that has nothing but an engine: its loop, on a thread of its own."""

import threading
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sotto.engine.memory_figures import Measured, MemoryFigures
from sotto.engine.types import (
    Counted,
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
from sotto.runner.catalogue import catalogue
from sotto.runner.host import STACK_BYTES, HeardAnswer, HeardLoad, Loop, Standing, not_loaded, same
from sotto.runner.loop import SLOTS, EngineLoop
from sotto.store.records import ModelRecord

KEEP_ALIVE = 300.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """A load or an unload that the loop has not answered yet; an unload has no record."""

    heard: HeardLoad
    record: ModelRecord | None = None
    num_ctx: int | None = None


class LoopHost:
    """Runs an engine's loop for whoever asks by `sotto.runner.host.Host`, and starts it anew if it was lost.

    Attributes:
        keep_alive: See `Host`.
        slots: See `Host`.
    """

    def __init__(
        self,
        settings: Callable[[], EngineSettings] = EngineSettings,
        keep_alive: float | None = KEEP_ALIVE,
        make_loop: Callable[[Callable[[Event], None]], Loop] | None = None,
        models: Callable[[], Sequence[ModelRecord]] = lambda: catalogue().records,
    ) -> None:
        """Make a host; its engine starts with the first model.

        Args:
            settings: Returns those of the engine; asked before each load.
            keep_alive: Seconds that a model stays loaded when nobody asks it anything; None for ever.
            make_loop: Makes what runs; by default the engine's loop with `settings`.
            models: Finds the models there are.
        """
        self.keep_alive = keep_alive
        self.slots = SLOTS
        self._make_loop = make_loop or (lambda emit: EngineLoop(emit, settings))
        self._models = models
        self._lock = threading.Lock()
        self._loop: Loop | None = None
        self._thread: threading.Thread | None = None
        self._asked: deque[_Asked] = deque()
        self._answering: dict[str, HeardAnswer] = {}
        self._standing = Standing()

    @property
    def standing(self) -> Standing:
        """The model that is loaded now."""
        return self._standing

    def models(self) -> Sequence[ModelRecord]:
        """Return every model on this machine."""
        return self._models()

    def serves(self, record: ModelRecord, num_ctx: int | None) -> bool:
        """Tell whether a model is loaded, with the context that is asked for."""
        standing = self._standing
        if standing.record is None or standing.info is None or not same(standing.record, record):
            return False
        return num_ctx in (standing.num_ctx, standing.info.context_length)

    def load(self, record: ModelRecord, num_ctx: int | None, heard: HeardLoad) -> None:
        """Load a model in place of what is loaded, which ends what it was asked."""
        with self._lock:
            self._asked.append(_Asked(heard, record, num_ctx))
            self._standing = Standing()
            self._running().load(record, num_ctx)

    def unload(self, heard: HeardLoad) -> None:
        """Give the model's memory back, which ends what it was asked."""
        with self._lock:
            self._asked.append(_Asked(heard))
            self._standing = Standing()
            self._running().unload()

    def generate(self, record: ModelRecord, request: GenerateRequest, heard: HeardAnswer) -> None:
        """Let a model answer, if it is still loaded."""
        self._request(record, request, heard, lambda loop: loop.generate(request))

    def embed(self, record: ModelRecord, request: EmbedRequest, heard: HeardAnswer) -> None:
        """Let a model make vectors of texts, if it is still loaded."""
        self._request(record, request, heard, lambda loop: loop.embed(request))

    def _request(
        self,
        record: ModelRecord,
        request: GenerateRequest | EmbedRequest,
        heard: HeardAnswer,
        ask: Callable[[Loop], None],
    ) -> None:
        with self._lock:
            there = self._standing.record is not None and same(self._standing.record, record)
            if there:
                self._answering[request.id] = heard
                ask(self._running())
        if not there:
            heard(not_loaded(request))

    def cancel(self, request_id: str) -> None:
        """End an answer as cancelled; an id that is not known is ignored."""
        with self._lock:
            if self._loop is not None:
                self._loop.cancel(request_id)

    def close(self, seconds: float = 20.0) -> bool:
        """End everything; return whether the engine's thread has ended in time."""
        with self._lock:
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return True
        loop.close()
        thread.join(seconds)
        return not thread.is_alive()

    def _running(self) -> Loop:
        """Return the loop, on a thread that runs it; the lock is held."""
        if self._loop is None:
            self._loop = self._make_loop(self._heard)
            usual = threading.stack_size(STACK_BYTES)
            try:
                self._thread = threading.Thread(target=self._run, args=(self._loop,), name="engine")
                self._thread.start()
            finally:
                threading.stack_size(usual)
        return self._loop

    def _run(self, loop: Loop) -> None:
        reason, details = "The engine has been stopped.", ""
        try:
            loop.run()
        except Exception as error:
            reason = f"The engine could not go on ({type(error).__name__}: {error})."
            details = "".join(traceback.format_exception(error))
        with self._lock:
            self._loop = self._thread = None
            self._standing = Standing()
            asked, answering = list(self._asked), dict(self._answering)
            self._asked.clear()
            self._answering.clear()
        for one in asked:
            one.heard(Failed("", reason, bool(details), details))
        for request_id, heard in answering.items():
            heard(Failed(request_id, reason, bool(details), details))

    def _heard(self, event: Event) -> None:
        """Take an event, on the engine's thread."""
        if isinstance(event, LoadProgress | Measured):
            return
        if isinstance(event, MemoryFigures):
            with self._lock:
                self._standing = replace(self._standing, figures=event)
        elif isinstance(event, Loaded | Unloaded) or (isinstance(event, Failed) and not event.request_id):
            self._ended(event)
        elif not isinstance(event, Counted):  # nobody here asks for that
            with self._lock:
                heard = self._answering.get(event.request_id)
                if isinstance(event, Finished | Embedded | Failed):
                    self._answering.pop(event.request_id, None)
            if heard is not None:
                heard(event)

    def _ended(self, event: Loaded | Unloaded | Failed) -> None:
        with self._lock:
            if not self._asked:  # the loop says so too when it is closed
                return
            asked = self._asked.popleft()
            # What was asked later decides what there is.
            if isinstance(event, Loaded) and not self._asked:
                self._standing = Standing(asked.record, event.info, self._standing.figures, asked.num_ctx)
        asked.heard(event)
