#include "tape/attention.h"

#include <algorithm>

#include "fused/attention.h"
#include "fused/kernels.h"
#include "fused/primitive.h"
#include "tape/recording.h"
#include "thread_pool.h"

namespace sotto::tape {

namespace {

// Minimum multiplications that are worth dividing among threads: of a single row, and of all rows.
constexpr std::int64_t kLongRow = 1 << 20;
constexpr std::int64_t kSmallStep = 1 << 15;

// A node that exists only to be recorded.
class RecordOnly : public fused::Primitive {
 public:
  using fused::Primitive::Primitive;

  void eval_cpu(const std::vector<mx::array>&, mx::array&) override {
    throw Unknown("a graph that depends on the values of " + std::string(name()));
  }
};

class Placeholder : public RecordOnly {
 public:
  using RecordOnly::RecordOnly;
  const char* name() const override { return "SottoPlaceholder"; }
};

// The shapes of an attention, the same for each row. Latent attention has keys that are values, too; what is held as
// values are `added` further numbers of each key.
struct Heads {
  int layer;
  int rows;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t depth;
  std::int64_t width;
  std::int64_t added;
  float scale;
  const float* sinks;

  std::int64_t held_width() const { return added > 0 ? added : width; }
};

void put(const Place& place, std::int64_t row, const float* from, std::int64_t size) {
  if (place.data) {
    std::copy_n(from, size, place.data + row * size);
  } else {
    fused::kernels().pack(from, place.packed.from(row * size), size);
  }
}

void append(const Heads& heads, const Held& held, const float* k, const float* v) {
  for (std::int64_t head = 0; head < heads.keys; ++head) {
    const std::int64_t row = head * held.room + held.slot;
    put(held.keys, row, k + head * heads.depth, heads.depth);
    put(held.values, row, v + head * heads.held_width(), heads.held_width());
  }
}

// The rows of all heads from `first` on.
fused::Strided rows_of(const Place& place, const Heads& heads, const Held& held, std::int64_t first, std::int64_t size) {
  const std::int64_t head = held.room * size;
  if (place.data) {
    return {place.data + first * size, heads.keys * head, head, size};
  }
  return {nullptr, heads.keys * head, head, size, place.packed.from(first * size)};
}

void attend_row(const Heads& heads, const Held& held, const float* q, const float* added, float* out) {
  const std::int64_t first = held.slot + 1 - held.seen;
  fused::Attention problem;
  problem.batch = 1;
  problem.heads = heads.queries;
  problem.kv_heads = heads.keys;
  problem.queries = 1;
  problem.keys = held.seen;
  problem.depth = heads.depth;
  problem.width = heads.width;
  problem.scale = heads.scale;
  problem.q = {q, heads.queries * heads.depth, heads.depth, heads.depth};
  problem.k = rows_of(held.keys, heads, held, first, heads.depth);
  if (heads.added > 0) {
    problem.v = problem.k;
    problem.added_depth = heads.added;
    problem.added_q = {added, heads.queries * heads.added, heads.added, heads.added};
    problem.added_k = rows_of(held.values, heads, held, first, heads.added);
  } else {
    problem.v = rows_of(held.values, heads, held, first, heads.width);
  }
  problem.sinks = heads.sinks;
  problem.out = out;
  fused::attend(problem);
}

// Rows per thread at a time: one, or all if some are long, or if it is not worth waking a thread.
std::ptrdiff_t rows_at_once(const Heads& heads, const Held* held) {
  std::int64_t longest = 0, all = 0;
  for (std::int64_t row = 0; row < heads.rows; ++row) {
    longest = std::max<std::int64_t>(longest, held[row].seen);
    all += held[row].seen;
  }
  const std::int64_t each = heads.queries * (heads.depth + heads.width + heads.added);
  return longest * each < kLongRow && all * each >= kSmallStep ? 1 : heads.rows;
}

// Inputs: queries, keys, values, and maybe sinks or the further queries of latent attention.
class StepAttention : public RecordOnly, public Recordable {
 public:
  StepAttention(mx::Stream stream, int layer, float scale, bool latent)
      : RecordOnly(stream), layer_(layer), scale_(scale), latent_(latent) {}

