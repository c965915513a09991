// The scales and biases of affine and mxfp4 weights for the kernels of the VNNI level. Everything is in an anonymous
// namespace: none of it may be linked into code for other processors.
#pragma once

#include <immintrin.h>

#include "digits_vnni.h"
#include "transpose_avx512.h"

namespace sotto {
namespace {

constexpr ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

inline ptrdiff_t round_up(ptrdiff_t value, ptrdiff_t step) { return (value + step - 1) / step * step; }

inline __mmask16 first_lanes(ptrdiff_t count) {
  return count >= kLanes ? 0xffff : count <= 0 ? 0 : static_cast<__mmask16>((1u << count) - 1);
}

// The groups of weights whose scales are wanted: from `first` on, those of `wanted`, in rows top .. end.
struct Groups {
  const Matrix& matrix;
  ptrdiff_t top, end, first, in_row;
  __mmask16 wanted;

  // The place of the first one of a row, and which of the row's lanes are there.
  ptrdiff_t at(int row) const { return (top + row) * in_row + first; }
  __mmask16 lanes(int row) const { return top + row < end ? wanted : 0; }
};

using Vectors = __m512[kLanes];

// Put vectors of 16 groups, one per row, into vectors of 16 rows, one per group.
template <typename Load>
inline void transposed(Vectors& to, Load load) {
  __m512i block[kLanes];
#pragma GCC unroll 16
  for (int row = 0; row < kLanes; ++row) {
    block[row] = load(row);
  }
  transpose_words(block);
#pragma GCC unroll 16
  for (int group = 0; group < kLanes; ++group) {
    to[group] = _mm512_castsi512_ps(block[group]);
  }
}

inline void load_scales_bf16(const Groups& groups, Vectors& scales, Vectors& biases) {
  // A row's scales and biases side by side are transposed at once.
  const __m512i side_by_side = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
                                                6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const uint16_t* from = reinterpret_cast<const uint16_t*>(groups.matrix.scales);
  const uint16_t* biases_from = reinterpret_cast<const uint16_t*>(groups.matrix.biases);
  Vectors both;
  transposed(both, [&](int row) {
    const __m256i scale = _mm256_maskz_loadu_epi16(groups.lanes(row), from + groups.at(row));
    const __m256i bias = _mm256_maskz_loadu_epi16(groups.lanes(row), biases_from + groups.at(row));
    return _mm512_permutexvar_epi16(side_by_side, _mm512_inserti64x4(_mm512_castsi256_si512(scale), bias, 1));
  });
#pragma GCC unroll 16
  for (int group = 0; group < kLanes; ++group) {
    const __m512i words = _mm512_castps_si512(both[group]);
    scales[group] = _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
    biases[group] = _mm512_castsi512_ps(_mm512_and_si512(words, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
  }
}

inline void load_scales_f16(const Groups& groups, const uint8_t* from, Vectors& to) {
  transposed(to, [&](int row) {
    const uint16_t* halves = reinterpret_cast<const uint16_t*>(from) + groups.at(row);
    return _mm512_castps_si512(_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(groups.lanes(row), halves)));
  });
}

inline void load_scales_f32(const Groups& groups, const uint8_t* from, Vectors& to) {
  transposed(to, [&](int row) {
    return _mm512_maskz_loadu_epi32(groups.lanes(row), reinterpret_cast<const int32_t*>(from) + groups.at(row));
  });
}

// Scales in E8M0: the exponent of a float32. Zero encodes 2^-127, which is subnormal. A code is half a unit.
inline void load_scales_e8m0(const Groups& groups, Vectors& scales, Vectors& biases) {
  transposed(scales, [&](int row) {
    const __m128i bytes = _mm_maskz_loadu_epi8(groups.lanes(row), groups.matrix.scales + groups.at(row));
    const __m512i bits = _mm512_slli_epi32(_mm512_cvtepu8_epi32(bytes), 23);
    return _mm512_maskz_max_epu32(groups.lanes(row), bits, _mm512_set1_epi32(0x00400000));
  });
#pragma GCC unroll 16
  for (int group = 0; group < kLanes; ++group) {
    scales[group] = _mm512_mul_ps(scales[group], _mm512_set1_ps(0.5f));
    biases[group] = _mm512_mul_ps(scales[group], _mm512_set1_ps(-kFp4Zero));
  }
}

// Write the scales and the biases of 16 rows from `top` for `runs` runs from first_run: of run i to to[2 * i * width]
// and to[(2 * i + 1) * width]. Those of rows from `end` on are zero.
inline void unpack_scales(const Matrix& matrix, ptrdiff_t top, ptrdiff_t end, ptrdiff_t first_run, ptrdiff_t runs,
                          float* to, ptrdiff_t width) {
  // The runs in a group are one, two or four.
  const int shift = __builtin_ctz(static_cast<unsigned>(matrix.group / run_of(matrix)));
  const ptrdiff_t in_row = matrix.columns / matrix.group;
  for (ptrdiff_t first = first_run; first < first_run + runs; first += kLanes) {
    // The groups of these runs; the first may have begun with earlier ones.
    const ptrdiff_t group = first >> shift, last = smaller(first + kLanes, first_run + runs);
    const Groups groups{matrix, top, end, group, in_row, first_lanes(((last - 1) >> shift) + 1 - group)};
    Vectors scales, biases;
    if (matrix.format == Format::mxfp4) {
      load_scales_e8m0(groups, scales, biases);
    } else if (matrix.scale_type == ScaleType::bf16) {
      load_scales_bf16(groups, scales, biases);
    } else {
      const auto load = matrix.scale_type == ScaleType::f16 ? load_scales_f16 : load_scales_f32;
      load(groups, matrix.scales, scales);
      load(groups, matrix.biases, biases);
    }
    for (ptrdiff_t run = first; run < last; ++run, to += 2 * width) {
      _mm512_storeu_ps(to, scales[(run >> shift) - group]);
      _mm512_storeu_ps(to + width, biases[(run >> shift) - group]);
    }
  }
}

}  // namespace
}  // namespace sotto
