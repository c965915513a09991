// The kernels with AVX2 and FMA; compiled with their flags.
#if defined(__x86_64__)
#define SOTTO_LANES 8
#define SOTTO_TABLE kAvx2
#include "fused/kernels_impl.h"
#endif
