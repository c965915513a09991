// One pool of threads for all kernels: parallel_for hands out chunks of a range as threads become free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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

// The pieces 0 .. n in runs of about the same length, and what is left of each run.
class Runs {
 public:
  Runs(std::ptrdiff_t n, int threads);
  std::ptrdiff_t count() const { return count_; }
  // Take the first piece that is left of run `own`, or the last one that is left of another run; -1 when none is left.
  std::ptrdiff_t next(std::ptrdiff_t own);

 private:
  static constexpr int kMost = 64;
  // First piece that is left and the one after the last, as the lower and the upper half of a number, each in a cache
  // line of its own.
  struct alignas(64) Left {
    std::atomic<std::uint64_t> ends;
  };
  std::ptrdiff_t count_;
  Left left_[kMost];
};
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

// Call fn(piece) for each of 0 .. n, on several threads at once, where pieces that follow each other lie so in memory:
// each thread has a run of them, which it reads as one stream. A thread whose run is done takes pieces that others have
// not begun, from the end of their runs. Otherwise as parallel_for.
template <typename Fn>
void parallel_runs(std::ptrdiff_t n, Fn&& fn) {
  detail::Runs runs(n, threads());
  parallel_for(runs.count(), 1, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
    for (std::ptrdiff_t own = first; own < last; ++own) {
      for (std::ptrdiff_t piece = runs.next(own); piece >= 0; piece = runs.next(own)) {
        fn(piece);
      }
    }
  });
}

}  // namespace sotto
