// Products of many rows: the scheduling around the kernels of panels.h.
#pragma once

#include <cstddef>

#include "matmul/panels.h"

namespace sotto {

// Bits of a weight as it is stored.
std::ptrdiff_t bits_of(Format format);

// The kernels of the level in use; nullptr where BLAS has to do.
const PanelKernels* panel_kernels();

// Rows of activations in panels of up to kernels.vectors vectors, one after the other and about equally wide.
struct Panels {
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t width = 0;  // columns
  const float* values = nullptr;
};

// Values that the panels of so many rows and columns take.
std::ptrdiff_t panels_size(const PanelKernels& kernels, std::ptrdiff_t rows, std::ptrdiff_t width);

// Lay the rows of x, [rows, matrix.columns], out in `values`, on all threads. `width` is that of the unpacked weights.
Panels lay_out(const PanelKernels& kernels, const Matrix& matrix, const float* x, std::ptrdiff_t rows,
               std::ptrdiff_t width, float* values);

// Rows of weights in a task for multiply_panels.
std::ptrdiff_t rows_in_panel_task(const Matrix& matrix);

// y[m * matrix.rows + n] = x[m] . weights[n] for all m and begin <= n < end, at most rows_in_panel_task of them. The
// bits of a result do not depend on the numbers of rows and threads.
void multiply_panels(const PanelKernels& kernels, const RowKernels& unpacking, const Matrix& matrix, const Panels& x,
                     float* y, std::ptrdiff_t begin, std::ptrdiff_t end);

}  // namespace sotto
