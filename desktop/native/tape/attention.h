// Attention of one decode step: each sequence's new keys and values go into its cache, and are attended to with it.
#pragma once

#include <optional>

#include "mlx/array.h"

namespace sotto::tape {

// What stands for it in a graph that is recorded: queries [rows, heads, 1, depth], and the new keys and values of the
// cache of `layer`. It cannot be computed in any other way.
mlx::core::array step_attention(
    const mlx::core::array& q, const mlx::core::array& k, const mlx::core::array& v, int layer, float scale,
    const std::optional<mlx::core::array>& sinks);

// What stands for tokens or positions in such a graph.
mlx::core::array placeholder(mlx::core::Shape shape, mlx::core::Dtype type);

}  // namespace sotto::tape
