#include "matmul/product.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "blas.h"
#include "cpu.h"
#include "floats.h"
#include "matmul/blocks.h"
#include "matmul/fixed_rows.h"
#include "matmul/many_rows.h"
#include "matmul/tiled_rows.h"
#include "thread_pool.h"

namespace sotto {

namespace {

// Measured: unpacking pays off from 12 to 16 rows. The longest round of proposed tokens, 17, must give the same bits as
// single steps.
constexpr int kFewRows = 17;
// Where any number of rows gives the same bits, packed weights are faster up to this many, as measured.
constexpr int kPackedRows = 4;

// The same for formats with blocks. Zen 4 multiplies by what it reads as fast as by a register, so that unpacking saves
// less there.
int packed_block_rows() {
#if defined(__x86_64__)
  static const bool is_zen4 = best_level() == Level::vnni && __builtin_cpu_is("amdfam19h");
  return is_zen4 ? 16 : 8;
#else
  return 8;
#endif
}

// Weights per task: enough to be worth another thread, few enough to distribute the work evenly.
constexpr std::ptrdiff_t kTaskWeights = 1 << 17;
// Weights unpacked at a time for BLAS; as float32 they fit into the L2 cache.
constexpr std::ptrdiff_t kTileWeights = 1 << 18;
constexpr std::ptrdiff_t kRowStep = 8;
// Tiles per thread, so that faster threads make up for slower ones. BLAS is slow on narrow tiles.
constexpr std::ptrdiff_t kTilesForThread = 2;
constexpr std::ptrdiff_t kLeastTileRows = 64;

std::atomic<int> few_rows_wanted{0};

const RowKernels& row_kernels() {
#if defined(__x86_64__)
  switch (level()) {
    case Level::amx:
    case Level::vnni:
    case Level::avx512:
      return kRowsAvx512;
    case Level::avx2:
      return kRowsAvx2;
    default:
      return kRowsSse2;
  }
#else
  return level() == Level::neon ? kRowsNeon : kRowsDotprod;
#endif
}

// Rows begin .. end of one product's matrix.
struct Task {
  std::size_t product;
  std::ptrdiff_t begin;
  std::ptrdiff_t end;
};

// With packed weights by the float32 kernels or by the integer ones, with unpacked weights by tiles, by the integer
// kernels, by the float32 kernels, or by BLAS.
enum class Way { few, packed, tiles, fixed, panels, blas };

// How one product is computed, and its activations in the layout for that.
struct Plan {
  Way way = Way::few;
  std::size_t like = 0;    // the first product with the same activations in the same layout, maybe this one
  std::size_t memory = 0;  // the offset of that layout in the shared buffer
  Activations x;
  const FixedKernels* fixed = nullptr;
  FixedRows digits;
  SplitRows split;
  Panels panels;
};

std::size_t round_to_line(std::size_t floats) { return (floats + 15) / 16 * 16; }

// Return whether two products use the same activations, laid out for the same format.
bool same_activations(const Product& one, const Product& other) {
  return one.x == other.x && one.rows == other.rows && one.matrix.columns == other.matrix.columns &&
         one.matrix.format == other.matrix.format && one.matrix.group == other.matrix.group;
}

std::ptrdiff_t rows_in(const Matrix& matrix, std::ptrdiff_t weights) {
  const std::ptrdiff_t rows = weights / std::max<std::ptrdiff_t>(1, matrix.columns);
  return std::max(kRowStep, rows / kRowStep * kRowStep);
}

// Panels of a task with packed weights.
std::ptrdiff_t panels_in_task(const FixedKernels& kernels, const Matrix& matrix) {
  const std::ptrdiff_t wanted = kTaskWeights / (matrix.columns * kPanelRows), together = kernels.together;
  return std::max(together, wanted / together * together);
}

// Rows to unpack at a time: as many as the cache holds, but fewer if threads would otherwise be idle.
std::ptrdiff_t rows_in_tile(const Matrix& matrix) {
  const std::ptrdiff_t shared = matrix.rows / (kTilesForThread * threads()) / kRowStep * kRowStep;
  return std::min(rows_in(matrix, kTileWeights), std::max(kLeastTileRows, shared));
}

// The thread's buffer, kept for its next tile.
float* scratch(std::size_t size) {
  thread_local FloatBuffer buffer;
  thread_local std::size_t capacity = 0;
  if (capacity < size) {
    buffer = FloatBuffer(size);
    capacity = size;
  }
  return buffer.get();
}

// What tests have set, or else the given number.
int wanted_or(int rows) {
  const int wanted = few_rows_wanted.load(std::memory_order_relaxed);
  return wanted > 0 ? wanted : rows;
}

void multiply_tile(const RowKernels& kernels, const Product& product, const Activations& x, std::ptrdiff_t begin,
                   std::ptrdiff_t end) {
  const Matrix& matrix = product.matrix;
  const float* weights;
  if (matrix.format == Format::f32) {
    weights = reinterpret_cast<const float*>(matrix.weights) + begin * matrix.columns;
  } else {
    float* unpacked = scratch((end - begin) * x.width);
    kernels.unpack(matrix, unpacked, begin, end);
    weights = unpacked;
  }
  sgemm(x.rows, end - begin, x.width, x.values, x.width, weights, x.width, product.y + begin, matrix.rows);
}

}  // namespace

void set_few_rows(int rows) { few_rows_wanted.store(rows); }

int few_rows() { return wanted_or(kFewRows); }

void multiply(const std::vector<Product>& products) {
  const RowKernels& kernels = row_kernels();
  const PanelKernels* panels = panel_kernels();
  std::vector<Plan> plans(products.size());
  std::size_t needed = 0;
  for (std::size_t index = 0; index < products.size(); ++index) {
    const Product& product = products[index];
    const Matrix& matrix = product.matrix;
    Plan& plan = plans[index];
    plan.fixed = fixed_kernels(matrix);
    const bool packed = plan.fixed != nullptr && plan.fixed->multiply_packed != nullptr;
    const bool fixed = plan.fixed != nullptr && plan.fixed->multiply != nullptr;
    const int most = !packed || !fixed         ? kFewRows
                     : is_block(matrix.format) ? packed_block_rows()
                                               : kPackedRows;
    const bool few = product.rows <= wanted_or(most);
    const bool tiled = product.rows > kFewRows && has_tiles(matrix);
    plan.way = few                 ? (packed ? Way::packed : Way::few)
               : tiled             ? Way::tiles
               : fixed             ? Way::fixed
               : panels != nullptr ? Way::panels
               : has_sgemm()       ? Way::blas
                                   : Way::few;
    if (const FixedKernels* tiles = plan.way == Way::fixed ? tile_kernels(matrix) : nullptr) {
      plan.fixed = tiles;
    }
    plan.x.rows = static_cast<int>(product.rows);
    plan.x.width = kernels.width(matrix);
    plan.x.sums_width = kernels.sums_width(matrix);
    plan.like = std::find_if(products.begin(), products.begin() + index,
                             [&](const Product& other) { return same_activations(product, other); }) -
                products.begin();
    plan.memory = needed;
    if (plan.like != index) {
      continue;
    }
    if (plan.way == Way::fixed || plan.way == Way::packed) {
      needed += round_to_line(fixed_size(*plan.fixed, matrix, product.rows));
    } else if (plan.way == Way::tiles) {
      needed += round_to_line(split_size(product.rows, matrix.columns));
    } else if (plan.way == Way::panels) {
      needed += round_to_line(panels_size(*panels, product.rows, plan.x.width));
    } else if (matrix.group != 0) {
      needed += round_to_line(product.rows * (plan.x.width + plan.x.sums_width));
    }
  }
  const FloatBuffer prepared(needed);
  std::vector<Task> tasks;
  for (std::size_t index = 0; index < products.size(); ++index) {
    const Product& product = products[index];
    const Matrix& matrix = product.matrix;
    Plan& plan = plans[index];
    Activations& x = plan.x;
    float* values = prepared.get() + plan.memory;
    if (plan.like != index) {
      plan = plans[plan.like];
    } else if (plan.way == Way::fixed || plan.way == Way::packed) {
      plan.digits = lay_out(*plan.fixed, matrix, product.x, product.rows, values);
    } else if (plan.way == Way::tiles) {
      plan.split = split_rows(product.x, product.rows, matrix.columns, values);
    } else if (plan.way == Way::panels) {
      plan.panels = lay_out(*panels, matrix, product.x, product.rows, x.width, values);
    } else if (matrix.group == 0) {
      x.values = product.x;
    } else {
      float* sums = values + x.rows * x.width;
      x.values = values;
      x.sums = sums;
      parallel_for(x.rows, std::max<std::ptrdiff_t>(1, kTaskWeights / 8 / std::max<std::ptrdiff_t>(1, matrix.columns)),
                   [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                     for (std::ptrdiff_t row = begin; row < end; ++row) {
                       kernels.prepare(matrix, product.x + row * matrix.columns, values + row * x.width,
                                       plan.way == Way::few ? sums + row * x.sums_width : nullptr);
                     }
                   });
    }
    const std::ptrdiff_t step = plan.way == Way::few      ? rows_in(matrix, kTaskWeights)
                                : plan.way == Way::packed ? panels_in_task(*plan.fixed, matrix) * kPanelRows
                                : plan.way == Way::tiles  ? rows_in_tiled_task(matrix)
                                : plan.way == Way::fixed  ? plan.fixed->width
                                : plan.way == Way::panels ? rows_in_panel_task(*panels, matrix)
                                                          : rows_in_tile(matrix);
    for (std::ptrdiff_t begin = 0; begin < matrix.rows && product.rows > 0; begin += step) {
      tasks.push_back({index, begin, std::min(matrix.rows, begin + step)});
    }
  }
  // Runs, not single tasks as threads become free: prefetches past the end of a task then fetch the thread's next one.
  parallel_runs(static_cast<std::ptrdiff_t>(tasks.size()), [&](std::ptrdiff_t at) {
    const Task& task = tasks[at];
    const Product& product = products[task.product];
    const Plan& plan = plans[task.product];
    switch (plan.way) {
      case Way::few:
        kernels.multiply(product.matrix, plan.x, product.y, product.matrix.rows, task.begin, task.end);
        break;
      case Way::packed:
        plan.fixed->multiply_packed(product.matrix, plan.digits, product.rows, product.y, product.matrix.rows,
                                    task.begin, task.end);
        break;
      case Way::tiles:
        multiply_tiled(product.matrix, plan.split, product.y, task.begin, task.end);
        break;
      case Way::fixed:
        multiply_fixed(*plan.fixed, product.matrix, plan.digits, product.rows, product.y, task.begin, task.end);
        break;
      case Way::panels:
        multiply_panels(*panels, kernels, product.matrix, plan.panels, product.y, task.begin, task.end);
        break;
      case Way::blas:
        multiply_tile(kernels, product, plan.x, task.begin, task.end);
        break;
    }
  });
}

}  // namespace sotto
