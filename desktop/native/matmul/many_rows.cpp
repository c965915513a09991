#include "matmul/many_rows.h"

#include <algorithm>

#include "cpu.h"
#include "floats.h"
#include "matmul/blocks.h"
#include "matmul/fixed_rows.h"
#include "thread_pool.h"

namespace sotto {

namespace {

// Fewer rows if threads would otherwise be idle, but not so few that the panels are read too often.
constexpr std::ptrdiff_t kLeastTaskRows = 32;
constexpr std::ptrdiff_t kTasksForThread = 4;
// Without it, rows that are whole pages apart would compete for the same few sets of the L1 cache.
constexpr std::ptrdiff_t kPadding = 16;

std::ptrdiff_t round_up(std::ptrdiff_t value, std::ptrdiff_t step) { return (value + step - 1) / step * step; }

// The division of the vectors of all rows into panels.
struct Division {
  std::ptrdiff_t vectors;
  std::ptrdiff_t panels;

  Division(const PanelKernels& kernels, std::ptrdiff_t rows)
      : vectors((rows + kernels.lanes - 1) / kernels.lanes),
        panels((vectors + kernels.vectors - 1) / kernels.vectors) {}

  // The first vector of a panel; for the end of the panels, the number of vectors.
  std::ptrdiff_t start(std::ptrdiff_t panel) const {
    return panel * (vectors / panels) + std::min(panel, vectors % panels);
  }
};

// The thread's memory for weights and sums, kept for its next task.
float* scratch(const PanelKernels& kernels, float** sums) {
  const std::size_t weights = kernels.task_rows * (kernels.part_columns + kPadding);
  thread_local FloatBuffer buffer;
  thread_local std::size_t capacity = 0;
  const std::size_t size = weights + kernels.task_rows * kernels.vectors * kernels.lanes;
  if (capacity < size) {
    buffer = FloatBuffer(size);
    capacity = size;
    std::fill_n(buffer.get(), size, 0.0f);
  }
  *sums = buffer.get() + weights;
  return buffer.get();
}

// Columns first .. first + count of a row, as a matrix.
Matrix part_of_row(const Matrix& matrix, std::ptrdiff_t row, std::ptrdiff_t first, std::ptrdiff_t count) {
  Matrix part = matrix;
  part.rows = 1;
  part.columns = count;
  part.weights += (row * matrix.columns + first) * bits_of(matrix.format) / 8;
  if (matrix.group != 0) {
    const std::ptrdiff_t scale = row * (matrix.columns / matrix.group) + first / matrix.group;
    const std::ptrdiff_t bytes = scale * scale_bytes(matrix);
    part.scales += bytes;
    part.biases += matrix.biases != nullptr ? bytes : 0;
  }
  return part;
}

}  // namespace

std::ptrdiff_t bits_of(Format format) {
  switch (format) {
    case Format::affine4:
    case Format::mxfp4:
    case Format::nvfp4:
      return 4;
    case Format::affine8:
    case Format::mxfp8:
      return 8;
    case Format::bf16:
    case Format::f16:
      return 16;
    case Format::f32:
      return 32;
    default:
      return block_type(format).bits;
  }
}

std::ptrdiff_t scale_bytes(const Matrix& matrix) {
  const bool affine = matrix.format == Format::affine4 || matrix.format == Format::affine8;
  return !affine ? 1 : matrix.scale_type == ScaleType::f32 ? 4 : 2;
}

const PanelKernels* panel_kernels() {
#if defined(__x86_64__)
  switch (level()) {
    case Level::amx:
    case Level::vnni:
    case Level::avx512:
      return &kPanelsAvx512;
    case Level::avx2:
      return &kPanelsAvx2;
    default:
      return nullptr;
  }
#else
  return &kPanelsNeon;
#endif
}

std::ptrdiff_t panels_size(const PanelKernels& kernels, std::ptrdiff_t rows, std::ptrdiff_t width) {
  return round_up(rows, kernels.lanes) * width;
}

Panels lay_out(const PanelKernels& kernels, const Matrix& matrix, const float* x, std::ptrdiff_t rows,
               std::ptrdiff_t width, float* values) {
  const Division division(kernels, rows);
  const std::ptrdiff_t lanes = kernels.lanes;
  parallel_for(division.panels, 1, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
    for (std::ptrdiff_t panel = first; panel < last; ++panel) {
      const std::ptrdiff_t start = division.start(panel), count = division.start(panel + 1) - start;
      for (std::ptrdiff_t vector = 0; vector < count; ++vector) {
        const std::ptrdiff_t row = (start + vector) * lanes;
        kernels.pack(matrix, x + row * matrix.columns, std::min(lanes, rows - row), width,
                     values + start * lanes * width + vector * lanes, count * lanes);
      }
    }
  });
  return {rows, width, values};
}

std::ptrdiff_t rows_in_panel_task(const PanelKernels& kernels, const Matrix& matrix) {
  const std::ptrdiff_t shared = round_up(matrix.rows / (kTasksForThread * threads()), kLeastTaskRows);
  return std::clamp(shared, kLeastTaskRows, kernels.task_rows);
}

void multiply_panels(const PanelKernels& kernels, const RowKernels& unpacking, const Matrix& matrix, const Panels& x,
                     float* y, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const Division division(kernels, x.rows);
  const std::ptrdiff_t lanes = kernels.lanes;
  PanelProduct product;
  float* weights = scratch(kernels, &product.sums);
  product.weights = weights;
  product.weight_stride = std::min(x.width, kernels.part_columns) + kPadding;
  product.rows = end - begin;
  product.y_stride = matrix.rows;
  const FixedKernels* blocks = is_block(matrix.format) ? fixed_kernels(matrix) : nullptr;
  for (std::ptrdiff_t column = 0; column < x.width; column += kernels.part_columns) {
    product.depth = std::min(kernels.part_columns, x.width - column);
    product.add = column > 0;
    const std::ptrdiff_t columns = std::min(kernels.part_columns, matrix.columns - column);
    if (blocks != nullptr) {
      blocks->unpack_floats(matrix, begin, end, column, columns, weights, product.weight_stride);
    }
    for (std::ptrdiff_t row = begin; row < end && blocks == nullptr; ++row) {
      const Matrix part = part_of_row(matrix, row, column, columns);
      unpacking.unpack(part, weights + (row - begin) * product.weight_stride, 0, 1);
    }
    for (std::ptrdiff_t panel = 0; panel < division.panels; ++panel) {
      const std::ptrdiff_t start = division.start(panel), count = division.start(panel + 1) - start;
      const std::ptrdiff_t row = start * lanes;
      product.y = y + row * matrix.rows + begin;
      kernels.multiply(product, x.values + row * x.width + column * count * lanes, static_cast<int>(count),
                       std::min(count * lanes, x.rows - row));
    }
  }
}

}  // namespace sotto
