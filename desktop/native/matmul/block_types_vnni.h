// The types of blocks.h for AVX-512 with VNNI: how the codes and the scales of a block are unpacked. Everything is in an
// anonymous namespace: none of it may be linked into code for other processors.
//
// Codes are unpacked in pairs of vectors, the lower and the higher bits of the same words, which belong to two runs.
#pragma once

#include <immintrin.h>

#include "matmul/blocks.h"
#include "matmul/digits_vnni.h"

namespace sotto {
namespace {

// The scales and offsets of a block's runs for 16 rows: a weight is scale * code + bias.
struct RunScales {
  alignas(64) float scales[16][kPanelRows];
  alignas(64) float biases[16][kPanelRows];
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

inline __m512i all(int value) { return _mm512_set1_epi32(value); }
inline __m512i low_byte(__m512i halves) { return _mm512_and_si512(halves, all(0xff)); }
inline __m512i high_byte(__m512i halves) { return _mm512_srli_epi32(halves, 8); }

// (value & mask) | bits
inline __m512i masked_or(__m512i value, __m512i mask, __m512i bits) {
  return _mm512_ternarylogic_epi32(value, mask, bits, 0xea);
}

// Write the scales, and the biases as -`middle` times these.
inline void put_centred(RunScales& to, int run, __m512 factor, __m512i scale, float middle) {
  const __m512 scaled = _mm512_mul_ps(factor, _mm512_cvtepi32_ps(scale));
  _mm512_store_ps(to.scales[run], scaled);
  _mm512_store_ps(to.biases[run], _mm512_mul_ps(scaled, _mm512_set1_ps(-middle)));
}

inline void put_offset(RunScales& to, int run, __m512 factor, __m512i scale, __m512 offset_factor, __m512i offset) {
  _mm512_store_ps(to.scales[run], _mm512_mul_ps(factor, _mm512_cvtepi32_ps(scale)));
  const __m512 bias = _mm512_mul_ps(offset_factor, _mm512_cvtepi32_ps(offset));
  _mm512_store_ps(to.biases[run], _mm512_sub_ps(_mm512_setzero_ps(), bias));
}

// The 6-bit scales and offsets of Q4_K and Q5_K. The upper two bits of the last four of each are above the first four.
inline void put_scales_of_8(const Block& block, RunScales& to) {
  const __m512 factor = block.factor(0), offset_factor = block.factor(1);
#pragma GCC unroll 2
  for (int part = 0; part < 2; ++part) {
    const __m512i first = block.half(2 + part), second = block.half(4 + part), third = block.half(6 + part);
    const __m512i six = all(0x3f3f), four = all(0x0f0f), two = all(0x3030);
    const __m512i scales[2] = {_mm512_and_si512(first, six),
                               masked_or(third, four, _mm512_and_si512(_mm512_srli_epi32(first, 2), two))};
    const __m512i offsets[2] = {
        _mm512_and_si512(second, six),
        masked_or(_mm512_srli_epi32(third, 4), four, _mm512_and_si512(_mm512_srli_epi32(second, 2), two))};
#pragma GCC unroll 2
    for (int upper = 0; upper < 2; ++upper) {
      const int run = 4 * upper + 2 * part;
      put_offset(to, run, factor, low_byte(scales[upper]), offset_factor, low_byte(offsets[upper]));
      put_offset(to, run + 1, factor, high_byte(scales[upper]), offset_factor, high_byte(offsets[upper]));
    }
  }
}

// One struct for each type. `pairs` pairs of runs have `run` / 4 words each; `codes` unpacks a word of a pair. `scales`
// writes the scales of a block, and where a block may have fewer runs, `put` those of one run.

struct Q4K {
  static constexpr Format format = Format::q4_k;
  static constexpr int pairs = 4;
  static void scales(const Block& block, RunScales& to) { put_scales_of_8(block, to); }
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    const __m512i packed = block.word(8 * pair + index), nibble = all(0x0f0f0f0f);
    low = _mm512_and_si512(packed, nibble);
    high = _mm512_and_si512(_mm512_srli_epi32(packed, 4), nibble);
  }
};

struct Q5K {
  static constexpr Format format = Format::q5_k;
  static constexpr int pairs = 4;
  static void scales(const Block& block, RunScales& to) { put_scales_of_8(block, to); }
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    const __m512i fifth = block.word(index), packed = block.word(8 + 8 * pair + index);
    const __m512i nibble = all(0x0f0f0f0f), bit = all(0x10101010);
    low = masked_or(packed, nibble, _mm512_and_si512(_mm512_rolv_epi32(fifth, all(4 - 2 * pair)), bit));
    high = masked_or(_mm512_srli_epi32(packed, 4), nibble,
                     _mm512_and_si512(_mm512_rolv_epi32(fifth, all(3 - 2 * pair)), bit));
  }
};

struct Q6K {
  static constexpr Format format = Format::q6_k;
  static constexpr int pairs = 8;
  // A pair is in one half of the block, `quarter` 32 columns from its begin, and there in the first or second 16.
  static void scales(const Block& block, RunScales& to) {
    const __m512 factor = block.factor(8);
#pragma GCC unroll 8
    for (int index = 0; index < 8; ++index) {
      const __m512i both = block.half(index);
      put_centred(to, 2 * index, factor, _mm512_srai_epi32(_mm512_slli_epi32(both, 24), 24), 32);
      put_centred(to, 2 * index + 1, factor, _mm512_srai_epi32(_mm512_slli_epi32(both, 16), 24), 32);
    }
  }
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    const int half = pair / 4, quarter = pair % 4 / 2, second = pair % 2;
    const __m512i packed = block.word(16 * half + 8 * quarter + 4 * second + index);
    const __m512i upper = block.word(32 + 8 * half + 4 * second + index);
    const __m512i nibble = all(0x0f0f0f0f), two = all(0x30303030);
    low = masked_or(packed, nibble, _mm512_and_si512(_mm512_rolv_epi32(upper, all(4 - 2 * quarter)), two));
    high = masked_or(_mm512_srli_epi32(packed, 4), nibble,
                     _mm512_and_si512(_mm512_rorv_epi32(upper, all(2 * quarter)), two));
  }
};

