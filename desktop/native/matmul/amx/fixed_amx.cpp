// The kernels of fixed.h for AMX: products of many rows of activations with interleaved weights whose runs have 64
// columns (blocks.h), with the bits of the kernels for VNNI.
//
// A tile instruction multiplies a digit of 16 rows of activations by the codes of 16 rows of weights, a run of each, in
// the time in which vectors would multiply two or three rows. The sums reach the vectors, which scale them, by way of
// memory.
#include <immintrin.h>

#include "matmul/blocks.h"
#include "matmul/amx/results.h"

namespace sotto {
namespace {

// Rows of activations and of weights whose sums are in tiles at the same time, two by two of these.
constexpr ptrdiff_t kRows = 2 * kTileHeight;
constexpr ptrdiff_t kColumns = 2 * kTileHeight;
// Rows of weights unpacked at a time.
constexpr ptrdiff_t kWidth = 128;

constexpr int kRun = 64;
// Bytes of a run's digits for 16 rows of activations, and of its codes for 32 rows of weights.
constexpr ptrdiff_t kOfDigits = kFixedDigits * kTileHeight * kRun;
constexpr ptrdiff_t kOfCodes = kRun * kColumns;

// Zero for matrices without panels, and with other runs.
ptrdiff_t run_of_tiles(const Matrix& matrix) { return is_block(matrix.format) && run_of(matrix) == kRun ? kRun : 0; }

ptrdiff_t tile_bytes(const Matrix&) { return kRun; }

template <bool Nibbles>
void prepare_runs(ptrdiff_t runs, const float* row, int8_t* digits, float* scales, float* sums) {
  constexpr int V = kRun / kLanes;
  for (ptrdiff_t run = 0; run < runs; ++run, digits += kOfDigits) {
    RunOfRow<V> read(row + run * kRun);
    scales[run * kTileHeight] = read.scale;
    sums[run * kTileHeight] = read.sum;
#pragma GCC unroll 2
    for (int place = kFixedDigits - 1; place > 0; --place) {
      __m512i digit[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        digit[v] = take_digit(read.integers[v]);
      }
      store_in_order<V, Nibbles>(digit, digits + place * kTileHeight * kRun);
    }
    store_in_order<V, Nibbles>(read.integers, digits);
  }
}

void prepare(const Matrix& matrix, const float* row, int8_t* digits, float* scales, float* sums) {
  const auto kernel = has_nibble_panels(matrix.format) ? prepare_runs<true> : prepare_runs<false>;
  kernel(matrix.columns / kRun, row, digits, scales, sums);
}

void unpack(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_run, ptrdiff_t runs,
            const FixedWeights& weights, bool fetch) {
  unpack_blocks_vnni(matrix, begin, end, first_run, runs, weights, {kWidth, kColumns, runs * kOfCodes}, fetch);
}

// The sums of a digit, and those of a run for two by two tiles.
using Digits = int32_t[kFixedDigits][kTileHeight][kTileHeight];
using Totals = Digits[2][2];

// Multiply `Halves` tiles of activations, `half` bytes apart, by the codes of 32 rows of weights.
template <int Halves>
inline void multiply_run(const int8_t* digits, ptrdiff_t half, const uint8_t* codes, Totals& to) {
  load_tile<6>(codes, 2 * kTileBytes);
  load_tile<7>(codes + kTileBytes, 2 * kTileBytes);
#pragma GCC unroll 3
  for (int digit = 0; digit < kFixedDigits; ++digit) {
    const int8_t* from = digits + digit * kTileHeight * kRun;
    load_tile<4>(from, kRun);
    clear_tile<0>();
    multiply_bytes<0, 4, 6>();
    clear_tile<1>();
    multiply_bytes<1, 4, 7>();
    if constexpr (Halves == 2) {
      load_tile<5>(from + half, kRun);
      clear_tile<2>();
      multiply_bytes<2, 5, 6>();
      clear_tile<3>();
      multiply_bytes<3, 5, 7>();
    }
    store_tile<0>(to[0][0][digit], kTileBytes);
    store_tile<1>(to[0][1][digit], kTileBytes);
    if constexpr (Halves == 2) {
      store_tile<2>(to[1][0][digit], kTileBytes);
      store_tile<3>(to[1][1][digit], kTileBytes);
    }
  }
}

// sum += a run's sums for one row of activations and 16 rows of weights, scaled, in the order of the kernels for VNNI.
template <bool Wide>
inline __m512 scaled_up(const Digits& totals, int row, float x_scale, float x_sum, __m512 scale, __m512 bias,
                        __m512 sum) {
  const __m512 own = _mm512_set1_ps(x_scale);
  const auto at = [&](int digit) { return _mm512_load_si512(totals[digit][row]); };
  __m512i upper = at(1);
  if constexpr (Wide) {
    const __m512 place = _mm512_mul_ps(own, _mm512_set1_ps(1 << (2 * kDigitBits)));
    sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(at(0)), _mm512_mul_ps(place, scale), sum);
  } else {
    upper = _mm512_add_epi32(_mm512_slli_epi32(at(0), kDigitBits), upper);
  }
  const __m512i whole = _mm512_add_epi32(_mm512_slli_epi32(upper, kDigitBits), at(2));
  sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), _mm512_mul_ps(own, scale), sum);
  return _mm512_fmadd_ps(_mm512_set1_ps(x_sum), bias, sum);
}

