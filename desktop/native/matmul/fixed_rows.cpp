#include "matmul/fixed_rows.h"

#include <algorithm>

#include "cpu.h"
#include "floats.h"
#include "matmul/blocks.h"
#include "matmul/many_rows.h"
#include "thread_pool.h"

namespace sotto {

namespace {

// Rows of activations that are multiplied between the prefetch of weights and their use; a multiple of what the kernels
// take at once.
constexpr std::ptrdiff_t kRowsAtOnce = 6;
constexpr std::ptrdiff_t kRowsAfterFetch = 10 * kRowsAtOnce;
constexpr std::ptrdiff_t kLine = 64;
// Without it, rows that are whole pages apart would compete for the same few sets of the L1 cache.
constexpr std::ptrdiff_t kPadding = kLine;
// Minimum number of activations worth another thread.
constexpr std::ptrdiff_t kTaskValues = 1 << 14;

std::ptrdiff_t round_to_line(std::ptrdiff_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

// Bytes of a row's digits in one part, and the number of parts. The digits of a part are kept together, row by row, as
// all of them are read for each block of weights.
std::ptrdiff_t stride_of(const Matrix& matrix) {
  return round_to_line(std::min(kFixedColumns, matrix.columns) * kFixedDigits) + kPadding;
}

std::ptrdiff_t parts_of(const Matrix& matrix) { return (matrix.columns + kFixedColumns - 1) / kFixedColumns; }

// The thread's memory for unpacked weights, kept for its next task.
FixedWeights scratch(const FixedKernels& kernels, std::ptrdiff_t run) {
  thread_local FloatBuffer buffer;
  thread_local std::size_t capacity = 0;
  const std::size_t codes = kernels.width * kFixedColumns / sizeof(float);
  const std::size_t size = codes + kFixedColumns / run * 2 * kernels.width;
  if (capacity < size) {
    buffer = FloatBuffer(size);
    capacity = size;
  }
  return {reinterpret_cast<std::uint8_t*>(buffer.get()), buffer.get() + codes};
}

// Prefetch packed weights that are needed next into the L2 cache: rows begin .. end, columns first .. first + count.
// They are not contiguous, so the hardware prefetcher would miss them; those of a panel of blocks are.
void fetch(const Matrix& matrix, std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t first, std::ptrdiff_t count) {
  const std::ptrdiff_t bits = bits_of(matrix.format), step = is_block(matrix.format) ? kPanelRows : 1;
  for (std::ptrdiff_t row = begin; row < end; row += step) {
    const std::ptrdiff_t rows = std::min(step, matrix.rows - row);
    const std::uint8_t* from = matrix.weights + (row * matrix.columns + first * rows) * bits / 8;
    for (std::ptrdiff_t byte = 0; byte < count * rows * bits / 8; byte += kLine) {
      __builtin_prefetch(from + byte, 0, 2);
    }
  }
}

}  // namespace

const FixedKernels* fixed_kernels(const Matrix& matrix) {
#if defined(__x86_64__)
  const FixedKernels* best = level() == Level::vnni ? &kFixedVnni : nullptr;
#else
  const FixedKernels* best = level() == Level::i8mm      ? &kFixedI8mm
                             : level() == Level::dotprod ? &kFixedDotprod
                                                         : nullptr;
#endif
  return best != nullptr && best->run(matrix) > 0 ? best : nullptr;
}

std::ptrdiff_t fixed_size(const FixedKernels& kernels, const Matrix& matrix, std::ptrdiff_t rows) {
  const std::ptrdiff_t runs = matrix.columns / kernels.run(matrix);
  const std::ptrdiff_t digits = parts_of(matrix) * stride_of(matrix) / static_cast<std::ptrdiff_t>(sizeof(float));
  return rows * (digits + 2 * runs);
}

FixedRows lay_out(const FixedKernels& kernels, const Matrix& matrix, const float* x, std::ptrdiff_t rows,
                  float* memory) {
  const std::ptrdiff_t runs = matrix.columns / kernels.run(matrix), stride = stride_of(matrix);
  std::int8_t* digits = reinterpret_cast<std::int8_t*>(memory);
  const std::ptrdiff_t parts = parts_of(matrix), at_once = kFixedColumns / kernels.run(matrix);
  float* scales = reinterpret_cast<float*>(digits + parts * rows * stride);
  float* sums = scales + rows * runs;
  parallel_for(rows, std::max<std::ptrdiff_t>(1, kTaskValues / matrix.columns),
               [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                 for (std::ptrdiff_t row = begin; row < end; ++row) {
                   for (std::ptrdiff_t part = 0; part < parts; ++part) {
                     const std::ptrdiff_t column = part * kFixedColumns, run = row * runs + part * at_once;
                     Matrix columns = matrix;
                     columns.columns = std::min(kFixedColumns, matrix.columns - column);
                     kernels.prepare(columns, x + row * matrix.columns + column, digits + (part * rows + row) * stride,
                                     scales + run, sums + run);
                   }
                 }
               });
  return {digits, stride, rows * stride, scales, sums, runs};
}

void multiply_fixed(const FixedKernels& kernels, const Matrix& matrix, const FixedRows& x, std::ptrdiff_t rows,
                    float* y, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const std::ptrdiff_t run = kernels.run(matrix), at_once = kFixedColumns / run;
  const FixedWeights weights = scratch(kernels, run);
  const std::int8_t* digits = x.digits;
  for (std::ptrdiff_t first = 0; first < x.runs; first += at_once, digits += x.part) {
    const std::ptrdiff_t runs = std::min(at_once, x.runs - first);
    kernels.unpack(matrix, begin, end, first, runs, weights);
    const auto multiply_some = [&](std::ptrdiff_t row, std::ptrdiff_t count) {
      FixedRows part = x;
      part.digits = digits + row * x.stride;
      part.scales += row * x.runs;
      part.sums += row * x.runs;
      kernels.multiply(matrix, part, count, first, runs, weights, y + row * matrix.rows + begin, matrix.rows,
                       end - begin, first > 0);
    };
    // Not earlier: the activations would evict the prefetched weights from the cache.
    const std::ptrdiff_t late = std::max<std::ptrdiff_t>(0, rows - kRowsAfterFetch) / kRowsAtOnce * kRowsAtOnce;
    multiply_some(0, late);
    if (first + runs < x.runs) {
      fetch(matrix, begin, end, (first + runs) * run, std::min(at_once, x.runs - first - runs) * run);
    } else {
      fetch(matrix, end, std::min(end + kernels.width, matrix.rows), 0, std::min(at_once, x.runs) * run);
    }
    multiply_some(late, rows - late);
  }
}

}  // namespace sotto
