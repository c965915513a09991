// The kernels of fixed.h for AVX-512 with VNNI.
#include <immintrin.h>

#include "blocks.h"
#include "digits_vnni.h"
#include "fixed.h"
#include "transpose_avx512.h"

namespace sotto {
namespace {

// The accumulators take 24 of the 32 registers: four vectors of weights by six rows of activations.
constexpr int kVectors = 4;
constexpr int kRows = 6;
constexpr ptrdiff_t kWidth = kVectors * kLanes;

inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

inline __mmask16 first_lanes(ptrdiff_t count) {
  return count >= kLanes ? 0xffff : count <= 0 ? 0 : static_cast<__mmask16>((1u << count) - 1);
}

// Whether the even ones of each 8 columns precede the odd ones.
bool is_mixed(const Matrix& matrix) { return matrix.format == Format::affine4 || matrix.format == Format::mxfp4; }

// Store the bytes of one digit. If `Mixed`, the even ones of each 8 activations precede the odd ones, as in unpacked
// 4-bit codes.
template <int V, bool Mixed>
inline void store_digit(const __m512i (&values)[V], int8_t* to) {
  const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    const __m128i bytes = _mm512_cvtepi32_epi8(values[v]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + v * kLanes), Mixed ? _mm_shuffle_epi8(bytes, order) : bytes);
  }
}

// Prepare runs of V vectors.
template <int V, bool Mixed>
void prepare_runs(ptrdiff_t runs, const float* row, int8_t* digits, float* scales, float* sums) {
  constexpr int kRun = V * kLanes;
  for (ptrdiff_t index = 0; index < runs; ++index) {
    __m512 x[V];
    __m512 sum = _mm512_setzero_ps();
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      x[v] = _mm512_loadu_ps(row + index * kRun + v * kLanes);
      sum = _mm512_add_ps(sum, x[v]);
    }
    sums[index] = _mm512_reduce_add_ps(sum);
    __m512i rest[V], digit[V];
    scales[index] = to_integers<V>(x, rest);
#pragma GCC unroll 2
    for (int place = kFixedDigits - 1; place > 0; --place) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        digit[v] = take_digit(rest[v]);
      }
      store_digit<V, Mixed>(digit, digits + place * kRun);
    }
    store_digit<V, Mixed>(rest, digits);
    digits += kFixedDigits * kRun;
  }
}

void prepare(const Matrix& matrix, const float* row, int8_t* digits, float* scales, float* sums) {
  const ptrdiff_t run = run_of(matrix), runs = matrix.columns / run;
  const bool mixed = is_mixed(matrix);
  if (run == 16) {
    prepare_runs<1, false>(runs, row, digits, scales, sums);
  } else if (run == 32) {
    (mixed ? prepare_runs<2, true> : prepare_runs<2, false>)(runs, row, digits, scales, sums);
  } else {
    (mixed ? prepare_runs<4, true> : prepare_runs<4, false>)(runs, row, digits, scales, sums);
  }
}

// 16 scales (or biases) from the given one, of which the first ones are wanted, as float32; the other lanes are zero.
template <ScaleType Type>
inline __m512 load_scales(const uint8_t* scales, ptrdiff_t first, __mmask16 wanted) {
  if constexpr (Type == ScaleType::f32) {
    return _mm512_maskz_loadu_ps(wanted, reinterpret_cast<const float*>(scales) + first);
  }
  const __m256i halves = _mm256_maskz_loadu_epi16(wanted, reinterpret_cast<const uint16_t*>(scales) + first);
  return Type == ScaleType::f16 ? _mm512_cvtph_ps(halves)
                                : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

// Scales in E8M0: the exponent of a float32. Zero encodes 2^-127, which is subnormal. A code is half a unit.
inline __m512 load_exponents(const uint8_t* scales, ptrdiff_t first, __mmask16 wanted) {
  const __m512i wide = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(wanted, scales + first));
  const __m512i bits = _mm512_max_epu32(_mm512_slli_epi32(wide, 23), _mm512_set1_epi32(0x00400000));
  return _mm512_maskz_mul_ps(wanted, _mm512_castsi512_ps(bits), _mm512_set1_ps(0.5f));
}

