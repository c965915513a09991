// Numbers in 8 and 4 bits, unpacked in registers, and products with them, written once for all instruction sets; see
// kernels_impl.h. Results have the bits of those with numbers that were unpacked to memory.
#pragma once

#include "fused/kernels.h"
#include "fused/products_impl.h"
#include "fused/vector.h"

namespace {

using sotto::fused::Packed;
using std::int64_t;

// Numbers that are unpacked at once: every group has a multiple of them.
constexpr int64_t kRun = 32;
constexpr int kParts = kRun / SOTTO_LANES;

// Prefetch distance in rows. While a whole block is fetched beforehand, nothing is computed.
constexpr int64_t kCodesAhead = 32;

inline Floats from_bytes(const std::uint8_t* from) {
#if SOTTO_LANES == 16
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return reinterpret_cast<Floats>(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes)));
#elif SOTTO_LANES == 8
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return reinterpret_cast<Floats>(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)));
#elif defined(__ARM_NEON)
  std::uint32_t four;
  std::memcpy(&four, from, sizeof(four));
  const uint16x4_t wide = vget_low_u16(vmovl_u8(vcreate_u8(four)));
  return reinterpret_cast<Floats>(vcvtq_f32_u32(vmovl_u16(wide)));
#else
  return Floats{static_cast<float>(from[0]), static_cast<float>(from[1]), static_cast<float>(from[2]),
                static_cast<float>(from[3])};
#endif
}

// What a group's codes stand for: code * scale + bias, rounded twice.
template <int bits>
struct Codes {
  Floats scale;
  Floats bias;

  Codes(float group_scale, float group_bias) : scale(all(group_scale)), bias(all(group_bias)) {}

  void read(const std::uint8_t* bytes, Floats* out) const {
#pragma GCC unroll 8
    for (int v = 0; v < kParts; ++v) out[v] = from_bytes(bytes + v * kLanes) * scale + bias;
  }
};

#if SOTTO_LANES == 16
template <>
struct Codes<4> {
  __m512 table;

  Codes(float scale, float bias) {
    const Floats digits = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    table = reinterpret_cast<__m512>(digits * scale + bias);
  }

  // A permutation looks up sixteen numbers at once, and only takes the low four bits of an index.
  void read(const std::uint8_t* bytes, Floats* out) const {
    const __m512i halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const __m512i shifts = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
#pragma GCC unroll 8
    for (int v = 0; v < kParts; ++v) {
      const __m128i pair = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + v * 8));
      const __m512i words = _mm512_permutexvar_epi32(halves, _mm512_castsi128_si512(pair));
      out[v] = reinterpret_cast<Floats>(_mm512_permutexvar_ps(_mm512_srlv_epi32(words, shifts), table));
    }
  }
};
#else
typedef std::uint8_t Bytes __attribute__((vector_size(16)));
typedef Bytes LooseBytes __attribute__((aligned(1), may_alias));

template <>
struct Codes<4> : Codes<8> {
  using Codes<8>::Codes;

  void read(const std::uint8_t* bytes, Floats* out) const {
    const Bytes pairs = *reinterpret_cast<const LooseBytes*>(bytes);
    const Bytes low = pairs & 15, high = pairs >> 4;
    alignas(16) std::uint8_t single[kRun];
    *reinterpret_cast<LooseBytes*>(single) = __builtin_shufflevector(
        low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    *reinterpret_cast<LooseBytes*>(single + 16) = __builtin_shufflevector(
        low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    Codes<8>::read(single, out);
  }
};
#endif

template <int bits>
void unpack_codes(const Packed& from, float* out, int64_t n) {
  // Counted: dividing by the size of a group takes older processors longer than unpacking one.
  int64_t group = 0;
  for (int64_t i = 0; i < n; i += from.group, ++group) {
    const Codes<bits> codes(from.scales[group], from.biases[group]);
    for (int64_t j = i; j < i + from.group; j += kRun) {
      Floats run[kParts];
      codes.read(from.bytes + j * bits / 8, run);
#pragma GCC unroll 8
      for (int v = 0; v < kParts; ++v) store(out + j + v * kLanes, run[v]);
    }
  }
}

// Rows of codes, one after the other.
struct CodeRows {
  Packed row;
  int64_t bytes;   // from one row to the next
  int64_t groups;  // the same

  CodeRows(const Packed& first, int64_t step)
      : row(first), bytes(step * first.bits / 8), groups(step / first.group) {}

  void next() {
    row.bytes += bytes;
    row.scales += groups;
    row.biases += groups;
  }

  // Fetch a row that comes later, `count` bytes of its codes.
  void prefetch(int64_t count) const {
    constexpr int64_t kLine = 64;
    for (int64_t i = 0; i < count; i += kLine) __builtin_prefetch(row.bytes + kCodesAhead * bytes + i);
    __builtin_prefetch(row.scales + kCodesAhead * groups);
    __builtin_prefetch(row.biases + kCodesAhead * groups);
  }
};

// The products of some queries with one key, whose lanes have to be added up.
template <int bits, int rows>
inline void dot_key(const float* queries, int64_t query_row, const Packed& key, int64_t depth, Floats* totals) {
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) totals[r] = Floats{};
  int64_t group = 0;
  for (int64_t d = 0; d < depth; d += key.group, ++group) {
    const Codes<bits> codes(key.scales[group], key.biases[group]);
    for (int64_t i = d; i < d + key.group; i += kRun) {
      Floats right[kParts];
      codes.read(key.bytes + i * bits / 8, right);
#pragma GCC unroll 8
      for (int v = 0; v < kParts; ++v) {
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          totals[r] = fused(load(queries + r * query_row + i + v * kLanes), right[v], totals[r]);
        }
      }
    }
  }
}

