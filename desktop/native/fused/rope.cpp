#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fused/operations.h"
#include "fused/primitive.h"
#include "fused/rows.h"
#include "mlx/ops.h"
#include "tape/recording.h"
#include "thread_pool.h"

namespace sotto::fused {

namespace {

struct Rotation {
  std::int64_t dims;
  bool traditional;
  bool reciprocal;  // whether the frequencies are given as their inverses, as mlx.core.fast.rope takes them
  bool has_offset;  // whether the third input holds the offsets
  float scale;
  std::int64_t offset;
};

// The array's rows, [batch, heads, positions], and how far they are rotated: by one offset per batch entry, with stride
// `offset_step`, or by the rotation's own offset if `offsets` is null.
struct Turn {
  std::int64_t batch;
  std::int64_t heads;
  std::int64_t positions;
  const float* given;  // frequencies, or their inverses
  const std::int32_t* offsets;
  std::int64_t offset_step;
};

void rotate(const Rotation& r, const Turn& turn, const Rows& x, float* to) {
  const Kernels& f = kernels();
  const std::int64_t half = r.dims / 2;
  const std::int64_t n = x.length();
  const std::int64_t heads = turn.heads;
  const std::int64_t positions = turn.positions;
  std::vector<float> frequencies(static_cast<std::size_t>(half));
  for (std::int64_t i = 0; i < half; ++i) frequencies[i] = r.reciprocal ? 1.0f / turn.given[i] : turn.given[i];
  parallel_for(turn.batch * positions, rows_at_once(heads * n), [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> spare;
    std::vector<float> tables(static_cast<std::size_t>(2 * half));
    float* const cosines = tables.data();
    float* const sines = cosines + half;
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t b = at / positions;
      const std::int64_t t = at % positions;
      const std::int64_t offset = turn.offsets ? turn.offsets[b * turn.offset_step] : r.offset;
      const float position = (static_cast<float>(t) + static_cast<float>(offset)) * r.scale;
      f.angles(position, frequencies.data(), cosines, sines, half);
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t row = (b * heads + h) * positions + t;
        const float* const source = x.row(row, spare);
        float* const target = to + row * n;
        (r.traditional ? f.rotate_pairs : f.rotate_halves)(source, cosines, sines, target, half);
        std::copy(source + r.dims, source + n, target + r.dims);
      }
    }
  });
}

// Inputs: x, frequencies [dims / 2], and maybe int32 offsets: one for all, or one for each entry of x's first axis.
class Rope : public Primitive, public tape::Recordable {
 public:
  Rope(mx::Stream stream, Rotation rotation) : Primitive(stream), rotation_(rotation) {}

  const char* name() const override { return "FusedRoPE"; }

  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override { return {inputs[0].shape()}; }

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    out.set_data(mx::allocator::malloc(out.nbytes()));
    if (out.size() == 0) return;
    Turn turn = turn_of(out);
    turn.offsets = rotation_.has_offset ? inputs[2].data<std::int32_t>() : nullptr;
    turn.offset_step = turn.offsets && inputs[2].size() > 1 ? inputs[2].strides(0) : 0;
    dispatch(stream(), [x = Rows(inputs[0]), given = Rows(inputs[1]), to = out.data<float>(), r = rotation_,
                        turn]() mutable {
      std::vector<float> spare_frequencies;
      turn.given = given.only(spare_frequencies);
      rotate(r, turn, x, to);
    });
  }

  void record(tape::Recorder& recorder, const mx::array& out) const override {
    const auto& inputs = out.inputs();
    if (!rotation_.has_offset || !recorder.is_positions(inputs[2]) || out.shape(0) != recorder.rows()) {
      throw tape::Unknown("a rotation by something else than the positions");
    }
    Turn turn = turn_of(out);
    turn.given = recorder.numbers(inputs[1]);
    turn.offset_step = 1;
    tape::Operation operation;
    operation.reads = {recorder.dense(inputs[0])};
    operation.work = [turn, r = rotation_, n = static_cast<std::int64_t>(out.shape(-1))](
                         const tape::Run& run, const tape::Operation& own) {
      Turn now = turn;
      now.offsets = run.positions;
      rotate(r, now, Rows(run.at(own.reads[0]), turn.batch * turn.heads * turn.positions, n), run.at(own.writes[0]));
    };
    recorder.add(std::move(operation), out);
  }

 private:
  static Turn turn_of(const mx::array& out) {
    Turn turn{};
    turn.batch = out.shape(0);
    turn.positions = out.shape(-2);
    turn.heads = static_cast<std::int64_t>(out.size()) / (turn.batch * turn.positions * out.shape(-1));
    return turn;
  }

  Rotation rotation_;
};

// The frequencies that mlx.core.fast.rope derives from a base, computed by MLX itself: a difference in the last place
// would be an angle of some hundredths at position 100,000. Cached as plain numbers: MLX would count the memory of an
// array as a model's long after the model is gone.
array frequencies_of(float base, int dims) {
  constexpr std::size_t kKept = 64;
  static auto& known = *new std::map<std::pair<float, int>, std::vector<float>>();
  static std::mutex lock;
  std::lock_guard guard(lock);
  const int half = dims / 2;
  if (auto found = known.find({base, dims}); found != known.end()) return array(found->second.begin(), mx::Shape{half});
  const auto cpu = mx::Device(mx::Device::cpu);
  array made = mx::exp(
      mx::multiply(mx::arange(0, -half, -1, mx::float32, cpu), array(std::log(base) / half, mx::float32), cpu), cpu);
  made.eval();
  if (known.size() >= kKept) known.clear();  // a base may vary with the length of the text
  known.emplace(std::pair{base, dims}, std::vector<float>(made.data<float>(), made.data<float>() + half));
  return made;
}

}  // namespace

array rope(
    const array& x, int dims, bool traditional, std::optional<float> base, float scale,
    const std::variant<int, array>& offset, const std::optional<array>& freqs) {
  require_float32(x, "The input of a rotation");
  if (x.ndim() < 3) throw std::invalid_argument("The input of a rotation must have at least three axes.");
  if (dims <= 0 || dims % 2 != 0 || dims > x.shape(-1)) {
    throw std::invalid_argument("The rotated dimensions must be even, positive and at most as many as there are.");
  }
  if (base.has_value() == freqs.has_value()) {
    throw std::invalid_argument("A rotation takes a base or frequencies, and not both.");
  }
  if (freqs) require_vector(*freqs, dims / 2, "The frequencies of a rotation");
  Rotation rotation{dims, traditional, freqs.has_value(), offset.index() == 1, scale, 0};
  std::vector<array> inputs{x, freqs ? *freqs : frequencies_of(*base, dims)};
  if (rotation.has_offset) {
    const array& offsets = std::get<array>(offset);
    if (offsets.dtype() != mx::int32 || offsets.ndim() > 1 ||
        (offsets.size() != 1 && offsets.size() != static_cast<std::size_t>(x.shape(0)))) {
      throw std::invalid_argument("The offsets of a rotation must be int32, one for all or one for each row.");
    }
    inputs.push_back(offsets);
  } else {
    rotation.offset = std::get<int>(offset);
  }
  return array(x.shape(), mx::float32, std::make_shared<Rope>(cpu_stream(), rotation), std::move(inputs));
}

}  // namespace sotto::fused
