#include <cstring>
#include <memory>
#include <optional>

#include "fused/attention.h"
#include "fused/operations.h"
#include "fused/packed.h"
#include "fused/primitive.h"
#include "mlx/types/half_types.h"
#include "thread_pool.h"

namespace sotto::fused {

namespace {

// Keys or values in a form that the attention can read: in place, or as a copy if they are bfloat16 or their last axis is
// not contiguous. `first` is the array, or the first of three arrays that hold packed numbers.
class Readable {
 public:
  explicit Readable(const mx::array* first, Form form = {})
      : source_(mx::array::unsafe_weak_copy(*first)),
        in_place_(first->dtype() != mx::bfloat16 && (first->strides(-1) == 1 || first->shape(-1) == 1)) {
    if (form.bits != 0) packed_.emplace(first[0], first[1], first[2], form);
  }

  // Valid as long as this object lives.
  Strided read() {
    if (packed_) return packed_->read();
    if (in_place_ && source_.dtype() == mx::float32) {
      return {source_.data<float>(), source_.strides(0), source_.strides(1), source_.strides(2)};
    }
    if (in_place_) {
      const Packed halves{source_.data<std::uint8_t>(), nullptr, nullptr, kHalf};
      return {nullptr, source_.strides(0), source_.strides(1), source_.strides(2), halves};
    }
    copy_.reset(new float[source_.size()]);
    if (source_.dtype() == mx::float32) {
      widen<float>();
    } else if (source_.dtype() == mx::bfloat16) {
      widen<mx::bfloat16_t>();
    } else {
      widen<mx::float16_t>();
    }
    const std::int64_t row = source_.shape(3);
    const std::int64_t head = row * source_.shape(2);
    return {copy_.get(), head * source_.shape(1), head, row};
  }

 private:
  template <typename T>
  void widen() {
    const T* const data = source_.data<T>();
    const std::int64_t heads = source_.shape(1);
    const std::int64_t rows = source_.shape(2);
    const std::int64_t n = source_.shape(3);
    const auto& strides = source_.strides();
    parallel_for(source_.shape(0) * heads * rows, rows_at_once(n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const T* const from = data + row / rows / heads * strides[0] + row / rows % heads * strides[1] +
                              row % rows * strides[2];
        for (std::int64_t i = 0; i < n; ++i) copy_[row * n + i] = static_cast<float>(from[i * strides[3]]);
      }
    });
  }

  mx::array source_;
  bool in_place_;
  std::optional<PackedRows> packed_;
  std::shared_ptr<float[]> copy_;
};

// Inputs: queries, keys, values, and maybe a mask and sinks, in this order. Packed keys and values are three arrays each.
class AttentionOperation : public Primitive {
 public:
  AttentionOperation(
      mx::Stream stream, Form keys, Form values, int width, float scale, bool causal, bool has_mask, bool has_sinks)
      : Primitive(stream),
        keys_(keys),
        values_(values),
        width_(width),
        scale_(scale),
        causal_(causal),
        has_mask_(has_mask),
        has_sinks_(has_sinks) {}

  const char* name() const override { return "FusedAttention"; }

  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override {
    mx::Shape shape = inputs[0].shape();
    shape.back() = width_;
    return {shape};
  }

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    const mx::array& q = inputs[0];
    const std::size_t first_value = keys_.bits != 0 ? 4 : 2;
    const mx::array& k = inputs[1];
    const mx::array& v = inputs[first_value];
    const std::int64_t heads = q.shape(1);
    const std::int64_t queries = q.shape(2);
    const std::int64_t width = width_;
    // Laid out as [B, L, H, D], because the next operation joins the heads of each position.
    const bool in_order = heads == 1 || queries == 1;
    out.set_data(
        mx::allocator::malloc(out.nbytes()), out.size(), {queries * heads * width, width, heads * width, 1},
        {true, in_order, false});
    if (out.size() == 0) return;
    Attention p;
    p.batch = q.shape(0);
    p.heads = heads;
    p.kv_heads = k.shape(1);
    p.queries = queries;
    p.keys = k.shape(2);
    p.depth = q.shape(3);
    p.width = width;
    p.scale = scale_;
    p.causal = causal_;
    p.out = out.data<float>();
    if (has_mask_) p.mask = mask_of(inputs[first_value + (values_.bits != 0 ? 3 : 1)]);
    const mx::array* sinks = has_sinks_ ? &inputs.back() : nullptr;
    const std::int64_t sink_step = sinks ? sinks->strides(0) : 0;
    dispatch(
        stream(), [p, q = Readable(&q), k = Readable(&k, keys_), v = Readable(&v, values_),
                   sinks = sinks ? sinks->data<float>() : nullptr, sink_step]() mutable {
          p.q = q.read();
          p.k = k.read();
          p.v = v.read();
          std::vector<float> own_sinks;
          for (std::int64_t h = 0; sinks && h < p.heads; ++h) own_sinks.push_back(sinks[h * sink_step]);
          p.sinks = sinks ? own_sinks.data() : nullptr;
          attend(p);
        });
  }

