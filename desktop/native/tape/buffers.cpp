#include "tape/buffers.h"

#include <cstring>

#include "floats.h"

namespace sotto::tape {

namespace {

using Memory = std::shared_ptr<mx::array::Data>;

// WORKAROUND: MLX writes in place only if a single array refers to the memory, but steps in flight refer to it as well
// and must not count. So the array gets a reference with a separate count, which keeps the real one alive. Check
// `array::is_donatable` with new versions of MLX.
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
  data_ = buffer.data<char>();
}

void Claim::fill() const {
  if (before_) {
    const Bytes held(*before_);
    std::memcpy(data_, held.data<char>(), before_->nbytes());
  }
}

}  // namespace sotto::tape
