// Packing in fewer bits and unpacking, written once for all instruction sets; see kernels_impl.h.
#pragma once

#include "fused/halves_impl.h"
#include "fused/kernels.h"
#include "fused/vector.h"

namespace {

using sotto::fused::Packed;
using std::int64_t;

typedef std::uint8_t Bytes __attribute__((vector_size(16)));
typedef Bytes LooseBytes __attribute__((aligned(1), may_alias));

inline Floats from_bytes(const std::uint8_t* from) {
#if SOTTO_LANES == 16
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return reinterpret_cast<Floats>(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes)));
#elif SOTTO_LANES == 8
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return reinterpret_cast<Floats>(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)));
#else
  return Floats{static_cast<float>(from[0]), static_cast<float>(from[1]), static_cast<float>(from[2]),
                static_cast<float>(from[3])};
#endif
}

// out = bytes * scale + bias, rounded twice.
inline void unpack_bytes(const std::uint8_t* from, float scale, float bias, float* out, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) store(out + i, from_bytes(from + i) * scale + bias);
}

void unpack(const Packed& from, float* out, int64_t n) {
  const std::uint8_t* const bytes = from.bytes;
  if (from.bits == sotto::fused::kHalf) return widen(reinterpret_cast<const Half*>(bytes), out, n);
  // Counted: dividing by the size of a group takes older processors longer than unpacking one.
  int64_t group = 0;
  for (int64_t i = 0; i < n; i += from.group, ++group) {
    const float scale = from.scales[group], bias = from.biases[group];
    if (from.bits == 8) {
      unpack_bytes(bytes + i, scale, bias, out + i, from.group);
      continue;
    }
#if SOTTO_LANES == 16
    // A permutation looks up sixteen numbers at once, and only takes the low four bits of an index.
    const Floats digits = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const __m512 table = reinterpret_cast<__m512>(digits * scale + bias);
    const __m512i halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const __m512i shifts = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
    for (int64_t j = i; j < i + from.group; j += kLanes) {
      const __m128i pair = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + j / 2));
      const __m512i words = _mm512_permutexvar_epi32(halves, _mm512_castsi128_si512(pair));
      _mm512_storeu_ps(out + j, _mm512_permutexvar_ps(_mm512_srlv_epi32(words, shifts), table));
    }
#else
    for (int64_t j = i; j < i + from.group; j += 32) {
      const Bytes pairs = *reinterpret_cast<const LooseBytes*>(bytes + j / 2);
      const Bytes low = pairs & 15, high = pairs >> 4;
      alignas(16) std::uint8_t single[32];
      *reinterpret_cast<LooseBytes*>(single) = __builtin_shufflevector(
          low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      *reinterpret_cast<LooseBytes*>(single + 16) = __builtin_shufflevector(
          low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      unpack_bytes(single, scale, bias, out + j, 32);
    }
#endif
  }
}

void pack(const float* x, const Packed& to, int64_t n) {
  std::uint8_t* const bytes = to.bytes;
  if (to.bits == sotto::fused::kHalf) return narrow(x, reinterpret_cast<Half*>(bytes), n);
  const float most = static_cast<float>((1 << to.bits) - 1);
  const Floats magic = all(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  int64_t group = 0;
  for (int64_t i = 0; i < n; i += to.group, ++group) {
    Floats least = load(x + i), largest_ones = least;
    for (int64_t j = i + kLanes; j < i + to.group; j += kLanes) {
      least = smaller(load(x + j), least);
      largest_ones = larger(load(x + j), largest_ones);
    }
    const float bottom = -largest(-least), top = largest(largest_ones);
    // The end with the larger magnitude is exactly a multiple of the scale, and so is zero.
    const bool below = __builtin_fabsf(bottom) > __builtin_fabsf(top);
    float scale = (top - bottom) / most;
    scale = scale > 1e-7f ? scale : 1e-7f;
    scale = below ? scale : -scale;
    const float edge = below ? bottom : top;
    const float steps = __builtin_rintf(edge / scale);
    float bias = 0;
    if (steps != 0) {
      scale = edge / steps;
      bias = edge;
    }
    to.scales[group] = scale;
    to.biases[group] = bias;
    for (int64_t j = i; j < i + to.group; j += kLanes) {
      const Floats place = smaller(larger((load(x + j) - bias) / scale, Floats{}), all(most));
      const Ints whole = reinterpret_cast<Ints>(place + magic) - reinterpret_cast<Ints>(magic);
      for (int lane = 0; lane < SOTTO_LANES; ++lane) {
        if (to.bits == 8) {
          bytes[j + lane] = static_cast<std::uint8_t>(whole[lane]);
        } else if (lane % 2 == 0) {
          bytes[(j + lane) / 2] = static_cast<std::uint8_t>(whole[lane] | whole[lane + 1] << 4);
        }
      }
    }
  }
}

}  // namespace
