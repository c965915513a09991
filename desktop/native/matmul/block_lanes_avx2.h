// The vectors of block_types.inc for AVX2, of two halves each. Everything is in an anonymous namespace: none of it may be
// linked into code for other processors.
#pragma once

#include <immintrin.h>

#include "matmul/blocks.h"
#include "matmul/digits_x86.h"

namespace sotto {
namespace {

constexpr int kHalves = 2;
constexpr int kHalfLanes = 8;

struct Lanes {
  struct Words {
    __m256i of[kHalves];
  };
  struct Floats {
    __m256 of[kHalves];
  };

  static Words all(int value) { return {_mm256_set1_epi32(value), _mm256_set1_epi32(value)}; }
  static Words both(Words a, Words b) {
    return {_mm256_and_si256(a.of[0], b.of[0]), _mm256_and_si256(a.of[1], b.of[1])};
  }
  static Words either(Words a, Words b) {
    return {_mm256_or_si256(a.of[0], b.of[0]), _mm256_or_si256(a.of[1], b.of[1])};
  }
  static Words flip(Words a, Words b) {
    return {_mm256_xor_si256(a.of[0], b.of[0]), _mm256_xor_si256(a.of[1], b.of[1])};
  }
  // (value & mask) | bits
  static Words masked_or(Words value, Words mask, Words bits) { return either(both(value, mask), bits); }
  static Words plus(Words a, Words b) {
    return {_mm256_add_epi32(a.of[0], b.of[0]), _mm256_add_epi32(a.of[1], b.of[1])};
  }
  static Words minus(Words a, Words b) {
    return {_mm256_sub_epi32(a.of[0], b.of[0]), _mm256_sub_epi32(a.of[1], b.of[1])};
  }
  static Words larger(Words a, Words b) {
    return {_mm256_max_epu32(a.of[0], b.of[0]), _mm256_max_epu32(a.of[1], b.of[1])};
  }
  static Words left(Words value, int bits) {
    return {_mm256_slli_epi32(value.of[0], bits), _mm256_slli_epi32(value.of[1], bits)};
  }
  static Words right(Words value, int bits) {
    return {_mm256_srli_epi32(value.of[0], bits), _mm256_srli_epi32(value.of[1], bits)};
  }
  static Words right_signed(Words value, int bits) {
    return {_mm256_srai_epi32(value.of[0], bits), _mm256_srai_epi32(value.of[1], bits)};
  }
  // Move bits that stay within their bytes, by a number that may be negative.
  static Words up(Words value, int bits) { return bits >= 0 ? left(value, bits) : right(value, -bits); }
  static Words down(Words value, int bits) { return right(value, bits); }
  // For each byte, that of a table with this index.
  static Words look_up(__m128i table, Words bytes) {
    const __m256i twice = _mm256_broadcastsi128_si256(table);
    return {_mm256_shuffle_epi8(twice, bytes.of[0]), _mm256_shuffle_epi8(twice, bytes.of[1])};
  }

  static Floats zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static Floats set(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }
  static Floats load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + kHalfLanes)}; }
  static Floats to_floats(Words integers) {
    return {_mm256_cvtepi32_ps(integers.of[0]), _mm256_cvtepi32_ps(integers.of[1])};
  }
  // The float16 numbers in the lower halves; the upper ones are zero.
  static Floats halves_to_floats(Words halves) {
    const auto packed = [](__m256i words) {
      return _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    };
    return {_mm256_cvtph_ps(packed(halves.of[0])), _mm256_cvtph_ps(packed(halves.of[1]))};
  }
  static Floats as_floats(Words bits) {
    return {_mm256_castsi256_ps(bits.of[0]), _mm256_castsi256_ps(bits.of[1])};
  }
  static Floats add(Floats a, Floats b) { return {_mm256_add_ps(a.of[0], b.of[0]), _mm256_add_ps(a.of[1], b.of[1])}; }
  static Floats sub(Floats a, Floats b) { return {_mm256_sub_ps(a.of[0], b.of[0]), _mm256_sub_ps(a.of[1], b.of[1])}; }
  static Floats mul(Floats a, Floats b) { return {_mm256_mul_ps(a.of[0], b.of[0]), _mm256_mul_ps(a.of[1], b.of[1])}; }
  static Floats fma(Floats a, Floats b, Floats c) {
    return {_mm256_fmadd_ps(a.of[0], b.of[0], c.of[0]), _mm256_fmadd_ps(a.of[1], b.of[1], c.of[1])};
  }
  static void store(float* to, Floats value) {
    _mm256_storeu_ps(to, value.of[0]);
    _mm256_storeu_ps(to + kHalfLanes, value.of[1]);
  }
};

// A block of 256 columns of a panel with 16 rows.
struct Block {
  const int32_t* words;
  const int16_t* halves;

  Lanes::Words word(ptrdiff_t index) const {
    const __m256i* from = reinterpret_cast<const __m256i*>(words + index * kPanelRows);
    return {_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
  }
  __m128i eight_halves(ptrdiff_t index, int part) const {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + index * kPanelRows) + part);
  }
  Lanes::Words half(ptrdiff_t index) const {
    return {_mm256_cvtepu16_epi32(eight_halves(index, 0)), _mm256_cvtepu16_epi32(eight_halves(index, 1))};
  }
  Lanes::Floats factor(ptrdiff_t index) const {
    return {_mm256_cvtph_ps(eight_halves(index, 0)), _mm256_cvtph_ps(eight_halves(index, 1))};
  }
};

}  // namespace
}  // namespace sotto
