"""The engine: one loaded model, its tokenizer and template, and the caches that live from one answer to the next.

Every method except `prepare`, `count` and the reading of `info` must run on the same thread for the engine's whole
life, because MLX's streams and unevaluated arrays belong to the thread that made them. Those three touch no array and
may run on any thread while the owner computes another request. A plain script needs no more than::

    device.prepare()
    engine = Engine()
    engine.load(open_model(resolve("sotto")))
    for event in engine.generate(engine.prepare(GenerateRequest(id="1", prompt="Once"))):
        ...
    engine.close()
"""

import gc
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Series
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import mlx.core as mx

from sotto.engine import memory_sharing
from sotto.engine.architectures.cache_types import room_for
from sotto.engine.assembly import Order, Parts, Ready, assemble
from sotto.engine.config.prediction_names import as_used
from sotto.engine.config.supported_models import is_encoder
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import Counted, Embedded, GenerateEvent, LoadProgress, ModelInfo
from sotto.engine.contract.failure_events import is_out_of_memory
from sotto.engine.contract.requests import CountRequest, EmbedRequest, GenerateRequest
from sotto.engine.encoder_assembly import assemble_encoder
from sotto.engine.footprint.load_planning import Fitting, less_context, place_on_one_device, plan_load, usual_context
from sotto.engine.footprint.model_needs import limits_here, needs_of, system_memory
from sotto.engine.generation.draft_loading import check_draft, part_of
from sotto.engine.kernels import native
from sotto.engine.kernels.device import device, wire
from sotto.engine.memory.draft_needs import beside
from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.memory.system_memory import give_back
from sotto.engine.prompt.prepared import PreparedRequest
from sotto.engine.prompt.request_preparation import Preparer
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.vectors.embedding import PreparedTexts
from sotto.engine.weights.loader import load
from sotto.engine.weights.read_ahead import reading_ahead
from sotto.errors import NO_MODEL, CancelledError, InvalidRequestError
from sotto.store.records import ModelSource

_GONE = "The model that this request was made for is not loaded any more: ask again."


def _ignore(_: LoadProgress) -> None:
    """Ignore progress."""


def _never() -> bool:
    """Never ask to stop."""
    return False


