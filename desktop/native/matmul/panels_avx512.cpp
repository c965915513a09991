// The kernels of panels.h for AVX-512.
#include <immintrin.h>

#include "panels.h"

namespace sotto {
namespace {

struct Lanes {
  using Vector = __m512;
  static constexpr int kWidth = 16;
  // Sums in 24 of the 32 registers: enough to be at work without a break, and few loads for each.
  static constexpr int kVectors = 3;
  static constexpr int kRows = 8;

  static __mmask16 mask(ptrdiff_t count) { return static_cast<__mmask16>((1u << count) - 1); }

  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector set(float value) { return _mm512_set1_ps(value); }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static Vector load_part(const float* from, ptrdiff_t count) { return _mm512_maskz_loadu_ps(mask(count), from); }
  static void store(float* to, Vector value) { _mm512_storeu_ps(to, value); }
  static void store_part(float* to, Vector value, ptrdiff_t count) { _mm512_mask_storeu_ps(to, mask(count), value); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }

  static Vector low_pairs(Vector a, Vector b) {
    return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
  }
  static Vector high_pairs(Vector a, Vector b) {
    return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
  }

  // Rows of a 16 x 16 matrix become its columns: first within the quarters of vectors, 4 x 4 each, then among them.
  static void transpose(Vector (&rows)[16]) {
    Vector quarters[16];
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
      const Vector low = _mm512_unpacklo_ps(rows[i], rows[i + 1]), low2 = _mm512_unpacklo_ps(rows[i + 2], rows[i + 3]);
      const Vector high = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
      const Vector high2 = _mm512_unpackhi_ps(rows[i + 2], rows[i + 3]);
      quarters[i] = low_pairs(low, low2);
      quarters[i + 1] = high_pairs(low, low2);
      quarters[i + 2] = low_pairs(high, high2);
      quarters[i + 3] = high_pairs(high, high2);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Vector even = _mm512_shuffle_f32x4(quarters[i], quarters[i + 4], 0x88);
      const Vector odd = _mm512_shuffle_f32x4(quarters[i], quarters[i + 4], 0xdd);
      const Vector even2 = _mm512_shuffle_f32x4(quarters[i + 8], quarters[i + 12], 0x88);
      const Vector odd2 = _mm512_shuffle_f32x4(quarters[i + 8], quarters[i + 12], 0xdd);
      rows[i] = _mm512_shuffle_f32x4(even, even2, 0x88);
      rows[i + 8] = _mm512_shuffle_f32x4(even, even2, 0xdd);
      rows[i + 4] = _mm512_shuffle_f32x4(odd, odd2, 0x88);
      rows[i + 12] = _mm512_shuffle_f32x4(odd, odd2, 0xdd);
    }
  }
};

#include "panels_kernels.inc"

}  // namespace

extern const PanelKernels kPanelsAvx512 = {W, kVectors, R, pack, multiply};

}  // namespace sotto
