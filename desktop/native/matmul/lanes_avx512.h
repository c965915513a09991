// The vector type of rows_kernels.inc and rows_common.inc for AVX-512. Everything is in an anonymous namespace: none of it
// may be linked into code for other processors.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace sotto {
namespace {

struct Lanes {
  using Vector = __m512;
  using Words = __m512i;
  static constexpr int kWidth = 16;
  // The factor that fp8() omits and load_scales() applies.
  static constexpr float kFp8Factor = 256.0f;

  static __mmask16 mask(ptrdiff_t count) { return static_cast<__mmask16>((1u << count) - 1); }

  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector set(float value) { return _mm512_set1_ps(value); }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  // WORKAROUND: keep a value in a register. GCC reloads it for each product, at the expense of other loads. Measure
  // without this when Debian's default compiler changes.
  static Vector hold(Vector value) {
    asm("" : "+v"(value));
    return value;
  }
  static Vector load_part(const float* from, ptrdiff_t count) { return _mm512_maskz_loadu_ps(mask(count), from); }
  static void store(float* to, Vector value) { _mm512_storeu_ps(to, value); }
  static Vector keep(Vector value, ptrdiff_t count) { return _mm512_maskz_mov_ps(mask(count), value); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector mul(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  static float sum(Vector value) { return _mm512_reduce_add_ps(value); }
  // The lane sums of four vectors.
  static void sums(const Vector (&of)[4], float (&to)[4]) {
    const Vector ab = add(_mm512_unpacklo_ps(of[0], of[1]), _mm512_unpackhi_ps(of[0], of[1]));
    const Vector cd = add(_mm512_unpacklo_ps(of[2], of[3]), _mm512_unpackhi_ps(of[2], of[3]));
    const Vector all = add(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
  }

  static Vector bf16(__m256i bits) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  static __m256i half_words(const uint16_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Vector load_bf16(const uint16_t* from) { return bf16(half_words(from)); }
  static Vector load_bf16_part(const uint16_t* from, ptrdiff_t count) {
    return bf16(_mm256_maskz_loadu_epi16(mask(count), from));
  }
  static Vector load_f16(const uint16_t* from) { return _mm512_cvtph_ps(half_words(from)); }
  static Vector load_f16_part(const uint16_t* from, ptrdiff_t count) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask(count), from));
  }

  static Words words(const uint8_t* from) { return _mm512_loadu_si512(from); }
  static Words words_part(const uint8_t* from, ptrdiff_t count) {
    return _mm512_maskz_loadu_epi32(mask(count), from);
  }
  // The permutation uses only the low four bits of each word, so it masks and converts in one instruction.
  static Vector signed_nibble(Words words, int index) {
    const Vector values = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_permutexvar_ps(_mm512_srli_epi32(words, 4 * index), values);
  }
  static Vector fp4(Words words, int index) {
    const Vector values = _mm512_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6);
    return _mm512_permutexvar_ps(_mm512_srli_epi32(words, 4 * index), values);
  }
  static Vector signed_bytes(const uint8_t* from) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i shifted = _mm_xor_si128(bytes, _mm_set1_epi8(static_cast<char>(0x80)));
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(shifted));
  }
  // E4M3: the bits are those of a float16 with an exponent that is 8 too small; all ones are NaN. Sign extension fills
  // the two bits above the exponent, of which the lower one is cleared.
  static Vector fp8(const uint8_t* from) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m256i halves = _mm256_and_si256(_mm256_slli_epi16(_mm256_cvtepi8_epi16(bytes), 7),
                                            _mm256_set1_epi16(static_cast<short>(0xbfff)));
    const __m128i highest = _mm_set1_epi8(0x7f);
    const __mmask16 is_nan = _mm_cmpeq_epi8_mask(_mm_and_si128(bytes, highest), highest);
    return _mm512_mask_mov_ps(_mm512_cvtph_ps(halves), is_nan, _mm512_set1_ps(__builtin_nanf("")));
  }
  // E8M0: the exponent of a float32. Zero encodes 2^-127, which is subnormal.
  static Vector powers_of_two(const uint8_t* from) {
    const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    return _mm512_castsi512_ps(_mm512_max_epu32(_mm512_slli_epi32(wide, 23), _mm512_set1_epi32(0x00400000)));
  }

  using Spread = __m512i;
  // The index of each lane's scale, for the block of words that begins at `word`.
  static Spread spread(ptrdiff_t word, int group_words) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i at = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int>(word)));
    return _mm512_srl_epi32(at, _mm_cvtsi32_si128(__builtin_ctz(group_words)));
  }
  static Spread broadcast_of(ptrdiff_t index) { return _mm512_set1_epi32(static_cast<int>(index)); }
  static Vector pick(Vector scales, Spread spread) { return _mm512_permutexvar_ps(spread, scales); }

  // Transpose 16 rows of 8 values: quarters of vectors, with 4 values of a row each, are grouped by their position in
  // the row, and then transposed as 4 x 4 blocks.
  static void transpose(const float* from, float* to) {
    for (int half = 0; half < 2; ++half) {
      Vector rows[4];  // quarter q of vector m is from row 4 * q + m
#pragma GCC unroll 2
      for (int pair = 0; pair < 2; ++pair) {
        const float* at = from + 16 * pair;
        const Vector left = quarters(load(at), load(at + 32), half);
        const Vector right = quarters(load(at + 64), load(at + 96), half);
        rows[2 * pair] = quarters(left, right, 0);
        rows[2 * pair + 1] = quarters(left, right, 1);
      }
      const Vector low = _mm512_unpacklo_ps(rows[0], rows[1]), low2 = _mm512_unpacklo_ps(rows[2], rows[3]);
      const Vector high = _mm512_unpackhi_ps(rows[0], rows[1]), high2 = _mm512_unpackhi_ps(rows[2], rows[3]);
      float* const target = to + 64 * half;
      store(target, _mm512_shuffle_ps(low, low2, 0x44));
      store(target + 16, _mm512_shuffle_ps(low, low2, 0xee));
      store(target + 32, _mm512_shuffle_ps(high, high2, 0x44));
      store(target + 48, _mm512_shuffle_ps(high, high2, 0xee));
    }
  }
  // Two quarters of each vector: the first and third, or the second and fourth.
  static Vector quarters(Vector a, Vector b, int first) {
    return first == 0 ? _mm512_shuffle_f32x4(a, b, 0x88) : _mm512_shuffle_f32x4(a, b, 0xdd);
  }
};

}  // namespace
}  // namespace sotto
