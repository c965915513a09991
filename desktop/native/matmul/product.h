// y = x . W^T for float32 activations and weights in any format, on all threads.
#pragma once

#include <cstddef>
#include <vector>

#include "matmul/rows.h"

namespace sotto {

// One product: y, [rows, matrix.rows], is x, [rows, matrix.columns], times the transposed matrix; all contiguous.
struct Product {
  Matrix matrix;
  std::ptrdiff_t rows;
  const float* x;
  float* y;
};

// Compute independent products. Up to few_rows() rows, a result has the same bits for any number of rows and threads. More
// rows are multiplied by integer or float32 kernels or by tiles, which guarantee the same among themselves, or by BLAS at
// levels without such kernels. Weights in affine types, MXFP4 and GGUF's types give the same bits for any number of rows
// at the VNNI level; at the AMX level, of interleaved ones those in affine types with groups of 64 do.
void multiply(const std::vector<Product>& products);

// The largest number of rows with the bits of single ones. Settable for tests, to the largest number for which packed
// weights are used; 0 restores the default.
void set_few_rows(int rows);
int few_rows();

}  // namespace sotto
