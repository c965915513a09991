"""MLX's affine types arranged for the kernels: 16 rows of a matrix lie interleaved, as in the blocks of GGUF's types.

A vector then holds the same columns of 16 rows, so that products with one row of activations need no sums across a
vector. They have the same bits as before and, on processors that compute more slowly than they read, take two thirds
of the time. See `desktop/native/matmul/blocks.h`.
"""

from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.gguf.kept import BLOCK_SIZE, panel_mode


def arrange_in_panels(model: nn.Module, tensors: dict[str, mx.array], kernels: Any) -> None:
    """Change affine layers, in place, to a mode of panels where the kernels have one.

    Their scales and biases become one array; like the weights, its rows still have to be interleaved.

    Args:
        model: A model with quantized layers.
        tensors: Its parameters by name, in their stored types.
        kernels: The native module.
    """
    from mlx_lm.models.switch_layers import QuantizedSwitchLinear

    for path, layer in model.named_modules():
        if type(layer) not in (nn.QuantizedLinear, nn.QuantizedEmbedding, QuantizedSwitchLinear):
            continue
        mode = panel_mode(layer.bits, layer.group_size)
        scales, biases = tensors.get(f"{path}.scales"), tensors.get(f"{path}.biases")
        if layer.mode != "affine" or scales is None or biases is None:
            continue
        halves = scales.dtype == biases.dtype and scales.dtype in (mx.bfloat16, mx.float16)
        in_block = BLOCK_SIZE // layer.group_size
        if not halves or scales.shape[-1] % in_block or not kernels.knows(mode, layer.group_size, layer.bits):
            continue
        blocks = (*scales.shape[:-1], -1, in_block)
        both = mx.concatenate([scales.reshape(blocks), biases.reshape(blocks)], axis=-1)
        shape = (*scales.shape[:-1], 2 * scales.shape[-1])
        del tensors[f"{path}.biases"], layer.biases
        tensors[f"{path}.scales"] = both.reshape(shape)
        # Only a shape: nothing else may refer to what is interleaved in place.
        layer.scales = mx.zeros(shape, scales.dtype)
        layer.mode = mode