// In Q2_K and Q3_K the two bits of a code are in one half of the block, `quarter` 64 columns from its begin.
struct Q3K {
  static constexpr Format format = Format::q3_k;
  static constexpr int pairs = 8;
  static void scales(const Block& block, RunScales& to) {
    const __m512 factor = block.factor(6);
    // Scale 4k + i has its lower four bits in byte i or i + 4, and its upper two in byte 8 + i.
#pragma GCC unroll 4
    for (int index = 0; index < 4; ++index) {
      const __m512i lower = block.half(index), upper = block.half(4 + index % 2);
#pragma GCC unroll 2
      for (int high = 0; high < 2; ++high) {
        const int run = 2 * index + 8 * high, shift = run / 4 * 2;
        const __m512i four = _mm512_and_si512(high ? _mm512_srli_epi32(lower, 4) : lower, all(0x0f0f));
        const __m512i two = _mm512_slli_epi32(_mm512_and_si512(_mm512_srli_epi32(upper, shift), all(0x0303)), 4);
        const __m512i both = _mm512_or_si512(four, two);
        put_centred(to, run, factor, _mm512_sub_epi32(low_byte(both), all(32)), 4);
        put_centred(to, run + 1, factor, _mm512_sub_epi32(high_byte(both), all(32)), 4);
      }
    }
  }
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    const int half = pair / 4, quarter = pair % 4 / 2, second = pair % 2;
    const __m512i packed = block.word(8 + 8 * half + 4 * second + index);
    const __m512i third = block.word(4 * second + index);
    const __m512i two = all(0x03030303), bit = all(0x04040404);
    const int place = 4 * half + 2 * quarter;
    low = masked_or(_mm512_srlv_epi32(packed, all(4 * quarter)), two,
                    _mm512_and_si512(_mm512_rolv_epi32(third, all(2 - place)), bit));
    high = masked_or(_mm512_srlv_epi32(packed, all(4 * quarter + 2)), two,
                     _mm512_and_si512(_mm512_rolv_epi32(third, all(1 - place)), bit));
  }
};

