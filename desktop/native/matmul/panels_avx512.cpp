// The kernels of panels.h for AVX-512.
#include <immintrin.h>

#include "panels.h"
#include "transpose_avx512.h"

namespace sotto {
namespace {

struct Lanes {
  using Vector = __m512;
  static constexpr int kWidth = 16;
  // The accumulators take 24 of the 32 registers: enough to hide the FMA latency, with few loads per FMA.
  static constexpr int kVectors = 3;
  static constexpr int kRows = 8;
  static constexpr bool kMixed = true;

  static __mmask16 mask(ptrdiff_t count) { return static_cast<__mmask16>((1u << count) - 1); }

  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector set(float value) { return _mm512_set1_ps(value); }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static Vector load_part(const float* from, ptrdiff_t count) { return _mm512_maskz_loadu_ps(mask(count), from); }
  static void store(float* to, Vector value) { _mm512_storeu_ps(to, value); }
  static void store_part(float* to, Vector value, ptrdiff_t count) { _mm512_mask_storeu_ps(to, mask(count), value); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }

  // Transpose a 16 x 16 matrix.
  static void transpose(Vector (&rows)[16]) {
    __m512i words[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      words[i] = _mm512_castps_si512(rows[i]);
    }
    transpose_words(words);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      rows[i] = _mm512_castsi512_ps(words[i]);
    }
  }
};

#include "panels_kernels.inc"

}  // namespace

extern const PanelKernels kPanelsAvx512 = {W, kVectors, R, 128, 1024, pack, multiply};

}  // namespace sotto
