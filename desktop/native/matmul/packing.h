// Shared by the primitives of this folder: how weights are stored in arrays, and how a task is dispatched.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "floats.h"
#include "matmul/rows.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"

namespace sotto {

namespace mx = mlx::core;

// The storage format of weights, as far as their arrays do not show it.
struct Packing {
  Format format;
  int group;
  int bits;  // per packed weight; 0 for unquantized ones
};

bool is_float(mx::Dtype type);

ScaleType scale_type(mx::Dtype type);

// The packing of one of MLX's quantization modes; empty if no kernel supports it.
std::optional<Packing> quantized(const std::string& mode, std::optional<int> group, std::optional<int> bits);

// The packing of unquantized weights of this type; empty if no kernel supports it.
std::optional<Packing> plain(mx::Dtype type);

// Return whether arrays of packed weights have matching types and shapes, for `columns` activations.
bool consistent(const Packing& packing, const mx::array& w, const mx::array& scales,
                const std::optional<mx::array>& biases, int columns);

// The weights among a primitive's inputs, while its task runs.
class Weights {
 public:
  Weights(const Packing& packing, const mx::array& w, const mx::array* scales, const mx::array* biases)
      : packing_(packing), weights_(w), type_(scales ? scale_type(scales->dtype()) : ScaleType::f32) {
    rows_ = w.shape(-2);
    columns_ = packing.bits == 0 ? w.shape(-1) : static_cast<std::int64_t>(w.shape(-1)) * 32 / packing.bits;
    row_bytes_ = static_cast<std::int64_t>(w.shape(-1)) * w.itemsize();
    if (scales != nullptr) {
      scales_.emplace(*scales);
      scale_row_bytes_ = static_cast<std::int64_t>(scales->shape(-1)) * scales->itemsize();
    }
    if (biases != nullptr) {
      biases_.emplace(*biases);
    }
  }

  // The matrix at the flat index `index` of the leading axes.
  Matrix matrix(std::ptrdiff_t index = 0) const {
    Matrix found;
    found.format = packing_.format;
    found.scale_type = type_;
    found.rows = rows_;
    found.columns = columns_;
    found.group = packing_.group;
    found.weights = weights_.data<std::uint8_t>() + index * rows_ * row_bytes_;
    found.scales = scales_ ? scales_->data<std::uint8_t>() + index * rows_ * scale_row_bytes_ : nullptr;
    found.biases = biases_ ? biases_->data<std::uint8_t>() + index * rows_ * scale_row_bytes_ : nullptr;
    return found;
  }

 private:
  Packing packing_;
  Bytes weights_;
  std::optional<Bytes> scales_;
  std::optional<Bytes> biases_;
  ScaleType type_;
  std::ptrdiff_t rows_ = 0;
  std::ptrdiff_t columns_ = 0;
  std::ptrdiff_t row_bytes_ = 0;
  std::ptrdiff_t scale_row_bytes_ = 0;
};

class CpuPrimitive : public mx::UnaryPrimitive {
 public:
  using mx::UnaryPrimitive::UnaryPrimitive;

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    out.set_data(mx::allocator::malloc(out.nbytes()));
    if (out.size() == 0) {
      return;
    }
    std::vector<mx::array> held;
    for (const auto& input : inputs) {
      held.push_back(mx::array::unsafe_weak_copy(input));
    }
    mx::cpu::get_command_encoder(stream()).dispatch(
        [task = task(), held = std::move(held), result = mx::array::unsafe_weak_copy(out)]() mutable {
          task(held, result);
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw std::runtime_error("Sotto's native kernels run on the CPU alone.");
  }

 protected:
  using Task = std::function<void(const std::vector<mx::array>&, mx::array&)>;
  // The computation, as a function that may outlive this object.
  virtual Task task() const = 0;
};

}  // namespace sotto
