#include "matmul/packing.h"

#include "cpu.h"
#include "matmul/blocks.h"

namespace sotto {

namespace {

constexpr std::pair<const char*, Format> kBlockModes[] = {{"q2_k", Format::q2_k},
                                                          {"q3_k", Format::q3_k},
                                                          {"q4_k", Format::q4_k},
                                                          {"q5_k", Format::q5_k},
                                                          {"q6_k", Format::q6_k},
                                                          {"iq4_xs", Format::iq4_xs},
                                                          {"iq4_nl", Format::iq4_nl},
                                                          {"q4_0", Format::q4_0},
                                                          {"q8_0", Format::q8_0},
                                                          {"affine4_panels32", Format::affine4_panels32},
                                                          {"affine4_panels64", Format::affine4_panels64},
                                                          {"affine8_panels32", Format::affine8_panels32},
                                                          {"affine8_panels64", Format::affine8_panels64},
                                                          {"mxfp4_panels", Format::mxfp4_panels},
                                                          {"nvfp4_panels", Format::nvfp4_panels}};

// Whether an array of this type can hold the scales of blocks. It tells apart formats with as many bits and scales.
bool is_block_scale_type(Format format, mx::Dtype type) {
  if (has_affine_panels(format)) {
    return type == mx::bfloat16 || type == mx::float16;
  }
  return type == (has_float_panels(format)     ? mx::uint8
                  : format == Format::iq4_nl   ? mx::int16
                  : has_small_blocks(format)   ? mx::int8
                                               : mx::uint16);
}

// Whether the level in use has kernels for blocks.
bool has_block_kernels() {
#if defined(__x86_64__)
  return level() >= Level::avx2;
#else
  return false;
#endif
}

}  // namespace

bool is_float(mx::Dtype type) { return type == mx::float32 || type == mx::bfloat16 || type == mx::float16; }

ScaleType scale_type(mx::Dtype type) {
  return type == mx::bfloat16 ? ScaleType::bf16 : type == mx::float16 ? ScaleType::f16 : ScaleType::f32;
}

std::optional<Packing> quantized(const std::string& mode, std::optional<int> group, std::optional<int> bits) {
  if (mode == "affine") {
    const Format format = bits.value_or(4) == 8 ? Format::affine8 : Format::affine4;
    const Packing found{format, group.value_or(64), bits.value_or(4)};
    const bool known = (found.bits == 4 || found.bits == 8) &&
                       (found.group == 32 || found.group == 64 || found.group == 128);
    return known ? std::optional(found) : std::nullopt;
  }
  const auto fits = [&](int own_group, int own_bits) {
    return group.value_or(own_group) == own_group && bits.value_or(own_bits) == own_bits;
  };
  if (mode == "mxfp4" && fits(32, 4)) {
    return Packing{Format::mxfp4, 32, 4};
  }
  if (mode == "mxfp8" && fits(32, 8)) {
    return Packing{Format::mxfp8, 32, 8};
  }
  if (mode == "nvfp4" && fits(16, 4)) {
    return Packing{Format::nvfp4, 16, 4};
  }
  for (const auto& [name, format] : kBlockModes) {
    const BlockType type = block_type(format);
    if (mode == name && has_block_kernels() && fits(type.run, type.bits)) {
      return Packing{format, type.run, type.bits};
    }
  }
  return std::nullopt;
}

std::optional<Packing> plain(mx::Dtype type) {
  if (type == mx::bfloat16) {
    return Packing{Format::bf16, 0, 0};
  }
  if (type == mx::float16) {
    return Packing{Format::f16, 0, 0};
  }
  if (type == mx::float32) {
    return Packing{Format::f32, 0, 0};
  }
  return std::nullopt;
}

bool consistent(const Packing& packing, const mx::array& w, const mx::array& scales,
                const std::optional<mx::array>& biases, int columns) {
  if (w.ndim() < 2 || w.dtype() != mx::uint32 || scales.ndim() != w.ndim() || columns <= 0) {
    return false;
  }
  const bool affine = packing.format == Format::affine4 || packing.format == Format::affine8;
  const bool block = is_block(packing.format);
  const bool scaled = affine  ? is_float(scales.dtype())
                      : block ? is_block_scale_type(packing.format, scales.dtype())
                              : scales.dtype() == mx::uint8;
  if (affine != biases.has_value() || !scaled) {
    return false;
  }
  if (affine && (biases->dtype() != scales.dtype() || biases->shape() != scales.shape())) {
    return false;
  }
  for (std::size_t axis = 0; axis + 1 < w.ndim(); ++axis) {
    if (w.shape(axis) != scales.shape(axis)) {
      return false;
    }
  }
  const int unit = block ? static_cast<int>(unit_columns(packing.format)) : packing.group;
  const int halves = block_type(packing.format).halves * unit / static_cast<int>(kBlockColumns);
  const int scales_in_unit = block ? halves * 2 / static_cast<int>(scales.itemsize()) : 1;
  return static_cast<std::int64_t>(w.shape(-1)) * 32 == static_cast<std::int64_t>(columns) * packing.bits &&
         columns % unit == 0 && scales.shape(-1) == columns / unit * scales_in_unit;
}

}  // namespace sotto
