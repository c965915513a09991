#include <algorithm>
#include <memory>

#include "fused/operations.h"
#include "fused/primitive.h"
#include "fused/rows.h"
#include "tape/recording.h"
#include "thread_pool.h"

namespace sotto::fused {

namespace {

void normalise(
    bool centred, const Rows& x, const float* weight, const float* bias, float* to, float eps) {
  const Kernels& f = kernels();
  const std::int64_t n = x.length();
  parallel_for(x.count(), rows_at_once(n), [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> spare;
    for (std::int64_t row = begin; row < end; ++row) {
      const float* from = x.row(row, spare);
      if (centred) {
        f.layer_norm(from, weight, bias, to + row * n, n, eps);
      } else {
        f.rms_norm(from, weight, to + row * n, n, eps);
      }
    }
  });
}

// Inputs: x, and maybe weight and bias.
class Norm : public Primitive, public tape::Recordable {
 public:
  Norm(mx::Stream stream, bool centred, bool has_weight, bool has_bias, float eps)
      : Primitive(stream), centred_(centred), has_weight_(has_weight), has_bias_(has_bias), eps_(eps) {}

  const char* name() const override { return centred_ ? "FusedLayerNorm" : "FusedRMSNorm"; }

  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override { return {inputs[0].shape()}; }

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    out.set_data(mx::allocator::malloc(out.nbytes()));
    if (out.size() == 0) return;
    std::vector<Rows> parameters;
    for (std::size_t i = 1; i < inputs.size(); ++i) parameters.emplace_back(inputs[i]);
    dispatch(
        stream(), [x = Rows(inputs[0]), parameters = std::move(parameters), to = out.data<float>(), centred = centred_,
                   has_weight = has_weight_, has_bias = has_bias_, eps = eps_]() {
          std::vector<float> spare_weight;
          std::vector<float> spare_bias;
          const float* weight = has_weight ? parameters.front().only(spare_weight) : nullptr;
          const float* bias = has_bias ? parameters.back().only(spare_bias) : nullptr;
          normalise(centred, x, weight, bias, to, eps);
        });
  }

  void record(tape::Recorder& recorder, const mx::array& out) const override {
    const auto& inputs = out.inputs();
    tape::Operation operation;
    operation.reads = {recorder.dense(inputs[0])};
    const std::int64_t n = out.shape(-1);
    operation.work = [centred = centred_, count = static_cast<std::int64_t>(out.size()) / n, n, eps = eps_,
                      weight = has_weight_ ? recorder.numbers(inputs[1]) : nullptr,
                      bias = has_bias_ ? recorder.numbers(inputs.back()) : nullptr](
                         const tape::Run& run, const tape::Operation& own) {
      normalise(centred, Rows(run.at(own.reads[0]), count, n), weight, bias, run.at(own.writes[0]), eps);
    };
    recorder.add(std::move(operation), out);
  }

 private:
  bool centred_;
  bool has_weight_;
  bool has_bias_;
  float eps_;
};

array normalised(
    bool centred, const array& x, const std::optional<array>& weight, const std::optional<array>& bias, float eps) {
  require_float32(x, "The input of a norm");
  if (x.ndim() == 0) throw std::invalid_argument("The input of a norm must have at least one axis.");
  std::vector<array> inputs{x};
  if (weight) {
    require_vector(*weight, x.shape(-1), "The weight of a norm");
    inputs.push_back(*weight);
  }
  if (bias) {
    require_vector(*bias, x.shape(-1), "The bias of a norm");
    inputs.push_back(*bias);
  }
  auto primitive = std::make_shared<Norm>(cpu_stream(), centred, weight.has_value(), bias.has_value(), eps);
  return array(x.shape(), mx::float32, std::move(primitive), std::move(inputs));
}

}  // namespace

array rms_norm(const array& x, const std::optional<array>& weight, float eps) {
  return normalised(false, x, weight, std::nullopt, eps);
}

array layer_norm(
    const array& x, const std::optional<array>& weight, const std::optional<array>& bias, float eps) {
  return normalised(true, x, weight, bias, eps);
}

}  // namespace sotto::fused
