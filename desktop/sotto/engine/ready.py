"""What makes a loaded model ready to answer: a first pass, caches in memory and on disk, and a scheduler."""

import json
import time
from dataclasses import dataclass, field
from functools import partial

import mlx.core as mx

from sotto.engine.batch import can_batch
from sotto.engine.cache_kinds import PlannedKVCache
from sotto.engine.caches import kv_note, leaves, make_caches
from sotto.engine.cpu_linear import adapt_to_cpu
from sotto.engine.device import device
from sotto.engine.draft import DraftModel
from sotto.engine.draft_loading import BUDGET_SHARE, made_draft
from sotto.engine.fitting import Fitting
from sotto.engine.loader import LoadedModel
from sotto.engine.memory_guard import MemoryGuard
from sotto.engine.model_needs import system_memory
from sotto.engine.pace import CHUNK, ChunkSize, Pace
from sotto.engine.prefix_cache import PrefixCache
from sotto.engine.prefix_disk import PrefixDisk
from sotto.engine.preparing import Preparer
from sotto.engine.scheduler import Scheduler
from sotto.engine.sequence import Sequence
from sotto.engine.speculator import Speculator
from sotto.engine.types import EngineSettings, ModelInfo
from sotto.errors import UnsupportedModelError
from sotto.store.records import ModelSource

# A chunk reads all weights, so a longer one is cheaper by the token; Stop and others wait for its end.
_CPU_CHUNK_SECONDS, _CPU_CHUNK_LIMIT = 0.8, 1.2
_CPU_SHARED_SECONDS, _CPU_SHARED_LIMIT = 0.1, 0.2
_CPU_FIRST_CHUNK = 128
_CPU_AHEAD_BELOW = 0.1


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be loaded, and how.

    Attributes:
        source: An opened model.
        settings: What people chose.
        num_ctx: Most tokens that a conversation may hold; None as the manifest says, or else the model's maximum.
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
    """What was read of an order.

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


def made_ready(order: Order, fitting: Fitting, parts: Parts) -> Ready:
    """Make what was read ready to answer.

    Args:
        order: What was asked for.
        fitting: What was planned for it.
        parts: What was read.

    Raises:
        UnsupportedModelError: A model cannot be computed.
    """
    source, settings = order.source, order.settings
    loaded, preparer = parts.loaded, parts.preparer
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
    budget = fitting.prefix_budget(loaded.weight_bytes) if chosen is None else chosen
    draft = None
    if order.draft is not None and parts.draft is not None:
        draft = made_draft(order.draft, parts.draft, logits.shape[-1], budget // BUDGET_SHARE, settings.kv_bits)
        budget -= draft.prefix.budget
    keeps_states = bool(probe.stateful) or (draft is not None and draft.prefix.keeps_states)
    maximum = record.context_length or loaded.config.get("max_position_embeddings")
    preparer.fit(maximum, order.num_ctx, logits.shape[-1], finds_boundary=keeps_states, room=fitting.room)
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
        load_duration=time.perf_counter_ns() - order.started,
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
    return Ready(info, preparer, prefix, scheduler, draft)


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
