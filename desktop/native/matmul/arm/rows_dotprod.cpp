// The kernels of rows.h for processors that multiply signed bytes: affine and mxfp4 weights with activations as
// integers, see digits.h. Weights of other formats are multiplied as float32.
//
// Prepared activations are the digits of all runs, in the place of the values; in that of the sums there are those of
// each group, padded with zeros, and then the scales of the runs.
#include "matmul/arm/digits.h"

namespace sotto {

namespace {

constexpr int kGroups = 4;  // scales of weights that are converted at a time
constexpr int kRows = 4;    // rows of weights multiplied at a time

ptrdiff_t padded_groups(const Matrix& matrix) { return round_up(matrix.columns / matrix.group, kGroups); }

ptrdiff_t width_of(const Matrix& matrix) { return kRowsNeon.width(matrix); }

ptrdiff_t sums_width_of(const Matrix& matrix) {
  const ptrdiff_t run = run_of(matrix);
  return run == 0 ? kRowsNeon.sums_width(matrix) : padded_groups(matrix) + matrix.columns / run;
}

void prepare_row(const Matrix& matrix, const float* row, float* values, float* sums) {
  const ptrdiff_t run = run_of(matrix);
  if (run == 0) {
    return kRowsNeon.prepare(matrix, row, values, sums);
  }
  const auto prepare_one = is_nibble(matrix.format) ? prepare_run<true> : prepare_run<false>;
  int8_t* digits = reinterpret_cast<int8_t*>(values);
  float* scales = sums + padded_groups(matrix);
  for (float* sum = sums; sum < scales; ++sum) {
    *sum = 0.0f;
  }
  for (ptrdiff_t column = 0; column < matrix.columns; column += run) {
    float sum;
    prepare_one(run, row + column, digits + column * kFixedDigits, scales++, &sum);
    sums[column / matrix.group] += sum;
  }
}

// Multiply rows n .. n + N of the weights by rows m .. m + M of the activations, in runs of V vectors.
template <Format format, int V, int M, int N>
void tile(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t m, ptrdiff_t n) {
  constexpr ptrdiff_t kRun = 16 * V;
  const ptrdiff_t groups = matrix.columns / matrix.group, runs_in_group = matrix.group / kRun;
  const ptrdiff_t row_bytes = matrix.columns / kBlock * block_bytes(format);
  const ptrdiff_t ahead = distance_ahead(N, row_bytes);
  const uint8_t* weights = matrix.weights + n * row_bytes;
  const int8_t* digits = reinterpret_cast<const int8_t*>(x.values + m * x.width);
  const ptrdiff_t stride = x.width * static_cast<ptrdiff_t>(sizeof(float));
  const float* sums = x.sums + m * x.sums_width;
  const float* own_scales = sums + padded_groups(matrix);
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
      const float32x4_t four = load_code_scales<format>(matrix, at, count);
      vst1q_f32(scales[r], four);
      if constexpr (is_affine(format)) {
        const float32x4_t biases = load_biases<format>(matrix, four, at, count);
        for (int k = 0; k < M; ++k) {
          total[r][k] = vfmaq_f32(total[r][k], biases, vld1q_f32(sums + k * x.sums_width + first));
        }
      }
    }
    for (ptrdiff_t index = 0; index < count * runs_in_group; ++index) {
      const ptrdiff_t group = runs_in_group == 1 ? index : index / 2;
      int8x16_t codes[N][V];
      for (int r = 0; r < N; ++r) {
        __builtin_prefetch(weights + r * row_bytes + ahead);
#pragma GCC unroll 2
        for (int block = 0; block < V / 2; ++block) {
          int8x16_t two[2];
          unpack_codes<format>(weights + r * row_bytes + block * block_bytes(format), two);
          codes[r][2 * block] = two[0];
          codes[r][2 * block + 1] = two[1];
        }
      }
#pragma GCC unroll 4
      for (int k = 0; k < M; ++k) {
        int32x4_t sum[N];
        float32x4_t top[N];
#pragma GCC unroll 3
        for (int place = 0; place < kFixedDigits; ++place) {
#pragma GCC unroll 4
          for (int v = 0; v < V; ++v) {
            const int8x16_t own = vld1q_s8(digits + k * stride + place * kRun + 16 * v);
#pragma GCC unroll 4
            for (int r = 0; r < N; ++r) {
              sum[r] = vdotq_s32(place == 0 && v == 0 ? vdupq_n_s32(0) : sum[r], codes[r][v], own);
            }
          }
#pragma GCC unroll 4
          for (int r = 0; r < N; ++r) {
            if (place == 0 && !is_nibble(format)) {
              // With 8-bit codes, the products of all digits would not fit into 32 bits.
              top[r] = vcvtq_f32_s32(sum[r]);
              sum[r] = vdupq_n_s32(0);
            } else if (place + 1 < kFixedDigits) {
              sum[r] = vshlq_n_s32(sum[r], kDigitBits);
            }
          }
        }
        const float own_scale = own_scales[k * x.sums_width];
#pragma GCC unroll 4
        for (int r = 0; r < N; ++r) {
          float32x4_t value = vcvtq_f32_s32(sum[r]);
          if constexpr (!is_nibble(format)) {
            value = vfmaq_n_f32(value, top[r], 1 << (2 * kDigitBits));
          }
          total[r][k] = vfmaq_n_f32(total[r][k], value, scales[r][group] * own_scale);
        }
      }
      weights += V / 2 * block_bytes(format);
      digits += kFixedDigits * kRun;
      ++own_scales;
    }
  }
  for (int r = 0; r < N; ++r) {
    for (int k = 0; k < M; ++k) {
      y[(m + k) * y_stride + n + r] = vaddvq_f32(total[r][k]);
    }
  }
}

