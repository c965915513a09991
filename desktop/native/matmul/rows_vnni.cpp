// The kernels of rows.h for AVX-512 with VNNI: packed weights are multiplied as integers, by activations in digits.
//
// A float32 kernel spends more time on unpacking and converting 4-bit weights than on waiting for memory. Here 128 of
// them take 6 instructions to multiply. Weights are processed in blocks of 16 words, one word per lane. Integers are
// centred, q - 2^(bits-1), with the bias adjusted to match, so that the sums lose less to cancellation. Formats that
// these kernels do not support are left to those of plain AVX-512.
#include "digits_vnni.h"
#include "lanes_avx512.h"
#include "rows.h"

namespace sotto {
namespace {

#include "rows_common.inc"

// What `prepare` writes for each block of columns, as bytes: for each digit, the most significant first, the digits that
// belong to each byte of a block of weights, for 4-bit weights those of the low halves before those of the high ones;
// then, for each lane, the integer that centres the sum of products. The factors of the integers of all runs, padded
// with zeros, follow the blocks.
template <Format format>
struct Block {
  static constexpr int kHalves = is_nibble(format) ? 2 : 1;
  static constexpr int kColumns = kHalves * 64;
  static constexpr int kDigitBytes = kHalves * 64;
  static constexpr int kCentres = kFixedDigits * kDigitBytes;
  static constexpr int kBytes = kCentres + 64;
  static constexpr int kMiddle = format == Format::affine4 ? 8 : format == Format::affine8 ? 128 : kFp4Zero;

  static ptrdiff_t blocks_in(ptrdiff_t columns) { return (columns + kColumns - 1) / kColumns; }
  static ptrdiff_t floats_in(ptrdiff_t blocks) { return blocks * kBytes / static_cast<ptrdiff_t>(sizeof(float)); }
};

template <Format format>
inline void load_digits(const uint8_t* block, __m512i (&digits)[kFixedDigits][Block<format>::kHalves]) {
#pragma GCC unroll 3
  for (int place = 0; place < kFixedDigits; ++place) {
#pragma GCC unroll 2
    for (int half = 0; half < Block<format>::kHalves; ++half) {
      digits[place][half] = _mm512_loadu_si512(block + place * Block<format>::kDigitBytes + half * 64);
    }
  }
}

// The sum, over a lane's columns, of the products of codes with activations in digits, plus `rest`. Each digit has a sum
// of its own, as instructions that wait for each other would take most of the time.
template <Format format>
inline __m512i whole_products(const __m512i (&codes)[Block<format>::kHalves],
                              const __m512i (&digits)[kFixedDigits][Block<format>::kHalves], __m512i rest) {
  __m512i sums[kFixedDigits] = {_mm512_setzero_si512(), _mm512_setzero_si512(), rest};
#pragma GCC unroll 3
  for (int place = 0; place < kFixedDigits; ++place) {
#pragma GCC unroll 2
    for (int half = 0; half < Block<format>::kHalves; ++half) {
      add_products(sums[place], codes[half], digits[place][half]);
    }
  }
  return _mm512_add_epi32(_mm512_add_epi32(_mm512_slli_epi32(sums[0], 2 * kDigitBits), sums[2]),
                          _mm512_slli_epi32(sums[1], kDigitBits));
}

// Store the digits of 16 columns, the v-th vector of a block.
template <Format format>
inline void store_digits(__m512i digit, int v, uint8_t* to) {
  const __m128i bytes = _mm512_cvtepi32_epi8(digit);
  if constexpr (is_nibble(format)) {
    const __m128i apart =
        _mm_shuffle_epi8(bytes, _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
    _mm_storeu_si64(to + 8 * v, apart);
    _mm_storeu_si64(to + 64 + 8 * v, _mm_unpackhi_epi64(apart, apart));
  } else {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * v), bytes);
  }
}

// Write one block of activations, in runs of V vectors; there are `columns` of them, and zeros follow.
template <Format format, int V>
void prepare_block(const float* row, ptrdiff_t columns, uint8_t* block, float* scales) {
  using B = Block<format>;
  constexpr int kVectors = B::kColumns / kLanes;
  for (int first = 0; first < kVectors; first += V) {
    __m512 x[V];
    __m512i rest[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      // The columns are a multiple of a run.
      x[v] = first * kLanes < columns ? _mm512_loadu_ps(row + (first + v) * kLanes) : _mm512_setzero_ps();
    }
    scales[first / V] = to_integers<V>(x, rest);
#pragma GCC unroll 3
    for (int place = kFixedDigits - 1; place >= 0; --place) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        const __m512i digit = place > 0 ? take_digit(rest[v]) : rest[v];
        store_digits<format>(digit, first + v, block + place * B::kDigitBytes);
      }
    }
  }
  __m512i codes[B::kHalves], digits[kFixedDigits][B::kHalves];
  for (__m512i& code : codes) {
    code = _mm512_set1_epi8(static_cast<char>(B::kMiddle));
  }
  load_digits<format>(block, digits);
  const __m512i zero = _mm512_setzero_si512();
  _mm512_storeu_si512(block + B::kCentres, _mm512_sub_epi32(zero, whole_products<format>(codes, digits, zero)));
}

