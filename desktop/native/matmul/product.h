// y = x . W^T for float32 activations and weights in any format, on all threads.
#pragma once

#include <cstddef>
#include <vector>

#include "matmul/rows.h"

namespace sotto {

// One product: rows of x, [rows, matrix.columns], times the matrix, to y, [rows, matrix.rows], all without gaps.
struct Product {
  Matrix matrix;
  std::ptrdiff_t rows;
  const float* x;
  float* y;
};

// Compute products that do not depend on each other. Up to few_rows() rows are multiplied with the packed weights: each
// result then has the same bits whatever the number of rows and threads. For more rows the weights are unpacked first,
// and multiplied by own kernels, in whole numbers or in float32, among whose results the same is true, or by BLAS at a
// level that has none.
void multiply(const std::vector<Product>& products);

// Up to how many rows the packed weights are used is settable for tests; 0 restores the measured number.
void set_few_rows(int rows);
int few_rows();

}  // namespace sotto
