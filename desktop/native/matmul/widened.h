// Codes of 2, 3, 5 and 6 bits, for which there are no kernels, in 4 or 8 bits.
#pragma once

#include "mlx/array.h"
#include "mlx/stream.h"

namespace sotto {

// Packed codes of `bits` bits, uint32 [..., words] as MLX packs them, in 4 bits if they fit or else in 8.
mlx::core::array widened(const mlx::core::array& stored, int bits, mlx::core::Stream stream);

}  // namespace sotto
