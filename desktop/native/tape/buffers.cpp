#include "tape/buffers.h"

#include <cstring>

#include "floats.h"

namespace sotto::tape {

namespace {

using Memory = std::shared_ptr<mx::array::Data>;

// MLX writes in place where an array alone refers to its memory. Steps that are on their way refer to it as well, and
// must not count: so the array gets a reference that is counted by itself and that keeps the true one alive.
struct Keeper {
  Memory memory;
  void operator()(mx::array::Data*) { memory.reset(); }
};

Memory kept_apart(mx::array& buffer) {
  auto& own = const_cast<Memory&>(buffer.data_shared_ptr());
  if (const Keeper* keeper = std::get_deleter<Keeper>(own)) {
    return keeper->memory;
  }
  Memory memory = own;
  own = Memory(memory.get(), Keeper{memory});
  return memory;
}

}  // namespace

Claim::Claim(mx::array& buffer) {
  if (!buffer.is_donatable() || !is_row_major(buffer) || buffer.data_size() != buffer.size()) {
    before_ = std::make_shared<mx::array>(buffer);
    mx::array fresh(buffer.shape(), buffer.dtype(), nullptr, {});
    fresh.set_data(mx::allocator::malloc(fresh.nbytes()));
    buffer.overwrite_descriptor(fresh);
  }
  memory_ = kept_apart(buffer);
  data_ = buffer.data<float>();
}

void Claim::fill() const {
  if (before_) {
    const Floats held(*before_);
    std::memcpy(data_, held.data(), before_->nbytes());
  }
}

}  // namespace sotto::tape
