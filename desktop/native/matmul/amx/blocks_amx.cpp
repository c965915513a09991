// Arranging blocks (blocks.h) for AMX, see tiles.h.
#include "matmul/block_lanes_vnni.h"
#include "matmul/amx/split.h"

namespace sotto {
namespace {

#include "matmul/block_types.inc"

// Whether weights are integers times one factor for each block. Without it they have fewer bits.
template <typename Type>
concept HasFactor = requires { Type::factor; };

// Parts that may not be zero: Q6_K has integers of 13 bits, Q3_K of 8, and floating-point numbers have as few.
template <typename Type>
constexpr int kParts = Type::format == Format::q6_k                        ? 2
                       : HasFactor<Type> || has_float_panels(Type::format) ? 1
                                                                           : kSplitParts;

// Store the weights of a panel's 16 rows in two columns.
template <int Parts>
inline void store_pair(__m512 even, __m512 odd, uint16_t* panel, ptrdiff_t pair, Seen& seen) {
  __m512 left[kSplitParts], right[kSplitParts];
  split_weights(even, left);
  split_weights(odd, right);
#pragma GCC unroll 3
  for (int part = 0; part < Parts; ++part) {
    const __m512i words = paired(left[part], right[part]);
    seen.add(part, words);
    _mm512_storeu_si512(pair_at(panel, pair, part), words);
  }
}

// Byte `byte` of each row's word.
inline __m512 codes_at(__m512i words, int byte) {
  return _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(words, 8 * byte), _mm512_set1_epi32(0xff)));
}

// The weights of these codes.
inline __m512 weights_of(__m512i words, int byte, __m512 scale, __m512 bias) {
  return _mm512_fmadd_ps(codes_at(words, byte), scale, bias);
}

// Arrange a run, whose codes `codes` returns by fours of columns.
template <typename Type, typename Codes>
inline void arrange_run(const RunScales& own, int run, ptrdiff_t column, uint16_t* panel, Seen& seen, Codes codes) {
  constexpr int kQuads = block_type(Type::format).run / 4;
  const __m512 scale = _mm512_load_ps(own.scales[run]), bias = _mm512_load_ps(own.biases[run]);
#pragma GCC unroll 8
  for (int quad = 0; quad < kQuads; quad += 2) {
    const __m512i first = codes(quad), second = codes(quad + 1);
    const ptrdiff_t pair = (column + 4 * quad) / 2;
#pragma GCC unroll 4
    for (int next = 0; next < 4; ++next) {
      // In panels of nibbles the second word has the odd columns.
      const bool apart = has_nibble_panels(Type::format);
      const __m512i even = apart || next < 2 ? first : second, odd = apart || next >= 2 ? second : first;
      const int byte = apart ? next : next % 2 * 2;
      store_pair<kParts<Type>>(weights_of(even, byte, scale, bias),
                               weights_of(odd, apart ? byte : byte + 1, scale, bias), panel, pair + next, seen);
    }
  }
}

// The block that column `column` begins, and the scales of `count` runs of it, as integers where these have a factor.
template <typename Type>
inline Block open_block(const BlockPanel& panel, ptrdiff_t column, int count, RunScales& own) {
  const Block block = block_at<Type>(panel, column / kBlockColumns);
  if constexpr (HasFactor<Type>) {
    Type::put_scales(block, own, Lanes::set(1.0f));
  } else if constexpr (!may_end_early(Type::format)) {
    Type::scales(block, own);
  } else {
    for (int run = 0; run < count; ++run) {
      Type::put(block, own, run);
    }
  }
  return block;
}

// The codes of four columns of the run that is unpacked as number `place`.
template <typename Type>
inline __m512i codes_of(const Block& block, int place, int quad) {
  if constexpr (has_affine_panels(Type::format)) {
    return Type::run_codes(block, place, quad);
  } else {
    __m512i both[2];
    Type::codes(block, place / 2, quad, both[0], both[1]);
    return both[place % 2];
  }
}

