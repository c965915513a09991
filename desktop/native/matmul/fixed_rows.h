// Integer products of many rows: the scheduling around the kernels of fixed.h.
#pragma once

#include <cstddef>

#include "matmul/fixed.h"

namespace sotto {

// The kernels for a matrix, with those for a few rows; nullptr if there are none.
const FixedKernels* fixed_kernels(const Matrix& matrix);

// Faster kernels for many rows, with the same bits; nullptr if there are none.
const FixedKernels* tile_kernels(const Matrix& matrix);

// Size of the memory for `rows` prepared rows, in floats.
std::ptrdiff_t fixed_size(const FixedKernels& kernels, const Matrix& matrix, std::ptrdiff_t rows);

// Prepare the rows of x, [rows, matrix.columns], in `memory`, on all threads.
FixedRows lay_out(const FixedKernels& kernels, const Matrix& matrix, const float* x, std::ptrdiff_t rows,
                  float* memory);

// y[m * matrix.rows + n] = x[m] . weights[n] for m < rows and begin <= n < end, at most kernels.width values of n. A
// result has the same bits for any number of rows and threads.
void multiply_fixed(const FixedKernels& kernels, const Matrix& matrix, const FixedRows& x, std::ptrdiff_t rows,
                    float* y, std::ptrdiff_t begin, std::ptrdiff_t end);

}  // namespace sotto
