"""Norms, rotary embeddings, attention, recurrences and activations by the native kernels, with MLX as a fallback.

Model definitions call them by MLX's names. `install` replaces them by functions that check their inputs: float32 on the
CPU goes to the native kernels, everything else to the original functions.
"""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import mlx.core as mx
import mlx.nn as nn

from sotto.engine.architectures import zoo

_ACTIVATIONS = ("silu", "gelu", "gelu_approx", "gelu_fast_approx")
_MODULES = {"silu": nn.SiLU}
# Modules that import these functions by name, where they must be replaced too.
_BORROWERS = ("mlx_lm.models.", "sotto.engine.architectures.definitions.")

_undo: list[Callable[[], None]] = []
# The installed kernels; None after `uninstall`, as a definition may keep a replaced activation.
_kernels: ModuleType | None = None


def install(kernels: ModuleType) -> None:
    """Replace MLX's functions by the native ones; does nothing if installed already.

    Args:
        kernels: The native module.
    """
    global _kernels
    if _undo:
        return
    _kernels = kernels
    zoo.install()
    activations, delta, space = (
        importlib.import_module(f"mlx_lm.models.{name}") for name in ("activations", "gated_delta", "ssm")
    )
    _replace(mx.fast, "rms_norm", _rms_norm(kernels, mx.fast.rms_norm))
    _replace(mx.fast, "layer_norm", _layer_norm(kernels, mx.fast.layer_norm))
    _replace(mx.fast, "rope", _rope(kernels, mx.fast.rope))
    _replace(mx, "quantize", _quantize(kernels, mx.quantize))
    _replace(mx, "dequantize", _dequantize(kernels, mx.dequantize))
    _replace(mx.fast, "scaled_dot_product_attention", _attention(kernels, mx.fast.scaled_dot_product_attention))
    _replace(mx, "conv1d", _convolution(kernels, mx.conv1d))
    _replace(delta, "gated_delta_ops", _delta_rule(kernels, delta.gated_delta_ops))
    _replace(space, "ssm_attn", _state_space(kernels, space.ssm_attn, space.compute_dt))
    for name in _ACTIVATIONS:
        _replace(nn, name, _activation(name, getattr(nn, name)))
    for name, module in _MODULES.items():
        _replace(module, "__call__", _as_method(getattr(nn, name)))
    _replace(activations, "swiglu", _swiglu(kernels, activations.swiglu))
    _replace(activations, "precise_swiglu", _precise_swiglu(kernels, activations.precise_swiglu))
    _replace(activations, "swiglu_oai", _swiglu_oai(kernels, activations.swiglu_oai))


def uninstall() -> None:
    """Restore MLX's own functions."""
    global _kernels
    _kernels = None
    while _undo:
        _undo.pop()()


def _replace(owner: Any, name: str, new: Callable[..., Any]) -> None:
    """Replace a function in its module, and in all modules of definitions that imported it."""
    old = getattr(owner, name)
    owners = [owner]
    for path, module in tuple(sys.modules.items()):
        if path.startswith(_BORROWERS) and module is not owner and vars(module).get(name) is old:
            owners.append(module)

    def undo() -> None:
        for each in owners:
            setattr(each, name, old)
        # Modules imported in the meantime have the new one.
        for path, module in tuple(sys.modules.items()):
            if path.startswith(_BORROWERS) and vars(module).get(name) is new:
                setattr(module, name, old)

    for each in owners:
        setattr(each, name, new)
    _undo.append(undo)


def _as_method(function: Callable[[mx.array], mx.array]) -> Callable[[Any, mx.array], mx.array]:
    return lambda _, x: function(x)


