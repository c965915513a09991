// Traversal of the graph of a decode step, from the logits to the placeholders.
#include <algorithm>
#include <utility>

#include "floats.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"
#include "tape/recording.h"

namespace sotto::tape {

Recorder::Recorder(const mx::array& tokens, const mx::array& positions, std::vector<State> states)
    : tokens_(tokens), positions_(positions), states_(std::move(states)) {
  recording_.rows = tokens.shape(0);
  depends_[tokens.id()] = true;
  depends_[positions.id()] = true;
  for (const State& state : states_) {
    depends_[state.before.id()] = true;
    state_numbers_[state.before.id()] = static_cast<int>(recording_.states.size());
    mx::Shape shape = state.before.shape();
    shape[0] = 1;
    recording_.states.push_back(std::move(shape));
  }
}

Recording Recorder::recorded(const mx::array& logits, int layers) {
  std::vector<mx::array> roots{logits};
  for (const State& state : states_) {
    roots.push_back(state.after);
  }
  for (const mx::array& node : ordered(roots)) {
    record(node);
    for (int state = 0; state < static_cast<int>(states_.size()); ++state) {
      if (states_[state].after.id() == node.id()) {
        keep(state);
      }
    }
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

std::vector<mx::array> Recorder::ordered(const std::vector<mx::array>& roots) {
  std::vector<mx::array> order;
  // Placeholders depend on nothing.
  std::unordered_map<std::uintptr_t, bool> entered = depends_;
  std::vector<std::pair<mx::array, std::size_t>> path;
  auto root = roots.begin();
  while (!path.empty() || root != roots.end()) {
    if (path.empty()) {
      if (entered.try_emplace(root->id(), true).second) {
        path.emplace_back(*root, 0);
      }
      ++root;
      continue;
    }
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
  if (compared(node, name)) {
    return;
  }
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
  if (const auto state = name == "Contiguous" ? state_numbers_.find(node.inputs()[0].id()) : state_numbers_.end();
      state != state_numbers_.end()) {
    // The same numbers, which are copied only if something reads them.
    state_numbers_[node.id()] = state->second;
    return;
  }
  if (auto* known = dynamic_cast<const Recordable*>(&node.primitive())) {
    known->record(*this, node);
  } else if (!counted(node, name) && !moved(node, name) && !routed(node, name) && !replaced(node, name) &&
             !computed(node, name)) {
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

int Recorder::updates(const mx::array& before, const mx::array& after) {
  const auto found = state_numbers_.find(before.id());
  if (found == state_numbers_.end() || states_[found->second].after.id() != after.id()) {
    throw Unknown("a recurrence of something else than a state");
  }
  updated_.insert(found->second);
  return found->second;
}

void Recorder::load(const mx::array& input, int state) {
  if (updated_.contains(state)) {
    throw Unknown("a state that is read after it was changed");
  }
  Operation operation;
  operation.work = [rows = rows(), state, size = input.size() / rows()](const Run& run, const Operation& own) {
    for (int row = 0; row < rows; ++row) {
      std::copy_n(run.states[state * rows + row], size, run.at(own.writes[0]) + row * size);
    }
  };
  add(std::move(operation), input);
}

void Recorder::keep(int state) {
  const auto& [before, after] = states_[state];
  if (after.shape() != before.shape()) {
    throw Unknown("a state that changes its shape");
  }
  if (!updated_.insert(state).second) {
    return;
  }
  Operation operation;
  operation.reads = {dense(after)};
  operation.work = [rows = rows(), state, size = after.size() / rows()](const Run& run, const Operation& own) {
    for (int row = 0; row < rows; ++row) {
      std::copy_n(run.at(own.reads[0]) + row * size, size, run.states[state * rows + row]);
    }
  };
  add(std::move(operation));
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
  if (const auto state = state_numbers_.find(input.id()); found == views_.end() && state != state_numbers_.end()) {
    load(input, state->second);
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
