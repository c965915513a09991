#include "matmul/block_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "matmul/blocks.h"
#include "matmul/embedding.h"
#include "matmul/packing.h"
#include "mlx/types/half_types.h"
#include "thread_pool.h"

namespace sotto {

namespace {

// Interleave `rows` rows of `count` numbers; `copy` has room for as many.
template <typename T>
void interleave(T* numbers, T* copy, std::ptrdiff_t rows, std::ptrdiff_t count) {
  std::memcpy(copy, numbers, rows * count * sizeof(T));
  for (std::ptrdiff_t index = 0; index < count; ++index) {
    for (std::ptrdiff_t row = 0; row < rows; ++row) {
      numbers[index * rows + row] = copy[row * count + index];
    }
  }
}

// Interleave each panel of `matrices` matrices, on all threads.
template <typename T>
void interleave_all(T* numbers, std::ptrdiff_t matrices, std::ptrdiff_t rows, std::ptrdiff_t count) {
  const std::ptrdiff_t panels = (rows + kPanelRows - 1) / kPanelRows;
  parallel_for(matrices * panels, std::max<std::ptrdiff_t>(1, (1 << 14) / (count * kPanelRows)),
               [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                 const std::unique_ptr<T[]> copy(new T[kPanelRows * count]);
                 for (std::ptrdiff_t panel = begin; panel < end; ++panel) {
                   const std::ptrdiff_t first = panel % panels * kPanelRows;
                   interleave(numbers + (panel / panels * rows + first) * count, copy.get(),
                              std::min(kPanelRows, rows - first), count);
                 }
               });
}

class Interleave : public mx::UnaryPrimitive {
 public:
  using mx::UnaryPrimitive::UnaryPrimitive;
  const char* name() const override { return "SottoInterleave"; }

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    const mx::array& stored = inputs[0];
    const bool own = stored.is_donatable() && is_row_major(stored) && stored.data_size() == stored.size();
    if (own) {
      out.copy_shared_buffer(stored);
    } else {
      out.set_data(mx::allocator::malloc(out.nbytes()));
    }
    if (out.size() == 0) {
      return;
    }
    mx::cpu::get_command_encoder(stream()).dispatch([from = mx::array::unsafe_weak_copy(stored),
                                                     result = mx::array::unsafe_weak_copy(out), own]() mutable {
      if (!own) {
        std::memcpy(result.data<std::uint8_t>(), Bytes(from).data<std::uint8_t>(), result.nbytes());
      }
      const std::ptrdiff_t rows = result.shape(-2), count = result.shape(-1);
      const std::ptrdiff_t matrices = result.size() / (rows * count);
      if (result.dtype() == mx::uint32) {
        interleave_all(result.data<std::uint32_t>(), matrices, rows, count);
      } else {
        // Scales are 16-bit halves, whatever type the array has to tell what they belong to.
        interleave_all(reinterpret_cast<std::uint16_t*>(result.data<std::uint8_t>()), matrices, rows,
                       count * static_cast<std::ptrdiff_t>(result.itemsize()) / 2);
      }
    });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw std::runtime_error("Sotto's native kernels run on the CPU alone.");
  }
};

// A block of one row as in the file, without the interleaving, or eight small ones, their scales apart.
struct RowBlock {
  alignas(4) std::uint8_t codes[kBlockColumns];
  std::uint8_t scales[2 * kPanelRows];