def _rms_norm(kernels: ModuleType, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    native: Callable[..., mx.array] = kernels.rms_norm
    float32 = mx.float32

    def rms_norm(x: mx.array, weight: mx.array | None, eps: float, *, stream: Any = None) -> mx.array:
        if stream is None and x.dtype == float32 and x.ndim > 0 and (weight is None or weight.dtype == float32):
            return native(x, weight, eps)
        return own(x, weight, eps, stream=stream)

    return rms_norm


def _layer_norm(kernels: ModuleType, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    native: Callable[..., mx.array] = kernels.layer_norm
    float32 = mx.float32

    def layer_norm(
        x: mx.array, weight: mx.array | None, bias: mx.array | None, eps: float, *, stream: Any = None
    ) -> mx.array:
        plain = stream is None and x.dtype == float32 and x.ndim > 0
        if plain and (weight is None or weight.dtype == float32) and (bias is None or bias.dtype == float32):
            return native(x, weight, bias, eps)
        return own(x, weight, bias, eps, stream=stream)

    return layer_norm


def _rope(kernels: ModuleType, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    native: Callable[..., mx.array] = kernels.rope
    float32, int32 = mx.float32, mx.int32

    def rope(
        a: mx.array,
        dims: int,
        *,
        traditional: bool,
        base: float | None,
        scale: float,
        offset: int | mx.array,
        freqs: mx.array | None = None,
        stream: Any = None,
    ) -> mx.array:
        plain = stream is None and a.dtype == float32 and (freqs is None or freqs.dtype == float32)
        if plain and (isinstance(offset, int) or offset.dtype == int32):
            return native(a, dims, traditional, base, scale, offset, freqs)
        return own(a, dims, traditional=traditional, base=base, scale=scale, offset=offset, freqs=freqs, stream=stream)

    return rope


def _quantize(kernels: ModuleType, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return `mx.quantize` with native packing of what caches hold: four axes, groups of at least 32."""
    native: Callable[..., list[mx.array]] = kernels.pack
    float32 = mx.float32

    def quantize(
        w: mx.array, group_size: int | None = None, bits: int | None = None, *args: Any, **options: Any
    ) -> Any:
        plain = not args and not options and w.ndim == 4 and w.dtype == float32
        if plain and _packs(group_size, bits):
            return native(w, group_size, bits)
        return own(w, group_size, bits, *args, **options)

    return quantize


def _dequantize(kernels: ModuleType, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    """Return `mx.dequantize` with native unpacking of what caches hold; attention reads it without unpacking."""
    native: Callable[..., mx.array] = kernels.unpack
    float32 = mx.float32
    usual = {"mode": "affine", "dtype": float32}

    def dequantize(
        w: mx.array,
        scales: mx.array,
        biases: mx.array | None = None,
        group_size: int | None = None,
        bits: int | None = None,
        *args: Any,
        **options: Any,
    ) -> mx.array:
        plain = not args and options.items() <= usual.items() and w.ndim == 4 and _packs(group_size, bits)
        if plain and scales.dtype == float32 and biases is not None and biases.dtype == float32:
            return native(w, scales, biases, group_size, bits)
        return own(w, scales, biases, group_size, bits, *args, **options)

    return dequantize


def _packs(group_size: int | None, bits: int | None) -> bool:
    return bits in (4, 8) and group_size is not None and group_size % 32 == 0


def _attention(kernels: ModuleType, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    native: Callable[..., mx.array] = kernels.attention
    float32 = mx.float32
    of_scores = (mx.bool_, mx.float32, mx.bfloat16, mx.float16)
    of_keys = (mx.float32, mx.bfloat16, mx.float16)

    def scaled_dot_product_attention(
        q: mx.array,
        k: mx.array,
        v: mx.array,
        *,
        scale: float,
        mask: str | mx.array | None = None,
        sinks: mx.array | None = None,
        force_fused: bool = False,
        stream: Any = None,
    ) -> mx.array:
        causal = isinstance(mask, str) and mask == "causal"
        array = mask if isinstance(mask, mx.array) else None
        if (
            stream is None
            and not force_fused
            and q.dtype == float32
            and k.dtype in of_keys
            and v.dtype in of_keys
            and k.ndim == 4
            and k.shape[2] > 0
            and (mask is None or causal or (array is not None and array.dtype in of_scores))
        ):
            if array is not None and array.dtype not in of_scores[:2]:
                array = array.astype(float32)
            if sinks is not None and sinks.dtype != float32:
                sinks = sinks.astype(float32)
            return native(q, k, v, scale, causal, array, sinks)
        return own(q, k, v, scale=scale, mask=mask, sinks=sinks, force_fused=force_fused, stream=stream)

    return scaled_dot_product_attention


def _convolution(kernels: ModuleType, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    """Return `mx.conv1d` with a native version for channels that are each convolved by themselves."""
    native: Callable[..., mx.array] = kernels.short_convolution
    most: int = kernels.most_taps()
    float32 = mx.float32

    def conv1d(
        x: mx.array,
        weight: mx.array,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        *,
        stream: Any = None,
    ) -> mx.array:
        plain = (stride, padding, dilation) == (1, 0, 1) and stream is None and x.ndim == weight.ndim == 3
        apart = plain and groups == x.shape[-1] == weight.shape[0] and weight.shape[1] <= min(most, x.shape[1])
        if apart and weight.shape[2] == 1 and x.dtype == weight.dtype == float32:
            return native(x, weight)
        return own(x, weight, stride, padding, dilation, groups, stream=stream)

    return conv1d


def _delta_rule(kernels: ModuleType, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return mlx-lm's gated delta rule with a native version for sequences without padding."""
    native: Callable[..., tuple[mx.array, mx.array]] = kernels.recurrence

    def gated_delta_ops(
        q: mx.array,
        k: mx.array,
        v: mx.array,
        g: mx.array,
        beta: mx.array,
        state: mx.array | None = None,
        mask: mx.array | None = None,
    ) -> tuple[mx.array, mx.array]:
        if state is None:
            state = mx.zeros((v.shape[0], *v.shape[2:], k.shape[-1]), mx.float32)
        if mask is None and _all_float32(q, k, v, g, beta, state):
            return native(q, k, v, g, beta, state, True)
        found: tuple[mx.array, mx.array] = own(q, k, v, g, beta, state, mask)
        return found

    return gated_delta_ops


def _state_space(kernels: ModuleType, own: Callable[..., Any], steps_of: Callable[..., mx.array]) -> Callable[..., Any]:
    """Return mlx-lm's state space model, Mamba 2, with a native version for sequences without padding."""
    native: Callable[..., tuple[mx.array, mx.array]] = kernels.recurrence

    def ssm_attn(
        x: mx.array,
        A_log: mx.array,  # noqa: N803  (its name in the definitions)
        B: mx.array,  # noqa: N803
        C: mx.array,  # noqa: N803
        D: mx.array,  # noqa: N803
        dt: mx.array,
        dt_bias: mx.array,
        state: mx.array | None = None,
        time_step_limit: tuple[float, float] = (0.001, 100.0),
        mask: mx.array | None = None,
        lengths: mx.array | None = None,
        **options: Any,
    ) -> tuple[mx.array, mx.array]:
        if state is None:
            state = mx.zeros((x.shape[0], *x.shape[2:], B.shape[-1]), mx.float32)
        if mask is not None or lengths is not None or not _all_float32(x, A_log, B, C, D, dt, dt_bias, state):
            found: tuple[mx.array, mx.array] = own(
                x, A_log, B, C, D, dt, dt_bias, state, time_step_limit, mask=mask, lengths=lengths, **options
            )
            return found
        steps = steps_of(dt, dt_bias, time_step_limit)
        y, state = native(C, B, x, mx.exp(-mx.exp(A_log) * steps), steps, state, False)
        return y + x * D[:, None], state

    return ssm_attn


def _all_float32(*arrays: mx.array) -> bool:
    return all(array.dtype == mx.float32 for array in arrays)


def _activation(name: str, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    float32 = mx.float32

    def activation(x: mx.array) -> mx.array:
        if _kernels is None or x.dtype != float32:
            return own(x)
        activated: mx.array = getattr(_kernels, name)(x)
        return activated

    return activation


def _alike(gate: mx.array, x: mx.array) -> bool:
    """Return whether the native kernels support the two inputs together."""
    return gate.dtype == mx.float32 and x.dtype == mx.float32 and gate.shape == x.shape


def _swiglu(kernels: ModuleType, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    native: Callable[..., mx.array] = kernels.silu

    def swiglu(gate: mx.array, x: mx.array) -> mx.array:
        return native(gate, x) if _alike(gate, x) else own(gate, x)

    return swiglu


def _precise_swiglu(kernels: ModuleType, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    native: Callable[..., mx.array] = kernels.silu

    def precise_swiglu(h: mx.array, gate: mx.array, x: mx.array) -> mx.array:
        return native(gate, x) if h.dtype == mx.float32 and _alike(gate, x) else own(h, gate, x)

    return precise_swiglu


def _swiglu_oai(kernels: ModuleType, own: Callable[..., mx.array]) -> Callable[..., mx.array]:
    native: Callable[..., mx.array] = kernels.swiglu_oai

    def swiglu_oai(gate: mx.array, x: mx.array, alpha: float = 1.702, limit: float = 7.0) -> mx.array:
        return native(gate, x, alpha, limit) if _alike(gate, x) else own(gate, x, alpha, limit)

    return swiglu_oai
