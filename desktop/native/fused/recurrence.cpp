// Linear recurrences over time, as in gated delta networks and state space models, and the short convolutions before
// them. Both go from token to token, so that results do not depend on how a prompt is divided.
#include <algorithm>
#include <memory>

#include "fused/operations.h"
#include "fused/primitive.h"
#include "mlx/ops.h"
#include "tape/recording.h"
#include "thread_pool.h"

namespace sotto::fused {

namespace {

constexpr std::int64_t kRowsAtOnce = 64;       // of a state
constexpr std::int64_t kChannelsAtOnce = 128;  // of a convolution

// The shapes of a recurrence.
struct Sizes {
  std::int64_t batch;
  std::int64_t tokens;
  std::int64_t shared;  // heads of queries and keys
  std::int64_t heads;
  std::int64_t depth;
  std::int64_t width;
  bool each_decays;
  bool corrects;
};

// Where its inputs and outputs are, all row-major but for the states.
struct Places {
  const float* q;
  const float* k;
  const float* v;
  const float* decay;
  const float* rate;
  float* out;
};

// Compute everything; `states` has the address of each state of the batch. If `before` is not null, it has what is
// copied there first.
void recur(const Sizes& sizes, const Places& places, float* const* states, const float* before) {
  const std::int64_t parts = (sizes.width + kRowsAtOnce - 1) / kRowsAtOnce, each = sizes.width * sizes.depth;
  const std::int64_t decays = sizes.each_decays ? sizes.depth : 1;
  const Kernels& f = kernels();
  parallel_for(
      sizes.batch * sizes.heads * parts, rows_at_once(kRowsAtOnce * sizes.depth * sizes.tokens),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t at = begin; at < end; ++at) {
          const std::int64_t row = at / parts / sizes.heads, head = at / parts % sizes.heads;
          const std::int64_t first = at % parts * kRowsAtOnce, last = std::min(sizes.width, first + kRowsAtOnce);
          const std::int64_t start = row * sizes.tokens;
          const std::int64_t key = (start * sizes.shared + head / (sizes.heads / sizes.shared)) * sizes.depth;
          const std::int64_t own = start * sizes.heads + head;
          float* state = states[row] + head * each;
          if (before) {
            const float* from = before + (row * sizes.heads + head) * each;
            std::copy(from + first * sizes.depth, from + last * sizes.depth, state + first * sizes.depth);
          }
          f.recur({places.q + key, places.k + key, places.v + own * sizes.width, places.decay + own * decays,
                   places.rate + own, state, places.out + own * sizes.width, sizes.tokens, sizes.depth,
                   sizes.shared * sizes.depth, sizes.heads * sizes.width, sizes.heads * decays, sizes.heads,
                   sizes.each_decays, sizes.corrects},
                  first, last);
        }
      });
}

// Inputs: queries, keys, values, decays, rates and the state. Outputs: what is read from the state, and the new state.
class Recur : public mx::Primitive, public tape::Recordable {
 public:
  Recur(mx::Stream stream, const Sizes& sizes) : mx::Primitive(stream), sizes_(sizes) {}

  const char* name() const override { return "Recurrence"; }

  void eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw std::runtime_error("Recurrence runs on the CPU only.");
  }

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override {
    const mx::array& before = inputs[5];
    outputs[0].set_data(mx::allocator::malloc(outputs[0].nbytes()));
    const bool in_place = before.is_donatable();
    if (in_place) {
      outputs[1].copy_shared_buffer(before);
    } else {
      outputs[1].set_data(mx::allocator::malloc(outputs[1].nbytes()));
    }
    const Places places{inputs[0].data<float>(), inputs[1].data<float>(), inputs[2].data<float>(),
                        inputs[3].data<float>(), inputs[4].data<float>(), outputs[0].data<float>()};
    dispatch(
        stream(), [sizes = sizes_, places, from = in_place ? nullptr : before.data<float>(),
                   to = outputs[1].data<float>()]() {
          std::vector<float*> states;
          for (std::int64_t row = 0; row < sizes.batch; ++row) {
            states.push_back(to + row * sizes.heads * sizes.width * sizes.depth);
          }
          recur(sizes, places, states.data(), from);
        });
  }

  void record(tape::Recorder& recorder, const mx::array& out) const override {
    if (out.sibling_position() != 0) return;
    const auto& inputs = out.inputs();
    tape::Operation operation;
    for (int i = 0; i < 5; ++i) operation.reads.push_back(recorder.dense(inputs[i]));
    operation.work = [sizes = sizes_, state = recorder.updates(inputs[5], out.outputs()[1])](
                         const tape::Run& run, const tape::Operation& own) {
      recur(sizes,
            {run.at(own.reads[0]), run.at(own.reads[1]), run.at(own.reads[2]), run.at(own.reads[3]),
             run.at(own.reads[4]), run.at(own.writes[0])},
            run.states + state * sizes.batch, nullptr);
    };
    recorder.add(std::move(operation), out);
  }

 private:
  Sizes sizes_;
};

