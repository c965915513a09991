"""The memory needs of a model, from the headers of its files and the shapes of its definition; nothing is computed.

The model is built as it would be loaded, with arrays in place of its weights that have a type and a shape but are never
evaluated. A short pass through it shows its caches. Then passes of several sizes at several context lengths are traced,
and their evaluation is simulated (`graph_memory`). Everything here belongs to the thread that owns MLX.
"""

import gc
import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten

from sotto import __version__
from sotto.engine.architectures import zoo
from sotto.engine.architectures.towers.tower import Tower
from sotto.engine.config.context_limit import longest_context
from sotto.engine.config.load_errors import name_file_in_errors, reason_of
from sotto.engine.config.supported_models import is_encoder
from sotto.engine.footprint.encoder_needs import encoder_work
from sotto.engine.footprint.graph_memory import peak
from sotto.engine.footprint.rehearsal import DECODE, Rehearsal, round_up
from sotto.engine.footprint.sight_needs import sight_points
from sotto.engine.footprint.task_sizes import pace_here
from sotto.engine.footprint.traced_kernels import traceable
from sotto.engine.gguf.conversion import describe_repacking
from sotto.engine.kernels import device, native
from sotto.engine.kernels.cpu_linear import CpuQuantizedEmbedding, CpuQuantizedLinear
from sotto.engine.kernels.widened_codes import describe_widening
from sotto.engine.memory import estimates, needs_store
from sotto.engine.memory.draft_needs import beside, with_draft
from sotto.engine.memory.memory_needs import CacheNeed, ModelNeeds, WorkPoint
from sotto.engine.memory.memory_plan import PREFIX_BUDGET, Limits, Plan, plan
from sotto.engine.memory.system_memory import Accelerator, SystemMemory
from sotto.engine.vision.image_reader import ImageReader
from sotto.engine.vision.preprocessor_files import preprocessor_of
from sotto.engine.weights import parameters, prediction_tensors, weights
from sotto.engine.weights.applied_adapters import Adapters
from sotto.engine.weights.parameters import Holding
from sotto.engine.weights.tower_loading import LoadableTower, loadable_tower
from sotto.store.records import ModelSource, TensorFile

_CHUNKS = (32, 128, 512, 2048)
# Recurrent layers without a kernel are computed token by token, so that the graph grows with the chunk.
_MOST_OPERATIONS = 30_000
_BEYOND = 131_072


def plan_model(
    source: ModelSource,
    limits: Limits,
    num_ctx: int | None = None,
    draft: ModelSource | None = None,
    *,
    kernels: Any | None = None,
    kv_bits: int | None = None,
    prefix_budget: int = PREFIX_BUDGET,
    reclaimable: Mapping[str, int] | None = None,
) -> Plan:
    """Plan a model before it is loaded.

    Args:
        source: An opened model; no tensor of it is read.
        limits: The memory available now.
        num_ctx: Requested context length in tokens; None for the longest that the model supports.
        draft: An opened draft model to load with it; None for none.
        kernels: The native kernels that will be used; None for none.
        kv_bits: Bits of keys and values, 16, 8 or 4, in layers that allow it; None leaves them as computed.
        prefix_budget: Maximum bytes of the prefix cache.
        reclaimable: Bytes that could be freed, by their present use.

    Raises:
        UnsupportedModelError: The model is complete, but cannot be computed correctly on this machine.
        BrokenModelError: Its files lack something or contradict each other.
    """
    return plan(
        needs_with_draft(source, draft, limits, kernels, kv_bits),
        limits,
        num_ctx,
        prefix_budget=prefix_budget,
        reclaimable=reclaimable,
    )


def plan_here(
    source: ModelSource,
    num_ctx: int | None = None,
    kv_bits: int | None = None,
    draft: ModelSource | None = None,
    memory_limit: int | None = None,
) -> Plan:
    """Plan a model for this machine in its present state, with its kernels; see `plan_model`.

    Args:
        source: An opened model.
        num_ctx: Requested context length in tokens; None for the longest that it supports.
        kv_bits: Bits of keys and values; None leaves them as computed.
        draft: An opened draft model; None for none.
        memory_limit: Bytes that the user allows; None for all free memory.

    Raises:
        UnsupportedModelError: The model is complete, but cannot be computed correctly on this machine.
        BrokenModelError: Its files lack something or contradict each other.
    """
    limits = limits_here().within(memory_limit)
    return plan_model(source, limits, num_ctx, draft, kernels=native.kernels(), kv_bits=kv_bits)


def limits_here(reserve: int | None = None) -> Limits:
    """Return the memory available for models on the device that computes.

    Args:
        reserve: Bytes to leave to other programs; None for the default.
    """
    return system_memory().limits(reserve)


