// Products of the attention, written once for all instruction sets; see kernels_impl.h. The right operand is float32 or
// float16, and multiplied as float32.
#pragma once

#include "fused/halves_impl.h"
#include "fused/kernels.h"
#include "fused/vector.h"

namespace {

using sotto::fused::Half;
using sotto::fused::kKeyBlock;
using std::int64_t;

// Prefetch distances in rows of keys or values, where each row is used only once or twice: into the L2 cache, and from
// there into the L1 cache, which can wait for few lines at a time only.
constexpr int64_t kFarAhead = 64;
constexpr int64_t kNearAhead = 8;

// Fetch `count` numbers of rows that come later.
template <typename Number>
inline void prefetch(const Number* row, int64_t step, int64_t count) {
  constexpr int64_t kInLine = 64 / sizeof(Number);
  for (int64_t i = 0; i < count; i += kInLine) {
    __builtin_prefetch(row + kFarAhead * step + i, 0, 2);
    __builtin_prefetch(row + kNearAhead * step + i);
  }
}

// A tile of `rows` rows by `vectors` vectors. If `partial`, only `tail` lanes of its single vector are used.
// Without these pragmas, GCC 12 keeps the sums in memory.
template <int rows, int vectors, bool partial, bool ahead, typename Number>
inline void tile(
    const float* a, int64_t a_row, int64_t a_column, const Number* b, int64_t b_row, float* c, int64_t c_row,
    int64_t k, bool add, int64_t tail) {
  Floats sums[rows][vectors];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const float* at = c + i * c_row + v * kLanes;
      sums[i][v] = !add ? Floats{} : partial ? load_some(at, tail) : load(at);
    }
  }
  for (int64_t p = 0; p < k; ++p) {
    if constexpr (ahead) prefetch(b + p * b_row, b_row, vectors * kLanes);
    Floats right[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      right[v] = partial ? load_some(b + p * b_row, tail) : load(b + p * b_row + v * kLanes);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const Floats left = all(a[i * a_row + p * a_column]);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sums[i][v] = fused(left, right[v], sums[i][v]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      float* at = c + i * c_row + v * kLanes;
      if (partial) {
        store_some(at, sums[i][v], tail);
      } else {
        store(at, sums[i][v]);
      }
    }
  }
}

// All rows of one strip of columns.
template <int rows, int vectors, bool partial = false, bool ahead = false, typename Number>
void strip(
    const float* a, int64_t a_row, int64_t a_column, const Number* b, int64_t b_row, float* c, int64_t c_row, int64_t m,
    int64_t k, bool add, int64_t tail = kLanes) {
  while (m >= rows) {
    tile<rows, vectors, partial, ahead>(a, a_row, a_column, b, b_row, c, c_row, k, add, tail);
    a += rows * a_row;
    c += rows * c_row;
    m -= rows;
  }
  if constexpr (rows > 1) {
    if (m > 0) strip<(rows + 1) / 2, vectors, partial, ahead>(a, a_row, a_column, b, b_row, c, c_row, m, k, add, tail);
  }
}

#if SOTTO_LANES == 16 || defined(__ARM_NEON)
constexpr int kTileRows = 6;  // 24 accumulators, 4 vectors of b and one of a, of 32 registers
constexpr int kTileVectors = 4;
constexpr int kFlatRows = 2;
constexpr int kDotRows = 4;
#elif SOTTO_LANES == 8
constexpr int kTileRows = 6;  // 12 accumulators, 2 vectors of b and one of a, of 16 registers
constexpr int kTileVectors = 2;
constexpr int kFlatRows = 1;
constexpr int kDotRows = 2;
#else
constexpr int kTileRows = 4;
constexpr int kTileVectors = 2;
constexpr int kFlatRows = 1;
constexpr int kDotRows = 2;
#endif
constexpr int64_t kFewRows = 8;

