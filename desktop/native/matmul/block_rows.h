// Rows of GGUF's blocks: how they become the panels of blocks.h, and how one is looked up there.
#pragma once

#include <cstddef>

#include "matmul/rows.h"
#include "mlx/array.h"
#include "mlx/stream.h"

namespace sotto {

// Codes, uint32 [..., rows, words], or scales, uint16 [..., rows, halves], with the rows of each panel interleaved; in
// the memory of `stored` if nothing else refers to it.
mlx::core::array interleaved(const mlx::core::array& stored, mlx::core::Stream stream);

// Write row `row` of a matrix of blocks to `to` as float32.
void look_up_block_row(const Matrix& matrix, std::ptrdiff_t row, float* to);

}  // namespace sotto
