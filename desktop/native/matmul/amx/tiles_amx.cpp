// The kernels of tiles.h, for AMX.
#include <immintrin.h>

#include "matmul/amx/results.h"
#include "matmul/amx/split.h"
#include "matmul/transpose_avx512.h"

namespace sotto {
namespace {

// Numbers in a tile, and words in one of sums.
constexpr ptrdiff_t kTile = kTileHeight * kTileColumns;
constexpr ptrdiff_t kStepsOfChunk = kChunkColumns / kTileColumns;

inline __mmask32 first_halves(ptrdiff_t count) {
  return count >= 2 * kLanes ? 0xffffffff : count <= 0 ? 0 : (1u << count) - 1;
}

// A part of 16 numbers.
inline __m256i upper_halves(__m512 part) {
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(part), 16));
}

// 32 numbers of a row, from the given column on; those beyond the last column, and of missing rows, are zero.
struct Numbers {
  __m512 left, right;
};

template <typename Load>
inline void arrange_panel(ptrdiff_t count, uint16_t* panel, uint8_t* found, Load load) {
  for (ptrdiff_t column = 0; column < count; column += kTileColumns) {
    __m512i block[kSplitParts][kLanes];
#pragma GCC unroll 1
    for (int row = 0; row < kLanes; ++row) {
      const Numbers numbers = load(row, column);
      __m512 left[kSplitParts], right[kSplitParts];
      split_weights(numbers.left, left);
      split_weights(numbers.right, right);
#pragma GCC unroll 3
      for (int part = 0; part < kSplitParts; ++part) {
        const __m512i first = _mm512_castsi256_si512(upper_halves(left[part]));
        block[part][row] = _mm512_inserti64x4(first, upper_halves(right[part]), 1);
      }
    }
    Seen seen;
#pragma GCC unroll 1
    for (int part = 0; part < kSplitParts; ++part) {
      transpose_words(block[part]);
      for (int pair = 0; pair < kLanes; ++pair) {
        seen.add(part, block[part][pair]);
        _mm512_storeu_si512(pair_at(panel, column / 2 + pair, part), block[part][pair]);
      }
    }
    uint8_t& parts = found[column / kChunkColumns];
    parts = parts > seen.count() ? parts : seen.count();
  }
}

// Unquantized weights of bfloat16 are their only part.
inline void arrange_bfloats(const Matrix& matrix, ptrdiff_t row, ptrdiff_t rows, ptrdiff_t first, ptrdiff_t count,
                            uint16_t* panel) {
  const uint16_t* from = reinterpret_cast<const uint16_t*>(matrix.weights) + row * matrix.columns + first;
  for (ptrdiff_t column = 0; column < count; column += kTileColumns) {
    __m512i block[kLanes];
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r) {
      const __mmask32 there = r < rows ? first_halves(count - column) : 0;
      block[r] = _mm512_maskz_loadu_epi16(there, from + r * matrix.columns + column);
    }
    transpose_words(block);
#pragma GCC unroll 16
    for (int pair = 0; pair < kLanes; ++pair) {
      _mm512_storeu_si512(pair_at(panel, column / 2 + pair, 0), block[pair]);
    }
  }
}

// The sums of two tiles of activations and two of weights.
using Sums = TileSums[2][2];

// Total += the products of up to two tiles of activations with two of weights, whose part is in tiles 6 and 7.
template <int Halves>
inline void multiply_part(const uint16_t* x, ptrdiff_t half, bool load) {
  if (load) {
    load_tile<4>(x, kTileBytes);
  }
  multiply_bfloats<0, 4, 6>();
  multiply_bfloats<1, 4, 7>();
  if constexpr (Halves == 2) {
    if (load) {
      load_tile<5>(x + half, kTileBytes);
    }
    multiply_bfloats<2, 5, 6>();
    multiply_bfloats<3, 5, 7>();
  }
}