template <Format format>
void prepare_format(const Matrix& matrix, const float* row, float* values) {
  using B = Block<format>;
  const ptrdiff_t run = run_of(matrix), blocks = B::blocks_in(matrix.columns), runs = B::kColumns / run;
  float* scales = values + B::floats_in(blocks);
  _mm512_storeu_ps(scales + blocks * runs / W * W, _mm512_setzero_ps());
  uint8_t* block = reinterpret_cast<uint8_t*>(values);
  for (ptrdiff_t index = 0; index < blocks; ++index, row += B::kColumns, block += B::kBytes, scales += runs) {
    const ptrdiff_t left = matrix.columns - index * B::kColumns;
    if (run == 32) {
      prepare_block<format, 2>(row, left, block, scales);
    } else {
      prepare_block<format, 4>(row, left, block, scales);
    }
  }
}

// The codes of a block of weights: those of the low halves of its bytes and those of the high ones, or its bytes.
template <Format format>
inline void codes_of(__m512i words, __m512i (&codes)[Block<format>::kHalves]) {
  if constexpr (is_nibble(format)) {
    const __m512i nibbles = _mm512_set1_epi32(0x0f0f0f0f);
    const __m512i low = _mm512_and_si512(words, nibbles);
    const __m512i high = _mm512_and_si512(_mm512_srli_epi32(words, 4), nibbles);
    codes[0] = format == Format::mxfp4 ? fp4_codes(low) : low;
    codes[1] = format == Format::mxfp4 ? fp4_codes(high) : high;
  } else {
    codes[0] = words;
  }
}

// Multiply rows n .. n + N of weights by rows m .. m + M of the activations.
template <Format format, int M, int N>
void multiply_tile(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t m, ptrdiff_t n) {
  using B = Block<format>;
  const ptrdiff_t run = run_of(matrix), groups = matrix.columns / matrix.group;
  const ptrdiff_t row_bytes = matrix.columns * 64 / B::kColumns;
  const int run_words = static_cast<int>(run) * kLanes / B::kColumns;
  const ptrdiff_t runs = matrix.columns / run, in_group = matrix.group / run;
  const uint8_t* weights = matrix.weights + n * row_bytes;
  const ptrdiff_t scale_bytes = is_affine(format) ? (matrix.scale_type == ScaleType::f32 ? 4 : 2) : 1;
  const ptrdiff_t scales_ahead = kAhead * B::kColumns / 64 / matrix.group * scale_bytes;
  const float* values = x.values + m * x.width;
  const float* own = values + B::floats_in(B::blocks_in(matrix.columns));
  const float* sums = x.sums + m * x.sums_width;
  Vector total[N][M];
#pragma GCC unroll 4
  for (int r = 0; r < N; ++r) {
#pragma GCC unroll 4
    for (int k = 0; k < M; ++k) {
      total[r][k] = Lanes::zero();
    }
  }
  // Process as many runs at a time as a vector holds scales.
  for (ptrdiff_t first = 0; first < runs; first += W) {
    const ptrdiff_t count = smaller(W, runs - first), first_group = first / in_group;
    const ptrdiff_t groups_here = (count + in_group - 1) / in_group;
    Vector factors[N][M];
#pragma GCC unroll 4
    for (int r = 0; r < N; ++r) {
      const ptrdiff_t at = (n + r) * groups + first_group;
      __builtin_prefetch(matrix.scales + at * scale_bytes + scales_ahead);
      Vector scales = load_scales<format>(matrix, at, groups_here);
      if constexpr (is_affine(format)) {
        __builtin_prefetch(matrix.biases + at * scale_bytes + scales_ahead);
        const Vector biases = load_biases<format>(matrix, scales, at, groups_here);
#pragma GCC unroll 4
        for (int k = 0; k < M; ++k) {
          total[r][k] = Lanes::fma(biases, Lanes::load(sums + k * x.sums_width + first_group), total[r][k]);
        }
        if (in_group > 1) {
          scales = Lanes::pick(scales, Lanes::spread(0, static_cast<int>(in_group)));
        }
      } else {
        scales = Lanes::mul(scales, Lanes::set(0.5f));
      }
#pragma GCC unroll 4
      for (int k = 0; k < M; ++k) {
        factors[r][k] = Lanes::mul(scales, Lanes::load(own + k * x.width + first));
      }
    }
    const ptrdiff_t first_word = first * run_words, words_here = count * run_words;
    const uint8_t* from = weights + first_word * 4;
    const uint8_t* block = reinterpret_cast<const uint8_t*>(values) + first_word / W * B::kBytes;
    for (ptrdiff_t word = 0; word < words_here; word += W, from += 64, block += B::kBytes) {
      const ptrdiff_t left = words_here - word;
      __m512i codes[N][B::kHalves];
#pragma GCC unroll 4
      for (int r = 0; r < N; ++r) {
        const uint8_t* row = from + r * row_bytes;
        __builtin_prefetch(row + kAhead);
        codes_of<format>(left >= W ? Lanes::words(row) : Lanes::words_part(row, left), codes[r]);
      }
      const auto spread = Lanes::spread(word, run_words);
#pragma GCC unroll 4
      for (int k = 0; k < M; ++k) {
        const uint8_t* mine = block + k * x.width * sizeof(float);
        __m512i digits[kFixedDigits][B::kHalves];
        load_digits<format>(mine, digits);
        const __m512i centre = _mm512_loadu_si512(mine + B::kCentres);
#pragma GCC unroll 4
        for (int r = 0; r < N; ++r) {
          const __m512i sum = whole_products<format>(codes[r], digits, centre);
          total[r][k] = Lanes::fma(_mm512_cvtepi32_ps(sum), Lanes::pick(factors[r][k], spread), total[r][k]);
        }
      }
    }
  }
  store_sums<M, N>(total, matrix.factor, y + m * y_stride + n, y_stride);
}

