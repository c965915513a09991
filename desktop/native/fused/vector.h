// Vectors of SOTTO_LANES floats, with the compiler's vector extension: one source, compiled for each instruction set.
//
// Everything has internal linkage, and no inline functions of the standard library are used: the linker would keep only
// one copy of a function that several files share, perhaps with instructions that the processor lacks.
#pragma once

#include <cstdint>
#include <cstring>

#if SOTTO_LANES > 4
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace {

constexpr std::int64_t kLanes = SOTTO_LANES;

typedef float Floats __attribute__((vector_size(4 * SOTTO_LANES)));
typedef std::int32_t Ints __attribute__((vector_size(4 * SOTTO_LANES)));
typedef double Doubles __attribute__((vector_size(4 * SOTTO_LANES)));        // half as many lanes
typedef std::int64_t Longs __attribute__((vector_size(4 * SOTTO_LANES)));    // half as many lanes
typedef float HalfFloats __attribute__((vector_size(2 * SOTTO_LANES)));      // half as many lanes
typedef Floats LooseFloats __attribute__((aligned(4), may_alias));
typedef HalfFloats LooseHalfFloats __attribute__((aligned(4), may_alias));

inline Floats load(const float* from) { return *reinterpret_cast<const LooseFloats*>(from); }
inline void store(float* to, Floats value) { *reinterpret_cast<LooseFloats*>(to) = value; }

// Load the first `count` lanes; the others are zero.
inline Floats load_some(const float* from, std::int64_t count) {
  Floats value = {};
  std::memcpy(&value, from, static_cast<std::size_t>(count) * sizeof(float));
  return value;
}

inline void store_some(float* to, Floats value, std::int64_t count) {
  std::memcpy(to, &value, static_cast<std::size_t>(count) * sizeof(float));
}

inline Floats all(float value) { return value - Floats{}; }

// a * b + c, rounded only once if the instruction set has FMA.
inline Floats fused(Floats a, Floats b, Floats c) {
#if SOTTO_LANES == 16
  return reinterpret_cast<Floats>(_mm512_fmadd_ps(
      reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif SOTTO_LANES == 8
  return reinterpret_cast<Floats>(_mm256_fmadd_ps(
      reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#elif defined(__ARM_NEON)
  return reinterpret_cast<Floats>(vfmaq_f32(
      reinterpret_cast<float32x4_t>(c), reinterpret_cast<float32x4_t>(a), reinterpret_cast<float32x4_t>(b)));
#else
  return a * b + c;
#endif
}
inline Floats fused(Floats a, Floats b, float c) { return fused(a, b, all(c)); }

inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }
inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }

#if SOTTO_LANES > 4
inline __m128 folded(Floats value) {
#if SOTTO_LANES == 16
  const __m512 whole = reinterpret_cast<__m512>(value);
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(whole), _mm512_extractf32x8_ps(whole, 1));
#else
  const __m256 eight = reinterpret_cast<__m256>(value);
#endif
  return _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
}
#endif

// The lane sums of four vectors, each in an order that depends on the number of lanes alone.
inline void sums(const Floats* values, float* to) {
#if SOTTO_LANES > 4
  const __m128 low = _mm_hadd_ps(folded(values[0]), folded(values[1]));
  const __m128 high = _mm_hadd_ps(folded(values[2]), folded(values[3]));
  _mm_storeu_ps(to, _mm_hadd_ps(low, high));
#elif defined(__ARM_NEON)
  const auto pairs = [](Floats a, Floats b) {
    return vpaddq_f32(reinterpret_cast<float32x4_t>(a), reinterpret_cast<float32x4_t>(b));
  };
  vst1q_f32(to, vpaddq_f32(pairs(values[0], values[1]), pairs(values[2], values[3])));
#else
  for (int i = 0; i < 4; ++i) to[i] = (values[i][0] + values[i][1]) + (values[i][2] + values[i][3]);
#endif
}

#if SOTTO_LANES == 16
// The lane sums of sixteen vectors, those of a row in consecutive lanes; each in the same order.
inline Floats sums_of_columns(const Floats (*values)[4]) {
  __m512 columns[4];
  for (int j = 0; j < 4; ++j) {
    __m512 pairs[2];
    for (int half = 0; half < 2; ++half) {
      const __m512 one = reinterpret_cast<__m512>(values[2 * half][j]);
      const __m512 two = reinterpret_cast<__m512>(values[2 * half + 1][j]);
      pairs[half] = _mm512_add_ps(_mm512_shuffle_f32x4(one, two, 0x44), _mm512_shuffle_f32x4(one, two, 0xee));
    }
    columns[j] = _mm512_add_ps(
        _mm512_shuffle_f32x4(pairs[0], pairs[1], 0x88), _mm512_shuffle_f32x4(pairs[0], pairs[1], 0xdd));
  }
  const auto joined = [](__m512 one, __m512 two) {
    return _mm512_add_ps(_mm512_shuffle_ps(one, two, 0x88), _mm512_shuffle_ps(one, two, 0xdd));
  };
  return reinterpret_cast<Floats>(joined(joined(columns[0], columns[1]), joined(columns[2], columns[3])));
}
#endif

// The lane sum of one vector, in the same order.
inline float sum(Floats value) {
#if SOTTO_LANES > 4
  const __m128 two = _mm_hadd_ps(folded(value), folded(value));
  return _mm_cvtss_f32(_mm_hadd_ps(two, two));
#else
  return (value[0] + value[1]) + (value[2] + value[3]);
#endif
}

inline float largest(Floats value) {
  float result = value[0];
  for (int i = 1; i < SOTTO_LANES; ++i) result = value[i] > result ? value[i] : result;
  return result;
}

// exp(x) to about one unit in the last place: x = n ln 2 + r, a polynomial in r, and n added to the exponent in two
// halves, so that subnormal results are rounded correctly.
inline Floats exponential(Floats x) {
  x = x < -105.0f ? all(-105.0f) : x;
  x = x > 89.0f ? all(89.0f) : x;
  const Floats magic = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  const Floats shifted = fused(x, all(1.44269504088896341f), magic);
  const Floats n = shifted - magic;
  Floats r = fused(n, all(-0.693145751953125f), x);
  r = fused(n, all(-1.42860682030941723e-6f), r);
  Floats p = fused(all(0.0013952970f), r, 0.0083703216f);
  p = fused(p, r, 0.0416661680f);
  p = fused(p, r, 0.1666650670f);
  p = fused(p, r, 0.5000000107f);
  p = fused(p, r * r, r);
  p = p + 1.0f;
  const Ints whole = reinterpret_cast<Ints>(shifted) - reinterpret_cast<Ints>(magic);
  const Ints first = whole >> 1;
  const Ints second = whole - first;
  p = p * reinterpret_cast<Floats>((first + 127) << 23);
  return p * reinterpret_cast<Floats>((second + 127) << 23);
}

}  // namespace