template <Format format, int V, int M>
void multiply_band(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t m,
                   ptrdiff_t begin, ptrdiff_t end) {
  ptrdiff_t n = begin;
  for (; n + kRows <= end; n += kRows) {
    tile<format, V, M, kRows>(matrix, x, y, y_stride, m, n);
  }
  for (; n < end; ++n) {
    tile<format, V, M, 1>(matrix, x, y, y_stride, m, n);
  }
}

template <Format format, int V>
void multiply_runs(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t begin,
                   ptrdiff_t end) {
  ptrdiff_t m = 0;
  for (; m + 4 <= x.rows; m += 4) {
    multiply_band<format, V, 4>(matrix, x, y, y_stride, m, begin, end);
  }
  switch (x.rows - m) {
    case 3:
      return multiply_band<format, V, 3>(matrix, x, y, y_stride, m, begin, end);
    case 2:
      return multiply_band<format, V, 2>(matrix, x, y, y_stride, m, begin, end);
    case 1:
      return multiply_band<format, V, 1>(matrix, x, y, y_stride, m, begin, end);
    default:
      return;
  }
}

void multiply_rows(const Matrix& matrix, const Activations& x, float* y, ptrdiff_t y_stride, ptrdiff_t begin,
                   ptrdiff_t end) {
  const bool is_short = run_of(matrix) == 32;
  switch (matrix.format) {
    case Format::affine4:
      return (is_short ? multiply_runs<Format::affine4, 2> : multiply_runs<Format::affine4, 4>)(matrix, x, y, y_stride,
                                                                                               begin, end);
    case Format::affine8:
      return (is_short ? multiply_runs<Format::affine8, 2> : multiply_runs<Format::affine8, 4>)(matrix, x, y, y_stride,
                                                                                               begin, end);
    case Format::mxfp4:
      return multiply_runs<Format::mxfp4, 2>(matrix, x, y, y_stride, begin, end);
    default:
      return kRowsNeon.multiply(matrix, x, y, y_stride, begin, end);
  }
}

void unpack_rows(const Matrix& matrix, float* target, ptrdiff_t begin, ptrdiff_t end) {
  kRowsNeon.unpack(matrix, target, begin, end);
}

}  // namespace

extern const RowKernels kRowsDotprod = {width_of, sums_width_of, prepare_row, multiply_rows, unpack_rows};

}  // namespace sotto
