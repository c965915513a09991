// Keys are processed in blocks, with a running softmax. A unit of work is some heads that share their keys, some of
// their queries, and some of the keys. The division into units depends on the shapes alone, and so do the results: the
// number of threads does not affect them.
#include "fused/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fused/kernels.h"
#include "thread_pool.h"

namespace sotto::fused {

namespace {

using std::int64_t;

constexpr int64_t kFewQueries = 8;    // up to this many, keys are cut into pieces, so that few heads occupy all threads
constexpr int64_t kKeyPiece = 256;    // keys in such a piece; a multiple of kKeyBlock
constexpr int64_t kWideRows = 16;     // from this many, scores are computed as a matrix product
constexpr int64_t kRows = 128;        // maximum rows in a unit
constexpr int64_t kQueryBlock = 64;   // maximum queries in a unit
constexpr int64_t kSharedHeads = 4;   // maximum heads in a unit, if there are many queries
constexpr int64_t kSmall = 1 << 17;   // fewer multiplications are not worth waking a thread
constexpr float kNone = -std::numeric_limits<float>::infinity();

int64_t blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }

// Memory of this thread that is kept between calls, and handed out in consecutive pieces.
class Workspace {
 public:
  explicit Workspace(int64_t floats) {
    thread_local std::vector<float> memory;
    const auto needed = static_cast<std::size_t>(floats) + 16;
    if (memory.size() < needed) memory.resize(needed);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    next_ = memory.data() + (64 - address % 64) % 64 / sizeof(float);
  }
  float* take(int64_t floats) {
    float* const piece = next_;
    next_ += padded(floats);
    return piece;
  }
  static int64_t padded(int64_t floats) { return blocks(floats, 16) * 16; }

 private:
  float* next_;
};

// The division of a problem into units.
struct Cut {
  int64_t shared;       // heads with the same keys
  int64_t heads;        // of these, in one unit
  int64_t queries;      // in one unit
  int64_t keys;         // in one unit
  int64_t head_chunks;  // units per group of shared heads
  int64_t query_blocks;
  int64_t pieces;

  explicit Cut(const Attention& p) {
    shared = p.heads / p.kv_heads;
    const bool few = p.queries <= kFewQueries;
    heads = std::min(shared, few ? kRows / kFewQueries : kSharedHeads);
    queries = few ? p.queries : std::min({p.queries, kQueryBlock, kRows / heads});
    keys = few ? kKeyPiece : p.keys;
    head_chunks = blocks(shared, heads);
    query_blocks = blocks(p.queries, queries);
    pieces = blocks(p.keys, keys);
  }
  int64_t units(const Attention& p) const {
    return p.batch * p.kv_heads * head_chunks * query_blocks * pieces;
  }
};

enum class Seen { none, some, all };

// Some consecutive keys or values of a head.
struct Block {
  const float* data;
  int64_t row;
  Packed packed;  // instead of `data`
};

void fetch(const void* from, int64_t bytes) {
  constexpr int64_t kLine = 64;
  for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(from) + at);
}

// The keys or values from `first` on: in place if they are float32 or few rows use them, else unpacked to `space`, which
// the cache holds. What follows is fetched while a block is unpacked: packed blocks are so short that the processor would
// notice the stream too late.
Block read(
    const Kernels& f, const Strided& from, int64_t batch, int64_t head, int64_t first, int64_t count, int64_t size,
    float* space, bool few = false) {
  const int64_t start = batch * from.batch + head * from.head + first * from.row;
  if (from.data) return {from.data + start, from.row, {}};
  if (few) return {nullptr, from.row, from.packed.from(start)};
  const Packed next = from.packed.from(start + count * from.row);
  fetch(next.bytes, count * from.row * next.bits / 8);
  if (next.scales) {
    fetch(next.scales, count * from.row / next.group * static_cast<int64_t>(sizeof(float)));
    fetch(next.biases, count * from.row / next.group * static_cast<int64_t>(sizeof(float)));
  }
  const int64_t rows = from.row == size ? count : 1;
  for (int64_t i = 0; i < count; i += rows) {
    f.unpack(from.packed.from(start + i * from.row), space + i * size, rows * size);
  }
  return {space, size, {}};
}

