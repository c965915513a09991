// The fused operations as functions on MLX's arrays. Each returns an array yet to be computed, on a stream of the CPU,
// and throws std::invalid_argument for input that it cannot take. Input is float32 unless said.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "fused/kernels.h"
#include "mlx/array.h"
#include "mlx/utils.h"

namespace sotto::fused {

using mlx::core::array;

// As mlx.core.fast.rms_norm.
array rms_norm(const array& x, const std::optional<array>& weight, float eps);

// As mlx.core.fast.layer_norm.
array layer_norm(
    const array& x, const std::optional<array>& weight, const std::optional<array>& bias, float eps);

// As mlx.core.fast.rope; an offset that is an array holds int32.
array rope(
    const array& x, int dims, bool traditional, std::optional<float> base, float scale,
    const std::variant<int, array>& offset, const std::optional<array>& freqs);

// activation(gate) * x, or activation(gate) without x; both have one shape.
array activate(
    Activation kind, const array& gate, const std::optional<array>& x, float slope, float limit);

// As mlx.core.fast.scaled_dot_product_attention; k and v may also hold bfloat16 or float16, and the mask is there, or
// `causal` is true, or neither; it holds truth values or float32. The result lies in memory as [B, L, H, D].
array attention(
    const array& q, const array& k, const array& v, float scale, bool causal, const std::optional<array>& mask,
    const std::optional<array>& sinks);

}  // namespace sotto::fused
