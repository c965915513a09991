// The processor's instruction sets, which determine which kernels run.
#pragma once

namespace sotto {

// In ascending order. A kernel without a version for a level uses the one for the next lower level.
enum class Level : int {
#if defined(__aarch64__)
  neon = 0,      // every processor
  dotprod = 1,   // plus products of signed bytes by fours: sdot
  i8mm = 2,      // plus those of 2 x 8 with 8 x 2 bytes: smmla
#else
  portable = 0,  // every processor: SSE2
  avx2 = 1,      // AVX2, FMA and F16C
  avx512 = 2,    // plus AVX-512 F, BW, VL and DQ
  vnni = 3,      // plus AVX-512 VNNI
  amx = 4,       // plus AMX for bytes and bfloat16, if the operating system lets this process use it
#endif
};

// The level in use: the best that the processor supports, or a lower one set by SOTTO_NATIVE_LEVEL, which has the name
// of one, or set_level.
Level level();

// The best level that this processor supports.
Level best_level();

// Switch to another level, at most the best one. For tests.
void set_level(Level wanted);

const char* level_name(Level level);

}  // namespace sotto
