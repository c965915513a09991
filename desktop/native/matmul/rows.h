// Products of a few rows of activations with the rows of a weight matrix, computed directly from the packed weights.
//
// The kernels exist once per instruction set. This header is all that their files share with others, so it uses nothing
// of the C++ standard library: an inline function compiled for AVX-512 could be linked into code for other processors.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sotto {

enum class Format : int {
  affine4,
  affine8,
  mxfp4,
  mxfp8,
  nvfp4,
  bf16,
  f16,
  f32,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_xs,
  iq4_nl,
  q4_0,
  q8_0,
  // MLX's types with rows interleaved, see blocks.h.
  affine4_panels32,
  affine4_panels64,
  affine8_panels32,
  affine8_panels64,
  mxfp4_panels,
  nvfp4_panels
};

// Element type of affine scales and biases; other formats have a fixed one.
enum class ScaleType : int { f32, bf16, f16 };

// A contiguous row-major matrix of weights. A weight is scale * q + bias (affine), scale * q (other formats with
// scales), or unquantized.
struct Matrix {
  Format format = Format::f32;
  ScaleType scale_type = ScaleType::f32;
  ptrdiff_t rows = 0;
  ptrdiff_t columns = 0;
  int group = 0;                    // columns that share a scale; 0 without scales
  const uint8_t* weights = nullptr;
  const uint8_t* scales = nullptr;
  const uint8_t* biases = nullptr;  // affine only
};

// Rows of activations as `prepare` lays them out for a format and a level.
struct Activations {
  int rows = 0;
  const float* values = nullptr;  // [rows, width]
  ptrdiff_t width = 0;
  const float* sums = nullptr;    // [rows, sums_width]: one per group, padded with zeros
  ptrdiff_t sums_width = 0;
};

struct RowKernels {
  // Values per row of prepared activations and per row of unpacked weights; at least `columns`.
  ptrdiff_t (*width)(const Matrix& matrix);
  // Sums per row of prepared activations; 0 if the format needs none.
  ptrdiff_t (*sums_width)(const Matrix& matrix);
  // Prepare one row of activations; if `sums` is null, no sums are computed.
  void (*prepare)(const Matrix& matrix, const float* row, float* values, float* sums);
  // y[m * y_stride + n] = activations[m] . weights[n] for begin <= n < end. The order of operations for a result
  // depends on the matrix alone, and not on the number of rows of either operand.
  void (*multiply)(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t begin,
                   ptrdiff_t end);
  // Write the weights of rows begin <= n < end as float32, `width` values per row, in the layout of activations.
  void (*unpack)(const Matrix& matrix, float* target, ptrdiff_t begin, ptrdiff_t end);
};

#if defined(__x86_64__)
extern const RowKernels kRowsSse2;
extern const RowKernels kRowsAvx2;
extern const RowKernels kRowsAvx512;
#elif defined(__aarch64__)
extern const RowKernels kRowsNeon;
extern const RowKernels kRowsDotprod;
#endif

}  // namespace sotto