template <int bits, int rows>
void dot_codes(
    const float* queries, int64_t query_row, const Packed& keys, int64_t key_row, int64_t count, int64_t depth,
    float* scores) {
  CodeRows key(keys, key_row);
  const auto next = [&](Floats* totals) {
    key.prefetch(depth * bits / 8);
    dot_key<bits, rows>(queries, query_row, key.row, depth, totals);
    key.next();
  };
  int64_t j = 0;
  for (; j + 4 <= count; j += 4) {
    Floats columns[4][rows], totals[rows][4];
#pragma GCC unroll 8
    for (int c = 0; c < 4; ++c) next(columns[c]);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
      for (int c = 0; c < 4; ++c) totals[r][c] = columns[c][r];
    }
    add_up(totals, scores + j);
  }
  for (; j < count; ++j) {
    Floats totals[rows];
    next(totals);
    for (int r = 0; r < rows; ++r) scores[r * kKeyBlock + j] = sum(totals[r]);
  }
}

// A tile of `rows` rows by `runs` runs of numbers in one group; `b` is at its first number.
template <int bits, int rows, int runs>
inline void codes_tile(
    const float* a, int64_t a_row, int64_t a_column, const Packed& b, int64_t b_row, float* c, int64_t c_row,
    int64_t k) {
  constexpr int vectors = runs * kParts;
  Floats sums[rows][vectors];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) sums[i][v] = load(c + i * c_row + v * kLanes);
  }
  CodeRows of(b, b_row);
  for (int64_t p = 0; p < k; ++p) {
    of.prefetch(1);
    const Codes<bits> codes(*of.row.scales, *of.row.biases);
    Floats right[vectors];
#pragma GCC unroll 8
    for (int run = 0; run < runs; ++run) codes.read(of.row.bytes + run * kRun * bits / 8, right + run * kParts);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const Floats left = all(a[i * a_row + p * a_column]);
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) sums[i][v] = fused(left, right[v], sums[i][v]);
    }
    of.next();
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) store(c + i * c_row + v * kLanes, sums[i][v]);
  }
}

template <int bits, int rows>
void multiply_codes(
    const float* a, int64_t a_row, int64_t a_column, Packed b, int64_t b_row, float* c, int64_t c_row, int64_t n,
    int64_t k) {
  // More vectors than AVX2's registers hold would be kept in memory.
  constexpr int kRuns = SOTTO_LANES == 16 ? 2 : 1;
  for (int64_t begin = 0; begin < n; begin += b.group) {
    int64_t j = begin;
    for (; j + kRuns * kRun <= begin + b.group; j += kRuns * kRun) {
      codes_tile<bits, rows, kRuns>(a, a_row, a_column, b, b_row, c + j, c_row, k);
      b.bytes += kRuns * kRun * bits / 8;
    }
    if (j < begin + b.group) {
      codes_tile<bits, rows, 1>(a, a_row, a_column, b, b_row, c + j, c_row, k);
      b.bytes += kRun * bits / 8;
    }
    ++b.scales;
    ++b.biases;
  }
}

// `kDotRows` rows at a time, then two, then one.
template <int bits, int rows = kDotRows>
void dot_rows_of_codes(
    const float* queries, int64_t query_row, int64_t count_rows, const Packed& keys, int64_t key_row, int64_t count,
    int64_t depth, float* scores) {
  int64_t r = 0;
  for (; r + rows <= count_rows; r += rows) {
    dot_codes<bits, rows>(queries + r * query_row, query_row, keys, key_row, count, depth, scores + r * kKeyBlock);
  }
  if constexpr (rows > 1) {
    dot_rows_of_codes<bits, rows / 2>(
        queries + r * query_row, query_row, count_rows - r, keys, key_row, count, depth, scores + r * kKeyBlock);
  }
}

template <int bits, int rows = kDotRows>
void multiply_rows_by_codes(
    const float* a, int64_t a_row, int64_t a_column, const Packed& b, int64_t b_row, float* c, int64_t c_row, int64_t m,
    int64_t n, int64_t k) {
  int64_t i = 0;
  for (; i + rows <= m; i += rows) {
    multiply_codes<bits, rows>(a + i * a_row, a_row, a_column, b, b_row, c + i * c_row, c_row, n, k);
  }
  if constexpr (rows > 1) {
    multiply_rows_by_codes<bits, rows / 2>(
        a + i * a_row, a_row, a_column, b, b_row, c + i * c_row, c_row, m - i, n, k);
  }
}

void multiply_packed(
    const float* a, int64_t a_row, int64_t a_column, const Packed& b, int64_t b_row, float* c, int64_t c_row, int64_t m,
    int64_t n, int64_t k) {
  if (b.bits == 4) {
    multiply_rows_by_codes<4>(a, a_row, a_column, b, b_row, c, c_row, m, n, k);
  } else if (b.bits == 8) {
    multiply_rows_by_codes<8>(a, a_row, a_column, b, b_row, c, c_row, m, n, k);
  } else {
    multiply(a, a_row, a_column, reinterpret_cast<const Half*>(b.bytes), b_row, c, c_row, m, n, k, true);
  }
}

void dot_packed(
    const float* queries, int64_t query_row, int64_t rows, const Packed& keys, int64_t key_row, int64_t count,
    int64_t depth, float* scores) {
  if (keys.bits == 4) {
    dot_rows_of_codes<4>(queries, query_row, rows, keys, key_row, count, depth, scores);
  } else if (keys.bits == 8) {
    dot_rows_of_codes<8>(queries, query_row, rows, keys, key_row, count, depth, scores);
  } else {
    dot(queries, query_row, rows, reinterpret_cast<const Half*>(keys.bytes), key_row, count, depth, scores);
  }
}

}  // namespace
