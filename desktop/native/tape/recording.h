// Recording of the operations of one decode step on a tape: a flat list that is executed without a graph.
//
// Primitives that can be on a tape derive from `Recordable`, and add their operations to the list. All values on a tape
// are row-major float32, or indices and positions in uint32 and int32, which take as much memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fused/kernels.h"
#include "matmul/packing.h"
#include "mlx/array.h"

namespace sotto::tape {

namespace mx = mlx::core;

// The reason why something cannot be on a tape.
class Unknown : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The index of an operation's output, counted from 0 over all operations.
using Value = int;

// An operand of an operation: a value that an earlier operation has written, or constant memory.
struct Source {
  Value value = -1;
  std::ptrdiff_t offset = 0;  // in elements
  const float* constant = nullptr;

  bool operator==(const Source&) const = default;
};

// Memory for numbers, as float32, float16 or packed.
struct Place {
  float* data = nullptr;  // null if they are packed
  fused::Packed packed = {};
};

// The keys and values of one sequence and one layer, [heads, room, size].
struct Held {
  Place keys;
  Place values;
  std::ptrdiff_t room;
  std::ptrdiff_t slot;  // index of the new token in the room
  std::ptrdiff_t seen;  // number of tokens that it attends to, itself last
};

// Inputs that differ from run to run.
struct Run {
  const std::uint32_t* tokens;    // [rows]
  const std::int32_t* positions;  // [rows]
  const Held* held;               // [layers, rows]
  float* const* states;           // [states, rows]
  float* const* places;           // the address of each value

  float* at(Value value) const { return places[value]; }
  const float* at(const Source& source) const {
    return source.constant ? source.constant : places[source.value] + source.offset;
  }
  template <typename Integer = std::uint32_t>
  Integer* integers(Value value) const {
    return reinterpret_cast<Integer*>(at(value));
  }
  template <typename Integer = std::uint32_t>
  const Integer* integers(const Source& source) const {
    return reinterpret_cast<const Integer*>(at(source));
  }
};

// A matrix that an operand is multiplied by, and the bias that is added; null for none.
struct Part {
  Matrix matrix;
  const float* bias;
};

// Either products of one source with the matrices of `parts`, one output for each, or any other work.
struct Operation {
  std::vector<Source> reads;
  std::vector<Value> writes;
  std::vector<Part> parts;
  std::ptrdiff_t count = 0;  // rows of a product
  std::function<void(const Run&, const Operation&)> work;
};

// The contents of a layer's cache per token: `heads` keys of `depth` numbers, and as many values of `width` numbers.
struct Layer {
  int number;
  int heads;
  int depth;
  int width;
};

// What a recurrent layer keeps for each row: the placeholder of the array before a step, and the array after it.
struct State {
  mx::array before;
  mx::array after;
};

// The contents of a tape.
struct Recording {
  int rows = 0;
  std::vector<Layer> layers;
  std::vector<mx::Shape> states;  // of one row, with a first axis of 1
  std::vector<Operation> operations;
  std::vector<std::size_t> sizes;  // of each value, in elements
  Value logits = -1;
  std::vector<std::shared_ptr<void>> kept;  // keeps the memory of constants alive
};

// A view of a value or of a constant, with strides as in MLX.
struct View {
  Source source;
  mx::Shape shape;
  mx::Strides strides;
};

// The numbers that some axes of a shape have together.
inline std::ptrdiff_t product(mx::Shape::const_iterator begin, mx::Shape::const_iterator end) {
  return std::accumulate(begin, end, std::ptrdiff_t{1}, std::multiplies<>());
}

// Return an index that a step has computed.
inline std::ptrdiff_t checked(std::uint32_t index, std::ptrdiff_t length) {
  if (index >= static_cast<std::uint64_t>(length)) {
    throw std::out_of_range("An index of a decode step is beyond the end of its array.");
  }
  return index;
}

class Recordable {
 public:
  virtual ~Recordable() = default;
  // Add the operations that compute `out`, whose primitive this is.
  virtual void record(class Recorder& recorder, const mx::array& out) const = 0;
};

// Turns an unevaluated graph into a list. All functions throw Unknown for anything that cannot be on a tape.
class Recorder {
 public:
  // The tokens are [rows, 1], the positions [rows], the states before the step [rows, ...]; all are placeholders.
  Recorder(const mx::array& tokens, const mx::array& positions, std::vector<State> states);