// The sums of a chunk for two by two tiles. The smallest products come first, and tiles that are there are used again.
template <int Parts, int Halves>
inline void multiply_chunk(const uint16_t* x, ptrdiff_t half, const uint16_t* weights, ptrdiff_t steps, Sums& to) {
  clear_tile<0>();
  clear_tile<1>();
  if constexpr (Halves == 2) {
    clear_tile<2>();
    clear_tile<3>();
  }
#pragma GCC unroll 1
  for (ptrdiff_t step = 0; step < steps; ++step, x += kSplitParts * kTile, weights += kTiledStep) {
#pragma GCC unroll 3
    for (int part = Parts - 1; part >= 0; --part) {
      load_tile<6>(weights + part * 2 * kTile, kTileBytes);
      load_tile<7>(weights + part * 2 * kTile + kTile, kTileBytes);
      // The last part of activations that the part before was multiplied with is there.
      const int there = part == Parts - 1 ? -1 : 1 - part;
      if (there >= 0) {
        multiply_part<Halves>(x + there * kTile, half, false);
      }
#pragma GCC unroll 3
      for (int own = 0; own < kSplitParts - part; ++own) {
        if (own != there) {
          multiply_part<Halves>(x + own * kTile, half, true);
        }
      }
    }
  }
  store_tile<0>(to[0][0], kTileBytes);
  store_tile<1>(to[0][1], kTileBytes);
  if constexpr (Halves == 2) {
    store_tile<2>(to[1][0], kTileBytes);
    store_tile<3>(to[1][1], kTileBytes);
  }
}

template <int Halves>
inline void multiply_any(int parts, const uint16_t* x, ptrdiff_t half, const uint16_t* weights, ptrdiff_t steps,
                         Sums& to) {
  (parts == 1   ? multiply_chunk<1, Halves>
   : parts == 2 ? multiply_chunk<2, Halves>
                : multiply_chunk<3, Halves>)(x, half, weights, steps, to);
}

inline void add_up(Sums& sums, const Sums& own, const float* factors, ptrdiff_t rows, bool first) {
  const __m512 factor[2] = {_mm512_loadu_ps(factors), _mm512_loadu_ps(factors + kLanes)};
  for (ptrdiff_t row = 0; row < rows; ++row) {
#pragma GCC unroll 2
    for (int side = 0; side < 2; ++side) {
      float* to = sums[row / kTileHeight][side][row % kTileHeight];
      const __m512 found = _mm512_load_ps(own[row / kTileHeight][side][row % kTileHeight]);
      const __m512 before = first ? _mm512_setzero_ps() : _mm512_load_ps(to);
      _mm512_store_ps(to, _mm512_fmadd_ps(found, factor[side], before));
    }
  }
}

}  // namespace

void split_rows_amx(const float* x, ptrdiff_t rows, ptrdiff_t columns, uint16_t* to, float* sums) {
  const __m512i infinity = _mm512_set1_epi32(0x7f800000), quiet = _mm512_set1_epi32(0x00400000);
  for (ptrdiff_t column = 0; column < columns; column += kTileColumns, to += kSplitParts * kTile, sums += kTileHeight) {
    for (ptrdiff_t row = 0; row < kTileHeight; ++row) {
      __m512 sum = _mm512_setzero_ps();
#pragma GCC unroll 2
      for (ptrdiff_t at = 0; at < kTileColumns; at += kLanes) {
        const __mmask16 there = row < rows ? first_lanes(columns - column - at) : 0;
        const __m512 value = _mm512_maskz_loadu_ps(there, x + row * columns + column + at);
        sum = _mm512_add_ps(sum, value);
        const __m512i bits = _mm512_castps_si512(value);
        const __mmask16 finite = _mm512_cmplt_epi32_mask(_mm512_and_si512(bits, infinity), infinity);
        const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
        const __m512 first = upper_half(_mm512_mask_or_epi32(bits, nan, bits, quiet));
        const __m512 rest = _mm512_maskz_sub_ps(finite, value, first);
        const __m512 second = upper_half(_mm512_castps_si512(rest));
        const __m512 parts[kSplitParts] = {first, second, _mm512_sub_ps(rest, second)};
#pragma GCC unroll 3
        for (int part = 0; part < kSplitParts; ++part) {
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + part * kTile + row * kTileColumns + at),
                              upper_halves(parts[part]));
        }
      }
      sums[row] = _mm512_reduce_add_ps(sum);
    }
  }
}

