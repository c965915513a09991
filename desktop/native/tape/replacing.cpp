// Recording of the operations of MLX that replace some of their input: a slice, what indices choose, or tokens beyond a
// table.
#include <algorithm>
#include <numeric>
#include <optional>

#include "mlx/primitives.h"
#include "tape/recording.h"

namespace sotto::tape {

namespace {

// Where the rows of a slice begin in the whole array, and how long they are: as many of the last axes as lie together.
struct Rows {
  std::vector<std::ptrdiff_t> begins;
  std::ptrdiff_t length = 1;
};

Rows rows_of(const mx::Shape& whole, const mx::Shape& slice, const mx::Shape& start, const mx::Shape& step) {
  std::vector<std::ptrdiff_t> strides(whole.size(), 1);
  for (int axis = static_cast<int>(whole.size()) - 2; axis >= 0; --axis) {
    strides[axis] = strides[axis + 1] * whole[axis + 1];
  }
  Rows rows;
  int outer = static_cast<int>(slice.size());
  while (outer > 0 && rows.length == strides[outer - 1] && (step[outer - 1] == 1 || slice[outer - 1] == 1)) {
    rows.length *= slice[--outer];
  }
  rows.begins = {std::inner_product(start.begin(), start.end(), strides.begin(), std::ptrdiff_t{0})};
  for (int axis = 0; axis < outer; ++axis) {
    std::vector<std::ptrdiff_t> next;
    for (const std::ptrdiff_t begin : rows.begins) {
      for (int at = 0; at < slice[axis]; ++at) {
        next.push_back(begin + at * step[axis] * strides[axis]);
      }
    }
    rows.begins = std::move(next);
  }
  return rows;
}

// The integer that an array consists of; empty for other arrays.
std::optional<std::uint32_t> only_integer(const mx::array& found) {
  if (found.dtype() != mx::uint32 || found.data_size() == 0) {
    return std::nullopt;
  }
  const std::uint32_t* all = found.data<std::uint32_t>();
  return std::all_of(all, all + found.data_size(), [&](std::uint32_t one) { return one == *all; }) ? std::optional(*all)
                                                                                                   : std::nullopt;
}

}  // namespace

bool Recorder::compared(const mx::array& node, const std::string& name) {
  if (name != "Less" || !is_tokens(node.inputs()[0]) || !is_constant(node.inputs()[1])) {
    return false;
  }
  const auto bound = only_integer(evaluated(node.inputs()[1]));
  if (bound) {
    bounds_[node.id()] = *bound;
  }
  return bound.has_value();
}

bool Recorder::replaced(const mx::array& node, const std::string& name) {
  const auto& inputs = node.inputs();
  Operation operation;
  if (name == "Select") {
    const auto bound = bounds_.find(inputs[0].id());
    if (bound == bounds_.end() || !is_tokens(inputs[1]) || !is_constant(inputs[2])) {
      return false;
    }
    const auto other = only_integer(evaluated(inputs[2]));
    if (!other) {
      return false;
    }
    operation.work = [bound = bound->second, other = *other, rows = rows()](const Run& run, const Operation& own) {
      std::transform(run.tokens, run.tokens + rows, run.integers(own.writes[0]),
                     [&](std::uint32_t token) { return token < bound ? token : other; });
    };
  } else if (name == "SliceUpdate") {
    const auto [kind, start, end, step] = static_cast<const mx::SliceUpdate&>(node.primitive()).state();
    if (inputs[1].size() == 0) {
      return false;
    }
    operation.reads = {dense(inputs[0]), dense(inputs[1])};
    operation.work = [size = node.size(), rows = rows_of(node.shape(), inputs[1].shape(), start, step)](
                         const Run& run, const Operation& own) {
      float* to = run.at(own.writes[0]);
      std::copy_n(run.at(own.reads[0]), size, to);
      const float* from = run.at(own.reads[1]);
      for (const std::ptrdiff_t begin : rows.begins) {
        std::copy_n(from, rows.length, to + begin);
        from += rows.length;
      }
    };
  } else if (name == "ScatterAxis") {
    const int axis = static_cast<const mx::ScatterAxis&>(node.primitive()).state().second;
    const mx::Shape &shape = node.shape(), &chosen = inputs[1].shape();
    const std::ptrdiff_t outer = product(shape.begin(), shape.begin() + axis), length = shape[axis];
    const std::ptrdiff_t inner = product(shape.begin() + axis + 1, shape.end()), count = chosen[axis];
    if (static_cast<std::ptrdiff_t>(inputs[1].size()) != outer * count * inner || inputs[2].shape() != chosen) {
      return false;
    }
    operation.reads = {dense(inputs[0]), integers(inputs[1]), dense(inputs[2])};
    operation.work = [=](const Run& run, const Operation& own) {
      float* to = run.at(own.writes[0]);
      std::copy_n(run.at(own.reads[0]), outer * length * inner, to);
      const std::uint32_t* index = run.integers(own.reads[1]);
      const float* from = run.at(own.reads[2]);
      for (std::ptrdiff_t at = 0; at < outer; ++at, to += length * inner) {
        for (std::ptrdiff_t i = 0; i < count * inner; ++i) {
          to[checked(*index++, length) * inner + i % inner] = *from++;
        }
      }
    };
  } else {
    return false;
  }
  add(std::move(operation), node);
  return true;
}

}  // namespace sotto::tape