 private:
  // The mask with its strides, which are zero along broadcast axes.
  static Mask mask_of(const mx::array& mask) {
    Mask made;
    std::int64_t* const strides[] = {&made.batch, &made.head, &made.row, &made.column};
    const int missing = 4 - static_cast<int>(mask.ndim());
    for (int axis = missing; axis < 4; ++axis) {
      *strides[axis] = mask.shape(axis - missing) == 1 ? 0 : mask.strides(axis - missing);
    }
    if (mask.dtype() == mx::bool_) {
      made.visible = mask.data<bool>();
    } else {
      made.added = mask.data<float>();
    }
    return made;
  }

  Form keys_;
  Form values_;
  int width_;
  float scale_;
  bool causal_;
  bool has_mask_;
  bool has_sinks_;
};

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

bool floating(const array& x) {
  return x.dtype() == mx::float32 || x.dtype() == mx::bfloat16 || x.dtype() == mx::float16;
}

// Add what holds keys or values to the inputs, and return in which form: the packed arrays if they are to be unpacked,
// and float16 if it is to be converted.
Form take(const array& x, std::vector<array>& inputs) {
  if (x.status() == array::Status::unscheduled && x.has_primitive()) {
    if (const auto* unpack = dynamic_cast<const Unpack*>(&x.primitive())) {
      inputs.insert(inputs.end(), x.inputs().begin(), x.inputs().end());
      return unpack->form();
    }
    const bool converted = x.dtype() == mx::float32 && std::strcmp(x.primitive().name(), "AsType") == 0;
    if (converted && x.inputs()[0].dtype() == mx::float16) {
      inputs.push_back(x.inputs()[0]);
      return {};
    }
  }
  inputs.push_back(x);
  return {};
}

}  // namespace

array attention(
    const array& q, const array& k, const array& v, float scale, bool causal, const std::optional<array>& mask,
    const std::optional<array>& sinks) {
  require_float32(q, "The queries of attention");
  require(floating(k) && floating(v), "The keys and values of attention must hold floating-point numbers.");
  require(q.ndim() == 4 && k.ndim() == 4 && v.ndim() == 4, "Queries, keys and values must have four axes.");
  require(q.shape(0) == k.shape(0) && q.shape(0) == v.shape(0), "Queries, keys and values must be as many sequences.");
  require(q.shape(3) == k.shape(3), "Queries and keys must have the same depth.");
  require(k.shape(1) == v.shape(1) && k.shape(2) == v.shape(2), "There must be a value for each key.");
  require(k.shape(1) > 0 && q.shape(1) % k.shape(1) == 0, "The heads of the keys must divide those of the queries.");
  require(k.shape(2) > 0, "There must be at least one key.");
  std::vector<array> inputs{q};
  const Form keys = take(k, inputs), values = take(v, inputs);
  if (mask) {
    require(!causal, "Attention is causal or has a mask, and not both.");
    require(mask->dtype() == mx::bool_ || mask->dtype() == mx::float32, "A mask must hold truth values or float32.");
    require(mask->ndim() <= 4, "A mask must have at most four axes.");
    const int full[] = {q.shape(0), q.shape(1), q.shape(2), k.shape(2)};
    const int missing = 4 - static_cast<int>(mask->ndim());
    for (int axis = missing; axis < 4; ++axis) {
      const int size = mask->shape(axis - missing);
      require(size == 1 || size == full[axis], "A mask must have the shape of the scores, or 1 in some axes.");
    }
    inputs.push_back(*mask);
  }
  if (sinks) {
    require_vector(*sinks, q.shape(1), "The sinks of attention");
    inputs.push_back(*sinks);
  }
  auto primitive = std::make_shared<AttentionOperation>(
      cpu_stream(), keys, values, v.shape(3), scale, causal, mask.has_value(), sinks.has_value());
  return array({q.shape(0), q.shape(1), q.shape(2), v.shape(3)}, mx::float32, std::move(primitive), std::move(inputs));
}

}  // namespace sotto::fused
