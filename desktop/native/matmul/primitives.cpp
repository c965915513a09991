// The products as primitives of MLX: what mx.quantized_matmul, mx.gather_qmm, mx.gather_mm and nn.Linear compute.
//
// Each function returns nothing where it does not know the combination, so that the caller can turn to MLX.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

#include "bind.h"
#include "floats.h"
#include "matmul/product.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/ops.h"
#include "mlx/primitives.h"
#include "mlx/utils.h"

namespace nb = nanobind;
namespace mx = mlx::core;

namespace sotto {

namespace {

// How the weights of a product are stored, as far as it does not show in their arrays.
struct Packing {
  Format format;
  int group;
  int bits;  // of a packed weight; 0 for plain ones
};

bool is_float(mx::Dtype type) { return type == mx::float32 || type == mx::bfloat16 || type == mx::float16; }

ScaleType scale_type(mx::Dtype type) {
  return type == mx::bfloat16 ? ScaleType::bf16 : type == mx::float16 ? ScaleType::f16 : ScaleType::f32;
}

std::optional<Packing> quantized(const std::string& mode, std::optional<int> group, std::optional<int> bits) {
  if (mode == "affine") {
    const Packing found{bits.value_or(4) == 8 ? Format::affine8 : Format::affine4, group.value_or(64), bits.value_or(4)};
    const bool known = (found.bits == 4 || found.bits == 8) &&
                       (found.group == 32 || found.group == 64 || found.group == 128);
    return known ? std::optional(found) : std::nullopt;
  }
  const auto fits = [&](int own_group, int own_bits) {
    return group.value_or(own_group) == own_group && bits.value_or(own_bits) == own_bits;
  };
  if (mode == "mxfp4" && fits(32, 4)) {
    return Packing{Format::mxfp4, 32, 4};
  }
  if (mode == "mxfp8" && fits(32, 8)) {
    return Packing{Format::mxfp8, 32, 8};
  }
  if (mode == "nvfp4" && fits(16, 4)) {
    return Packing{Format::nvfp4, 16, 4};
  }
  return std::nullopt;
}

std::optional<Packing> plain(mx::Dtype type) {
  if (type == mx::bfloat16) {
    return Packing{Format::bf16, 0, 0};
  }
  if (type == mx::float16) {
    return Packing{Format::f16, 0, 0};
  }
  if (type == mx::float32) {
    return Packing{Format::f32, 0, 0};
  }
  return std::nullopt;
}

// Whether arrays of packed weights have the types and shapes that belong together, for `columns` activations.
bool consistent(const Packing& packing, const mx::array& w, const mx::array& scales,
                const std::optional<mx::array>& biases, int columns) {
  if (w.ndim() < 2 || w.dtype() != mx::uint32 || scales.ndim() != w.ndim() || columns <= 0) {
    return false;
  }
  const bool affine = packing.format == Format::affine4 || packing.format == Format::affine8;
  if (affine != biases.has_value() || (affine ? !is_float(scales.dtype()) : scales.dtype() != mx::uint8)) {
    return false;
  }
  if (affine && (biases->dtype() != scales.dtype() || biases->shape() != scales.shape())) {
    return false;
  }
  for (std::size_t axis = 0; axis + 1 < w.ndim(); ++axis) {
    if (w.shape(axis) != scales.shape(axis)) {
      return false;
    }
  }
  return static_cast<std::int64_t>(w.shape(-1)) * 32 == static_cast<std::int64_t>(columns) * packing.bits &&
         columns % packing.group == 0 && scales.shape(-1) == columns / packing.group;
}

// The weights of a primitive's inputs while its task runs.
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

  // The matrix at `index` of the leading axes.
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
  // What to compute, independent of this object's life.
  virtual Task task() const = 0;
};

// Inputs: x [..., columns], weights [rows, ...], and scales, biases for packed ones, or a bias [rows] for plain ones.
class LinearProduct : public CpuPrimitive {
 public:
  LinearProduct(mx::Stream stream, Packing packing) : CpuPrimitive(stream), packing_(packing) {}
  const char* name() const override { return "SottoLinearProduct"; }

 protected:
  Task task() const override {
    return [packing = packing_](const std::vector<mx::array>& inputs, mx::array& out) {
      const bool packed = packing.bits != 0;
      const Floats x(inputs[0]);
      const Weights weights(packing, inputs[1], packed ? &inputs[2] : nullptr,
                            packed && inputs.size() > 3 ? &inputs[3] : nullptr);
      Results y(out);
      const Matrix matrix = weights.matrix();
      const std::ptrdiff_t rows = out.size() / matrix.rows;
      multiply({{matrix, rows, x.data(), y.data()}});
      if (!packed && inputs.size() > 2) {
        const Floats bias(inputs[2]);
        for (std::ptrdiff_t row = 0; row < rows; ++row) {
          for (std::ptrdiff_t n = 0; n < matrix.rows; ++n) {
            y.data()[row * matrix.rows + n] += bias.data()[n];
          }
        }
      }
      y.store();
    };
  }

