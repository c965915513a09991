// Activations as integers in digits, for x86; see fixed.h. This header uses nothing of the C++ standard library, for the
// same reason as rows.h.
#pragma once

#include "matmul/blocks.h"
#include "matmul/fixed.h"

namespace sotto {

constexpr int kDigitBits = 7;
// The largest integer: its top digit is at most 127 even after carries from the others. 64 products of it with 15, the
// largest 4-bit code, still fit into 32 bits; and so do 32 with 31 and 16 with 63.
constexpr float kLargest = 127 * 16384 + 63 * 128;
// Below this the reciprocal of a scale would overflow float32; taking such values as zero has no visible effect.
constexpr float kSmallest = 1e-31f;

// Codes of E2M1, a 4-bit floating-point type, as unsigned integers: half a unit each, plus kFp4Zero.
constexpr int kFp4Zero = 12;
constexpr int8_t kFp4Codes[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

// Whether the products of all digits of a run with the codes may not fit into 32 bits.
constexpr bool is_wide(Format format) {
  return format == Format::affine8 || format == Format::iq4_xs || format == Format::iq4_nl || format == Format::q8_0 ||
         format == Format::affine8_panels32 || format == Format::affine8_panels64;
}

}  // namespace sotto
