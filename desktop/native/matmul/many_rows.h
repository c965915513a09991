// Products of many rows: the scheduling around the kernels of panels.h.
#pragma once

#include <cstddef>

#include "matmul/panels.h"

namespace sotto {

// Bits per stored weight.
std::ptrdiff_t bits_of(Format format);

// Bytes of a scale; biases have as many.
std::ptrdiff_t scale_bytes(const Matrix& matrix);

// The kernels for the level in use; nullptr if it has none, so that BLAS is needed.
const PanelKernels* panel_kernels();

// Rows of activations in consecutive panels of up to kernels.vectors vectors and about equal width.
struct Panels {
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t width = 0;  // columns
  const float* values = nullptr;
};

// Number of values in the panels of `rows` rows and `width` columns.
std::ptrdiff_t panels_size(const PanelKernels& kernels, std::ptrdiff_t rows, std::ptrdiff_t width);

// Write the rows of x, [rows, matrix.columns], as panels to `values`, on all threads. `width` is that of the unpacked
// weights.
Panels lay_out(const PanelKernels& kernels, const Matrix& matrix, const float* x, std::ptrdiff_t rows,
               std::ptrdiff_t width, float* values);

// Rows of weights per task of multiply_panels.
std::ptrdiff_t rows_in_panel_task(const PanelKernels& kernels, const Matrix& matrix);

// y[m * matrix.rows + n] = x[m] . weights[n] for all m and begin <= n < end, at most rows_in_panel_task values of n. A
// result has the same bits for any number of rows and threads.
void multiply_panels(const PanelKernels& kernels, const RowKernels& unpacking, const Matrix& matrix, const Panels& x,
                     float* y, std::ptrdiff_t begin, std::ptrdiff_t end);

}  // namespace sotto
