// Access to inputs and outputs of primitives (arrays of any layout and floating-point type) as row-major float32.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "mlx/array.h"

namespace sotto {

// Cache-line-aligned memory for float32 values: accessing a vector that straddles two lines takes twice as long.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  explicit FloatBuffer(std::size_t size) : data_(new (std::align_val_t{kLine}) float[size + 1]) {}
  float* get() const { return data_.get(); }

 private:
  static constexpr std::size_t kLine = 64;
  struct Deleter {
    void operator()(float* data) const { ::operator delete[](data, std::align_val_t{kLine}); }
  };
  std::unique_ptr<float[], Deleter> data_;
};

inline float from_bf16(std::uint16_t bits) {
  std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// Return whether an array is row-major and contiguous. Determined from the strides, because the flags of a matrix that
// was transposed twice do not show it.
bool is_row_major(const mlx::core::array& source);

// The values of an array as row-major float32: the array's own memory if it already has this form, otherwise a copy
// that lives as long as this object. The array must have been computed, so construct this inside a dispatched task.
class Floats {
 public:
  explicit Floats(const mlx::core::array& source);
  const float* data() const { return data_; }

 private:
  std::unique_ptr<float[]> copy_;
  const float* data_;
};

// The bytes of an array in row-major order: its own memory, or a copy if its layout differs.
class Bytes {
 public:
  explicit Bytes(const mlx::core::array& source);
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  std::unique_ptr<char[]> copy_;
  const char* data_;
};

// The memory that a primitive writes its result to as float32: that of the output, or a buffer that `store` rounds into
// an output of a 16-bit type. The output's memory must be allocated.
class Results {
 public:
  explicit Results(mlx::core::array& target);
  float* data() { return data_; }
  // Must be called once, after the last write.
  void store();

 private:
  mlx::core::array& target_;
  std::unique_ptr<float[]> wide_;
  float* data_;
};

}  // namespace sotto
