// Activations as integers, for instructions that multiply signed bytes, and codes of weights as such bytes.
//
// A run of activations is x = v * scale with integer v, |v| < 2^22, in three signed bytes. The scale is a power of two,
// so that v is exact if the activations have few significant bits, for example as results in bfloat16. Otherwise v is
// rounded by half a step, at most 2.4e-7 of the run's largest activation. The products of a run with 4-bit weights add
// up to less than 2^31; with 8-bit weights, those of the top digit are added up apart. All sums of integers are exact,
// so that tiles of any shape give the same bits.
#pragma once

#include "matmul/arm/neon.h"
#include "matmul/fixed.h"

namespace sotto {
namespace {

constexpr int kDigitBits = 8;
constexpr ptrdiff_t kBlock = 32;  // columns whose codes are unpacked together, as two vectors
// Rows of weights that the kernels of fixed.h unpack at a time. Those of 512 columns and the digits of eight rows fit
// into an L1 cache of 32 KiB.
constexpr ptrdiff_t kFixedWidth = 32;
constexpr ptrdiff_t kTileRows = 8;  // of activations and of weights, multiplied at a time
// The exponent of the largest v.
constexpr int kLargestExponent = 21;
// With this margin rounding cannot carry v to 2^22.
constexpr float kMargin = 1.004f;

// Columns per run; 0 for formats that do not have integer weights of 4 or 8 bits (those of mxfp4 are halves).
inline ptrdiff_t run_of(const Matrix& matrix) {
  const bool known = is_affine(matrix.format) || matrix.format == Format::mxfp4;
  return !known ? 0 : matrix.group == 32 ? 32 : 64;
}

inline float power_of_two(int exponent) { return __builtin_bit_cast(float, (exponent + 127) << 23); }

// Remove and return the least significant digit of each value.
inline int16x8_t take_digits(int32x4_t& low, int32x4_t& high) {
  const int16x8_t digits = vcombine_s16(vmovn_s32(low), vmovn_s32(high));
  low = vrshrq_n_s32(low, kDigitBits);
  high = vrshrq_n_s32(high, kDigitBits);
  return digits;
}

// Prepare one run: three blocks of `run` digits, the most significant first, and a scale and a sum. If `Mixed`, the
// even ones of each kBlock columns precede the odd ones, as in codes of 4 bits. Values that are not finite make the
// scale NaN, and with it all results.
template <bool Mixed>
void prepare_run(ptrdiff_t run, const float* row, int8_t* digits, float* scale, float* sum) {
  float32x4_t sums = vdupq_n_f32(0), largest = vdupq_n_f32(0);
  for (ptrdiff_t column = 0; column < run; column += 4) {
    const float32x4_t x = vld1q_f32(row + column);
    sums = vaddq_f32(sums, x);
    largest = vmaxq_f32(largest, vabsq_f32(x));
  }
  *sum = vaddvq_f32(sums);
  const float most = vmaxvq_f32(largest);
  const bool finite = most - most == 0.0f;
  // Below 2^-104 the reciprocal of a scale would overflow; values that are still smaller lose digits.
  const int exponent = static_cast<int>(__builtin_bit_cast(uint32_t, most * kMargin) >> 23) - 127;
  const int shift = kLargestExponent - (exponent < -104 ? -104 : exponent);
  *scale = finite ? power_of_two(-shift) : __builtin_nanf("");
  const float factor = finite ? power_of_two(shift) : 0.0f;
  for (ptrdiff_t block = 0; block < run; block += kBlock) {
    int32x4_t v[8];
    for (int i = 0; i < 8; ++i) {
      v[i] = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(row + block + 4 * i), factor));
    }
    for (int place = kFixedDigits - 1; place >= 0; --place) {
      int8x16_t bytes[2];
      for (int half = 0; half < 2; ++half) {
        const int16x8_t low = take_digits(v[4 * half], v[4 * half + 1]);
        const int16x8_t high = take_digits(v[4 * half + 2], v[4 * half + 3]);
        bytes[half] = vcombine_s8(vmovn_s16(low), vmovn_s16(high));
      }
      int8_t* to = digits + place * run + block;
      vst1q_s8(to, Mixed ? vuzp1q_s8(bytes[0], bytes[1]) : bytes[0]);
      vst1q_s8(to + 16, Mixed ? vuzp2q_s8(bytes[0], bytes[1]) : bytes[1]);
    }
  }
}

// Prepare all columns of a row.
inline void prepare_digits(const Matrix& matrix, const float* row, int8_t* digits, float* scales, float* sums) {
  const ptrdiff_t run = run_of(matrix);
  const auto prepare_one = is_nibble(matrix.format) ? prepare_run<true> : prepare_run<false>;
  for (ptrdiff_t index = 0; index < matrix.columns / run; ++index) {
    prepare_one(run, row + index * run, digits + index * kFixedDigits * run, scales + index, sums + index);
  }
}

// Bytes that hold kBlock codes.
constexpr ptrdiff_t block_bytes(Format format) { return is_nibble(format) ? kBlock / 2 : kBlock; }

// The values of 4-bit codes: q - 8, or twice those of E2M1, whose scales load_code_scales() halves.
constexpr int8_t kSignedCodes[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
constexpr int8_t kFp4Codes[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Unpack kBlock codes of a row, in the order of the digits.
template <Format format>
inline void unpack_codes(const uint8_t* from, int8x16_t (&to)[2]) {
  const uint8x16_t bytes = vld1q_u8(from);
  if constexpr (is_nibble(format)) {
    const int8x16_t values = vld1q_s8(format == Format::affine4 ? kSignedCodes : kFp4Codes);
    to[0] = vqtbl1q_s8(values, vandq_u8(bytes, vdupq_n_u8(15)));
    to[1] = vqtbl1q_s8(values, vshrq_n_u8(bytes, 4));
  } else {
    const uint8x16_t top = vdupq_n_u8(0x80);  // flipping the top bit turns q into q - 128
    to[0] = vreinterpretq_s8_u8(veorq_u8(bytes, top));
    to[1] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(from + 16), top));
  }
}

// The scales of groups first .. first + count, at most four, for codes.
template <Format format>
inline float32x4_t load_code_scales(const Matrix& matrix, ptrdiff_t first, ptrdiff_t count) {
  const float32x4_t scales = load_scales<format>(matrix, first, count);
  return is_affine(format) ? scales : vmulq_n_f32(scales, 0.5f);
}

}  // namespace
}  // namespace sotto