  const char* name() const override { return "SottoStepAttention"; }

  void record(Recorder& recorder, const mx::array& out) const override {
    const auto& inputs = out.inputs();
    const mx::array &q = inputs[0], &k = inputs[1], &v = inputs[2];
    const float* sinks = inputs.size() > 3 && !latent_ ? recorder.numbers(inputs[3]) : nullptr;
    const int added = latent_ ? v.shape(3) : 0;
    const Heads heads{layer_,     recorder.rows(), q.shape(1), k.shape(1), q.shape(3), out.shape(3), added,
                      scale_, sinks};
    Operation operation;
    operation.reads = {recorder.dense(q), recorder.dense(k), recorder.dense(v)};
    if (latent_) {
      operation.reads.push_back(recorder.dense(inputs[3]));
    }
    const Layer layer{layer_, k.shape(1), k.shape(3), v.shape(3)};
    const bool first = recorder.attends(layer, operation.reads[1], operation.reads[2]);
    operation.work = [heads, first](const Run& run, const Operation& own) {
      const float *q = run.at(own.reads[0]), *k = run.at(own.reads[1]), *v = run.at(own.reads[2]);
      const float* added = heads.added > 0 ? run.at(own.reads[3]) : nullptr;
      float* out = run.at(own.writes[0]);
      const Held* held = run.held + heads.layer * heads.rows;
      // Append all rows first: rows of the same sequence attend to the preceding ones.
      for (std::int64_t row = 0; first && row < heads.rows; ++row) {
        append(heads, held[row], k + row * heads.keys * heads.depth, v + row * heads.keys * heads.held_width());
      }
      // Compute rows in parallel, unless one has enough keys to keep all threads busy.
      parallel_for(heads.rows, rows_at_once(heads, held), [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        for (std::ptrdiff_t row = begin; row < end; ++row) {
          attend_row(heads, held[row], q + row * heads.queries * heads.depth,
                     added ? added + row * heads.queries * heads.added : nullptr,
                     out + row * heads.queries * heads.width);
        }
      });
    };
    recorder.add(std::move(operation), out);
  }

 private:
  int layer_;
  float scale_;
  bool latent_;
};

}  // namespace

mx::array step_attention(
    const mx::array& q, const mx::array& k, const mx::array& v, int layer, float scale,
    const std::optional<mx::array>& sinks, const std::optional<mx::array>& added) {
  const auto is_of_step = [&](const mx::array& one) {
    return one.ndim() == 4 && one.shape(0) == q.shape(0) && one.shape(2) == 1;
  };
  const bool known = is_of_step(q) && is_of_step(k) && is_of_step(v) && k.shape(1) == v.shape(1) &&
                     q.shape(3) == k.shape(3) && k.shape(1) > 0 && q.shape(1) % k.shape(1) == 0;
  const bool sunk = !sinks || (!added && sinks->ndim() == 1 && sinks->shape(0) == q.shape(1));
  const bool latent =
      !added || (is_of_step(*added) && added->shape(1) == q.shape(1) && added->shape(3) == v.shape(3));
  if (!known || !sunk || !latent) {
    throw Unknown("an attention of other shapes");
  }
  std::vector<mx::array> inputs{q, k, v};
  if (sinks || added) {
    inputs.push_back(sinks ? *sinks : *added);
  }
  const int width = added ? k.shape(3) : v.shape(3);
  return mx::array({q.shape(0), q.shape(1), 1, width}, mx::float32,
                   std::make_shared<StepAttention>(fused::cpu_stream(), layer, scale, added.has_value()),
                   std::move(inputs));
}

mx::array placeholder(mx::Shape shape, mx::Dtype type) {
  return mx::array(std::move(shape), type, std::make_shared<Placeholder>(fused::cpu_stream()), {});
}

}  // namespace sotto::tape
