// The kernels of fixed.h with `sdot`, which multiplies four codes of four rows of weights by four digits of one row of
// activations. Codes are stored as [columns / 4, width, 4].
#include "matmul/arm/digits.h"

namespace sotto {
namespace {

constexpr int kTogether = 4;
constexpr ptrdiff_t kRowBytes = 4;

// Transpose four rows of four times four codes.
inline void store_codes(const int8x16_t (&codes)[kTogether][2], int8_t* to, ptrdiff_t n) {
  for (int half = 0; half < 2; ++half) {
    int32x4_t rows[4];
    for (int r = 0; r < 4; ++r) {
      rows[r] = vreinterpretq_s32_s8(codes[r][half]);
    }
    const int64x2_t even[2] = {vreinterpretq_s64_s32(vtrn1q_s32(rows[0], rows[1])),
                               vreinterpretq_s64_s32(vtrn1q_s32(rows[2], rows[3]))};
    const int64x2_t odd[2] = {vreinterpretq_s64_s32(vtrn2q_s32(rows[0], rows[1])),
                              vreinterpretq_s64_s32(vtrn2q_s32(rows[2], rows[3]))};
    const int64x2_t quads[4] = {vtrn1q_s64(even[0], even[1]), vtrn1q_s64(odd[0], odd[1]), vtrn2q_s64(even[0], even[1]),
                                vtrn2q_s64(odd[0], odd[1])};
    for (int quad = 0; quad < 4; ++quad) {
      vst1q_s8(to + ((4 * half + quad) * kFixedWidth + n) * kRowBytes, vreinterpretq_s8_s64(quads[quad]));
    }
  }
}

template <int R>
struct Tile {
  // A vector has the sums of one row of activations and four rows of weights.
  static constexpr int kRows = R, kColumns = kTileRows / 4;

  template <int quad>
  static void add_quad(const int8_t* codes, const int8x16_t (&x)[R], int32x4_t (&total)[kRows][kColumns]) {
    for (int v = 0; v < kColumns; ++v) {
      const int8x16_t w = vld1q_s8(codes + quad * kFixedWidth * kRowBytes + 16 * v);
      for (int r = 0; r < R; ++r) {
        total[r][v] = vdotq_laneq_s32(total[r][v], w, x[r], quad);
      }
    }
  }

  static void add_digit(const int8_t* codes, const int8_t* const (&digits)[R], ptrdiff_t at, ptrdiff_t run,
                        int32x4_t (&total)[kRows][kColumns]) {
    for (ptrdiff_t column = 0; column < run; column += 16) {
      int8x16_t x[R];
      for (int r = 0; r < R; ++r) {
        x[r] = vld1q_s8(digits[r] + at + column);
      }
      add_quad<0>(codes, x, total);
      add_quad<1>(codes, x, total);
      add_quad<2>(codes, x, total);
      add_quad<3>(codes, x, total);
      codes += 16 * kFixedWidth;
    }
  }

  static float32x4_t of_rows(const float* const (&from)[R], ptrdiff_t index, int row) {
    return vdupq_n_f32(from[row][index]);
  }
  static float32x4_t of_columns(const float* from, int column) { return vld1q_f32(from + 4 * column); }
  static float32x4_t row(const float32x4_t (&sums)[kRows][kColumns], int r, int four) { return sums[r][four]; }
};

#include "matmul/arm/fixed_kernels.inc"

}  // namespace

extern const FixedKernels kFixedDotprod = {kFixedWidth, run_of, prepare_digits, unpack, multiply};

}  // namespace sotto
