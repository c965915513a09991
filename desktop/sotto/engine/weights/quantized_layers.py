"""Layers that compute with quantized weights, and how a model's layers are replaced by them.

MLX's own layers are used where possible, also for types that only native kernels compute with. Added here are NVFP4
with a global scale for the whole matrix, by which layers multiply their output, and embeddings with one-byte scales
whose rows can have any type.
"""

import mlx.core as mx
from mlx import nn

from sotto.engine.config.quantization import Declarations, Scheme, infer_scheme, shape_text
from sotto.engine.gguf.kept import BLOCK_SIZE, KEPT
from sotto.engine.kernels import native
from sotto.engine.kernels.native_panels import is_interleaved
from sotto.errors import BrokenModelError, UnsupportedModelError

# MLX stores a global scale as the largest magnitude in the matrix, files of the store as the factor to multiply by.
# The ratio of the two is the largest magnitude of an NVFP4 value: a scale of 448 times a value of 6.
GLOBAL_SCALE_UNIT = 448.0 * 6.0


def quantize_layers(model: nn.Module, weights: dict[str, mx.array], declared: Declarations, dtype: mx.Dtype) -> None:
    """Replace each layer of `model` whose weights have scales by its quantized counterpart, ready to take them.

    Args:
        model: Not yet loaded; its layers give their widths.
        weights: By the model's names; global scales are converted to what the layers take.
        declared: What the files declare.
        dtype: Type of the embedding rows.

    Raises:
        BrokenModelError: Shapes, biases or declarations contradict each other.
        UnsupportedModelError: A type is not supported.
    """
    layers = []
    for path, layer in model.named_modules():
        scales = weights.get(f"{path}.scales")
        if scales is None or f"{path}.weight" not in weights or not hasattr(layer, "to_quantized"):
            continue
        scheme = infer_scheme(path, layer.weight.shape[-1], weights[f"{path}.weight"], scales)
        declared.check(scales, scheme)
        biased, scaled = f"{path}.biases" in weights, f"{path}.global_scale" in weights
        if biased != (scheme.mode == "affine"):
            wrong = (
                "has no biases, which it needs" if scheme.mode == "affine" else "has biases, which it should not have"
            )
            raise BrokenModelError(f"{path} is {scheme} and {wrong}.")
        if scaled and scheme.mode != "nvfp4":
            raise UnsupportedModelError(f"{path} is {scheme} and has a global scale, which only nvfp4 should have.")
        if scheme.mode in KEPT and scheme.mode not in native.kept_modes():
            raise UnsupportedModelError(f"{path} is {scheme}, which only native kernels for this processor support.")
        quantized = _quantize(layer, scheme, scaled, dtype)
        if scaled:
            weights[f"{path}.global_scale"] = _factor(weights[f"{path}.global_scale"], quantized.global_scale, path)
        layers.append((path, quantized))
    model.update_modules(nn.utils.tree_unflatten(layers))


def dequantize_latent_projections(
    model: nn.Module, weights: dict[str, mx.array], declared: Declarations, dtype: mx.Dtype
) -> None:
    """Dequantize each `kv_b_proj` of a model with latent attention, in place.

    The definitions split that matrix and transpose one half of it across its groups, so that it would have to be
    quantized again, with a second loss.

    Raises:
        BrokenModelError: Shapes, biases or declarations contradict each other.
        UnsupportedModelError: A type is not supported.
    """
    ranks = {layer.weight.shape[-1] for path, layer in model.named_modules() if path.endswith(".unembed_out")}
    if not ranks:
        return
    rank = ranks.pop()
    for name in [name for name in weights if name.endswith(".kv_b_proj.scales")]:
        path = name.removesuffix(".scales")
        weight, scales = weights[f"{path}.weight"], weights.pop(name)
        scheme = infer_scheme(path, rank, weight, scales)
        declared.check(scales, scheme)
        biases, whole = weights.pop(f"{path}.biases", None), weights.pop(f"{path}.global_scale", None)
        plain = mx.dequantize(weight, scales, biases, dtype=dtype, **scheme.parameters)
        weights[f"{path}.weight"] = plain if whole is None else (plain * (whole / GLOBAL_SCALE_UNIT)).astype(dtype)


