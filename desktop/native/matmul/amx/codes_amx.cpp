// Products with codes whose runs have 32 columns, see tiles.h, for AMX.
#include <immintrin.h>

#include "matmul/amx/results.h"
#include "matmul/tiles.h"

namespace sotto {
namespace {

// Numbers in a tile.
constexpr ptrdiff_t kTile = kTileHeight * kTileColumns;
constexpr int kTilesOfCodes = kCodeRows / kTileHeight;
// Runs whose sums are scaled together.
constexpr int kTogether = 2;

using RunSums = TileSums[kTilesOfCodes];

// The products of a run of 16 rows of activations, whose parts are in tiles 4 to 6, with a tile of codes. The smallest
// come first.
template <int Total>
inline void multiply_codes(const uint16_t* codes) {
  load_tile<7>(codes + Total * kTile, kTileBytes);
  clear_tile<Total>();
  multiply_bfloats<Total, 6, 7>();
  multiply_bfloats<Total, 5, 7>();
  multiply_bfloats<Total, 4, 7>();
}

inline void multiply_run(const uint16_t* x, const uint16_t* codes, RunSums& to) {
  load_tile<4>(x, kTileBytes);
  load_tile<5>(x + kTile, kTileBytes);
  load_tile<6>(x + 2 * kTile, kTileBytes);
  multiply_codes<0>(codes);
  multiply_codes<1>(codes);
  multiply_codes<2>(codes);
  multiply_codes<3>(codes);
  store_tile<0>(to[0], kTileBytes);
  store_tile<1>(to[1], kTileBytes);
  store_tile<2>(to[2], kTileBytes);
  store_tile<3>(to[3], kTileBytes);
}

// sums (or, if `first`, zeros) += the sums of `runs` runs, times the scales of these for 16 rows of weights, and the
// sums of the activations times the biases.
inline void scale_up(const RunSums (&own)[kTogether], int side, const float* x_sums, const float* scales,
                     ptrdiff_t rows, ptrdiff_t runs, bool first, TileSums& sums) {
  const auto add = [&](ptrdiff_t row, ptrdiff_t count) {
    __m512 sum = first ? _mm512_setzero_ps() : _mm512_load_ps(sums[row]);
    for (ptrdiff_t run = 0; run < count; ++run) {
      const float* of_run = scales + run * 2 * kMostTiledRows;
      sum = _mm512_fmadd_ps(_mm512_load_ps(own[run][side][row]), _mm512_loadu_ps(of_run), sum);
      const __m512 all = _mm512_set1_ps(x_sums[run * kTileHeight + row]);
      sum = _mm512_fmadd_ps(all, _mm512_loadu_ps(of_run + kMostTiledRows), sum);
    }
    _mm512_store_ps(sums[row], sum);
  };
  if (rows == kTileHeight && runs == kTogether) {
#pragma GCC unroll 16
    for (ptrdiff_t row = 0; row < kTileHeight; ++row) {
      add(row, kTogether);
    }
  } else {
#pragma GCC unroll 1
    for (ptrdiff_t row = 0; row < rows; ++row) {
      add(row, runs);
    }
  }
}

}  // namespace

void multiply_codes_amx(const uint16_t* x, const float* sums, ptrdiff_t rows, const TiledCodes& weights,
                        ptrdiff_t columns, float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add) {
  const ptrdiff_t runs = columns / kTileColumns;
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    shapes.set(tile, tile < 7 ? rows : kTileHeight, kTileBytes);
  }
  const Tiles tiles(shapes);
  alignas(64) TileSums results[kMostTiledRows / kTileHeight];
  alignas(64) RunSums own[kTogether];
  for (ptrdiff_t begin = 0; begin < runs; begin += kTogether) {
    const ptrdiff_t some = smaller(kTogether, runs - begin);
    for (ptrdiff_t n = 0; n < count; n += kCodeRows) {
      const uint16_t* codes = weights.values + (n / kCodeRows * runs + begin) * kCodeStep;
      for (ptrdiff_t run = 0; run < some; ++run) {
        multiply_run(x + (begin + run) * kSplitParts * kTile, codes + run * kCodeStep, own[run]);
      }
      for (int side = 0; side < kTilesOfCodes; ++side) {
        const float* scales = weights.scales + begin * 2 * kMostTiledRows + n + side * kTileHeight;
        scale_up(own, side, sums + begin * kTileHeight, scales, rows, some, begin == 0,
                 results[n / kTileHeight + side]);
      }
    }
  }
  store_results(y, y_stride, rows, count, add,
                [&](ptrdiff_t, ptrdiff_t side) -> const TileSums& { return results[side]; });
}

}  // namespace sotto
