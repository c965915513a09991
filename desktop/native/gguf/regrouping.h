// Takes the blocks of a GGUF tensor apart: each output is an array with a row of bytes for each block, which consists of
// some parts of the block. A block of 16 bytes of codes and a scale becomes a row of codes and one with the scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mlx/array.h"

namespace sotto {

// How the bytes of a part are changed.
enum class Change {
  none,
  // All low halves, then all high halves of bytes are elements of 4 bits; two that follow one another share a byte then.
  nibbles,
  // Signed bytes become unsigned ones, where 128 stands for 0.
  offset,
  // A float16 is multiplied by -2^power.
  negated,
};

struct Part {
  Change change;
  std::size_t start;
  std::size_t bytes;
  int power;
};

class Regrouping {
 public:
  // A tensor of `blocks` blocks of `block_bytes` each, `row_blocks` of them in a row. The rows of each head of
  // `head_rows` rows, which alternate between its two halves, are put in order; 0 leaves them as they are.
  Regrouping(std::ptrdiff_t blocks, std::size_t block_bytes, std::vector<std::vector<Part>> outputs,
             std::ptrdiff_t row_blocks, std::ptrdiff_t head_rows);

  // Take the next blocks apart.
  void add(const std::uint8_t* data, std::size_t bytes);

  // The outputs, uint8 [blocks, bytes]; only once all blocks have been added.
  std::vector<mlx::core::array> outputs() const;

 private:
  std::ptrdiff_t place(std::ptrdiff_t block) const;

  std::ptrdiff_t blocks_;
  std::size_t block_bytes_;
  std::ptrdiff_t row_blocks_;
  std::ptrdiff_t head_rows_;
  std::ptrdiff_t done_ = 0;
  std::vector<std::vector<Part>> parts_;
  std::vector<mlx::core::array> arrays_;
};

}  // namespace sotto
