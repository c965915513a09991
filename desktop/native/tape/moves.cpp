// Recording of MLX's own operations: views of the same memory, and elementwise arithmetic.
#include <algorithm>

#include "mlx/backend/cpu/binary_ops.h"
#include "mlx/backend/cpu/unary_ops.h"
#include "mlx/primitives.h"
#include "tape/recording.h"
#include "thread_pool.h"

namespace sotto::tape {

namespace {

constexpr std::ptrdiff_t kAtOnce = 1 << 13;

mx::Strides row_major(const mx::Shape& shape) {
  mx::Strides strides(shape.size(), 1);
  for (int axis = static_cast<int>(shape.size()) - 2; axis >= 0; --axis) {
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  }
  return strides;
}

bool is_dense(const View& view) {
  std::int64_t expected = 1;
  for (int axis = static_cast<int>(view.shape.size()) - 1; axis >= 0; --axis) {
    if (view.shape[axis] != 1 && view.strides[axis] != expected) {
      return false;
    }
    expected *= view.shape[axis];
  }
  return true;
}

std::size_t size_of(const View& view) {
  std::size_t size = 1;
  for (const int length : view.shape) {
    size *= length;
  }
  return size;
}

// Copy numbers with any strides to contiguous memory.
void gather(const float* from, const mx::Shape& shape, const mx::Strides& strides, std::size_t size, float* to) {
  for (std::size_t at = 0; at < size; ++at) {
    std::size_t rest = at;
    std::int64_t offset = 0;
    for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
      offset += static_cast<std::int64_t>(rest % shape[axis]) * strides[axis];
      rest /= shape[axis];
    }
    to[at] = from[offset];
  }
}

// y[i] = fn(a[i], b[i]), where a step of 0 repeats a single number.
template <typename Fn>
Operation binary(Source a, Source b, std::size_t size, Fn fn, int step_a, int step_b) {
  Operation operation;
  operation.reads = {a, b};
  operation.work = [=](const Run& run, const Operation& own) {
    const float* left = run.at(own.reads[0]);
    const float* right = run.at(own.reads[1]);
    float* to = run.at(own.writes[0]);
    parallel_for(size, kAtOnce, [=](std::ptrdiff_t begin, std::ptrdiff_t end) {
      if (step_a == 1 && step_b == 1) {
        for (std::ptrdiff_t i = begin; i < end; ++i) to[i] = fn(left[i], right[i]);
      } else {
        for (std::ptrdiff_t i = begin; i < end; ++i) to[i] = fn(left[i * step_a], right[i * step_b]);
      }
    });
  };
  return operation;
}

template <typename Fn>
Operation unary(Source a, std::size_t size, Fn fn) {
  Operation operation;
  operation.reads = {a};
  operation.work = [=](const Run& run, const Operation& own) {
    const float* from = run.at(own.reads[0]);
    float* to = run.at(own.writes[0]);
    parallel_for(size, kAtOnce, [=](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t i = begin; i < end; ++i) to[i] = fn(from[i]);
    });
  };
  return operation;
}

}  // namespace

Source Recorder::dense(const View& view) {
  if (is_dense(view)) {
    return view.source;
  }
  const std::size_t size = size_of(view);
  Operation operation;
  operation.reads = {view.source};
  operation.work = [size, shape = view.shape, strides = view.strides](const Run& run, const Operation& own) {
    gather(run.at(own.reads[0]), shape, strides, size, run.at(own.writes[0]));
  };
  const Value value = static_cast<Value>(recording_.sizes.size());
  recording_.sizes.push_back(size);
  operation.writes = {value};
  add(std::move(operation));
  return {value, 0, nullptr};
}