struct Q2K {
  static constexpr Format format = Format::q2_k;
  static constexpr int pairs = 8;
  static void scales(const Block& block, RunScales& to) {
    const __m512 factor = block.factor(8), offset_factor = block.factor(9);
#pragma GCC unroll 8
    for (int index = 0; index < 8; ++index) {
      const __m512i both = block.half(index), nibble = all(0x0f0f);
      const __m512i scale = _mm512_and_si512(both, nibble);
      const __m512i offset = _mm512_and_si512(_mm512_srli_epi32(both, 4), nibble);
      put_offset(to, 2 * index, factor, low_byte(scale), offset_factor, low_byte(offset));
      put_offset(to, 2 * index + 1, factor, high_byte(scale), offset_factor, high_byte(offset));
    }
  }
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    const int half = pair / 4, quarter = pair % 4 / 2, second = pair % 2;
    const __m512i packed = block.word(8 * half + 4 * second + index), two = all(0x03030303);
    low = _mm512_and_si512(_mm512_srlv_epi32(packed, all(4 * quarter)), two);
    high = _mm512_and_si512(_mm512_srlv_epi32(packed, all(4 * quarter + 2)), two);
  }
};

// What IQ4_XS and the types of small blocks have in common.
struct RunsOf32 {
  static constexpr int pairs = 4;
  // With 4 bits, the codes of a run are in the lower bits of its words, and then in the higher ones.
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    const int word = 8 * pair + index % 4, shift = index / 4 * 4;
    low = _mm512_and_si512(_mm512_srli_epi32(block.word(word), shift), all(0x0f0f0f0f));
    high = _mm512_and_si512(_mm512_srli_epi32(block.word(word + 4), shift), all(0x0f0f0f0f));
  }
};

// The types in which each run has a float16 scale. A block may have fewer runs.
template <typename Codes, Format Kind, int Middle>
struct Small : Codes {
  static constexpr Format format = Kind;
  static void put(const Block& block, RunScales& to, int run) {
    put_centred(to, run, block.factor(run), all(1), Middle);
  }
};

struct IQ4 : RunsOf32 {
  // What makes all values positive.
  static constexpr int kMiddle = 128;
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    RunsOf32::codes(block, pair, index, low, high);
    low = values(low);
    high = values(high);
  }
  static __m512i values(__m512i nibbles) {
    const __m128i signed_values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kIq4Values));
    const __m128i values = _mm_add_epi8(signed_values, _mm_set1_epi8(static_cast<char>(kMiddle)));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(values), nibbles);
  }
};

struct IQ4XS : IQ4 {
  static constexpr Format format = Format::iq4_xs;
  static void scales(const Block& block, RunScales& to) {
    const __m512 factor = block.factor(0);
    const __m512i upper = block.half(1);
#pragma GCC unroll 8
    for (int run = 0; run < 8; ++run) {
      const __m512i lower = _mm512_srli_epi32(block.half(2 + run / 4), run % 4 * 4);
      const __m512i two = _mm512_and_si512(_mm512_rorv_epi32(upper, all((2 * run + 28) % 32)), all(0x30));
      const __m512i scale = masked_or(lower, all(0x0f), two);
      put_centred(to, run, factor, _mm512_sub_epi32(scale, all(32)), kMiddle);
    }
  }
};

// Signed bytes, made positive.
struct SignedBytes : RunsOf32 {
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    const __m512i middle = all(static_cast<int>(0x80808080u));
    low = _mm512_xor_si512(block.word(16 * pair + index), middle);
    high = _mm512_xor_si512(block.word(16 * pair + 8 + index), middle);
  }
};

using IQ4NL = Small<IQ4, Format::iq4_nl, IQ4::kMiddle>;
using Q40 = Small<RunsOf32, Format::q4_0, 8>;
using Q80 = Small<SignedBytes, Format::q8_0, 128>;

