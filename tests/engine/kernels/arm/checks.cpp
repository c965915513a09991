// Compares the products of the native kernels with float64, for test_native_arm.py, which compiles this for ARM and
// runs it in an emulator: `checks level` prints the level in use, `checks NAME` prints what is wrong.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cpu.h"
#include "matmul/product.h"
#include "matrices.h"
#include "thread_pool.h"

namespace {

int failures = 0;

void fail(const std::string& what) {
  if (++failures <= 20) {
    std::printf("%s\n", what.c_str());
  }
}

using Values = std::vector<float>;

Values normal(std::size_t count, unsigned seed, float spread = 1.0f, float outlier = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> values;
  Values x(count);
  for (float& value : x) {
    value = values(random) * spread * (random() % 100 == 0 ? outlier : 1.0f);
  }
  return x;
}

// The product of rows `first` .. first + rows of x with the weights.
Values times(const Weights& weights, const Values& x, std::ptrdiff_t first, std::ptrdiff_t rows, int threads) {
  const std::size_t in = rows * weights.matrix.columns, out = rows * weights.matrix.rows;
  const Guarded own(in * sizeof(float)), y(out * sizeof(float));
  std::memcpy(own.data<float>(), x.data() + first * weights.matrix.columns, in * sizeof(float));
  std::fill_n(y.data<float>(), out, bits_to_float(0x7fc12345));
  sotto::set_threads(threads);
  sotto::multiply({{weights.matrix, rows, own.data<float>(), y.data<float>()}});
  if (!y.intact() || !own.intact()) {
    fail(weights.name(rows) + ": wrote outside of the result");
  }
  return Values(y.data<float>(), y.data<float>() + out);
}

bool same(const Values& one, const Values& other, std::size_t skip = 0) {
  return std::memcmp(one.data(), other.data() + skip, one.size() * sizeof(float)) == 0;
}

void check_error(const Weights& weights, const Values& x, const Values& found, bool spread = false) {
  const std::ptrdiff_t columns = weights.matrix.columns, count = weights.matrix.rows;
  const std::ptrdiff_t rows = x.size() / columns, run = weights.fixed() ? weights.run() : columns;
  std::vector<double> largest(columns);
  for (std::ptrdiff_t m = 0; m < rows; ++m) {
    const float* row = x.data() + m * columns;
    for (std::ptrdiff_t column = 0; column < columns; ++column) {
      const float* start = row + column / run * run;
      largest[column] = column % run != 0 ? largest[column - 1] : 0;
      if (column % run == 0) {
        for (std::ptrdiff_t i = 0; i < run; ++i) {
          largest[column] = std::max(largest[column], std::abs(double{start[i]}));
        }
      }
    }
    for (std::ptrdiff_t n = 0; n < count; ++n) {
      double wanted = 0, products = 0, summands = 0, steps = 0;
      for (std::ptrdiff_t column = 0; column < columns; ++column) {
        const double weight = weights.exact[n * columns + column];
        wanted += row[column] * weight;
        products += std::abs(row[column] * weight);
        summands += std::abs(row[column]) * weights.summands[n * columns + column];
        steps += largest[column] * std::abs(weight);
      }
      // The bounds of test_native_fixed.py and test_native_products.py; with activations of very different sizes, the
      // summands of affine weights may cancel out.
      const double allowed = weights.fixed() ? 4e-7 * steps + 5e-7 * summands + 1e-30
                                             : 1e-6 * (spread ? summands : products) + 1e-38;
      const double error = std::abs(found[m * count + n] - wanted);
      if (!(error <= allowed)) {
        fail(weights.name(rows) + ": the error of result " + std::to_string(m) + ", " + std::to_string(n) + " is " +
             std::to_string(error / allowed) + " of what is allowed");
        return;
      }
    }
  }
}

// Up to few_rows() rows: the error, and the same bits for any number of rows and threads.
void check_few() {
  for (const Form& form : kForms) {
    const std::ptrdiff_t group = form.group ? form.group : 32;
    const std::ptrdiff_t last = form.group ? 9 * group : 131;
    for (const std::ptrdiff_t columns : {group, 5 * group, 8 * group + (form.group ? 0 : 5), last}) {
      Weights weights(form, 9, columns, 7);
      const std::ptrdiff_t most = sotto::few_rows();
      const Values x = normal(most * columns, 3);
      const Values together = times(weights, x, 0, most, 1);
      check_error(weights, x, together);
      for (std::ptrdiff_t rows = 1; rows <= most; ++rows) {
        for (const std::ptrdiff_t first : {std::ptrdiff_t{0}, most - rows}) {
          if (!same(times(weights, x, first, rows, rows % 3 + 1), together, first * 9)) {
            fail(weights.name(rows) + ": not the bits of " + std::to_string(most) + " rows");
          }
        }
      }
    }
  }
}

// More rows: the error, and the same bits in any batch and on any number of threads.
void check_many() {
  for (const Form& form : kForms) {
    for (const std::ptrdiff_t columns : {form.group ? 128 : 125, form.group ? 640 : 1029}) {
      const std::ptrdiff_t least = sotto::few_rows() + 1, most = least + 11, count = columns > 200 ? 45 : 32;
      Weights weights(form, count, columns, 5);
      const Values x = normal(most * columns, 4);
      const Values together = times(weights, x, 0, most, 1);
      check_error(weights, x, together);
      for (const std::ptrdiff_t rows : {least, least + 1, most - 1}) {
        for (const std::ptrdiff_t first : {std::ptrdiff_t{0}, most - rows}) {
          if (!same(times(weights, x, first, rows, rows % 3 + 1), together, first * count)) {
            fail(weights.name(rows) + ": not the bits of " + std::to_string(most) + " rows");
          }
        }
      }
    }
  }
}

// Activations of very different sizes, on both paths.
void check_spread() {
  for (const Form& form : kForms) {
    for (const float spread : {1e-36f, 1e-28f, 1e-3f, 1e25f}) {
      for (const float outlier : {1e3f, 1e7f}) {
        for (const std::ptrdiff_t rows : {3, 20}) {
          const Weights weights(form, 5, 256, 11);
          const Values x = normal(rows * 256, 13, spread, outlier);
          check_error(weights, x, times(weights, x, 0, rows, 1), true);
        }
      }
    }
  }
}

// The step to which activations are rounded: each row of the weights has only one that is not zero.
void check_step() {
  const std::ptrdiff_t columns = 64, count = 64;
  Weights weights(kForms[6], count, columns, 23);
  std::memset(weights.packed.data<char>(), 0, columns * count / 2);
  for (std::ptrdiff_t n = 0; n < count; ++n) {
    weights.packed.data<std::uint8_t>()[(n * columns + n) / 2] = n % 2 == 0 ? 2 : 2 << 4;
  }
  weights.compute_exact();
  for (const float most : {100.0f, 127.9f, 128.1f}) {
    for (const std::ptrdiff_t rows : {7, 30}) {
      Values x = normal(rows * columns, 29);
      for (std::ptrdiff_t at = 0; at < rows * columns; at += 32) {
        x[at] = most;
      }
      check_error(weights, x, times(weights, x, 0, rows, 1));
    }
  }
}

// The largest integers with the codes of the largest values must not overflow.
void check_largest() {
  for (const Form& form : kForms) {
    for (const int byte : {0x00, 0xff, 0x77, 0x88}) {
      Weights weights(form, 9, 256, 3);
      if (!weights.fixed()) {
        continue;
      }
      std::memset(weights.packed.data<char>(), byte, 9 * 256 * form.bits / 8);
      weights.compute_exact();
      for (const float value : {3.0f, -3.0f, 3.9999998f, -3.9999998f, 3.985f, -3.983f}) {
        for (const std::ptrdiff_t rows : {1, 20}) {
          const Values x(rows * 256, value);
          check_error(weights, x, times(weights, x, 0, rows, 1));
        }
      }
    }
  }
}

// All codes and special scales, exactly: the rows of a unit matrix give the weights.
void check_codes() {
  for (const Form& form : kForms) {
    if (is_affine(form)) {
      continue;
    }
    for (const bool many : {false, true}) {
      const std::ptrdiff_t columns = 64, count = 12;
      Weights weights(form, count, columns, 2);
      for (std::ptrdiff_t i = 0; form.bits <= 8 && i < columns * count * form.bits / 8; ++i) {
        const int code = i * 37 % 256;
        // NaNs are left to check_special().
        weights.packed.data<std::uint8_t>()[i] = form.bits == 8 && code % 128 == 127 ? 1 : code;
      }
      if (form.format == Format::mxfp4) {
        for (int i = 0; i < 4; ++i) {
          weights.scales.data<std::uint8_t>()[i] = 250 * (i & 1) + i / 2;
        }
      }
      weights.compute_exact();
      Values x(columns * columns);
      for (std::ptrdiff_t i = 0; i < columns; ++i) {
        x[i * columns + i] = 1.0f;
      }
      for (std::ptrdiff_t first = 0; first < columns; first += 16) {
        const std::ptrdiff_t rows = many ? columns - first : 16;
        const Values y = times(weights, x, first, rows, 1);
        for (std::ptrdiff_t m = 0; m < rows; ++m) {
          for (std::ptrdiff_t n = 0; n < count; ++n) {
            const double wanted = weights.exact[n * columns + first + m];
            if (y[m * count + n] != static_cast<float>(wanted)) {
              fail(weights.name(rows) + ": " + std::to_string(y[m * count + n]) + " instead of " +
                   std::to_string(wanted));
            }
          }
        }
      }
    }
  }
}

// Activations and weights that are not finite, and rows of zeros.
void check_special() {
  for (const Form& form : kForms) {
    for (const std::ptrdiff_t rows : {11, 30}) {
      const std::ptrdiff_t columns = 256, count = 9;
      Weights weights(form, count, columns, 17);
      Values x = normal(rows * columns, 19);
      std::fill_n(x.begin() + 5 * columns, columns, 0.0f);
      std::fill_n(x.begin() + 6 * columns, 64, -0.0f);
      const Values clean = times(weights, x, 0, rows, 1);
      check_error(weights, x, clean);
      for (const float value : {INFINITY, -INFINITY, NAN}) {
        x[7 * columns + 100] = value;
        const Values y = times(weights, x, 0, rows, 1);
        for (std::ptrdiff_t i = 0; i < rows * count; ++i) {
          const bool own = i / count == 7, zero = i / count == 5;
          // An infinity times a weight of zero is NaN, too.
          if (own ? std::isfinite(y[i]) : std::memcmp(&y[i], &clean[i], 4) != 0 || (zero && y[i] != 0.0f)) {
            fail(weights.name(rows) + ": " + std::to_string(y[i]) + " in row " + std::to_string(i / count) + " with " +
                 std::to_string(value) + " in row 7");
          }
        }
      }
      if (form.format == Format::mxfp8) {
        x = normal(rows * columns, 19);
        weights.packed.data<std::uint8_t>()[3 * columns + 9] = 0xff;
        const Values y = times(weights, x, 0, rows, 1);
        for (std::ptrdiff_t i = 0; i < rows * count; ++i) {
          if (std::isnan(y[i]) != (i % count == 3)) {
            fail(weights.name(rows) + ": " + std::to_string(y[i]) + " with a NaN in row 3 of the weights");
          }
        }
      }
    }
  }
}

}  // namespace

int main(int, char** arguments) {
  const std::string check = arguments[1];
  if (check == "level") {
    std::printf("%s\n", sotto::level_name(sotto::level()));
    return 0;
  }
  const std::pair<std::string, void (*)()> checks[] = {
      {"few", check_few},         {"many", check_many},   {"spread", check_spread},   {"step", check_step},
      {"largest", check_largest}, {"codes", check_codes}, {"special", check_special},
  };
  const auto found =
      std::find_if(std::begin(checks), std::end(checks), [&](const auto& one) { return check == one.first; });
  if (found == std::end(checks)) {
    std::printf("there is no check %s\n", check.c_str());
    return 2;
  }
  found->second();
  return failures == 0 ? 0 : 1;
}
