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
from sotto.engine.architectures.towers.tower import Tower
from sotto.engine.config.load_errors import name_file_in_errors
from sotto.engine.config.supported_models import refusal
from sotto.engine.contract.events import LoadProgress
from sotto.engine.kernels import device, native, native_products
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.vision.image_reader import ImageReader
from sotto.engine.weights import parameters, prediction_tensors, weights
from sotto.engine.weights.applied_adapters import Adapters
from sotto.engine.weights.parameters import Holding
from sotto.engine.weights.tower_loading import loadable_tower
from sotto.errors import UnsupportedModelError
from sotto.store.records import ModelSource


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model whose weights are in memory.

    Attributes:
        model: Computes logits `[B, L, V]` when called as `model(tokens[B, L], cache=...)`.
        config: The config that it was built from, with the keys of its definition.
        weight_bytes: Bytes of the weights in memory, with those of its vision tower.
        compute_type: Type of the activations, for example `float32`.
        tower: Its vision tower; None if it does not see.
        reader: What reads images for it; None if it does not see.
        vision_note: Why it does not see although its files hold a tower, in a sentence; empty otherwise.
    """

    model: nn.Module
    config: dict[str, Any]
    weight_bytes: int
    compute_type: str
    tower: Tower | None = None
    reader: ImageReader | None = None
    vision_note: str = ""


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
    seeing: dict[str, mx.array] = {}
    adapters = Adapters(source)
    # Freed buffers are not reused while loading, and would take memory in addition to the weights.
    pool = mx.set_cache_limit(0)
    try:
        with name_file_in_errors(source):
            return _load(source, tensors, seeing, adapters, limits, progress, cancelled)
    finally:
        tensors.clear()
        seeing.clear()
        adapters.clear()
        mx.clear_cache()
        mx.set_cache_limit(pool)


def _load(
    source: ModelSource,
    tensors: dict[str, mx.array],
    seeing: dict[str, mx.array],
    adapters: Adapters,
    limits: Limits,
    progress: Callable[[LoadProgress], None],
    cancelled: Callable[[], bool],
) -> LoadedModel:
    """Do the work of `load`; only `tensors`, `seeing` and `adapters` hold references to arrays in the meantime."""
    if reason := refusal(source.config):
        raise UnsupportedModelError(reason)
    files, eyes = weights.of_model(source), loadable_tower(source)
    all_files = (*files, *eyes.files)
    held_bytes = sum(file.nbytes for file in (*all_files, *adapters.files))
    stored = sum(file.read_bytes for file in all_files)
    total = stored + adapters.read_bytes
    if limits.total is not None and held_bytes > limits.total:
        raise UnsupportedModelError(
            f"The weights take {held_bytes / 1e9:.1f} GB and there are only {limits.total / 1e9:.1f} GB of memory for "
            "them; choose a smaller model or one with fewer bits."
        )
    chosen = parameters.holding(all_files, source.config, limits)
    model, config = zoo.build(source.config, prediction_tensors.make_of(source.config, files))
    weights.read(all_files, tensors, lambda done: progress(LoadProgress("weights", done, total)), cancelled)
    adapters.read(lambda done: progress(LoadProgress("weights", stored + done, total)), cancelled)

    progress(LoadProgress("preparing", total, total))
    seeing.update({name: tensors.pop(name) for file in eyes.files for name in file.tensors})
    adapters.replace_stored(model, tensors)
    kernels = native.install()
    dtype, held = parameters.arrange(model, files, tensors, chosen, source.config, kernels=kernels)
    adapters.replace_parameters(tensors)
    parts: list[tuple[nn.Module, dict[str, mx.array], Holding]] = [(model, tensors, held)]
    if eyes.tower is not None:
        _, held = parameters.arrange(eyes.tower, eyes.files, seeing, chosen, source.config, kernels=kernels)
        parts.append((eyes.tower, seeing, held))
    for part, arrays, types in parts:
        _settle(part, arrays, types, cancelled)
    for part, arrays, _ in parts:
        part.load_weights(list(arrays.items()), strict=True)
    for layer in adapters.attach(model, dtype):
        layer.settle()
    for part, *_ in parts:
        part.eval()
    held_now = [array for part, *_ in parts for _, array in tree_flatten(part.parameters())]
    weights.evaluate(held_now, "the adapter")
    weight_bytes = sum(array.nbytes for array in held_now)
    device.wire(weight_bytes)
    compute_type = str(dtype).removeprefix("mlx.core.")
    return LoadedModel(model, config, weight_bytes, compute_type, eyes.tower, eyes.reader, eyes.note)


def _settle(model: nn.Module, tensors: dict[str, mx.array], held: Holding, cancelled: Callable[[], bool]) -> None:
    """Bring the tensors of a model, or of its tower, into the types in which they are held, in place."""
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
