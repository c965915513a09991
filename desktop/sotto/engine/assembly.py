"""Assembly of a loaded model with its caches, draft model and scheduler, so that it can answer."""

import time
from dataclasses import dataclass, field, replace

from sotto.engine.architectures.prediction import Predicting
from sotto.engine.caches.batch import can_batch
from sotto.engine.caches.caches import kv_note
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.caches.sequence import Sequence
from sotto.engine.config.pooling_config import read_pooling_config
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import ModelInfo
from sotto.engine.footprint.load_planning import Fitting
from sotto.engine.footprint.model_needs import system_memory
from sotto.engine.generation.chunk_sizing import CHUNK, ChunkSize, ChunkSizing
from sotto.engine.generation.draft_loading import BUDGET_SHARE, build_draft_model
from sotto.engine.generation.draft_model import DraftModel
from sotto.engine.generation.first_forward import first_forward
from sotto.engine.generation.looking import Vision
from sotto.engine.generation.memory_guard import MemoryGuard
from sotto.engine.generation.prediction_drafts import PredictionDrafts
from sotto.engine.generation.scheduler import Scheduler
from sotto.engine.generation.speculator import Speculator
from sotto.engine.generation.tape import with_tapes
from sotto.engine.kernels.device import device
from sotto.engine.prompt.request_preparation import Preparer
from sotto.engine.vectors.embedding import Embedder
from sotto.engine.vectors.hidden_states import decoder_reader
from sotto.engine.weights.loader import LoadedModel
from sotto.store.records import ModelSource

# A chunk reads all weights, so a longer one is cheaper by the token; others wait for its end, and Stop if the model has
# caches that cannot go back.
_CPU_CHUNK_SECONDS, _CPU_CHUNK_LIMIT, _CPU_LIMIT_WITH_STATES = 0.8, 2.0, 1.5
_CPU_SHARED_SECONDS, _CPU_SHARED_LIMIT = 0.3, 0.8
# The native kernels compute 6, 24 or 48 rows at a time, so that multiples are fastest. Chunks of fewer than 72 take up
# to twice as long by the token, which is more than it is worth to let others begin a second earlier; those of 72 take
# 1.06 times as long as those of 144.
_CPU_FIRST_CHUNK, _CPU_FAIR_CHUNK, _CPU_LEAST_CHUNK = 192, 144, 72
_CPU_AHEAD_BELOW = 0.1


@dataclass(frozen=True, slots=True)
class Order:
    """What to load, and how.

    Attributes:
        source: An opened model.
        settings: The user's choices.
        num_ctx: Most tokens per conversation; None for the manifest's value, or else the model's maximum.
        draft: An opened second model that proposes tokens to the first; None for none.
        started: `time.perf_counter_ns()` when the load was asked for.
    """

    source: ModelSource
    settings: EngineSettings
    num_ctx: int | None = None
    draft: ModelSource | None = None
    started: int = field(default_factory=time.perf_counter_ns)


@dataclass(frozen=True, slots=True)
class Parts:
    """What was read from disk for an order.

    Attributes:
        loaded: The model.
        preparer: Its tokenizer and template.
        draft: The second model; None where none was asked for.
    """

    loaded: LoadedModel
    preparer: Preparer
    draft: LoadedModel | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """Everything that belongs to the loaded model, so that unloading is dropping one reference."""

    info: ModelInfo
    preparer: Preparer
    prefix: PrefixCache
    scheduler: Scheduler
    draft: DraftModel | None
    embedder: Embedder
    guard: MemoryGuard | None = None


