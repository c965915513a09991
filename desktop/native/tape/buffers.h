// The memory of caches, which decode steps write in place.
#pragma once

#include <memory>
#include <vector>

#include "mlx/array.h"

namespace sotto::tape {

namespace mx = mlx::core;

// Memory that a step writes in place, and the contents to copy there first.
class Claim {
 public:
  // Claim the memory of a cache's array, which must have been scheduled. If another array shares it, or if it is not
  // contiguous, `buffer` gets memory of its own, as MLX does before it writes in place.
  explicit Claim(mx::array& buffer);

  // Copy the previous contents if the memory is new. To be called inside a dispatched task.
  void fill() const;
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::shared_ptr<mx::array::Data> memory_;  // kept alive until the step is done
  std::shared_ptr<mx::array> before_;        // null if there is nothing to copy
  char* data_;
};

}  // namespace sotto::tape