def system_memory() -> SystemMemory:
    """Return the memory of this machine and of the device that computes, with what MLX holds now."""
    held = mx.get_active_memory() + mx.get_cache_memory()
    return SystemMemory(accelerator=Accelerator.of(device.device(), mx.device_info(), held))


def needs_with_draft(
    source: ModelSource,
    draft: ModelSource | None,
    limits: Limits,
    kernels: Any | None = None,
    kv_bits: int | None = None,
) -> ModelNeeds:
    """Return the needs of a model together with its draft model, if it has one; see `needs_of`.

    The types of the weights of each depend on the memory left beside the other, as they do when both are loaded.

    Raises:
        UnsupportedModelError: One of them is complete, but cannot be computed correctly on this machine.
        BrokenModelError: Files lack something or contradict each other.
    """
    if draft is None:
        return needs_of(source, limits, kernels, kv_bits)
    needs = needs_of(source, beside(limits, draft.weight_bytes), kernels, kv_bits)
    return with_draft(needs, needs_of(draft, beside(limits, needs.weight_bytes), kernels, kv_bits))


def needs_of(source: ModelSource, limits: Limits, kernels: Any | None = None, kv_bits: int | None = None) -> ModelNeeds:
    """Return the needs of a model on this machine's device; computed once, and then remembered.

    Args:
        source: An opened model; no tensor of it is read.
        limits: The memory available now; decides whether 16-bit weights will be widened.
        kernels: The native kernels that will be used; None for MLX alone.
        kv_bits: Bits of keys and values, 16, 8 or 4, in layers that allow it; None leaves them as computed.

    Raises:
        UnsupportedModelError: The model is complete, but cannot be computed correctly on this machine.
        BrokenModelError: Its files lack something or contradict each other.
    """
    files, seeing = weights.of_model(source), loadable_tower(source)
    all_files = (*files, *seeing.files)
    held = parameters.holding(all_files, source.config, limits)
    key = _key(source, all_files, held, kernels, kv_bits)
    architecture = source.record.architecture
    said = describe_repacking(all_files, widened=held.dtype == mx.float32 and kernels is None)
    if kernels is not None and held.codes:
        said = said or describe_widening(all_files, source.config)
    if (known := needs_store.recall(key)) is not None:
        return estimates.correct(replace(known, repacked=said), architecture)
    with name_file_in_errors(source):
        model, config, arrays = _unloaded(source, files, held, kernels=kernels is not None)
        if seeing.tower is not None:
            arrays += _unloaded_tower(seeing, seeing.tower, held, source, kernels=kernels is not None)
    needs = model_needs(
        model,
        config,
        sum(array.nbytes for array in arrays),
        max(array.nbytes for array in arrays),
        longest_context(source, model, config),
        kernels,
        kv_bits,
    )
    if seeing.tower is not None and seeing.reader is not None and not needs.unknown:
        needs = _seeing(needs, seeing.tower, seeing.reader, kernels)
    if not needs.unknown:
        needs_store.keep(key, needs)
    return estimates.correct(replace(needs, repacked=said), architecture)


def model_needs(
    model: nn.Module,
    config: Mapping[str, Any],
    weight_bytes: int,
    loading_bytes: int,
    longest_context: int | None,
    kernels: Any | None = None,
    kv_bits: int | None = None,
) -> ModelNeeds:
    """Return the needs of a model whose parameters have their final types and shapes, loaded or not.

    Args:
        model: On a CPU, its quantized layers are replaced by ones that unpack their matrices, unless `kernels` support
            them.
        config: Its config, with the keys of its definition.
        weight_bytes: Bytes of its weights.
        loading_bytes: Further bytes needed temporarily while loading.
        longest_context: Maximum context length in tokens.
        kernels: The native kernels that will be used; None for MLX alone.
        kv_bits: Bits of keys and values, 16, 8 or 4, in layers that allow it; None leaves them as computed.
    """
    unknown = ""
    layers: tuple[CacheNeed, ...] | None = None
    work: tuple[WorkPoint, ...] = ()
    try:
        with traceable(kernels), _uncollected():
            if is_encoder(config):
                if device.device() == "cpu":
                    _unpack(model, kernels)
                work = tuple(encoder_work(model, longest_context or model.args.longest))
                return ModelNeeds(weight_bytes, loading_bytes, (), work, longest_context)
            rehearsal = Rehearsal.of(model, kv_bits)
            layers = tuple(layer.need(config) for layer in rehearsal.layers)
            work = tuple(_work(rehearsal, layers, longest_context or _BEYOND, kernels))
    except Exception as error:
        # Definitions can raise anything, and MLX cannot list every operation.
        unknown = f"its computation could not be followed in advance ({reason_of(error)})."
    return ModelNeeds(weight_bytes, loading_bytes, layers, work, longest_context, unknown)


