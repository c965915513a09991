#include "tape/step.h"

#include <stdexcept>

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
  std::vector<Claim> claims;  // alternating keys and values, of each sequence of each layer
  std::vector<Held> held;
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
      given->tape->run({tokens, given->positions.data(), given->held.data(), nullptr}, to);
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

void check(const Layer& layer, const mx::array& buffer, int size, int slot, int seen) {
  require(buffer.dtype() == mx::float32, "What a cache holds must be float32.");
  require(buffer.ndim() == 4 && buffer.shape(0) == 1 && buffer.shape(1) == layer.heads && buffer.shape(3) == size,
          "What a cache holds must have the shape that its layer makes.");
  require(slot < buffer.shape(2) && 0 < seen && seen <= slot + 1, "Each cache must have room for one more token.");
}

}  // namespace

mx::array step(
    const std::shared_ptr<Tape>& tape, const mx::array& tokens, const std::vector<int>& positions,
    const std::vector<int>& slots, const std::vector<int>& seen,
    const std::vector<mx::array*>& buffers) {
  const int rows = tape->rows();
  const std::size_t layers = tape->layers().size();
  // Each row belongs to a separate sequence, or all are tokens of one.
  const std::size_t sequences = buffers.size() == 2 * layers ? 1 : rows;
  const std::size_t held = layers * rows;
  require(tokens.ndim() == 2 && tokens.size() == static_cast<std::size_t>(rows) &&
              (tokens.dtype() == mx::uint32 || tokens.dtype() == mx::int32),
          "There must be one token for each row, in 32 bits.");
  require(positions.size() == static_cast<std::size_t>(rows), "There must be a position for each row.");
  require(slots.size() == held && seen.size() == held && buffers.size() == 2 * layers * sequences,
          "There must be a slot for each row of each layer, and keys and values for each sequence.");
  std::vector<mx::array> unscheduled;
  // The index of a row's keys in `buffers`; its values follow them.
  const auto keys_of = [&](std::size_t index) {
    return 2 * (index / rows * sequences + (sequences == 1 ? 0 : index % rows));
  };
  for (std::size_t index = 0; index < held; ++index) {
    const Layer& layer = tape->layers()[index / rows];
    check(layer, *buffers[keys_of(index)], layer.depth, slots[index], seen[index]);
    check(layer, *buffers[keys_of(index) + 1], layer.width, slots[index], seen[index]);
  }
  for (const mx::array* buffer : buffers) {
    if (buffer->status() == mx::array::Status::unscheduled) {
      unscheduled.push_back(*buffer);
    }
  }
  if (!unscheduled.empty()) {
    mx::async_eval(std::move(unscheduled));
  }
  auto given = std::make_shared<Given>();
  given->tape = tape;
  given->positions.assign(positions.begin(), positions.end());
  for (mx::array* buffer : buffers) {
    given->claims.emplace_back(*buffer);
  }
  for (std::size_t index = 0; index < held; ++index) {
    const std::size_t keys = keys_of(index);
    given->held.push_back({given->claims[keys].data(), given->claims[keys + 1].data(), buffers[keys]->shape(2),
                           slots[index], seen[index]});
  }
  mx::array logits({tokens.shape(0), tokens.shape(1), tape->vocabulary()}, mx::float32,
                   std::make_shared<Step>(fused::cpu_stream(), given), {mx::contiguous(tokens)});
  mx::async_eval({logits});
  for (mx::array* buffer : buffers) {
    buffer->attach_event(logits.event());
    buffer->set_status(mx::array::Status::evaluated);
  }
  return logits;
}

}  // namespace sotto::tape
