// The kernels of fixed.h with `smmla`, which multiplies eight codes of two rows of weights by eight digits of two rows
// of activations. Codes are stored as [columns / 8, width, 8].
#include "matmul/arm/digits.h"

namespace sotto {
namespace {

constexpr int kTogether = 2;
constexpr ptrdiff_t kRowBytes = 8;

inline int8x16_t first_halves(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s64(vtrn1q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}
inline int8x16_t second_halves(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s64(vtrn2q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

inline void store_codes(const int8x16_t (&codes)[kTogether][2], int8_t* to, ptrdiff_t n) {
  for (int half = 0; half < 2; ++half) {
    int8_t* at = to + (2 * half * kFixedWidth + n) * kRowBytes;
    vst1q_s8(at, first_halves(codes[0][half], codes[1][half]));
    vst1q_s8(at + kFixedWidth * kRowBytes, second_halves(codes[0][half], codes[1][half]));
  }
}

template <int R>
struct Tile {
  // A vector has the sums of two rows of activations, one after the other, and two rows of weights.
  static constexpr int kRows = R / 2, kColumns = kTileRows / 2;

  static void add_digit(const int8_t* codes, const int8_t* const (&digits)[R], ptrdiff_t at, ptrdiff_t run,
                        int32x4_t (&total)[kRows][kColumns]) {
    for (ptrdiff_t column = 0; column < run; column += 16) {
      int8x16_t x[kRows][2];
      for (int r = 0; r < kRows; ++r) {
        const int8x16_t one = vld1q_s8(digits[2 * r] + at + column);
        const int8x16_t other = vld1q_s8(digits[2 * r + 1] + at + column);
        x[r][0] = first_halves(one, other);
        x[r][1] = second_halves(one, other);
      }
      for (int half = 0; half < 2; ++half) {
        for (int v = 0; v < kColumns; ++v) {
          const int8x16_t w = vld1q_s8(codes + 16 * v);
          for (int r = 0; r < kRows; ++r) {
            total[r][v] = vmmlaq_s32(total[r][v], x[r][half], w);
          }
        }
        codes += 8 * kFixedWidth;
      }
    }
  }

  static float32x4_t of_rows(const float* const (&from)[R], ptrdiff_t index, int row) {
    return vcombine_f32(vdup_n_f32(from[2 * row][index]), vdup_n_f32(from[2 * row + 1][index]));
  }
  static float32x4_t of_columns(const float* from, int column) {
    return vreinterpretq_f32_f64(vld1q_dup_f64(reinterpret_cast<const double*>(from + 2 * column)));
  }
  static float32x4_t row(const float32x4_t (&sums)[kRows][kColumns], int r, int four) {
    const float32x4_t left = sums[r / 2][2 * four], right = sums[r / 2][2 * four + 1];
    return r % 2 == 0 ? vcombine_f32(vget_low_f32(left), vget_low_f32(right))
                      : vcombine_f32(vget_high_f32(left), vget_high_f32(right));
  }
};

#include "matmul/arm/fixed_kernels.inc"

}  // namespace

extern const FixedKernels kFixedI8mm = {kFixedWidth, run_of, prepare_digits, unpack, multiply};

}  // namespace sotto
