// The kernels of panels.h for NEON.
#include <arm_neon.h>

#include "matmul/panels.h"

namespace sotto {
namespace {

struct Lanes {
  using Vector = float32x4_t;
  static constexpr int kWidth = 4;
  // The accumulators take 24 of the 32 registers.
  static constexpr int kVectors = 3;
  static constexpr int kRows = 8;
  // Rows are unpacked in their order.
  static constexpr bool kMixed = false;

  static Vector zero() { return vdupq_n_f32(0); }
  static Vector set(float value) { return vdupq_n_f32(value); }
  static Vector load(const float* from) { return vld1q_f32(from); }
  static Vector load_part(const float* from, ptrdiff_t count) {
    float values[4] = {};
    __builtin_memcpy(values, from, count * sizeof(float));
    return vld1q_f32(values);
  }
  static void store(float* to, Vector value) { vst1q_f32(to, value); }
  static void store_part(float* to, Vector value, ptrdiff_t count) {
    __builtin_memcpy(to, &value, count * sizeof(float));
  }
  static Vector add(Vector a, Vector b) { return vaddq_f32(a, b); }
  static Vector fma(Vector a, Vector b, Vector c) { return vfmaq_f32(c, a, b); }

  static void transpose(Vector (&rows)[4]) {
    const Vector low = vtrn1q_f32(rows[0], rows[1]), high = vtrn2q_f32(rows[0], rows[1]);
    const Vector low2 = vtrn1q_f32(rows[2], rows[3]), high2 = vtrn2q_f32(rows[2], rows[3]);
    rows[0] = vcombine_f32(vget_low_f32(low), vget_low_f32(low2));
    rows[1] = vcombine_f32(vget_low_f32(high), vget_low_f32(high2));
    rows[2] = vcombine_f32(vget_high_f32(low), vget_high_f32(low2));
    rows[3] = vcombine_f32(vget_high_f32(high), vget_high_f32(high2));
  }
};

#include "matmul/panels_kernels.inc"

}  // namespace

extern const PanelKernels kPanelsNeon = {W, kVectors, R, 128, 1024, pack, multiply};

}  // namespace sotto
