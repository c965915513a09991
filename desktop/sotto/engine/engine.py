"""The engine: one loaded model, its tokenizer and template, and the caches that live from one answer to the next.

Every method except `prepare` and the reading of `info` must run on one and the same thread for the engine's whole life,
because MLX's streams and unevaluated arrays belong to the thread that made them. `prepare` touches no array and may run
on any thread, while the owner computes another request. A plain script needs no more than::

    device.prepare()
    engine = Engine()
    engine.load(open_model(resolve("sotto")))
    for event in engine.generate(engine.prepare(GenerateRequest(id="1", prompt="Once"))):
        ...
    engine.close()
"""

import gc
import json
import time
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Series
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import mlx.core as mx

from sotto.engine.batch import can_batch
from sotto.engine.caches import PlannedKVCache, kv_note, leaves, make_caches
from sotto.engine.cpu_linear import adapt_to_cpu
from sotto.engine.device import device, wire
from sotto.engine.draft import DraftModel
from sotto.engine.draft_loading import BUDGET_SHARE, check_draft, made_draft, part_of
from sotto.engine.fitting import Fitting, fitted, placed
from sotto.engine.generation import Task
from sotto.engine.loader import LoadedModel, load
from sotto.engine.memory_guard import MemoryGuard
from sotto.engine.memory_plan import Limits
from sotto.engine.model_needs import limits_here, system_memory
from sotto.engine.overflow import shifted
from sotto.engine.pace import CHUNK, ChunkSize, Pace
from sotto.engine.prefix_cache import PrefixCache
from sotto.engine.prefix_disk import PrefixDisk
from sotto.engine.preparing import Prepared, Preparer
from sotto.engine.sampler import Sampler
from sotto.engine.scheduler import Scheduler
from sotto.engine.sequence import Sequence
from sotto.engine.speculator import Speculator
from sotto.engine.stop_strings import StopMatcher
from sotto.engine.system_memory import give_back
from sotto.engine.types import (
    EngineSettings,
    GenerateEvent,
    GenerateRequest,
    LoadProgress,
    MemoryFigures,
    ModelInfo,
    Overflow,
)
from sotto.errors import CancelledError, InvalidRequestError, UnsupportedModelError
from sotto.store.records import ModelSource

# A chunk reads all weights, so a longer one is cheaper by the token; Stop and others wait for its end.
_CPU_CHUNK_SECONDS, _CPU_CHUNK_LIMIT = 0.8, 1.2
_CPU_SHARED_SECONDS, _CPU_SHARED_LIMIT = 0.1, 0.2
_CPU_FIRST_CHUNK = 128
_CPU_AHEAD_BELOW = 0.1


@dataclass(frozen=True, slots=True)
class _Ready:
    """Everything that belongs to the loaded model, so that unloading is dropping one reference."""

    info: ModelInfo
    preparer: Preparer
    prefix: PrefixCache
    scheduler: Scheduler
    draft: DraftModel | None


def _ignore(_: LoadProgress) -> None:
    """Take no notice of progress."""


def _never() -> bool:
    """Never ask to stop."""
    return False


