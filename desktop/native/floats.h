// What a primitive reads: arrays of any layout and any floating type, as float32 in row-major order.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "mlx/array.h"

namespace sotto {

// Memory for float32 values that begins where a cache line does: a vector that lies across two takes twice as long.
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

// Whether the elements of an array lie in row-major order without gaps. Told from the strides: the flags of a matrix
// that was transposed twice do not say it.
bool is_row_major(const mlx::core::array& source);

// The values of an array as float32, row-major: the array's own memory where it is that already, otherwise a copy that
// lives as long as this object. The array must be available, so make one inside a dispatched task.
class Floats {
 public:
  explicit Floats(const mlx::core::array& source);
  const float* data() const { return data_; }

 private:
  std::unique_ptr<float[]> copy_;
  const float* data_;
};

// The bytes of an array in row-major order: its own memory, or a copy where it is laid out otherwise.
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

// Where a primitive writes: float32 memory of the output's size, which `store` rounds into the output when the output
// has a 16-bit type. The output's memory must be allocated.
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
