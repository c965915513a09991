"""From the files of a model to a model that can be computed.

Everything here belongs to the thread that owns MLX.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import psutil
from mlx import nn
from mlx.utils import tree_flatten

from sotto.engine import device, layout, quantization, weights, zoo
from sotto.engine.quantization import Declaration, Declarations
from sotto.engine.support import refusal
from sotto.engine.types import LoadProgress
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.records import ModelSource, TensorFile

_HALF = ("BF16", "F16")
# What is left to the rest of the machine, the cache and this program when weights are widened by choice.
_HEADROOM = 1.15
_SHOWN = 3


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
    source: ModelSource, *, progress: Callable[[LoadProgress], None], cancelled: Callable[[], bool]
) -> LoadedModel:
    """Load a model.

    Reading is most of the work; `progress` counts its bytes and never falls. When an error is raised, what was read
    is freed before.

    Raises:
        UnsupportedModelError: The model is whole, but cannot be computed right on this machine.
        BrokenModelError: Its files lack something or contradict each other.
        EngineError: A disk failed, or memory ran out.
        CancelledError: `cancelled` said so.
    """
    if reason := refusal(source.config):
        raise UnsupportedModelError(reason)
    tensors: dict[str, mx.array] = {}
    # Freed buffers are not used again while loading, and would be memory beside that of the weights.
    pool = mx.set_cache_limit(0)
    try:
        return _load(source, tensors, progress, cancelled)
    finally:
        tensors.clear()
        mx.clear_cache()
        mx.set_cache_limit(pool)


def _load(
    source: ModelSource,
    tensors: dict[str, mx.array],
    progress: Callable[[LoadProgress], None],
    cancelled: Callable[[], bool],
) -> LoadedModel:
    """Do the work of `load`; `tensors` is the one place that holds arrays on their way."""
    files = weights.select(source.tensor_files, layout.wanted(source.config, source.draft_prefix))
    total = sum(file.nbytes for file in files)
    plan = _plan(files)
    model, config = zoo.build(source.config)
    weights.read(files, tensors, lambda done: progress(LoadProgress("weights", done, total)), cancelled)

    progress(LoadProgress("preparing", total, total))
    dtype = plan.dtype or _commonest(tensors.values())
    _fit(model, tensors, _rename(files, tensors), plan, dtype)
    _check(model, tensors, source.config)
    for name in sorted(tensors, key=lambda name: -tensors[name].nbytes):
        weights.stop_if(cancelled)
        # The largest first: what is held twice for a moment counts least while the rest is not yet widened. Contiguous,
        # because a slice keeps all of the tensor that it was cut from, and is copied by every product.
        array = mx.contiguous(plan.widen(name, tensors.pop(name)))
        weights.evaluate([array], name)
        tensors[name] = array
        del array
    model.load_weights(list(tensors.items()), strict=True)
    model.eval()
    weight_bytes = sum(array.nbytes for array in tensors.values())
    device.wire(weight_bytes)
    return LoadedModel(model, config, weight_bytes, str(dtype).removeprefix("mlx.core."))


@dataclass(frozen=True, slots=True)
class _Plan:
    """In which type a model is held.

    Attributes:
        dtype: Type of the activations, or None to keep everything as it is stored.
        matrices: Whether 16-bit matrices are held in that type, too. Vectors and scales always are: they are small, and
            activations take the widest type that they meet.
    """

    dtype: mx.Dtype | None
    matrices: bool

    def widen(self, name: str, array: mx.array) -> mx.array:
        """Return the array in the type to hold it in."""
        if self.dtype is None or array.dtype not in (mx.bfloat16, mx.float16):
            return array
        small = array.ndim < 2 or name.endswith((".scales", ".biases"))
        return array.astype(self.dtype) if small or self.matrices else array


def _plan(files: Iterable[TensorFile]) -> _Plan:
    """Decide whether 16-bit weights are widened, which takes twice their memory.

    Raises:
        UnsupportedModelError: The weights are more than all the memory of the machine.
    """
    sizes: Counter[str] = Counter()
    for file in files:
        for tensor in file.tensors.values():
            sizes[tensor.dtype] += tensor.nbytes
    stored = sum(sizes.values())
    memory = device.total_memory()
    if memory is not None and stored > memory:
        raise UnsupportedModelError(
            f"The weights take {stored / 1e9:.1f} GB and there are only {memory / 1e9:.1f} GB of memory; "
            "choose a smaller model or one with fewer bits."
        )
    widened = stored + sum(sizes[dtype] for dtype in _HALF)
    return _Plan(device.compute_dtype(), widened * _HEADROOM <= psutil.virtual_memory().available)


def _rename(files: Iterable[TensorFile], tensors: dict[str, mx.array]) -> dict[str, Declaration]:
    """Give tensors MLX's names in place, and return what files say of quantized ones, by name without `.weight`."""
    renamed = layout.rename_companions(tensors)
    declared = {}
    for file in files:
        for name in file.tensors:
            path = renamed.get(name, name).removesuffix(".weight")
            if f"{name}.scale" in file.tensors and (said := quantization.declaration(file, name)) is not None:
                declared[path] = said
    arrays = {new: tensors.pop(old) for old, new in renamed.items()}
    for name in arrays:
        if name.endswith(".global_scale"):
            arrays[name] = arrays[name] * quantization.GLOBAL_SCALE_UNIT
    if clash := next((name for name in arrays if name in tensors), None):
        raise BrokenModelError(f"{clash} is there under two names; one of them should go.")
    tensors.update(arrays)
    return declared


