// Storing the sums of tiles. Everything is in an anonymous namespace: none of it may be linked into code for other
// processors.
#pragma once

#include <immintrin.h>

#include "matmul/amx/tile.h"
#include "matmul/scales_vnni.h"

namespace sotto {
namespace {

// Sums of 16 rows of activations and 16 rows of weights.
using TileSums = float[kTileHeight][kTileHeight];

// y[m * y_stride + n] = (or += if `add`) the sums of m < rows and n < count, where `tile(m / 16, n / 16)` returns a
// tile.
template <typename Tile>
inline void store_results(float* y, ptrdiff_t y_stride, ptrdiff_t rows, ptrdiff_t count, bool add, Tile tile) {
  for (ptrdiff_t row = 0; row < rows; ++row) {
    for (ptrdiff_t n = 0; n < count; n += kLanes) {
      const __mmask16 lanes = first_lanes(count - n);
      const TileSums& sums = tile(row / kTileHeight, n / kLanes);
      const __m512 found = _mm512_load_ps(sums[row % kTileHeight]);
      float* to = y + row * y_stride + n;
      _mm512_mask_storeu_ps(to, lanes, add ? _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, to), found) : found);
    }
  }
}

}  // namespace
}  // namespace sotto
