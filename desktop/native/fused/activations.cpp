#include <algorithm>
#include <memory>

#include "fused/operations.h"
#include "fused/primitive.h"
#include "fused/rows.h"
#include "tape/recording.h"
#include "thread_pool.h"

namespace sotto::fused {

namespace {

constexpr std::int64_t kElementsAtOnce = 1 << 13;

// `x` is the gated input, or null if there is none.
void activate_rows(
    Activation kind, const Rows& gate, const Rows* x, float* to, float slope, float limit) {
  const Kernels& f = kernels();
  const std::int64_t n = gate.length();
  if (gate.flat() && (!x || x->flat())) {
    parallel_for(gate.count() * n, kElementsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      f.activate(kind, gate.data() + begin, x ? x->data() + begin : nullptr, to + begin, end - begin, slope, limit);
    });
    return;
  }
  parallel_for(gate.count(), std::max<std::int64_t>(1, kElementsAtOnce / n), [&](auto begin, auto end) {
    std::vector<float> spare_gate;
    std::vector<float> spare_x;
    for (std::int64_t row = begin; row < end; ++row) {
      f.activate(kind, gate.row(row, spare_gate), x ? x->row(row, spare_x) : nullptr, to + row * n, n, slope, limit);
    }
  });
}

class Activate : public Primitive, public tape::Recordable {
 public:
  Activate(mx::Stream stream, Activation kind, float slope, float limit)
      : Primitive(stream), kind_(kind), slope_(slope), limit_(limit) {}

  const char* name() const override { return "FusedActivation"; }

  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override { return {inputs[0].shape()}; }

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    out.set_data(mx::allocator::malloc(out.nbytes()));
    if (out.size() == 0) return;
    dispatch(
        stream(), [gate = Rows(inputs.front()), x = Rows(inputs.back()), has_x = inputs.size() > 1,
                   to = out.data<float>(), kind = kind_, slope = slope_, limit = limit_]() {
          activate_rows(kind, gate, has_x ? &x : nullptr, to, slope, limit);
        });
  }

  void record(tape::Recorder& recorder, const mx::array& out) const override {
    tape::Operation operation;
    for (const auto& input : out.inputs()) operation.reads.push_back(recorder.dense(input));
    operation.work = [kind = kind_, slope = slope_, limit = limit_, size = static_cast<std::int64_t>(out.size())](
                         const tape::Run& run, const tape::Operation& own) {
      const Rows gate(run.at(own.reads.front()), 1, size), x(run.at(own.reads.back()), 1, size);
      activate_rows(kind, gate, own.reads.size() > 1 ? &x : nullptr, run.at(own.writes[0]), slope, limit);
    };
    recorder.add(std::move(operation), out);
  }

 private:
  Activation kind_;
  float slope_;
  float limit_;
};

}  // namespace

array activate(
    Activation kind, const array& gate, const std::optional<array>& x, float slope, float limit) {
  require_float32(gate, "The input of an activation");
  std::vector<array> inputs{gate};
  if (x) {
    require_float32(*x, "The input of an activation");
    if (x->shape() != gate.shape()) throw std::invalid_argument("A gate and what it gates must have the same shape.");
    inputs.push_back(*x);
  }
  return array(
      gate.shape(), mx::float32, std::make_shared<Activate>(cpu_stream(), kind, slope, limit), std::move(inputs));
}

}  // namespace sotto::fused
