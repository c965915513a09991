// The vectors of block_types.inc for AVX-512. Everything is in an anonymous namespace: none of it may be linked into code
// for other processors.
#pragma once

#include <immintrin.h>

#include "matmul/blocks.h"
#include "matmul/digits_vnni.h"

namespace sotto {
namespace {

struct Lanes {
  using Words = __m512i;
  using Floats = __m512;

  static Words all(int value) { return _mm512_set1_epi32(value); }
  static Words both(Words a, Words b) { return _mm512_and_si512(a, b); }
  static Words either(Words a, Words b) { return _mm512_or_si512(a, b); }
  static Words flip(Words a, Words b) { return _mm512_xor_si512(a, b); }
  // (value & mask) | bits
  static Words masked_or(Words value, Words mask, Words bits) {
    return _mm512_ternarylogic_epi32(value, mask, bits, 0xea);
  }
  static Words plus(Words a, Words b) { return _mm512_add_epi32(a, b); }
  static Words minus(Words a, Words b) { return _mm512_sub_epi32(a, b); }
  static Words larger(Words a, Words b) { return _mm512_max_epu32(a, b); }
  static Words left(Words value, int bits) { return _mm512_slli_epi32(value, bits); }
  static Words right(Words value, int bits) { return _mm512_srli_epi32(value, bits); }
  static Words right_signed(Words value, int bits) { return _mm512_srai_epi32(value, bits); }
  // Move bits that stay within their bytes, by a number that may be no constant.
  static Words up(Words value, int bits) { return _mm512_rolv_epi32(value, all(bits)); }
  static Words down(Words value, int bits) { return _mm512_srlv_epi32(value, all(bits)); }
  // For each byte, that of a table with this index.
  static Words look_up(__m128i table, Words bytes) {
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), bytes);
  }

  static Floats zero() { return _mm512_setzero_ps(); }
  static Floats set(float value) { return _mm512_set1_ps(value); }
  static Floats to_floats(Words integers) { return _mm512_cvtepi32_ps(integers); }
  // The float16 numbers in the lower halves; the upper ones are zero.
  static Floats halves_to_floats(Words halves) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(halves)); }
  static Floats as_floats(Words bits) { return _mm512_castsi512_ps(bits); }
  static Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static void store(float* to, Floats value) { _mm512_store_ps(to, value); }
};

// A block of 256 columns of a panel.
struct Block {
  const int32_t* words;
  const int16_t* halves;
  ptrdiff_t rows;
  __mmask16 lanes;

  __m512i word(ptrdiff_t index) const { return _mm512_maskz_loadu_epi32(lanes, words + index * rows); }
  __m512i half(ptrdiff_t index) const {
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, halves + index * rows));
  }
  __m512 factor(ptrdiff_t index) const {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes, halves + index * rows));
  }
};

// The block of a panel with this number.
template <typename Type>
inline Block block_at(const BlockPanel& panel, ptrdiff_t index) {
  constexpr BlockType type = block_type(Type::format);
  const ptrdiff_t words = index * (kBlockColumns * type.bits / 32), halves = index * type.halves;
  return {reinterpret_cast<const int32_t*>(panel.codes) + words * panel.rows,
          reinterpret_cast<const int16_t*>(panel.scales) + halves * panel.rows, panel.rows,
          static_cast<__mmask16>((1u << panel.rows) - 1)};
}

}  // namespace
}  // namespace sotto
