#include "tape/step.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "fused/primitive.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"
#include "tape/buffers.h"

namespace sotto::tape {

namespace {

// The inputs of a step other than its tokens.
struct Given {
  std::shared_ptr<Tape> tape;
  std::vector<std::int32_t> positions;
  std::vector<Claim> claims;  // of each sequence of each layer
  std::vector<Held> held;
  std::vector<float*> states;
};

class Step : public fused::Primitive {
 public:
  Step(mx::Stream stream, std::shared_ptr<Given> given) : Primitive(stream), given_(std::move(given)) {}

  const char* name() const override { return "SottoStep"; }

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    out.set_data(mx::allocator::malloc(out.nbytes()));
    fused::dispatch(stream(), [given = given_, tokens = inputs[0].data<std::uint32_t>(), to = out.data<float>()]() {
      for (const Claim& claim : given->claims) {
        claim.fill();
      }
      given->tape->run(
          {tokens, given->positions.data(), given->held.data(), given->states.data(), nullptr}, to);
    });
  }

 private:
  std::shared_ptr<Given> given_;
};

void require(bool condition, const char* message) {
  if (!condition) {
    throw std::invalid_argument(message);
  }
}

constexpr std::size_t kPlain = 2, kPacked = 6;  // arrays for keys and values

void check(const Layer& layer, const mx::array& buffer, int size, mx::Dtype type, int room) {
  require(buffer.dtype() == type, "What a cache holds must be float32, float16, or packed with scales and biases.");
  require(buffer.ndim() == 4 && buffer.shape(0) == 1 && buffer.shape(1) == layer.heads && buffer.shape(2) == room &&
              buffer.shape(3) == size,
          "What a cache holds must have the shape that its layer makes.");
}

// Check the arrays of keys or values from `first` on.
void check(const Layer& layer, const std::vector<mx::array*>& buffers, std::size_t first, int size) {
  const int room = buffers[0]->ndim() == 4 ? buffers[0]->shape(2) : 0;
  if (buffers.size() == kPlain) {
    const mx::Dtype type = buffers[0]->dtype() == mx::float16 ? mx::float16 : mx::float32;
    return check(layer, *buffers[first], size, type, room);
  }
  const mx::array &words = *buffers[first], &scales = *buffers[first + 1];
  require(words.ndim() == 4 && scales.ndim() == 4 && scales.shape(3) > 0, "A packed cache must hold arrays of four axes.");
  const int bits = words.shape(3) * 32 / size, group = size / scales.shape(3);
  require((bits == 4 || bits == 8) && group % 32 == 0, "A cache must be packed in 4 or 8 bits, in groups of 32 or more.");
  check(layer, words, size * bits / 32, mx::uint32, room);
  check(layer, scales, size / group, mx::float32, room);
  check(layer, *buffers[first + 2], size / group, mx::float32, room);
}

// Where keys or values are written, given their arrays.
Place place_of(const Claim* claims, mx::array* const* buffers, bool packed, int size) {
  if (!packed && buffers[0]->dtype() == mx::float16) {
    return {nullptr, {claims[0].data<std::uint8_t>(), nullptr, nullptr, fused::kHalf}};
  }
  if (!packed) {
    return {claims[0].data<float>()};
  }
  const int bits = buffers[0]->shape(3) * 32 / size, group = size / buffers[1]->shape(3);
  return {nullptr, {claims[0].data<std::uint8_t>(), claims[1].data<float>(), claims[2].data<float>(), bits, group}};
}

}  // namespace

