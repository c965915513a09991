// Weights and their scales as NEON vectors, for the kernels of this folder.
//
// Like every header of the kernels, this uses nothing of the C++ standard library, see rows.h.
#pragma once

#include <arm_neon.h>

#include "matmul/rows.h"

namespace sotto {
namespace {

constexpr bool is_affine(Format format) { return format == Format::affine4 || format == Format::affine8; }
constexpr bool is_nibble(Format format) {
  return format == Format::affine4 || format == Format::mxfp4 || format == Format::nvfp4;
}

inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }
inline ptrdiff_t round_up(ptrdiff_t value, ptrdiff_t step) { return (value + step - 1) / step * step; }

// The upper half of eight float32 values, which are those of a bfloat16.
inline void widen_bf16(uint16x8_t bits, float32x4_t& low, float32x4_t& high) {
  low = vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(bits), 16));
  high = vreinterpretq_f32_u32(vshll_high_n_u16(bits, 16));
}

inline void widen_f16(uint16x8_t bits, float32x4_t& low, float32x4_t& high) {
  low = vcvt_f32_f16(vreinterpret_f16_u16(vget_low_u16(bits)));
  high = vcvt_high_f32_f16(vreinterpretq_f16_u16(bits));
}

// A table of the two upper bytes of sixteen float32 values; their lower ones are zero.
struct Table {
  uint8_t top[16];
  uint8_t second[16];
  constexpr explicit Table(const float (&values)[16]) : top(), second() {
    for (int code = 0; code < 16; ++code) {
      const uint32_t bits = __builtin_bit_cast(uint32_t, values[code]);
      top[code] = bits >> 24;
      second[code] = bits >> 16 & 255;
    }
  }
};

// 4-bit integers are taken as signed, q - 8, so that sums lose less to cancellation; the bias is adjusted to match.
constexpr Table kSigned({-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7});
constexpr Table kFp4({0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6});

// 16 codes of 4 bits, in their order, as bytes.
inline uint8x16_t sixteen_nibbles(const uint8_t* from) {
  const uint8x16_t bytes = vcombine_u8(vld1_u8(from), vdup_n_u8(0));
  return vzip1q_u8(vandq_u8(bytes, vdupq_n_u8(15)), vshrq_n_u8(bytes, 4));
}

inline void look_up(const Table& table, uint8x16_t codes, float32x4_t (&to)[4]) {
  const uint8x16_t top = vqtbl1q_u8(vld1q_u8(table.top), codes);
  const uint8x16_t second = vqtbl1q_u8(vld1q_u8(table.second), codes);
  widen_bf16(vreinterpretq_u16_u8(vzip1q_u8(second, top)), to[0], to[1]);
  widen_bf16(vreinterpretq_u16_u8(vzip2q_u8(second, top)), to[2], to[3]);
}

// q - 128 for 16 bytes q: as the lowest byte of a float32 in 2^23 .. 2^24, q adds just itself.
inline void signed_bytes(uint8x16_t codes, float32x4_t (&to)[4]) {
  const uint16x8_t exponent = vdupq_n_u16(0x4b00);
  const float32x4_t middle = vdupq_n_f32(0x1p23f + 128.0f);
  const uint16x8_t low = vmovl_u8(vget_low_u8(codes)), high = vmovl_high_u8(codes);
  to[0] = vsubq_f32(vreinterpretq_f32_u16(vzip1q_u16(low, exponent)), middle);
  to[1] = vsubq_f32(vreinterpretq_f32_u16(vzip2q_u16(low, exponent)), middle);
  to[2] = vsubq_f32(vreinterpretq_f32_u16(vzip1q_u16(high, exponent)), middle);
  to[3] = vsubq_f32(vreinterpretq_f32_u16(vzip2q_u16(high, exponent)), middle);
}

// The factor that fp8() omits and load_scales() applies.
constexpr float kFp8Factor = 256.0f;

// E4M3: the bits are those of a float16 with an exponent that is 8 too small. All ones are NaN: adding one to them
// carries into what becomes the float16's highest bit of the exponent.
inline void fp8(uint8x16_t codes, float32x4_t (&to)[4]) {
  const uint8x16_t top = vdupq_n_u8(0x80), magnitude = vbicq_u8(codes, top);
  const uint8x16_t value = vbslq_u8(top, vaddq_u8(magnitude, vdupq_n_u8(1)), magnitude);
  const uint16x8_t sign = vdupq_n_u16(0x8000);
  const uint16x8_t low = vbslq_u16(sign, vshll_n_u8(vget_low_u8(codes), 8), vshll_n_u8(vget_low_u8(value), 7));
  const uint16x8_t high = vbslq_u16(sign, vshll_high_n_u8(codes, 8), vshll_high_n_u8(value, 7));
  widen_f16(low, to[0], to[1]);
  widen_f16(high, to[2], to[3]);
}