class Unit {
 public:
  Unit(const Attention& problem, const Cut& cut, int64_t index) : p_(problem) {
    piece_ = index % cut.pieces;
    index /= cut.pieces;
    // The last queries see the most keys: they come first, so that no thread starts a long unit at the end.
    const int64_t block = cut.query_blocks - 1 - index % cut.query_blocks;
    index /= cut.query_blocks;
    const int64_t chunk = index % cut.head_chunks;
    index /= cut.head_chunks;
    kv_head_ = index % p_.kv_heads;
    batch_ = index / p_.kv_heads;
    first_head_ = kv_head_ * cut.shared + chunk * cut.heads;
    heads_ = std::min(cut.heads, cut.shared - chunk * cut.heads);
    first_query_ = block * cut.queries;
    queries_ = std::min(cut.queries, p_.queries - first_query_);
    first_key_ = piece_ * cut.keys;
    end_key_ = std::min(p_.keys, first_key_ + cut.keys);
    if (p_.causal) {
      end_key_ = std::min(end_key_, first_query_ + queries_ + p_.keys - p_.queries);
    }
    rows_ = heads_ * queries_;
  }

  // Process this unit's keys and pass each row to `give(batch, head, query, piece, largest, total, sums)`.
  template <typename Give>
  void run(const Kernels& f, const Give& give) {
    const bool wide = rows_ >= kWideRows;
    const int64_t stride = Workspace::padded(rows_);
    const int64_t widest = std::max({p_.depth, p_.width, p_.added_depth});
    const int64_t added_scores = wide || p_.added_depth == 0 ? 0 : rows_ * kKeyBlock;
    Workspace space(
        3 * stride + Workspace::padded(stride * p_.depth) + Workspace::padded(stride * kKeyBlock) +
        Workspace::padded(rows_ * p_.width) + Workspace::padded(kKeyBlock * widest) +
        Workspace::padded(stride * p_.added_depth) + Workspace::padded(added_scores));
    Softmax state{space.take(stride), space.take(stride)};
    float* const rescale = space.take(stride);
    float* const queries = space.take(stride * p_.depth);
    float* const scores = space.take(stride * kKeyBlock);
    float* const sums = space.take(rows_ * p_.width);
    float* const unpacked = space.take(kKeyBlock * widest);
    float* const added_queries = space.take(stride * p_.added_depth);
    float* const added = space.take(added_scores);
    std::fill_n(state.largest, stride, kNone);
    std::fill_n(state.total, stride, 0.0f);
    std::fill_n(sums, rows_ * p_.width, 0.0f);
    load_queries(f, p_.q, p_.depth, p_.scale, queries, wide ? stride : 0);
    load_queries(f, p_.added_q, p_.added_depth, 1.0f, added_queries, wide ? stride : 0);
    // The score of row r and key j is at r * row + j * column.
    const int64_t row = wide ? 1 : kKeyBlock;
    const int64_t column = wide ? stride : 1;
    for (int64_t key = first_key_; key < end_key_; key += kKeyBlock) {
      const int64_t count = std::min(kKeyBlock, end_key_ - key);
      const Seen seen = p_.mask.visible ? visible(key, count) : Seen::all;
      if (seen == Seen::none) continue;
      const Block keys = read(f, p_.k, batch_, kv_head_, key, count, p_.depth, unpacked, !wide);
      if (wide) {
        f.multiply(keys.data, keys.row, 1, queries, stride, scores, stride, count, stride, p_.depth, false);
      } else {
        dot(f, queries, keys, count, p_.depth, scores);
      }
      if (p_.added_depth > 0) {
        const Block more = read(f, p_.added_k, batch_, kv_head_, key, count, p_.added_depth, unpacked, !wide);
        if (wide) {
          f.multiply(
              more.data, more.row, 1, added_queries, stride, scores, stride, count, stride, p_.added_depth, true);
        } else {
          dot(f, added_queries, more, count, p_.added_depth, added);
          for (int64_t r = 0; r < rows_; ++r) {
            for (int64_t j = 0; j < count; ++j) scores[r * kKeyBlock + j] += added[r * kKeyBlock + j];
          }
        }
      }
      hide(key, count, seen, scores, row, column);
      if (wide) {
        f.soften_columns(scores, rows_, stride, count, state, rescale, sums, p_.width);
      } else {
        f.soften_rows(scores, rows_, count, state, sums, p_.width);
      }
      const Block values = read(f, p_.v, batch_, kv_head_, key, count, p_.width, unpacked, !wide);
      if (values.data) {
        f.multiply(scores, row, column, values.data, values.row, sums, p_.width, rows_, p_.width, count, true);
      } else {
        f.multiply_packed(scores, row, column, values.packed, values.row, sums, p_.width, rows_, p_.width, count);
      }
    }
    for (int64_t r = 0; r < rows_; ++r) {
      give(batch_, first_head_ + r / queries_, first_query_ + r % queries_, piece_, state.largest[r], state.total[r],
           sums + r * p_.width);
    }
  }