template <typename Number>
void multiply(
    const float* a, int64_t a_row, int64_t a_column, const Number* b, int64_t b_row, float* c, int64_t c_row, int64_t m,
    int64_t n, int64_t k, bool add) {
  int64_t j = 0;
  if (m == 4) {  // else the tiles would have three rows, and one
    for (; j + 4 * kLanes <= n; j += 4 * kLanes) {
      strip<4, 4, false, true>(a, a_row, a_column, b + j, b_row, c + j, c_row, m, k, add);
    }
  }
  if (m <= kFewRows) {  // b comes from memory: read long pieces of its rows, in order
    for (; j + 8 * kLanes <= n; j += 8 * kLanes) {
      strip<kFlatRows, 8, false, true>(a, a_row, a_column, b + j, b_row, c + j, c_row, m, k, add);
    }
  }
  for (; j + kTileVectors * kLanes <= n; j += kTileVectors * kLanes) {
    strip<kTileRows, kTileVectors>(a, a_row, a_column, b + j, b_row, c + j, c_row, m, k, add);
  }
  for (; j + kLanes <= n; j += kLanes) strip<8, 1>(a, a_row, a_column, b + j, b_row, c + j, c_row, m, k, add);
  if (j < n) strip<4, 1, true>(a, a_row, a_column, b + j, b_row, c + j, c_row, m, k, add, n - j);
}

// Write the sums of the lanes, a row of scores for each row of totals.
template <int rows, int columns>
inline void add_up(const Floats (&totals)[rows][columns], float* scores) {
#if SOTTO_LANES == 16
  if constexpr (rows == 4 && columns == 4) {
    const Floats all_sums = sums_of_columns(totals);
    for (int r = 0; r < rows; ++r) std::memcpy(scores + r * kKeyBlock, &all_sums[4 * r], 4 * sizeof(float));
    return;
  }
#endif
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    if constexpr (columns == 4) {
      sums(totals[r], scores + r * kKeyBlock);
    } else {
#pragma GCC unroll 8
      for (int j = 0; j < columns; ++j) scores[r * kKeyBlock + j] = sum(totals[r][j]);
    }
  }
}

template <int rows, int columns, typename Number>
inline void dot_tile(
    const float* queries, int64_t query_row, const Number* keys, int64_t key_row, int64_t depth, float* scores) {
  Floats totals[rows][columns] = {};
  int64_t d = 0;
  for (; d + kLanes <= depth; d += kLanes) {
    Floats left[rows];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) left[r] = load(queries + r * query_row + d);
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j) {
      const Floats right = load(keys + j * key_row + d);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) totals[r][j] = fused(left[r], right, totals[r][j]);
    }
  }
  if (d < depth) {
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j) {
      const Floats right = load_some(keys + j * key_row + d, depth - d);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        totals[r][j] = fused(load_some(queries + r * query_row + d, depth - d), right, totals[r][j]);
      }
    }
  }
  add_up(totals, scores);
}

template <int rows, typename Number>
inline void dot_rows(
    const float* queries, int64_t query_row, const Number* keys, int64_t key_row, int64_t count, int64_t depth,
    float* scores) {
  int64_t j = 0;
  for (; j + 4 <= count; j += 4) {
    for (int64_t i = j; i < j + 4; ++i) prefetch(keys + i * key_row, key_row, depth);
    dot_tile<rows, 4>(queries, query_row, keys + j * key_row, key_row, depth, scores + j);
  }
  for (; j < count; ++j) dot_tile<rows, 1>(queries, query_row, keys + j * key_row, key_row, depth, scores + j);
}

template <typename Number>
void dot(
    const float* queries, int64_t query_row, int64_t rows, const Number* keys, int64_t key_row, int64_t count,
    int64_t depth, float* scores) {
  int64_t r = 0;
  for (; r + kDotRows <= rows; r += kDotRows) {
    dot_rows<kDotRows>(queries + r * query_row, query_row, keys, key_row, count, depth, scores + r * kKeyBlock);
  }
  if constexpr (kDotRows > 2) {
    if (rows - r >= 2) {
      dot_rows<2>(queries + r * query_row, query_row, keys, key_row, count, depth, scores + r * kKeyBlock);
      r += 2;
    }
  }
  if (r < rows) {
    dot_rows<1>(queries + r * query_row, query_row, keys, key_row, count, depth, scores + r * kKeyBlock);
  }
}

}  // namespace
