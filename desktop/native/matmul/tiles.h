// Products of many rows of activations with weights as bfloat16 numbers, by the tiles of AMX.
//
// A float32 number is the sum of three bfloat16 numbers: its upper, middle and lower bits. The products of such parts of
// activations and of weights are added up as float32, except for those below its precision. Most weights have so few
// bits that one or two parts are enough, so that three to six tile instructions replace 512 of vectors. This header uses
// nothing of the C++ standard library, for the same reason as rows.h.
#pragma once

#include "matmul/blocks.h"

namespace sotto {

constexpr ptrdiff_t kSplitParts = 3;
// Columns of a tile of activations, and rows of weights that are multiplied together.
constexpr ptrdiff_t kTileColumns = 32;
constexpr ptrdiff_t kTiledRows = 32;
// Columns whose products are added up in tiles, and most columns and rows of weights arranged at a time: they stay in
// the L2 cache. So many of these rows are multiplied at a time that their sums stay in the L1 cache.
constexpr ptrdiff_t kChunkColumns = 128;
constexpr ptrdiff_t kTiledColumns = 512;
constexpr ptrdiff_t kMostTiledRows = 256;
constexpr ptrdiff_t kSumRows = 128;

// Arranged weights: [rows / 32, columns / 32, 3 parts, 2, 16 pairs of columns, 16 rows, 2]; how many of the parts are
// not zero: [rows / 32, columns / 128]; and what they are to be multiplied by: [columns / 128, kMostTiledRows].
struct TiledWeights {
  uint16_t* values;
  uint8_t* parts;
  float* factors;
};

constexpr ptrdiff_t kTiledStep = kSplitParts * kTileColumns * kTiledRows;

// Codes whose runs have 32 columns need one part, and are scaled afterwards: [rows / 64, columns / 32, 4, 16 pairs of
// columns, 16 rows, 2], and the scales and biases of all rows: [columns / 32, 2, kMostTiledRows].
struct TiledCodes {
  uint16_t* values;
  float* scales;
};

constexpr ptrdiff_t kCodeRows = 64;
constexpr ptrdiff_t kCodeStep = kTileColumns * kCodeRows;

// Activations as parts, [rows / 16, columns / 32, 3 parts, 16, 32], and the sums of each 32 columns,
// [rows / 16, columns / 32, 16].
struct SplitRows {
  const uint16_t* values = nullptr;
  const float* sums = nullptr;
  ptrdiff_t rows = 0;
  ptrdiff_t columns = 0;
};

#if defined(__x86_64__)
// Split up to 16 rows of `columns` numbers. Missing ones are zero. The parts of infinity are itself and zeros.
void split_rows_amx(const float* x, ptrdiff_t rows, ptrdiff_t columns, uint16_t* to, float* sums);
// Arrange columns first .. first + count of rows begin .. end; `first` is a multiple of kBlockColumns (blocks.h) and
// `begin` of kPanelRows. Missing ones are zero. For unquantized weights, and those with blocks.
void arrange_amx(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t count,
                 const TiledWeights& to);
void arrange_blocks_amx(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t count,
                        const TiledWeights& to);
// The same for codes of blocks with runs of 32 columns.
void arrange_codes_amx(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t count,
                       const TiledCodes& to);
// y[m * y_stride + n] = (or += if `add`) x[m] . weights[n] for m < rows <= 32 and n < count, over `columns` columns.
// The parts of activations begin at `x`, those of the second 16 rows are `half` numbers further.
void multiply_tiles_amx(const uint16_t* x, ptrdiff_t half, ptrdiff_t rows, const TiledWeights& weights,
                        ptrdiff_t columns, float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add);
// The same for up to 16 rows, with the sums that belong to the parts.
void multiply_codes_amx(const uint16_t* x, const float* sums, ptrdiff_t rows, const TiledCodes& weights,
                        ptrdiff_t columns, float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add);
#endif

}  // namespace sotto
