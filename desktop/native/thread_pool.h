// One thread pool for all kernels: parallel_for hands out chunks of a range as threads become free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace sotto {

// Number of threads that take part, including the caller; initially one for each core available to this process.
int threads();

// Set the number of threads, at least one. Must not be called while a parallel_for runs.
void set_threads(int count);

namespace detail {
using Body = void (*)(void* context, std::ptrdiff_t begin, std::ptrdiff_t end);
void run(std::ptrdiff_t n, std::ptrdiff_t grain, Body body, void* context);

// The pieces 0 .. n, divided into runs of about equal length, and the remaining pieces of each run.
class Runs {
 public:
  Runs(std::ptrdiff_t n, int threads);
  std::ptrdiff_t count() const { return count_; }
  // Take the first remaining piece of run `own`, or else the last one of another run; return -1 if none remains.
  std::ptrdiff_t next(std::ptrdiff_t own);

 private:
  static constexpr int kMost = 64;
  // The first remaining piece and the end of the remaining ones, as the lower and upper half of an integer; each run
  // has a cache line of its own.
  struct alignas(64) Left {
    std::atomic<std::uint64_t> ends;
  };
  std::ptrdiff_t count_;
  Left left_[kMost];
};
}  // namespace detail

// Call fn(begin, end) in parallel for chunks of at most `grain` that together cover 0 .. n, and return when all are
// done. Chunks begin at multiples of `grain` for any number of threads. fn must not throw. If the pool is busy with
// another thread's work, or if this is called from inside a chunk, the caller does all the work itself.
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

// Call fn(piece) in parallel for each of 0 .. n, where consecutive pieces are contiguous in memory: each thread gets a
// run of consecutive pieces, which it reads as one stream. A thread that has finished its run steals pieces from the
// end of other runs. Otherwise like parallel_for.
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
