"""Loading a model from its files.

Everything here belongs to the thread that owns MLX.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten

from sotto.engine.architectures import zoo
from sotto.engine.config.load_errors import name_file_in_errors
from sotto.engine.config.supported_models import refusal
from sotto.engine.contract.events import LoadProgress
from sotto.engine.kernels import device, native, native_products
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.weights import parameters, prediction_tensors, weights
from sotto.engine.weights.applied_adapters import Adapters
from sotto.errors import UnsupportedModelError
from sotto.store.records import ModelSource


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model whose weights are in memory.

    Attributes:
        model: Computes logits `[B, L, V]` when called as `model(tokens[B, L], cache=...)`.
        config: The config that it was built from, with the keys of its definition.
        weight_bytes: Bytes of the weights in memory.
        compute_type: Type of the activations, for example `float32`.
    """

    model: nn.Module
    config: dict[str, Any]
    weight_bytes: int
    compute_type: str


def load(
    source: ModelSource,
    *,
    limits: Limits,
    progress: Callable[[LoadProgress], None],
    cancelled: Callable[[], bool],
) -> LoadedModel:
    """Load a model.

    Reading is most of the work; `progress` counts its bytes and never decreases. After an error, everything that was
    read has been freed.

    Args:
        source: An opened model.
        limits: The available memory; decides whether 16-bit weights are widened.
        progress: Receives the progress.
        cancelled: Polled; returns whether to stop.

    Raises:
        UnsupportedModelError: The model is complete, but cannot be computed correctly on this machine.
        BrokenModelError: Its files lack something or contradict each other.
        EngineError: A disk failed, or memory ran out.
        CancelledError: `cancelled` returned True.
    """
    tensors: dict[str, mx.array] = {}
    adapters = Adapters(source)
    # Freed buffers are not reused while loading, and would take memory in addition to the weights.
    pool = mx.set_cache_limit(0)
    try:
        with name_file_in_errors(source):
            return _load(source, tensors, adapters, limits, progress, cancelled)
    finally:
        tensors.clear()
        adapters.clear()
        mx.clear_cache()
        mx.set_cache_limit(pool)


def _load(
    source: ModelSource,
    tensors: dict[str, mx.array],
    adapters: Adapters,
    limits: Limits,
    progress: Callable[[LoadProgress], None],
    cancelled: Callable[[], bool],
) -> LoadedModel:
    """Do the work of `load`; only `tensors` and `adapters` hold references to arrays in the meantime."""
    if reason := refusal(source.config):
        raise UnsupportedModelError(reason)
    files = weights.of_model(source)
    held_bytes = sum(file.nbytes for file in (*files, *adapters.files))
    stored = sum(file.read_bytes for file in files)
    total = stored + adapters.read_bytes
    if limits.total is not None and held_bytes > limits.total:
        raise UnsupportedModelError(
            f"The weights take {held_bytes / 1e9:.1f} GB and there are only {limits.total / 1e9:.1f} GB of memory for "
            "them; choose a smaller model or one with fewer bits."
        )
    held = parameters.holding(files, limits)
    model, config = zoo.build(source.config, prediction_tensors.make_of(source.config, files))
    weights.read(files, tensors, lambda done: progress(LoadProgress("weights", done, total)), cancelled)
    adapters.read(lambda done: progress(LoadProgress("weights", stored + done, total)), cancelled)

    progress(LoadProgress("preparing", total, total))
    adapters.replace_stored(model, tensors)
    dtype, held = parameters.arrange(model, files, tensors, held, source.config, kernels=native.install())
    adapters.replace_parameters(tensors)
    blocks, kernels = native_products.with_blocks(model), native.kernels()
    for name in sorted(tensors, key=lambda name: -tensors[name].nbytes):
        weights.stop_if(cancelled)
        # The largest first, while the others are not widened yet, as an array exists twice for a moment. Contiguous,
        # because a slice keeps the whole tensor that it was cut from alive, and is copied by every product.
        array = mx.contiguous(held.widen(name, tensors.pop(name)))
        if kernels is not None and name in blocks:
            # In place, because nothing else refers to the array any more.
            array = kernels.interleave(array)
        weights.evaluate([array], name)
        tensors[name] = array
        del array
    model.load_weights(list(tensors.items()), strict=True)
    for layer in adapters.attach(model, dtype):
        layer.settle()
    model.eval()
    held_now = [array for _, array in tree_flatten(model.parameters())]
    weights.evaluate(held_now, "the adapter")
    weight_bytes = sum(array.nbytes for array in held_now)
    device.wire(weight_bytes)
    return LoadedModel(model, config, weight_bytes, str(dtype).removeprefix("mlx.core."))
