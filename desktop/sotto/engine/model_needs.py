"""What a model needs in memory, from the headers of its files and the shapes of its definition; nothing is computed.

The model is built as it would be loaded, with arrays in place of its weights that have a type and a shape and are never
evaluated. One short pass through it shows its caches. Then passes of several sizes at several lengths of context are
traced, and their evaluation played through (`graph_memory`). Everything here belongs to the thread that owns MLX.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten, tree_map, tree_unflatten

from sotto.engine import device, layout, native, weights, zoo
from sotto.engine.caches import leaves, make_caches
from sotto.engine.cpu_linear import CpuQuantizedEmbedding, CpuQuantizedLinear
from sotto.engine.graph import Graph, trace
from sotto.engine.graph_memory import peak
from sotto.engine.loader import _check, _commonest, _fit, _Plan, _plan, _rename
from sotto.engine.memory_plan import PREFIX_BUDGET, CacheKind, CacheNeed, Limits, ModelNeeds, Plan, WorkPoint, plan
from sotto.engine.stand_ins import traceable
from sotto.engine.system_memory import Accelerator, SystemMemory
from sotto.store.records import ModelSource, TensorFile

# What MLX's reader makes of the types of a file.
_DTYPES: Mapping[str, mx.Dtype] = {
    "BOOL": mx.bool_,
    "U8": mx.uint8,
    "I8": mx.int8,
    "U16": mx.uint16,
    "I16": mx.int16,
    "U32": mx.uint32,
    "I32": mx.int32,
    "U64": mx.uint64,
    "I64": mx.int64,
    "F16": mx.float16,
    "BF16": mx.bfloat16,
    "F32": mx.float32,
    "F8_E4M3": mx.uint8,
    "F8_E8M0": mx.uint8,
}
_DECODE = 1
_CHUNKS = (32, 128, 512, 2048)
# A recurrent layer without a kernel of its own is computed token by token, and its graph grows with the chunk.
_MOST_OPERATIONS = 30_000
_BEYOND = 131_072
_STEP = 256


def plan_model(
    source: ModelSource,
    limits: Limits,
    num_ctx: int | None = None,
    *,
    kernels: Any | None = None,
    prefix_budget: int = PREFIX_BUDGET,
    reclaimable: Mapping[str, int] | None = None,
) -> Plan:
    """Plan a model before it is loaded.

    Args:
        source: An opened model; no tensor of it is read.
        limits: What memory there is now.
        num_ctx: Tokens of context that are wanted; None as many as the model was made for.
        kernels: The native kernels that it will be computed with; None where there are none.
        prefix_budget: The most to keep of what was computed before.
        reclaimable: Bytes that could be freed, by what they are now.

    Raises:
        UnsupportedModelError: The model is whole, but cannot be computed right on this machine.
        BrokenModelError: Its files lack something or contradict each other.
    """
    return plan(
        needs_of(source, kernels),
        limits,
        num_ctx,
        prefix_budget=prefix_budget,
        reclaimable=reclaimable,
    )


def plan_here(source: ModelSource, num_ctx: int | None = None) -> Plan:
    """Plan a model for this machine as it is now, with the kernels that there are.

    Raises:
        UnsupportedModelError: The model is whole, but cannot be computed right on this machine.
        BrokenModelError: Its files lack something or contradict each other.
    """
    return plan_model(source, limits_here(), num_ctx, kernels=native.kernels())


def limits_here(reserve: int | None = None) -> Limits:
    """Return what memory there is for models on the device that computes.

    Args:
        reserve: Bytes to leave to others; None for a usual one.
    """
    return system_memory().limits(reserve)


def system_memory() -> SystemMemory:
    """Return what tells of the memory of this machine and of the device that computes, as MLX holds it now."""
    held = mx.get_active_memory() + mx.get_cache_memory()
    return SystemMemory(accelerator=Accelerator.of(device.device(), mx.device_info(), held))


def needs_of(source: ModelSource, kernels: Any | None = None) -> ModelNeeds:
    """Return what a model needs on this machine's device, computed with native kernels or by MLX alone.

    Raises:
        UnsupportedModelError: The model is whole, but cannot be computed right on this machine.
        BrokenModelError: Its files lack something or contradict each other.
    """
    model, config, arrays = _unloaded(source)
    longest = source.record.context_length or config.get("max_position_embeddings")
    weight_bytes = sum(array.nbytes for array in arrays)
    return model_needs(model, config, weight_bytes, max(array.nbytes for array in arrays), longest, kernels)


def model_needs(
    model: nn.Module,
    config: Mapping[str, Any],
    weight_bytes: int,
    loading_bytes: int,
    longest_context: int | None,
    kernels: Any | None = None,
) -> ModelNeeds:
    """Return what a model needs whose parameters have their final types and shapes, loaded or not.

    Args:
        model: On a CPU its quantized layers become those that unpack their matrices, where `kernels` do not know them.
        config: In the keys of its definition.
        weight_bytes: Bytes of its weights.
        loading_bytes: Bytes beside them for a moment while loading.
        longest_context: Tokens of the longest context that it was made for.
        kernels: The native kernels that it is computed with; None where MLX alone computes.
    """
    unknown = ""
    layers: tuple[CacheNeed, ...] | None = None
    work: tuple[WorkPoint, ...] = ()
    try:
        with traceable(kernels):
            rehearsal = _Rehearsal.of(model)
            layers = tuple(layer.need(config) for layer in rehearsal.layers)
            work = tuple(_work(rehearsal, layers, longest_context or _BEYOND, kernels))
    except Exception as error:
        # Definitions raise whatever they come upon, and MLX cannot list every operation.
        unknown = f"its computation could not be followed in advance ({' '.join(str(error).split())})."
    return ModelNeeds(weight_bytes, loading_bytes, layers, work, longest_context, unknown)


def _unloaded(source: ModelSource) -> tuple[nn.Module, dict[str, Any], list[mx.array]]:
    """Return the model as it would be loaded, its config, and its weights: types and shapes without content."""
    files = weights.select(source.tensor_files, layout.wanted(source.config, source.draft_prefix))
    held = _held(files)
    model, config = zoo.build(source.config)
    tensors = {
        name: mx.zeros(tensor.shape, _DTYPES[tensor.dtype]) for file in files for name, tensor in file.tensors.items()
    }
    dtype = held.dtype or _commonest(tensors.values())
    _fit(model, tensors, _rename(files, tensors), held, dtype)
    _check(model, tensors, source.config)
    final = {name: held.widen(name, array) for name, array in tensors.items()}
    model.load_weights(list(final.items()), strict=True)
    model.eval()
    return model, config, list(final.values())


def _held(files: Sequence[TensorFile]) -> _Plan:
    """Return in which types the loader would hold the weights, also where it would refuse them as too many."""
    stored = sum(file.nbytes for file in files)
    memory = device.total_memory()
    return _Plan(device.compute_dtype(), False) if memory is not None and stored > memory else _plan(files)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The cache of one layer, and what the layer feeds it with.

    Attributes:
        leaf: The cache.
        fresh: Its attributes while it was empty.
        state: Its attributes after two tokens.
        fed: Shapes and types of the keys and values of a token; None of a cache that is not fed with such.
    """

    leaf: Any
    fresh: dict[str, Any]
    state: dict[str, Any]
    fed: tuple[tuple[tuple[int, ...], mx.Dtype], ...] | None

    @property
    def window(self) -> int | None:
        """Tokens that one sees, where that is less than all."""
        window: int | None = self.fresh.get("max_size") or self.fresh.get("chunk_size")
        return window

    def filled(self, *lengths: int) -> dict[str, Any]:
        """Return the attributes after so many tokens were fed, in pieces of these lengths."""
        if self.fed is None:
            return self.state
        _set(self.leaf, self.fresh)
        for length in lengths:
            if length > 0:
                pieces = (mx.zeros((*shape[:-2], length, shape[-1]), dtype=dtype) for shape, dtype in self.fed)
                self.leaf.update_and_fetch(*pieces)
        return dict(vars(self.leaf))

    def after(self, length: int, chunk: int) -> dict[str, Any]:
        """Return the attributes after `length` tokens in chunks, with no room left in the buffers if possible."""
        if self.window is None or self.fed is None or length <= chunk:
            return self.filled(length)
        pieces = [min(self.window, length - chunk), chunk]
        state = self.filled(*pieces)
        room = state["keys"].shape[-2] - (state["offset"] - state["first"]) if "first" in state else 0
        return self.filled(*pieces, room)

    def need(self, config: Mapping[str, Any]) -> CacheNeed:
        """Return what it needs."""
        if self.fed is None:
            kind = CacheKind.RECURRENT if _nbytes(self.state) else CacheKind.OTHER
            return CacheNeed(kind, 0, _nbytes(self.state))
        once, twice = _nbytes(self.filled(_STEP)), _nbytes(self.filled(2 * _STEP))
        per_token = (twice - once) // _STEP
        constant = once - _STEP * per_token
        if self.window is not None:
            return self._sliding_need(self.window, once)
        inner = config.get("text_config") or {}
        latent = (config.get("kv_lora_rank") or inner.get("kv_lora_rank")) and self.fed[0][0][1] == 1
        return CacheNeed(CacheKind.LATENT if latent else CacheKind.FULL, per_token, constant, None, _STEP)

    def _sliding_need(self, window: int, once: int) -> CacheNeed:
        per_token = sum(dtype.size * math.prod(shape) // shape[-2] for shape, dtype in self.fed or ())
        most = _nbytes(self.filled(window, _DECODE)) // per_token
        return CacheNeed(CacheKind.SLIDING, per_token, 0, most, min(_STEP, most))


@dataclass(frozen=True, slots=True)
class _Rehearsal:
    """A model with caches that have shapes and no content, to be set to any length.

    Attributes:
        model: Never evaluated.
        caches: As its forward pass takes them.
        layers: The same with lists of caches taken apart.
    """

    model: nn.Module
    caches: list[Any]
    layers: tuple[_Layer, ...]

    @classmethod
    def of(cls, model: nn.Module) -> "_Rehearsal":
        """Return the model with caches that have seen two tokens."""
        caches = make_caches(model)
        parts = list(leaves(caches))
        fresh = [_copied(vars(leaf)) for leaf in parts]
        seen: dict[int, tuple[tuple[tuple[int, ...], mx.Dtype], ...]] = {}
        for leaf in parts:
            if hasattr(leaf, "update_and_fetch"):
                leaf.update_and_fetch = _watched(leaf, seen)
        model(mx.array([[0, 0]]), cache=caches)
        for leaf in parts:
            vars(leaf).pop("update_and_fetch", None)
        states = [_copied(vars(leaf)) for leaf in parts]
        return cls(
            model,
            caches,
            tuple(_Layer(*each) for each in zip(parts, fresh, states, map(seen.get, map(id, parts)), strict=True)),
        )

    def graph(self, chunk: int, context: int) -> Graph:
        """Return what is computed when the last `chunk` tokens of a context are fed.

        Args:
            chunk: 1 for a step of decoding, in which the scores of all tokens are wanted, too.
            context: Tokens in all, of which the others are in the caches already.
        """
        states = [layer.after(context - chunk, chunk) for layer in self.layers]
        flat = [value for state in states for _, value in tree_flatten([state]) if isinstance(value, mx.array)]
        parameters = tree_flatten(self.model.parameters())

        def step(*arrays: mx.array) -> list[mx.array]:
            held = iter(arrays[: len(flat)])
            for layer, state in zip(self.layers, states, strict=True):
                _set(layer.leaf, tree_map(lambda value: next(held) if isinstance(value, mx.array) else value, state))
            names = (name for name, _ in parameters)
            self.model.update(tree_unflatten(list(zip(names, arrays[len(flat) + 1 :], strict=True))))
            logits = self.model(arrays[len(flat)], cache=self.caches)
            if chunk == _DECODE:
                return [logits[:, -1, :]]
            new = tree_flatten([cache.state for cache in self.caches])
            return [value for _, value in new if isinstance(value, mx.array)]

        tokens = mx.zeros((1, chunk), dtype=mx.int32)
        try:
            return trace(step, flat, [tokens, *(array for _, array in parameters)])
        finally:
            self.model.update(tree_unflatten(parameters))


def _watched(leaf: Any, seen: dict[int, Any]) -> Callable[[mx.array, mx.array], Any]:
    """Return the `update_and_fetch` of a cache that notes what it is fed with."""
    feed = type(leaf).update_and_fetch

    def update_and_fetch(keys: mx.array, values: mx.array) -> Any:
        seen[id(leaf)] = ((keys.shape, keys.dtype), (values.shape, values.dtype))
        return feed(leaf, keys, values)

    return update_and_fetch


def _set(leaf: Any, attributes: Mapping[str, Any]) -> None:
    """Give a cache these attributes and no others."""
    vars(leaf).clear()
    vars(leaf).update(_copied(attributes))


def _copied(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes with lists and dictionaries of their own."""
    copied: dict[str, Any] = tree_map(lambda value: value, dict(attributes))
    return copied


def _nbytes(attributes: Mapping[str, Any]) -> int:
    return sum(value.nbytes for _, value in tree_flatten([dict(attributes)]) if isinstance(value, mx.array))


def _work(rehearsal: _Rehearsal, layers: Sequence[CacheNeed], longest: int, kernels: Any | None) -> Iterator[WorkPoint]:
    """Yield samples of the memory that computing takes beside the caches."""
    windows = sorted({layer.window for layer in layers if layer.window is not None})

    def sample(chunk: int, context: int) -> tuple[WorkPoint, int]:
        graph = rehearsal.graph(chunk, context)
        caches = sum(layer.nbytes(context) or 0 for layer in layers)
        most = peak(graph)
        return WorkPoint(chunk, context, max(0, most - caches)), len(graph.operations)

    def lengths(chunk: int) -> list[int]:
        """Contexts at which buffers are full before the chunk, so that it makes them grow."""
        before = (0, *(min(window, longest - chunk) for window in windows), longest - chunk)
        return sorted({chunk + -(-max(0, length) // _STEP) * _STEP for length in before})

    # Unpacking whole matrices is for many rows only, so decoding comes before.
    for context in lengths(_DECODE):
        yield sample(_DECODE, context)[0]
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
    """Let quantized layers compute as they do for the many rows of a prompt on a CPU, in place."""
    kinds = {nn.QuantizedLinear: CpuQuantizedLinear, nn.QuantizedEmbedding: CpuQuantizedEmbedding}
    for layer in model.modules():
        if type(layer) in kinds and not (kernels and kernels.knows(layer.mode, layer.group_size, layer.bits)):
            layer.__class__ = kinds[type(layer)]
