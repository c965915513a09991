// One pool of threads for all kernels: parallel_for hands out chunks of a range as threads become free.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace sotto {

// How many threads take part, the caller among them: at first as many as there are cores for this process.
int threads();

// Use so many threads from now on, at least one. Not while a parallel_for runs.
void set_threads(int count);

namespace detail {
using Body = void (*)(void* context, std::ptrdiff_t begin, std::ptrdiff_t end);
void run(std::ptrdiff_t n, std::ptrdiff_t grain, Body body, void* context);
}  // namespace detail

// Call fn(begin, end) for chunks of at most `grain` that together cover 0 .. n, on several threads at once, and return
// when all are done. Chunks begin at multiples of `grain`, whatever the number of threads. fn must not throw. When the
// pool is busy with the work of another thread, or called from inside a chunk, the caller does everything itself.
template <typename Fn>
void parallel_for(std::ptrdiff_t n, std::ptrdiff_t grain, Fn&& fn) {
  using Callable = std::remove_reference_t<Fn>;
  detail::run(
      n, grain,
      [](void* context, std::ptrdiff_t begin, std::ptrdiff_t end) {
        (*static_cast<Callable*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(std::addressof(fn))));
}

}  // namespace sotto
