// Shared by the kernels of the AVX-512 levels. Everything is in an anonymous namespace: none of it may be linked into
// code for other processors.
#pragma once

#include <immintrin.h>

namespace sotto {
namespace {

// Transpose a 16 x 16 matrix of 32-bit words: first 4 x 4 blocks within the quarters of vectors, then the quarters.
inline void transpose_words(__m512i (&rows)[16]) {
  __m512i quarters[16];
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    const __m512i low = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    const __m512i low2 = _mm512_unpacklo_epi32(rows[i + 2], rows[i + 3]);
    const __m512i high = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    const __m512i high2 = _mm512_unpackhi_epi32(rows[i + 2], rows[i + 3]);
    quarters[i] = _mm512_unpacklo_epi64(low, low2);
    quarters[i + 1] = _mm512_unpackhi_epi64(low, low2);
    quarters[i + 2] = _mm512_unpacklo_epi64(high, high2);
    quarters[i + 3] = _mm512_unpackhi_epi64(high, high2);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512i even = _mm512_shuffle_i32x4(quarters[i], quarters[i + 4], 0x88);
    const __m512i odd = _mm512_shuffle_i32x4(quarters[i], quarters[i + 4], 0xdd);
    const __m512i even2 = _mm512_shuffle_i32x4(quarters[i + 8], quarters[i + 12], 0x88);
    const __m512i odd2 = _mm512_shuffle_i32x4(quarters[i + 8], quarters[i + 12], 0xdd);
    rows[i] = _mm512_shuffle_i32x4(even, even2, 0x88);
    rows[i + 8] = _mm512_shuffle_i32x4(even, even2, 0xdd);
    rows[i + 4] = _mm512_shuffle_i32x4(odd, odd2, 0x88);
    rows[i + 12] = _mm512_shuffle_i32x4(odd, odd2, 0xdd);
  }
}

}  // namespace
}  // namespace sotto
