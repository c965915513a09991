// Products with the super-blocks of GGUF's K types and of IQ4_XS, which keep the bits that they have in the file. So
// do IQ4_NL, Q4_0 and Q8_0, where eight blocks of 32 columns, each with a float16 scale, count as one.
//
// A row of weights consists of blocks of 256 columns, each with codes of a few bits, an integer scale (and for some
// types an integer offset) for each run of 16 or 32 columns, and one or two float16 factors of these. Codes are kept in
// one array and everything else in another. In both, 16 rows lie interleaved as a panel: the first 32-bit word of codes
// of each row, then the second one of each; and likewise the 16-bit halves of the scales. A vector then holds the same
// columns of 16 rows, and a product needs no sums across its lanes. The last panel of a matrix may have fewer rows.
//
// MLX's affine types, MXFP4 and NVFP4 can be arranged like that, too, with the bias of each group after its scale. The last
// block of a row may have fewer columns in these types and in those of small blocks, a multiple of 64.
//
// This header uses nothing of the C++ standard library, for the same reason as rows.h.
#pragma once

#include "matmul/fixed.h"

namespace sotto {

constexpr ptrdiff_t kPanelRows = 16;
constexpr ptrdiff_t kBlockColumns = 256;

// Whether each 32 columns have a float16 scale in the file, and nothing else.
constexpr bool has_small_blocks(Format format) {
  return format == Format::iq4_nl || format == Format::q4_0 || format == Format::q8_0;
}

constexpr bool has_affine_panels(Format format) {
  return format == Format::affine4_panels32 || format == Format::affine4_panels64 ||
         format == Format::affine8_panels32 || format == Format::affine8_panels64;
}

// Whether codes are 4-bit floating-point numbers, and each run has a scale of one byte.
constexpr bool has_float_panels(Format format) {
  return format == Format::mxfp4_panels || format == Format::nvfp4_panels;
}

// Whether a word has the codes of eight neighbouring columns.
constexpr bool has_nibble_panels(Format format) {
  return format == Format::affine4_panels32 || format == Format::affine4_panels64 || has_float_panels(format);
}

constexpr bool has_mlx_panels(Format format) { return has_affine_panels(format) || has_float_panels(format); }

// Whether the last block of a row may have fewer columns.
constexpr bool may_end_early(Format format) { return has_small_blocks(format) || has_mlx_panels(format); }

// Rows have a multiple of so many columns.
constexpr ptrdiff_t unit_columns(Format format) { return may_end_early(format) ? 64 : kBlockColumns; }

constexpr bool is_block(Format format) {
  return format == Format::q2_k || format == Format::q3_k || format == Format::q4_k || format == Format::q5_k ||
         format == Format::q6_k || format == Format::iq4_xs || has_small_blocks(format) || has_mlx_panels(format);
}

// What one block of a row holds.
struct BlockType {
  int bits;    // of a code
  int run;     // columns that share a scale
  int halves;  // 16-bit halves of scales and factors
};

constexpr BlockType block_type(Format format) {
  switch (format) {
    case Format::q2_k:
      return {2, 16, 10};
    case Format::q3_k:
      return {3, 16, 7};
    case Format::q4_k:
      return {4, 32, 8};
    case Format::q5_k:
      return {5, 32, 8};
    case Format::q6_k:
      return {6, 16, 9};
    case Format::iq4_xs:
      return {4, 32, 4};
    case Format::iq4_nl:
    case Format::q4_0:
      return {4, 32, 8};
    case Format::q8_0:
      return {8, 32, 8};
    case Format::affine4_panels32:
      return {4, 32, 16};
    case Format::affine4_panels64:
      return {4, 64, 8};
    case Format::affine8_panels32:
      return {8, 32, 16};
    case Format::affine8_panels64:
      return {8, 64, 8};
    case Format::mxfp4_panels:
      return {4, 32, 4};
    case Format::nvfp4_panels:
      return {4, 16, 8};
    default:
      return {};
  }
}

// The run of a block whose codes are unpacked as number `place`. Those of places 2k and 2k + 1 are the lower and the
// higher bits of the same words.
constexpr int run_at(Format format, int place) {
  const int pair = place / 2, side = place % 2, half = pair / 4 * 8;
  switch (format) {
    case Format::q6_k:
      // Words have 16 columns in their lower bits, and those that are 64 further on in the others.
      return half + pair % 4 + 4 * side;
    case Format::q2_k:
    case Format::q3_k:
      // Neighbouring bits of a word belong to columns that are 32 apart.
      return half + pair % 4 / 2 * 4 + pair % 2 + 2 * side;
    default:
      return place;
  }
}

// The weights that the codes of the IQ4 types stand for, before they are scaled.
constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// Up to 16 interleaved rows.
struct BlockPanel {
  const uint8_t* codes;
  const uint8_t* scales;
  ptrdiff_t rows;
};

// The panel that begins with row `begin`, a multiple of 16.
inline BlockPanel panel_at(const Matrix& matrix, ptrdiff_t begin) {
  const BlockType type = block_type(matrix.format);
  const ptrdiff_t row_scales = matrix.columns * type.halves * 2 / kBlockColumns, left = matrix.rows - begin;
  return {matrix.weights + begin * matrix.columns * type.bits / 8, matrix.scales + begin * row_scales,
          left < kPanelRows ? left : kPanelRows};
}

#if defined(__x86_64__)
// Where the codes of `width` rows are written: those of each `block` rows, a multiple of kPanelRows, are interleaved and
// `block_bytes` apart.
struct UnpackedLayout {
  ptrdiff_t width;
  ptrdiff_t block;
  ptrdiff_t block_bytes;
};

// FixedKernels::unpack and FixedKernels::multiply_packed. Runs are in the order of `run_at`.
void unpack_blocks_vnni(const Matrix& matrix, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first_run, ptrdiff_t runs,
                        const FixedWeights& weights, const UnpackedLayout& layout, bool fetch);
void multiply_blocks_vnni(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride,
                          ptrdiff_t begin, ptrdiff_t end);
#endif

}  // namespace sotto
