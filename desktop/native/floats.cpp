#include "floats.h"

#include <stdexcept>

#include "mlx/types/half_types.h"
#include "thread_pool.h"

namespace sotto {

using mlx::core::array;

namespace {

constexpr std::ptrdiff_t kChunk = 1 << 16;

// Call fn(target index, source element offset, length, stride) for each run along the last axis.
template <typename Fn>
void for_each_run(const array& source, Fn&& fn) {
  const auto& shape = source.shape();
  const auto& strides = source.strides();
  const int axes = static_cast<int>(source.ndim());
  if (axes == 0) {
    fn(std::size_t{0}, std::int64_t{0}, std::size_t{1}, std::int64_t{1});
    return;
  }
  const std::size_t length = shape[axes - 1];
  const std::size_t runs = length == 0 ? 0 : source.size() / length;
  for (std::size_t run = 0; run < runs; ++run) {
    std::int64_t offset = 0;
    std::size_t rest = run;
    for (int axis = axes - 2; axis >= 0; --axis) {
      offset += static_cast<std::int64_t>(rest % shape[axis]) * strides[axis];
      rest /= shape[axis];
    }
    fn(run * length, offset, length, strides[axes - 1]);
  }
}

template <typename T>
void widen(const array& source, float* target) {
  const T* from = source.data<T>();
  if (is_row_major(source)) {
    parallel_for(source.size(), kChunk, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t i = begin; i < end; ++i) {
        target[i] = static_cast<float>(from[i]);
      }
    });
    return;
  }
  for_each_run(source, [&](std::size_t at, std::int64_t offset, std::size_t length, std::int64_t stride) {
    for (std::size_t i = 0; i < length; ++i) {
      target[at + i] = static_cast<float>(from[offset + static_cast<std::int64_t>(i) * stride]);
    }
  });
}

template <typename T>
void narrow(const float* source, array& target) {
  T* to = target.data<T>();
  parallel_for(target.size(), kChunk, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      to[i] = static_cast<T>(source[i]);
    }
  });
}

template <typename T>
void gather(const array& source, char* target) {
  const T* from = source.data<T>();
  T* to = reinterpret_cast<T*>(target);
  for_each_run(source, [&](std::size_t at, std::int64_t offset, std::size_t length, std::int64_t stride) {
    for (std::size_t i = 0; i < length; ++i) {
      to[at + i] = from[offset + static_cast<std::int64_t>(i) * stride];
    }
  });
}

}  // namespace

bool is_row_major(const array& source) {
  std::int64_t expected = 1;
  for (int axis = static_cast<int>(source.ndim()) - 1; axis >= 0; --axis) {
    if (source.shape(axis) != 1 && source.strides(axis) != expected) {
      return false;
    }
    expected *= source.shape(axis);
  }
  return true;
}

Floats::Floats(const array& source) {
  if (source.dtype() == mlx::core::float32 && is_row_major(source)) {
    data_ = source.data<float>();
    return;
  }
  copy_.reset(new float[source.size() + 1]);
  data_ = copy_.get();
  if (source.dtype() == mlx::core::float32) {
    widen<float>(source, copy_.get());
  } else if (source.dtype() == mlx::core::bfloat16) {
    widen<mlx::core::bfloat16_t>(source, copy_.get());
  } else if (source.dtype() == mlx::core::float16) {
    widen<mlx::core::float16_t>(source, copy_.get());
  } else {
    throw std::invalid_argument("native kernels take float32, bfloat16 and float16 arrays");
  }
}

Bytes::Bytes(const array& source) {
  if (is_row_major(source)) {
    data_ = source.data<char>();
    return;
  }
  copy_.reset(new char[source.nbytes() + 1]);
  data_ = copy_.get();
  switch (source.itemsize()) {
    case 1:
      gather<std::uint8_t>(source, copy_.get());
      break;
    case 2:
      gather<std::uint16_t>(source, copy_.get());
      break;
    case 4:
      gather<std::uint32_t>(source, copy_.get());
      break;
    default:
      gather<std::uint64_t>(source, copy_.get());
  }
}

Results::Results(array& target) : target_(target) {
  if (target.dtype() == mlx::core::float32) {
    data_ = target.data<float>();
    return;
  }
  wide_.reset(new float[target.size() + 1]);
  data_ = wide_.get();
}

void Results::store() {
  if (target_.dtype() == mlx::core::bfloat16) {
    narrow<mlx::core::bfloat16_t>(data_, target_);
  } else if (target_.dtype() == mlx::core::float16) {
    narrow<mlx::core::float16_t>(data_, target_);
  }
}

}  // namespace sotto
