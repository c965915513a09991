#include "matmul/embedding.h"

#include <cmath>
#include <limits>

#include "matmul/block_rows.h"
#include "matmul/blocks.h"
#include "mlx/types/half_types.h"
#include "tape/recording.h"

namespace sotto {

namespace {

// The values of the codes of E2M1, a 4-bit floating-point type.
constexpr float kFp4[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                            -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

// The value of an 8-bit floating-point number in E4M3.
float from_fp8(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                   : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return bits & 128 ? -size : size;
}

template <typename T>
void widen(const std::uint8_t* data, std::ptrdiff_t first, std::ptrdiff_t count, float* to) {
  const T* from = reinterpret_cast<const T*>(data) + first;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    to[i] = static_cast<float>(from[i]);
  }
}

// Convert `count` floating-point numbers, from index `first`, to float32.
void widen(ScaleType type, const std::uint8_t* data, std::ptrdiff_t first, std::ptrdiff_t count, float* to) {
  switch (type) {
    case ScaleType::bf16:
      return widen<mx::bfloat16_t>(data, first, count, to);
    case ScaleType::f16:
      return widen<mx::float16_t>(data, first, count, to);
    default:
      return widen<float>(data, first, count, to);
  }
}

float packed(Format format, const std::uint8_t* row, std::ptrdiff_t column) {
  const int nibble = row[column / 2] >> (column % 2 * 4) & 15;
  switch (format) {
    case Format::affine4:
      return static_cast<float>(nibble);
    case Format::mxfp4:
    case Format::nvfp4:
      return kFp4[nibble];
    case Format::mxfp8:
      return from_fp8(row[column]);
    default:
      return static_cast<float>(row[column]);
  }
}

// Inputs: ids [...], weights [rows, ...], and maybe scales and biases.
class Embedding : public CpuPrimitive, public tape::Recordable {
 public:
  Embedding(mx::Stream stream, Packing packing) : CpuPrimitive(stream), packing_(packing) {}
  const char* name() const override { return "SottoEmbedding"; }

  void record(tape::Recorder& recorder, const mx::array& out) const override {
    const auto& inputs = out.inputs();
    const Matrix matrix = recorder.matrix(packing_, {inputs.begin() + 1, inputs.end()});
    tape::Operation operation;
    if (!recorder.is_tokens(inputs[0])) {
      operation.reads = {recorder.integers(inputs[0])};
    }
    operation.work = [matrix, count = inputs[0].size()](const tape::Run& run, const tape::Operation& own) {
      const std::uint32_t* ids = own.reads.empty() ? run.tokens : run.integers(own.reads[0]);
      for (std::size_t index = 0; index < count; ++index) {
        look_up_checked(matrix, ids[index], run.at(own.writes[0]) + index * matrix.columns);
      }
    };
    recorder.add(std::move(operation), out);
  }

 protected:
  Task task() const override {
    return [packing = packing_](const std::vector<mx::array>& inputs, mx::array& out) {
      const Bytes ids(inputs[0]);
      const Weights weights(packing, inputs[1], inputs.size() > 2 ? &inputs[2] : nullptr,
                            inputs.size() > 3 ? &inputs[3] : nullptr);
      const Matrix matrix = weights.matrix();
      for (std::size_t index = 0; index < inputs[0].size(); ++index) {
        look_up_checked(matrix, ids.data<std::uint32_t>()[index], out.data<float>() + index * matrix.columns);
      }
    };
  }

 private:
  static void look_up_checked(const Matrix& matrix, std::uint32_t id, float* to) {
    if (id >= static_cast<std::uint64_t>(matrix.rows)) {
      throw std::out_of_range("A token is beyond the end of the embedding's table.");
    }
    look_up(matrix, id, to);
  }

  Packing packing_;
};

}  // namespace

void look_up(const Matrix& matrix, std::ptrdiff_t row, float* to) {
  const std::ptrdiff_t columns = matrix.columns;
  if (matrix.group == 0) {
    const ScaleType type = matrix.format == Format::bf16  ? ScaleType::bf16
                           : matrix.format == Format::f16 ? ScaleType::f16
                                                          : ScaleType::f32;
    return widen(type, matrix.weights, row * columns, columns, to);
  }
  if (is_block(matrix.format)) {
    return look_up_block_row(matrix, row, to);
  }
  const bool nibbles =
      matrix.format == Format::affine4 || matrix.format == Format::mxfp4 || matrix.format == Format::nvfp4;
  const bool affine = matrix.format == Format::affine4 || matrix.format == Format::affine8;
  const std::uint8_t* weights = matrix.weights + row * (nibbles ? columns / 2 : columns);
  const std::ptrdiff_t groups = columns / matrix.group;
  for (std::ptrdiff_t group = 0; group < groups; ++group) {
    float scale, bias = 0.0f;
    if (affine) {
      widen(matrix.scale_type, matrix.scales, row * groups + group, 1, &scale);
      widen(matrix.scale_type, matrix.biases, row * groups + group, 1, &bias);
    } else {
      const std::uint8_t byte = matrix.scales[row * groups + group];
      scale = matrix.format == Format::nvfp4 ? from_fp8(byte) : std::ldexp(1.0f, byte - 127);
    }
    for (std::ptrdiff_t column = group * matrix.group; column < (group + 1) * matrix.group; ++column) {
      const float product = scale * packed(matrix.format, weights, column);
      to[column] = affine ? product + bias : product;
    }
  }
}

mx::array embedded(const Packing& packing, mx::Stream stream, std::vector<mx::array> inputs) {
  auto shape = inputs[0].shape();
  shape.push_back(packing.bits == 0 ? inputs[1].shape(1) : inputs[1].shape(1) * 32 / packing.bits);
  return mx::array(std::move(shape), mx::float32, std::make_shared<Embedding>(stream, packing), std::move(inputs));
}

}  // namespace sotto