bool Recorder::moved(const mx::array& node, const std::string& name) {
  static const std::string kSame[] = {"Contiguous", "Copy", "StopGradient", "AsType"};
  static const std::string kShaped[] = {"Reshape", "Flatten", "Unflatten", "ExpandDims", "Squeeze"};
  const auto among = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  const auto& primitive = node.primitive();
  const auto source = [&] {
    if (node.inputs()[0].dtype() != mx::float32) {
      throw Unknown(name + " from another type than float32");
    }
    return view(node.inputs()[0]);
  };
  View made;
  if (among(kSame)) {
    made = source();
  } else if (among(kShaped)) {
    made = {dense(source()), node.shape(), row_major(node.shape())};
  } else if (name == "Transpose") {
    const View from = source();
    made = {from.source, node.shape(), {}};
    for (const int axis : static_cast<const mx::Transpose&>(primitive).state()) {
      made.strides.push_back(from.strides[axis]);
    }
  } else if (name == "Broadcast") {
    const View from = source();
    made = {from.source, node.shape(), mx::Strides(node.ndim(), 0)};
    const std::size_t added = node.ndim() - from.shape.size();
    for (std::size_t axis = added; axis < node.ndim(); ++axis) {
      made.strides[axis] = from.shape[axis - added] == 1 ? 0 : from.strides[axis - added];
    }
  } else if (name == "Slice") {
    made = source();
    const auto [start, end, step] = static_cast<const mx::Slice&>(primitive).state();
    for (std::size_t axis = 0; axis < node.ndim(); ++axis) {
      made.source.offset += start[axis] * made.strides[axis];
      made.strides[axis] *= step[axis];
    }
    made.shape = node.shape();
  } else if (name == "Split") {
    made = source();
    const auto [starts, axis] = static_cast<const mx::Split&>(primitive).state();
    const int position = node.sibling_position();
    made.source.offset += position == 0 ? 0 : starts[position - 1] * made.strides[axis];
    made.shape = node.shape();
  } else {
    return false;
  }
  views_.insert_or_assign(node.id(), std::move(made));
  return true;
}

bool Recorder::computed(const mx::array& node, const std::string& name) {
  const std::size_t size = node.size();
  std::vector<Source> sources;
  std::vector<int> steps;
  for (const mx::array& input : node.inputs()) {
    if (input.dtype() != mx::float32) {
      throw Unknown(name + " from another type than float32");
    }
    const View from = view(input);
    const bool same = std::all_of(from.strides.begin(), from.strides.end(), [](auto stride) { return stride == 0; });
    steps.push_back(same || size_of(from) == 1 ? 0 : 1);
    sources.push_back(steps.back() == 0 ? from.source : dense(from));
  }
  const auto two = [&](auto fn) { return binary(sources[0], sources[1], size, fn, steps[0], steps[1]); };
  // A single repeated number is expanded, because `unary` reads as many numbers as it writes.
  const auto one = [&](auto fn) {
    return unary(steps[0] == 0 && size > 1 ? dense(view(node.inputs()[0])) : sources[0], size, fn);
  };
  Operation operation;
  if (name == "Add") {
    operation = two([](float a, float b) { return a + b; });
  } else if (name == "Subtract") {
    operation = two([](float a, float b) { return a - b; });
  } else if (name == "Multiply") {
    operation = two([](float a, float b) { return a * b; });
  } else if (name == "Divide") {
    operation = two([](float a, float b) { return a / b; });
  } else if (name == "Maximum") {
    operation = two([](float a, float b) { return mx::detail::Maximum()(a, b); });
  } else if (name == "Minimum") {
    operation = two([](float a, float b) { return mx::detail::Minimum()(a, b); });
  } else if (name == "Negative") {
    operation = one([](float a) { return -a; });
  } else if (name == "Square") {
    operation = one([](float a) { return a * a; });
  } else if (name == "Tanh") {
    operation = one([](float a) { return mx::detail::Tanh()(a); });
  } else if (name == "Sigmoid") {
    operation = one([](float a) { return mx::detail::Sigmoid()(a); });
  } else {
    return false;
  }
  operation.writes = {result(node)};
  add(std::move(operation));
  return true;
}

}  // namespace sotto::tape
