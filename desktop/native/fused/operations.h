// The fused operations as functions on MLX's arrays. Each returns an unevaluated array on a CPU stream, and throws
// std::invalid_argument for unsupported inputs. Inputs are float32 unless stated otherwise.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fused/kernels.h"
#include "mlx/array.h"
#include "mlx/utils.h"

namespace sotto::fused {

using mlx::core::array;

// Like mlx.core.fast.rms_norm.
array rms_norm(const array& x, const std::optional<array>& weight, float eps);

// Like mlx.core.fast.layer_norm.
array layer_norm(
    const array& x, const std::optional<array>& weight, const std::optional<array>& bias, float eps);

// Like mlx.core.fast.rope; an array of offsets must be int32.
array rope(
    const array& x, int dims, bool traditional, std::optional<float> base, float scale,
    const std::variant<int, array>& offset, const std::optional<array>& freqs);

// activation(gate) * x, or activation(gate) without x; both must have the same shape.
array activate(
    Activation kind, const array& gate, const std::optional<array>& x, float slope, float limit);

// Like mlx.core.quantize, for arrays with four axes.
std::vector<array> pack(const array& x, int group, int bits);

// Like mlx.core.dequantize, for arrays with four axes.
array unpack(const array& words, const array& scales, const array& biases, int group, int bits);

// Like mlx.core.fast.scaled_dot_product_attention; k and v may also be bfloat16 or float16, or results of `unpack`,
// which are then read in their packed form and never unpacked as a whole. A mask holds booleans or
// float32, and cannot be combined with `causal`. The memory layout of the result is [B, L, H, D].
array attention(
    const array& q, const array& k, const array& v, float scale, bool causal, const std::optional<array>& mask,
    const std::optional<array>& sinks);

// A linear recurrence for each head, see `Recurrence`; several heads can share queries and keys. Takes queries and keys
// [B, T, shared heads, depth], values [B, T, heads, width], decays [B, T, heads] or [B, T, heads, depth], rates
// [B, T, heads] and the state [B, heads, width, depth]. Returns the outputs [B, T, heads, width] and the new state.
std::vector<array> recurrence(
    const array& q, const array& k, const array& v, const array& decay, const array& rate, const array& state,
    bool corrects);

// A convolution [C, taps, 1] of each channel of x, [B, T + taps - 1, C], by itself; the result is [B, T, C].
array short_convolution(const array& x, const array& weight);

}  // namespace sotto::fused
