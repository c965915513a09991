#include "fused/packed.h"

#include "fused/operations.h"
#include "fused/rows.h"
#include "thread_pool.h"

namespace sotto::fused {

namespace {

constexpr int kLeastGroup = 32;

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

void require_form(Form form) {
  require(form.bits == 4 || form.bits == 8, "Numbers can be packed in 4 or 8 bits.");
  require(form.group > 0 && form.group % kLeastGroup == 0, "A group must be a multiple of 32 numbers.");
}

// Input: numbers with four axes. Outputs: words, scales and biases.
class Pack : public mx::Primitive {
 public:
  Pack(mx::Stream stream, Form form) : mx::Primitive(stream), form_(form) {}

  const char* name() const override { return "FusedPack"; }

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override {
    for (mx::array& out : outputs) out.set_data(mx::allocator::malloc(out.nbytes()));
    const Packed to{outputs[0].data<std::uint8_t>(), outputs[1].data<float>(), outputs[2].data<float>(), form_.bits,
                    form_.group};
    dispatch(stream(), [x = Rows(inputs[0]), to]() {
      const std::int64_t n = x.length();
      parallel_for(x.count(), rows_at_once(8 * n), [&](std::int64_t begin, std::int64_t end) {
        std::vector<float> spare;
        for (std::int64_t row = begin; row < end; ++row) kernels().pack(x.row(row, spare), to.from(row * n), n);
      });
    });
  }

  void eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw std::runtime_error(std::string(name()) + " runs on the CPU only.");
  }

 private:
  Form form_;
};

}  // namespace

PackedRows::PackedRows(const mx::array& words, const mx::array& scales, const mx::array& biases, Form form)
    : words_(mx::array::unsafe_weak_copy(words)),
      scales_(mx::array::unsafe_weak_copy(scales)),
      biases_(mx::array::unsafe_weak_copy(biases)),
      form_(form) {}

bool PackedRows::in_place() const {
  for (const mx::array* a : {&words_, &scales_, &biases_}) {
    if (a->shape(3) != 1 && a->strides(3) != 1) return false;
  }
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t groups = scales_.strides(axis);
    if (words_.shape(axis) != 1 &&
        (biases_.strides(axis) != groups || words_.strides(axis) * (32 / form_.bits) != groups * form_.group)) {
      return false;
    }
  }
  return true;
}

Strided PackedRows::read() {
  Strided made;
  made.packed.bits = form_.bits;
  made.packed.group = form_.group;
  if (in_place()) {
    made.packed.bytes = words_.data<std::uint8_t>();
    made.packed.scales = scales_.data<float>();
    made.packed.biases = biases_.data<float>();
    made.batch = scales_.strides(0) * form_.group;
    made.head = scales_.strides(1) * form_.group;
    made.row = scales_.strides(2) * form_.group;
    return made;
  }
  copies_.clear();
  for (const mx::array* a : {&words_, &scales_, &biases_}) copies_.push_back(std::make_shared<Bytes>(*a));
  made.packed.bytes = const_cast<std::uint8_t*>(copies_[0]->data<std::uint8_t>());
  made.packed.scales = const_cast<float*>(copies_[1]->data<float>());
  made.packed.biases = const_cast<float*>(copies_[2]->data<float>());
  made.row = scales_.shape(3) * std::int64_t{form_.group};
  made.head = made.row * scales_.shape(2);
  made.batch = made.head * scales_.shape(1);
  return made;
}

void Unpack::eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) {
  out.set_data(mx::allocator::malloc(out.nbytes()));
  dispatch(
      stream(), [rows = PackedRows(inputs[0], inputs[1], inputs[2], form_), to = out.data<float>(),
                 count = static_cast<std::int64_t>(out.size()) / out.shape(3), n = out.shape(3), heads = out.shape(1),
                 length = out.shape(2)]() mutable {
        const Strided from = rows.read();
        parallel_for(count, rows_at_once(n), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t at = row / length / heads * from.batch + row / length % heads * from.head +
                                    row % length * from.row;
            kernels().unpack(from.packed.from(at), to + row * n, n);
          }
        });
      });
}

std::vector<mx::Shape> Unpack::output_shapes(const std::vector<mx::array>& inputs) {
  mx::Shape shape = inputs[1].shape();
  shape.back() *= form_.group;
  return {shape};
}

std::vector<array> pack(const array& x, int group, int bits) {
  require_float32(x, "What is packed");
  require_form({bits, group});
  require(x.ndim() == 4 && x.shape(3) > 0 && x.shape(3) % group == 0,
          "What is packed must have four axes, and whole groups in the last one.");
  mx::Shape words = x.shape(), groups = x.shape();
  words.back() = x.shape(3) * bits / 32;
  groups.back() = x.shape(3) / group;
  return array::make_arrays({words, groups, groups}, {mx::uint32, mx::float32, mx::float32},
                            std::make_shared<Pack>(cpu_stream(), Form{bits, group}), {x});
}

array unpack(const array& words, const array& scales, const array& biases, int group, int bits) {
  require_float32(scales, "Scales");
  require_float32(biases, "Biases");
  require_form({bits, group});
  require(words.dtype() == mx::uint32 && words.ndim() == 4 && scales.ndim() == 4 && scales.shape() == biases.shape(),
          "Packed numbers must have four axes, and a scale and a bias for each group.");
  mx::Shape shape = scales.shape(), expected = scales.shape();
  shape.back() *= group;
  expected.back() = shape.back() * bits / 32;
  require(words.shape() == expected, "Packed numbers must have a scale and a bias for each group.");
  return array(shape, mx::float32, std::make_shared<Unpack>(cpu_stream(), Form{bits, group}), {words, scales, biases});
}

}  // namespace sotto::fused
