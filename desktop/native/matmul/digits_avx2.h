// Activations as integers in digits for the kernels of blocks_avx2.cpp; see fixed.h. Everything is in an anonymous
// namespace: none of it may be linked into code for other processors.
//
// The integers are those of fixed_vnni.cpp. For wide types, the two upper digits of an activation are a single number
// of 16 bits: a run has first these, of every four columns the even ones and then the odd ones, and then the lowest
// digits.
#pragma once

#include <immintrin.h>

#include "matmul/digits_x86.h"

namespace sotto {
namespace {

// Columns whose activations have a common scale; 0 for matrices that the kernels do not support.
inline ptrdiff_t run_of(const Matrix& matrix) {
  return is_block(matrix.format) ? block_type(matrix.format).run : 0;
}

inline float sum_of(__m256 value) {
  const __m128 four = _mm_add_ps(_mm256_extractf128_ps(value, 1), _mm256_castps256_ps128(value));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline float largest_of(__m256 value) {
  const __m128 four = _mm_max_ps(_mm256_extractf128_ps(value, 1), _mm256_castps256_ps128(value));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

// Turn a run of V vectors of activations into integers, and return the factor of these, which is NaN if any activation
// is not finite.
template <int V>
inline float to_integers(const __m256 (&x)[V], __m256i (&integers)[V]) {
  __m256 largest = _mm256_setzero_ps(), non_finite = _mm256_setzero_ps();
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v) {
    largest = _mm256_max_ps(largest, _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x[v]));
    const __m256 differs = _mm256_cmp_ps(_mm256_sub_ps(x[v], x[v]), _mm256_setzero_ps(), _CMP_NEQ_UQ);
    non_finite = _mm256_or_ps(non_finite, differs);
  }
  const float most = largest_of(largest);
  const bool finite = _mm256_movemask_ps(non_finite) == 0, kept = finite && most > kSmallest;
  const __m256 factor = _mm256_set1_ps(kept ? kLargest / most : 0.0f);
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v) {
    integers[v] = kept ? _mm256_cvtps_epi32(_mm256_mul_ps(x[v], factor)) : _mm256_setzero_si256();
  }
  return !finite ? __builtin_nanf("") : kept ? most / kLargest : 0.0f;
}

// Remove and return the least significant digit, -64 .. 63, and shift the rest down.
inline __m256i take_digit(__m256i& rest) {
  const __m256i half = _mm256_set1_epi32(1 << (kDigitBits - 1));
  const __m256i mask = _mm256_set1_epi32((1 << kDigitBits) - 1);
  const __m256i digit = _mm256_sub_epi32(_mm256_and_si256(_mm256_add_epi32(rest, half), mask), half);
  rest = _mm256_srai_epi32(_mm256_sub_epi32(rest, digit), kDigitBits);
  return digit;
}

// 16 small integers as 16-bit numbers, in order.
inline __m256i to_halves(const __m256i (&integers)[2]) {
  return _mm256_permute4x64_epi64(_mm256_packs_epi32(integers[0], integers[1]), 0xd8);
}

// Store the digits of V vectors, 8 columns each. If `Nibbles`, where words have eight columns, even ones precede odd
// ones.
template <int V, bool Nibbles>
inline void store_digits(const __m256i (&digits)[V], int8_t* to) {
  const __m128i by_word = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
#pragma GCC unroll 4
  for (int v = 0; v < V; v += 2) {
    const __m256i halves = to_halves({digits[v], digits[v + 1]});
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + v * 8), Nibbles ? _mm_shuffle_epi8(bytes, by_word) : bytes);
  }
}

// Store numbers of 16 bits: of every four columns the even ones before the odd ones.
template <int V>
inline void store_upper(const __m256i (&numbers)[V], int8_t* to) {
  const __m128i order = _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
  const __m256i apart = _mm256_broadcastsi128_si256(order);
#pragma GCC unroll 4
  for (int v = 0; v < V; v += 2) {
    const __m256i halves = to_halves({numbers[v], numbers[v + 1]});
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + v * 16), _mm256_shuffle_epi8(halves, apart));
  }
}

// Prepare runs. The format stands for all that have the same order of digits; the runs may be in another order.
template <Format format, int Run>
void prepare_runs(Format own, ptrdiff_t runs, const float* row, int8_t* digits, float* scales, float* sums) {
  constexpr int V = Run / 8, kRuns = kBlockColumns / Run;
  constexpr bool kNibbles = has_nibble_panels(format);
  for (ptrdiff_t index = 0; index < runs; ++index, digits += kFixedDigits * Run) {
    const float* from = row + (index - index % kRuns + run_at(own, index % kRuns)) * Run;
    __m256 x[V];
    // Added up in the order of fixed_vnni.cpp.
    __m256 first = _mm256_setzero_ps(), second = first;
#pragma GCC unroll 8
    for (int v = 0; v < V; v += 2) {
      x[v] = _mm256_loadu_ps(from + v * 8);
      x[v + 1] = _mm256_loadu_ps(from + v * 8 + 8);
      first = _mm256_add_ps(first, x[v]);
      second = _mm256_add_ps(second, x[v + 1]);
    }
    sums[index] = sum_of(_mm256_add_ps(second, first));
    __m256i rest[V], digit[V];
    scales[index] = to_integers<V>(x, rest);
    for (int place = kFixedDigits - 1; place > (is_wide(format) ? 1 : 0); --place) {
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) {
        digit[v] = take_digit(rest[v]);
      }
      store_digits<V, kNibbles>(digit, digits + place * Run);
    }
    if constexpr (is_wide(format)) {
      store_upper<V>(rest, digits);
    } else {
      store_digits<V, kNibbles>(rest, digits);
    }
  }
}

inline void prepare(const Matrix& matrix, const float* row, int8_t* digits, float* scales, float* sums) {
  const ptrdiff_t run = run_of(matrix);
  const auto kernel = has_nibble_panels(matrix.format)
                          ? (run == 16   ? prepare_runs<Format::nvfp4_panels, 16>
                             : run == 32 ? prepare_runs<Format::affine4_panels32, 32>
                                         : prepare_runs<Format::affine4_panels64, 64>)
                      : run == 64              ? prepare_runs<Format::affine8_panels64, 64>
                      : run == 16              ? prepare_runs<Format::q6_k, 16>
                      : is_wide(matrix.format) ? prepare_runs<Format::q8_0, 32>
                                               : prepare_runs<Format::q4_k, 32>;
  kernel(matrix.format, matrix.columns / run, row, digits, scales, sums);
}

}  // namespace
}  // namespace sotto