// Write the scales and biases of the weights' runs, those of 16 rows at a time. `Load` reads 16 of either, those of a
// row from the given one.
template <typename Load>
void unpack_scales(const Matrix& matrix, Load load, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_run,
                   ptrdiff_t runs, float* scales) {
  const ptrdiff_t groups = matrix.columns / matrix.group, in_group = matrix.group / run_of(matrix);
  const __m512 factor = _mm512_set1_ps(matrix.factor);
  for (int part = 0; part < kVectors; ++part) {
    const ptrdiff_t top = begin + part * kLanes;
    for (ptrdiff_t first = 0; first < runs; first += kLanes) {
      // The groups of these runs; the first may have begun with earlier ones.
      const ptrdiff_t group = (first_run + first) / in_group;
      const ptrdiff_t last = smaller(first_run + first + kLanes, first_run + runs);
      const __mmask16 wanted = first_lanes((last + in_group - 1) / in_group - group);
      const auto transposed = [&](const uint8_t* from, __m512i(&block)[kLanes]) {
#pragma GCC unroll 16
        for (int r = 0; r < kLanes; ++r) {
          const __mmask16 there = top + r < end ? wanted : 0;
          block[r] = _mm512_castps_si512(_mm512_mul_ps(load(from, (top + r) * groups + group, there), factor));
        }
        transpose_words(block);
      };
      __m512i own[kLanes], bias[kLanes];
      transposed(matrix.scales, own);
      if (matrix.biases != nullptr) {
        transposed(matrix.biases, bias);
      } else {
#pragma GCC unroll 16
        for (int g = 0; g < kLanes; ++g) {
          bias[g] = _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(own[g]), _mm512_set1_ps(-kFp4Zero)));
        }
      }
      for (ptrdiff_t run = first_run + first; run < last; ++run) {
        float* to = scales + (run - first_run) * 2 * kWidth + part * kLanes;
        _mm512_storeu_si512(to, own[run / in_group - group]);
        _mm512_storeu_si512(to + kWidth, bias[run / in_group - group]);
      }
    }
  }
}

