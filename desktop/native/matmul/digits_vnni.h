// Activations as integers in digits, shared by the kernels of the VNNI level; see fixed.h. Everything is in an
// anonymous namespace: none of it may be linked into code for other processors.
#pragma once

#include <immintrin.h>

#include "matmul/digits_x86.h"

namespace sotto {
namespace {

constexpr int kLanes = 16;

// Columns whose activations have a common scale; 0 for matrices that the kernels do not support.
inline ptrdiff_t run_of(const Matrix& matrix) {
  if (is_block(matrix.format)) {
    return block_type(matrix.format).run;
  }
  const bool known =
      matrix.format == Format::affine4 || matrix.format == Format::affine8 || matrix.format == Format::mxfp4;
  return !known || matrix.columns % 64 != 0 ? 0 : matrix.group == 32 ? 32 : 64;
}

inline __m512i fp4_codes(__m512i nibbles) {
  const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kFp4Codes));
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(codes), nibbles);
}

// Whether a byte holds the codes of two columns, an even and an odd one.
constexpr bool has_nibbles(Format format) { return format == Format::affine4 || format == Format::mxfp4; }

// Columns whose digits are prepared as a block, which is as many runs as a vector holds the codes of; of formats that
// are interleaved by blocks (blocks.h), a run.
constexpr ptrdiff_t digit_columns(Format format, ptrdiff_t run) {
  return has_nibbles(format) ? 128 : is_block(format) ? run : 64;
}

// Turn a run of V vectors of activations into integers, and return the factor of these, which is NaN if any activation
// is not finite.
template <int V>
inline float to_integers(const __m512 (&x)[V], __m512i (&integers)[V]) {
  __m512 largest = _mm512_setzero_ps();
  __mmask16 non_finite = 0;
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    largest = _mm512_max_ps(largest, _mm512_abs_ps(x[v]));
    non_finite |= _mm512_cmp_ps_mask(_mm512_sub_ps(x[v], x[v]), _mm512_setzero_ps(), _CMP_NEQ_UQ);
  }
  const float most = _mm512_reduce_max_ps(largest);
  const bool zeroed = non_finite != 0 || !(most > kSmallest);
  const __m512 factor = _mm512_set1_ps(zeroed ? 0.0f : kLargest / most);
  const __mmask16 kept = zeroed ? 0 : 0xffff;
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    integers[v] = _mm512_maskz_cvtps_epi32(kept, _mm512_mul_ps(x[v], factor));
  }
  return non_finite != 0 ? __builtin_nanf("") : zeroed ? 0.0f : most / kLargest;
}

// Remove and return the least significant digit, -64 .. 63, and shift the rest down.
inline __m512i take_digit(__m512i& rest) {
  const __m512i half = _mm512_set1_epi32(1 << (kDigitBits - 1));
  const __m512i mask = _mm512_set1_epi32((1 << kDigitBits) - 1);
  const __m512i digit = _mm512_sub_epi32(_mm512_and_si512(_mm512_add_epi32(rest, half), mask), half);
  rest = _mm512_srai_epi32(_mm512_sub_epi32(rest, digit), kDigitBits);
  return digit;
}

// The activations of a run as integers, their scale and their sum.
template <int V>
struct RunOfRow {
  __m512i integers[V];
  float scale;
  float sum;

  explicit RunOfRow(const float* from) {
    __m512 x[V];
    __m512 total = _mm512_setzero_ps();
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      x[v] = _mm512_loadu_ps(from + v * kLanes);
      total = _mm512_add_ps(total, x[v]);
    }
    sum = _mm512_reduce_add_ps(total);
    scale = to_integers<V>(x, integers);
  }
};

// Store the digits of V vectors as bytes. Where the words of panels hold the codes of two times four columns, those of
// the even columns come before those of the odd ones, as words are unpacked one by one.
template <int V, bool Nibbles>
inline void store_in_order(const __m512i (&digits)[V], int8_t* to) {
  const __m128i by_word = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    const __m128i bytes = _mm512_cvtepi32_epi8(digits[v]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + v * kLanes), Nibbles ? _mm_shuffle_epi8(bytes, by_word) : bytes);
  }
}

// total += codes * digits, four of each per lane. WORKAROUND: with the intrinsic, GCC 12 moves the accumulators between
// registers so much that it takes 50% longer. Try it again when Debian's default compiler changes.
inline void add_products(__m512i& total, __m512i codes, __m512i digits) {
  asm("vpdpbusd %2, %1, %0" : "+v"(total) : "v"(codes), "v"(digits));
}

}  // namespace
}  // namespace sotto
