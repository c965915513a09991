// The kernels of fixed.h for AVX-512 with VNNI.
#include <immintrin.h>

#include "blocks.h"
#include "digits_vnni.h"
#include "fixed.h"
#include "scales_vnni.h"

namespace sotto {
namespace {

// The accumulators take 24 of the 32 registers: four vectors of weights by six rows of activations.
constexpr int kVectors = 4;
constexpr int kRows = 6;
constexpr ptrdiff_t kWidth = kVectors * kLanes;

// Store the digits of V vectors of rows whose bytes hold the codes of two columns: of the even ones, and 64 bytes on of
// the odd ones.
template <int V>
inline void store_apart(const __m512i (&digits)[V], int8_t* to) {
  const __m128i apart = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
#pragma GCC unroll 2
  for (int v = 0; v < V; v += 2) {
    const __m128i left = _mm_shuffle_epi8(_mm512_cvtepi32_epi8(digits[v]), apart);
    const __m128i right = _mm_shuffle_epi8(_mm512_cvtepi32_epi8(digits[v + 1]), apart);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 8 * v), _mm_unpacklo_epi64(left, right));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 64 + 8 * v), _mm_unpackhi_epi64(left, right));
  }
}

// Prepare runs, in blocks of digits. The format stands for all that have the same order of digits; those with blocks
// may have runs in another order.
template <Format format, int Run>
void prepare_runs(Format own, ptrdiff_t runs, const float* row, int8_t* digits, float* scales, float* sums) {
  constexpr bool kNibbles = has_nibbles(format);
  constexpr int V = Run / kLanes, kBlock = digit_columns(format, Run), kInBlock = kBlock / Run;
  const auto store = [](const __m512i(&digit)[V], int8_t* to) {
    if constexpr (kNibbles) {
      store_apart<V>(digit, to);
    } else {
      store_in_order<V, has_nibble_panels(format)>(digit, to);
    }
  };
  for (ptrdiff_t index = 0; index < round_up(runs, kInBlock); ++index) {
    __m512i rest[V] = {};
    if (index < runs) {
      constexpr int kRuns = kBlockColumns / Run;
      const RunOfRow<V> read(row + (index - index % kRuns + run_at(own, index % kRuns)) * Run);
      scales[index] = read.scale;
      sums[index] = read.sum;
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        rest[v] = read.integers[v];
      }
    }
    int8_t* to = digits + index / kInBlock * (kFixedDigits * kBlock) + index % kInBlock * (kNibbles ? Run / 2 : Run);
#pragma GCC unroll 2
    for (int place = kFixedDigits - 1; place > 0; --place) {
      __m512i digit[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        digit[v] = take_digit(rest[v]);
      }
      store(digit, to + place * kBlock);
    }
    store(rest, to);
  }
}

void prepare(const Matrix& matrix, const float* row, int8_t* digits, float* scales, float* sums) {
  const ptrdiff_t run = run_of(matrix);
  const auto kernel = has_nibbles(matrix.format)
                          ? (run == 32 ? prepare_runs<Format::affine4, 32> : prepare_runs<Format::affine4, 64>)
                      : !is_block(matrix.format)
                          ? (run == 32 ? prepare_runs<Format::affine8, 32> : prepare_runs<Format::affine8, 64>)
                      : has_nibble_panels(matrix.format)
                          ? (run == 16   ? prepare_runs<Format::nvfp4_panels, 16>
                             : run == 32 ? prepare_runs<Format::affine4_panels32, 32>
                                         : prepare_runs<Format::affine4_panels64, 64>)
                      : run == 64 ? prepare_runs<Format::affine8_panels64, 64>
                      : run == 32 ? prepare_runs<Format::q4_k, 32>
                                  : prepare_runs<Format::q6_k, 16>;
  kernel(matrix.format, matrix.columns / run, row, digits, scales, sums);
}

// Unpack 16 words of 16 rows, and prefetch those that are so many words ahead. Of fewer words, or fewer rows, those
// that are missing become zero.
template <bool Wide, bool Fp4, bool Whole>
inline void unpack_words(const uint32_t* from, ptrdiff_t row_words, ptrdiff_t ahead, ptrdiff_t rows, ptrdiff_t words,
                         __m512i* to) {
  const __m512i nibbles = _mm512_set1_epi32(0x0f0f0f0f);
  __m512i block[kLanes];
#pragma GCC unroll 16
  for (int r = 0; r < kLanes; ++r) {
    const __mmask16 wanted = Whole ? 0xffff : r < rows ? first_lanes(words) : 0;
    block[r] = Whole ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi32(wanted, from);
    __builtin_prefetch(from + ahead, 0, 2);
    from += row_words;
  }
  transpose_words(block);
#pragma GCC unroll 16
  for (int c = 0; c < kLanes; ++c) {
    if (Whole || c < words) {
      if constexpr (Wide) {
        _mm512_storeu_si512(to + c * kVectors, block[c]);
      } else {
        const __m512i even = _mm512_and_si512(block[c], nibbles);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(block[c], 4), nibbles);
        _mm512_storeu_si512(to + 2 * c * kVectors, Fp4 ? fp4_codes(even) : even);
        _mm512_storeu_si512(to + (2 * c + 1) * kVectors, Fp4 ? fp4_codes(odd) : odd);
      }
    }
  }
}

