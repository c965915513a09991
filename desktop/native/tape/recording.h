// How the operations of one decode step are put on a tape: a flat list that is run without a graph.
//
// A primitive that can be on a tape says so itself: it is `Recordable`, and adds to the list what it would compute. All
// numbers on a tape are float32 and lie in row-major order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "matmul/packing.h"
#include "mlx/array.h"

namespace sotto::tape {

namespace mx = mlx::core;

// Why something cannot be on a tape.
class Unknown : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A run of numbers that an operation writes, counted from 0.
using Value = int;

// Where an operation reads: in a value that an earlier one has written, or in memory that never changes.
struct Source {
  Value value = -1;
  std::ptrdiff_t offset = 0;  // in numbers
  const float* constant = nullptr;

  bool operator==(const Source&) const = default;
};

// Where the keys and values of one sequence and one layer are, [heads, room, size].
struct Held {
  float* keys;
  float* values;
  std::ptrdiff_t room;
  std::ptrdiff_t slot;  // where in the room those of the new token go
  std::ptrdiff_t seen;  // how many it sees, itself as the last
};

// What differs from one run to the next.
struct Run {
  const std::uint32_t* tokens;    // [rows]
  const std::int32_t* positions;  // [rows]
  const Held* held;               // [layers, rows]
  float* const* places;           // of each value

  float* at(Value value) const { return places[value]; }
  const float* at(const Source& source) const {
    return source.constant ? source.constant : places[source.value] + source.offset;
  }
};

// A matrix that what an operation reads is multiplied with, and what is added; null for nothing.
struct Part {
  Matrix matrix;
  const float* bias;
};

// Either products of one source with the matrices of `parts`, one value for each, or any other work.
struct Operation {
  std::vector<Source> reads;
  std::vector<Value> writes;
  std::vector<Part> parts;
  std::ptrdiff_t count = 0;  // rows of a product
  std::function<void(const Run&, const Operation&)> work;
};

// What the cache of a layer holds for a token: `heads` keys of `depth` numbers, and as many values of `width`.
struct Layer {
  int number;
  int heads;
  int depth;
  int width;
};

// What a tape is made of.
struct Recording {
  int rows = 0;
  std::vector<Layer> layers;
  std::vector<Operation> operations;
  std::vector<std::size_t> sizes;  // of each value, in numbers
  Value logits = -1;
  std::vector<std::shared_ptr<void>> kept;  // the memory of constants
};

// A part of a value or of a constant, as MLX would lay it out.
struct View {
  Source source;
  mx::Shape shape;
  mx::Strides strides;
};

class Recordable {
 public:
  virtual ~Recordable() = default;
  // Add what computes `out`, whose primitive this is.
  virtual void record(class Recorder& recorder, const mx::array& out) const = 0;
};

// Turns a graph that is not computed yet into a list. All functions throw Unknown for what cannot be on one.
class Recorder {
 public:
  // The tokens are [rows, 1], the positions [rows]; both are placeholders.
  Recorder(const mx::array& tokens, const mx::array& positions);

  // Record all that `logits` depends on; `layers` attentions must be among it, one for each layer.
  Recording recorded(const mx::array& logits, int layers);

  int rows() const { return recording_.rows; }
  bool is_tokens(const mx::array& input) const { return input.id() == tokens_.id(); }
  bool is_positions(const mx::array& input) const { return input.id() == positions_.id(); }
  // Where the numbers of an input lie in row-major order; they are brought into it where they are not.
  Source dense(const mx::array& input);
  // The weights of a product; they must not depend on the placeholders, and lie in row-major order.
  Matrix matrix(const Packing& packing, const std::vector<mx::array>& arrays);
  // The numbers of an input that does not depend on the placeholders, as float32.
  const float* numbers(const mx::array& input);
  // A new value that holds `out` in row-major order.
  Value result(const mx::array& out);
  void add(Operation operation) { recording_.operations.push_back(std::move(operation)); }
  // Take notice of the attention of a layer.
  void attends(Layer layer) { recording_.layers.push_back(layer); }

 private:
  bool is_constant(const mx::array& input) const { return !depends_.contains(input.id()); }
  // Everything that `root` depends on and that depends on a placeholder, in the order of computation.
  std::vector<mx::array> ordered(const mx::array& root);
  void record(const mx::array& node);
  // Record something that only says where in memory numbers are; false where it is another operation.
  bool moved(const mx::array& node, const std::string& name);
  bool computed(const mx::array& node, const std::string& name);
  View view(const mx::array& input);
  mx::array evaluated(mx::array input);
  Source dense(const View& view);

  mx::array tokens_;
  mx::array positions_;
  Recording recording_;
  std::unordered_map<std::uintptr_t, bool> depends_;
  std::unordered_map<std::uintptr_t, View> views_;
  std::vector<mx::array> nodes_;  // keeps their ids from being used again
};

}  // namespace sotto::tape