class Engine:
    """Loads one model at a time and generates with it."""

    def __init__(self, settings: EngineSettings | None = None) -> None:
        """Start without a model.

        Args:
            settings: What people chose; None for what is good for most.
        """
        self._settings = settings or EngineSettings()
        self._ready: _Ready | None = None

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
    ) -> ModelInfo:
        """Unload what is loaded, load `source` and return what it is.

        Args:
            source: An opened model.
            num_ctx: Most tokens that a conversation may hold; None as the manifest says, or else the model's maximum.
            progress: Called now and then on this thread.
            cancelled: Asked now and then whether to give up.
            draft: An opened second model, with the same vocabulary, that proposes tokens to this one; None for none.

        Raises:
            CancelledError: `cancelled` said so; nothing is loaded then.
            SottoError: The model is damaged, or not one that can be run; nothing is loaded then.
        """
        started = time.perf_counter_ns()
        self.unload()
        mx.reset_peak_memory()
        helper = ThreadPoolExecutor(1, thread_name_prefix="tokenizer")
        try:
            texts = helper.submit(Preparer, source)
            second = draft.weight_bytes if draft else 0
            limits = _without(limits_here(), second)
            fitting = fitted(source, num_ctx, limits, self._settings.kv_bits)
            if draft is not None:
                check_draft(source, texts.result().tokenizer, draft)
            told = part_of(progress, after=second)
            reading = partial(load, source, limits=limits, progress=told, cancelled=cancelled)
            loaded = placed(source, fitting, limits, reading)
            drafting = None
            if draft is not None:
                drafting = load(
                    draft,
                    limits=limits_here(),
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
        drafts = (draft, drafting) if draft is not None and drafting is not None else None
        self._ready = _made_ready(source, num_ctx, loaded, preparer, limits, fitting, started, self._settings, drafts)
        return self._ready.info

    def prepare(self, request: GenerateRequest) -> Prepared:
        """Render and tokenize a request for the model that is loaded. May run on any thread.

        Raises:
            InvalidRequestError: No model is loaded, or the request cannot be honoured.
            BrokenModelError: The model's template or tokenizer fails on it.
        """
        ready = self._ready
        if ready is None:
            raise InvalidRequestError("No model is loaded: load one before asking it.")
        return ready.preparer.prepare(request)

    @property
    def running(self) -> int:
        """How many requests are in flight."""
        return self._ready.scheduler.count if self._ready else 0

    def start(self, prepared: Prepared, cancelled: Callable[[], bool] = _never) -> None:
        """Take up a request; each `step` then works on it.

        Args:
            prepared: From `prepare`, with the model that is loaded now.
            cancelled: Asked once per step; the answer then ends as cancelled.

        Raises:
            InvalidRequestError: The model it was prepared for is not loaded any more.
        """
        ready = self._check(prepared)
        tokenizer = ready.preparer.tokenizer
        banned = tokenizer.eos_ids if prepared.request.ignore_eos else ()
        ready.scheduler.add(
            Task(
                request_id=prepared.request.id,
                prompt=prepared.prompt,
                boundaries=prepared.boundaries,
                max_tokens=prepared.max_tokens,
                eos_ids=tokenizer.eos_ids,
                sampler=Sampler(prepared.sampling, prepared.prompt, banned),
                text=tokenizer.detokenizer(),
                stop=StopMatcher(prepared.stop),
                received=prepared.received,
                cancelled=cancelled,
                context=ready.preparer.context_length,
                shift=_shift(prepared) if prepared.request.overflow is Overflow.SHIFT else None,
                dropped=prepared.dropped_tokens,
            )
        )

    def step(self) -> list[GenerateEvent]:
        """Compute one prefill chunk or one decode step of the requests in flight, and return what came of it.

        Each request ends with exactly one `Finished` or `Failed`.
        """
        return self._ready.scheduler.step() if self._ready else []

    def abort(self) -> None:
        """Drop all requests in flight, without a word."""
        if self._ready is not None:
            self._ready.scheduler.close()

    def generate(self, prepared: Prepared, cancelled: Callable[[], bool] = _never) -> Iterator[GenerateEvent]:
        """Start a request and return its events; each `next` computes at most one prefill chunk or one token.

        For whoever has but one request at a time. An iterator that is dropped before its end cancels the request.

        Raises:
            InvalidRequestError: The model it was prepared for is not loaded any more.
        """
        self._check(prepared)
        return self._generated(prepared, cancelled)

    def _generated(self, prepared: Prepared, cancelled: Callable[[], bool]) -> Iterator[GenerateEvent]:
        dropped = False
        self.start(prepared, lambda: dropped or cancelled())
        try:
            while self.running:
                yield from self.step()
        finally:
            dropped = True
            while self.running:
                self.step()

    def _check(self, prepared: Prepared) -> _Ready:
        """Return what is loaded, if the request was prepared for it."""
        ready = self._ready
        if ready is None or prepared.preparer is not ready.preparer:
            raise InvalidRequestError("The model that this request was made for is not loaded any more: ask again.")
        return ready

    def unload(self) -> None:
        """Drop the model and everything computed with it, and give the memory back."""
        if self._ready is not None:
            self._ready.scheduler.close()
            self._ready.prefix.close()
            if self._ready.draft is not None:
                self._ready.draft.prefix.close()
        # A generation that was dropped may have left a token on its way, and that holds buffers.
        mx.synchronize()
        self._ready = None
        wire(0)
        _forget_random()
        gc.collect()
        mx.clear_cache()
        give_back()

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
        )

    def close(self) -> None:
        """Unload, and end this thread's use of MLX; the engine cannot be used afterwards."""
        self.unload()
        mx.clear_streams()


