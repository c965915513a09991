// Products of activations with affine weights, in integer arithmetic.
//
// The weights of a group are scale * q + bias with integer q, which are multiplied as they are. The activations of a
// run of columns are quantized, too: to 22 bits including the sign, relative to the largest of them, as three digits of
// 7 and 8 bits. That is as exact as float32, which loses more than its two additional bits when as many products are
// added up, while sums within a run are exact here. One instruction multiplies 64 digits but only 16 float32 values, so
// three digits are faster. This header uses nothing of the C++ standard library, for the same reason as rows.h.
#pragma once

#include "matmul/rows.h"

namespace sotto {

constexpr int kFixedDigits = 3;

// Columns of a part: of activations whose digits are kept together, and of weights that are unpacked at a time. Those
// are 32 KiB of codes, which stay in the L1 cache while all rows of activations are multiplied. Whole runs of every
// format.
constexpr ptrdiff_t kFixedColumns = 512;

// Digits have room for a multiple of this: kernels may read, but not use, those of more columns than there are.
constexpr ptrdiff_t kPaddedColumns = 256;

// Rows of activations as digits, in an order of the kernels' own, the most significant digits of a few columns first;
// and for each run of `FixedKernels::run` columns a scale and a sum.
struct FixedRows {
  const int8_t* digits = nullptr;  // [parts, rows, stride]
  ptrdiff_t stride = 0;
  ptrdiff_t part = 0;              // bytes of a part of all rows
  const float* scales = nullptr;   // [rows, runs]: the factor of the integers
  const float* sums = nullptr;     // [rows, runs]: of the original activations
  ptrdiff_t runs = 0;
};

// The rows from the given one on. Static, as each level has to compile it for itself.
static inline FixedRows rows_from(const FixedRows& x, ptrdiff_t row) {
  FixedRows rows = x;
  rows.digits += row * x.stride;
  rows.scales += row * x.runs;
  rows.sums += row * x.runs;
  return rows;
}

// `FixedKernels::width` unpacked rows of weights, interleaved: for every four columns of each run, the four bytes of
// each row; and for each run the scales and the biases of all rows.
struct FixedWeights {
  uint8_t* codes = nullptr;  // [runs, run / 4, width, 4]
  float* scales = nullptr;   // [runs, 2, width]
};

// `unpack` and `multiply` are nullptr where products with weights unpacked to float32 are faster.
struct FixedKernels {
  int width;  // rows of weights multiplied at a time
  // Columns per run; 0 for matrices that the kernels do not support.
  ptrdiff_t (*run)(const Matrix& matrix);
  // Prepare `matrix.columns` activations: their digits, and the scale and sum of each run.
  void (*prepare)(const Matrix& matrix, const float* row, int8_t* digits, float* scales, float* sums);
  // Unpack rows begin .. end of the matrix, at most `width` of them, and `runs` runs of columns from first_run. Missing
  // rows are zero. If `fetch`, the codes that are next to be unpacked are prefetched.
  void (*unpack)(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_run, ptrdiff_t runs,
                 const FixedWeights& weights, bool fetch);
  // y[m * y_stride + n] = (or += if `add`) activations[m] . weights[n] over `runs` runs from first_run, where a part
  // begins that has the digits, for m < rows and n < count. The order of operations for a result depends on the runs
  // alone.
  void (*multiply)(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, ptrdiff_t first_run, ptrdiff_t runs,
                   const FixedWeights& weights, float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add);
  // y[m * y_stride + n] = activations[m] . weights[n] for m < rows and begin <= n < end, where begin is a multiple of
  // kPanelRows (blocks.h), with the weights as they are. The order of operations for a result depends on the matrix
  // alone, and is that of `multiply`, if there is one, part by part. nullptr where there is no such kernel.
  void (*multiply_packed)(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride,
                          ptrdiff_t begin, ptrdiff_t end) = nullptr;
  // Write `columns` columns from first_column, a multiple of kBlockColumns (blocks.h), of rows begin .. end as float32,
  // `stride` numbers apart. `begin` is a multiple of kPanelRows, and there is room for as many rows as their panels
  // have. For matrices that RowKernels (rows.h) do not unpack; else nullptr.
  void (*unpack_floats)(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_column,
                        ptrdiff_t columns, float* to, ptrdiff_t stride) = nullptr;
  // Panels that multiply_packed reads in turns.
  int together = 1;
  // Rows of activations that `multiply` takes at once.
  int rows_at_once = 6;
  // If given, digits are tiles, of which this returns the bytes of a row: the same ones of kTileHeight rows follow each
  // other. So do the scales and the sums of as many rows for each run.
  ptrdiff_t (*tile_bytes)(const Matrix& matrix) = nullptr;
};

// Rows of a tile of AMX.
constexpr ptrdiff_t kTileHeight = 16;

#if defined(__x86_64__)
extern const FixedKernels kFixedAmx;
extern const FixedKernels kFixedVnni;
extern const FixedKernels kFixedAvx2;
// FixedKernels::multiply_packed for weights that are not interleaved.
void multiply_packed_vnni(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride,
                          ptrdiff_t begin, ptrdiff_t end);
#elif defined(__aarch64__)
extern const FixedKernels kFixedDotprod;
extern const FixedKernels kFixedI8mm;
#endif

}  // namespace sotto
