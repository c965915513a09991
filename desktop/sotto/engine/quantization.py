"""Quantized weights: what a tensor's shape and its file say about it, and the layers that compute with it.

A quantized matrix `X` is two to four tensors: packed words `X.weight`, `X.scales`, for affine types `X.biases`, and for
NVFP4 with two levels of scales `X.global_scale`. MLX states the last as the largest magnitude of the matrix, which is
2688 times the factor that the store's files state and that layers multiply their output with.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.records import TensorFile

# The largest magnitude of an NVFP4 value: 448 as a scale times 6 as a value.
GLOBAL_SCALE_UNIT = 448.0 * 6.0

_WORD_BITS = 32
_AFFINE_BITS = (2, 3, 4, 5, 6, 8)
_AFFINE_GROUPS = (32, 64, 128)
# Scales of one byte: bits and group size tell the type.
_BYTE_SCALED = {(4, 16): "nvfp4", (4, 32): "mxfp4", (8, 32): "mxfp8"}
# The store's names of types, with those that older files use: mode and bits.
_TYPES = {
    "int4": ("affine", 4),
    "q4": ("affine", 4),
    "fp4": ("affine", 4),
    "int8": ("affine", 8),
    "q8": ("affine", 8),
    "fp8": ("affine", 8),
    "mxfp4": ("mxfp4", 4),
    "mxfp8": ("mxfp8", 8),
    "nvfp4": ("nvfp4", 4),
}


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a matrix is quantized; `mode` is MLX's: `affine`, `mxfp4`, `mxfp8` or `nvfp4`."""

    mode: str
    bits: int
    group_size: int

    def __str__(self) -> str:
        kind = f"int{self.bits}" if self.mode == "affine" else self.mode
        return f"{kind} in groups of {self.group_size}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The three as MLX's functions take them."""
        return {"mode": self.mode, "bits": self.bits, "group_size": self.group_size}


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a file says about one of its tensors; None is what it does not say."""

    tensor: str
    quant_type: str | None
    group_size: int | None

    def check(self, scheme: Scheme) -> None:
        """Raise BrokenModelError if `scheme`, which the shapes show, is another one."""
        kind = _TYPES[self.quant_type.lower()] if self.quant_type else (scheme.mode, scheme.bits)
        group = self.group_size or scheme.group_size
        if kind != (scheme.mode, scheme.bits) or group != scheme.group_size:
            said = " in groups of ".join(str(part) for part in (self.quant_type, self.group_size) if part)
            raise BrokenModelError(
                f"The file of {self.tensor} says that it is quantized as {said}, "
                f"but its shape can only be {scheme}; download the model again."
            )


class Declarations:
    """What files say about matrices, to be found again by the arrays of their scales.

    Definitions rename tensors in ways of their own, but hand the arrays on. They are held here, so that no new array
    can come to have the identity of one that was dropped.
    """

    def __init__(self, said: Iterable[tuple[mx.array, Declaration]]) -> None:
        self._said = {id(scales): (scales, declaration) for scales, declaration in said}

    def check(self, scales: mx.array, scheme: Scheme) -> None:
        """Raise BrokenModelError if a file says something else of the matrix with these scales."""
        if found := self._said.get(id(scales)):
            found[1].check(scheme)


def declaration(file: TensorFile, tensor: str) -> Declaration | None:
    """Return what the metadata of `file` says about a tensor's quantization, its own entries before the file's.

    Raises:
        UnsupportedModelError: The type is none that is known.
        BrokenModelError: The group size is no number.
    """
    metadata = file.metadata
    quant_type = metadata.get(f"{tensor}.quant_type") or metadata.get("quant_type")
    group_text = metadata.get(f"{tensor}.group_size") or metadata.get("group_size")
    if quant_type and quant_type.lower() not in _TYPES:
        raise UnsupportedModelError(
            f"{tensor} is quantized as '{quant_type}', which is not known; "
            "known are int4, int8, mxfp4, mxfp8 and nvfp4."
        )
    if group_text and not group_text.isdecimal():
        raise BrokenModelError(f"The group size of {tensor} is '{group_text}', which should be a number.")
    if not quant_type and not group_text:
        return None
    return Declaration(tensor, quant_type, int(group_text) if group_text else None)


def infer(name: str, in_dims: int, weight: mx.array, scales: mx.array) -> Scheme:
    """Return how a matrix is quantized, from its shapes and the width that its layer expects.

    With the input width known the shapes leave no doubt: `bits = words x 32 / in_dims`, `group = in_dims / scales`.

    Args:
        name: Name of the layer, for messages.
        in_dims: Columns of the matrix that the packed one stands for.
        weight: Packed words, `[..., out, words]`.
        scales: `[..., out, groups]`; one-byte scales belong to the mx and nv types, others to affine ones.

    Raises:
        BrokenModelError: The shapes do not fit each other or the layer.
        UnsupportedModelError: They fit, but no type has these bits and groups.
    """
    if weight.dtype != mx.uint32:
        raise BrokenModelError(f"{name} has scales, but its weight is {_name(weight.dtype)}; it should be uint32.")
    if weight.shape[:-1] != scales.shape[:-1] or not weight.size:
        raise BrokenModelError(
            f"The weight of {name} is {_shape(weight)} and its scales are {_shape(scales)}; "
            "all but the last dimension should agree."
        )
    bits, bits_left = divmod(weight.shape[-1] * _WORD_BITS, in_dims)
    group, group_left = divmod(in_dims, scales.shape[-1])
    if bits_left or group_left or not bits:
        raise BrokenModelError(
            f"The weight of {name} is {_shape(weight)} with scales {_shape(scales)}, "
            f"which cannot hold {in_dims} columns as config.json says."
        )
    if scales.dtype == mx.uint8:
        mode = _BYTE_SCALED.get((bits, group), "")
    else:
        floating = mx.issubdtype(scales.dtype, mx.floating)
        mode = "affine" if floating and bits in _AFFINE_BITS and group in _AFFINE_GROUPS else ""
    if not mode:
        raise UnsupportedModelError(
            f"{name} has {bits}-bit weights in groups of {group} with {_name(scales.dtype)} scales, "
            "which is no type that can be computed with."
        )
    return Scheme(mode, bits, group)


def quantize_layers(model: nn.Module, weights: dict[str, mx.array], declared: Declarations, dtype: mx.Dtype) -> None:
    """Replace each layer of `model` whose weights come with scales by its quantized kind, ready to take them.

    Args:
        model: Not yet loaded; its layers tell their widths.
        weights: By the model's names; global scales become what their layers take.
        declared: What files say.
        dtype: Type of the embeddings that are looked up.

    Raises:
        BrokenModelError: Shapes, biases or declarations contradict each other.
        UnsupportedModelError: A type that cannot be computed with.
    """
    layers = []
    for path, layer in model.named_modules():
        scales = weights.get(f"{path}.scales")
        if scales is None or f"{path}.weight" not in weights or not hasattr(layer, "to_quantized"):
            continue
        scheme = infer(path, layer.weight.shape[-1], weights[f"{path}.weight"], scales)
        declared.check(scales, scheme)
        biased, scaled = f"{path}.biases" in weights, f"{path}.global_scale" in weights
        if biased != (scheme.mode == "affine"):
            wrong = (
                "has no biases, which it needs" if scheme.mode == "affine" else "has biases, which make no sense there"
            )
            raise BrokenModelError(f"{path} is {scheme} and {wrong}.")
        if scaled and scheme.mode != "nvfp4":
            raise UnsupportedModelError(f"{path} is {scheme} and has a global scale, which only nvfp4 should have.")
        quantized = _quantized(layer, scheme, scaled, dtype)
        if scaled:
            weights[f"{path}.global_scale"] = _factor(weights[f"{path}.global_scale"], quantized.global_scale, path)
        layers.append((path, quantized))
    model.update_modules(nn.utils.tree_unflatten(layers))


def dequantize_latent_projections(
    model: nn.Module, weights: dict[str, mx.array], declared: Declarations, dtype: mx.Dtype
) -> None:
    """Undo the quantization of each `kv_b_proj` of a model with latent attention, in place.

    The definitions split that matrix and transpose one half of it, across the groups: they could only quantize it
    again, and coarser.

    Raises:
        BrokenModelError: Shapes, biases or declarations contradict each other.
        UnsupportedModelError: A type that cannot be computed with.
    """
    ranks = {layer.weight.shape[-1] for path, layer in model.named_modules() if path.endswith(".unembed_out")}
    if not ranks:
        return
    rank = ranks.pop()
    for name in [name for name in weights if name.endswith(".kv_b_proj.scales")]:
        path = name.removesuffix(".scales")
        weight, scales = weights[f"{path}.weight"], weights.pop(name)
        scheme = infer(path, rank, weight, scales)
        declared.check(scales, scheme)
        biases, whole = weights.pop(f"{path}.biases", None), weights.pop(f"{path}.global_scale", None)
        plain = mx.dequantize(weight, scales, biases, dtype=dtype, **scheme.parameters)
        weights[f"{path}.weight"] = plain if whole is None else (plain * (whole / GLOBAL_SCALE_UNIT)).astype(dtype)


class ScaledLinear(nn.QuantizedLinear):  # type: ignore[misc]
    """A linear layer in NVFP4 with a scale of the whole matrix: `y = (x W^T) global_scale + bias`."""

    def __call__(self, x: mx.array) -> mx.array:
        """Map `[..., in]` to `[..., out]`."""
        y: mx.array = mx.quantized_matmul(
            x, self["weight"], self["scales"], group_size=self.group_size, bits=self.bits, mode=self.mode
        )
        y = (y * self["global_scale"]).astype(x.dtype)
        return y + self["bias"] if "bias" in self else y


class ScaledSwitchLinear(nn.Module):  # type: ignore[misc]
    """The linear layers of many experts in NVFP4, each with a scale of its whole matrix.

    MLX's own product with such a scale runs on a GPU only, and takes the scale in another convention.
    """

    def __init__(self, layer: nn.Module, scheme: Scheme) -> None:
        super().__init__()
        quantized = layer.to_quantized(**scheme.parameters)
        self.weight, self.scales = quantized.weight, quantized.scales
        self.global_scale = mx.ones((quantized.weight.shape[0],))
        if "bias" in quantized:
            self.bias = quantized.bias
        self.mode, self.bits, self.group_size = scheme.mode, scheme.bits, scheme.group_size

    def __call__(self, x: mx.array, indices: mx.array, sorted_indices: bool = False) -> mx.array:
        """Map `[..., 1, in]` to `[..., 1, out]`, each row by the expert that `indices` names."""
        y: mx.array = mx.gather_qmm(
            x,
            self["weight"],
            self["scales"],
            rhs_indices=indices,
            sorted_indices=sorted_indices,
            group_size=self.group_size,
            bits=self.bits,
            mode=self.mode,
        )
        y = (y * self["global_scale"][indices][..., None, None]).astype(x.dtype)
        return y + mx.expand_dims(self["bias"][indices], -2) if "bias" in self else y


class ByteScaledEmbedding(nn.QuantizedEmbedding):  # type: ignore[misc]
    """An embedding in an mx or nv type, which looks rows up in a given type.

    MLX's own gives bfloat16, whatever the rest of the model computes in.
    """

    def __call__(self, tokens: mx.array) -> mx.array:
        """Map token ids `[...]` to rows `[..., dims]`."""
        rows: mx.array = mx.dequantize(
            self["weight"][tokens],
            self["scales"][tokens],
            group_size=self.group_size,
            bits=self.bits,
            mode=self.mode,
            dtype=self.dtype,
        )
        return (rows * self["global_scale"]).astype(self.dtype) if "global_scale" in self else rows

    def as_linear(self, x: mx.array) -> mx.array:
        """Map `[..., dims]` to scores of all tokens."""
        y: mx.array = super().as_linear(x)
        return (y * self["global_scale"]).astype(x.dtype) if "global_scale" in self else y


def _quantized(layer: nn.Module, scheme: Scheme, scaled: bool, dtype: mx.Dtype) -> nn.Module:
    """Return the quantized kind of `layer`; its arrays only stand for shapes and are never computed."""
    if isinstance(layer, nn.Embedding) and scheme.mode != "affine":
        quantized = ByteScaledEmbedding.from_embedding(layer, **scheme.parameters)
        quantized.dtype = dtype
    elif not scaled:
        return layer.to_quantized(**scheme.parameters)
    elif isinstance(layer, nn.Linear):
        quantized = ScaledLinear.from_linear(layer, **scheme.parameters)
    elif layer.weight.ndim == 3 and hasattr(layer, "num_experts"):
        return ScaledSwitchLinear(layer, scheme)
    else:
        raise UnsupportedModelError(f"A {type(layer).__name__} with a global scale cannot be computed.")
    if scaled:
        quantized.global_scale = mx.ones(())
    return quantized


def _factor(scale: mx.array, place: mx.array, path: str) -> mx.array:
    """Return what to multiply with for a global scale, in the shape of its place: one number, or one an expert."""
    if scale.size not in (1, place.size):
        raise BrokenModelError(f"The global scale of {path} is {_shape(scale)}; it should be one number a matrix.")
    return mx.broadcast_to(scale.reshape(-1) / GLOBAL_SCALE_UNIT, (place.size,)).reshape(place.shape)


def _name(dtype: mx.Dtype) -> str:
    return str(dtype).removeprefix("mlx.core.")


def _shape(array: mx.array) -> str:
    return " x ".join(map(str, array.shape))
