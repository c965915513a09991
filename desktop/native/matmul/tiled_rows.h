// Products by tiles: the scheduling around the kernels of tiles.h.
#pragma once

#include <cstddef>

#include "matmul/tiles.h"

namespace sotto {

// Whether a matrix can be multiplied by tiles at the level in use, and not faster by those of fixed_rows.h.
bool has_tiles(const Matrix& matrix);

// Size of the memory for `rows` split rows of `columns` numbers, in floats.
std::ptrdiff_t split_size(std::ptrdiff_t rows, std::ptrdiff_t columns);

// Split the rows of x, [rows, columns], in `memory`, on all threads.
SplitRows split_rows(const float* x, std::ptrdiff_t rows, std::ptrdiff_t columns, float* memory);

// Rows of weights per task of multiply_tiled, a multiple of 64.
std::ptrdiff_t rows_in_tiled_task(const Matrix& matrix);

// y[m * matrix.rows + n] = x[m] . weights[n] for all m and begin <= n < end, at most rows_in_tiled_task values of n. A
// result has the same bits for any number of rows and threads.
void multiply_tiled(const Matrix& matrix, const SplitRows& x, float* y, std::ptrdiff_t begin, std::ptrdiff_t end);

}  // namespace sotto
