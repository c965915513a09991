// Recording of the operations of MLX by which mixtures of experts choose experts and weigh them. Each computes in the
// order of MLX's own, so that results have the same bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "blas.h"
#include "mlx/backend/cpu/binary_ops.h"
#include "mlx/backend/cpu/unary_ops.h"
#include "mlx/primitives.h"
#include "tape/recording.h"

namespace sotto::tape {

namespace {

void soften(const float* from, std::ptrdiff_t length, float* to) {
  float largest = -std::numeric_limits<float>::infinity(), total = 0;
  for (std::ptrdiff_t i = 0; i < length; ++i) largest = mx::detail::Maximum()(from[i], largest);
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    to[i] = mx::detail::Exp()(from[i] - largest);
    total += to[i];
  }
  const float share = 1 / total;
  for (std::ptrdiff_t i = 0; i < length; ++i) to[i] *= share;
}

// Numbers in an order in which none before the one at `middle` is larger than it, and none after it smaller.
void partition(const float* from, std::ptrdiff_t length, std::ptrdiff_t middle, float* to) {
  std::copy_n(from, length, to);
  std::nth_element(to, to + middle, to + length, [](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    return a < b;
  });
}

// The positions of numbers, so that none before the one at `middle` is larger than it, and none after it smaller.
void partition(const float* from, std::ptrdiff_t length, std::ptrdiff_t middle, std::uint32_t* to) {
  std::iota(to, to + length, 0u);
  std::nth_element(to, to + middle, to + length, [from](std::uint32_t one, std::uint32_t other) {
    const float a = from[one], b = from[other];
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
    return a < b || (a == b && one < other);
  });
}

// Whether neighbours along an axis lie together.
bool is_last(int axis, const mx::array& of) { return product(of.shape().begin() + axis + 1, of.shape().end()) == 1; }

// A matrix product of as many matrices of each operand, [..., m, k] and [..., k, n], which all lie in order.
void multiply_each(const float* a, const float* b, std::ptrdiff_t count, int m, int n, int k, float* to) {
  for (; count > 0; --count, a += m * k, b += k * n, to += m * n) {
    cblas_sgemm(kRowMajor, kPlain, kPlain, m, n, k, 1.0f, a, k, b, n, 0.0f, to, n);
  }
}

}  // namespace

