// Shared by all fused primitives.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "mlx/array.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"
#include "mlx/utils.h"

namespace sotto::fused {

namespace mx = mlx::core;

class Primitive : public mx::UnaryPrimitive {
 public:
  using mx::UnaryPrimitive::UnaryPrimitive;

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw std::runtime_error(std::string(name()) + " runs on the CPU only.");
  }
};

// This thread's CPU stream.
inline mx::Stream cpu_stream() { return mx::to_stream({}, mx::Device::cpu); }

inline void require_float32(const mx::array& x, const char* what) {
  if (x.dtype() != mx::float32) throw std::invalid_argument(std::string(what) + " must hold float32.");
}

inline void require_vector(const mx::array& x, std::int64_t size, const char* what) {
  require_float32(x, what);
  if (x.ndim() != 1 || x.shape(0) != size) {
    throw std::invalid_argument(std::string(what) + " must have " + std::to_string(size) + " elements and one axis.");
  }
}

// Enqueue a task on the stream. MLX keeps the arrays that it uses alive until it has run.
template <typename Task>
void dispatch(const mx::Stream& stream, Task&& task) {
  mx::cpu::get_command_encoder(stream).dispatch(std::forward<Task>(task));
}

// Number of rows that together are worth another thread.
inline std::int64_t rows_at_once(std::int64_t row_cost) {
  return std::max<std::int64_t>(1, (std::int64_t{1} << 14) / std::max<std::int64_t>(1, row_cost));
}

}  // namespace sotto::fused