mx::array step(
    const std::shared_ptr<Tape>& tape, const mx::array& tokens, const std::vector<int>& positions,
    const std::vector<int>& slots, const std::vector<int>& seen,
    const std::vector<std::vector<mx::array*>>& buffers, const std::vector<mx::array*>& states) {
  const int rows = tape->rows();
  const std::size_t layers = tape->layers().size();
  // Each row belongs to a separate sequence, or all are tokens of one.
  const std::size_t sequences = buffers.size() == layers ? 1 : rows;
  const std::size_t held = layers * rows;
  require(tokens.ndim() == 2 && tokens.size() == static_cast<std::size_t>(rows) &&
              (tokens.dtype() == mx::uint32 || tokens.dtype() == mx::int32),
          "There must be one token for each row, in 32 bits.");
  require(positions.size() == static_cast<std::size_t>(rows), "There must be a position for each row.");
  require(slots.size() == held && seen.size() == held && buffers.size() == layers * sequences,
          "There must be a slot for each row of each layer, and keys and values for each sequence.");
  const std::set<const mx::array*> separate(states.begin(), states.end());
  require(states.size() == tape->states().size() * rows && separate.size() == states.size(),
          "There must be a separate array for each state of each row.");
  std::vector<mx::array> unscheduled;
  const auto schedule = [&](const mx::array& array) {
    if (array.status() == mx::array::Status::unscheduled) {
      unscheduled.push_back(array);
    }
  };
  for (std::size_t index = 0; index < states.size(); ++index) {
    require(states[index]->dtype() == mx::float32 && states[index]->shape() == tape->states()[index / rows],
            "A state must be float32 and have the shape that its layer makes.");
    schedule(*states[index]);
  }
  for (std::size_t index = 0; index < buffers.size(); ++index) {
    const Layer& layer = tape->layers()[index / sequences];
    const std::size_t count = buffers[index].size();
    require(count == kPlain || count == kPacked, "A cache must hold two arrays, or six if it is packed.");
    check(layer, buffers[index], 0, layer.depth);
    check(layer, buffers[index], count / 2, layer.width);
    for (const mx::array* buffer : buffers[index]) {
      schedule(*buffer);
    }
  }
  // The index of a row's cache in `buffers`.
  const auto cache_of = [&](std::size_t index) {
    return index / rows * sequences + (sequences == 1 ? 0 : index % rows);
  };
  for (std::size_t index = 0; index < held; ++index) {
    require(slots[index] < buffers[cache_of(index)][0]->shape(2) && 0 < seen[index] && seen[index] <= slots[index] + 1,
            "Each cache must have room for one more token.");
  }
  if (!unscheduled.empty()) {
    mx::async_eval(std::move(unscheduled));
  }
  auto given = std::make_shared<Given>();
  given->tape = tape;
  given->positions.assign(positions.begin(), positions.end());
  std::vector<std::pair<Place, Place>> places;
  for (std::size_t index = 0; index < buffers.size(); ++index) {
    const Layer& layer = tape->layers()[index / sequences];
    const std::vector<mx::array*>& own = buffers[index];
    const std::size_t first = given->claims.size(), half = own.size() / 2;
    for (mx::array* buffer : own) {
      given->claims.emplace_back(*buffer);
    }
    const Claim* claims = given->claims.data() + first;
    const bool packed = own.size() == kPacked;
    places.emplace_back(place_of(claims, own.data(), packed, layer.depth),
                        place_of(claims + half, own.data() + half, packed, layer.width));
  }
  for (std::size_t index = 0; index < held; ++index) {
    const auto& [keys, values] = places[cache_of(index)];
    given->held.push_back({keys, values, buffers[cache_of(index)][0]->shape(2), slots[index], seen[index]});
  }
  for (mx::array* state : states) {
    given->claims.emplace_back(*state);
    given->states.push_back(given->claims.back().data<float>());
  }
  mx::array logits({tokens.shape(0), tokens.shape(1), tape->vocabulary()}, mx::float32,
                   std::make_shared<Step>(fused::cpu_stream(), given), {mx::contiguous(tokens)});
  mx::async_eval({logits});
  const auto follow = [&](mx::array* array) {
    array->attach_event(logits.event());
    array->set_status(mx::array::Status::evaluated);
  };
  for (const auto& own : buffers) {
    std::for_each(own.begin(), own.end(), follow);
  }
  std::for_each(states.begin(), states.end(), follow);
  return logits;
}

}  // namespace sotto::tape
