// The kernels of blocks.h for AVX-512 with VNNI.
#include "matmul/block_lanes_vnni.h"

namespace sotto {
namespace {

#include "matmul/block_types.inc"

// Rows of activations multiplied at a time: each takes six accumulators.
constexpr int kMostRows = 4;
constexpr ptrdiff_t kLine = 64;
// How far ahead codes are fetched, into the L2 cache and from there into the L1 cache, which can wait for few lines at a
// time only. The panels of a task are contiguous, so the end of one is followed by the next.
constexpr ptrdiff_t kFarAhead = 16384;
constexpr ptrdiff_t kAhead = 4096;

inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

// total += weights * four digits, in each lane for its row. As in digits_vnni.h, not by the intrinsic.
inline void add_products(__m512i& total, __m512i weights, const int8_t* digits) {
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(total) : "v"(weights), "m"(*reinterpret_cast<const int32_t*>(digits)));
}

// The block that begins with run `first_run`, and its scales, if there are only `runs` more runs.
template <typename Type>
inline Block open_block(const BlockPanel& panel, ptrdiff_t first_run, ptrdiff_t runs, RunScales& own) {
  constexpr int kRuns = kBlockColumns / block_type(Type::format).run;
  const Block block = block_at<Type>(panel, first_run / kRuns);
  if constexpr (!may_end_early(Type::format)) {
    Type::scales(block, own);
  } else if (runs < kRuns) {
    for (int run = 0; run < runs; ++run) {
      Type::put(block, own, run);
    }
  } else {
#pragma GCC unroll 8
    for (int run = 0; run < kRuns; ++run) {
      Type::put(block, own, run);
    }
  }
  return block;
}

// Multiply M rows of activations by `Sides` runs of a block, those of a pair or only the first one, and add the scaled
// products to `sums`.
template <typename Type, int M, int Sides>
inline void multiply_pair(const Block& block, int pair, const RunScales& own, const int8_t* const (&of_row)[M],
                          const float* x_scales, const float* x_sums, ptrdiff_t x_runs, __m512 (&sums)[M]) {
  constexpr BlockType type = block_type(Type::format);
  constexpr int kQuads = type.run / 4, kLines = kBlockColumns * type.bits / 32 / Type::pairs;
  const uint8_t* lines = reinterpret_cast<const uint8_t*>(block.words) + pair * kLines * kLine;
  __m512i total[M][Sides][kFixedDigits];
#pragma GCC unroll 4
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 2
    for (int side = 0; side < Sides; ++side) {
#pragma GCC unroll 3
      for (int digit = 0; digit < kFixedDigits; ++digit) {
        total[m][side][digit] = _mm512_setzero_si512();
      }
    }
  }
#pragma GCC unroll 16
  for (int quad = 0; quad < kQuads; ++quad) {
#pragma GCC unroll 2
    for (int line = quad * kLines / kQuads; line < (quad + 1) * kLines / kQuads; ++line) {
      __builtin_prefetch(lines + kFarAhead + line * kLine, 0, 2);
      __builtin_prefetch(lines + kAhead + line * kLine);
    }
    __m512i codes[Sides];
    if constexpr (Sides == 1) {
      codes[0] = Type::run_codes(block, 2 * pair, quad);
    } else {
      Type::codes(block, pair, quad, codes[0], codes[1]);
    }
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) {
#pragma GCC unroll 2
      for (int side = 0; side < Sides; ++side) {
        const int8_t* from = of_row[m] + side * kFixedDigits * type.run + 4 * quad;
#pragma GCC unroll 3
        for (int digit = 0; digit < kFixedDigits; ++digit) {
          add_products(total[m][side][digit], codes[side], from + digit * type.run);
        }
      }
    }
  }
