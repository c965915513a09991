// Float32 numbers as sums of bfloat16 numbers, for tiles.h. Everything is in an anonymous namespace: none of it may be
// linked into code for other processors.
#pragma once

#include <immintrin.h>

#include "matmul/tiles.h"

namespace sotto {
namespace {

inline __m512 upper_half(__m512i bits) {
  return _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}

// Weights: rounded parts, so that two of them have 17 bits. The values have zeros in their lower halves.
inline void split_weights(__m512 weights, __m512 (&parts)[kSplitParts]) {
  const __m512i half = _mm512_set1_epi32(0x8000);
  parts[0] = upper_half(_mm512_add_epi32(_mm512_castps_si512(weights), half));
  const __m512 rest = _mm512_sub_ps(weights, parts[0]);
  parts[1] = upper_half(_mm512_add_epi32(_mm512_castps_si512(rest), half));
  parts[2] = upper_half(_mm512_castps_si512(_mm512_sub_ps(rest, parts[1])));
}

// Pairs of neighbouring columns as the words of a tile.
inline __m512i paired(__m512 even, __m512 odd) {
  return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(even), 16), _mm512_castps_si512(odd));
}

// Which of the parts of a chunk are not zero.
class Seen {
 public:
  void add(int part, __m512i words) { bits_[part] = _mm512_or_si512(bits_[part], words); }
  // The number of parts up to the last that is not zero, at least one.
  uint8_t count() const { return any(2) ? 3 : any(1) ? 2 : 1; }

 private:
  // The signs of zeros do not count.
  bool any(int part) const { return _mm512_test_epi32_mask(bits_[part], _mm512_set1_epi32(0x7fff7fff)) != 0; }
  __m512i bits_[kSplitParts] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
};

// The words of 16 rows of arranged weights at a pair of columns, from the first of these.
inline uint16_t* pair_at(uint16_t* panel, ptrdiff_t pair, int part) {
  constexpr ptrdiff_t kPairs = kTileColumns / 2, kTile = kTileColumns * kTileHeight;
  return panel + pair / kPairs * kTiledStep + part * 2 * kTile + pair % kPairs * kTileHeight * 2;
}

}  // namespace
}  // namespace sotto
