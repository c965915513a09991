// Access to the rows (along the last axis) of an array of any layout; contiguous rows are read in place.
#pragma once

#include <cstdint>
#include <vector>

#include "mlx/array.h"

namespace sotto::fused {

class Rows {
 public:
  explicit Rows(const mlx::core::array& source)
      : data_(source.data<float>()),
        length_(source.ndim() == 0 ? 1 : source.shape(-1)),
        step_(source.ndim() == 0 ? 1 : source.strides(-1)) {
    count_ = length_ == 0 ? 0 : static_cast<std::int64_t>(source.size()) / length_;
    // Merge axes that are contiguous with each other.
    for (int axis = static_cast<int>(source.ndim()) - 2; axis >= 0; --axis) {
      const std::int64_t size = source.shape(axis);
      const std::int64_t stride = source.strides(axis);
      if (size == 1) continue;
      if (!sizes_.empty() && stride == sizes_.back() * strides_.back()) {
        sizes_.back() *= size;
      } else {
        sizes_.push_back(size);
        strides_.push_back(stride);
      }
    }
  }

  // Contiguous rows.
  Rows(const float* data, std::int64_t count, std::int64_t length)
      : data_(data), length_(length), step_(1), count_(count), sizes_{count}, strides_{length} {}

  std::int64_t count() const { return count_; }
  std::int64_t length() const { return length_; }

  // Return whether the whole array is contiguous.
  bool flat() const {
    return (step_ == 1 || length_ == 1) &&
           (sizes_.empty() || (sizes_.size() == 1 && strides_[0] == length_));
  }

  // The row with this index in row-major order, copied to `spare` if it is not contiguous.
  const float* row(std::int64_t number, std::vector<float>& spare) const {
    const float* from = data_;
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      if (axis + 1 == sizes_.size()) {
        from += number * strides_[axis];
        break;
      }
      from += number % sizes_[axis] * strides_[axis];
      number /= sizes_[axis];
    }
    if (step_ == 1 || length_ == 1) return from;
    spare.resize(static_cast<std::size_t>(length_));
    for (std::int64_t i = 0; i < length_; ++i) spare[static_cast<std::size_t>(i)] = from[i * step_];
    return spare.data();
  }

  // The only row of a vector, copied to `spare` if it is not contiguous.
  const float* only(std::vector<float>& spare) const { return row(0, spare); }

  // All elements as one contiguous run; only valid if `flat()`.
  const float* data() const { return data_; }

 private:
  const float* data_;
  std::int64_t length_;
  std::int64_t step_;
  std::int64_t count_ = 0;
  mlx::core::Strides sizes_;  // from the last axis to the first
  mlx::core::Strides strides_;
};

}  // namespace sotto::fused
