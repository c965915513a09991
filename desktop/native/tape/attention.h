// Attention of one decode step: each sequence's new keys and values are appended to its cache before it is attended to.
#pragma once

#include <optional>

#include "mlx/array.h"

namespace sotto::tape {

// Placeholder for this attention in a recorded graph: takes queries [rows, heads, 1, depth], and the new keys and
// values for the cache of `layer`. Latent attention has `added` queries [rows, heads, 1, size], already scaled, whose
// products with the held values are added to the scores, while its keys are its values. It cannot be evaluated outside a
// tape.
mlx::core::array step_attention(
    const mlx::core::array& q, const mlx::core::array& k, const mlx::core::array& v, int layer, float scale,
    const std::optional<mlx::core::array>& sinks, const std::optional<mlx::core::array>& added);

// Placeholder for tokens or positions in such a graph.
mlx::core::array placeholder(mlx::core::Shape shape, mlx::core::Dtype type);

}  // namespace sotto::tape
