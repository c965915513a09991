#include "gguf/regrouping.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "mlx/allocator.h"
#include "reading/huge_pages.h"
#include "thread_pool.h"

namespace sotto {

namespace mx = mlx::core;

namespace {

// Bytes that a thread takes apart at once: what is read for one part is in its cache for the next one.
constexpr std::size_t kChunk = 1 << 16;

std::size_t width(const std::vector<Part>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const Part& part) { return sum + part.bytes; });
}

std::uint16_t negated(std::uint16_t half, int power) {
  const std::uint16_t sign = ~half & 0x8000;
  int exponent = half >> 10 & 31;
  std::uint16_t mantissa = half & 0x3ff;
  if (exponent == 31 || (exponent == 0 && mantissa == 0)) {
    return sign | (half & 0x7fff);
  }
  for (; exponent == 0 && power > 0; --power) {
    mantissa <<= 1;
    if (mantissa & 0x400) {
      mantissa &= 0x3ff;
      exponent = 1;
    }
  }
  if (exponent > 0) {
    exponent += power;
  }
  return exponent >= 31 ? sign | 0x7c00 : sign | exponent << 10 | mantissa;
}

void change(const Part& part, const std::uint8_t* from, std::uint8_t* to) {
  switch (part.change) {
    case Change::none:
      std::memcpy(to, from, part.bytes);
      return;
    case Change::nibbles:
      for (std::size_t pair = 0; pair < part.bytes / 2; ++pair) {
        const unsigned first = from[2 * pair], second = from[2 * pair + 1];
        to[pair] = static_cast<std::uint8_t>((first & 15) | second << 4);
        to[part.bytes / 2 + pair] = static_cast<std::uint8_t>(first >> 4 | (second & 240));
      }
      return;
    case Change::offset:
      for (std::size_t at = 0; at < part.bytes; ++at) {
        to[at] = from[at] ^ 128;
      }
      return;
    case Change::negated:
      std::uint16_t half;
      std::memcpy(&half, from, sizeof(half));
      half = negated(half, part.power);
      std::memcpy(to, &half, sizeof(half));
  }
}

// Change a part of `count` blocks that follow one another. With the number of bytes known to the compiler, copies of the
// most common sizes are single instructions.
template <std::size_t kBytes>
void change_all(Part part, const std::uint8_t* from, std::size_t step, std::uint8_t* to, std::size_t stride,
                std::ptrdiff_t count) {
  if (kBytes) {
    part.bytes = kBytes;
  }
  for (std::ptrdiff_t block = 0; block < count; ++block) {
    change(part, from + part.start + block * step, to + block * stride);
  }
}

}  // namespace

Regrouping::Regrouping(std::ptrdiff_t blocks, std::size_t block_bytes, std::vector<std::vector<Part>> outputs,
                       std::ptrdiff_t row_blocks, std::ptrdiff_t head_rows)
    : blocks_(blocks),
      block_bytes_(block_bytes),
      row_blocks_(row_blocks),
      head_rows_(head_rows),
      parts_(std::move(outputs)) {
  for (const auto& parts : parts_) {
    for (const Part& part : parts) {
      if (part.start + part.bytes > block_bytes) {
        throw std::invalid_argument("A part ends beyond its block.");
      }
    }
    const auto bytes = width(parts);
    arrays_.emplace_back(mx::allocator::malloc(blocks * bytes),
                         mx::Shape{static_cast<int>(blocks), static_cast<int>(bytes)}, mx::uint8);
    use_huge_pages(arrays_.back().data<std::uint8_t>(), blocks * bytes);
  }
}

void Regrouping::add(const std::uint8_t* data, std::size_t bytes) {
  const auto added = static_cast<std::ptrdiff_t>(bytes / block_bytes_);
  if (bytes % block_bytes_ || done_ + added > blocks_) {
    throw std::invalid_argument("These are not the next blocks.");
  }
  const auto grain = std::max<std::ptrdiff_t>(1, kChunk / block_bytes_);
  parallel_for(added, grain, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    while (begin < end) {
      const std::ptrdiff_t block = done_ + begin;
      const auto count = head_rows_ ? std::min(end - begin, row_blocks_ - block % row_blocks_) : end - begin;
      const std::uint8_t* from = data + begin * block_bytes_;
      for (std::size_t output = 0; output < parts_.size(); ++output) {
        const auto stride = width(parts_[output]);
        std::uint8_t* to = arrays_[output].data<std::uint8_t>() + place(block) * stride;
        for (const Part& part : parts_[output]) {
          const auto all = part.bytes == 2    ? change_all<2>
                           : part.bytes == 16 ? change_all<16>
                           : part.bytes == 32 ? change_all<32>
                                              : change_all<0>;
          all(part, from, block_bytes_, to, stride, count);
          to += part.bytes;
        }
      }
      begin += count;
    }
  });
  done_ += added;
}

std::vector<mx::array> Regrouping::outputs() const {
  if (done_ != blocks_) {
    throw std::logic_error("Blocks are missing.");
  }
  return arrays_;
}

std::ptrdiff_t Regrouping::place(std::ptrdiff_t block) const {
  if (!head_rows_) {
    return block;
  }
  const std::ptrdiff_t row = block / row_blocks_, head = row / head_rows_, inside = row % head_rows_;
  return (head * head_rows_ + inside % 2 * (head_rows_ / 2) + inside / 2) * row_blocks_ + block % row_blocks_;
}

}  // namespace sotto
