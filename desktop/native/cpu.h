// The processor's instruction sets, which determine which kernels run.
#pragma once

namespace sotto {

// In ascending order. A kernel without a version for a level uses the one for the next lower level.
enum class Level : int {
  portable = 0,  // the architecture's baseline, NEON included
  avx2 = 1,      // AVX2, FMA and F16C
  avx512 = 2,    // plus AVX-512 F, BW, VL and DQ
  vnni = 3,      // plus AVX-512 VNNI
};

// The level in use: the best that the processor supports, or a lower one set by SOTTO_NATIVE_LEVEL (portable, avx2,
// avx512, vnni) or set_level.
Level level();

// The best level that this processor supports.
Level best_level();

// Switch to another level, at most the best one. For tests.
void set_level(Level wanted);

const char* level_name(Level level);

}  // namespace sotto
