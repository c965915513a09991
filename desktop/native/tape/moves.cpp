// Recording of MLX's own operations: views of the same memory, joining, and elementwise arithmetic.
#include <algorithm>
#include <cstring>

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

// A view without axes of length 1, and with neighbouring axes joined whose numbers lie evenly.
View joined_axes(const View& view) {
  View made{view.source, {}, {}};
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    const int length = view.shape[axis];
    if (length == 1) {
      continue;
    }
    if (!made.shape.empty() && made.strides.back() == length * view.strides[axis]) {
      made.shape.back() *= length;
      made.strides.back() = view.strides[axis];
    } else {
      made.shape.push_back(length);
      made.strides.push_back(view.strides[axis]);
    }
  }
  return made;
}

// Copy the numbers of a view, whose first one is at `from`, to contiguous memory. Indices are copied as they are, too.
void gather(const float* from, const View& view, float* to) {
  const int last = static_cast<int>(view.shape.size()) - 1;
  const std::int64_t length = last < 0 ? 1 : view.shape[last], stride = last < 0 ? 1 : view.strides[last];
  std::vector<int> at(std::max(last, 0), 0);
  while (true) {
    for (std::int64_t i = 0; i < length; ++i) {
      std::memcpy(to + i, from + i * stride, sizeof(float));
    }
    to += length;
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      from += view.strides[axis];
      if (++at[axis] < view.shape[axis]) {
        break;
      }
      from -= view.shape[axis] * view.strides[axis];
      at[axis] = 0;
    }
    if (axis < 0) {
      return;
    }
  }
}

// An operand of an elementwise operation on rows of numbers: how far apart are those that belong to neighbouring rows,
// and those that belong to neighbours in a row. A step of 0 repeats a number, or all numbers of a row.
struct Operand {
  Source source;
  std::ptrdiff_t row_step;
  std::ptrdiff_t step;
};