 private:
  Packing packing_;
};

// Inputs: x [..., M, columns], weights [..., rows, ...], indices into the leading axes of x and of the weights, both of
// the output's leading shape, and scales, biases for packed weights. The products are sorted by matrix first.
class GatheredProduct : public CpuPrimitive {
 public:
  GatheredProduct(mx::Stream stream, Packing packing) : CpuPrimitive(stream), packing_(packing) {}
  const char* name() const override { return "SottoGatheredProduct"; }

 protected:
  Task task() const override {
    return [packing = packing_](const std::vector<mx::array>& inputs, mx::array& out) {
      const Floats x(inputs[0]);
      const Bytes left(inputs[2]), right(inputs[3]);
      const Weights weights(packing, inputs[1], packing.bits != 0 ? &inputs[4] : nullptr,
                            packing.bits != 0 && inputs.size() > 5 ? &inputs[5] : nullptr);
      Results y(out);
      const Matrix shape = weights.matrix();
      const std::ptrdiff_t pairs = inputs[3].size(), height = inputs[0].shape(-2);
      const std::ptrdiff_t matrices = inputs[1].size() / (inputs[1].shape(-1) * std::ptrdiff_t{inputs[1].shape(-2)});
      const std::ptrdiff_t blocks = inputs[0].size() / (height * shape.columns);
      const std::uint32_t* block_of = left.data<std::uint32_t>();
      const std::uint32_t* matrix_of = right.data<std::uint32_t>();
      std::vector<std::ptrdiff_t> start(matrices + 1, 0);
      for (std::ptrdiff_t pair = 0; pair < pairs; ++pair) {
        if (matrix_of[pair] >= static_cast<std::uint64_t>(matrices) ||
            block_of[pair] >= static_cast<std::uint64_t>(blocks)) {
          throw std::out_of_range("An index of a gathered product is beyond the end of its array.");
        }
        ++start[matrix_of[pair] + 1];
      }
      std::partial_sum(start.begin(), start.end(), start.begin());
      std::vector<std::ptrdiff_t> place(pairs), next(start);
      const std::ptrdiff_t block_in = height * shape.columns, block_out = height * shape.rows;
      std::unique_ptr<float[]> sorted(new float[pairs * (block_in + block_out)]);
      float* results = sorted.get() + pairs * block_in;
      for (std::ptrdiff_t pair = 0; pair < pairs; ++pair) {
        place[pair] = next[matrix_of[pair]]++;
        std::memcpy(sorted.get() + place[pair] * block_in, x.data() + block_of[pair] * block_in,
                    block_in * sizeof(float));
      }
      std::vector<Product> products;
      for (std::ptrdiff_t index = 0; index < matrices; ++index) {
        const std::ptrdiff_t count = start[index + 1] - start[index];
        if (count > 0) {
          products.push_back({weights.matrix(index), count * height, sorted.get() + start[index] * block_in,
                              results + start[index] * block_out});
        }
      }
      multiply(products);
      for (std::ptrdiff_t pair = 0; pair < pairs; ++pair) {
        std::memcpy(y.data() + pair * block_out, results + place[pair] * block_out, block_out * sizeof(float));
      }
      y.store();
    };
  }