template <bool Wide, bool Fp4>
void unpack_codes(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t column, ptrdiff_t columns,
                  uint8_t* codes, bool fetch) {
  constexpr ptrdiff_t kInWord = Wide ? 4 : 8, kVectorsOfWord = Wide ? kVectors : 2 * kVectors;
  const ptrdiff_t row_words = matrix.columns / kInWord, words = columns / kInWord;
  // The next columns of these rows, or the first ones of the next rows.
  const ptrdiff_t next = column + columns < matrix.columns ? words : kWidth * row_words - column / kInWord;
  const ptrdiff_t ahead = fetch ? next : 0;
  for (int part = 0; part < kVectors; ++part) {
    const ptrdiff_t top = begin + part * kLanes, rows = end - top;
    const uint32_t* from = reinterpret_cast<const uint32_t*>(matrix.weights) + top * row_words + column / kInWord;
    __m512i* to = reinterpret_cast<__m512i*>(codes) + part;
    for (ptrdiff_t word = 0; word < words; word += kLanes, to += kLanes * kVectorsOfWord) {
      if (rows >= kLanes && words - word >= kLanes) {
        unpack_words<Wide, Fp4, true>(from + word, row_words, ahead, rows, words - word, to);
      } else {
        unpack_words<Wide, Fp4, false>(from + word, row_words, ahead, rows, words - word, to);
      }
    }
  }
}

void unpack(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_run, ptrdiff_t runs,
            const FixedWeights& weights, bool fetch) {
  if (is_block(matrix.format)) {
    return unpack_blocks_vnni(matrix, begin, end, first_run, runs, weights, {kWidth, kWidth, 0}, fetch);
  }
  const ptrdiff_t run = run_of(matrix), column = first_run * run, columns = runs * run;
  const auto codes = matrix.format == Format::mxfp4     ? unpack_codes<false, true>
                     : matrix.format == Format::affine8 ? unpack_codes<true, false>
                                                        : unpack_codes<false, false>;
  codes(matrix, begin, end, column, columns, weights.codes, fetch);
  for (int part = 0; part < kVectors; ++part) {
    unpack_scales(matrix, begin + part * kLanes, end, first_run, runs, weights.scales + part * kLanes, kWidth);
  }
}

template <int R>
using Whole = __m512i[R][kVectors];

// Add the products of one digit of a run, Quads times four columns. If `Nibbles`, codes of even and of odd columns
// alternate, while their digits are apart.
template <int R, int Quads, bool Nibbles>
inline void add_digit(const __m512i* codes, const int8_t* digits, ptrdiff_t stride, Whole<R>& total) {
  const int8_t* second_half = digits + (R / 2) * stride;
  // Unrolled, GCC mixes the instructions of several digits, for which there are not enough registers.
#pragma GCC unroll 1
  for (ptrdiff_t quad = 0; quad < Quads; ++quad) {
    __m512i w[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      w[v] = _mm512_loadu_si512(codes + quad * kVectors + v);
    }
    const ptrdiff_t at = Nibbles ? quad / 2 + quad % 2 * 16 : quad;
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      const int8_t* row = r < R / 2 ? digits + r * stride : second_half + (r - R / 2) * stride;
      const __m512i x = _mm512_set1_epi32(reinterpret_cast<const int*>(row)[at]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        add_products(total[r][v], w[v], x);
      }
    }
  }
}

template <int R>
inline void clear(Whole<R>& total) {
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      total[r][v] = _mm512_setzero_si512();
    }
  }
}

template <int R>
inline void move_up(Whole<R>& total) {
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      total[r][v] = _mm512_slli_epi32(total[r][v], kDigitBits);
    }
  }
}

// sums += total * scale of the activations * `place` * scale of the weights, plus, if `Last`, the biases of the weights
// * the sum of the activations. In a single pass, because there are no registers left for the sums.
template <int R, bool Last>
inline void scale_up(const Whole<R>& total, const FixedRows& x, ptrdiff_t run, float place, const float* scales,
                     __m512 (&sums)[R][kVectors]) {
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
    const __m512 own = _mm512_set1_ps(x.scales[r * x.runs + run] * place);
    const __m512 all = _mm512_set1_ps(x.sums[r * x.runs + run]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const __m512 both = _mm512_mul_ps(own, _mm512_loadu_ps(scales + v * kLanes));
      const __m512 sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(total[r][v]), both, sums[r][v]);
      sums[r][v] = Last ? _mm512_fmadd_ps(all, _mm512_loadu_ps(scales + kWidth + v * kLanes), sum) : sum;
    }
  }
}

