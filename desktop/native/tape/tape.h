// The list of operations of a decode step, and the memory that they work in.
#pragma once

#include <mutex>
#include <vector>

#include "floats.h"
#include "tape/recording.h"

namespace sotto::tape {

class Tape {
 public:
  // Products that read the same are put together, and values share memory as soon as nobody reads them any more.
  explicit Tape(Recording recording);

  int rows() const { return recording_.rows; }
  const std::vector<Layer>& layers() const { return recording_.layers; }
  // Scores of a row.
  int vocabulary() const { return static_cast<int>(recording_.sizes[recording_.logits] / recording_.rows); }
  std::size_t operations() const { return recording_.operations.size(); }

  // Compute one step. `run.places` need not be given.
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
