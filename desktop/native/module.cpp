// The Python module `kernels`: MLX primitives for the CPU. Loaded and installed by sotto/engine/kernels/native.py.
#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>

#include "bind.h"
#include "blas.h"
#include "cpu.h"
#include "mlx/version.h"
#include "thread_pool.h"

namespace nb = nanobind;

NB_MODULE(kernels, m) {
  m.def("level", [] { return sotto::level_name(sotto::level()); });
  m.def("best_level", [] { return sotto::level_name(sotto::best_level()); });
  m.def("set_level", [](int level) { sotto::set_level(static_cast<sotto::Level>(level)); });
  m.def("threads", &sotto::threads);
  m.def("set_threads", &sotto::set_threads);
  m.def("set_sgemm", &sotto::set_sgemm, nb::arg("address"));
  m.def("divided_sgemm", [] { return reinterpret_cast<std::uintptr_t>(&sotto::divided_sgemm); });
  m.def("mlx_version", [] { return mlx::core::version(); });
  m.def(
      "run_on_all_threads",
      [] {
        std::atomic<int> count{0};
        sotto::parallel_for(64, 1, [&](std::ptrdiff_t, std::ptrdiff_t) { ++count; });
        return count.load();
      },
      "Hand 64 empty chunks out and return how many ran, for tests of the pool.");
  sotto::bind_matmul(m);
  sotto::bind_fused(m);
  sotto::bind_tape(m);
  sotto::bind_gguf(m);
  sotto::bind_reading(m);
}