// Unpack 16 words of 16 rows. Of fewer words, or fewer rows, those that are missing become zero.
template <bool Wide, bool Fp4, bool Whole>
inline void unpack_words(const uint32_t* from, ptrdiff_t row_words, ptrdiff_t rows, ptrdiff_t words, __m512i* to) {
  const __m512i nibbles = _mm512_set1_epi32(0x0f0f0f0f);
  __m512i block[kLanes];
#pragma GCC unroll 16
  for (int r = 0; r < kLanes; ++r) {
    const __mmask16 wanted = Whole ? 0xffff : r < rows ? first_lanes(words) : 0;
    block[r] = Whole ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi32(wanted, from);
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
                  uint8_t* codes) {
  constexpr ptrdiff_t kInWord = Wide ? 4 : 8, kVectorsOfWord = Wide ? kVectors : 2 * kVectors;
  const ptrdiff_t row_words = matrix.columns / kInWord, words = columns / kInWord;
  for (int part = 0; part < kVectors; ++part) {
    const ptrdiff_t top = begin + part * kLanes, rows = end - top;
    const uint32_t* from = reinterpret_cast<const uint32_t*>(matrix.weights) + top * row_words + column / kInWord;
    __m512i* to = reinterpret_cast<__m512i*>(codes) + part;
    for (ptrdiff_t word = 0; word < words; word += kLanes, to += kLanes * kVectorsOfWord) {
      if (rows >= kLanes && words - word >= kLanes) {
        unpack_words<Wide, Fp4, true>(from + word, row_words, rows, words - word, to);
      } else {
        unpack_words<Wide, Fp4, false>(from + word, row_words, rows, words - word, to);
      }
    }
  }
}

void unpack(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_run, ptrdiff_t runs,
            const FixedWeights& weights) {
  if (is_block(matrix.format)) {
    return unpack_blocks_vnni(matrix, begin, end, first_run, runs, weights, kWidth);
  }
  const ptrdiff_t run = run_of(matrix), column = first_run * run, columns = runs * run;
  const auto with_scales = [&](auto load) { unpack_scales(matrix, load, begin, end, first_run, runs, weights.scales); };
  if (matrix.format == Format::mxfp4) {
    unpack_codes<false, true>(matrix, begin, end, column, columns, weights.codes);
    return with_scales([](auto... from) { return load_exponents(from...); });
  }
  if (matrix.format == Format::affine8) {
    unpack_codes<true, false>(matrix, begin, end, column, columns, weights.codes);
  } else {
    unpack_codes<false, false>(matrix, begin, end, column, columns, weights.codes);
  }
  switch (matrix.scale_type) {
    case ScaleType::f32:
      return with_scales([](auto... from) { return load_scales<ScaleType::f32>(from...); });
    case ScaleType::bf16:
      return with_scales([](auto... from) { return load_scales<ScaleType::bf16>(from...); });
    case ScaleType::f16:
      return with_scales([](auto... from) { return load_scales<ScaleType::f16>(from...); });
  }
}

template <int R>
using Whole = __m512i[R][kVectors];

// Add the products of one digit of a run, Quads times four columns.
template <int R, int Quads>
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
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
      const int8_t* row = r < R / 2 ? digits + r * stride : second_half + (r - R / 2) * stride;
      const __m512i x = _mm512_set1_epi32(reinterpret_cast<const int*>(row)[quad]);
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
template <int R, bool Wide, int Quads>
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
  constexpr ptrdiff_t run = 4 * Quads;
  for (ptrdiff_t index = 0; index < runs; ++index) {
    const __m512i* codes = reinterpret_cast<const __m512i*>(weights.codes) + index * Quads * kVectors;
    const float* scales = weights.scales + index * 2 * kWidth;
    const int8_t* digits = x.digits + index * kFixedDigits * run;
    Whole<R> total;
    clear<R>(total);
    add_digit<R, Quads>(codes, digits, x.stride, total);
    if constexpr (Wide) {
      // With 8-bit codes, the products of all three digits would not fit into 32 bits.
      scale_up<R, false>(total, x, first_run + index, 1 << (2 * kDigitBits), scales, sums);
      clear<R>(total);
    } else {
      move_up<R>(total);
    }
    add_digit<R, Quads>(codes, digits + run, x.stride, total);
    move_up<R>(total);
    add_digit<R, Quads>(codes, digits + 2 * run, x.stride, total);
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

template <bool Wide, int Quads>
constexpr MultiplyRows kMultiplyRows[kRows + 1] = {
    nullptr,
    multiply_rows<1, Wide, Quads>,
    multiply_rows<2, Wide, Quads>,
    multiply_rows<3, Wide, Quads>,
    multiply_rows<4, Wide, Quads>,
    multiply_rows<5, Wide, Quads>,
    multiply_rows<6, Wide, Quads>};

void multiply(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, ptrdiff_t first_run, ptrdiff_t runs,
              const FixedWeights& weights, float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add) {
  const bool wide = is_wide(matrix.format);
  const ptrdiff_t run = run_of(matrix);
  const MultiplyRows* kernels = run == 16   ? kMultiplyRows<false, 4>
                                : run == 32 ? (wide ? kMultiplyRows<true, 8> : kMultiplyRows<false, 8>)
                                            : (wide ? kMultiplyRows<true, 16> : kMultiplyRows<false, 16>);
  for (ptrdiff_t m = 0; m < rows; m += kRows) {
    FixedRows part = x;
    part.digits += m * x.stride;
    part.scales += m * x.runs;
    part.sums += m * x.runs;
    const ptrdiff_t height = smaller(kRows, rows - m);
    kernels[height](part, first_run, runs, weights, y + m * y_stride, y_stride, count, add);
  }
}

}  // namespace

extern const FixedKernels kFixedVnni = {kWidth, run_of, prepare, unpack, multiply, multiply_blocks_vnni};

}  // namespace sotto
