// float16 in memory, written once for all instruction sets; see kernels_impl.h.
#pragma once

#include "fused/kernels.h"
#include "fused/vector.h"

namespace {

using sotto::fused::Half;
using std::int64_t;

// float16 in float32, exactly.
inline float from_half(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000) << 16, rest = half.bits & 0x7fff;
  // Of infinities and NaNs, the exponent is all ones. That of other numbers is too small by 112.
  std::uint32_t bits = rest << 13 | (rest >= 0x7c00 ? 0x7f800000u : 0u);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  if (rest < 0x7c00) value *= 0x1p112f;
  std::memcpy(&bits, &value, sizeof(bits));
  bits |= sign;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// float32 in float16, rounded to the nearest, and to the even one of two. What is too large becomes the largest number.
inline Half to_half(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const std::uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  float size;
  std::memcpy(&size, &bits, sizeof(size));
  if (bits > 0x7f800000) {
    bits = 0x7e00;
  } else if (size >= 65504.0f) {
    bits = 0x7bff;
  } else if (size < 0x1p-14f) {
    // A sum with this has as many bits as a subnormal number.
    size += 0.5f;
    std::memcpy(&bits, &size, sizeof(bits));
    bits -= 0x3f000000;
  } else {
    bits = (bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | bits)};
}

inline Floats load(const Half* from) {
#if SOTTO_LANES == 16
  return reinterpret_cast<Floats>(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
#elif SOTTO_LANES == 8
  return reinterpret_cast<Floats>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#elif defined(__ARM_NEON)
  return reinterpret_cast<Floats>(vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&from->bits))));
#else
  return Floats{from_half(from[0]), from_half(from[1]), from_half(from[2]), from_half(from[3])};
#endif
}

// Load the first `count` lanes; the others are zero.
inline Floats load_some(const Half* from, int64_t count) {
  Floats value = {};
  for (int64_t lane = 0; lane < count; ++lane) value[lane] = from_half(from[lane]);
  return value;
}

void widen(const Half* from, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load(from + i));
  for (; i < n; ++i) out[i] = from_half(from[i]);
}

void narrow(const float* x, Half* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = to_half(x[i]);
}

}  // namespace
