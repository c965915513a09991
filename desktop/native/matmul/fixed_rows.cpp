#include "matmul/fixed_rows.h"

#include <algorithm>

#include "cpu.h"
#include "floats.h"
#include "matmul/blocks.h"
#include "matmul/many_rows.h"
#include "thread_pool.h"

namespace sotto {

namespace {

// Prefetches for a part of the weights, before what the kernels take at once: one large prefetch would occupy all of
// the core's outstanding loads. Not earlier: the activations would evict the weights from the cache.
constexpr std::ptrdiff_t kPrefetches = 10;
// With fewer pieces of so many rows, weights are prefetched while others are unpacked, which takes longer.
constexpr std::ptrdiff_t kManyPieces = 6;
constexpr std::ptrdiff_t kLine = 64;
// Without it, rows that are whole pages apart would compete for the same few sets of the L1 cache.
constexpr std::ptrdiff_t kPadding = kLine;
// Minimum number of activations worth another thread.
constexpr std::ptrdiff_t kTaskValues = 1 << 14;

std::ptrdiff_t round_up(std::ptrdiff_t value, std::ptrdiff_t step) { return (value + step - 1) / step * step; }

// Bytes of a row's digits in one part, and the number of parts. The digits of a part are kept together, row by row, as
// all of them are read for each block of weights.
std::ptrdiff_t stride_of(const Matrix& matrix) {
  const std::ptrdiff_t columns = (matrix.columns + kPaddedColumns - 1) / kPaddedColumns * kPaddedColumns;
  return round_up(std::min(kFixedColumns, columns) * kFixedDigits, kLine) + kPadding;
}

std::ptrdiff_t parts_of(const Matrix& matrix) { return (matrix.columns + kFixedColumns - 1) / kFixedColumns; }

// Rows whose digits lie together.
std::ptrdiff_t rows_together(const FixedKernels& kernels) { return kernels.tile_bytes != nullptr ? kTileHeight : 1; }

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

// A part of the weights that is needed next: columns first .. first + count of rows begin .. end.
struct NextPart {
  const Matrix& matrix;
  std::ptrdiff_t begin, end, first, count;
};

void fetch_bytes(const std::uint8_t* from, std::ptrdiff_t bytes) {
  for (std::ptrdiff_t byte = 0; byte < bytes; byte += kLine) {
    __builtin_prefetch(from + byte, 0, 2);
  }
}

// Prefetch one of kPrefetches shares of a part into the L2 cache. It is not contiguous, so the hardware's prefetcher
// would miss it.
void fetch(const NextPart& part, std::ptrdiff_t share) {
  const Matrix& matrix = part.matrix;
  const std::ptrdiff_t bits = bits_of(matrix.format), step = is_block(matrix.format) ? kPanelRows : 1;
  const std::ptrdiff_t rows = (part.end - part.begin + kPrefetches * step - 1) / (kPrefetches * step) * step;
  const std::ptrdiff_t begin = part.begin + share * rows, end = std::min(begin + rows, part.end);
  for (std::ptrdiff_t row = begin; row < end; row += step) {
    const std::ptrdiff_t height = std::min(step, matrix.rows - row);
    fetch_bytes(matrix.weights + (row * matrix.columns + part.first * height) * bits / 8,
                part.count * height * bits / 8);
    if (matrix.group != 0 && !is_block(matrix.format)) {
      const std::ptrdiff_t scale = (row * matrix.columns + part.first) / matrix.group;
      const std::ptrdiff_t bytes = scale_bytes(matrix), all = part.count / matrix.group * bytes;
      fetch_bytes(matrix.scales + scale * bytes, all);
      if (matrix.biases != nullptr) {
        fetch_bytes(matrix.biases + scale * bytes, all);
      }
    }
  }
}

}  // namespace

const FixedKernels* fixed_kernels(const Matrix& matrix) {
#if defined(__x86_64__)
  const FixedKernels* best = level() >= Level::vnni   ? &kFixedVnni
                             : level() >= Level::avx2 ? &kFixedAvx2
                                                      : nullptr;
#else
  const FixedKernels* best = level() == Level::i8mm      ? &kFixedI8mm
                             : level() == Level::dotprod ? &kFixedDotprod
                                                         : nullptr;
#endif
  return best != nullptr && best->run(matrix) > 0 ? best : nullptr;
}

const FixedKernels* tile_kernels([[maybe_unused]] const Matrix& matrix) {
#if defined(__x86_64__)
  if (level() == Level::amx && kFixedAmx.run(matrix) > 0) {
    return &kFixedAmx;
  }
#endif
  return nullptr;
}

std::ptrdiff_t fixed_size(const FixedKernels& kernels, const Matrix& matrix, std::ptrdiff_t rows) {
  const std::ptrdiff_t runs = matrix.columns / kernels.run(matrix);
  const std::ptrdiff_t bytes = parts_of(matrix) * stride_of(matrix);
  return round_up(rows, rows_together(kernels)) * (bytes / static_cast<std::ptrdiff_t>(sizeof(float)) + 2 * runs);
}

FixedRows lay_out(const FixedKernels& kernels, const Matrix& matrix, const float* x, std::ptrdiff_t rows,
                  float* memory) {
  const std::ptrdiff_t runs = matrix.columns / kernels.run(matrix), stride = stride_of(matrix);
  const std::ptrdiff_t parts = parts_of(matrix), at_once = kFixedColumns / kernels.run(matrix);
  const std::ptrdiff_t together = rows_together(kernels), all = round_up(rows, together);
  const std::ptrdiff_t own = together > 1 ? kernels.tile_bytes(matrix) : 0;
  std::int8_t* digits = reinterpret_cast<std::int8_t*>(memory);
  float* scales = reinterpret_cast<float*>(digits + parts * all * stride);
  float* sums = scales + all * runs;
  parallel_for(rows, std::max<std::ptrdiff_t>(1, kTaskValues / matrix.columns),
               [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                 for (std::ptrdiff_t row = begin; row < end; ++row) {
                   const std::ptrdiff_t place = row % together, first = row - place;
                   for (std::ptrdiff_t part = 0; part < parts; ++part) {
                     const std::ptrdiff_t column = part * kFixedColumns;
                     const std::ptrdiff_t run = first * runs + part * at_once * together + place;
                     Matrix columns = matrix;
                     columns.columns = std::min(kFixedColumns, matrix.columns - column);
                     kernels.prepare(columns, x + row * matrix.columns + column,
                                     digits + (part * all + first) * stride + place * own, scales + run, sums + run);
                   }
                 }
               });
  return {digits, stride, all * stride, scales, sums, runs};
}

void multiply_fixed(const FixedKernels& kernels, const Matrix& matrix, const FixedRows& x, std::ptrdiff_t rows,
                    float* y, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const std::ptrdiff_t run = kernels.run(matrix), at_once = kFixedColumns / run;
  const FixedWeights weights = scratch(kernels, run);
  const std::ptrdiff_t height = kernels.rows_at_once, pieces = (rows + height - 1) / height;
  const bool fetch_apart = pieces >= kManyPieces;
  const std::int8_t* digits = x.digits;
  for (std::ptrdiff_t first = 0; first < x.runs; first += at_once, digits += x.part) {
    const std::ptrdiff_t runs = std::min(at_once, x.runs - first);
    kernels.unpack(matrix, begin, end, first, runs, weights, !fetch_apart);
    const auto multiply_some = [&](std::ptrdiff_t row, std::ptrdiff_t count) {
      FixedRows part = rows_from(x, row);
      part.digits = digits + row * x.stride;
      kernels.multiply(matrix, part, count, first, runs, weights, y + row * matrix.rows + begin, matrix.rows,
                       end - begin, first > 0);
    };
    const bool last = first + runs >= x.runs;
    const NextPart next = {matrix, last ? end : begin, last ? std::min(end + kernels.width, matrix.rows) : end,
                           last ? 0 : (first + runs) * run,
                           std::min(at_once, last ? x.runs : x.runs - first - runs) * run};
    std::ptrdiff_t share = fetch_apart ? 0 : kPrefetches;
    for (std::ptrdiff_t piece = 0; piece < pieces; ++piece) {
      for (; share < kPrefetches - (pieces - 1 - piece) * kPrefetches / std::min(pieces, kPrefetches); ++share) {
        fetch(next, share);
      }
      multiply_some(piece * height, std::min(height, rows - piece * height));
    }
  }
}

}  // namespace sotto
