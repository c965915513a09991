// Python bindings of tapes: `record` makes one from a graph, or returns why it cannot; `step` runs it for each token.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "tape/attention.h"
#include "tape/recording.h"
#include "tape/step.h"
#include "tape/tape.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace sotto {

namespace {

// Python holds a tape as a capsule around a pointer that is shared with the steps in flight. MLX's thread releases
// theirs, which must not require the GIL: the thread that holds it may be waiting for MLX.
using Shared = std::shared_ptr<tape::Tape>;
constexpr const char* kName = "sotto.tape";

nb::capsule capsule_of(Shared tape) {
  return nb::capsule(
      new Shared(std::move(tape)), kName, [](void* shared) noexcept { delete static_cast<Shared*>(shared); });
}

const Shared& in(const nb::capsule& capsule) { return *static_cast<const Shared*>(capsule.data(kName)); }

}  // namespace

void bind_tape(nb::module_& m) {
  using mlx::core::array;
  m.def("placeholder_tokens", [](int rows) { return tape::placeholder({rows, 1}, mlx::core::uint32); }, "rows"_a);
  m.def("placeholder_state", [](const std::vector<int>& shape) {
    return tape::placeholder(mlx::core::Shape(shape.begin(), shape.end()), mlx::core::float32);
  }, "shape"_a);
  m.def("placeholder_positions", [](int rows) { return tape::placeholder({rows}, mlx::core::int32); }, "rows"_a);
  m.def(
      "step_attention",
      [](const array& q, const array& k, const array& v, int layer, float scale, const std::optional<array>& sinks,
         const std::optional<array>& added) {
        try {
          return std::optional(tape::step_attention(q, k, v, layer, scale, sinks, added));
        } catch (const tape::Unknown&) {
          return std::optional<array>();
        }
      },
      "q"_a, "k"_a, "v"_a, "layer"_a, "scale"_a, "sinks"_a.none(), "added"_a.none());
  m.def(
      "record",
      [](const array& logits, const array& tokens, const array& positions, int layers,
         const std::vector<array>& before, const std::vector<array>& after) {
        std::vector<tape::State> states;
        for (std::size_t state = 0; state < before.size(); ++state) {
          states.push_back({before[state], after.at(state)});
        }
        Shared made;
        try {
          // Constants are evaluated, and MLX's thread may need the GIL to free an array.
          nb::gil_scoped_release released;
          tape::Recorder recorder(tokens, positions, std::move(states));
          made = std::make_shared<tape::Tape>(recorder.recorded(logits, layers));
        } catch (const tape::Unknown& unknown) {
          return nb::make_tuple(nb::none(), unknown.what());
        }
        return nb::make_tuple(capsule_of(std::move(made)), "");
      },
      "logits"_a, "tokens"_a, "positions"_a, "layers"_a, "before"_a, "after"_a);
  m.def("operations", [](const nb::capsule& tape) { return in(tape)->operations(); }, "tape"_a);
  m.def(
      "step",
      [](const nb::capsule& tape, const array& tokens, const std::vector<int>& positions,
         const std::vector<int>& slots, const std::vector<int>& seen, const nb::list& held,
         const nb::list& kept) {
        std::vector<std::vector<array*>> buffers;
        for (nb::handle cache : held) {
          buffers.emplace_back();
          for (nb::handle one : nb::cast<nb::tuple>(cache)) {
            buffers.back().push_back(&nb::cast<array&>(one));
          }
        }
        std::vector<array*> states;
        for (nb::handle one : kept) {
          states.push_back(&nb::cast<array&>(one));
        }
        const Shared& shared = in(tape);
        nb::gil_scoped_release released;
        return tape::step(shared, tokens, positions, slots, seen, buffers, states);
      },
      "tape"_a, "tokens"_a, "positions"_a, "slots"_a, "seen"_a, "buffers"_a, "states"_a);
}

}  // namespace sotto
