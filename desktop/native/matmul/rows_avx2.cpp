// The kernels of rows.h for AVX2 with FMA and F16C.
#include <immintrin.h>

#include "rows.h"

namespace sotto {
namespace {

struct Lanes {
  using Vector = __m256;
  using Words = __m256i;
  static constexpr int kWidth = 8;
  // The factor that fp8() omits and load_scales() applies.
  static constexpr float kFp8Factor = 256.0f;

  static __m256i lanes() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
  static __m256i mask(ptrdiff_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lanes());
  }

  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector set(float value) { return _mm256_set1_ps(value); }
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  // WORKAROUND: keep a value in a register. GCC reloads it for each product, at the expense of other loads. Measure
  // without this when Debian's default compiler changes.
  static Vector hold(Vector value) {
    asm("" : "+x"(value));
    return value;
  }
  static Vector load_part(const float* from, ptrdiff_t count) { return _mm256_maskload_ps(from, mask(count)); }
  static void store(float* to, Vector value) { _mm256_storeu_ps(to, value); }
  static Vector keep(Vector value, ptrdiff_t count) {
    return _mm256_and_ps(value, _mm256_castsi256_ps(mask(count)));
  }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector mul(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  static float sum(Vector value) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
  }
  // The lane sums of four vectors.
  static void sums(const Vector (&of)[4], float (&to)[4]) {
    const Vector all = _mm256_hadd_ps(_mm256_hadd_ps(of[0], of[1]), _mm256_hadd_ps(of[2], of[3]));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)));
  }

  static Vector bf16(__m128i bits) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  static __m128i half_words(const uint16_t* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
  static __m128i half_words_part(const uint16_t* from, ptrdiff_t count) {
    uint16_t whole[kWidth] = {};
    __builtin_memcpy(whole, from, count * sizeof(uint16_t));
    return half_words(whole);
  }
  static Vector load_bf16(const uint16_t* from) { return bf16(half_words(from)); }
  static Vector load_bf16_part(const uint16_t* from, ptrdiff_t count) { return bf16(half_words_part(from, count)); }
  static Vector load_f16(const uint16_t* from) { return _mm256_cvtph_ps(half_words(from)); }
  static Vector load_f16_part(const uint16_t* from, ptrdiff_t count) {
    return _mm256_cvtph_ps(half_words_part(from, count));
  }

  static Words words(const uint8_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static Words words_part(const uint8_t* from, ptrdiff_t count) {
    return _mm256_maskload_epi32(reinterpret_cast<const int*>(from), mask(count));
  }
  // Flipping the top bit turns q into q - 8 in two's complement.
  static Vector signed_nibble(Words words, int index) {
    const __m256i flipped = _mm256_xor_si256(words, _mm256_set1_epi32(static_cast<int>(0x88888888u)));
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(flipped, 28 - 4 * index), 28));
  }
  static Vector fp4(Words words, int index) {
    const Vector magnitudes = _mm256_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6);
    const Vector magnitude = _mm256_permutevar8x32_ps(magnitudes, _mm256_srli_epi32(words, 4 * index));
    const __m256i sign = _mm256_and_si256(_mm256_slli_epi32(words, 28 - 4 * index),
                                          _mm256_set1_epi32(static_cast<int>(0x80000000u)));
    return _mm256_or_ps(magnitude, _mm256_castsi256_ps(sign));
  }
  static __m128i eight_bytes(const uint8_t* from) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)); }
  static Vector signed_bytes(const uint8_t* from) {
    const __m128i shifted = _mm_xor_si128(eight_bytes(from), _mm_set1_epi8(static_cast<char>(0x80)));
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(shifted));
  }
  // E4M3: the bits are those of a float16 with an exponent that is 8 too small; all ones are NaN. Sign extension fills
  // the two bits above the exponent, of which the lower one is cleared.
  static Vector fp8(const uint8_t* from) {
    const __m128i halves = _mm_and_si128(_mm_slli_epi16(_mm_cvtepi8_epi16(eight_bytes(from)), 7),
                                         _mm_set1_epi16(static_cast<short>(0xbfff)));
    const __m128i highest = _mm_set1_epi16(0x3f80);
    const __m128i is_nan = _mm_cmpeq_epi16(_mm_and_si128(halves, highest), highest);
    return _mm256_cvtph_ps(_mm_or_si128(halves, _mm_and_si128(is_nan, _mm_set1_epi16(0x4000))));
  }
  // E8M0: the exponent of a float32. Zero encodes 2^-127, which is subnormal.
  static Vector powers_of_two(const uint8_t* from) {
    const __m256i wide = _mm256_cvtepu8_epi32(eight_bytes(from));
    return _mm256_castsi256_ps(_mm256_max_epu32(_mm256_slli_epi32(wide, 23), _mm256_set1_epi32(0x00400000)));
  }

  using Spread = __m256i;
  // The index of each lane's scale, for the block of words that begins at `word`.
  static Spread spread(ptrdiff_t word, int group_words) {
    const __m256i at = _mm256_add_epi32(lanes(), _mm256_set1_epi32(static_cast<int>(word)));
    return _mm256_srl_epi32(at, _mm_cvtsi32_si128(__builtin_ctz(group_words)));
  }
  static Spread broadcast_of(ptrdiff_t index) { return _mm256_set1_epi32(static_cast<int>(index)); }
  static Vector pick(Vector scales, Spread spread) { return _mm256_permutevar8x32_ps(scales, spread); }

  static void transpose(const float* from, float* to) {
    const __m256i step = _mm256_setr_epi32(0, 8, 16, 24, 32, 40, 48, 56);
    for (int i = 0; i < 8; ++i) {
      _mm256_storeu_ps(to + 8 * i, _mm256_i32gather_ps(from + i, step, 4));
    }
  }
};

#include "rows_kernels.inc"

}  // namespace

extern const RowKernels kRowsAvx2 = {width_of, sums_width_of, prepare_row, multiply_rows, unpack_rows};

}  // namespace sotto
