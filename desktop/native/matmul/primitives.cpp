// The products as MLX primitives, equivalent to mx.quantized_matmul, mx.gather_qmm, mx.gather_mm and nn.Linear.
//
// Each function returns None for combinations that it does not support, so that the caller can fall back to MLX.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "bind.h"
#include "matmul/block_rows.h"
#include "matmul/embedding.h"
#include "matmul/gathered.h"
#include "matmul/packing.h"
#include "matmul/product.h"
#include "matmul/widened.h"
#include "mlx/ops.h"
#include "mlx/utils.h"
#include "tape/recording.h"

namespace nb = nanobind;

namespace sotto {

namespace {

// Inputs: x [..., columns], weights [rows, ...], and scales and maybe biases of packed weights, or maybe a bias [rows]
// with unquantized ones.
class LinearProduct : public CpuPrimitive, public tape::Recordable {
 public:
  LinearProduct(mx::Stream stream, Packing packing) : CpuPrimitive(stream), packing_(packing) {}
  const char* name() const override { return "SottoLinearProduct"; }

  void record(tape::Recorder& recorder, const mx::array& out) const override {
    const auto& inputs = out.inputs();
    const std::size_t arrays = packing_.bits != 0 ? inputs.size() : 2;
    tape::Operation operation;
    operation.reads.push_back(recorder.dense(inputs[0]));
    operation.parts.push_back({recorder.matrix(packing_, {inputs.begin() + 1, inputs.begin() + arrays}),
                               arrays < inputs.size() ? recorder.numbers(inputs.back()) : nullptr});
    operation.count = out.size() / out.shape(-1);
    recorder.add(std::move(operation), out);
  }

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

// Look up rows of a table as float32, for ids of any shape.
Maybe embedding(const mx::array& ids, const mx::array& w, const Maybe& scales, const Maybe& biases,
                std::optional<int> group, std::optional<int> bits, const std::string& mode) {
  const auto packing = scales ? quantized(mode, group, bits) : plain(w.dtype());
  const bool known = packing && w.ndim() == 2 && w.shape(0) > 0 && w.shape(1) > 0;
  if (!known || (ids.dtype() != mx::uint32 && ids.dtype() != mx::int32) ||
      (scales && !consistent(*packing, w, *scales, biases, w.shape(1) * 32 / packing->bits))) {
    return std::nullopt;
  }
  std::vector<mx::array> inputs{ids, w};
  for (const Maybe& input : {scales, biases}) {
    if (input) {
      inputs.push_back(*input);
    }
  }
  return embedded(*packing, cpu_stream(), std::move(inputs));
}

// MLX's default for omitted indices: 0, 1, ... in the shape of the leading axes.
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
  return gathered_product(packing, cpu_stream(), type, std::move(shape), std::move(inputs));
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

// Arrange the rows of blocks for the kernels, see blocks.h.
mx::array interleave(const mx::array& stored) {
  const mx::Dtype type = stored.dtype();
  const bool halves = type == mx::uint16 || type == mx::int16 ||
                      type == mx::bfloat16 || type == mx::float16 ||
                      ((type == mx::int8 || type == mx::uint8) && stored.ndim() > 0 && stored.shape(-1) % 2 == 0);
  if (stored.ndim() < 2 || (type != mx::uint32 && !halves)) {
    throw std::invalid_argument(
        "Rows of blocks should be uint32, 16-bit numbers or pairs of bytes, in two dimensions or more.");
  }
  return interleaved(stored, cpu_stream());
}

}  // namespace

void bind_matmul(nb::module_& m) {
  using namespace nb::literals;
  m.def("quantized_matmul", &quantized_matmul, "x"_a, "w"_a, "scales"_a, "biases"_a.none(), "transpose"_a,
        "group_size"_a.none(), "bits"_a.none(), "mode"_a);
  m.def("gather_qmm", &gather_qmm, "x"_a, "w"_a, "scales"_a, "biases"_a.none(), "lhs_indices"_a.none(),
        "rhs_indices"_a.none(), "transpose"_a, "group_size"_a.none(), "bits"_a.none(), "mode"_a);
  m.def("gather_mm", &gather_mm, "x"_a, "w"_a, "lhs_indices"_a.none(), "rhs_indices"_a.none());
  m.def("embedding", &embedding, "ids"_a, "w"_a, "scales"_a.none(), "biases"_a.none(), "group_size"_a.none(),
        "bits"_a.none(), "mode"_a);
  m.def("interleave", &interleave, "stored"_a);
  m.def(
      "widen", [](const mx::array& stored, int bits) { return widened(stored, bits, cpu_stream()); }, "stored"_a,
      "bits"_a);
  m.def("linear", &linear_product, "x"_a, "w"_a, "bias"_a.none());
  m.def(
      "knows",
      [](const std::string& mode, int group, int bits) { return quantized(mode, group, bits).has_value(); }, "mode"_a,
      "group_size"_a, "bits"_a);
  m.def("set_few_rows", &set_few_rows, "rows"_a);
  m.def("few_rows", &few_rows);
}

}  // namespace sotto
