// Products of many rows of activations with unpacked weights, as float32 matrices that fit into the caches.
//
// Activations are laid out in panels: some vectors' worth of rows side by side, one column after the other. A weight is
// spread over a vector and multiplied with the activations of all rows of a panel in its column, so that weights are
// read as they lie and need no layout of their own. This header is all that the files of the levels share with the
// others, so it has nothing of the standard library, as rows.h.
#pragma once

#include "matmul/rows.h"

namespace sotto {

// Unpacked rows of weights, and where the results of their products go.
struct PanelProduct {
  const float* weights;    // [round_up(rows, row_step), depth]
  ptrdiff_t weight_stride;
  ptrdiff_t rows;          // of weights
  ptrdiff_t depth;         // columns of the weights and of the panel
  float* sums;             // scratch: [round_up(rows, lanes), vectors * lanes]
  float* y;                // y[m * y_stride + n]
  ptrdiff_t y_stride;
  bool add;                // to what y holds
};

struct PanelKernels {
  int lanes;      // rows of activations in a vector
  int vectors;    // of the widest panel
  int row_step;   // rows of weights that are multiplied at a time
  // Lay `rows` <= lanes rows of activations out as one vector of a panel that is `panel_width` values wide: `width`
  // columns in the order in which RowKernels unpacks the weights. What has no row or column is zero.
  void (*pack)(const Matrix& matrix, const float* x, ptrdiff_t rows, ptrdiff_t width, float* panel,
               ptrdiff_t panel_width);
  // Multiply a panel of `count` vectors, of which the first `rows` rows are wanted. The order of the operations for one
  // result depends on the depth alone.
  void (*multiply)(const PanelProduct& product, const float* panel, int count, ptrdiff_t rows);
};

#if defined(__x86_64__)
extern const PanelKernels kPanelsAvx2;
extern const PanelKernels kPanelsAvx512;
#endif

}  // namespace sotto
