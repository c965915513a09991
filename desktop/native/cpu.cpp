#include "cpu.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace sotto {

namespace {

Level detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) {
    return Level::portable;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    return __builtin_cpu_supports("avx512vnni") ? Level::vnni : Level::avx512;
  }
  return Level::avx2;
#else
  return Level::portable;
#endif
}

Level initial() {
  const char* wanted = std::getenv("SOTTO_NATIVE_LEVEL");
  if (wanted != nullptr) {
    for (Level level : {Level::portable, Level::avx2, Level::avx512, Level::vnni}) {
      if (std::strcmp(wanted, level_name(level)) == 0) {
        return std::min(level, best_level());
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

const char* level_name(Level level) {
  switch (level) {
    case Level::vnni:
      return "vnni";
    case Level::avx512:
      return "avx512";
    case Level::avx2:
      return "avx2";
    default:
      return "portable";
  }
}

}  // namespace sotto