class Engine:
    """Loads one model at a time and generates with it.

    Attributes:
        settings: The user's choices; they apply from the next load on.
    """

    def __init__(self, settings: EngineSettings | None = None) -> None:
        """Start without a model.

        Args:
            settings: The user's choices; None for the defaults.
        """
        self.settings = settings or EngineSettings()
        self._ready: Ready | None = None
        self._fitting: Fitting | None = None
        self._embeds_next = False

    @property
    def info(self) -> ModelInfo | None:
        """The loaded model, or None."""
        return self._ready.info if self._ready else None

    def load(
        self,
        source: ModelSource,
        num_ctx: int | None = None,
        progress: Callable[[LoadProgress], None] = _ignore,
        cancelled: Callable[[], bool] = _never,
        draft: ModelSource | None = None,
        *,
        anyway: bool = False,
        others: Series["Engine"] = (),
        roomy: bool = False,
    ) -> ModelInfo:
        """Unload what is loaded, load `source` and return what it is.

        If memory runs out unexpectedly during the load and no context length was asked for, the load is tried once more
        with a shorter context; `ModelInfo.context_note` then says so.

        Args:
            source: An opened model.
            num_ctx: Most tokens per conversation; None for the manifest's value, or else the model's maximum.
            progress: Called from time to time on this thread.
            cancelled: Called from time to time; the load stops once it returns True.
            draft: An opened second model, with the same vocabulary, that proposes tokens to this one; None for none.
            anyway: Load it even where it is known not to fit.
            others: Engines of this thread whose models stay loaded beside it.
            roomy: Fail where memory is short for a context of some length, because `others` could leave.

        Raises:
            CancelledError: `cancelled` returned True; nothing is loaded then.
            NoRoomError: It does not fit into memory; nothing is loaded then.
            SottoError: The model is damaged, or not one that can be run; nothing is loaded then.
        """
        source, draft = as_used(source, draft, prediction=self.settings.prediction)
        order = Order(source, self.settings, num_ctx, draft)
        self.unload()

        def limits() -> Limits:
            return memory_sharing.beside(limits_here(), self.settings.memory_limit, others)

        def fit(tokens: int | None, there: Limits) -> Fitting:
            return plan_load(source, tokens, there, self.settings.kv_bits, draft, anyway=anyway, roomy=roomy)

        tried: Fitting | None = None

        def first(there: Limits) -> Fitting:
            nonlocal tried
            tried = fit(num_ctx, there)
            return tried

        try:
            return self._load(order, limits(), first, progress, cancelled)
        except Exception as error:
            if roomy or num_ctx is not None or tried is None or not is_out_of_memory(error):
                raise
            less = less_context(source, tried)
            if less is None:
                raise
        # What the first try had read was referred to until its exception was done with.
        self.unload()

        def again(there: Limits) -> Fitting:
            made = fit(less, there)
            return replace(
                made, note=f"Memory ran out while it was loaded, so it has a context of {less:,} tokens only."
            )

        return self._load(replace(order, num_ctx=less), limits(), again, progress, cancelled)

    def _load(
        self,
        order: Order,
        limits: Limits,
        fit: Callable[[Limits], Fitting],
        progress: Callable[[LoadProgress], None],
        cancelled: Callable[[], bool],
    ) -> ModelInfo:
        source, draft = order.source, order.draft
        mx.reset_peak_memory()
        helper = ThreadPoolExecutor(1, thread_name_prefix="tokenizer")
        try:
            with reading_ahead(source, limits):
                texts = helper.submit(Preparer, source)
                second = draft.weight_bytes if draft else 0
                if draft is not None:
                    check_draft(source, texts.result().tokenizer, draft)
                fitting = fit(limits)
                told = part_of(progress, after=second)
                reading = partial(load, source, limits=beside(limits, second), progress=told, cancelled=cancelled)
                loaded = place_on_one_device(source, fitting, reading)
                drafting = None
                if draft is not None:
                    drafting = load(
                        draft,
                        limits=beside(limits, loaded.weight_bytes),
                        progress=part_of(progress, before=source.weight_bytes),
                        cancelled=cancelled,
                    )
                    wire(loaded.weight_bytes + drafting.weight_bytes)
                total = source.weight_bytes + second
                progress(LoadProgress("tokenizer", total, total))
                preparer = texts.result()
        finally:
            helper.shutdown(wait=False, cancel_futures=True)
        if cancelled():
            raise CancelledError(f"Loading {source.record.name} was stopped.")
        if device() != "cpu":
            progress(LoadProgress("warm-up", total, total))
        make = assemble_encoder if is_encoder(source.config) else assemble
        self._ready, self._fitting = make(order, fitting, Parts(loaded, preparer, drafting)), fitting
        return self._ready.info

    def measure(self, source: ModelSource) -> Measured:
        """Return what a model needs in memory, whether it is loaded or not; may take seconds the first time.

        Raises:
            SottoError: The model is damaged, or not one that can be run.
        """
        source, _ = as_used(source, None, prediction=self.settings.prediction)
        needs = needs_of(source, limits_here(), native.kernels(), self.settings.kv_bits)
        chip = system_memory().accelerator
        return Measured(
            source.record.digest, needs, needs.unknown, device(), chip.total if chip else 0, usual_context(source)
        )

    def prepare(self, request: GenerateRequest) -> PreparedRequest:
        """Render and tokenize a request for the model that is loaded. May run on any thread.

        Raises:
            InvalidRequestError: No model is loaded, or the request cannot be honoured.
            BrokenModelError: The model's template or tokenizer fails on it.
        """
        ready = self._ready
        if ready is None:
            raise InvalidRequestError(NO_MODEL)
        if not ready.info.writes:
            raise InvalidRequestError(
                f"{ready.info.name} writes no text, it makes embeddings only: choose a model that can chat."
            )
        return ready.preparer.prepare(request)

    def count(self, request: CountRequest) -> Counted:
        """Count the tokens of a conversation for the model that is loaded. May run on any thread.

        Raises:
            InvalidRequestError: No model is loaded, or its template refuses the conversation.
            BrokenModelError: The model's template or tokenizer fails on it.
        """
        ready = self._ready
        if ready is None:
            raise InvalidRequestError("No model is loaded: load one before anything is counted.")
        return ready.preparer.count(request)

    @property
    def tokenizer(self) -> Tokenizer:
        """The loaded model's; may be used on any thread.

        Raises:
            InvalidRequestError: No model is loaded.
        """
        ready = self._ready
        if ready is None:
            raise InvalidRequestError(NO_MODEL)
        return ready.preparer.tokenizer

    def has_room(self, prepared: PreparedRequest | PreparedTexts) -> bool:
        """Return whether memory has room for the contexts of a request and of all that run, as long as they may become.

        Args:
            prepared: From `prepare` or `prepare_texts`.
        """
        ready = self._ready
        if ready is None or not isinstance(prepared, PreparedRequest):
            return True
        prefix, scheduler, held = ready.prefix, ready.scheduler, ready.info.kv_bytes_per_token
        if held is not None:
            return held * (scheduler.expected_room + room_for(prepared.expected_tokens)) <= prefix.budget
        # Windows and states do not grow with each token: another context is taken to be as large as the others.
        return prefix.live_nbytes * (scheduler.count + 1) <= prefix.budget * max(1, scheduler.count)

    @property
    def running(self) -> int:
        """How many requests are in flight."""
        return self._ready.scheduler.count + self._ready.embedder.count if self._ready else 0

    def prepare_texts(self, request: EmbedRequest) -> PreparedTexts:
        """Tokenize texts for embeddings by the loaded model. May run on any thread.

        Raises:
            InvalidRequestError: No model is loaded, or the request cannot be honoured.
            BrokenModelError: The model's tokenizer fails on it.
        """
        ready = self._ready
        if ready is None:
            raise InvalidRequestError(NO_MODEL)
        return ready.embedder.prepare(request)

    def embed(self, prepared: PreparedTexts, cancelled: Callable[[], bool] = _never) -> None:
        """Start embedding texts; each `step` then works on them.

        Args:
            prepared: From `prepare_texts`, with the model that is loaded now.
            cancelled: Asked once per step; it then ends as cancelled.

        Raises:
            InvalidRequestError: The model they were prepared for is not loaded any more.
        """
        ready = self._ready
        if ready is None or prepared.embedder is not ready.embedder:
            raise InvalidRequestError(_GONE)
        ready.embedder.start(prepared, cancelled)

    def start(self, prepared: PreparedRequest, cancelled: Callable[[], bool] = _never) -> None:
        """Start a request; each `step` then works on it.

        Args:
            prepared: From `prepare`, with the model that is loaded now.
            cancelled: Asked once per step; the answer then ends as cancelled.

        Raises:
            InvalidRequestError: The model it was prepared for is not loaded any more.
        """
        self._check(prepared).scheduler.add(prepared, cancelled)

    def step(self) -> list[GenerateEvent | Embedded]:
        """Compute one step of the requests in flight, and return its events.

        A step is one prefill chunk, one decode step, or some tokens of the texts to embed; answers and embeddings take
        turns. Each request ends with exactly one `Finished`, `Embedded` or `Failed`.
        """
        ready = self._ready
        if ready is None:
            return []
        self._embeds_next = not self._embeds_next
        if ready.embedder.count and (self._embeds_next or not ready.scheduler.count):
            return [*ready.embedder.step()]
        return [*ready.scheduler.step()]

    def abort(self) -> None:
        """Drop all requests in flight without any event."""
        if self._ready is not None:
            self._ready.scheduler.close()
            self._ready.embedder.close()

    def generate(self, prepared: PreparedRequest, cancelled: Callable[[], bool] = _never) -> Iterator[GenerateEvent]:
        """Start a request and return its events; each `next` computes at most one prefill chunk or one token.

        For callers with one request at a time. An iterator that is dropped before its end cancels the request.

        Raises:
            InvalidRequestError: The model it was prepared for is not loaded any more.
        """
        self._check(prepared)
        return self._generated(prepared, cancelled)

    def _generated(self, prepared: PreparedRequest, cancelled: Callable[[], bool]) -> Iterator[GenerateEvent]:
        dropped = False
        self.start(prepared, lambda: dropped or cancelled())
        try:
            while self.running:
                # No other answer is in flight, but embeddings may be.
                yield from (event for event in self.step() if not isinstance(event, Embedded))
        finally:
            dropped = True
            while self.running:
                self.step()

    def _check(self, prepared: PreparedRequest) -> Ready:
        """Return what is loaded, if the request was prepared for it."""
        ready = self._ready
        if ready is None or prepared.tokenizer is not ready.preparer.tokenizer:
            raise InvalidRequestError(_GONE)
        return ready

    def unload(self) -> None:
        """Drop the model and everything computed with it, and give the memory back."""
        if self._ready is not None:
            self._ready.scheduler.close()
            self._ready.embedder.close()
            # The draft model's cache first: if the disk has no room for both, the one written last stays.
            if self._ready.draft is not None:
                self._ready.draft.prefix.close()
            self._ready.prefix.close()
        # A dropped generation may still be computing a token, which holds buffers.
        mx.synchronize()
        self._ready = self._fitting = None
        wire(0)
        _forget_random()
        if gc.isenabled():  # else another thread collects, on which alone a window's objects may be destroyed
            gc.collect()
        mx.clear_cache()
        give_back()

    def share(self, *, alone: bool) -> None:
        """Set the prefix cache's budget: all that memory has room for if alone, else one model's share."""
        if self._ready is not None and self._fitting is not None and self._ready.guard is not None:
            self._ready.guard.allow(None if alone else self._fitting.shared_cache)

    def look_at_memory(self) -> None:
        """Shrink the prefix cache if the machine is short of memory; call it while the engine is idle."""
        if self._ready is not None and self._ready.guard is not None:
            self._ready.guard.look()

    @property
    def held(self) -> int:
        """Bytes of the weights, and of everything computed for contexts."""
        figures = self.memory()
        return figures.weights + figures.cache

    @property
    def reserve(self) -> int:
        """Bytes reserved for this model while others are loaded, beyond what it holds."""
        if self._ready is None or self._fitting is None or self._fitting.shared is None:
            return 0
        return max(0, self._fitting.shared_cache - self.memory().cache) + self._fitting.shared_work

    def memory(self) -> MemoryFigures:
        """Return what MLX holds now."""
        ready = self._ready
        draft = ready.draft if ready else None
        return MemoryFigures(
            weights=(ready.info.weight_bytes if ready else 0) + (draft.weight_bytes if draft else 0),
            cache=(ready.prefix.nbytes if ready else 0) + (draft.prefix.nbytes if draft else 0),
            active=mx.get_active_memory(),
            pool=mx.get_cache_memory(),
            peak=mx.get_peak_memory(),
            budget=(ready.prefix.budget if ready else 0) + (draft.prefix.budget if draft else 0),
            live=(ready.prefix.live_nbytes if ready else 0) + (draft.prefix.live_nbytes if draft else 0),
        )

    def close(self) -> None:
        """Unload, and end this thread's use of MLX; the engine cannot be used afterwards."""
        self.unload()
        mx.clear_streams()


def _forget_random() -> None:
    """Reset the key of MLX's global random numbers, used to fill new parameters, to an unevaluated constant.

    A computed key would be the only buffer left of an unloaded model. Answers sample with keys of their own.
    """
    state: list[mx.array] = mx.random.state  # type: ignore[assignment]
    state[0][:] = mx.arange(2, dtype=mx.uint32)
