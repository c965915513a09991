#include "bind.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gguf/regrouping.h"

namespace nb = nanobind;

namespace sotto {

namespace {

// A change by its name, the first byte in the block, the number of bytes, and a power of two.
using NamedPart = std::tuple<std::string, std::size_t, std::size_t, int>;

Part part_of(const NamedPart& named) {
  const auto& [name, start, bytes, power] = named;
  for (const auto& [known, change] : {std::pair{"none", Change::none},
                                      {"nibbles", Change::nibbles},
                                      {"offset", Change::offset},
                                      {"negated", Change::negated}}) {
    if (name == known) {
      return {change, start, bytes, power};
    }
  }
  throw std::invalid_argument("There is no change " + name + ".");
}

}  // namespace

void bind_gguf(nb::module_& m) {
  using namespace nb::literals;
  // A copy of this library in the same process has registered the type already.
  if (const nb::handle known = nb::type<Regrouping>(); known.is_valid()) {
    m.attr("Regrouping") = known;
    return;
  }
  nb::class_<Regrouping>(m, "Regrouping")
      .def(
          "__init__",
          [](Regrouping* self, std::ptrdiff_t blocks, std::size_t block_bytes,
             const std::vector<std::vector<NamedPart>>& outputs, std::ptrdiff_t row_blocks, std::ptrdiff_t head_rows) {
            std::vector<std::vector<Part>> parts;
            for (const auto& named : outputs) {
              auto& output = parts.emplace_back();
              for (const auto& part : named) {
                output.push_back(part_of(part));
              }
            }
            new (self) Regrouping(blocks, block_bytes, std::move(parts), row_blocks, head_rows);
          },
          "blocks"_a, "block_bytes"_a, "outputs"_a, "row_blocks"_a, "head_rows"_a)
      .def(
          "add",
          [](Regrouping& self, nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> data) {
            const nb::gil_scoped_release released;
            self.add(data.data(), data.size());
          },
          "data"_a)
      .def("outputs", &Regrouping::outputs);
}

}  // namespace sotto