 private:
  // Write scaled queries as contiguous rows if `stride` is 0, else as columns of a matrix with `stride` columns.
  void load_queries(
      const Kernels& f, const Strided& from, int64_t depth, float scale, float* to, int64_t stride) const {
    if (depth == 0) return;
    if (stride == 0) {
      for (int64_t r = 0; r < rows_; ++r) f.scale(query(from, r), scale, to + r * depth, depth);
      return;
    }
    // In square tiles, so that both source and target stay in the cache.
    constexpr int64_t kSide = 16;
    for (int64_t r0 = 0; r0 < stride; r0 += kSide) {
      for (int64_t d0 = 0; d0 < depth; d0 += kSide) {
        const int64_t d1 = std::min(d0 + kSide, depth);
        for (int64_t r = r0; r < r0 + kSide; ++r) {
          const float* const one = r < rows_ ? query(from, r) : nullptr;
          for (int64_t d = d0; d < d1; ++d) to[d * stride + r] = one ? one[d] * scale : 0.0f;
        }
      }
    }
  }

  void dot(
      const Kernels& f, const float* queries, const Block& keys, int64_t count, int64_t depth, float* scores) const {
    if (keys.data) {
      f.dot(queries, depth, rows_, keys.data, keys.row, count, depth, scores);
    } else {
      f.dot_packed(queries, depth, rows_, keys.packed, keys.row, count, depth, scores);
    }
  }

  const float* query(const Strided& from, int64_t r) const {
    return from.data + batch_ * from.batch + (first_head_ + r / queries_) * from.head +
           (first_query_ + r % queries_) * from.row;
  }

  int64_t mask_heads() const { return p_.mask.head == 0 ? 1 : heads_; }

  int64_t mask_at(int64_t head, int64_t query, int64_t key) const {
    return batch_ * p_.mask.batch + (first_head_ + head) * p_.mask.head + (first_query_ + query) * p_.mask.row +
           key * p_.mask.column;
  }

  // How much of a block the mask leaves visible.
  Seen visible(int64_t key, int64_t count) const {
    int64_t seen = 0;
    for (int64_t h = 0; h < mask_heads(); ++h) {
      for (int64_t i = 0; i < queries_; ++i) {
        const bool* const row = p_.mask.visible + mask_at(h, i, key);
        if (p_.mask.column == 1) {
          for (int64_t j = 0; j < count; ++j) seen += row[j];
        } else {
          for (int64_t j = 0; j < count; ++j) seen += row[j * p_.mask.column];
        }
      }
    }
    return seen == 0 ? Seen::none : seen == mask_heads() * queries_ * count ? Seen::all : Seen::some;
  }

  void hide(int64_t key, int64_t count, Seen seen, float* scores, int64_t row, int64_t column) const {
    if (p_.causal) {
      for (int64_t j = 0; j < count; ++j) {
        // The first of this unit's queries that sees the key.
        const int64_t first = std::min(queries_, key + j - (p_.keys - p_.queries) - first_query_);
        for (int64_t h = 0; first > 0 && h < heads_; ++h) {
          float* const at = scores + h * queries_ * row + j * column;
          for (int64_t i = 0; i < first; ++i) at[i * row] = kNone;
        }
      }
    } else if (seen == Seen::some) {
      for (int64_t r = 0; r < rows_; ++r) {
        const bool* const mask = p_.mask.visible + mask_at(r / queries_, r % queries_, key);
        float* const at = scores + r * row;
        for (int64_t j = 0; j < count; ++j) {
          if (!mask[j * p_.mask.column]) at[j * column] = kNone;
        }
      }
    } else if (p_.mask.added) {
      for (int64_t r = 0; r < rows_; ++r) {
        const float* const mask = p_.mask.added + mask_at(r / queries_, r % queries_, key);
        float* const at = scores + r * row;
        for (int64_t j = 0; j < count; ++j) at[j * column] += mask[j * p_.mask.column];
      }
    }
  }