def _seeing(needs: ModelNeeds, tower: Tower, reader: ImageReader, kernels: Any | None) -> ModelNeeds:
    """Return the needs of a model with what seeing an image takes."""
    try:
        with traceable(kernels), _uncollected():
            if device.device() == "cpu":
                _unpack(tower, kernels)
            return replace(needs, sight=tuple(sight_points(tower, reader)))
    except Exception as error:
        return replace(needs, unknown=f"seeing an image could not be followed in advance ({reason_of(error)}).")


def _key(
    source: ModelSource, files: Sequence[TensorFile], held: Holding, kernels: Any | None, kv_bits: int | None
) -> str:
    """Return a key of everything that a model's needs depend on."""
    return needs_store.key_of(
        [
            source.digest,
            source.record.context_length,
            source.config,
            [(step.kind, step.config) for step in source.modules],
            preprocessor_of(source.json_files),
            sorted((name, tensor.dtype, tensor.shape) for file in files for name, tensor in file.tensors.items()),
            device.device(),
            repr(pace_here()),
            kernels.level() if kernels else None,
            [str(held.dtype), held.matrices, held.codes],
            kv_bits,
            [importlib.metadata.version(package) for package in ("mlx", "mlx-lm")],
            __version__,
        ]
    )


def _unloaded(
    source: ModelSource, files: Sequence[TensorFile], held: Holding, *, kernels: bool
) -> tuple[nn.Module, dict[str, Any], list[mx.array]]:
    """Return the model as it would be loaded, its config, and its weights, with types and shapes but no content."""
    model, config = zoo.build(source.config, prediction_tensors.make_of(source.config, files))
    tensors = weights.shapes_of(files)
    adapters = Adapters(source)
    adapters.imagine(weights.DTYPES)
    adapters.replace_stored(model, tensors)
    dtype, held = parameters.arrange(model, files, tensors, held, source.config, kernels=kernels)
    adapters.replace_parameters(tensors)
    _take(model, tensors, held)
    adapters.attach(model, dtype)
    model.eval()
    return model, config, [array for _, array in tree_flatten(model.parameters())]


def _unloaded_tower(
    seeing: LoadableTower, tower: Tower, held: Holding, source: ModelSource, *, kernels: bool
) -> list[mx.array]:
    """Give a tower its weights with types and shapes, but no content, and return them."""
    tensors = weights.shapes_of(seeing.files)
    _, held = parameters.arrange(tower, seeing.files, tensors, held, source.config, kernels=kernels)
    return _take(tower, tensors, held)


def _take(model: nn.Module, tensors: Mapping[str, mx.array], held: Holding) -> list[mx.array]:
    """Give a model its weights in the types in which they are held, and return them."""
    model.load_weights([(name, held.widen(name, array)) for name, array in tensors.items()], strict=True)
    model.eval()
    return [array for _, array in tree_flatten(model.parameters())]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable garbage collection: very many small objects are created, none of them in reference cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _work(rehearsal: Rehearsal, layers: Sequence[CacheNeed], longest: int, kernels: Any | None) -> Iterator[WorkPoint]:
    """Yield samples of the memory that computing needs beside the caches."""
    windows = sorted({layer.window for layer in layers if layer.window is not None})
    pace = pace_here()

    def sample(chunk: int, context: int) -> tuple[WorkPoint, int]:
        graph = rehearsal.graph(chunk, context)
        caches = sum(layer.nbytes(context) or 0 for layer in layers)
        most = peak(graph, pace)
        return WorkPoint(chunk, context, max(0, most - caches)), len(graph.operations)

    def lengths(chunk: int) -> list[int]:
        """Return contexts at which buffers are full before the chunk, so that they must grow."""
        before = (0, *(min(window, longest - chunk) for window in windows), longest - chunk)
        return sorted({chunk + round_up(max(0, length)) for length in before})

    # Whole matrices are unpacked for many rows only, so decoding is traced first.
    for context in lengths(DECODE):
        yield sample(DECODE, context)[0]
    if device.device() == "cpu":
        _unpack(rehearsal.model, kernels)
    before = 0
    for chunk in _CHUNKS:
        if chunk > longest:
            return
        operations = 0
        for context in lengths(chunk):
            point, operations = sample(chunk, context)
            yield point
        if before and operations > 2 * before and operations * 4 > _MOST_OPERATIONS:
            return
        before = operations


def _unpack(model: nn.Module, kernels: Any | None) -> None:
    """Switch quantized layers, in place, to the computation for the many rows of a prompt on a CPU."""
    kinds = {nn.QuantizedLinear: CpuQuantizedLinear, nn.QuantizedEmbedding: CpuQuantizedEmbedding}
    for layer in model.modules():
        if type(layer) in kinds and not (kernels and kernels.knows(layer.mode, layer.group_size, layer.bits)):
            layer.__class__ = kinds[type(layer)]