  // Record everything that `logits` and the states after the step depend on, which must include exactly one attention
  // for each of `layers` layers.
  Recording recorded(const mx::array& logits, int layers);

  int rows() const { return recording_.rows; }
  bool is_tokens(const mx::array& input) const { return input.id() == tokens_.id(); }
  bool is_positions(const mx::array& input) const {
    return input.id() == positions_.id() || copies_.contains(input.id());
  }
  // The numbers of an input in row-major order; if they are laid out otherwise, a copy is recorded.
  Source dense(const mx::array& input);
  // The same for indices.
  Source integers(const mx::array& input);
  // The weights of products, which must not depend on the placeholders and must be row-major.
  std::shared_ptr<const Weights> weights(const Packing& packing, const std::vector<mx::array>& arrays);
  // The only matrix of such weights.
  Matrix matrix(const Packing& packing, const std::vector<mx::array>& arrays);
  // The numbers of an input that does not depend on the placeholders, as float32.
  const float* numbers(const mx::array& input);
  // Add an operation that writes `out`, in row-major order, as a new value.
  Value add(Operation operation, const mx::array& out);
  // Register an attention to the cache of a layer, whose new keys and values are given; return whether it is the first
  // one. Further layers may share the cache, but cannot append something else.
  bool attends(const Layer& layer, const Source& keys, const Source& values);
  // Return the number of a state which the next operation reads and writes in place.
  int updates(const mx::array& before, const mx::array& after);

 private:
  bool is_constant(const mx::array& input) const { return !depends_.contains(input.id()); }
  // The nodes that `roots` depend on, themselves included, as far as they depend on a placeholder; in topological order.
  std::vector<mx::array> ordered(const std::vector<mx::array>& roots);
  // Record the copying of a state to a value, and of a value to a state.
  void load(const mx::array& input, int state);
  void keep(int state);
  void record(const mx::array& node);
  // Each records operations of one kind, and returns false for others: views of their input and joining, elementwise
  // arithmetic, that with positions, those by which mixtures choose experts, and those that replace some of their input.
  bool moved(const mx::array& node, const std::string& name);
  bool computed(const mx::array& node, const std::string& name);
  bool counted(const mx::array& node, const std::string& name);
  bool routed(const mx::array& node, const std::string& name);
  bool replaced(const mx::array& node, const std::string& name);
  // Remember a comparison of the tokens with a number; return false for others.
  bool compared(const mx::array& node, const std::string& name);
  Source joined(const std::vector<mx::array>& inputs, int axis, const mx::array& out);
  void add(Operation operation) { recording_.operations.push_back(std::move(operation)); }
  View view(const mx::array& input);
  mx::array evaluated(mx::array input);
  Source dense(const View& view);

  mx::array tokens_;
  mx::array positions_;
  std::unordered_set<std::uintptr_t> copies_;  // of the positions
  Recording recording_;
  std::unordered_map<std::uintptr_t, bool> depends_;
  std::unordered_map<std::uintptr_t, View> views_;
  std::unordered_map<std::uintptr_t, std::uint32_t> bounds_;  // the number of each comparison
  std::unordered_map<int, std::pair<Source, Source>> appended_;  // to the cache of each layer
  std::vector<State> states_;
  std::unordered_map<std::uintptr_t, int> state_numbers_;  // of the arrays before the step, and their copies
  std::unordered_set<int> updated_;                        // states that have been written
  std::vector<mx::array> nodes_;  // kept alive so that their ids are not reused
};

}  // namespace sotto::tape