template <typename Type>
void arrange_panel(const BlockPanel& panel, ptrdiff_t first, ptrdiff_t count, uint16_t* to, uint8_t* found,
                   float* factors) {
  constexpr int kRun = block_type(Type::format).run;
  for (ptrdiff_t column = 0; column < count; column += kBlockColumns) {
    const int runs = static_cast<int>((count - column < kBlockColumns ? count - column : kBlockColumns) / kRun);
    RunScales own;
    const Block block = open_block<Type>(panel, first + column, runs, own);
    Seen seen[kBlockColumns / kChunkColumns];
    for (int place = 0; place < runs; place += 2) {
#pragma GCC unroll 2
      for (int side = 0; side < 2; ++side) {
        if (place + side < runs) {
          const int run = run_at(Type::format, place + side);
          const ptrdiff_t at = run * kRun;
          arrange_run<Type>(own, run, column + at, to, seen[at / kChunkColumns],
                            [&](int quad) { return codes_of<Type>(block, place + side, quad); });
        }
      }
    }
    __m512 factor = Lanes::set(1.0f);
    if constexpr (HasFactor<Type>) {
      factor = block.factor(Type::factor);
    }
    for (ptrdiff_t at = 0; at < kBlockColumns && column + at < count; at += kChunkColumns) {
      const ptrdiff_t chunk = (column + at) / kChunkColumns;
      const uint8_t parts = seen[at / kChunkColumns].count();
      found[chunk] = found[chunk] > parts ? found[chunk] : parts;
      _mm512_storeu_ps(factors + chunk * kMostTiledRows, factor);
    }
  }
}

// Two of the bytes of each word as bfloat16 numbers, which hold them exactly.
inline __m512i as_bfloats(__m512i even, int even_byte, __m512i odd, int odd_byte) {
  return paired(codes_at(even, even_byte), codes_at(odd, odd_byte));
}

template <typename Type>
void arrange_code_panel(const BlockPanel& panel, ptrdiff_t first, ptrdiff_t count, uint16_t* to, float* scales) {
  static_assert(block_type(Type::format).run == kTileColumns);
  constexpr ptrdiff_t kPair = 2 * kTileHeight;
  for (ptrdiff_t column = 0; column < count; column += kBlockColumns) {
    const ptrdiff_t left = count - column < kBlockColumns ? count - column : kBlockColumns;
    const int runs = static_cast<int>(left / kTileColumns);
    RunScales own;
    const Block block = open_block<Type>(panel, first + column, runs, own);
    for (int run = 0; run < runs; ++run, to += kCodeStep, scales += 2 * kMostTiledRows) {
      _mm512_storeu_ps(scales, _mm512_load_ps(own.scales[run]));
      _mm512_storeu_ps(scales + kMostTiledRows, _mm512_load_ps(own.biases[run]));
#pragma GCC unroll 4
      for (int quad = 0; quad < 8; quad += 2) {
        const __m512i codes = codes_of<Type>(block, run, quad), next = codes_of<Type>(block, run, quad + 1);
#pragma GCC unroll 4
        for (int pair = 0; pair < 4; ++pair) {
          // In panels of nibbles the second word has the odd columns.
          const __m512i words = has_nibble_panels(Type::format) ? as_bfloats(codes, pair, next, pair)
                                : pair < 2                      ? as_bfloats(codes, 2 * pair, codes, 2 * pair + 1)
                                                                : as_bfloats(next, 2 * pair - 4, next, 2 * pair - 3);
          _mm512_storeu_si512(to + (2 * quad + pair) * kPair, words);
        }
      }
    }
  }
}

}  // namespace

void arrange_blocks_amx(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t count,
                        const TiledWeights& to) {
  const ptrdiff_t steps = count / kTileColumns, chunks = (count + kChunkColumns - 1) / kChunkColumns;
  for (ptrdiff_t row = begin; row < end; row += kPanelRows) {
    const ptrdiff_t pair = (row - begin) / kTiledRows, side = (row - begin) / kPanelRows % 2;
    uint8_t* found = to.parts + pair * chunks;
    for (ptrdiff_t chunk = 0; chunk < chunks && side == 0; ++chunk) {
      found[chunk] = 1;
    }
    uint16_t* panel = to.values + pair * steps * kTiledStep + side * kTileColumns * kTileHeight;
    with_type(matrix, [&](auto type) {
      arrange_panel<decltype(type)>(panel_at(matrix, row), first, count, panel, found,
                                    to.factors + (row - begin));
    });
  }
}

void arrange_codes_amx(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t count,
                       const TiledCodes& to) {
  for (ptrdiff_t row = begin; row < end; row += kPanelRows) {
    const ptrdiff_t at = row - begin, block = at / kCodeRows, side = at % kCodeRows / kPanelRows;
    uint16_t* panel = to.values + block * (count / kTileColumns) * kCodeStep + side * kTileColumns * kTileHeight;
    with_type(matrix, [&](auto type) {
      using Type = decltype(type);
      if constexpr (block_type(Type::format).run == kTileColumns) {
        arrange_code_panel<Type>(panel_at(matrix, row), first, count, panel, to.scales + at);
      }
    });
  }
}

}  // namespace sotto
