#include "cpu.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#else
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sotto {

namespace {

// In the order of Level.
#if defined(__aarch64__)
constexpr const char* kNames[] = {"neon", "dotprod", "i8mm"};
#else
constexpr const char* kNames[] = {"portable", "avx2", "avx512", "vnni", "amx"};

// Whether the processor has AMX for bytes and for bfloat16, and Linux saves the tiles of this process, which it does
// only for processes that ask: Documentation/arch/x86/xstate.rst of its source.
bool may_use_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBfloat = 1u << 22, kTiles = 1u << 24, kBytes = 1u << 25, kAll = kBfloat | kTiles | kBytes;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kAll) != kAll) {
    return false;
  }
  constexpr long kAskForPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kAskForPermission, kTileData) == 0;
}
#endif

Level detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) {
    return Level::portable;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    const bool vnni = __builtin_cpu_supports("avx512vnni");
    return vnni && may_use_tiles() ? Level::amx : vnni ? Level::vnni : Level::avx512;
  }
  return Level::avx2;
#else
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) == 0) {
    return Level::neon;
  }
  return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0 ? Level::i8mm : Level::dotprod;
#endif
}

Level initial() {
  const char* wanted = std::getenv("SOTTO_NATIVE_LEVEL");
  if (wanted != nullptr) {
    for (int level = 0; level < static_cast<int>(std::size(kNames)); ++level) {
      if (std::strcmp(wanted, kNames[level]) == 0) {
        return std::min(static_cast<Level>(level), best_level());
      }
    }
  }
  return best_level();
}

std::atomic<Level>& current() {
  static std::atomic<Level> value{initial()};
  return value;
}

}  // namespace

Level best_level() {
  static const Level best = detect();
  return best;
}

Level level() { return current().load(std::memory_order_relaxed); }

void set_level(Level wanted) { current().store(std::min(wanted, best_level())); }

const char* level_name(Level level) { return kNames[static_cast<int>(level)]; }

}  // namespace sotto