class ScaledLinear(nn.QuantizedLinear):  # type: ignore[misc]
    """A linear layer in NVFP4 with a global scale: `y = (x W^T) global_scale + bias`."""

    def __call__(self, x: mx.array) -> mx.array:
        """Map `[..., in]` to `[..., out]`."""
        y: mx.array = mx.quantized_matmul(
            x, self["weight"], self["scales"], group_size=self.group_size, bits=self.bits, mode=self.mode
        )
        y = (y * self["global_scale"]).astype(x.dtype)
        return y + self["bias"] if "bias" in self else y


class ScaledSwitchLinear(nn.Module):  # type: ignore[misc]
    """The linear layers of many experts in NVFP4, each with a global scale.

    WORKAROUND: MLX's own product with a global scale runs on GPUs only, and expects it in another convention; check at
    upgrades.
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
        """Map `[..., 1, in]` to `[..., 1, out]`, each row with the expert that `indices` selects."""
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
    """An embedding in an mx or nv type whose rows have a given type.

    WORKAROUND: MLX's own returns bfloat16 whatever the type of the rest of the model; check at upgrades.
    """

    def __call__(self, tokens: mx.array) -> mx.array:
        """Map token ids `[...]` to rows `[..., dims]`."""
        rows: mx.array
        if is_interleaved(self.mode):
            rows = super().__call__(tokens)
        else:
            rows = mx.dequantize(
                self["weight"][tokens],
                self["scales"][tokens],
                group_size=self.group_size,
                bits=self.bits,
                mode=self.mode,
                dtype=self.dtype,
            )
        return (rows * self["global_scale"]).astype(self.dtype) if "global_scale" in self else rows

    def as_linear(self, x: mx.array) -> mx.array:
        """Map `[..., dims]` to the logits of all tokens."""
        y: mx.array = super().as_linear(x)
        return (y * self["global_scale"]).astype(x.dtype) if "global_scale" in self else y


def _quantize(layer: nn.Module, scheme: Scheme, scaled: bool, dtype: mx.Dtype) -> nn.Module:
    """Return the quantized counterpart of `layer`; its arrays only have shapes and are never computed."""
    if scheme.mode in KEPT:
        return _with_blocks(layer, scheme)
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
        raise UnsupportedModelError(f"A {type(layer).__name__} with a global scale is not supported.")
    if scaled:
        quantized.global_scale = mx.ones(())
    return quantized


def _with_blocks(layer: nn.Module, scheme: Scheme) -> nn.Module:
    """Return the counterpart of `layer` for blocks of GGUF: MLX's own, whose products the native kernels compute."""
    quantized, kept = layer.to_quantized(group_size=32, bits=4), KEPT[scheme.mode]
    *rows, columns = layer.weight.shape
    quantized.weight = mx.zeros((*rows, columns * kept.bits // 32), mx.uint32)
    quantized.scales = mx.zeros((*rows, columns * kept.numbers // BLOCK_SIZE), kept.dtype)
    del quantized.biases
    quantized.mode, quantized.bits, quantized.group_size = scheme.mode, scheme.bits, scheme.group_size
    return quantized


def _factor(scale: mx.array, place: mx.array, path: str) -> mx.array:
    """Return the factor for a global scale in the shape of `place`: one number, or one for each expert."""
    if scale.size not in (1, place.size):
        raise BrokenModelError(
            f"The global scale of {path} is {shape_text(scale)}; it should be one number for each matrix."
        )
    return mx.broadcast_to(scale.reshape(-1) / GLOBAL_SCALE_UNIT, (place.size,)).reshape(place.shape)
