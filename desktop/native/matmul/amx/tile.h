// The tile instructions of AMX. As assembly, because GCC has its intrinsics only from version 11 on, and does not tell
// the optimizer that they access memory. Everything is in an anonymous namespace, like the code that uses it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "matmul/fixed.h"

namespace sotto {
namespace {

// The bytes of a row of a tile.
constexpr ptrdiff_t kTileBytes = 64;

// The operand of ldtilecfg: the shapes of the eight tiles. One without rows must not be used.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t reserved[15] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void set(int tile, ptrdiff_t height, ptrdiff_t bytes) {
    rows[tile] = static_cast<uint8_t>(height);
    row_bytes[tile] = static_cast<uint16_t>(height > 0 ? bytes : 0);
  }
};

// Shapes for products of two tiles of activations, 4 and 5, with `first` and `second` rows of `bytes` bytes, and two of
// weights, 6 and 7: the sums of the first ones are in tiles 0 and 1, and those of the second ones in 2 and 3.
inline TileShapes two_by_two(ptrdiff_t first, ptrdiff_t second, ptrdiff_t bytes) {
  TileShapes shapes;
  for (int tile = 0; tile < 4; ++tile) {
    shapes.set(tile, tile < 2 ? first : second, kTileBytes);
  }
  shapes.set(4, first, bytes);
  shapes.set(5, second, bytes);
  shapes.set(6, bytes / 4, kTileBytes);
  shapes.set(7, bytes / 4, kTileBytes);
  return shapes;
}

// The shapes of tiles while this exists. Between tasks there are none, so that tiles need not be saved when threads are
// switched.
class Tiles {
 public:
  explicit Tiles(const TileShapes& shapes) { asm volatile("ldtilecfg %0" : : "m"(shapes)); }
  ~Tiles() { asm volatile("tilerelease"); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

// Load a tile whose rows are `stride` bytes apart.
template <int Tile>
inline void load_tile(const void* from, ptrdiff_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(Tile) : "memory");
}

template <int Tile>
inline void store_tile(void* to, ptrdiff_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(Tile) : "memory");
}

template <int Tile>
inline void clear_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(Tile));
}

// Total += signed * unsigned bytes, as 32-bit integers: [m, n] gets the products of row m of Left, which has
// `row_bytes` columns, and of bytes 4n to 4n + 3 of each row of Right, each of which has four of these columns.
template <int Total, int Left, int Right>
inline void multiply_bytes() {
  asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Total), "i"(Left), "i"(Right));
}

// Total += products of bfloat16 numbers, as float32; like multiply_bytes, but with two columns in four bytes.
template <int Total, int Left, int Right>
inline void multiply_bfloats() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Total), "i"(Left), "i"(Right));
}

}  // namespace
}  // namespace sotto
