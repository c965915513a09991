// Which instructions the processor has, and so which of the kernels runs.
#pragma once

namespace sotto {

// In rising order; a kernel that lacks a level uses the next lower one that it has.
enum class Level : int {
  portable = 0,  // what the compiler makes of plain C++ for the architecture, NEON included
  avx2 = 1,      // AVX2, FMA and F16C
  avx512 = 2,    // AVX-512 F, BW, VL and DQ besides
  vnni = 3,      // AVX-512 VNNI besides
};

// The level in use: the best that the processor has, or a lower one from SOTTO_NATIVE_LEVEL (portable, avx2, avx512,
// vnni) or set_level.
Level level();

// The best level that this processor has.
Level best_level();

// Use a lower level from now on; levels above the best one are the best one. For tests.
void set_level(Level wanted);

const char* level_name(Level level);

}  // namespace sotto
