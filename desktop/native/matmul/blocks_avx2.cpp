// The kernels of blocks.h for AVX2.
//
// An instruction multiplies bytes and adds up the products of two neighbours in 16 bits, which have room for a few of
// these sums. Codes of 8 bits leave none for those of the most significant digits, so that these are multiplied as
// 16-bit numbers, see digits_avx2.h.
#include "matmul/block_lanes_avx2.h"
#include "matmul/digits_avx2.h"

namespace sotto {
namespace {

#include "matmul/block_types.inc"

// Rows of activations multiplied at a time: each takes six of the 16 registers.
constexpr int kMostRows = 2;
constexpr ptrdiff_t kLine = 64;
// How far ahead codes are fetched, into the L2 cache and from there into the L1 cache. The panels of a task are
// contiguous, so the end of one is followed by the next.
constexpr ptrdiff_t kFarAhead = 8192;
constexpr ptrdiff_t kAhead = 1024;
// Panels of 8-bit codes that are read in turns, a run of each, beside a single row of activations: it waits for memory.
// Other codes take too long to multiply for that.
constexpr int kTogether = 4;

inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

// The largest code of a type that is not wide.
constexpr int largest_code(Format format) {
  const int bits = block_type(format).bits;
  return has_float_panels(format) ? 2 * kFp4Zero : (1 << bits) - 1;
}

// How many sums of two products with the most significant digits 16 bits have room for; a power of two.
constexpr int sums_with_top_digits(Format format) {
  int sums = 1;
  while (2 * sums * 2 * 127 * largest_code(format) <= 32767) {
    sums *= 2;
  }
  return sums;
}

// A block as if its panel had all 16 rows; those that are missing are zero.
struct PaddedBlock {
  alignas(64) int32_t words[kBlockColumns / 4 * kPanelRows];
  alignas(64) int16_t halves[16 * kPanelRows];
};

template <typename T>
const T* padded_rows(const T* from, T* to, ptrdiff_t rows, ptrdiff_t count) {
  for (ptrdiff_t index = 0; index < count; ++index) {
    __builtin_memcpy(to + index * kPanelRows, from + index * rows, rows * sizeof(T));
    __builtin_memset(to + index * kPanelRows + rows, 0, (kPanelRows - rows) * sizeof(T));
  }
  return to;
}

// The block of a panel with this number, which has only so many runs, and their scales.
template <typename Type>
inline Block open_block(const BlockPanel& panel, ptrdiff_t index, ptrdiff_t runs, PaddedBlock& padded,
                        RunScales& own) {
  constexpr BlockType type = block_type(Type::format);
  constexpr int kRuns = kBlockColumns / type.run, kWords = kBlockColumns * type.bits / 32;
  const int32_t* words = reinterpret_cast<const int32_t*>(panel.codes) + index * kWords * panel.rows;
  const int16_t* halves = reinterpret_cast<const int16_t*>(panel.scales) + index * type.halves * panel.rows;
  Block block{words, halves};
  if (panel.rows < kPanelRows) {
    block = {padded_rows(words, padded.words, panel.rows, kWords * smaller(runs, kRuns) / kRuns),
             padded_rows(halves, padded.halves, panel.rows, type.halves * smaller(runs, kRuns) / kRuns)};
  }
  if constexpr (may_end_early(Type::format)) {
    for (int run = 0; run < smaller(runs, kRuns); ++run) {
      Type::put(block, own, run);
    }
  } else {
    Type::scales(block, own);
  }
  return block;
}

// Add to a total. WORKAROUND: GCC 12 adds in another order, for which it keeps so many products that it has to store
// them, which takes a third longer. Measure without this when Debian's default compiler changes.
inline void add_halves(__m256i& total, __m256i products) {
  total = _mm256_add_epi16(total, products);
  asm("" : "+x"(total));
}
inline void add_words(__m256i& total, __m256i products) {
  total = _mm256_add_epi32(total, products);
  asm("" : "+x"(total));
}

inline __m256i four_bytes(const int8_t* from) {
  return _mm256_set1_epi32(*reinterpret_cast<const int32_t*>(from));
}

// Prefetch this share of the codes of a pair, whose two runs are multiplied four columns at a time.
template <typename Type>
inline void fetch(const Block& block, int pair, int share) {
  constexpr BlockType type = block_type(Type::format);
  constexpr int kLines = kBlockColumns * type.bits / 32 / Type::pairs, kShares = 2 * type.run / 4;
  const uint8_t* lines = reinterpret_cast<const uint8_t*>(block.words) + pair * kLines * kLine;
#pragma GCC unroll 2
  for (int line = share * kLines / kShares; line < (share + 1) * kLines / kShares; ++line) {
    __builtin_prefetch(lines + kFarAhead + line * kLine, 0, 2);
    __builtin_prefetch(lines + kAhead + line * kLine);
  }
}

// The codes of four columns of the first or the second run of a pair; if `Fetch`, others are prefetched.
template <typename Type, int Side, bool Fetch>
inline Words codes_of(const Block& block, int pair, int quad) {
  if constexpr (Fetch) {
    fetch<Type>(block, pair, Side * block_type(Type::format).run / 4 + quad);
  }
  Words low, high;
  Type::codes(block, pair, quad, low, high);
  return Side == 0 ? low : high;
}

// The totals of a run of a wide type: the codes times the upper digits of M rows of activations, and times the lowest.
template <typename Type, int M, int Side, bool Fetch>
inline void add_up_apart(const Block& block, int pair, const int8_t* const (&of_row)[M], Words (&upper)[M],
                         Words (&lowest)[M]) {
  constexpr int kRun = block_type(Type::format).run, kQuads = kRun / 4;
  const __m256i even_bytes = _mm256_set1_epi16(0xff), ones = _mm256_set1_epi16(1);
#pragma GCC unroll 2
  for (int m = 0; m < M; ++m) {
    upper[m] = lowest[m] = Lanes::all(0);
  }
#pragma GCC unroll 16
  for (int quad = 0; quad < kQuads; ++quad) {
    const Words codes = codes_of<Type, Side, Fetch>(block, pair, quad);
#pragma GCC unroll 2
    for (int half = 0; half < kHalves; ++half) {
      const __m256i even = _mm256_and_si256(codes.of[half], even_bytes);
      const __m256i odd = _mm256_srli_epi16(codes.of[half], 8);
#pragma GCC unroll 2
      for (int m = 0; m < M; ++m) {
        const int8_t* from = of_row[m] + 8 * quad;
        add_words(upper[m].of[half], _mm256_madd_epi16(even, four_bytes(from)));
        add_words(upper[m].of[half], _mm256_madd_epi16(odd, four_bytes(from + 4)));
        const __m256i sums = _mm256_maddubs_epi16(codes.of[half], four_bytes(of_row[m] + 2 * kRun + 4 * quad));
        add_words(lowest[m].of[half], _mm256_madd_epi16(sums, ones));
      }
    }
  }
}

// Add the sums of one digit to the totals, and begin new ones. Called, it would need all of them in memory.
template <int Digit, int M>
[[gnu::always_inline]] inline void take_up(Words (&sums)[M][kFixedDigits], Words (&totals)[M]) {
  const __m256i place = _mm256_set1_epi16(1 << ((kFixedDigits - 1 - Digit) * kDigitBits));
#pragma GCC unroll 2
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 2
    for (int half = 0; half < kHalves; ++half) {
      add_words(totals[m].of[half], _mm256_madd_epi16(sums[m][Digit].of[half], place));
      sums[m][Digit].of[half] = _mm256_setzero_si256();
    }
  }
}

// The totals of a run of another type: the codes times the integers of M rows of activations.
template <typename Type, int M, int Side, bool Fetch>
inline void add_up(const Block& block, int pair, const int8_t* const (&of_row)[M], Words (&totals)[M]) {
  constexpr int kRun = block_type(Type::format).run, kQuads = kRun / 4;
  constexpr int kTop = sums_with_top_digits(Type::format);
  // The other digits, -64 .. 63, need no more room than a whole run has.
  static_assert(kQuads * 2 * 64 * largest_code(Type::format) <= 32767);
  Words sums[M][kFixedDigits];
#pragma GCC unroll 2
  for (int m = 0; m < M; ++m) {
    totals[m] = sums[m][0] = sums[m][1] = sums[m][2] = Lanes::all(0);
  }
#pragma GCC unroll 16
  for (int quad = 0; quad < kQuads; ++quad) {
    const Words codes = codes_of<Type, Side, Fetch>(block, pair, quad);
#pragma GCC unroll 2
    for (int m = 0; m < M; ++m) {
#pragma GCC unroll 3
      for (int digit = 0; digit < kFixedDigits; ++digit) {
        const __m256i digits = four_bytes(of_row[m] + digit * kRun + 4 * quad);
#pragma GCC unroll 2
        for (int half = 0; half < kHalves; ++half) {
          add_halves(sums[m][digit].of[half], _mm256_maddubs_epi16(codes.of[half], digits));
        }
      }
    }
    if ((quad + 1) % kTop == 0 || quad + 1 == kQuads) {
      take_up<0>(sums, totals);
    }
  }
  take_up<1>(sums, totals);
  take_up<2>(sums, totals);
}

// Multiply M rows of activations by a run of a block, and add the scaled products to `sums`.
template <typename Type, int M, int Side, bool Fetch>
inline void multiply_run(const Block& block, int pair, const RunScales& own, const int8_t* const (&of_row)[M],
                         const float* x_scales, const float* x_sums, ptrdiff_t x_runs, Floats (&sums)[M]) {
  Words totals[M], upper[M];
  if constexpr (is_wide(Type::format)) {
    add_up_apart<Type, M, Side, Fetch>(block, pair, of_row, upper, totals);
  } else {
    add_up<Type, M, Side, Fetch>(block, pair, of_row, totals);
  }
  const int run = run_at(Type::format, 2 * pair + Side);
  const Floats scale = Lanes::load(own.scales[run]), bias = Lanes::load(own.biases[run]);
#pragma GCC unroll 2
  for (int m = 0; m < M; ++m) {
    const ptrdiff_t at = m * x_runs + 2 * pair + Side;
    if constexpr (is_wide(Type::format)) {
      const Floats place = Lanes::mul(Lanes::set(x_scales[at] * (1 << kDigitBits)), scale);
      sums[m] = Lanes::fma(Lanes::to_floats(upper[m]), place, sums[m]);
    }
    const Floats factor = Lanes::mul(Lanes::set(x_scales[at]), scale);
    sums[m] = Lanes::fma(Lanes::to_floats(totals[m]), factor, sums[m]);
    sums[m] = Lanes::fma(Lanes::set(x_sums[at]), bias, sums[m]);
  }
}

// Multiply M rows of activations by `Panels` neighbouring panels, in the order of blocks_vnni.cpp.
template <typename Type, int M, int Panels>
void multiply_panels(const BlockPanel* panels, const FixedRows& x, float* y, ptrdiff_t y_stride) {
  constexpr BlockType type = block_type(Type::format);
  constexpr int kRuns = kBlockColumns / type.run;
  constexpr ptrdiff_t kInPart = kFixedColumns / kBlockColumns;
  // Of several streams, the processor itself fetches more than prefetches do.
  constexpr bool kFetch = Panels == 1;
  const ptrdiff_t blocks = (x.runs + kRuns - 1) / kRuns;
  Floats sums[Panels][M], results[Panels][M] = {};
  Block of_panel[Panels];
  PaddedBlock padded;
  RunScales own[Panels];
  for (ptrdiff_t index = 0; index < blocks; ++index) {
    const ptrdiff_t left = x.runs - index * kRuns;
    for (int panel = 0; panel < Panels; ++panel) {
      // Only the last one of a matrix can have fewer rows.
      of_panel[panel] = open_block<Type>(panels[panel], index, left, padded, own[panel]);
#pragma GCC unroll 8
      for (ptrdiff_t byte = 0; byte < type.halves * 2 * kPanelRows; byte += kLine) {
        __builtin_prefetch(reinterpret_cast<const uint8_t*>(of_panel[panel].halves) + kFarAhead / 8 + byte);
      }
#pragma GCC unroll 2
      for (int m = 0; m < M; ++m) {
        sums[panel][m] = index % kInPart == 0 ? Lanes::zero() : sums[panel][m];
      }
    }
    const int8_t* digits = x.digits + index / kInPart * x.part + index % kInPart * kBlockColumns * kFixedDigits;
    const float* x_scales = x.scales + index * kRuns;
    const float* x_sums = x.sums + index * kRuns;
    const int8_t *of_row[M], *of_next_run[M];
#pragma GCC unroll 2
    for (int m = 0; m < M; ++m) {
      of_row[m] = digits + m * x.stride;
    }
    const int pairs = may_end_early(Type::format) && left < kRuns ? static_cast<int>(left / 2) : Type::pairs;
    for (int pair = 0; pair < pairs; ++pair) {
#pragma GCC unroll 2
      for (int m = 0; m < M; ++m) {
        of_next_run[m] = of_row[m] + kFixedDigits * type.run;
      }
      for (int panel = 0; panel < Panels; ++panel) {
        multiply_run<Type, M, 0, kFetch>(of_panel[panel], pair, own[panel], of_row, x_scales, x_sums, x.runs, sums[panel]);
      }
      for (int panel = 0; panel < Panels; ++panel) {
        multiply_run<Type, M, 1, kFetch>(of_panel[panel], pair, own[panel], of_next_run, x_scales, x_sums, x.runs, sums[panel]);
      }
#pragma GCC unroll 2
      for (int m = 0; m < M; ++m) {
        of_row[m] += 2 * kFixedDigits * type.run;
      }
    }
    if constexpr (type.run == unit_columns(Type::format)) {
      for (int panel = 0; panel < Panels && pairs < Type::pairs && left % 2 != 0; ++panel) {
        multiply_run<Type, M, 0, kFetch>(of_panel[panel], pairs, own[panel], of_row, x_scales, x_sums, x.runs, sums[panel]);
      }
    }
    if (index % kInPart == kInPart - 1 || index == blocks - 1) {
      for (int panel = 0; panel < Panels; ++panel) {
#pragma GCC unroll 2
        for (int m = 0; m < M; ++m) {
          results[panel][m] = index < kInPart ? sums[panel][m] : Lanes::add(results[panel][m], sums[panel][m]);
        }
      }
    }
  }
  for (int panel = 0; panel < Panels; ++panel) {
#pragma GCC unroll 2
    for (int m = 0; m < M; ++m) {
      float all[kPanelRows];
      Lanes::store(all, results[panel][m]);
      __builtin_memcpy(y + m * y_stride + panel * kPanelRows, all, panels[panel].rows * sizeof(float));
    }
  }
}

template <typename Type>
void multiply_rows(const BlockPanel& panel, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride) {
  ptrdiff_t m = 0;
  for (; m + kMostRows <= rows; m += kMostRows) {
    multiply_panels<Type, kMostRows, 1>(&panel, rows_from(x, m), y + m * y_stride, y_stride);
  }
  if (m < rows) {
    multiply_panels<Type, 1, 1>(&panel, rows_from(x, m), y + m * y_stride, y_stride);
  }
}

void multiply_packed(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride,
                     ptrdiff_t begin, ptrdiff_t end) {
  with_type(matrix, [&](auto type) {
    using Type = decltype(type);
    ptrdiff_t row = begin;
    if constexpr (block_type(Type::format).bits == 8) {
      for (; rows == 1 && row + kTogether * kPanelRows <= end; row += kTogether * kPanelRows) {
        BlockPanel panels[kTogether];
        for (int panel = 0; panel < kTogether; ++panel) {
          panels[panel] = panel_at(matrix, row + panel * kPanelRows);
        }
        multiply_panels<Type, 1, kTogether>(panels, x, y + row, y_stride);
      }
    }
    for (; row < end; row += kPanelRows) {
      multiply_rows<Type>(panel_at(matrix, row), x, rows, y + row, y_stride);
    }
  });
}

// Write 16 columns of 16 rows as numbers, from codes of four columns each. Of `Nibbles`, these are the even and the odd
// ones of eight in turns.
template <bool Nibbles>
inline void write_columns(const Words (&codes)[4], const float* scales, const float* biases, float* to,
                          ptrdiff_t stride) {
#pragma GCC unroll 2
  for (int half = 0; half < kHalves; ++half) {
    const __m256i low = _mm256_unpacklo_epi32(codes[0].of[half], codes[1].of[half]);
    const __m256i low2 = _mm256_unpacklo_epi32(codes[2].of[half], codes[3].of[half]);
    const __m256i high = _mm256_unpackhi_epi32(codes[0].of[half], codes[1].of[half]);
    const __m256i high2 = _mm256_unpackhi_epi32(codes[2].of[half], codes[3].of[half]);
    // Of each vector, the lower part belongs to a row, and the upper one to the fourth row after it.
    __m256i rows[4] = {_mm256_unpacklo_epi64(low, low2), _mm256_unpackhi_epi64(low, low2),
                       _mm256_unpacklo_epi64(high, high2), _mm256_unpackhi_epi64(high, high2)};
    if constexpr (Nibbles) {
      const __m128i in_order = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
#pragma GCC unroll 4
      for (int row = 0; row < 4; ++row) {
        rows[row] = _mm256_shuffle_epi8(rows[row], _mm256_broadcastsi128_si256(in_order));
      }
    }
#pragma GCC unroll 8
    for (int row = 0; row < kHalfLanes; ++row) {
      const __m128i bytes =
          row < 4 ? _mm256_castsi256_si128(rows[row % 4]) : _mm256_extracti128_si256(rows[row % 4], 1);
      const int at = half * kHalfLanes + row;
      const __m256 scale = _mm256_set1_ps(scales[at]), bias = _mm256_set1_ps(biases[at]);
      const __m256i parts[2] = {_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
#pragma GCC unroll 2
      for (int part = 0; part < 2; ++part) {
        _mm256_storeu_ps(to + at * stride + part * kHalfLanes,
                         _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(parts[part]), bias));
      }
    }
  }
}

template <typename Type, int Side>
inline void unpack_run(const Block& block, int pair, const RunScales& own, float* to, ptrdiff_t stride) {
  constexpr int kRun = block_type(Type::format).run;
  const int run = run_at(Type::format, 2 * pair + Side);
  for (int column = 0; column < kRun; column += 16) {
    Words codes[4];
#pragma GCC unroll 4
    for (int quad = 0; quad < 4; ++quad) {
      codes[quad] = codes_of<Type, Side, false>(block, pair, column / 4 + quad);
    }
    write_columns<has_nibble_panels(Type::format)>(codes, own.scales[run], own.biases[run], to + run * kRun + column,
                                                   stride);
  }
}

template <typename Type>
void unpack_panel(const BlockPanel& panel, ptrdiff_t column, ptrdiff_t columns, float* to, ptrdiff_t stride) {
  constexpr int kRun = block_type(Type::format).run;
  PaddedBlock padded;
  RunScales own;
  for (ptrdiff_t done = 0; done < columns; done += kBlockColumns, to += kBlockColumns) {
    const int runs = static_cast<int>(smaller(kBlockColumns, columns - done) / kRun);
    const Block block = open_block<Type>(panel, (column + done) / kBlockColumns, runs, padded, own);
    for (int pair = 0; pair < runs / 2; ++pair) {
      unpack_run<Type, 0>(block, pair, own, to, stride);
      unpack_run<Type, 1>(block, pair, own, to, stride);
    }
    if (runs % 2 != 0) {
      unpack_run<Type, 0>(block, runs / 2, own, to, stride);
    }
  }
}

void unpack_floats(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_column, ptrdiff_t columns,
                   float* to, ptrdiff_t stride) {
  for (ptrdiff_t row = begin; row < end; row += kPanelRows) {
    with_type(matrix, [&](auto type) {
      unpack_panel<decltype(type)>(panel_at(matrix, row), first_column, columns, to + (row - begin) * stride, stride);
    });
  }
}

}  // namespace

extern const FixedKernels kFixedAvx2 = {0, run_of, prepare, nullptr, nullptr, multiply_packed, unpack_floats, kTogether};

}  // namespace sotto
