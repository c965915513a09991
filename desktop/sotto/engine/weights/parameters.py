"""Mapping the tensors of a model's files to the parameters of its definition, and choosing their types.

Nothing is evaluated here, and contents do not matter, so arrays with only a type and a shape will do. Loading a model
and planning its memory both use this module with the same limits, and so get the same result.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten

from sotto.engine.config.architecture_table import architecture
from sotto.engine.config.load_errors import reason_of
from sotto.engine.config.quantization import Declaration, Declarations, read_declaration, shape_text
from sotto.engine.kernels import device, native, native_products
from sotto.engine.kernels.native_panels import arrange_in_panels
from sotto.engine.kernels.widened_codes import growth_of, widen_codes
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.weights import prediction_tensors, quantized_layers, tensor_names
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.printable import printable
from sotto.store.records import TensorFile

_HALF = ("BF16", "F16")
# The room to leave for caches and the program if weights are widened by choice.
_HEADROOM = 1.15
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Holding:
    """The types that a model's parameters are held in.

    Attributes:
        dtype: Type of the activations; None to keep everything as stored.
        matrices: Whether 16-bit matrices are held in that type too. Vectors and scales always are, as they are small,
            and activations take the widest type of their operands.
        codes: Whether there is room to hold codes of 2, 3, 5 and 6 bits in 4 or 8, for which there are native kernels.
        as_stored: Names of parameters that stay as stored, whatever their type.
    """

    dtype: mx.Dtype | None
    matrices: bool
    codes: bool = True
    as_stored: frozenset[str] = frozenset()

    def widen(self, name: str, array: mx.array) -> mx.array:
        """Return the array in the type to hold it in."""
        if self.dtype is None or array.dtype not in (mx.bfloat16, mx.float16) or name in self.as_stored:
            return array
        small = array.ndim < 2 or name.endswith((".scales", ".biases"))
        return array.astype(self.dtype) if small or self.matrices else array


def holding(files: Iterable[TensorFile], config: Mapping[str, Any], limits: Limits) -> Holding:
    """Choose the types that a model is held in: wider ones take more memory.

    Args:
        files: Its files, as `weights.select` returns them.
        config: `config.json`.
        limits: The memory available before it is loaded.
    """
    files = tuple(files)
    sizes: Counter[str] = Counter()
    for file in files:
        for tensor in file.tensors.values():
            sizes[tensor.dtype] += tensor.nbytes
    total = sum(sizes.values())

    def has_room(more: int) -> bool:
        return limits.budget is None or (total + more) * _HEADROOM <= limits.budget

    halves, codes = sum(sizes[dtype] for dtype in _HALF), growth_of(files, config)
    return Holding(device.compute_dtype(), has_room(halves), has_room(codes))


def arrange(
    model: nn.Module,
    files: Iterable[TensorFile],
    tensors: dict[str, mx.array],
    held: Holding,
    written: Mapping[str, Any],
    *,
    kernels: bool,
) -> tuple[mx.Dtype, Holding]:
    """Rename and reshape tensors to a model's parameters, and quantize its layers accordingly, in place.

    Args:
        model: A newly built model.
        files: The files of the tensors.
        tensors: By their names in the files; afterwards by those of the parameters, still in their stored types.
        held: The types that they will be held in.
        written: `config.json`.
        kernels: Whether the native kernels will compute with it.

    Returns:
        The type of the activations, and the types in which to hold the parameters.

    Raises:
        UnsupportedModelError: Tensors are left over, or have a type that no layer supports.
        BrokenModelError: Parameters are missing, or do not have the shape of config.json.
    """
    dtype = held.dtype or _commonest(tensors.values())
    tensor_names.name_body(model, tensors)
    declared = _rename(files, tensors)
    prediction_tensors.rename(model, written, tensors, declared)
    tensor_names.arrange_experts(model, tensors, declared, plain=not architecture(written).stacks_experts)
    _fit(model, tensors, declared, held, dtype)
    _check(model, tensors, written)
    if not kernels:
        return dtype, held
    if held.codes:
        widen_codes(model, tensors, native.kernels())
    arrange_in_panels(model, tensors, native.kernels())
    native_products.absorb_projections(model)
    return dtype, replace(held, as_stored=native_products.as_stored(model))


def _rename(files: Iterable[TensorFile], tensors: dict[str, mx.array]) -> dict[str, Declaration]:
    """Rename tensors to MLX's names in place, and return the quantization declared for each, without `.weight`."""
    renamed = tensor_names.rename_companions(tensors)
    declared = {}
    for file in files:
        for name in file.tensors:
            path = renamed.get(name, name).removesuffix(".weight")
            if f"{name}.scale" in file.tensors and (said := read_declaration(file, name)) is not None:
                declared[path] = said
    arrays = {new: tensors.pop(old) for old, new in renamed.items()}
    for name in arrays:
        if name.endswith(".global_scale"):
            arrays[name] = arrays[name] * quantized_layers.GLOBAL_SCALE_UNIT
    if clash := next((name for name in arrays if name in tensors), None):
        raise BrokenModelError(f"{clash} is there under two names; one of them should go.")
    tensors.update(arrays)
    return declared