  float factor(int half) const {
    mx::float16_t found;
    std::memcpy(&found, scales + 2 * half, sizeof(found));
    return static_cast<float>(found);
  }
};

// The code (in the IQ4 types what it stands for, in Q8_0 a signed one), the integer scale and the integer offset of a
// column: a weight is factor * scale * (code - middle) or factor * scale * code - second factor * offset.
struct Column {
  int code;
  int scale;
  int offset;
};

Column column_of(Format format, const RowBlock& block, int column) {
  const std::uint8_t* codes = block.codes;
  const std::uint8_t* scales = block.scales;
  const int run = column / block_type(format).run;
  // In 32 or, for Q6_K, 64 bytes lie the columns of two or four groups of 32, each in other bits.
  const int half = column / 128, in_half = column % 128, group = in_half / 32, at = column % 32;
  if (format == Format::q4_k || format == Format::q5_k) {
    const std::uint8_t* packed = codes + (format == Format::q5_k ? 32 : 0) + column / 64 * 32;
    const int fifth = format == Format::q5_k ? codes[at] >> (column / 32) & 1 : 0;
    const std::uint8_t *first = scales + 4, *second = scales + 8, *third = scales + 12;
    const int i = run % 4;
    return {(packed[at] >> (column / 32 % 2 * 4) & 15) | fifth << 4,
            run < 4 ? first[i] & 63 : (third[i] & 15) | (first[i] >> 6) << 4,
            run < 4 ? second[i] & 63 : (third[i] >> 4) | (second[i] >> 6) << 4};
  }
  if (format == Format::iq4_xs || format == Format::iq4_nl) {
    const int value = kIq4Values[codes[16 * run + at % 16] >> (at / 16 * 4) & 15];
    const int lower = scales[4 + run / 2] >> (run % 2 * 4) & 15, upper = scales[2 + run / 4] >> (run % 4 * 2) & 3;
    return {value, format == Format::iq4_nl ? 1 : (lower | upper << 4) - 32, 0};
  }
  if (format == Format::q4_0) {
    return {codes[16 * run + at % 16] >> (at / 16 * 4) & 15, 1, 0};
  }
  if (format == Format::q8_0) {
    return {static_cast<std::int8_t>(codes[column]), 1, 0};
  }
  if (format == Format::q6_k) {
    const int low = codes[64 * half + in_half % 64] >> (in_half / 64 * 4) & 15;
    const int high = codes[128 + 32 * half + at] >> (2 * group) & 3;
    return {low | high << 4, static_cast<std::int8_t>(scales[run]), 0};
  }
  if (format == Format::q3_k) {
    const int low = codes[32 + 32 * half + at] >> (2 * group) & 3, high = codes[at] >> (column / 32) & 1;
    const int lower = scales[run % 8] >> (run / 8 * 4) & 15, upper = scales[8 + run % 4] >> (run / 4 * 2) & 3;
    return {low | high << 2, (lower | upper << 4) - 32, 0};
  }
  return {codes[32 * half + at] >> (2 * group) & 3, scales[run] & 15, scales[run] >> 4};
}

// Write the first `columns` weights of a block of MLX's types: taken out of its panel, it is a short row as MLX has them.
void look_up_mlx(const Matrix& matrix, const RowBlock& block, std::ptrdiff_t columns, float* to) {
  const BlockType type = block_type(matrix.format);
  const int runs = static_cast<int>(columns) / type.run;
  const bool affine = has_affine_panels(matrix.format);
  // First all scales, and then all biases.
  std::uint8_t apart[sizeof(block.scales)];
  for (int run = 0; affine && run < runs; ++run) {
    std::memcpy(apart + 2 * run, block.scales + 4 * run, 2);
    std::memcpy(apart + 2 * (runs + run), block.scales + 4 * run + 2, 2);
  }
  Matrix row;
  row.format = matrix.format == Format::mxfp4_panels   ? Format::mxfp4
               : matrix.format == Format::nvfp4_panels ? Format::nvfp4
               : type.bits == 8                        ? Format::affine8
                                                       : Format::affine4;
  row.scale_type = matrix.scale_type;
  row.rows = 1;
  row.columns = columns;
  row.group = type.run;
  row.weights = block.codes;
  row.scales = affine ? apart : block.scales;
  row.biases = apart + 2 * runs;
  look_up(row, 0, to);
}

}  // namespace

mx::array interleaved(const mx::array& stored, mx::Stream stream) {
  return mx::array(stored.shape(), stored.dtype(), std::make_shared<Interleave>(stream), {stored});
}

void look_up_block_row(const Matrix& matrix, std::ptrdiff_t row, float* to) {
  const Format format = matrix.format;
  const BlockType type = block_type(format);
  const BlockPanel panel = panel_at(matrix, row / kPanelRows * kPanelRows);
  const std::ptrdiff_t lane = row % kPanelRows;
  const bool offsets = format == Format::q2_k || format == Format::q4_k || format == Format::q5_k;
  const bool first = format == Format::q4_k || format == Format::q5_k || format == Format::iq4_xs;
  const int factor_at = first ? 0 : type.halves - (offsets ? 2 : 1);
  const int middle = format == Format::q6_k   ? 32
                     : format == Format::q3_k ? 4
                     : format == Format::q4_0 ? 8
                                              : 0;
  RowBlock block;
  const bool of_mlx = has_mlx_panels(format);
  const std::uint8_t *codes = panel.codes + 4 * lane, *scales = panel.scales + 2 * lane;
  for (std::ptrdiff_t begin = 0; begin < matrix.columns; begin += kBlockColumns) {
    const std::ptrdiff_t columns = std::min(kBlockColumns, matrix.columns - begin);
    for (std::ptrdiff_t word = 0; word < columns * type.bits / 32; ++word, codes += 4 * panel.rows) {
      std::memcpy(block.codes + 4 * word, codes, 4);
    }
    for (std::ptrdiff_t half = 0; half < columns * type.halves / kBlockColumns; ++half, scales += 2 * panel.rows) {
      std::memcpy(block.scales + 2 * half, scales, 2);
    }
    if (of_mlx) {
      look_up_mlx(matrix, block, columns, to);
      to += columns;
      continue;
    }
    const float second = offsets ? block.factor(factor_at + 1) : 0.0f;
    for (int column = 0; column < columns; ++column) {
      const float factor = block.factor(has_small_blocks(format) ? column / type.run : factor_at);
      const Column found = column_of(format, block, column);
      *to++ = factor * static_cast<float>(found.scale) * static_cast<float>(found.code - middle) -
              second * static_cast<float>(found.offset);
    }
  }
}

}  // namespace sotto
