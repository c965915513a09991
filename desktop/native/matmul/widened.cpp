#include "matmul/widened.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include "floats.h"
#include "mlx/allocator.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"
#include "thread_pool.h"

namespace sotto {

namespace mx = mlx::core;

namespace {

// Groups of 32 codes that are worth another thread.
constexpr std::ptrdiff_t kGroups = 1 << 12;

constexpr int wide_bits(int bits) { return bits < 4 ? 4 : 8; }

// Widen 32 codes, which fill `Bits` words and then `wide_bits(Bits)`. MLX packs them one after the other, the lowest bits
// first, so that a code may begin in one word and end in the next.
template <int Bits>
void widen_group(const std::uint32_t* from, std::uint32_t* to) {
  constexpr int kWide = wide_bits(Bits), kInWord = 32 / kWide;
  for (int word = 0; word < kWide; ++word) {
    std::uint32_t found = 0;
    for (int place = 0; place < kInWord; ++place) {
      const int bit = (word * kInWord + place) * Bits, at = bit / 32;
      const std::uint64_t next = at + 1 < Bits ? from[at + 1] : 0;
      const std::uint64_t both = from[at] | next << 32;
      found |= static_cast<std::uint32_t>(both >> (bit % 32) & ((1 << Bits) - 1)) << (place * kWide);
    }
    to[word] = found;
  }
}

template <int Bits>
void widen_all(const std::uint32_t* from, std::uint32_t* to, std::ptrdiff_t groups) {
  parallel_for(groups, kGroups, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t group = begin; group < end; ++group) {
      widen_group<Bits>(from + group * Bits, to + group * wide_bits(Bits));
    }
  });
}

class Widen : public mx::UnaryPrimitive {
 public:
  Widen(mx::Stream stream, int bits) : mx::UnaryPrimitive(stream), bits_(bits) {}
  const char* name() const override { return "SottoWiden"; }

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    out.set_data(mx::allocator::malloc(out.nbytes()));
    if (out.size() == 0) {
      return;
    }
    mx::cpu::get_command_encoder(stream()).dispatch(
        [from = mx::array::unsafe_weak_copy(inputs[0]), to = mx::array::unsafe_weak_copy(out), bits = bits_]() mutable {
          const Bytes stored(from);
          const auto widen = bits == 2   ? widen_all<2>
                             : bits == 3 ? widen_all<3>
                             : bits == 5 ? widen_all<5>
                                         : widen_all<6>;
          widen(stored.data<std::uint32_t>(), to.data<std::uint32_t>(), from.size() / bits);
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw std::runtime_error("Sotto's native kernels run on the CPU alone.");
  }

 private:
  int bits_;
};

}  // namespace

mx::array widened(const mx::array& stored, int bits, mx::Stream stream) {
  const bool known = bits == 2 || bits == 3 || bits == 5 || bits == 6;
  if (!known || stored.dtype() != mx::uint32 || stored.ndim() == 0 || stored.shape(-1) % bits != 0) {
    throw std::invalid_argument("Codes should have 2, 3, 5 or 6 bits, and rows a multiple of 32 of them.");
  }
  mx::Shape shape = stored.shape();
  shape.back() = shape.back() / bits * wide_bits(bits);
  return mx::array(std::move(shape), mx::uint32, std::make_shared<Widen>(stream, bits), {stored});
}

}  // namespace sotto
