// Matrices of random weights in every format for checks.cpp, with their values in float64.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "matmul/fixed_rows.h"
#include "matmul/rows.h"

using sotto::Format;
using sotto::ScaleType;

// Memory that ends at a page which cannot be read or written, and begins with bytes that must not change.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes) {
    const std::size_t page = sysconf(_SC_PAGESIZE);
    whole_ = (bytes + kBefore + page - 1) / page * page;
    void* found = mmap(nullptr, whole_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start_ = static_cast<char*>(found);
    if (found == MAP_FAILED || mprotect(start_ + whole_, page, PROT_NONE) != 0) {
      std::perror("mmap");
      std::exit(2);
    }
    std::memset(start_, 0x5a, whole_ - bytes);
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() { munmap(start_, whole_ + sysconf(_SC_PAGESIZE)); }

  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(start_ + whole_ - bytes_);
  }
  bool intact() const {
    return std::all_of(start_, start_ + whole_ - bytes_, [](char byte) { return byte == 0x5a; });
  }

 private:
  static constexpr std::size_t kBefore = 64;
  std::size_t bytes_;
  std::size_t whole_;
  char* start_;
};

struct Form {
  const char* name;
  Format format;
  int group;
  int bits;
  ScaleType scales = ScaleType::f32;
};

constexpr Form kForms[] = {
    {"affine4/32", Format::affine4, 32, 4},
    {"affine4/64", Format::affine4, 64, 4, ScaleType::bf16},
    {"affine4/128", Format::affine4, 128, 4, ScaleType::f16},
    {"affine8/32", Format::affine8, 32, 8, ScaleType::bf16},
    {"affine8/64", Format::affine8, 64, 8, ScaleType::f16},
    {"affine8/128", Format::affine8, 128, 8},
    {"mxfp4", Format::mxfp4, 32, 4},
    {"mxfp8", Format::mxfp8, 32, 8},
    {"nvfp4", Format::nvfp4, 16, 4},
    {"bf16", Format::bf16, 0, 16},
    {"f16", Format::f16, 0, 16},
    {"f32", Format::f32, 0, 32},
};

inline bool is_affine(const Form& form) { return form.format == Format::affine4 || form.format == Format::affine8; }

inline double e2m1(int code) {
  const double sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -sizes[code & 7] : sizes[code & 7];
}

inline double e4m3(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double size = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return (code & 127) == 127 ? std::nan("") : code & 128 ? -size : size;
}

inline float bits_to_float(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// A matrix of random weights, and its values in float64.
struct Weights {
  Form form;
  sotto::Matrix matrix;
  Guarded packed, scales, biases;
  std::vector<double> exact;      // [rows, columns]
  std::vector<double> summands;   // the magnitudes of the two summands of affine weights, else of the weights

  static std::size_t groups(const Form& form, std::ptrdiff_t columns) { return form.group ? columns / form.group : 0; }
  static std::size_t scale_bytes(const Form& form) {
    return !is_affine(form) ? 1 : form.scales == ScaleType::f32 ? 4 : 2;
  }

  Weights(const Form& form, std::ptrdiff_t rows, std::ptrdiff_t columns, unsigned seed)
      : form(form),
        packed(rows * columns * form.bits / 8),
        scales(rows * groups(form, columns) * scale_bytes(form)),
        biases(is_affine(form) ? rows * groups(form, columns) * scale_bytes(form) : 0) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    matrix.format = form.format;
    matrix.scale_type = form.scales;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.group = form.group;
    matrix.weights = packed.data<std::uint8_t>();
    matrix.scales = form.group ? scales.data<std::uint8_t>() : nullptr;
    matrix.biases = is_affine(form) ? biases.data<std::uint8_t>() : nullptr;
    for (std::ptrdiff_t i = 0; i < rows * columns; ++i) {
      if (form.bits == 4) {
        std::uint8_t& byte = packed.data<std::uint8_t>()[i / 2];
        byte = i % 2 == 0 ? random() & 15 : byte | (random() & 15) << 4;
      } else if (form.bits == 8) {
        std::uint8_t code = random();
        packed.data<std::uint8_t>()[i] = form.format == Format::mxfp8 && (code & 127) == 127 ? 0 : code;
      } else if (form.format == Format::f32) {
        packed.data<float>()[i] = normal(random);
      } else {
        store(form.format == Format::bf16 ? ScaleType::bf16 : ScaleType::f16, packed, i, normal(random));
      }
    }
    for (std::size_t i = 0; i < rows * groups(form, columns); ++i) {
      if (is_affine(form)) {
        const float step = 0.05f + 0.1f * std::abs(normal(random));
        store(form.scales, scales, i, step);
        store(form.scales, biases, i, (form.bits == 4 ? -7.5f : -127.5f) * step + 0.1f * normal(random));
      } else {
        scales.data<std::uint8_t>()[i] = form.format == Format::nvfp4 ? 40 + random() % 60 : 118 + random() % 8;
      }
    }
    compute_exact();
  }

  static void store(ScaleType type, Guarded& to, std::size_t index, float value) {
    if (type == ScaleType::f32) {
      to.data<float>()[index] = value;
    } else if (type == ScaleType::f16) {
      to.data<__fp16>()[index] = static_cast<__fp16>(value);
    } else {
      std::uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      to.data<std::uint16_t>()[index] = bits >> 16;
    }
  }

  static double load(ScaleType type, const Guarded& from, std::size_t index) {
    return type == ScaleType::f32   ? from.data<float>()[index]
           : type == ScaleType::f16 ? static_cast<float>(from.data<__fp16>()[index])
                                    : bits_to_float(from.data<std::uint16_t>()[index] << 16);
  }

  void compute_exact() {
    const std::size_t count = matrix.rows * matrix.columns;
    exact.resize(count);
    summands.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t group = form.group ? i / form.group : 0;
      const int code = form.bits == 4 ? packed.data<std::uint8_t>()[i / 2] >> i % 2 * 4 & 15
                                      : packed.data<std::uint8_t>()[form.bits == 8 ? i : 0];
      double scale = 1;
      if (form.format == Format::nvfp4) {
        scale = e4m3(scales.data<std::uint8_t>()[group]);
      } else if (form.group && !is_affine(form)) {
        scale = std::ldexp(1.0, scales.data<std::uint8_t>()[group] - 127);
      }
      switch (form.format) {
        case Format::affine4:
        case Format::affine8: {
          const double product = load(form.scales, scales, group) * code, bias = load(form.scales, biases, group);
          exact[i] = product + bias;
          summands[i] = std::abs(product) + std::abs(bias);
          break;
        }
        case Format::mxfp4:
        case Format::nvfp4:
          exact[i] = scale * e2m1(code);
          break;
        case Format::mxfp8:
          exact[i] = scale * e4m3(code);
          break;
        case Format::bf16:
          exact[i] = load(ScaleType::bf16, packed, i);
          break;
        case Format::f16:
          exact[i] = load(ScaleType::f16, packed, i);
          break;
        case Format::f32:
          exact[i] = packed.data<float>()[i];
          break;
      }
      if (!is_affine(form)) {
        summands[i] = std::abs(exact[i]);
      }
    }
  }

  // Whether activations are rounded to integers at this level.
  bool fixed() const { return sotto::fixed_kernels(matrix) != nullptr; }
  std::ptrdiff_t run() const { return form.group == 32 ? 32 : 64; }
  std::string name(std::ptrdiff_t rows) const {
    return std::string(form.name) + ", " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) + ", " +
           std::to_string(rows) + " rows";
  }
};
