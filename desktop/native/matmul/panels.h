// Products of many rows of activations with unpacked weights, as float32 blocks that fit into the caches.
//
// Activations are laid out in column-major panels with a few vectors' worth of rows each. A weight is broadcast to a
// vector and multiplied by the activations of all rows of a panel in its column, so that weights are read in row-major
// order and need no layout of their own. This header uses nothing of the C++ standard library, for the same reason as
// rows.h.
#pragma once

#include "matmul/rows.h"

namespace sotto {

// Unpacked rows of weights, and the destination of their products.
struct PanelProduct {
  const float* weights;    // [round_up(rows, row_step), depth]
  ptrdiff_t weight_stride;
  ptrdiff_t rows;          // of weights
  ptrdiff_t depth;         // columns of the weights and of the panel
  float* sums;             // scratch: [round_up(rows, lanes), vectors * lanes]
  float* y;                // y[m * y_stride + n]
  ptrdiff_t y_stride;
  bool add;                // add to y instead of overwriting it
};

struct PanelKernels {
  int lanes;      // rows of activations in a vector
  int vectors;    // of the widest panel
  int row_step;   // rows of weights multiplied at a time
  // Most rows and columns of weights to unpack at a time, which stay in the L2 cache while all panels are multiplied:
  // multiples of 32 rows, and of the blocks and groups of every format.
  ptrdiff_t task_rows;
  ptrdiff_t part_columns;
  // Write `rows` <= lanes rows of activations as one vector of a panel that is `panel_width` values wide: `width`
  // columns in the order in which RowKernels unpacks the weights. Missing rows and columns are zero.
  void (*pack)(const Matrix& matrix, const float* x, ptrdiff_t rows, ptrdiff_t width, float* panel,
               ptrdiff_t panel_width);
  // Multiply a panel of `count` vectors, and store the results of its first `rows` rows. The order of operations for a
  // result depends on the depth alone.
  void (*multiply)(const PanelProduct& product, const float* panel, int count, ptrdiff_t rows);
};

#if defined(__x86_64__)
extern const PanelKernels kPanelsAvx2;
extern const PanelKernels kPanelsAvx512;
#elif defined(__aarch64__)
extern const PanelKernels kPanelsNeon;
#endif

}  // namespace sotto
