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
from dataclasses import dataclass, replace
from typing import Any

import mlx.core as mx

from sotto.engine import pipeline
from sotto.engine.caches import make_caches
from sotto.engine.cpu_linear import adapt_to_cpu
from sotto.engine.device import device
from sotto.engine.loader import LoadedModel, load
from sotto.engine.options import RequestOptions, request_options
from sotto.engine.prefix import PrefixCache, shared_length
from sotto.engine.sampler import Sampler
from sotto.engine.stop_strings import StopMatcher
from sotto.engine.templates import ChatTemplate
from sotto.engine.tokenizer import Tokenizer
from sotto.engine.types import (
    GenerateEvent,
    GenerateRequest,
    LoadProgress,
    MemoryFigures,
    Message,
    ModelInfo,
)
from sotto.errors import CancelledError, InvalidRequestError
from sotto.store.records import ModelSource

_CPU_CHUNK_SECONDS = 0.2
_CPU_FIRST_CHUNK = 64
_CPU_AHEAD_BELOW = 0.02
_SMALLEST_CONTEXT = 4
_UNKNOWN_CONTEXT = 8192
_PLAIN_TURN = "\nUser:"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request turned into tokens for the model that was loaded then.

    Attributes:
        request: As asked, with the model's own options where it left them open.
        model: What it was prepared for.
        prompt: Tokens, at least one and fewer than the context holds.
        boundary: Tokens of the prompt before what the template adds to ask for the answer; 0 when not known.
        max_tokens: Most tokens to draw.
        received: `time.perf_counter_ns()` when the request was taken up.
    """

    request: GenerateRequest
    model: ModelInfo
    prompt: tuple[int, ...]
    boundary: int
    max_tokens: int
    received: int


@dataclass(frozen=True, slots=True)
class _Ready:
    """Everything that belongs to the loaded model, so that unloading is dropping one reference."""

    info: ModelInfo
    model: Any
    tokenizer: Tokenizer
    template: ChatTemplate
    live: PrefixCache
    pace: pipeline.Pace
    model_maximum: int | None
    options: RequestOptions
    system: str


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
            texts = helper.submit(_read_texts, source)
            loaded = load(source, progress=progress, cancelled=cancelled)
            progress(LoadProgress("tokenizer", source.weight_bytes, source.weight_bytes))
            tokenizer, template = texts.result()
        finally:
            helper.shutdown(wait=False, cancel_futures=True)
        if cancelled():
            raise CancelledError(f"Loading {source.record.name} was stopped.")
        progress(LoadProgress("warm-up", source.weight_bytes, source.weight_bytes))
        self._ready = _made_ready(source, num_ctx, loaded, tokenizer, template, started)
        return self._ready.info

    def prepare(self, request: GenerateRequest) -> Prepared:
        """Render and tokenize a request. May run on any thread.

        Raises:
            InvalidRequestError: No model is loaded, the prompt is empty or too long, or an option is out of range.
        """
        received = time.perf_counter_ns()
        ready = self._ready
        if ready is None:
            raise InvalidRequestError("No model is loaded: load one before asking it.")
        if (request.prompt is None) == (not request.messages):
            raise InvalidRequestError("A request has either messages or a prompt: give exactly one of them.")
        request = _completed(request, ready)
        prompt, boundary = _tokens(ready, request)
        limit = ready.info.context_length
        if not prompt:
            raise InvalidRequestError("empty prompt")
        if len(prompt) >= limit:
            raise InvalidRequestError(
                f"input length ({len(prompt)} tokens) exceeds {_limit_name(ready)} ({limit} tokens)"
            )
        room = limit - len(prompt)
        asked = request.num_predict
        return Prepared(
            request=request,
            model=ready.info,
            prompt=prompt,
            boundary=boundary,
            max_tokens=room if asked is None or asked <= 0 else min(asked, room),
            received=received,
        )

    def generate(self, prepared: Prepared, cancelled: Callable[[], bool] = _never) -> Iterator[GenerateEvent]:
        """Return the events of one generation; each `next` computes at most one prefill chunk or one token.

        The iterator may be dropped at any pause. Only one may be running at a time.

        Args:
            prepared: From `prepare`, with the model that is loaded now.
            cancelled: Asked once per step; the answer then ends as cancelled.

        Raises:
            InvalidRequestError: The model it was prepared for is not loaded any more.
        """
        ready = self._ready
        if ready is None or prepared.model is not ready.info:
            raise InvalidRequestError("The model that this request was made for is not loaded any more: ask again.")
        request = prepared.request
        assert request.sampling is not None  # completed by `prepare`
        banned = ready.tokenizer.eos_ids if request.ignore_eos else ()
        sampler = Sampler(request.sampling, prepared.prompt, banned)
        task = pipeline.Task(
            request_id=request.id,
            prompt=prepared.prompt,
            boundary=prepared.boundary,
            max_tokens=prepared.max_tokens,
            eos_ids=ready.tokenizer.eos_ids,
            sample=sampler.sample,
            text=ready.tokenizer.detokenizer(),
            stop=StopMatcher(request.stop),
            received=prepared.received,
        )
        return pipeline.run(ready.model, ready.live, task, ready.pace, cancelled)

    def unload(self) -> None:
        """Drop the model and everything computed with it, and give the memory back."""
        # A generation that was dropped may have left a token on its way, and that holds buffers.
        mx.synchronize()
        self._ready = None
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


def _read_texts(source: ModelSource) -> tuple[Tokenizer, ChatTemplate]:
    tokenizer = Tokenizer.from_source(source)
    return tokenizer, ChatTemplate.from_source(source, tokenizer)


def _made_ready(
    source: ModelSource,
    num_ctx: int | None,
    loaded: LoadedModel,
    tokenizer: Tokenizer,
    template: ChatTemplate,
    started: int,
) -> _Ready:
    record = source.record
    options = request_options(source.params, {})
    num_ctx = num_ctx or options.num_ctx
    maximum = record.context_length or loaded.config.get("max_position_embeddings")
    limits = [limit for limit in (maximum, max(num_ctx, _SMALLEST_CONTEXT) if num_ctx else None) if limit]
    kind = device()
    if kind == "cpu":
        adapt_to_cpu(loaded.model)
    live = PrefixCache(lambda: make_caches(loaded.model))
    # One token through the whole model: the first answer does not wait for kernels and pages, and shapes tell what a
    # token of context costs.
    mx.eval(loaded.model(mx.array([[0]]), cache=live.caches))
    per_token = live.bytes_per_token
    live.reset()
    info = ModelInfo(
        digest=record.digest,
        name=record.name,
        architecture=record.architecture,
        context_length=min(limits, default=_UNKNOWN_CONTEXT),
        weight_bytes=loaded.weight_bytes,
        kv_bytes_per_token=per_token,
        compute_type=loaded.compute_type,
        device=kind,
        has_chat_template=template.own,
        load_duration=time.perf_counter_ns() - started,
    )
    return _Ready(
        info=info,
        model=loaded.model,
        tokenizer=tokenizer,
        template=template,
        live=live,
        pace=_cpu_pace() if kind == "cpu" else pipeline.Pace(),
        model_maximum=maximum,
        options=options,
        system=source.system,
    )


def _cpu_pace() -> pipeline.Pace:
    return pipeline.Pace(
        pipeline.ChunkSize(first=_CPU_FIRST_CHUNK, target=_CPU_CHUNK_SECONDS), ahead_below=_CPU_AHEAD_BELOW
    )


def _tokens(ready: _Ready, request: GenerateRequest) -> tuple[tuple[int, ...], int]:
    """Return the prompt's tokens, and how many of them precede what asks for the answer."""
    if request.prompt is not None:
        return tuple(ready.tokenizer.encode(request.prompt)), 0
    messages = _with_system(request.messages, ready.system)
    prompt = tuple(ready.tokenizer.encode(ready.template.render(messages)))
    if not ready.live.keeps_snapshots:
        return prompt, 0
    history = ready.tokenizer.encode(ready.template.render(messages, add_generation_prompt=False))
    return prompt, shared_length(prompt, history)


def _completed(request: GenerateRequest, ready: _Ready) -> GenerateRequest:
    """Fill in what the request leaves to the model."""
    options = ready.options
    if request.sampling is None:
        request = replace(
            request,
            sampling=options.sampling,
            num_predict=options.num_predict if request.num_predict is None else request.num_predict,
            stop=request.stop or options.stop,
        )
    if request.messages and not ready.template.own:
        # A plain language model goes on with the conversation for both sides.
        request = replace(request, stop=(*request.stop, _PLAIN_TURN))
    return request


def _with_system(messages: tuple[Message, ...], system: str) -> tuple[Message, ...]:
    """Put the model's own system prompt in front where the conversation has none; an empty one asks for none."""
    if not any(message.role == "system" for message in messages):
        return (Message("system", system), *messages) if system else messages
    return tuple(message for message in messages if message.role != "system" or message.content)


def _limit_name(ready: _Ready) -> str:
    if ready.info.context_length == ready.model_maximum:
        return "the model's maximum context length"
    return "the context length asked for, num_ctx"
