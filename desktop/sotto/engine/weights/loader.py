"""From the files of a model to a model that can be computed.

Everything here belongs to the thread that owns MLX.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures import zoo
from sotto.engine.config.load_errors import name_file_in_errors
from sotto.engine.config.supported_models import refusal
from sotto.engine.contract.events import LoadProgress
from sotto.engine.kernels import device, native
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.weights import parameters, weights
from sotto.errors import UnsupportedModelError
from sotto.store.records import ModelSource


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model whose weights are in memory.

    Attributes:
        model: Called as `model(tokens[B, L], cache=...)`, it gives logits `[B, L, V]`.
        config: The configuration it was built from, in the keys that its definition reads.
        weight_bytes: Bytes that the weights take in memory.
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

    Reading is most of the work; `progress` counts its bytes and never falls. When an error is raised, what was read
    is freed before.

    Args:
        source: An opened model.
        limits: What memory there is for it; decides whether 16-bit weights are widened.
        progress: Told how far it is.
        cancelled: Asked now and then whether to stop.

    Raises:
        UnsupportedModelError: The model is whole, but cannot be computed right on this machine.
        BrokenModelError: Its files lack something or contradict each other.
        EngineError: A disk failed, or memory ran out.
        CancelledError: `cancelled` said so.
    """
    tensors: dict[str, mx.array] = {}
    # Freed buffers are not used again while loading, and would be memory beside that of the weights.
    pool = mx.set_cache_limit(0)
    try:
        with name_file_in_errors(source):
            return _load(source, tensors, limits, progress, cancelled)
    finally:
        tensors.clear()
        mx.clear_cache()
        mx.set_cache_limit(pool)


def _load(
    source: ModelSource,
    tensors: dict[str, mx.array],
    limits: Limits,
    progress: Callable[[LoadProgress], None],
    cancelled: Callable[[], bool],
) -> LoadedModel:
    """Do the work of `load`; `tensors` is the one place that holds arrays on their way."""
    if reason := refusal(source.config):
        raise UnsupportedModelError(reason)
    files = weights.of_model(source)
    held_bytes, total = sum(file.nbytes for file in files), sum(file.read_bytes for file in files)
    if limits.total is not None and held_bytes > limits.total:
        raise UnsupportedModelError(
            f"The weights take {held_bytes / 1e9:.1f} GB and there are only {limits.total / 1e9:.1f} GB of memory for "
            "them; choose a smaller model or one with fewer bits."
        )
    held = parameters.holding(files, limits)
    model, config = zoo.build(source.config)
    weights.read(files, tensors, lambda done: progress(LoadProgress("weights", done, total)), cancelled)

    progress(LoadProgress("preparing", total, total))
    dtype, held = parameters.arrange(model, files, tensors, held, source.config, kernels=native.install())
    for name in sorted(tensors, key=lambda name: -tensors[name].nbytes):
        weights.stop_if(cancelled)
        # The largest first: what is held twice for a moment counts least while the rest is not yet widened. Contiguous,
        # because a slice keeps all of the tensor that it was cut from, and is copied by every product.
        array = mx.contiguous(held.widen(name, tensors.pop(name)))
        weights.evaluate([array], name)
        tensors[name] = array
        del array
    model.load_weights(list(tensors.items()), strict=True)
    model.eval()
    weight_bytes = sum(array.nbytes for array in tensors.values())
    device.wire(weight_bytes)
    return LoadedModel(model, config, weight_bytes, str(dtype).removeprefix("mlx.core."))
