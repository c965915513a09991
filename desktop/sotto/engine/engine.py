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
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from sotto.engine import pipeline
from sotto.engine.caches import make_caches
from sotto.engine.cpu_linear import adapt_to_cpu
from sotto.engine.device import device, wire
from sotto.engine.loader import LoadedModel, load
from sotto.engine.prefix import PrefixCache
from sotto.engine.preparing import Prepared, Preparer
from sotto.engine.sampler import Sampler
from sotto.engine.stop_strings import StopMatcher
from sotto.engine.types import (
    GenerateEvent,
    GenerateRequest,
    LoadProgress,
    MemoryFigures,
    ModelInfo,
)
from sotto.errors import CancelledError, InvalidRequestError, UnsupportedModelError
from sotto.store.records import ModelSource

_CPU_CHUNK_SECONDS = 0.2
_CPU_FIRST_CHUNK = 64
_CPU_AHEAD_BELOW = 0.02


@dataclass(frozen=True, slots=True)
class _Ready:
    """Everything that belongs to the loaded model, so that unloading is dropping one reference."""

    info: ModelInfo
    model: Any
    preparer: Preparer
    live: PrefixCache
    pace: pipeline.Pace


def _ignore(_: LoadProgress) -> None:
    """Take no notice of progress."""


def _never() -> bool:
    """Never ask to stop."""
    return False


class Engine:
    """Loads one model at a time and generates with it."""

    def __init__(self) -> None:
        """Start without a model."""
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
    ) -> ModelInfo:
        """Unload what is loaded, load `source` and return what it is.

        Args:
            source: An opened model.
            num_ctx: Most tokens that a conversation may hold; None as the manifest says, or else the model's maximum.
            progress: Called now and then on this thread.
            cancelled: Asked now and then whether to give up.

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
            loaded = load(source, progress=progress, cancelled=cancelled)
            progress(LoadProgress("tokenizer", source.weight_bytes, source.weight_bytes))
            preparer = texts.result()
        finally:
            helper.shutdown(wait=False, cancel_futures=True)
        if cancelled():
            raise CancelledError(f"Loading {source.record.name} was stopped.")
        if device() != "cpu":
            progress(LoadProgress("warm-up", source.weight_bytes, source.weight_bytes))
        self._ready = _made_ready(source, num_ctx, loaded, preparer, started)
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

    def generate(self, prepared: Prepared, cancelled: Callable[[], bool] = _never) -> Iterator[GenerateEvent]:
        """Return the events of one generation; each `next` computes at most one prefill chunk or one token.

        The iterator may be dropped at any pause. Only one may be running at a time.

        Args:
            prepared: From `prepare`, with the model that is loaded now.
            cancelled: Asked once per step; the answer then ends as cancelled.

        Raises:
            InvalidRequestError: The model it was prepared for is not loaded any more.
            EngineError: Memory ran out.
        """
        ready = self._ready
        if ready is None or prepared.preparer is not ready.preparer:
            raise InvalidRequestError("The model that this request was made for is not loaded any more: ask again.")
        tokenizer = ready.preparer.tokenizer
        banned = tokenizer.eos_ids if prepared.request.ignore_eos else ()
        task = pipeline.Task(
            request_id=prepared.request.id,
            prompt=prepared.prompt,
            boundary=prepared.boundary,
            max_tokens=prepared.max_tokens,
            eos_ids=tokenizer.eos_ids,
            sample=Sampler(prepared.sampling, prepared.prompt, banned).sample,
            text=tokenizer.detokenizer(),
            stop=StopMatcher(prepared.stop),
            received=prepared.received,
        )
        return pipeline.run(ready.model, ready.live, task, ready.pace, cancelled)

    def unload(self) -> None:
        """Drop the model and everything computed with it, and give the memory back."""
        # A generation that was dropped may have left a token on its way, and that holds buffers.
        mx.synchronize()
        self._ready = None
        wire(0)
        gc.collect()
        mx.clear_cache()

    def memory(self) -> MemoryFigures:
        """Return what MLX holds now."""
        return MemoryFigures(
            weights=self._ready.info.weight_bytes if self._ready else 0,
            cache=self._ready.live.nbytes if self._ready else 0,
            active=mx.get_active_memory(),
            pool=mx.get_cache_memory(),
            peak=mx.get_peak_memory(),
        )

    def close(self) -> None:
        """Unload, and end this thread's use of MLX; the engine cannot be used afterwards."""
        self.unload()
        mx.clear_streams()


def _made_ready(
    source: ModelSource, num_ctx: int | None, loaded: LoadedModel, preparer: Preparer, started: int
) -> _Ready:
    kind = device()
    if kind == "cpu":
        adapt_to_cpu(loaded.model)
    live = PrefixCache(lambda: make_caches(loaded.model))
    try:
        logits = loaded.model(mx.array([[0]]), cache=live.caches)
    except Exception as error:
        # A definition checks nothing before it computes.
        raise UnsupportedModelError(
            f"The definition of {source.record.architecture} models fails on this one: {' '.join(str(error).split())}."
        ) from error
    per_token = live.bytes_per_token  # shapes are known without computing anything
    if kind != "cpu":
        # Builds the kernels that the first answer would wait for. A CPU has none: there this would only take time.
        mx.eval(logits)
    live.reset()
    record = source.record
    maximum = record.context_length or loaded.config.get("max_position_embeddings")
    preparer.fit(maximum, num_ctx, logits.shape[-1], finds_boundary=live.keeps_snapshots)
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
    )
    return _Ready(info, loaded.model, preparer, live, _cpu_pace() if kind == "cpu" else pipeline.Pace())


def _cpu_pace() -> pipeline.Pace:
    chunk = pipeline.ChunkSize(first=_CPU_FIRST_CHUNK, target=_CPU_CHUNK_SECONDS)
    return pipeline.Pace(chunk, ahead_below=_CPU_AHEAD_BELOW)
