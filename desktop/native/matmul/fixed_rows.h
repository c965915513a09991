// Products of many rows in whole numbers: the scheduling around the kernels of fixed.h.
#pragma once

#include <cstddef>

#include "matmul/fixed.h"

namespace sotto {

// The kernels that are to be used for a matrix; nullptr where there are none.
const FixedKernels* fixed_kernels(const Matrix& matrix);

// Floats whose memory so many rows of digits take.
std::ptrdiff_t fixed_size(const FixedKernels& kernels, const Matrix& matrix, std::ptrdiff_t rows);

// Lay the rows of x, [rows, matrix.columns], out in `memory`, on all threads.
FixedRows lay_out(const FixedKernels& kernels, const Matrix& matrix, const float* x, std::ptrdiff_t rows,
                  float* memory);

// y[m * matrix.rows + n] = x[m] . weights[n] for m < rows and begin <= n < end, at most kernels.width of them. The bits
// of a result do not depend on the numbers of rows and threads.
void multiply_fixed(const FixedKernels& kernels, const Matrix& matrix, const FixedRows& x, std::ptrdiff_t rows,
                    float* y, std::ptrdiff_t begin, std::ptrdiff_t end);

}  // namespace sotto