def _fit(
    model: nn.Module, tensors: dict[str, mx.array], declared: dict[str, Declaration], plan: _Plan, dtype: mx.Dtype
) -> None:
    """Bring the tensors to the names and shapes that the model takes, and its layers to their quantization, in place.

    Nothing is computed yet.
    """
    layout.arrange_experts(model, tensors, declared)
    said = Declarations((tensors[f"{path}.scales"], declared[path]) for path in declared if f"{path}.scales" in tensors)
    quantization.dequantize_latent_projections(model, tensors, said, dtype)
    for name in [name for name in tensors if tensors[name].ndim < 2]:
        # Definitions add 1 to some norms, which 16 bits would round.
        tensors[name] = plan.widen(name, tensors[name])
    _sanitize(model, tensors)
    quantization.quantize_layers(model, tensors, said, dtype)


def _sanitize(model: nn.Module, tensors: dict[str, mx.array]) -> None:
    """Let the definition rename and rearrange the tensors, in place, once: several shift values as they go."""
    if not hasattr(model, "sanitize"):
        return
    before = set(tensors)
    try:
        arranged = dict(model.sanitize(dict(tensors)))
    except Exception as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise UnsupportedModelError(
            f"The weights are not laid out as the definition of this architecture expects: {what}."
        ) from error
    tensors.clear()
    tensors.update(arranged)
    # A definition that drops a weight, such as the output layer of tied embeddings, may not know its companions.
    for name in [name for name in tensors if name.endswith((".scales", ".biases", ".global_scale"))]:
        weight = f"{name.rpartition('.')[0]}.weight"
        if name in before and weight in before and weight not in tensors:
            del tensors[name]


def _check(model: nn.Module, tensors: Mapping[str, mx.array], written: Mapping[str, Any]) -> None:
    """Compare tensors with the parameters that they are to become.

    Raises:
        UnsupportedModelError: Tensors are left over, or of a type that no layer computes with.
        BrokenModelError: Parameters are missing, or of another shape than config.json says.
    """
    parameters: dict[str, mx.array] = dict(tree_flatten(model.parameters()))
    method = (written.get("quantization_config") or {}).get("quant_method")
    why = f" (quantized with '{method}', which may be the reason)" if method else ""
    if extra := sorted(tensors.keys() - parameters.keys()):
        raise UnsupportedModelError(
            f"The weights{why} hold {_few(extra)}, which the definition of this architecture has no place for."
        )
    if missing := sorted(parameters.keys() - tensors.keys()):
        raise BrokenModelError(f"The weights{why} lack {_few(missing)}, which config.json calls for.")
    for name, array in tensors.items():
        expected = parameters[name]
        if array.shape != expected.shape:
            raise BrokenModelError(f"{name}{why} is {_shape(array)}, but config.json calls for {_shape(expected)}.")
        if mx.issubdtype(expected.dtype, mx.floating) and not mx.issubdtype(array.dtype, mx.floating):
            raise UnsupportedModelError(
                f"{name}{why} is stored as {str(array.dtype).removeprefix('mlx.core.')} without scales; "
                "it should be a floating-point type or come with scales."
            )


def _commonest(arrays: Iterable[mx.array]) -> mx.Dtype:
    """Return the commonest floating-point type, which is that of the activations where nothing is widened."""
    counts = Counter(array.dtype for array in arrays if mx.issubdtype(array.dtype, mx.floating))
    return counts.most_common(1)[0][0] if counts else mx.float32


def _few(names: list[str]) -> str:
    """Name up to three and count the rest."""
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more tensors" if rest > 0 else "")


def _shape(array: mx.array) -> str:
    return " x ".join(map(str, array.shape))
