#include "matmul/tiled_rows.h"

#include <algorithm>

#include "cpu.h"
#include "floats.h"
#include "matmul/fixed_rows.h"
#include "thread_pool.h"

namespace sotto {

#if defined(__x86_64__)

namespace {

// Fewer rows if threads would otherwise be idle, but not so few that activations are read too often.
constexpr std::ptrdiff_t kTasksForThread = 4;
// Groups of 16 rows of numbers worth another thread.
constexpr std::ptrdiff_t kTaskValues = 1 << 14;

std::ptrdiff_t round_up(std::ptrdiff_t value, std::ptrdiff_t step) { return (value + step - 1) / step * step; }

// Numbers of the parts of a row, in a group of 16, and of its sums.
std::ptrdiff_t split_width(std::ptrdiff_t columns) { return round_up(columns, kTileColumns) * kSplitParts; }
std::ptrdiff_t sums_width(std::ptrdiff_t columns) { return round_up(columns, kTileColumns) / kTileColumns; }

// The thread's memory for arranged weights, kept for its next task.
struct Arranged {
  TiledWeights weights;
  TiledCodes codes;
};

Arranged scratch() {
  constexpr std::size_t kValues = kMostTiledRows * kTiledColumns * kSplitParts / 2;
  constexpr std::size_t kScales = kTiledColumns / kTileColumns * 2 * kMostTiledRows;
  constexpr std::size_t kFactors = kTiledColumns / kChunkColumns * kMostTiledRows;
  constexpr std::size_t kParts = kMostTiledRows / kTiledRows * (kTiledColumns / kChunkColumns);
  thread_local FloatBuffer buffer;
  if (buffer.get() == nullptr) {
    buffer = FloatBuffer(kValues + kScales + kFactors + kParts);
  }
  std::uint16_t* values = reinterpret_cast<std::uint16_t*>(buffer.get());
  float* scales = buffer.get() + kValues;
  float* factors = scales + kScales;
  return {{values, reinterpret_cast<std::uint8_t*>(factors + kFactors), factors}, {values, scales}};
}

// Whether codes are multiplied, and scaled afterwards. Floating-point ones need not be: with their scales, which are
// powers of two, they are one part.
bool has_codes(const Matrix& matrix) {
  return is_block(matrix.format) && block_type(matrix.format).run == kTileColumns && !has_float_panels(matrix.format);
}

}  // namespace

std::ptrdiff_t split_size(std::ptrdiff_t rows, std::ptrdiff_t columns) {
  return round_up(rows, kTileHeight) * (split_width(columns) / 2 + sums_width(columns));
}

std::ptrdiff_t rows_in_tiled_task(const Matrix& matrix) {
  const std::ptrdiff_t shared = round_up(matrix.rows / (kTasksForThread * threads()), kCodeRows);
  return std::clamp(shared, kCodeRows, kMostTiledRows);
}

bool has_tiles(const Matrix& matrix) {
  const bool known = is_block(matrix.format) ? tile_kernels(matrix) == nullptr : matrix.group == 0;
  return level() == Level::amx && known;
}

SplitRows split_rows(const float* x, std::ptrdiff_t rows, std::ptrdiff_t columns, float* memory) {
  const std::ptrdiff_t groups = (rows + kTileHeight - 1) / kTileHeight;
  std::uint16_t* values = reinterpret_cast<std::uint16_t*>(memory);
  float* sums = memory + groups * kTileHeight * split_width(columns) / 2;
  parallel_for(groups, std::max<std::ptrdiff_t>(1, kTaskValues / (kTileHeight * columns)),
               [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                 for (std::ptrdiff_t row = begin * kTileHeight; row < end * kTileHeight; row += kTileHeight) {
                   split_rows_amx(x + row * columns, std::min(kTileHeight, rows - row), columns,
                                  values + row * split_width(columns), sums + row * sums_width(columns));
                 }
               });
  return {values, sums, rows, columns};
}

void multiply_tiled(const Matrix& matrix, const SplitRows& x, float* y, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const auto [weights, codes] = scratch();
  const std::ptrdiff_t width = split_width(x.columns);
  const bool coded = has_codes(matrix);
  for (std::ptrdiff_t column = 0; column < x.columns; column += kTiledColumns) {
    const std::ptrdiff_t columns = std::min(kTiledColumns, x.columns - column);
    if (coded) {
      arrange_codes_amx(matrix, begin, end, column, columns, codes);
    } else {
      (is_block(matrix.format) ? arrange_blocks_amx : arrange_amx)(matrix, begin, end, column, columns, weights);
    }
    const std::ptrdiff_t height = coded ? kTileHeight : kTiledRows;
    for (std::ptrdiff_t row = 0; row < x.rows; row += height) {
      const std::uint16_t* values = x.values + row * width + column * kSplitParts * kTileHeight;
      const std::ptrdiff_t rows = std::min(height, x.rows - row);
      float* to = y + row * matrix.rows + begin;
      if (coded) {
        const float* sums = x.sums + row * sums_width(x.columns) + column / kTileColumns * kTileHeight;
        multiply_codes_amx(values, sums, rows, codes, columns, to, matrix.rows, end - begin, column > 0);
      } else {
        multiply_tiles_amx(values, kTileHeight * width, rows, weights, columns, to, matrix.rows, end - begin,
                           column > 0);
      }
    }
  }
}

#else

bool has_tiles(const Matrix&) { return false; }

std::ptrdiff_t split_size(std::ptrdiff_t, std::ptrdiff_t) { return 0; }

SplitRows split_rows(const float*, std::ptrdiff_t, std::ptrdiff_t, float*) { return {}; }

std::ptrdiff_t rows_in_tiled_task(const Matrix& matrix) { return matrix.rows; }

void multiply_tiled(const Matrix&, const SplitRows&, float*, std::ptrdiff_t, std::ptrdiff_t) {}

#endif

}  // namespace sotto