#pragma GCC unroll 2
  for (int side = 0; side < Sides; ++side) {
    const int run = run_at(Type::format, 2 * pair + side);
    const __m512 scale = _mm512_load_ps(own.scales[run]), bias = _mm512_load_ps(own.biases[run]);
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) {
      const __m512i(&parts)[kFixedDigits] = total[m][side];
      const ptrdiff_t at = m * x_runs + 2 * pair + side;
      __m512i upper = parts[1];
      if constexpr (is_wide(Type::format)) {
        const __m512 place = _mm512_mul_ps(_mm512_set1_ps(x_scales[at] * (1 << (2 * kDigitBits))), scale);
        sums[m] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(parts[0]), place, sums[m]);
      } else {
        upper = _mm512_add_epi32(_mm512_slli_epi32(parts[0], kDigitBits), upper);
      }
      const __m512i whole = _mm512_add_epi32(_mm512_slli_epi32(upper, kDigitBits), parts[2]);
      const __m512 both = _mm512_mul_ps(_mm512_set1_ps(x_scales[at]), scale);
      sums[m] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), both, sums[m]);
      sums[m] = _mm512_fmadd_ps(_mm512_set1_ps(x_sums[at]), bias, sums[m]);
    }
  }
}

// Multiply M rows of activations by a panel. As in fixed_vnni.cpp, the products of a run are added up as integers, then
// scaled and added to the sum of a part of the columns, and the sums of parts to each other; all in the same order.
template <typename Type, int M>
void multiply_panel(const BlockPanel& panel, const FixedRows& x, float* y, ptrdiff_t y_stride) {
  constexpr BlockType type = block_type(Type::format);
  constexpr int kRuns = kBlockColumns / type.run;
  constexpr ptrdiff_t kInPart = kFixedColumns / kBlockColumns;
  const ptrdiff_t blocks = (x.runs + kRuns - 1) / kRuns;
  const __mmask16 lanes = static_cast<__mmask16>((1u << panel.rows) - 1);
  __m512 sums[M];
  RunScales own;
  for (ptrdiff_t index = 0; index < blocks; ++index) {
    if (index % kInPart == 0) {
#pragma GCC unroll 4
      for (int m = 0; m < M; ++m) {
        sums[m] = _mm512_setzero_ps();
      }
    }
    const ptrdiff_t left = x.runs - index * kRuns;
    const Block block = open_block<Type>(panel, index * kRuns, left, own);
#pragma GCC unroll 5
    for (ptrdiff_t byte = 0; byte < type.halves * 2 * kPanelRows; byte += kLine) {
      __builtin_prefetch(reinterpret_cast<const uint8_t*>(block.halves) + kFarAhead / 8 + byte);
    }
    const int8_t* digits = x.digits + index / kInPart * x.part + index % kInPart * kBlockColumns * kFixedDigits;
    const float* x_scales = x.scales + index * kRuns;
    const float* x_sums = x.sums + index * kRuns;
    const int8_t* of_row[M];
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) {
      of_row[m] = digits + m * x.stride;
    }
    const int pairs = may_end_early(Type::format) && left < kRuns ? static_cast<int>(left / 2) : Type::pairs;
    for (int pair = 0; pair < pairs; ++pair) {
      // A pointer for each row: with an index in its address, a product would be issued as two instructions.
#pragma GCC unroll 4
      for (int m = 0; m < M; ++m) {
        asm("" : "+r"(of_row[m]));
      }
      multiply_pair<Type, M, 2>(block, pair, own, of_row, x_scales, x_sums, x.runs, sums);
#pragma GCC unroll 4
      for (int m = 0; m < M; ++m) {
        of_row[m] += 2 * kFixedDigits * type.run;
      }
    }
    if constexpr (type.run == unit_columns(Type::format)) {
      if (pairs < Type::pairs && left % 2 != 0) {
        multiply_pair<Type, M, 1>(block, pairs, own, of_row, x_scales, x_sums, x.runs, sums);
      }
    }
    if (index % kInPart == kInPart - 1 || index == blocks - 1) {
#pragma GCC unroll 4
      for (int m = 0; m < M; ++m) {
        float* to = y + m * y_stride;
        _mm512_mask_storeu_ps(
            to, lanes, index < kInPart ? sums[m] : _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, to), sums[m]));
      }
    }
  }
}

template <typename Type>
void multiply_rows(const BlockPanel& panel, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride) {
  constexpr decltype(&multiply_panel<Type, 1>) kKernels[kMostRows + 1] = {
      nullptr, multiply_panel<Type, 1>, multiply_panel<Type, 2>, multiply_panel<Type, 3>, multiply_panel<Type, 4>};
  for (ptrdiff_t m = 0; m < rows; m += kMostRows) {
    kKernels[smaller(kMostRows, rows - m)](panel, rows_from(x, m), y + m * y_stride, y_stride);
  }
}

