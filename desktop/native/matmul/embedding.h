// Rows of a table of weights in any format, as float32.
#pragma once

#include <vector>

#include "matmul/packing.h"

namespace sotto {

// Write row `row` of a matrix as float32, `matrix.columns` values.
void look_up(const Matrix& matrix, std::ptrdiff_t row, float* to);

// The rows that ids name, [..., columns] for ids [...], which hold uint32 or int32. Inputs: ids, weights [rows, ...],
// and scales and biases where the format has them.
mx::array embedded(const Packing& packing, mx::Stream stream, std::vector<mx::array> inputs);

}  // namespace sotto