bool Recorder::routed(const mx::array& node, const std::string& name) {
  const auto& inputs = node.inputs();
  Operation operation;
  if (name == "Softmax") {
    operation.reads = {dense(inputs[0])};
    operation.work = [size = static_cast<std::ptrdiff_t>(node.size()), length = std::ptrdiff_t{node.shape(-1)}](
                         const Run& run, const Operation& own) {
      for (std::ptrdiff_t at = 0; at < size; at += length) {
        soften(run.at(own.reads[0]) + at, length, run.at(own.writes[0]) + at);
      }
    };
  } else if (name == "Matmul" && !is_constant(inputs[1])) {
    const int m = node.shape(-2), n = node.shape(-1), k = inputs[0].shape(-1);
    const std::ptrdiff_t count = product(node.shape().begin(), node.shape().end() - 2);
    if (static_cast<std::ptrdiff_t>(inputs[0].size()) != count * m * k ||
        static_cast<std::ptrdiff_t>(inputs[1].size()) != count * k * n) {
      return false;
    }
    operation.reads = {dense(inputs[0]), dense(inputs[1])};
    operation.work = [=](const Run& run, const Operation& own) {
      multiply_each(run.at(own.reads[0]), run.at(own.reads[1]), count, m, n, k, run.at(own.writes[0]));
    };
  } else if (name == "Matmul") {
    if (inputs[0].ndim() != 2 || inputs[1].ndim() != 2) {
      return false;
    }
    const View matrix = view(inputs[1]);
    const int m = node.shape(0), n = node.shape(1), k = inputs[0].shape(1);
    const bool transposed = matrix.strides[0] == 1 && matrix.strides[1] == k;
    if (!transposed && (matrix.strides[0] != n || matrix.strides[1] != 1)) {
      return false;
    }
    operation.reads = {dense(inputs[0])};
    // One by one, as BLAS computes a row otherwise beside others.
    operation.work = [m, n, k, transposed, weight = matrix.source.constant](const Run& run, const Operation& own) {
      for (int row = 0; row < m; ++row) {
        cblas_sgemm(kRowMajor, kPlain, transposed ? kTransposed : kPlain, 1, n, k, 1.0f, run.at(own.reads[0]) + row * k,
                    k, weight, transposed ? k : n, 0.0f, run.at(own.writes[0]) + row * n, n);
      }
    };
  } else if (name == "Sum" || name == "Max") {
    const auto [kind, axes] = static_cast<const mx::Reduce&>(node.primitive()).state();
    if (axes.size() != 1) {
      return false;
    }
    const mx::Shape& shape = inputs[0].shape();
    const std::ptrdiff_t outer = product(shape.begin(), shape.begin() + axes[0]), length = shape[axes[0]];
    const std::ptrdiff_t inner = product(shape.begin() + axes[0] + 1, shape.end());
    operation.reads = {dense(inputs[0])};
    const bool sums = name == "Sum";
    operation.work = [outer, length, inner, sums](const Run& run, const Operation& own) {
      const float* from = run.at(own.reads[0]);
      float* to = run.at(own.writes[0]);
      for (std::ptrdiff_t at = 0; at < outer; ++at, to += inner) {
        std::fill_n(to, inner, sums ? 0.0f : -std::numeric_limits<float>::infinity());
        for (std::ptrdiff_t i = 0; i < length; ++i, from += inner) {
          for (std::ptrdiff_t j = 0; j < inner; ++j) {
            to[j] = sums ? to[j] + from[j] : mx::detail::Maximum()(from[j], to[j]);
          }
        }
      }
    };
  } else if (name == "ArgPartition" || name == "Partition") {
    const bool positions = name == "ArgPartition";
    const auto [middle, axis] = positions ? static_cast<const mx::ArgPartition&>(node.primitive()).state()
                                          : static_cast<const mx::Partition&>(node.primitive()).state();
    if (!is_last(axis, node)) {
      return false;
    }
    operation.reads = {dense(inputs[0])};
    operation.work = [=, size = static_cast<std::ptrdiff_t>(node.size()),
                      length = std::ptrdiff_t{node.shape(axis)}](const Run& run, const Operation& own) {
      for (std::ptrdiff_t at = 0; at < size; at += length) {
        const float* from = run.at(own.reads[0]) + at;
        if (positions) {
          partition(from, length, middle, run.integers(own.writes[0]) + at);
        } else {
          partition(from, length, middle, run.at(own.writes[0]) + at);
        }
      }
    };
  } else if (name == "GatherAxis") {
    const int axis = static_cast<const mx::GatherAxis&>(node.primitive()).state();
    const std::ptrdiff_t length = inputs[0].shape(axis), count = node.shape(axis), rows = node.size() / count;
    if (!is_last(axis, node) || static_cast<std::ptrdiff_t>(inputs[0].size()) != rows * length) {
      return false;
    }
    operation.reads = {dense(inputs[0]), integers(inputs[1])};
    operation.work = [rows, length, count](const Run& run, const Operation& own) {
      const float* from = run.at(own.reads[0]);
      const std::uint32_t* index = run.integers(own.reads[1]);
      float* to = run.at(own.writes[0]);
      for (std::ptrdiff_t row = 0; row < rows; ++row, from += length) {
        for (std::ptrdiff_t i = 0; i < count; ++i) *to++ = from[checked(*index++, length)];
      }
    };
  } else if (name == "Gather") {
    const auto [axes, slice] = static_cast<const mx::Gather&>(node.primitive()).state();
    mx::Shape whole = inputs[0].shape();
    whole[0] = 1;
    if (axes != std::vector<int>{0} || slice != whole) {
      return false;
    }
    const std::ptrdiff_t length = inputs[0].shape(0), size = product(slice.begin(), slice.end());
    operation.reads = {dense(inputs[0]), integers(inputs[1])};
    operation.work = [count = static_cast<std::ptrdiff_t>(inputs[1].size()), length, size](const Run& run,
                                                                                         const Operation& own) {
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        const std::ptrdiff_t index = checked(run.integers(own.reads[1])[i], length);
        std::copy_n(run.at(own.reads[0]) + index * size, size, run.at(own.writes[0]) + i * size);
      }
    };
  } else {
    return false;
  }
  add(std::move(operation), node);
  return true;
}

}  // namespace sotto::tape