// The input [B, T + taps - 1, C] and the output [B, T, C] of a convolution.
void convolve(
    const float* x, const float* weight, float* out, std::int64_t batch, std::int64_t tokens, std::int64_t channels,
    std::int64_t taps) {
  const std::int64_t parts = (channels + kChannelsAtOnce - 1) / kChannelsAtOnce;
  parallel_for(
      batch * parts, rows_at_once(kChannelsAtOnce * tokens * taps), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t at = begin; at < end; ++at) {
          const std::int64_t row = at / parts, first = at % parts * kChannelsAtOnce;
          kernels().convolve(
              x + row * (tokens + taps - 1) * channels + first, channels, weight + first * taps, taps,
              out + row * tokens * channels + first, channels, tokens, std::min(kChannelsAtOnce, channels - first));
        }
      });
}

// Inputs: x and the weight, both row-major.
class ShortConvolution : public Primitive, public tape::Recordable {
 public:
  using Primitive::Primitive;

  const char* name() const override { return "ShortConvolution"; }

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    out.set_data(mx::allocator::malloc(out.nbytes()));
    if (out.size() == 0) return;
    dispatch(
        stream(), [x = inputs[0].data<float>(), weight = inputs[1].data<float>(), to = out.data<float>(),
                   shape = out.shape(), taps = inputs[1].shape(1)]() {
          convolve(x, weight, to, shape[0], shape[1], shape[2], taps);
        });
  }

  void record(tape::Recorder& recorder, const mx::array& out) const override {
    const mx::array& weight = out.inputs()[1];
    tape::Operation operation;
    operation.reads = {recorder.dense(out.inputs()[0])};
    operation.work = [weight = recorder.numbers(weight), shape = out.shape(), taps = weight.shape(1)](
                         const tape::Run& run, const tape::Operation& own) {
      convolve(run.at(own.reads[0]), weight, run.at(own.writes[0]), shape[0], shape[1], shape[2], taps);
    };
    recorder.add(std::move(operation), out);
  }
};

void require_shape(const array& x, const mx::Shape& shape, const char* what) {
  require_float32(x, what);
  if (x.shape() != shape) throw std::invalid_argument(std::string(what) + " must fit the other inputs.");
}

}  // namespace

std::vector<array> recurrence(
    const array& q, const array& k, const array& v, const array& decay, const array& rate, const array& state,
    bool corrects) {
  if (q.ndim() != 4 || v.ndim() != 4 || v.shape(2) == 0 || q.shape(2) == 0 || v.shape(2) % q.shape(2) != 0) {
    throw std::invalid_argument("Queries and values must have four axes, with heads in the third one.");
  }
  const int batch = v.shape(0), tokens = v.shape(1), heads = v.shape(2), width = v.shape(3), depth = q.shape(3);
  const bool each = decay.ndim() == 4;
  require_shape(q, {batch, tokens, q.shape(2), depth}, "The queries of a recurrence");
  require_shape(k, q.shape(), "The keys of a recurrence");
  require_shape(v, v.shape(), "The values of a recurrence");
  require_shape(decay, each ? mx::Shape{batch, tokens, heads, depth} : mx::Shape{batch, tokens, heads}, "Decays");
  require_shape(rate, {batch, tokens, heads}, "The rates of a recurrence");
  require_shape(state, {batch, heads, width, depth}, "The state of a recurrence");
  std::vector<array> inputs;
  for (const array& input : {q, k, v, decay, rate, state}) inputs.push_back(mx::contiguous(input, false, cpu_stream()));
  const Sizes sizes{batch, tokens, q.shape(2), heads, depth, width, each, corrects};
  return array::make_arrays(
      {v.shape(), state.shape()}, {mx::float32, mx::float32}, std::make_shared<Recur>(cpu_stream(), sizes), inputs);
}

array short_convolution(const array& x, const array& weight) {
  require_float32(x, "The input of a convolution");
  if (weight.ndim() != 3 || weight.shape(2) != 1 || weight.shape(1) < 1 || weight.shape(1) > kMostTaps) {
    throw std::invalid_argument("The weight of a convolution must have the shape [channels, taps, 1].");
  }
  require_float32(weight, "The weight of a convolution");
  if (x.ndim() != 3 || x.shape(2) != weight.shape(0) || x.shape(1) < weight.shape(1)) {
    throw std::invalid_argument("The input of a convolution must have as many channels as its weight, and its length.");
  }
  return array({x.shape(0), x.shape(1) - weight.shape(1) + 1, x.shape(2)}, mx::float32,
               std::make_shared<ShortConvolution>(cpu_stream()),
               {mx::contiguous(x, false, cpu_stream()), mx::contiguous(weight, false, cpu_stream())});
}

}  // namespace sotto::fused