void arrange_amx(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t count,
                 const TiledWeights& to) {
  const ptrdiff_t steps = (count + kTileColumns - 1) / kTileColumns;
  const ptrdiff_t chunks = (count + kChunkColumns - 1) / kChunkColumns;
  for (ptrdiff_t row = begin; row < end; row += kTiledRows) {
    const ptrdiff_t pair = (row - begin) / kTiledRows;
    uint8_t* found = to.parts + pair * chunks;
    for (ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
      found[chunk] = 1;
      for (ptrdiff_t at = row - begin; at < row - begin + kTiledRows; at += kLanes) {
        _mm512_storeu_ps(to.factors + chunk * kMostTiledRows + at, _mm512_set1_ps(1.0f));
      }
    }
    for (int side = 0; side < 2; ++side) {
      const ptrdiff_t top = row + side * kTileHeight, rows = smaller(kTileHeight, end - top);
      uint16_t* panel = to.values + pair * steps * kTiledStep + side * kTile;
      const auto there = [&](int r, ptrdiff_t column) { return r < rows ? first_lanes(count - column) : __mmask16{0}; };
      const ptrdiff_t from = top * matrix.columns + first;
      if (matrix.format == Format::bf16) {
        arrange_bfloats(matrix, top, rows, first, count, panel);
      } else if (matrix.format == Format::f16) {
        const uint16_t* halves = reinterpret_cast<const uint16_t*>(matrix.weights) + from;
        arrange_panel(count, panel, found, [&](int r, ptrdiff_t column) {
          const uint16_t* at = halves + r * matrix.columns + column;
          return Numbers{_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(there(r, column), at)),
                         _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(there(r, column + kLanes), at + kLanes))};
        });
      } else {
        const float* floats = reinterpret_cast<const float*>(matrix.weights) + from;
        arrange_panel(count, panel, found, [&](int r, ptrdiff_t column) {
          const float* at = floats + r * matrix.columns + column;
          return Numbers{_mm512_maskz_loadu_ps(there(r, column), at),
                         _mm512_maskz_loadu_ps(there(r, column + kLanes), at + kLanes)};
        });
      }
    }
  }
}

void multiply_tiles_amx(const uint16_t* x, ptrdiff_t half, ptrdiff_t rows, const TiledWeights& weights,
                        ptrdiff_t columns, float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add) {
  const ptrdiff_t steps = (columns + kTileColumns - 1) / kTileColumns;
  const ptrdiff_t chunks = (columns + kChunkColumns - 1) / kChunkColumns;
  const ptrdiff_t first = smaller(kTileHeight, rows);
  const Tiles tiles(two_by_two(first, rows - first, kTileBytes));
  const auto kernel = rows > kTileHeight ? multiply_any<2> : multiply_any<1>;
  alignas(64) Sums sums[kSumRows / kTiledRows];
  alignas(64) Sums own;
  for (ptrdiff_t begin = 0; begin < count; begin += kSumRows) {
    const ptrdiff_t some = smaller(kSumRows, count - begin);
    for (ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
      const ptrdiff_t step = chunk * kStepsOfChunk;
      for (ptrdiff_t n = 0; n < some; n += kTiledRows) {
        const ptrdiff_t pair = (begin + n) / kTiledRows;
        kernel(weights.parts[pair * chunks + chunk], x + step * kSplitParts * kTile, half,
               weights.values + (pair * steps + step) * kTiledStep, smaller(kStepsOfChunk, steps - step), own);
        add_up(sums[n / kTiledRows], own, weights.factors + chunk * kMostTiledRows + begin + n, rows, chunk == 0);
      }
    }
    store_results(y + begin, y_stride, rows, some, add, [&](ptrdiff_t half, ptrdiff_t side) -> const TileSums& {
      return sums[side / 2][half][side % 2];
    });
  }
}

}  // namespace sotto