// What MLX's types have in common. With 4 bits, a word holds eight columns: the even ones, and in the upper halves of its
// bytes the odd ones. A block may have fewer runs.
template <Format Kind>
struct OfMlx {
  static constexpr Format format = Kind;
  static constexpr int runs = kBlockColumns / block_type(Kind).run;
  static constexpr int run_words = block_type(Kind).run * block_type(Kind).bits / 32;
  static constexpr int pairs = runs / 2;
  // Where runs have 64 columns, the last one may be alone.
  static __m512i run_codes(const Block& block, int run, int index) {
    const int first = run * run_words;
    if constexpr (has_nibble_panels(Kind)) {
      const __m512i packed = block.word(first + index / 2);
      return _mm512_and_si512(_mm512_srli_epi32(packed, index % 2 * 4), all(0x0f0f0f0f));
    } else {
      return block.word(first + index);
    }
  }
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    low = run_codes(block, 2 * pair, index);
    high = run_codes(block, 2 * pair + 1, index);
  }
};

// The halves of scales are bfloat16 or float16.
template <Format Kind, bool Bfloat>
struct Affine : OfMlx<Kind> {
  static __m512 number(const Block& block, ptrdiff_t index) {
    return Bfloat ? _mm512_castsi512_ps(_mm512_slli_epi32(block.half(index), 16)) : block.factor(index);
  }
  static void put(const Block& block, RunScales& to, int run) {
    _mm512_store_ps(to.scales[run], number(block, 2 * run));
    _mm512_store_ps(to.biases[run], number(block, 2 * run + 1));
  }
};

// A half has the exponents of two scales. As in scales_vnni.h, a code is half a unit.
struct Mxfp4 : OfMlx<Format::mxfp4_panels> {
  static void codes(const Block& block, int pair, int index, __m512i& low, __m512i& high) {
    OfMlx::codes(block, pair, index, low, high);
    low = fp4_codes(low);
    high = fp4_codes(high);
  }
  static void put(RunScales& to, int run, __m512i exponent) {
    const __m512i bits = _mm512_max_epu32(_mm512_slli_epi32(exponent, 23), all(0x00400000));
    const __m512 scale = _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(0.5f));
    _mm512_store_ps(to.scales[run], scale);
    _mm512_store_ps(to.biases[run], _mm512_mul_ps(scale, _mm512_set1_ps(-kFp4Zero)));
  }
  static void put(const Block& block, RunScales& to, int run) {
    const __m512i both = block.half(run / 2);
    put(to, run, run % 2 == 0 ? low_byte(both) : high_byte(both));
  }
};

template <Format Kind, typename Function>
inline void with_affine(ScaleType scales, Function&& function) {
  if (scales == ScaleType::bf16) {
    function(Affine<Kind, true>());
  } else {
    function(Affine<Kind, false>());
  }
}

// Call `function` with a value of the struct for the type of a matrix.
template <typename Function>
inline void with_type(const Matrix& matrix, Function&& function) {
  switch (matrix.format) {
    case Format::q2_k:
      return function(Q2K());
    case Format::q3_k:
      return function(Q3K());
    case Format::q4_k:
      return function(Q4K());
    case Format::q5_k:
      return function(Q5K());
    case Format::q6_k:
      return function(Q6K());
    case Format::iq4_xs:
      return function(IQ4XS());
    case Format::iq4_nl:
      return function(IQ4NL());
    case Format::q4_0:
      return function(Q40());
    case Format::q8_0:
      return function(Q80());
    case Format::affine4_panels32:
      return with_affine<Format::affine4_panels32>(matrix.scale_type, function);
    case Format::affine4_panels64:
      return with_affine<Format::affine4_panels64>(matrix.scale_type, function);
    case Format::affine8_panels32:
      return with_affine<Format::affine8_panels32>(matrix.scale_type, function);
    case Format::affine8_panels64:
      return with_affine<Format::affine8_panels64>(matrix.scale_type, function);
    case Format::mxfp4_panels:
      return function(Mxfp4());
    default:
      return;
  }
}

}  // namespace
}  // namespace sotto
