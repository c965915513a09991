// Keys and values packed in 8 or 4 bits, as arrays of words, scales and biases.
#pragma once

#include <memory>
#include <vector>

#include "floats.h"
#include "fused/attention.h"
#include "fused/primitive.h"

namespace sotto::fused {

// How numbers are packed; 0 bits for numbers that are not.
struct Form {
  int bits = 0;
  int group = 0;
};

// Unpacks an array; inputs: words, scales and biases. Attention to it reads these itself.
class Unpack : public Primitive {
 public:
  Unpack(mx::Stream stream, Form form) : Primitive(stream), form_(form) {}

  const char* name() const override { return "FusedUnpack"; }
  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override;
  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override;
  Form form() const { return form_; }

 private:
  Form form_;
};

// Access to packed numbers with four axes: in place, or as row-major copies if the arrays are laid out differently.
class PackedRows {
 public:
  PackedRows(const mx::array& words, const mx::array& scales, const mx::array& biases, Form form);

  // Valid as long as this object lives. The arrays must have been computed.
  Strided read();

 private:
  bool in_place() const;

  mx::array words_;
  mx::array scales_;
  mx::array biases_;
  Form form_;
  std::vector<std::shared_ptr<Bytes>> copies_;
};

}  // namespace sotto::fused
