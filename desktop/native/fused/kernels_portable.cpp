// The kernels with 16-byte vectors, which every processor of the supported architectures has.
#define SOTTO_LANES 4
#define SOTTO_TABLE kPortable
#include "fused/kernels_impl.h"
