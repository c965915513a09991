// Lookup of rows of a weight table in any format, as float32.
#pragma once

#include <vector>

#include "matmul/packing.h"

namespace sotto {

// Write row `row` of a matrix to `to` as float32, `matrix.columns` values.
void look_up(const Matrix& matrix, std::ptrdiff_t row, float* to);

// The rows selected by ids: [..., columns] for ids [...], which are uint32 or int32. Inputs: ids, weights [rows, ...],
// and scales and biases if the format has them.
mx::array embedded(const Packing& packing, mx::Stream stream, std::vector<mx::array> inputs);

}  // namespace sotto