 private:
  Packing packing_;
};

using Maybe = std::optional<mx::array>;

mx::Stream cpu_stream() { return mx::to_stream(mx::StreamOrDevice{}, mx::Device::cpu); }

mx::array linear(const Packing& packing, mx::Dtype type, std::vector<mx::array> inputs) {
  auto shape = inputs[0].shape();
  shape.back() = inputs[1].shape(-2);
  return mx::array(std::move(shape), type, std::make_shared<LinearProduct>(cpu_stream(), packing), std::move(inputs));
}

mx::Dtype product_type(const Packing& packing, const mx::array& x, const mx::array& other) {
  const bool affine = packing.format == Format::affine4 || packing.format == Format::affine8;
  return affine || packing.bits == 0 ? mx::promote_types(x.dtype(), other.dtype()) : x.dtype();
}

Maybe quantized_matmul(const mx::array& x, const mx::array& w, const mx::array& scales, const Maybe& biases,
                       bool transpose, std::optional<int> group, std::optional<int> bits, const std::string& mode) {
  const auto packing = quantized(mode, group, bits);
  if (!packing || !transpose || x.ndim() == 0 || w.ndim() != 2 || !is_float(x.dtype()) ||
      !consistent(*packing, w, scales, biases, x.shape(-1))) {
    return std::nullopt;
  }
  std::vector<mx::array> inputs{x, w, scales};
  if (biases) {
    inputs.push_back(*biases);
  }
  return linear(*packing, product_type(*packing, x, scales), std::move(inputs));
}

Maybe linear_product(const mx::array& x, const mx::array& w, const Maybe& bias) {
  const auto packing = plain(w.dtype());
  if (!packing || x.ndim() == 0 || w.ndim() != 2 || !is_float(x.dtype()) || w.shape(1) == 0 || w.shape(0) == 0 ||
      x.shape(-1) != w.shape(1)) {
    return std::nullopt;
  }
  if (bias && (!is_float(bias->dtype()) || bias->ndim() != 1 || bias->shape(0) != w.shape(0))) {
    return std::nullopt;
  }
  auto type = mx::promote_types(x.dtype(), w.dtype());
  std::vector<mx::array> inputs{x, w};
  if (bias) {
    type = mx::promote_types(type, bias->dtype());
    inputs.push_back(*bias);
  }
  return linear(*packing, type, std::move(inputs));
}

// Indices as MLX counts them where they are left out: 0, 1, ... in the shape of the leading axes.
mx::array indices_or_all(const Maybe& indices, const mx::array& of) {
  if (indices) {
    return mx::astype(*indices, mx::uint32);
  }
  mx::Shape shape(of.shape().begin(), of.shape().end() - 2);
  int count = 1;
  for (int length : shape) {
    count *= length;
  }
  return mx::reshape(mx::arange(0, count, mx::uint32), std::move(shape));
}

Maybe gathered(const Packing& packing, const mx::array& x, const mx::array& w, const Maybe& left, const Maybe& right,
               const Maybe& scales, const Maybe& biases) {
  if (x.ndim() < 2 || !is_float(x.dtype()) || w.shape(-2) == 0) {
    return std::nullopt;
  }
  auto both = mx::broadcast_arrays({indices_or_all(left, x), indices_or_all(right, w)});
  mx::Shape shape = both[0].shape();
  shape.push_back(x.shape(-2));
  shape.push_back(w.shape(-2));
  const auto type = product_type(packing, x, scales ? *scales : w);
  std::vector<mx::array> inputs{x, w, both[0], both[1]};
  for (const Maybe& input : {scales, biases}) {
    if (input) {
      inputs.push_back(*input);
    }
  }
  return mx::array(std::move(shape), type, std::make_shared<GatheredProduct>(cpu_stream(), packing), std::move(inputs));
}

Maybe gather_qmm(const mx::array& x, const mx::array& w, const mx::array& scales, const Maybe& biases,
                 const Maybe& left, const Maybe& right, bool transpose, std::optional<int> group,
                 std::optional<int> bits, const std::string& mode) {
  const auto packing = quantized(mode, group, bits);
  if (!packing || !transpose || x.ndim() < 2 || !consistent(*packing, w, scales, biases, x.shape(-1))) {
    return std::nullopt;
  }
  return gathered(*packing, x, w, left, right, scales, biases);
}

// `w` is [..., rows, columns], the transpose of what mx.gather_mm takes.
Maybe gather_mm(const mx::array& x, const mx::array& w, const Maybe& left, const Maybe& right) {
  const auto packing = plain(w.dtype());
  if (!packing || w.ndim() < 2 || x.ndim() < 2 || w.shape(-1) == 0 || x.shape(-1) != w.shape(-1)) {
    return std::nullopt;
  }
  return gathered(*packing, x, w, left, right, std::nullopt, std::nullopt);
}

}  // namespace

void bind_matmul(nb::module_& m) {
  using namespace nb::literals;
  m.def("quantized_matmul", &quantized_matmul, "x"_a, "w"_a, "scales"_a, "biases"_a.none(), "transpose"_a,
        "group_size"_a.none(), "bits"_a.none(), "mode"_a);
  m.def("gather_qmm", &gather_qmm, "x"_a, "w"_a, "scales"_a, "biases"_a.none(), "lhs_indices"_a.none(),
        "rhs_indices"_a.none(), "transpose"_a, "group_size"_a.none(), "bits"_a.none(), "mode"_a);
  m.def("gather_mm", &gather_mm, "x"_a, "w"_a, "lhs_indices"_a.none(), "rhs_indices"_a.none());
  m.def("linear", &linear_product, "x"_a, "w"_a, "bias"_a.none());
  m.def(
      "knows",
      [](const std::string& mode, int group, int bits) { return quantized(mode, group, bits).has_value(); }, "mode"_a,
      "group_size"_a, "bits"_a);
  m.def("set_few_rows", &set_few_rows, "rows"_a);
  m.def("few_rows", &few_rows);
}

}  // namespace sotto