// The same for up to 16 rows of activations, whose sums are set if `first`.
template <bool Wide>
inline void scale_up_tile(const Digits& totals, const float* x_scales, const float* x_sums, const float* scales,
                          ptrdiff_t rows, bool first, TileSums& sums) {
  const __m512 scale = _mm512_loadu_ps(scales), bias = _mm512_loadu_ps(scales + kWidth);
  const auto add = [&](int row) {
    const __m512 before = first ? _mm512_setzero_ps() : _mm512_load_ps(sums[row]);
    _mm512_store_ps(sums[row], scaled_up<Wide>(totals, row, x_scales[row], x_sums[row], scale, bias, before));
  };
  if (rows >= kTileHeight) {
#pragma GCC unroll 16
    for (int row = 0; row < kTileHeight; ++row) {
      add(row);
    }
  } else {
#pragma GCC unroll 1
    for (int row = 0; row < rows; ++row) {
      add(row);
    }
  }
}

// Multiply up to 32 rows of activations by the unpacked rows of weights, of which `count` are there.
template <bool Wide, int Halves>
void multiply_rows(const FixedRows& x, ptrdiff_t rows, ptrdiff_t first_run, ptrdiff_t runs, const FixedWeights& weights,
                   float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add) {
  alignas(64) TileSums sums[kWidth / kColumns][2][2];
  alignas(64) Totals totals;
  for (ptrdiff_t run = 0; run < runs; ++run) {
    for (ptrdiff_t n = 0; n < count; n += kColumns) {
      const ptrdiff_t block = n / kColumns;
      multiply_run<Halves>(x.digits + run * kOfDigits, kTileHeight * x.stride,
                           weights.codes + (block * runs + run) * kOfCodes, totals);
#pragma GCC unroll 1
      for (int half = 0; half < Halves; ++half) {
        const ptrdiff_t at = half * kTileHeight * x.runs + (first_run + run) * kTileHeight;
#pragma GCC unroll 1
        for (int side = 0; side < 2; ++side) {
          scale_up_tile<Wide>(totals[half][side], x.scales + at, x.sums + at,
                              weights.scales + run * 2 * kWidth + n + side * kTileHeight, rows - half * kTileHeight,
                              run == 0, sums[block][half][side]);
        }
      }
    }
  }
  store_results(y, y_stride, rows, count, add, [&](ptrdiff_t half, ptrdiff_t side) -> const TileSums& {
    return sums[side / 2][half][side % 2];
  });
}

void multiply(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, ptrdiff_t first_run, ptrdiff_t runs,
              const FixedWeights& weights, float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add) {
  constexpr decltype(&multiply_rows<false, 1>) kKernels[2][2] = {
      {multiply_rows<false, 1>, multiply_rows<false, 2>}, {multiply_rows<true, 1>, multiply_rows<true, 2>}};
  for (ptrdiff_t m = 0; m < rows; m += kRows) {
    const ptrdiff_t height = smaller(kRows, rows - m), first = smaller(kTileHeight, height);
    const Tiles tiles(two_by_two(first, height - first, kRun));
    kKernels[is_wide(matrix.format)][height > first](rows_from(x, m), height, first_run, runs, weights,
                                                     y + m * y_stride, y_stride, count, add);
  }
}

}  // namespace

extern const FixedKernels kFixedAmx = {kWidth, run_of_tiles, prepare, unpack, multiply,  nullptr,
                                       nullptr, 1,           kRows,   tile_bytes};

}  // namespace sotto
