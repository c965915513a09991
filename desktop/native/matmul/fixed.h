// Products of many rows of activations with affine weights, in whole numbers.
//
// The weights of a group are scale * q + bias with whole q, which are multiplied as they are. The activations of a run
// of columns are made whole, too: 22 bits of the largest of them, as three digits of 7 and 8 bits. That is as exact as
// float32, whose 24 bits lose more than the two when as many products are added up; here sums within a run lose
// nothing. A processor multiplies 64 such digits with weights at a time, but only 16 values of float32: three digits
// are the faster way. This header is all that the files of the levels share with the others, as rows.h.
#pragma once

#include "matmul/rows.h"

namespace sotto {

constexpr int kFixedDigits = 3;

// Rows of activations in digits. For each run of `FixedKernels::run` columns there are three blocks of as many bytes,
// the digits of the highest place first, in the order in which weights are unpacked; and a scale and a sum.
struct FixedRows {
  const int8_t* digits = nullptr;  // [rows, stride]
  ptrdiff_t stride = 0;
  const float* scales = nullptr;   // [rows, runs]: what the whole numbers are multiplied by
  const float* sums = nullptr;     // [rows, runs]: of the activations themselves
  ptrdiff_t runs = 0;
};

// Unpacked rows of weights, `FixedKernels::width` beside each other: for each run and each four columns of it, the
// four bytes of each row; and for each run the scale and the bias of each row.
struct FixedWeights {
  uint8_t* codes = nullptr;  // [runs, run / 4, width, 4]
  float* scales = nullptr;   // [runs, 2, width]
};

struct FixedKernels {
  int width;  // rows of weights that are multiplied at a time
  // Columns that a run has; 0 for formats that there are no kernels for.
  ptrdiff_t (*run)(const Matrix& matrix);
  // Lay `columns` activations out: their digits, and the scale and the sum of each run.
  void (*prepare)(const Matrix& matrix, const float* row, int8_t* digits, float* scales, float* sums);
  // Unpack rows begin .. end of the matrix, at most `width` of them, columns first_run * run and on, `runs` of them.
  // What has no row is zero.
  void (*unpack)(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_run, ptrdiff_t runs,
                 const FixedWeights& weights);
  // y[m * y_stride + n] = (or += where `add`) activations[m] . weights[n] over `runs` runs from first_run on, for
  // m < rows and n < count. The order of the operations for one result depends on the runs alone.
  void (*multiply)(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, ptrdiff_t first_run, ptrdiff_t runs,
                   const FixedWeights& weights, float* y, ptrdiff_t y_stride, ptrdiff_t count, bool add);
};

#if defined(__x86_64__)
extern const FixedKernels kFixedVnni;
#endif

}  // namespace sotto
