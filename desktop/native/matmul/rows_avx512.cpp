// The kernels of rows.h for AVX-512.
#include "lanes_avx512.h"
#include "rows.h"

namespace sotto {
namespace {

#include "rows_kernels.inc"

}  // namespace

extern const RowKernels kRowsAvx512 = {width_of, sums_width_of, prepare_row, multiply_rows, unpack_rows};

}  // namespace sotto
