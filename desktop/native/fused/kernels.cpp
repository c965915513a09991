#include "fused/kernels.h"

#include "cpu.h"

namespace sotto::fused {

const Kernels& kernels() {
#if defined(__x86_64__)
  switch (level()) {
    case Level::amx:
    case Level::vnni:
    case Level::avx512: return kAvx512;
    case Level::avx2: return kAvx2;
    case Level::portable: break;
  }
#endif
  return kPortable;
}

}  // namespace sotto::fused
