// Included first in each file of llama.cpp: where GCC's intrinsics for AMX read memory, GCC does not know it (seen with
// version 12), so that the shapes of tiles may be set before they are written, which ends in an illegal instruction.
#if defined(__AMX_TILE__) && !defined(__clang__)
#include <immintrin.h>
#define _tile_loadconfig(config)                     \
  do {                                               \
    __asm__ volatile("" : : "r"(config) : "memory"); \
    _tile_loadconfig(config);                        \
  } while (0)
#undef _tile_loadd
#define _tile_loadd(tile, from, stride)       \
  do {                                        \
    __asm__ volatile("" : : : "memory");      \
    _tile_loadd_internal(tile, from, stride); \
  } while (0)
#endif