// y[i] = fn(a[i], b[i]).
template <typename Fn>
Operation binary(Operand a, Operand b, std::ptrdiff_t size, std::ptrdiff_t row, Fn fn) {
  if (a.row_step == a.step * row && b.row_step == b.step * row) {
    row = size;  // all rows are like one
  }
  Operation operation;
  operation.reads = {a.source, b.source};
  operation.work = [=](const Run& run, const Operation& own) {
    const float* left = run.at(own.reads[0]);
    const float* right = run.at(own.reads[1]);
    float* to = run.at(own.writes[0]);
    const auto compute = [=](std::ptrdiff_t from, std::ptrdiff_t first, std::ptrdiff_t end) {
      const float* x = left + from * a.row_step;
      const float* y = right + from * b.row_step;
      float* z = to + from * row;
      if (a.step == 1 && b.step == 1) {
        for (std::ptrdiff_t i = first; i < end; ++i) z[i] = fn(x[i], y[i]);
      } else {
        for (std::ptrdiff_t i = first; i < end; ++i) z[i] = fn(x[i * a.step], y[i * b.step]);
      }
    };
    if (row == size) {
      parallel_for(size, kAtOnce, [=](std::ptrdiff_t begin, std::ptrdiff_t end) { compute(0, begin, end); });
    } else {
      const std::ptrdiff_t at_once = std::max<std::ptrdiff_t>(1, kAtOnce / row);
      parallel_for(size / row, at_once, [=](std::ptrdiff_t begin, std::ptrdiff_t end) {
        for (std::ptrdiff_t at = begin; at < end; ++at) compute(at, 0, row);
      });
    }
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
  operation.work = [view = joined_axes(view)](const Run& run, const Operation& own) {
    gather(run.at(own.reads[0]), view, run.at(own.writes[0]));
  };
  const Value value = static_cast<Value>(recording_.sizes.size());
  recording_.sizes.push_back(size);
  operation.writes = {value};
  add(std::move(operation));
  return {value, 0, nullptr};
}

Source Recorder::joined(const std::vector<mx::array>& inputs, int axis, const mx::array& out) {
  std::ptrdiff_t outer = 1, inner = 1;
  for (int before = 0; before < axis; ++before) outer *= out.shape(before);
  for (int after = axis + 1; after < static_cast<int>(out.ndim()); ++after) inner *= out.shape(after);
  Operation operation;
  std::vector<std::ptrdiff_t> sizes;  // of the part of each input that lies together
  for (const mx::array& input : inputs) {
    operation.reads.push_back(dense(view(input)));
    sizes.push_back(input.shape(axis) * inner);
  }
  operation.work = [outer, sizes](const Run& run, const Operation& own) {
    float* to = run.at(own.writes[0]);
    for (std::ptrdiff_t at = 0; at < outer; ++at) {
      for (std::size_t part = 0; part < sizes.size(); ++part) {
        std::memcpy(to, run.at(own.reads[part]) + at * sizes[part], sizes[part] * sizeof(float));
        to += sizes[part];
      }
    }
  };
  return {add(std::move(operation), out), 0, nullptr};
}

bool Recorder::moved(const mx::array& node, const std::string& name) {
  static const std::string kSame[] = {"Contiguous", "Copy", "StopGradient", "AsType"};
  static const std::string kShaped[] = {"Reshape", "Flatten", "Unflatten", "ExpandDims", "Squeeze"};
  const auto among = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  const auto& primitive = node.primitive();
  const auto source = [&] {
    if (node.inputs()[0].dtype() != node.dtype()) {
      throw Unknown(name + " from another type than float32");
    }
    return view(node.inputs()[0]);
  };
  View made;
  if (among(kSame)) {
    made = source();
  } else if (among(kShaped)) {
    made = {dense(source()), node.shape(), row_major(node.shape())};
  } else if (name == "Concatenate") {
    for (const mx::array& input : node.inputs()) {
      if (input.dtype() != node.dtype()) {
        throw Unknown(name + " from another type than float32");
      }
    }
    const int axis = static_cast<const mx::Concatenate&>(primitive).state();
    made = {joined(node.inputs(), axis, node), node.shape(), row_major(node.shape())};
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

bool Recorder::counted(const mx::array& node, const std::string& name) {
  const auto& inputs = node.inputs();
  if (std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.dtype() != mx::int32; })) {
    return false;
  }
  Operation operation;
  for (const mx::array& input : inputs) {
    operation.reads.push_back(dense(view(input)));
  }
  if (name == "Add") {
    operation.work = [size = node.size()](const Run& run, const Operation& own) {
      const auto* a = run.integers<std::int32_t>(own.reads[0]);
      const auto* b = run.integers<std::int32_t>(own.reads[1]);
      std::transform(a, a + size, b, run.integers<std::int32_t>(own.writes[0]), std::plus<>());
    };
  } else if (name == "AsType" && node.dtype() == mx::float32) {
    operation.work = [size = node.size()](const Run& run, const Operation& own) {
      std::copy_n(run.integers<std::int32_t>(own.reads[0]), size, run.at(own.writes[0]));
    };
  } else {
    return false;
  }
  add(std::move(operation), node);
  return true;
}

bool Recorder::computed(const mx::array& node, const std::string& name) {
  const std::size_t size = node.size();
  const std::ptrdiff_t row = node.ndim() == 0 ? 1 : node.shape(-1);
  for (const mx::array& input : node.inputs()) {
    if (input.dtype() != mx::float32) {
      throw Unknown(name + " from another type than float32");
    }
  }
  const auto operand = [&](int index) -> Operand {
    View from = view(node.inputs()[index]);
    if (std::all_of(from.strides.begin(), from.strides.end(), [](auto stride) { return stride == 0; })) {
      return {from.source, 0, 0};
    }
    if (from.strides.back() == 0 && from.shape.back() > 1) {
      from.shape.pop_back();
      from.strides.pop_back();
      return {dense(from), 1, 0};
    }
    if (std::all_of(from.strides.begin(), from.strides.end() - 1, [](auto stride) { return stride == 0; }) &&
        from.strides.back() == 1) {
      return {from.source, size == static_cast<std::size_t>(row) ? row : 0, 1};
    }
    return {dense(from), row, 1};
  };
  const auto two = [&](auto fn) { return binary(operand(0), operand(1), size, row, fn); };
  const auto one = [&](auto fn) { return unary(dense(view(node.inputs()[0])), size, fn); };
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
  } else if (name == "Power") {
    operation = two([](float a, float b) { return mx::detail::Power()(a, b); });
  } else if (name == "LogAddExp") {
    operation = two([](float a, float b) { return mx::detail::LogAddExp()(a, b); });
  } else if (name == "Negative") {
    operation = one([](float a) { return -a; });
  } else if (name == "Square") {
    operation = one([](float a) { return a * a; });
  } else if (name == "Floor") {
    operation = one([](float a) { return mx::detail::Floor()(a); });
  } else if (name == "Log") {
    operation = one([](float a) { return mx::detail::Log()(a); });
  } else if (name == "Exp") {
    operation = one([](float a) { return mx::detail::Exp()(a); });
  } else if (name == "Abs") {
    operation = one([](float a) { return mx::detail::Abs()(a); });
  } else if (name == "Sqrt") {
    operation = one([](float a) { return mx::detail::Sqrt()(a); });
  } else if (name == "Tanh") {
    operation = one([](float a) { return mx::detail::Tanh()(a); });
  } else if (name == "Sigmoid") {
    operation = one([](float a) { return mx::detail::Sigmoid()(a); });
  } else {
    return false;
  }
  add(std::move(operation), node);
  return true;
}

}  // namespace sotto::tape
