// The kernels of rows.h for NEON, which every 64-bit ARM processor has, in float32.
//
// Activations and unpacked weights stay in their order. Each lane accumulates its own part of a dot product: 16 columns
// at a time, with the scales applied to the sums of groups.
#include "matmul/arm/neon.h"

namespace sotto {
namespace {

constexpr int kStep = 16;   // columns at a time
constexpr int kGroups = 4;  // scales that are converted at a time

template <Format format>
constexpr ptrdiff_t kStepBytes = is_nibble(format)                                   ? kStep / 2
                                 : format == Format::affine8 || format == Format::mxfp8 ? kStep
                                 : format == Format::f32                             ? kStep * 4
                                                                                     : kStep * 2;

ptrdiff_t width_of(const Matrix& matrix) { return matrix.columns; }

ptrdiff_t sums_width_of(const Matrix& matrix) {
  return is_affine(matrix.format) ? round_up(matrix.columns / matrix.group, kGroups) : 0;
}

void prepare_row(const Matrix& matrix, const float* row, float* values, float* sums) {
  __builtin_memcpy(values, row, matrix.columns * sizeof(float));
  if (sums == nullptr || !is_affine(matrix.format)) {
    return;
  }
  const ptrdiff_t groups = matrix.columns / matrix.group;
  for (ptrdiff_t group = 0; group < round_up(groups, kGroups); ++group) {
    float32x4_t sum = vdupq_n_f32(0);
    for (int column = 0; group < groups && column < matrix.group; column += 4) {
      sum = vaddq_f32(sum, vld1q_f32(row + group * matrix.group + column));
    }
    sums[group] = vaddvq_f32(sum);
  }
}

// Multiply rows n .. n + N of packed weights with scales by rows m .. m + M of the activations.
template <Format format, int M, int N>
void packed_tile(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t m, ptrdiff_t n) {
  const ptrdiff_t groups = matrix.columns / matrix.group;
  const ptrdiff_t row_bytes = matrix.columns / kStep * kStepBytes<format>;
  const ptrdiff_t ahead = distance_ahead(N, row_bytes);
  const uint8_t* weights = matrix.weights + n * row_bytes;
  const float* values = x.values + m * x.width;
  float32x4_t total[N][M];
  for (int r = 0; r < N; ++r) {
    for (int k = 0; k < M; ++k) {
      total[r][k] = vdupq_n_f32(0);
    }
  }
  for (ptrdiff_t first = 0; first < groups; first += kGroups) {
    const ptrdiff_t count = smaller(kGroups, groups - first);
    float scales[N][kGroups];
    for (int r = 0; r < N; ++r) {
      const ptrdiff_t at = (n + r) * groups + first;
      const float32x4_t four = load_scales<format>(matrix, at, count);
      vst1q_f32(scales[r], four);
      if constexpr (is_affine(format)) {
        const float32x4_t biases = load_biases<format>(matrix, four, at, count);
        for (int k = 0; k < M; ++k) {
          total[r][k] = vfmaq_f32(total[r][k], biases, vld1q_f32(x.sums + (m + k) * x.sums_width + first));
        }
      }
    }
    for (ptrdiff_t group = 0; group < count; ++group) {
      float32x4_t part[N][M];
      for (int r = 0; r < N; ++r) {
        __builtin_prefetch(weights + r * row_bytes + ahead);
        for (int k = 0; k < M; ++k) {
          part[r][k] = vdupq_n_f32(0);
        }
      }
      for (int column = 0; column < matrix.group; column += kStep) {
        float32x4_t q[N][4];
        for (int r = 0; r < N; ++r) {
          unpack_sixteen<format>(weights + r * row_bytes, q[r]);
        }
        weights += kStepBytes<format>;
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          for (int k = 0; k < M; ++k) {
            const float32x4_t activations = vld1q_f32(values + k * x.width + 4 * i);
            for (int r = 0; r < N; ++r) {
              part[r][k] = vfmaq_f32(part[r][k], q[r][i], activations);
            }
          }
        }
        values += kStep;
      }
      for (int r = 0; r < N; ++r) {
        for (int k = 0; k < M; ++k) {
          total[r][k] = vfmaq_n_f32(total[r][k], part[r][k], scales[r][group]);
        }
      }
    }
  }
  for (int r = 0; r < N; ++r) {
    for (int k = 0; k < M; ++k) {
      y[(m + k) * y_stride + n + r] = vaddvq_f32(total[r][k]);
    }
  }
}

// Add the products of kStep columns to two sums for each result, so that additions wait less for each other. Without
// these pragmas, GCC 12 keeps the sums in memory.
template <Format format, int M, int N>
[[gnu::always_inline]] inline void add_dense(const uint8_t* weights, ptrdiff_t stride, const float* values,
                                             ptrdiff_t width, float32x4_t (&even)[N][M], float32x4_t (&odd)[N][M]) {
  float32x4_t q[N][4];
#pragma GCC unroll 4
  for (int r = 0; r < N; ++r) {
    unpack_sixteen<format>(weights + r * stride, q[r]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 4; i += 2) {
#pragma GCC unroll 4
    for (int k = 0; k < M; ++k) {
      const float32x4_t first = vld1q_f32(values + k * width + 4 * i);
      const float32x4_t second = vld1q_f32(values + k * width + 4 * i + 4);
#pragma GCC unroll 4
      for (int r = 0; r < N; ++r) {
        even[r][k] = vfmaq_f32(even[r][k], q[r][i], first);
        odd[r][k] = vfmaq_f32(odd[r][k], q[r][i + 1], second);
      }
    }
  }
}

// The same for unquantized weights.
template <Format format, int M, int N>
void dense_tile(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t m, ptrdiff_t n) {
  constexpr ptrdiff_t kBytes = kStepBytes<format> / kStep;
  const ptrdiff_t columns = matrix.columns, row_bytes = columns * kBytes;
  const ptrdiff_t ahead = distance_ahead(N, row_bytes);
  const uint8_t* weights = matrix.weights + n * row_bytes;
  const float* values = x.values + m * x.width;
  float32x4_t even[N][M], odd[N][M];
#pragma GCC unroll 4
  for (int r = 0; r < N; ++r) {
#pragma GCC unroll 4
    for (int k = 0; k < M; ++k) {
      even[r][k] = odd[r][k] = vdupq_n_f32(0);
    }
  }
  ptrdiff_t column = 0;
  for (; column + kStep <= columns; column += kStep) {
#pragma GCC unroll 4
    for (int r = 0; r < N; ++r) {
      __builtin_prefetch(weights + column * kBytes + r * row_bytes + ahead);
    }
    add_dense<format>(weights + column * kBytes, row_bytes, values + column, x.width, even, odd);
  }
  if (const ptrdiff_t left = columns - column; left > 0) {
    uint8_t last[N][kStepBytes<format>] = {};
    float last_values[M][kStep] = {};
#pragma GCC unroll 4
    for (int r = 0; r < N; ++r) {
      __builtin_memcpy(last[r], weights + column * kBytes + r * row_bytes, left * kBytes);
    }
#pragma GCC unroll 4
    for (int k = 0; k < M; ++k) {
      __builtin_memcpy(last_values[k], values + k * x.width + column, left * sizeof(float));
    }
    add_dense<format>(last[0], kStepBytes<format>, last_values[0], kStep, even, odd);
  }
#pragma GCC unroll 4
  for (int r = 0; r < N; ++r) {
#pragma GCC unroll 4
    for (int k = 0; k < M; ++k) {
      y[(m + k) * y_stride + n + r] = vaddvq_f32(vaddq_f32(even[r][k], odd[r][k]));
    }
  }
}

// Multiply rows begin .. end of the weights by rows m .. m + M of the activations, which stay in the L1 cache.
template <Format format, int M, int N>
void multiply_band(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t m,
                   ptrdiff_t begin, ptrdiff_t end) {
  constexpr bool kDense = format == Format::bf16 || format == Format::f16 || format == Format::f32;
  constexpr auto many = kDense ? dense_tile<format, M, N> : packed_tile<format, M, N>;
  constexpr auto one = kDense ? dense_tile<format, M, 1> : packed_tile<format, M, 1>;
  ptrdiff_t n = begin;
  for (; n + N <= end; n += N) {
    many(matrix, x, y, y_stride, m, n);
  }
  for (; n < end; ++n) {
    one(matrix, x, y, y_stride, m, n);
  }
}

template <Format format>
void multiply_format(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t begin,
                     ptrdiff_t end) {
  // Each tile has about as many accumulators as there are registers for.
  ptrdiff_t m = 0;
  for (; m + 4 <= x.rows; m += 4) {
    multiply_band<format, 4, 2>(matrix, x, y, y_stride, m, begin, end);
  }
  switch (x.rows - m) {
    case 3:
      return multiply_band<format, 3, 2>(matrix, x, y, y_stride, m, begin, end);
    case 2:
      return multiply_band<format, 2, 4>(matrix, x, y, y_stride, m, begin, end);
    case 1:
      return multiply_band<format, 1, 4>(matrix, x, y, y_stride, m, begin, end);
    default:
      return;
  }
}

using Multiply = void (*)(const Matrix&, const Activations&, float*, ptrdiff_t, ptrdiff_t, ptrdiff_t);
// In the order of Format.
constexpr Multiply kMultiply[] = {
    multiply_format<Format::affine4>, multiply_format<Format::affine8>, multiply_format<Format::mxfp4>,
    multiply_format<Format::mxfp8>,   multiply_format<Format::nvfp4>,   multiply_format<Format::bf16>,
    multiply_format<Format::f16>,     multiply_format<Format::f32>,
};

void multiply_rows(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t begin,
                   ptrdiff_t end) {
  kMultiply[static_cast<int>(matrix.format)](matrix, x, y, y_stride, begin, end);
}

template <Format format>
void unpack_packed(const Matrix& matrix, float* target, ptrdiff_t row) {
  const ptrdiff_t groups = matrix.columns / matrix.group;
  const uint8_t* weights = matrix.weights + row * (matrix.columns / kStep * kStepBytes<format>);
  for (ptrdiff_t group = 0; group < groups; ++group) {
    const float32x4_t scales = load_scales<format>(matrix, row * groups + group, 1);
    float32x4_t biases = vdupq_n_f32(0);
    if constexpr (is_affine(format)) {
      biases = load_biases<format>(matrix, scales, row * groups + group, 1);
    }
    const float32x4_t scale = vdupq_laneq_f32(scales, 0), bias = vdupq_laneq_f32(biases, 0);
    for (int column = 0; column < matrix.group; column += kStep) {
      float32x4_t q[4];
      unpack_sixteen<format>(weights, q);
      weights += kStepBytes<format>;
      for (int i = 0; i < 4; ++i) {
        vst1q_f32(target + 4 * i, vfmaq_f32(bias, scale, q[i]));
      }
      target += kStep;
    }
  }
}

template <Format format>
void unpack_dense(const Matrix& matrix, float* target, ptrdiff_t row) {
  constexpr ptrdiff_t kBytes = kStepBytes<format> / kStep;
  const uint8_t* weights = matrix.weights + row * matrix.columns * kBytes;
  for (ptrdiff_t column = 0; column < matrix.columns; column += kStep) {
    const ptrdiff_t count = smaller(kStep, matrix.columns - column);
    uint8_t from[kStepBytes<format>] = {};
    __builtin_memcpy(from, weights + column * kBytes, count * kBytes);
    float32x4_t q[4];
    unpack_sixteen<format>(from, q);
    __builtin_memcpy(target + column, q, count * sizeof(float));
  }
}

using Unpack = void (*)(const Matrix&, float*, ptrdiff_t);
constexpr Unpack kUnpack[] = {
    unpack_packed<Format::affine4>, unpack_packed<Format::affine8>, unpack_packed<Format::mxfp4>,
    unpack_packed<Format::mxfp8>,   unpack_packed<Format::nvfp4>,   unpack_dense<Format::bf16>,
    unpack_dense<Format::f16>,      unpack_dense<Format::f32>,
};

void unpack_rows(const Matrix& matrix, float* target, ptrdiff_t begin, ptrdiff_t end) {
  for (ptrdiff_t row = begin; row < end; ++row) {
    kUnpack[static_cast<int>(matrix.format)](matrix, target + (row - begin) * matrix.columns, row);
  }
}

}  // namespace

extern const RowKernels kRowsNeon = {width_of, sums_width_of, prepare_row, multiply_rows, unpack_rows};

}  // namespace sotto
