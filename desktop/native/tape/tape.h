// The list of operations of a decode step, and their working memory.
#pragma once

#include <mutex>
#include <vector>

#include "floats.h"
#include "tape/recording.h"

namespace sotto::tape {

class Tape {
 public:
  // Merge products with the same operand, and let values reuse the memory of others that are no longer read.
  explicit Tape(Recording recording);

  int rows() const { return recording_.rows; }
  const std::vector<Layer>& layers() const { return recording_.layers; }
  const std::vector<mx::Shape>& states() const { return recording_.states; }
  // Logits per row.
  int vocabulary() const { return static_cast<int>(recording_.sizes[recording_.logits] / recording_.rows); }
  std::size_t operations() const { return recording_.operations.size(); }

  // Compute one step. `run.places` is ignored.
  void run(Run run, float* logits);

 private:
  void join_products();
  void place_values();

  Recording recording_;
  FloatBuffer memory_;
  std::vector<float*> places_;
  std::mutex running_;
};

}  // namespace sotto::tape