// Multiply rows begin .. end of the weights by rows m .. m + M of the activations, which stay in the L1 cache. A single
// row of activations has to wait for memory, which delivers a quarter more if the weights are read as one long stream.
template <Format format, int M, int N>
void multiply_band(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t m,
                   ptrdiff_t begin, ptrdiff_t end) {
  ptrdiff_t n = begin;
  for (; n + N <= end; n += N) {
    multiply_tile<format, M, N>(matrix, x, y, y_stride, m, n);
  }
  for (; n < end; ++n) {
    multiply_tile<format, M, 1>(matrix, x, y, y_stride, m, n);
  }
}

template <Format format>
void multiply_format(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t begin,
                     ptrdiff_t end) {
  // Two rows of activations by four of weights: the accumulators of more rows do not fit into the registers, and the
  // activations not into the L1 cache. Three rows are left together, as one by itself waits for memory.
  ptrdiff_t m = 0;
  for (; x.rows - m >= 4 || x.rows - m == 2; m += 2) {
    multiply_band<format, 2, 4>(matrix, x, y, y_stride, m, begin, end);
  }
  switch (x.rows - m) {
    case 3:
      return multiply_band<format, 3, 2>(matrix, x, y, y_stride, m, begin, end);
    case 1:
      // Activations that do not fit into the L1 cache are fetched again for each row of weights.
      return x.width > kCachedWidth ? multiply_band<format, 1, 4>(matrix, x, y, y_stride, m, begin, end)
                                    : multiply_band<format, 1, 1>(matrix, x, y, y_stride, m, begin, end);
    default:
      return;
  }
}

template <Format format>
ptrdiff_t width_of(const Matrix& matrix) {
  const ptrdiff_t blocks = Block<format>::blocks_in(matrix.columns);
  return Block<format>::floats_in(blocks) + round_up(blocks * Block<format>::kColumns / run_of(matrix), W) + W;
}

ptrdiff_t width(const Matrix& matrix) {
  if (run_of(matrix) == 0) {
    return kRowsAvx512.width(matrix);
  }
  return matrix.format == Format::affine8 ? width_of<Format::affine8>(matrix) : width_of<Format::affine4>(matrix);
}

void prepare(const Matrix& matrix, const float* row, float* values, float* sums) {
  if (run_of(matrix) == 0) {
    return kRowsAvx512.prepare(matrix, row, values, sums);
  }
  switch (matrix.format) {
    case Format::affine4:
      prepare_format<Format::affine4>(matrix, row, values);
      break;
    case Format::affine8:
      prepare_format<Format::affine8>(matrix, row, values);
      break;
    default:
      prepare_format<Format::mxfp4>(matrix, row, values);
      break;
  }
  if (sums != nullptr) {
    prepare_sums(matrix, row, sums);
  }
}

void multiply(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t begin, ptrdiff_t end) {
  if (run_of(matrix) == 0) {
    return kRowsAvx512.multiply(matrix, x, y, y_stride, begin, end);
  }
  switch (matrix.format) {
    case Format::affine4:
      return multiply_format<Format::affine4>(matrix, x, y, y_stride, begin, end);
    case Format::affine8:
      return multiply_format<Format::affine8>(matrix, x, y, y_stride, begin, end);
    default:
      return multiply_format<Format::mxfp4>(matrix, x, y, y_stride, begin, end);
  }
}

void unpack(const Matrix& matrix, float* target, ptrdiff_t begin, ptrdiff_t end) {
  kRowsAvx512.unpack(matrix, target, begin, end);
}

}  // namespace

extern const RowKernels kRowsVnni = {width, sums_width_of, prepare, multiply, unpack};

}  // namespace sotto
