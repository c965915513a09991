// The memory of caches, which steps write in place.
#pragma once

#include <memory>
#include <vector>

#include "mlx/array.h"

namespace sotto::tape {

namespace mx = mlx::core;

// Memory that a step writes in place, and what has to be copied there first.
class Claim {
 public:
  // Claim the memory of a cache's array, which has been scheduled. Where another array shares it, or it has gaps,
  // `buffer` gets memory of its own, as MLX does before it writes in place.
  explicit Claim(mx::array& buffer);

  // Copy what is held, where the memory is new. Inside a dispatched task.
  void fill() const;
  float* data() const { return data_; }

 private:
  std::shared_ptr<mx::array::Data> memory_;  // lives until the step is done
  std::shared_ptr<mx::array> before_;        // null where nothing is to be copied
  float* data_;
};

}  // namespace sotto::tape