// Unpack 16 consecutive weights.
template <Format format>
inline void unpack_sixteen(const uint8_t* from, float32x4_t (&to)[4]) {
  if constexpr (format == Format::affine4) {
    look_up(kSigned, sixteen_nibbles(from), to);
  } else if constexpr (is_nibble(format)) {
    look_up(kFp4, sixteen_nibbles(from), to);
  } else if constexpr (format == Format::affine8) {
    signed_bytes(vld1q_u8(from), to);
  } else if constexpr (format == Format::mxfp8) {
    fp8(vld1q_u8(from), to);
  } else if constexpr (format == Format::f32) {
    for (int i = 0; i < 4; ++i) {
      to[i] = vld1q_f32(reinterpret_cast<const float*>(from) + 4 * i);
    }
  } else {
    const uint16x8_t first = vreinterpretq_u16_u8(vld1q_u8(from));
    const uint16x8_t second = vreinterpretq_u16_u8(vld1q_u8(from + 16));
    constexpr auto widen = format == Format::bf16 ? widen_bf16 : widen_f16;
    widen(first, to[0], to[1]);
    widen(second, to[2], to[3]);
  }
}

// Values first .. first + count, fewer than four, and zeros. A call of memcpy for so few would take longer.
template <typename T>
inline void load_some(const uint8_t* data, ptrdiff_t first, ptrdiff_t count, T (&to)[4]) {
  for (ptrdiff_t i = 0; i < 4; ++i) {
    to[i] = i < count ? reinterpret_cast<const T*>(data)[first + i] : T{};
  }
}

// Scales or biases first .. first + count, at most four, as float32; the remaining lanes are zero.
inline float32x4_t load_affine(const uint8_t* data, ScaleType type, ptrdiff_t first, ptrdiff_t count) {
  if (type == ScaleType::f32) {
    if (count >= 4) {
      return vld1q_f32(reinterpret_cast<const float*>(data) + first);
    }
    float values[4];
    load_some(data, first, count, values);
    return vld1q_f32(values);
  }
  uint16x4_t bits;
  if (count >= 4) {
    bits = vld1_u16(reinterpret_cast<const uint16_t*>(data) + first);
  } else {
    uint16_t values[4];
    load_some(data, first, count, values);
    bits = vld1_u16(values);
  }
  return type == ScaleType::bf16 ? vreinterpretq_f32_u32(vshll_n_u16(bits, 16))
                                 : vcvt_f32_f16(vreinterpret_f16_u16(bits));
}

template <Format format>
inline float32x4_t load_scales(const Matrix& matrix, ptrdiff_t first, ptrdiff_t count) {
  if constexpr (is_affine(format)) {
    return load_affine(matrix.scales, matrix.scale_type, first, count);
  } else {
    uint32_t word = 0;
    if (count >= 4) {
      __builtin_memcpy(&word, matrix.scales + first, sizeof(word));
    } else {
      uint8_t bytes[4];
      load_some(matrix.scales, first, count, bytes);
      __builtin_memcpy(&word, bytes, sizeof(word));
    }
    const uint32x4_t code = vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(word)))));
    if constexpr (format == Format::nvfp4) {
      // E4M3, like fp8(): shifted into place, the exponent of a float32 is 120 too small.
      const uint32x4_t bits = vandq_u32(code, vdupq_n_u32(127));
      const float32x4_t magnitude = vmulq_n_f32(vreinterpretq_f32_u32(vshlq_n_u32(bits, 20)), 0x1p120f);
      const uint32x4_t nan = vandq_u32(vceqq_u32(bits, vdupq_n_u32(127)), vdupq_n_u32(0x7fc00000));
      const uint32x4_t sign = vshlq_n_u32(vshrq_n_u32(code, 7), 31);
      return vreinterpretq_f32_u32(vorrq_u32(vorrq_u32(vreinterpretq_u32_f32(magnitude), nan), sign));
    }
    // E8M0: the exponent of a float32. Zero encodes 2^-127, which is subnormal.
    const uint32x4_t bits = vmaxq_u32(vshlq_n_u32(code, 23), vdupq_n_u32(0x00400000));
    return vmulq_n_f32(vreinterpretq_f32_u32(bits), format == Format::mxfp8 ? kFp8Factor : 1.0f);
  }
}

// Biases, adjusted for signed weights.
template <Format format>
inline float32x4_t load_biases(const Matrix& matrix, float32x4_t scales, ptrdiff_t first, ptrdiff_t count) {
  const float middle = format == Format::affine4 ? 8.0f : 128.0f;
  return vfmaq_n_f32(load_affine(matrix.biases, matrix.scale_type, first, count), scales, middle);
}

// Prefetch distance in bytes for `rows` rows of `row_bytes` at a time: a multiple of their size, so that all is fetched
// once. Rows are short and several are read at once, so that the hardware does not recognise the one stream they are.
inline ptrdiff_t distance_ahead(ptrdiff_t rows, ptrdiff_t row_bytes) { return round_up(4096, rows * row_bytes); }

}  // namespace
}  // namespace sotto
