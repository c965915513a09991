// The kernels with AVX-512; compiled with its flags.
#if defined(__x86_64__)
#define SOTTO_LANES 16
#define SOTTO_TABLE kAvx512
#include "fused/kernels_impl.h"
#endif