def assemble(order: Order, fitting: Fitting, parts: Parts) -> Ready:
    """Assemble a model from what was read, ready to answer.

    Args:
        order: What was asked for.
        fitting: What was planned for it.
        parts: The model, tokenizer and draft model that were read.

    Raises:
        UnsupportedModelError: A model cannot be computed, or its embeddings cannot be computed as its files ask.
        BrokenModelError: Its files make no sense.
    """
    preparer, settings = parts.preparer, order.settings
    first, second, draft = first_forward(order.source, parts.loaded, settings), None, None
    weights = parts.loaded.weight_bytes
    if order.draft is not None and parts.draft is not None:
        second = first_forward(order.draft, parts.draft, settings)
        weights += parts.draft.weight_bytes
    keeps_states = first.keeps_states or (second is not None and second.keeps_states)
    preparer.fit(first.longest, order.num_ctx, first.rows, finds_boundary=keeps_states, room=fitting.room)
    context = preparer.context_length
    chunk = fitting.plan.chunk if fitting.plan else CHUNK
    chosen = settings.prefix_budget
    budget = fitting.prefix_budget(weights) if chosen is None else chosen
    if second is not None:
        draft = build_draft_model(second, first.rows, budget // BUDGET_SHARE, context, chunk)
        budget -= draft.prefix.budget
    prefix = first.prefix(budget, context)
    vision = None
    if parts.loaded.tower is not None and parts.loaded.reader is not None:
        vision = Vision(parts.loaded.tower, parts.loaded.reader, lambda: prefix.budget, prefix.count_other_caches)
        preparer.see(parts.loaded.reader, fitting.largest_image)
    head = PredictionDrafts(parts.loaded.model) if isinstance(parts.loaded.model, Predicting) else None
    caches = first.sequence.caches
    guard = MemoryGuard(system_memory(), [prefix, draft.prefix] if draft else [prefix], chunk)
    scheduler = Scheduler(
        parts.loaded.model,
        prefix,
        _cpu_chunk_sizing(first.sequence) if device() == "cpu" else ChunkSizing(),
        steps=with_tapes(parts.loaded.model, parts.loaded.config, caches),
        batches=can_batch(parts.loaded.config, caches),
        speculator=Speculator(draft=draft or head),
        guard=guard,
        vision=vision,
    )
    info = model_info(
        order,
        fitting,
        parts,
        kv_bytes_per_token=first.sequence.bytes_per_token,
        kv_note=kv_note(caches, settings.kv_bits),
        draft=draft.name if draft else "",
        predicts=head is not None,
    )
    sentence = read_pooling_config(order.source)
    reads = decoder_reader(parts.loaded.model, parts.loaded.config, chunk, prefix.count_other_caches)
    embedder = Embedder(reads, preparer.tokenizer, sentence, min(context, sentence.longest or context), first.rows)
    return Ready(info, preparer, prefix, scheduler, draft, embedder, guard)


def model_info(
    order: Order,
    fitting: Fitting,
    parts: Parts,
    *,
    writes: bool = True,
    kv_bytes_per_token: int | None = 0,
    kv_note: str = "",
    draft: str = "",
    predicts: bool = False,
) -> ModelInfo:
    """Describe a model that is ready, for callers.

    Args:
        order: What was asked for.
        fitting: What was planned for it.
        parts: What was read; the preparer knows the context.
        writes: Whether the model writes text; if not, nothing is said about its template.
        kv_bytes_per_token: Bytes of cache per token of context, or None when layers differ with length.
        kv_note: Which layers quantize their keys and values; empty if that was not asked for.
        draft: The name of the second model; empty for none.
        predicts: Whether its own head predicts tokens ahead.
    """
    record, loaded, preparer = order.source.record, parts.loaded, parts.preparer
    info = ModelInfo(
        digest=record.digest,
        name=record.name,
        architecture=record.architecture,
        context_length=preparer.context_length,
        weight_bytes=loaded.weight_bytes,
        kv_bytes_per_token=kv_bytes_per_token,
        compute_type=loaded.compute_type,
        device=device(),
        has_chat_template=writes and preparer.template.own,
        load_duration=time.perf_counter_ns() - order.started,
        draft=draft,
        adapter=order.source.adapter_names,
        predicts=predicts,
        kv_note=kv_note,
        context_note=fitting.note,
        options_note=preparer.options_note,
        options=preparer.usual,
        writes=writes,
    )
    if not writes:
        return info
    return replace(
        info,
        template_note=preparer.template.note,
        doubts_template=not (preparer.template.own and preparer.template.reads_messages),
        system=order.source.system,
        knows_tools=preparer.abilities.tools,
        thinks=preparer.abilities.thinks,
        knows_efforts=preparer.abilities.efforts,
        fills_gaps=preparer.abilities.infills,
        sees=preparer.abilities.sees,
        vision_note=loaded.vision_note or record.vision_reason,
        largest_image=fitting.largest_image,
    )


def _cpu_chunk_sizing(sequence: Sequence) -> ChunkSizing:
    stoppable = sequence.is_stoppable
    chunk = ChunkSize(
        first=_CPU_FIRST_CHUNK,
        target=_CPU_CHUNK_SECONDS,
        limit=_CPU_CHUNK_LIMIT if stoppable else _CPU_LIMIT_WITH_STATES,
        least=_CPU_LEAST_CHUNK,
        fair=_CPU_FAIR_CHUNK if stoppable else 0,
    )
    shared = ChunkSize(first=_CPU_FIRST_CHUNK // 2, target=_CPU_SHARED_SECONDS, limit=_CPU_SHARED_LIMIT)
    return ChunkSizing(chunk, shared, ahead_below=_CPU_AHEAD_BELOW)
