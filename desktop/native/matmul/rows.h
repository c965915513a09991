// Products of a few rows of activations with a matrix whose rows are weights, straight from their packed form.
//
// The kernels exist once for each level of instructions. This header is all that their files share with the others, so
// it has nothing of the standard library: what is compiled for AVX-512 must not reach a processor without it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sotto {

enum class Format : int { affine4, affine8, mxfp4, mxfp8, nvfp4, bf16, f16, f32 };

// Element type of affine scales and biases; the other formats have one of their own.
enum class ScaleType : int { f32, bf16, f16 };

// A matrix of weights in row-major order. A weight is scale * q + bias (affine), scale * q (the others with scales), or
// itself. Rows follow each other without gaps.
struct Matrix {
  Format format = Format::f32;
  ScaleType scale_type = ScaleType::f32;
  ptrdiff_t rows = 0;
  ptrdiff_t columns = 0;
  int group = 0;                    // columns that share a scale; 0 without scales
  const uint8_t* weights = nullptr;
  const uint8_t* scales = nullptr;
  const uint8_t* biases = nullptr;  // affine alone
  float factor = 1.0f;              // what each weight is multiplied by besides
};

// Rows of activations as `prepare` lays them out for a format and a level.
struct Activations {
  int rows = 0;
  const float* values = nullptr;  // [rows, width]
  ptrdiff_t width = 0;
  const float* sums = nullptr;    // [rows, sums_width]: of each group, zero beyond the last
  ptrdiff_t sums_width = 0;
};

struct RowKernels {
  // Values in a row of prepared activations and in a row of unpacked weights: at least the columns.
  ptrdiff_t (*width)(const Matrix& matrix);
  // Sums in a row of prepared activations; 0 where the format needs none.
  ptrdiff_t (*sums_width)(const Matrix& matrix);
  // Lay one row of activations out; without `sums` the sums are left out.
  void (*prepare)(const Matrix& matrix, const float* row, float* values, float* sums);
  // y[m * y_stride + n] = activations[m] . weights[n] for begin <= n < end. The order of the operations for one result
  // depends on nothing but the matrix: not on how many rows of either there are.
  void (*multiply)(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t begin,
                   ptrdiff_t end);
  // Write the weights of rows begin <= n < end as float32, `width` values a row, laid out as activations are.
  void (*unpack)(const Matrix& matrix, float* target, ptrdiff_t begin, ptrdiff_t end);
};

extern const RowKernels kRowsPortable;
#if defined(__x86_64__)
extern const RowKernels kRowsAvx2;
extern const RowKernels kRowsAvx512;
#endif

}  // namespace sotto