  const Attention& p_;
  int64_t piece_;
  int64_t kv_head_;
  int64_t batch_;
  int64_t first_head_;
  int64_t heads_;
  int64_t first_query_;
  int64_t queries_;
  int64_t first_key_;
  int64_t end_key_;
  int64_t rows_;
};

// MLX's result for a query to which a boolean mask hides all keys: MLX fills in a finite value, so that all keys,
// including hidden ones, have the same weight.
void average(const Attention& p, const Kernels& f, int64_t batch, int64_t head, float* out) {
  std::vector<float> space(p.v.data ? 0 : static_cast<std::size_t>(p.width));
  std::fill_n(out, p.width, 0.0f);
  const float weight = 1.0f / static_cast<float>(p.keys);
  for (int64_t j = 0; j < p.keys; ++j) {
    const Block value = read(f, p.v, batch, head / (p.heads / p.kv_heads), j, 1, p.width, space.data());
    for (int64_t d = 0; d < p.width; ++d) out[d] += weight * value.data[d];
  }
}

void finish(
    const Attention& p, const Kernels& f, int64_t batch, int64_t head, int64_t query, float most, float total,
    const float* sums) {
  float* const out = p.out + ((batch * p.queries + query) * p.heads + head) * p.width;
  float factor = 1.0f;
  if (p.sinks) {
    const float top = std::max(most, p.sinks[head]);
    factor = f.exponential(most - top);
    total = total * factor + f.exponential(p.sinks[head] - top);
  } else if (most == kNone && !p.mask.added) {
    average(p, f, batch, head, out);
    return;
  }
  f.scale(sums, factor / total, out, p.width);
}

}  // namespace

void attend(const Attention& p) {
  const Kernels& f = kernels();
  const Cut cut(p);
  const int64_t units = cut.units(p);
  const bool small = p.batch * p.heads * p.queries * p.keys * (p.depth + p.width) < kSmall;
  const int64_t grain = small ? units : 1;
  if (cut.pieces == 1) {
    parallel_for(units, grain, [&](int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end; ++u) {
        Unit(p, cut, u).run(
            f, [&](int64_t b, int64_t h, int64_t i, int64_t, float most, float total, const float* sums) {
              finish(p, f, b, h, i, most, total, sums);
            });
      }
    });
    return;
  }
  // One row of sums for each piece of the keys, followed by its maximum and total.
  const int64_t record = p.width + 2;
  const int64_t rows = p.batch * p.heads * p.queries;
  std::vector<float> partial(static_cast<std::size_t>(rows * cut.pieces * record));
  const auto process = [&](int64_t unit) {
    Unit(p, cut, unit).run(
        f, [&](int64_t b, int64_t h, int64_t i, int64_t piece, float most, float total, const float* sums) {
          float* const to = partial.data() + (((b * p.heads + h) * p.queries + i) * cut.pieces + piece) * record;
          std::copy_n(sums, p.width, to);
          to[p.width] = most;
          to[p.width + 1] = total;
        });
  };
  if (small) {
    for (int64_t u = 0; u < units; ++u) process(u);
  } else {
    // Pieces of a head follow each other in memory: each thread reads one long stream.
    parallel_runs(units, process);
  }
  parallel_for(rows, small ? rows : 4, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* const first = partial.data() + r * cut.pieces * record;
      float most = kNone;
      for (int64_t s = 0; s < cut.pieces; ++s) most = std::max(most, first[s * record + p.width]);
      float total = 0.0f;
      for (int64_t s = 0; s < cut.pieces; ++s) {
        float* const piece = first + s * record;
        const float factor = most == kNone ? 0.0f : f.exponential(piece[p.width] - most);
        total += factor * piece[p.width + 1];
        for (int64_t d = 0; d < p.width; ++d) first[d] = (s == 0 ? 0.0f : first[d]) + factor * piece[d];
      }
      finish(p, f, r / p.queries / p.heads, r / p.queries % p.heads, r % p.queries, most, total, first);
    }
  });
}

}  // namespace sotto::fused
