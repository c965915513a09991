// Packing in fewer bits and unpacking, written once for all instruction sets; see kernels_impl.h.
#pragma once

#include "fused/codes_impl.h"
#include "fused/halves_impl.h"
#include "fused/kernels.h"
#include "fused/vector.h"

namespace {

using sotto::fused::Packed;
using std::int64_t;

void unpack(const Packed& from, float* out, int64_t n) {
  if (from.bits == sotto::fused::kHalf) {
    widen(reinterpret_cast<const Half*>(from.bytes), out, n);
  } else if (from.bits == 8) {
    unpack_codes<8>(from, out, n);
  } else {
    unpack_codes<4>(from, out, n);
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
