#include "tape/tape.h"

#include <algorithm>
#include <map>
#include <utility>

#include "matmul/product.h"

namespace sotto::tape {

namespace {

// Values are aligned to cache lines.
std::size_t padded(std::size_t numbers) { return (numbers + 15) / 16 * 16; }

// An allocator of pieces of one block of memory, which reuses freed pieces to keep the block small.
class Pieces {
 public:
  std::size_t take(std::size_t size) {
    auto best = free_.end();
    for (auto piece = free_.begin(); piece != free_.end(); ++piece) {
      if (piece->second >= size && (best == free_.end() || piece->second < best->second)) {
        best = piece;
      }
    }
    if (best == free_.end()) {
      const std::size_t begin = end_;
      end_ += size;
      return begin;
    }
    const auto [begin, room] = *best;
    free_.erase(best);
    if (room > size) {
      free_.emplace(begin + size, room - size);
    }
    return begin;
  }

  void give(std::size_t begin, std::size_t size) {
    auto freed = free_.emplace(begin, size).first;
    if (const auto next = std::next(freed); next != free_.end() && begin + size == next->first) {
      freed->second += next->second;
      free_.erase(next);
    }
    if (freed != free_.begin()) {
      const auto before = std::prev(freed);
      if (before->first + before->second == begin) {
        before->second += freed->second;
        free_.erase(freed);
      }
    }
  }

  std::size_t end() const { return end_; }

 private:
  std::map<std::size_t, std::size_t> free_;  // begin and size of each piece
  std::size_t end_ = 0;
};

void multiply_parts(const Run& run, const Operation& own) {
  const float* x = run.at(own.reads[0]);
  std::vector<Product> products;
  products.reserve(own.parts.size());
  for (std::size_t part = 0; part < own.parts.size(); ++part) {
    products.push_back({own.parts[part].matrix, own.count, x, run.at(own.writes[part])});
  }
  multiply(products);
  for (std::size_t part = 0; part < own.parts.size(); ++part) {
    const float* bias = own.parts[part].bias;
    const std::ptrdiff_t columns = own.parts[part].matrix.rows;
    float* y = products[part].y;
    for (std::ptrdiff_t row = 0; bias != nullptr && row < own.count; ++row) {
      for (std::ptrdiff_t n = 0; n < columns; ++n) {
        y[row * columns + n] += bias[n];
      }
    }
  }
}

}  // namespace

Tape::Tape(Recording recording) : recording_(std::move(recording)) {
  join_products();
  place_values();
}

void Tape::run(Run run, float* logits) {
  std::lock_guard lock(running_);
  places_[recording_.logits] = logits;
  run.places = places_.data();
  for (const Operation& operation : recording_.operations) {
    operation.work(run, operation);
  }
}

void Tape::join_products() {
  auto& operations = recording_.operations;
  for (std::size_t first = 0; first < operations.size(); ++first) {
    if (operations[first].parts.empty()) {
      continue;
    }
    operations[first].work = multiply_parts;
    // Later products can move up to the first one, because they read the same source.
    for (std::size_t later = first + 1; later < operations.size();) {
      Operation& one = operations[first];
      Operation& other = operations[later];
      if (other.parts.empty() || other.reads != one.reads || other.count != one.count) {
        ++later;
        continue;
      }
      one.parts.insert(one.parts.end(), other.parts.begin(), other.parts.end());
      one.writes.insert(one.writes.end(), other.writes.begin(), other.writes.end());
      operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(later));
    }
  }
}

void Tape::place_values() {
  const auto& sizes = recording_.sizes;
  const auto& operations = recording_.operations;
  std::vector<std::size_t> last(sizes.size(), 0);
  for (std::size_t index = 0; index < operations.size(); ++index) {
    for (const Value value : operations[index].writes) {
      last[value] = index;
    }
    for (const Source& source : operations[index].reads) {
      if (source.constant == nullptr) {
        last[source.value] = index;
      }
    }
  }
  std::vector<std::vector<Value>> ending(operations.size());
  Pieces pieces;
  std::vector<std::size_t> begins(sizes.size(), 0);
  for (std::size_t index = 0; index < operations.size(); ++index) {
    for (const Value value : operations[index].writes) {
      if (value != recording_.logits) {
        begins[value] = pieces.take(padded(sizes[value]));
        ending[last[value]].push_back(value);
      }
    }
    for (const Value value : ending[index]) {
      pieces.give(begins[value], padded(sizes[value]));
    }
  }
  memory_ = FloatBuffer(pieces.end());
  for (const std::size_t begin : begins) {
    places_.push_back(memory_.get() + begin);
  }
}

}  // namespace sotto::tape
