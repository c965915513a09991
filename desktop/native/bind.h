// One function per part of the module, which adds its bindings; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace sotto {

void bind_matmul(nanobind::module_& m);
void bind_fused(nanobind::module_& m);
void bind_tape(nanobind::module_& m);
void bind_gguf(nanobind::module_& m);
void bind_reading(nanobind::module_& m);

}  // namespace sotto