def _fit(
    model: nn.Module, tensors: dict[str, mx.array], declared: dict[str, Declaration], held: Holding, dtype: mx.Dtype
) -> None:
    """Rearrange tensors for the model, and quantize its layers accordingly, in place."""
    said = Declarations((tensors[f"{path}.scales"], declared[path]) for path in declared if f"{path}.scales" in tensors)
    quantized_layers.dequantize_latent_projections(model, tensors, said, dtype)
    for name in [name for name in tensors if tensors[name].ndim < 2]:
        # Definitions add 1 to some norms, which would be rounded in 16 bits.
        tensors[name] = held.widen(name, tensors[name])
    _sanitize(model, tensors)
    quantized_layers.quantize_layers(model, tensors, said, dtype)


def _sanitize(model: nn.Module, tensors: dict[str, mx.array]) -> None:
    """Have the definition rename and rearrange the tensors, in place; only once, as some definitions change values."""
    if not hasattr(model, "sanitize"):
        return
    before = set(tensors)
    try:
        arranged = dict(model.sanitize(dict(tensors)))
    except Exception as error:
        raise UnsupportedModelError(
            f"The weights are not laid out as the definition of this architecture expects: {reason_of(error)}."
        ) from error
    tensors.clear()
    tensors.update(arranged)
    # A definition that drops a weight, such as a tied output layer, may not drop its scales and biases.
    for name in [name for name in tensors if name.endswith((".scales", ".biases", ".global_scale"))]:
        weight = f"{name.rpartition('.')[0]}.weight"
        if name in before and weight in before and weight not in tensors:
            del tensors[name]


def _check(model: nn.Module, tensors: Mapping[str, mx.array], written: Mapping[str, Any]) -> None:
    """Compare tensors with the parameters of the model.

    Raises:
        UnsupportedModelError: Tensors are left over, or have a type that no layer supports.
        BrokenModelError: Parameters are missing, or do not have the shape of config.json.
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
            raise BrokenModelError(
                f"{name}{why} is {shape_text(array)}, but config.json calls for {shape_text(expected)}."
            )
        if mx.issubdtype(expected.dtype, mx.floating) and not mx.issubdtype(array.dtype, mx.floating):
            raise UnsupportedModelError(
                f"{name}{why} is stored as {str(array.dtype).removeprefix('mlx.core.')} without scales; "
                "it should be a floating-point type or come with scales."
            )


def _commonest(arrays: Iterable[mx.array]) -> mx.Dtype:
    """Return the most common floating-point type, which is that of the activations if nothing is widened."""
    counts = Counter(array.dtype for array in arrays if mx.issubdtype(array.dtype, mx.floating))
    return counts.most_common(1)[0][0] if counts else mx.float32


def _few(names: list[str]) -> str:
    """List up to three names, and count the rest."""
    rest = len(names) - _SHOWN
    return ", ".join(map(printable, names[:_SHOWN])) + (f" and {rest} more tensors" if rest > 0 else "")
