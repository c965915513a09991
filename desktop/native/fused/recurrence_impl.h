// The inner loops of linear recurrences and of short convolutions over time, included by `kernels_impl.h`.
#pragma once

#include "fused/kernels.h"
#include "fused/vector.h"

namespace {

using sotto::fused::Recurrence;

// Rows of a state that are updated together, so that each key and query is loaded once for all of them.
#if SOTTO_LANES == 16
constexpr int kStateRows = 8;
#else
constexpr int kStateRows = 4;
#endif

template <bool whole>
inline Floats load_if(const float* from, std::int64_t count) {
  return whole ? load(from) : load_some(from, count);
}

template <int rows>
inline void row_sums(const Floats* totals, float* to) {
  if constexpr (rows % 4 == 0) {
    for (int r = 0; r < rows; r += 4) sums(totals + r, to + r);
  } else {
    for (int r = 0; r < rows; ++r) to[r] = sum(totals[r]);
  }
}

// Add the products of a part of the rows of a state and a key to `totals`.
template <int rows, bool each, bool whole>
inline void recall(
    const float* state, std::int64_t depth, const float* key, const float* decay, Floats* totals, std::int64_t count) {
  Floats known = load_if<whole>(key, count);
  if (each) known = known * load_if<whole>(decay, count);
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) totals[r] = fused(load_if<whole>(state + r * depth, count), known, totals[r]);
}

// Update a part of the rows of a state, and add its products with a query to `totals`.
template <int rows, bool each, bool whole>
inline void update(
    float* state, std::int64_t depth, const float* key, const float* query, const float* decay, const float* changes,
    Floats* totals, std::int64_t count) {
  const Floats known = load_if<whole>(key, count), asked = load_if<whole>(query, count);
  const Floats factor = each ? load_if<whole>(decay, count) : all(*decay);
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    float* at = state + r * depth;
    const Floats value = fused(all(changes[r]), known, load_if<whole>(at, count) * factor);
    if (whole) {
      store(at, value);
    } else {
      store_some(at, value, count);
    }
    totals[r] = fused(value, asked, totals[r]);
  }
}

// Tokens whose keys and queries stay in the cache while all rows are updated.
constexpr std::int64_t kTokensAtOnce = 16;

template <int rows, bool each, bool corrects>
void recur_rows(const Recurrence& of, std::int64_t first, std::int64_t begin, std::int64_t end) {
  const std::int64_t depth = of.depth, vectors = depth / kLanes * kLanes;
  float* state = of.state + first * depth;
  for (std::int64_t t = begin; t < end; ++t) {
    const float* key = of.keys + t * of.key_step;
    const float* query = of.queries + t * of.key_step;
    const float* decay = of.decays + t * of.decay_step;
    const float* value = of.values + t * of.value_step + first;
    const float rate = of.rates[t * of.rate_step];
    float found[rows] = {};
    if (corrects) {
      Floats totals[rows] = {};
      for (std::int64_t d = 0; d < vectors; d += kLanes) {
        recall<rows, each, true>(state + d, depth, key + d, each ? decay + d : decay, totals, kLanes);
      }
      if (vectors < depth) {
        recall<rows, each, false>(
            state + vectors, depth, key + vectors, each ? decay + vectors : decay, totals, depth - vectors);
      }
      row_sums<rows>(totals, found);
    }
    float changes[rows];
    for (int r = 0; r < rows; ++r) {
      changes[r] = (corrects ? value[r] - (each ? found[r] : *decay * found[r]) : value[r]) * rate;
    }
    Floats totals[rows] = {};
    for (std::int64_t d = 0; d < vectors; d += kLanes) {
      update<rows, each, true>(
          state + d, depth, key + d, query + d, each ? decay + d : decay, changes, totals, kLanes);
    }
    if (vectors < depth) {
      update<rows, each, false>(
          state + vectors, depth, key + vectors, query + vectors, each ? decay + vectors : decay, changes, totals,
          depth - vectors);
    }
    row_sums<rows>(totals, of.out + t * of.value_step + first);
  }
}

template <bool each, bool corrects>
void recur_all(const Recurrence& of, std::int64_t first, std::int64_t end) {
  for (std::int64_t begin = 0; begin < of.tokens; begin += kTokensAtOnce) {
    const std::int64_t next = begin + kTokensAtOnce < of.tokens ? begin + kTokensAtOnce : of.tokens;
    std::int64_t row = first;
    for (; row + kStateRows <= end; row += kStateRows) recur_rows<kStateRows, each, corrects>(of, row, begin, next);
    for (; row < end; ++row) recur_rows<1, each, corrects>(of, row, begin, next);
  }
}

void recur(const Recurrence& of, std::int64_t first, std::int64_t end) {
  if (of.each_decays) {
    return of.corrects ? recur_all<true, true>(of, first, end) : recur_all<true, false>(of, first, end);
  }
  return of.corrects ? recur_all<false, true>(of, first, end) : recur_all<false, false>(of, first, end);
}

void convolve(
    const float* x, std::int64_t x_row, const float* weights, std::int64_t taps, float* out, std::int64_t out_row,
    std::int64_t tokens, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; c += kLanes) {
    const std::int64_t count = channels - c < kLanes ? channels - c : kLanes;
    Floats factors[sotto::fused::kMostTaps] = {};
    for (std::int64_t j = 0; j < taps; ++j) {
      for (std::int64_t lane = 0; lane < count; ++lane) factors[j][lane] = weights[(c + lane) * taps + j];
    }
    for (std::int64_t t = 0; t < tokens; ++t) {
      Floats total = {};
      for (std::int64_t j = 0; j < taps; ++j) {
        const float* at = x + (t + j) * x_row + c;
        total = fused(factors[j], count == kLanes ? load(at) : load_some(at, count), total);
      }
      if (count == kLanes) {
        store(out + t * out_row + c, total);
      } else {
        store_some(out + t * out_row + c, total, count);
      }
    }
  }
}

}  // namespace