// Multiply R rows of activations by the weights of one unpacked block.
template <int R, Format format, int Run>
void multiply_rows(const FixedRows& x, ptrdiff_t first_run, ptrdiff_t runs, const FixedWeights& weights,
                   float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add) {
  __m512 sums[R][kVectors];
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = _mm512_setzero_ps();
    }
  }
  constexpr bool kNibbles = has_nibbles(format);
  constexpr int kQuads = Run / 4, kBlock = digit_columns(format, Run), kInBlock = kBlock / Run;
  for (ptrdiff_t index = 0; index < runs; ++index) {
    const __m512i* codes = reinterpret_cast<const __m512i*>(weights.codes) + index * kQuads * kVectors;
    const float* scales = weights.scales + index * 2 * kWidth;
    const int8_t* digits = x.digits + index / kInBlock * (kFixedDigits * kBlock) +
                           index % kInBlock * (kNibbles ? Run / 2 : Run);
    Whole<R> total;
    clear<R>(total);
    add_digit<R, kQuads, kNibbles>(codes, digits, x.stride, total);
    if constexpr (is_wide(format)) {
      // With 8-bit codes, the products of all three digits would not fit into 32 bits.
      scale_up<R, false>(total, x, first_run + index, 1 << (2 * kDigitBits), scales, sums);
      clear<R>(total);
    } else {
      move_up<R>(total);
    }
    add_digit<R, kQuads, kNibbles>(codes, digits + kBlock, x.stride, total);
    move_up<R>(total);
    add_digit<R, kQuads, kNibbles>(codes, digits + 2 * kBlock, x.stride, total);
    scale_up<R, true>(total, x, first_run + index, 1.0f, scales, sums);
  }
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 lanes = first_lanes(count - v * kLanes);
      float* to = y + r * y_stride + v * kLanes;
      const __m512 before = add ? _mm512_maskz_loadu_ps(lanes, to) : _mm512_setzero_ps();
      _mm512_mask_storeu_ps(to, lanes, add ? _mm512_add_ps(before, sums[r][v]) : sums[r][v]);
    }
  }
}

using MultiplyRows = void (*)(const FixedRows&, ptrdiff_t, ptrdiff_t, const FixedWeights&, float*, ptrdiff_t,
                              ptrdiff_t, bool);

// For each number of rows. The format stands for all that have as wide codes and the same order of digits.
template <Format format, int Run>
constexpr MultiplyRows kMultiplyRows[kRows + 1] = {
    nullptr,
    multiply_rows<1, format, Run>,
    multiply_rows<2, format, Run>,
    multiply_rows<3, format, Run>,
    multiply_rows<4, format, Run>,
    multiply_rows<5, format, Run>,
    multiply_rows<6, format, Run>};

const MultiplyRows* kernels_for(const Matrix& matrix) {
  const ptrdiff_t run = run_of(matrix);
  if (has_nibbles(matrix.format)) {
    return run == 32 ? kMultiplyRows<Format::affine4, 32> : kMultiplyRows<Format::affine4, 64>;
  }
  if (!is_block(matrix.format)) {
    return run == 32 ? kMultiplyRows<Format::affine8, 32> : kMultiplyRows<Format::affine8, 64>;
  }
  if (run == 64) {
    return is_wide(matrix.format) ? kMultiplyRows<Format::affine8_panels64, 64>
                                  : kMultiplyRows<Format::affine4_panels64, 64>;
  }
  return run == 16                ? kMultiplyRows<Format::q6_k, 16>
         : is_wide(matrix.format) ? kMultiplyRows<Format::q8_0, 32>
                                  : kMultiplyRows<Format::q4_k, 32>;
}

void multiply(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, ptrdiff_t first_run, ptrdiff_t runs,
              const FixedWeights& weights, float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add) {
  const MultiplyRows* kernels = kernels_for(matrix);
  for (ptrdiff_t m = 0; m < rows; m += kRows) {
    const ptrdiff_t height = smaller(kRows, rows - m);
    kernels[height](rows_from(x, m), first_run, runs, weights, y + m * y_stride, y_stride, count, add);
  }
}

void multiply_packed(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride,
                     ptrdiff_t begin, ptrdiff_t end) {
  (is_block(matrix.format) ? multiply_blocks_vnni : multiply_packed_vnni)(matrix, x, rows, y, y_stride, begin, end);
}

}  // namespace

extern const FixedKernels kFixedVnni = {kWidth, run_of, prepare, unpack, multiply, multiply_packed};

}  // namespace sotto
