// Attention over float32 or packed arrays in memory, without materialising the score matrix.
#pragma once

#include <cstdint>

#include "fused/kernels.h"

namespace sotto::fused {

// Strides are in elements. The last axis of every array except the mask is contiguous.
struct Strided {
  const float* data = nullptr;  // null if the numbers are packed, with whole groups in a row, or float16
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;
  Packed packed = {};
};

struct Mask {
  const bool* visible = nullptr;  // at most one of these two is set
  const float* added = nullptr;
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

struct Attention {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t depth = 0;  // of queries and keys
  std::int64_t width = 0;  // of values
  float scale = 1;
  bool causal = false;  // query i sees the keys up to i + keys - queries
  Strided q;
  Strided k;
  Strided v;
  // Further queries and keys, whose products are added to the scaled scores.
  std::int64_t added_depth = 0;
  Strided added_q;
  Strided added_k;
  Mask mask;
  const float* sinks = nullptr;  // [heads], contiguous, or null
  float* out = nullptr;          // [batch, queries, heads, width], contiguous
};

// Compute attention on all threads. The result does not depend on their number.
void attend(const Attention& problem);

}  // namespace sotto::fused
