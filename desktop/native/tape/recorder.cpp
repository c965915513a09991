// Traversal of the graph of a decode step, from the logits to the placeholders.
#include <algorithm>
#include <utility>

#include "floats.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"
#include "tape/recording.h"

namespace sotto::tape {

Recorder::Recorder(const mx::array& tokens, const mx::array& positions) : tokens_(tokens), positions_(positions) {
  recording_.rows = tokens.shape(0);
  depends_[tokens.id()] = true;
  depends_[positions.id()] = true;
}

Recording Recorder::recorded(const mx::array& logits, int layers) {
  for (const mx::array& node : ordered(logits)) {
    record(node);
  }
  auto& found_layers = recording_.layers;
  std::sort(found_layers.begin(), found_layers.end(), [](auto& a, auto& b) { return a.number < b.number; });
  bool each = static_cast<int>(found_layers.size()) == layers;
  for (int number = 0; each && number < layers; ++number) {
    each = found_layers[number].number == number;
  }
  if (!each) {
    throw Unknown("layers that do not attend to their own caches once");
  }
  const Source found = dense(logits);
  const bool whole = found.constant == nullptr && found.offset == 0 && recording_.sizes[found.value] == logits.size();
  if (!whole) {
    throw Unknown("logits that are a part of something else");
  }
  recording_.logits = found.value;
  return std::move(recording_);
}

std::vector<mx::array> Recorder::ordered(const mx::array& root) {
  std::vector<mx::array> order;
  std::unordered_map<std::uintptr_t, bool> entered{{tokens_.id(), true}, {positions_.id(), true}};
  std::vector<std::pair<mx::array, std::size_t>> path{{root, 0}};
  entered[root.id()] = true;
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next < node.inputs().size()) {
      const mx::array input = node.inputs()[next++];
      if (entered.try_emplace(input.id(), true).second) {
        path.emplace_back(input, 0);
      }
      continue;
    }
    const auto& inputs = node.inputs();
    if (std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return !is_constant(input); })) {
      depends_[node.id()] = true;
      order.push_back(node);
    }
    nodes_.push_back(node);
    path.pop_back();
  }
  return order;
}

void Recorder::record(const mx::array& node) {
  const std::string name = node.primitive().name();
  if (node.dtype() != mx::float32 && node.dtype() != mx::uint32 && node.dtype() != mx::int32) {
    throw Unknown(name + " of another type than float32");
  }
  if (node.size() == 0) {
    throw Unknown(name + " of nothing");
  }
  if (name == "AsType" && node.dtype() == mx::int32 && is_positions(node.inputs()[0])) {
    copies_.insert(node.id());
    return;
  }
  if (auto* known = dynamic_cast<const Recordable*>(&node.primitive())) {
    known->record(*this, node);
  } else if (!counted(node, name) && !moved(node, name) && !routed(node, name) && !computed(node, name)) {
    throw Unknown(name);
  }
}

bool Recorder::attends(const Layer& layer, const Source& keys, const Source& values) {
  const auto [found, first] = appended_.try_emplace(layer.number, keys, values);
  if (first) {
    recording_.layers.push_back(layer);
  } else if (found->second != std::pair(keys, values)) {
    throw Unknown("layers that append to the same cache");
  }
  return first;
}

View Recorder::view(const mx::array& input) {
  if (is_constant(input)) {
    const mx::array found = evaluated(input);
    return {{-1, 0, found.data<float>()}, found.shape(), found.strides()};
  }
  const auto found = views_.find(input.id());
  if (found == views_.end() && is_positions(input)) {
    Operation operation;
    operation.work = [rows = rows()](const Run& run, const Operation& own) {
      std::copy_n(run.positions, rows, run.integers<std::int32_t>(own.writes[0]));
    };
    add(std::move(operation), input);
    return views_.at(input.id());
  }
  if (found == views_.end()) {
    throw Unknown("numbers computed from tokens or positions");
  }
  return found->second;
}

mx::array Recorder::evaluated(mx::array input) {
  mx::eval(input);
  recording_.kept.push_back(std::make_shared<mx::array>(input));
  return input;
}

std::shared_ptr<const Weights> Recorder::weights(const Packing& packing, const std::vector<mx::array>& arrays) {
  std::vector<mx::array> found;
  for (const mx::array& input : arrays) {
    if (!is_constant(input)) {
      throw Unknown("a product with a matrix that is computed");
    }
    found.push_back(evaluated(input));
    if (!is_row_major(found.back())) {
      throw Unknown("a product with a matrix that is laid out otherwise");
    }
  }
  return std::make_shared<Weights>(packing, found[0], found.size() > 1 ? &found[1] : nullptr,
                                   found.size() > 2 ? &found[2] : nullptr);
}

Matrix Recorder::matrix(const Packing& packing, const std::vector<mx::array>& arrays) {
  return weights(packing, arrays)->matrix();
}

const float* Recorder::numbers(const mx::array& input) {
  if (!is_constant(input)) {
    throw Unknown("parameters that are computed");
  }
  const mx::array found = evaluated(mx::contiguous(mx::astype(input, mx::float32)));
  return found.data<float>();
}

Value Recorder::add(Operation operation, const mx::array& out) {
  const Value value = static_cast<Value>(recording_.sizes.size());
  recording_.sizes.push_back(out.size());
  mx::Strides strides(out.ndim(), 1);
  for (int axis = static_cast<int>(out.ndim()) - 2; axis >= 0; --axis) {
    strides[axis] = strides[axis + 1] * out.shape(axis + 1);
  }
  views_.insert_or_assign(out.id(), View{{value, 0, nullptr}, out.shape(), std::move(strides)});
  operation.writes = {value};
  add(std::move(operation));
  return value;
}

Source Recorder::dense(const mx::array& input) {
  if (input.dtype() != mx::float32) {
    throw Unknown("an operation on another type than float32");
  }
  return dense(view(input));
}

Source Recorder::integers(const mx::array& input) {
  if (input.dtype() != mx::uint32) {
    throw Unknown("indices of another type than uint32");
  }
  return dense(view(input));
}

}  // namespace sotto::tape
