// Python bindings of the fused operations, named like MLX's own.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "fused/operations.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace sotto {

void bind_fused(nb::module_& m) {
  using fused::Activation;
  using mlx::core::array;
  m.def(
      "rms_norm",
      [](const array& x, const std::optional<array>& weight, float eps) {
        return fused::rms_norm(x, weight, eps);
      },
      "x"_a, "weight"_a.none(), "eps"_a);
  m.def(
      "layer_norm",
      [](const array& x, const std::optional<array>& weight, const std::optional<array>& bias, float eps) {
        return fused::layer_norm(x, weight, bias, eps);
      },
      "x"_a, "weight"_a.none(), "bias"_a.none(), "eps"_a);
  m.def(
      "rope",
      [](const array& x, int dims, bool traditional, std::optional<float> base, float scale,
         const std::variant<int, array>& offset, const std::optional<array>& freqs) {
        return fused::rope(x, dims, traditional, base, scale, offset, freqs);
      },
      "x"_a, "dims"_a, "traditional"_a, "base"_a.none(), "scale"_a, "offset"_a, "freqs"_a.none() = nb::none(),
      // The first call with a base waits for MLX, whose thread may need the GIL to free an array.
      nb::call_guard<nb::gil_scoped_release>());
  m.def("pack", &fused::pack, "x"_a, "group_size"_a, "bits"_a);
  m.def("unpack", &fused::unpack, "words"_a, "scales"_a, "biases"_a, "group_size"_a, "bits"_a);
  m.def(
      "attention",
      [](const array& q, const array& k, const array& v, float scale, bool causal, const std::optional<array>& mask,
         const std::optional<array>& sinks) { return fused::attention(q, k, v, scale, causal, mask, sinks); },
      "q"_a, "k"_a, "v"_a, "scale"_a, "causal"_a = false, "mask"_a.none() = nb::none(), "sinks"_a.none() = nb::none());
  m.def("recurrence", &fused::recurrence, "q"_a, "k"_a, "v"_a, "decay"_a, "rate"_a, "state"_a, "corrects"_a);
  m.def("most_taps", [] { return fused::kMostTaps; });
  m.def("short_convolution", &fused::short_convolution, "x"_a, "weight"_a);
  const auto bind_activation = [&m](const char* name, Activation kind) {
    m.def(
        name,
        [kind](const array& gate, const std::optional<array>& x) {
          return fused::activate(kind, gate, x, 0.0f, 0.0f);
        },
        "gate"_a, "x"_a.none() = nb::none());
  };
  bind_activation("silu", Activation::silu);
  bind_activation("gelu", Activation::gelu);
  bind_activation("gelu_approx", Activation::gelu_tanh);
  bind_activation("gelu_fast_approx", Activation::gelu_sigmoid);
  m.def(
      "swiglu_oai",
      [](const array& gate, const array& x, float alpha, float limit) {
        return fused::activate(Activation::clipped_swiglu, gate, x, alpha, limit);
      },
      "gate"_a, "x"_a, "alpha"_a, "limit"_a);
}

}  // namespace sotto