def _shift(prepared: Prepared) -> Callable[[Series[int]], Series[int]]:
    """Return what takes all tokens of a full context to those to go on with."""
    most = max(1, prepared.preparer.context_length * 3 // 4)
    return lambda tokens: shifted(tokens, prepared.keep, most, prepared.opening)


def _made_ready(
    source: ModelSource,
    num_ctx: int | None,
    loaded: LoadedModel,
    preparer: Preparer,
    limits: Limits,
    fitting: Fitting,
    started: int,
    settings: EngineSettings,
    drafts: tuple[ModelSource, LoadedModel] | None,
) -> _Ready:
    kind = device()
    if kind == "cpu":
        adapt_to_cpu(loaded.model)
    probe = Sequence(partial(make_caches, loaded.model, settings.kv_bits))
    try:
        logits = loaded.model(mx.array([[0]]), cache=probe.caches)
    except Exception as error:
        # A definition checks nothing before it computes.
        raise UnsupportedModelError(
            f"The definition of {source.record.architecture} models fails on this one: {' '.join(str(error).split())}."
        ) from error
    per_token = probe.bytes_per_token  # shapes are known without computing anything
    if kind != "cpu":
        # Builds the kernels that the first answer would wait for. A CPU has none: there this would only take time.
        mx.eval(logits)
    record = source.record
    disks = _disks(settings, source, loaded, probe, kind)
    chosen = settings.prefix_budget
    budget = fitting.prefix_budget(limits, loaded.weight_bytes) if chosen is None else chosen
    draft = None
    if drafts is not None:
        draft = made_draft(*drafts, logits.shape[-1], budget // BUDGET_SHARE, settings.kv_bits)
        budget -= draft.prefix.budget
    keeps_states = bool(probe.stateful) or (draft is not None and draft.prefix.keeps_states)
    maximum = record.context_length or loaded.config.get("max_position_embeddings")
    preparer.fit(maximum, num_ctx, logits.shape[-1], finds_boundary=keeps_states, room=fitting.room)
    make = partial(make_caches, loaded.model, settings.kv_bits, preparer.context_length)
    prefix = PrefixCache(make, budget, disks)
    info = ModelInfo(
        digest=record.digest,
        name=record.name,
        architecture=record.architecture,
        context_length=preparer.context_length,
        weight_bytes=loaded.weight_bytes,
        kv_bytes_per_token=per_token,
        compute_type=loaded.compute_type,
        device=kind,
        has_chat_template=preparer.template.own,
        load_duration=time.perf_counter_ns() - started,
        draft=draft.name if draft else "",
        kv_note=kv_note(probe.caches, settings.kv_bits),
        context_note=fitting.note,
    )
    scheduler = Scheduler(
        loaded.model,
        prefix,
        _cpu_pace() if kind == "cpu" else Pace(),
        batches=can_batch(loaded.config, probe.caches),
        speculator=Speculator(draft=draft),
        guard=MemoryGuard(system_memory(), prefix, fitting.plan.chunk if fitting.plan else CHUNK),
    )
    return _Ready(info, preparer, prefix, scheduler, draft)


def _without(limits: Limits, nbytes: int) -> Limits:
    """Return what memory there is beside `nbytes` of another model."""
    return replace(limits, budget=None if limits.budget is None else max(0, limits.budget - nbytes))


def _forget_random() -> None:
    """Let the key of MLX's own random numbers, which definitions fill new parameters with, be one that is not computed.

    Answers draw with keys of their own; this one would be all that is left of a model.
    """
    state: list[mx.array] = mx.random.state  # type: ignore[assignment]
    state[0][:] = mx.arange(2, dtype=mx.uint32)


def _disks(
    settings: EngineSettings, source: ModelSource, loaded: LoadedModel, probe: Sequence, kind: str
) -> tuple[PrefixDisk, ...]:
    """Return what is on disk for this model, for each way in which contexts are computed; none if not wanted."""
    if settings.disk_root is None or not settings.disk_budget:
        return ()
    layout = [type(leaf).__name__ for leaf in leaves(probe.caches)]
    parts = [source.record.digest, source.config, layout, settings.kv_bits, loaded.compute_type, kind]
    key = json.dumps(parts, sort_keys=True, default=dict)
    ways = 2 if any(isinstance(leaf, PlannedKVCache) for leaf in probe.ranged) else 1
    return tuple(PrefixDisk(settings.disk_root, f"{key} {way}", settings.disk_budget) for way in range(ways))


def _cpu_pace() -> Pace:
    chunk = ChunkSize(first=_CPU_FIRST_CHUNK, target=_CPU_CHUNK_SECONDS, limit=_CPU_CHUNK_LIMIT)
    shared = ChunkSize(first=_CPU_FIRST_CHUNK // 2, target=_CPU_SHARED_SECONDS, limit=_CPU_SHARED_LIMIT)
    return Pace(chunk, shared, ahead_below=_CPU_AHEAD_BELOW)
