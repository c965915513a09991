"""MLX's types with 16 rows of a matrix interleaved, as the kernels take them: affine types, MXFP4 and NVFP4.

A vector then holds the same columns of 16 rows, so that products with one row of activations need no sums across a
vector. On processors that compute more slowly than they read, they take two thirds of the time, and half of it where
AVX2 is the widest. See `desktop/native/matmul/blocks.h`.
"""

from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.gguf.kept import KEPT, UNIT

# By the modes of MLX whose scales are bytes.
FLOAT_PANELS = {"mxfp4": "mxfp4_panels", "nvfp4": "nvfp4_panels"}


def panel_mode(bits: int, group: int) -> str:
    """Return the name that the native kernels have for one of MLX's affine types with its rows interleaved."""
    return f"affine{bits}_panels{group}"


_PANELS = frozenset((*FLOAT_PANELS.values(), *(panel_mode(bits, group) for bits in (4, 8) for group in (32, 64))))


def is_interleaved(mode: str) -> bool:
    """Return whether the rows of matrices in this mode lie interleaved, so that the native kernels alone read them."""
    return mode in KEPT or mode in _PANELS


def arrange_in_panels(model: nn.Module, tensors: dict[str, mx.array], kernels: Any) -> None:
    """Change quantized layers, in place, to a mode of panels where the kernels have one.

    Scales and biases become one array; like the weights, its rows still have to be interleaved.

    Args:
        model: A model with quantized layers.
        tensors: Its parameters by name, in their stored types.
        kernels: The native module.
    """
    from mlx_lm.models.switch_layers import QuantizedSwitchLinear

    for path, layer in model.named_modules():
        quantized = isinstance(layer, (nn.QuantizedLinear, nn.QuantizedEmbedding, QuantizedSwitchLinear))
        if not quantized and "global_scale" not in layer:
            continue
        mode = {"affine": panel_mode(layer.bits, layer.group_size), **FLOAT_PANELS}.get(layer.mode, "")
        scales, biases = tensors.get(f"{path}.scales"), tensors.get(f"{path}.biases")
        whole = scales is not None and scales.shape[-1] * layer.group_size % UNIT == 0
        if scales is None or not whole or not kernels.knows(mode, layer.group_size, layer.bits):
            continue
        if layer.mode == "affine":
            if biases is None or not _are_halves(scales, biases):
                continue
            del tensors[f"{path}.biases"], layer.biases
            # The bias of each group comes after its scale.
            both = mx.stack([scales, biases], axis=-1).flatten(-2)
            tensors[f"{path}.scales"] = both
            # Only a shape: nothing else may refer to what is interleaved in place.
            layer.scales = mx.zeros(both.shape, both.dtype)
        layer.mode = mode


def _are_halves(*arrays: mx.array) -> bool:
    return {array.dtype for array in arrays} in ({mx.bfloat16}, {mx.float16})
