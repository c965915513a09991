// The kernels of rows.h for any x86-64 processor, with the compiler's 4-lane vectors.
#include "rows.h"

namespace sotto {
namespace {

struct Lanes {
  typedef float Vector __attribute__((vector_size(16)));
  typedef uint32_t Words __attribute__((vector_size(16)));
  typedef int32_t Signed __attribute__((vector_size(16)));
  static constexpr int kWidth = 4;
  // The factor that fp8() omits and load_scales() applies.
  static constexpr float kFp8Factor = 256.0f;

  static Vector zero() { return Vector{0, 0, 0, 0}; }
  static Vector set(float value) { return Vector{value, value, value, value}; }
  static Vector load(const float* from) {
    Vector value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
  }
  static Vector hold(Vector value) { return value; }
  static Vector load_part(const float* from, ptrdiff_t count) {
    Vector value = zero();
    __builtin_memcpy(&value, from, count * sizeof(float));
    return value;
  }
  static void store(float* to, Vector value) { __builtin_memcpy(to, &value, sizeof(value)); }
  static Vector keep(Vector value, ptrdiff_t count) {
    for (ptrdiff_t lane = count; lane < kWidth; ++lane) {
      value[lane] = 0.0f;
    }
    return value;
  }
  static Vector add(Vector a, Vector b) { return a + b; }
  static Vector mul(Vector a, Vector b) { return a * b; }
  static Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }
  static float sum(Vector value) { return (value[0] + value[2]) + (value[1] + value[3]); }
  // The lane sums of four vectors.
  static void sums(const Vector (&of)[4], float (&to)[4]) {
    for (int i = 0; i < 4; ++i) {
      to[i] = sum(of[i]);
    }
  }

  static Vector as_floats(Words bits) { return (Vector)bits; }
  static Vector bf16(const uint16_t* from) {
    return as_floats(Words{from[0], from[1], from[2], from[3]} << 16);
  }
  // float16: its bits, shifted into place, are those of a float32 whose exponent is 112 too small. Infinities and NaNs
  // have the highest exponent in both types.
  static Vector f16(const uint16_t* from) {
    const Words bits = {from[0], from[1], from[2], from[3]};
    const Words magnitude = (bits & 0x7fff) << 13;
    const Vector finite = as_floats(magnitude) * set(0x1p112f);
    const Words special = (Words)(magnitude >= Words{} + (0x7c00u << 13));
    const Words value = ((Words)finite & ~special) | ((magnitude | 0x7f800000u) & special);
    return as_floats(value | ((bits & 0x8000) << 16));
  }
  static Vector load_bf16(const uint16_t* from) { return bf16(from); }
  static Vector load_f16(const uint16_t* from) { return f16(from); }
  static Vector load_bf16_part(const uint16_t* from, ptrdiff_t count) {
    uint16_t whole[kWidth] = {};
    __builtin_memcpy(whole, from, count * sizeof(uint16_t));
    return bf16(whole);
  }
  static Vector load_f16_part(const uint16_t* from, ptrdiff_t count) {
    uint16_t whole[kWidth] = {};
    __builtin_memcpy(whole, from, count * sizeof(uint16_t));
    return f16(whole);
  }

  static Words words(const uint8_t* from) {
    Words value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
  }
  static Words words_part(const uint8_t* from, ptrdiff_t count) {
    Words value = {};
    __builtin_memcpy(&value, from, count * sizeof(uint32_t));
    return value;
  }
  // Flipping the top bit turns q into q - 8 in two's complement.
  static Vector signed_nibble(Words words, int index) {
    const Signed flipped = (Signed)((words ^ 0x88888888u) << (28 - 4 * index));
    return __builtin_convertvector(flipped >> 28, Vector);
  }
  // E2M1: exponent and mantissa are shifted to their places in a float32, whose exponent is then 126 too small.
  static Vector fp4(Words words, int index) {
    const Words code = words >> (4 * index);
    const Vector magnitude = as_floats((code & 7) << 22) * set(0x1p126f);
    return as_floats((Words)magnitude | ((code & 8) << 28));
  }
  static Words bytes(const uint8_t* from) { return Words{from[0], from[1], from[2], from[3]}; }
  static Vector signed_bytes(const uint8_t* from) {
    return __builtin_convertvector((Signed)bytes(from) - 128, Vector);
  }
  // E4M3: like fp4(), but the exponent is 120 too small, of which kFp8Factor makes up for 8; all ones are NaN.
  static Vector fp8(const uint8_t* from) {
    const Words code = bytes(from);
    const Words value = code & 0x7f;
    const Vector magnitude = as_floats(value << 20) * set(0x1p112f);
    const Words nan_bits = (Words)(value == Words{} + 0x7fu) & 0x7fc00000u;
    return as_floats((Words)magnitude | nan_bits | ((code & 0x80) << 24));
  }
  // E8M0: the exponent of a float32. Zero encodes 2^-127, which is subnormal.
  static Vector powers_of_two(const uint8_t* from) {
    const Words code = bytes(from);
    const Words zero_code = (Words)(code == Words{}) & 0x00400000u;
    return as_floats((code << 23) | zero_code);
  }

  struct Spread {
    int lane[kWidth];
  };
  // The index of each lane's scale, for the block of words that begins at `word`.
  static Spread spread(ptrdiff_t word, int group_words) {
    const int shift = __builtin_ctz(group_words);
    const int at = static_cast<int>(word);
    return {{at >> shift, (at + 1) >> shift, (at + 2) >> shift, (at + 3) >> shift}};
  }
  static Spread broadcast_of(ptrdiff_t index) {
    const int at = static_cast<int>(index);
    return {{at, at, at, at}};
  }
  static Vector pick(Vector scales, Spread spread) {
    float values[kWidth];
    __builtin_memcpy(values, &scales, sizeof(values));
    return Vector{values[spread.lane[0]], values[spread.lane[1]], values[spread.lane[2]], values[spread.lane[3]]};
  }

  static void transpose(const float* from, float* to) {
    for (int i = 0; i < 8; ++i) {
      for (int lane = 0; lane < kWidth; ++lane) {
        to[i * kWidth + lane] = from[8 * lane + i];
      }
    }
  }
};

#include "rows_kernels.inc"

}  // namespace

extern const RowKernels kRowsSse2 = {width_of, sums_width_of, prepare_row, multiply_rows, unpack_rows};

}  // namespace sotto