// Unpack runs of a panel, and prefetch as many from block `next` on.
template <typename Type>
void unpack_panel(const BlockPanel& panel, ptrdiff_t first_run, ptrdiff_t runs, const Block& next,
                  uint8_t* codes, float* scales, const UnpackedLayout& layout) {
  constexpr BlockType type = block_type(Type::format);
  constexpr int kQuads = type.run / 4, kRuns = kBlockColumns / type.run;
  constexpr int kLines = kBlockColumns * type.bits / 32 / Type::pairs;
  const ptrdiff_t width = layout.width, row = 4 * layout.block, step = row * kQuads;
  const int32_t* ahead = next.words;
  const int16_t* halves_ahead = next.halves;
  RunScales own;
  for (ptrdiff_t begin = 0; begin < runs; begin += kRuns) {
    const int count = static_cast<int>(smaller(kRuns, runs - begin));
    const Block block = open_block<Type>(panel, first_run + begin, count, own);
#pragma GCC unroll 5
    for (ptrdiff_t half = 0; half < type.halves * kPanelRows; half += kLine / 2) {
      __builtin_prefetch(halves_ahead + half, 0, 2);
    }
    halves_ahead += type.halves * kPanelRows;
    for (int place = 0; place < count; ++place) {
      const int run = run_at(Type::format, place);
      float* to = scales + 2 * (begin + place) * width;
      _mm512_storeu_ps(to, _mm512_load_ps(own.scales[run]));
      _mm512_storeu_ps(to + width, _mm512_load_ps(own.biases[run]));
    }
    uint8_t* low = codes + step * begin;
    for (int pair = 0; pair < count / 2; ++pair) {
      uint8_t* high = low + step;
#pragma GCC unroll 16
      for (int quad = 0; quad < kQuads; ++quad) {
#pragma GCC unroll 2
        for (int line = quad * kLines / kQuads; line < (quad + 1) * kLines / kQuads; ++line) {
          __builtin_prefetch(ahead + line * kLine / 4, 0, 2);
        }
        __m512i both[2];
        Type::codes(block, pair, quad, both[0], both[1]);
        _mm512_storeu_si512(low + row * quad, both[0]);
        _mm512_storeu_si512(high + row * quad, both[1]);
      }
      ahead += kLines * kLine / 4;
      low = high + step;
    }
    if constexpr (type.run == unit_columns(Type::format)) {
      for (int quad = 0; count % 2 != 0 && quad < kQuads; ++quad) {
        _mm512_storeu_si512(low + row * quad, Type::run_codes(block, count - 1, quad));
      }
    }
  }
}

}  // namespace

void unpack_blocks_vnni(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_run, ptrdiff_t runs,
                        const FixedWeights& weights, const UnpackedLayout& layout, bool fetch) {
  const ptrdiff_t width = layout.width;
  const ptrdiff_t after = first_run + runs;
  const bool ends = after * block_type(matrix.format).run >= matrix.columns;
  for (ptrdiff_t row = begin; row < begin + width; row += kPanelRows) {
    const ptrdiff_t at = row - begin;
    uint8_t* codes = weights.codes + at / layout.block * layout.block_bytes + 4 * (at % layout.block);
    float* scales = weights.scales + at;
    // Beyond the last row, panels are empty and give zeros.
    const BlockPanel panel = row < end ? panel_at(matrix, row) : BlockPanel{matrix.weights, matrix.scales, 0};
    // The next columns of these rows, or the first ones of the next rows.
    const bool more = fetch && (!ends || row + width < matrix.rows);
    const BlockPanel next = more && ends ? panel_at(matrix, row + width) : panel;
    const ptrdiff_t next_run = !more ? first_run : ends ? 0 : after;
    with_type(matrix, [&](auto type) {
      using Type = decltype(type);
      const Block block = block_at<Type>(next, next_run * block_type(Type::format).run / kBlockColumns);
      unpack_panel<Type>(panel, first_run, runs, block, codes, scales, layout);
    });
  }
}

void multiply_blocks_vnni(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride,
                          ptrdiff_t begin, ptrdiff_t end) {
  for (ptrdiff_t row = begin; row < end; row += kPanelRows) {
    with_type(matrix, [&](auto type) {
      multiply_rows<decltype(type)>(panel_at(matrix, row), x, rows, y + row, y_stride);
    });
  }
}

}  // namespace sotto
