// The kernels of panels.h for AVX2 with FMA.
#include <immintrin.h>

#include "panels.h"

namespace sotto {
namespace {

struct Lanes {
  using Vector = __m256;
  static constexpr int kWidth = 8;
  // The accumulators take 12 of the 16 registers.
  static constexpr int kVectors = 3;
  static constexpr int kRows = 4;
  static constexpr bool kMixed = true;

  static __m256i mask(ptrdiff_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }

  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector set(float value) { return _mm256_set1_ps(value); }
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static Vector load_part(const float* from, ptrdiff_t count) { return _mm256_maskload_ps(from, mask(count)); }
  static void store(float* to, Vector value) { _mm256_storeu_ps(to, value); }
  static void store_part(float* to, Vector value, ptrdiff_t count) { _mm256_maskstore_ps(to, mask(count), value); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }

  // Transpose an 8 x 8 matrix: first 4 x 4 blocks within the halves of vectors, then the halves.
  static void transpose(Vector (&rows)[8]) {
    Vector halves[8];
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
      const Vector low = _mm256_unpacklo_ps(rows[i], rows[i + 1]), low2 = _mm256_unpacklo_ps(rows[i + 2], rows[i + 3]);
      const Vector high = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
      const Vector high2 = _mm256_unpackhi_ps(rows[i + 2], rows[i + 3]);
      halves[i] = _mm256_shuffle_ps(low, low2, 0x44);
      halves[i + 1] = _mm256_shuffle_ps(low, low2, 0xee);
      halves[i + 2] = _mm256_shuffle_ps(high, high2, 0x44);
      halves[i + 3] = _mm256_shuffle_ps(high, high2, 0xee);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      rows[i] = _mm256_permute2f128_ps(halves[i], halves[i + 4], 0x20);
      rows[i + 4] = _mm256_permute2f128_ps(halves[i], halves[i + 4], 0x31);
    }
  }
};

#include "panels_kernels.inc"

}  // namespace

extern const PanelKernels kPanelsAvx2 = {W, kVectors, R, 32, 2048, pack, multiply};

}  // namespace sotto
