#include "thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace sotto {

namespace {

// How long idle threads spin: two products of a decode step are only microseconds apart, and waking takes longer.
constexpr auto kSpin = std::chrono::microseconds(500);
// After this, a spinning thread yields its core to others, such as the one that prepares the next step.
constexpr auto kSpinAlone = std::chrono::microseconds(20);
constexpr int kPausesBetweenLooks = 64;
constexpr int kPausesBeforeYielding = 1024;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

class Pool {
 public:
  explicit Pool(int count) : count_(count) {
    for (int index = 1; index < count; ++index) {
      // Detached: the pool lives as long as the process, whose exit must not wait for a sleeping thread.
      std::thread([this] { serve(); }).detach();
    }
  }

  int count() const { return count_; }

  void retire() {
    {
      std::lock_guard lock(sleep_);
      retired_ = true;
      epoch_.fetch_add(1);
    }
    wake_.notify_all();
  }

  void run(std::ptrdiff_t n, std::ptrdiff_t grain, detail::Body body, void* context) {
    body_ = body;
    context_ = context;
    n_ = n;
    grain_ = grain;
    next_.store(0, std::memory_order_relaxed);
    open_.store(true);
    epoch_.fetch_add(1);
    if (sleepers_.load() > 0) {
      // Taking the lock ensures that no thread falls asleep between its last check and the notification.
      { std::lock_guard lock(sleep_); }
      wake_.notify_all();
    }
    work();
    open_.store(false);
    // Threads increment active_ before they check open_: each is either counted here or will find no work.
    for (int look = 0; active_.load() != 0; ++look) {
      // On a busy machine the other thread may be waiting for a core: yield this one.
      if (look < kPausesBeforeYielding) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  void work() {
    for (;;) {
      std::ptrdiff_t begin = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (begin >= n_) {
        return;
      }
      body_(context_, begin, std::min(n_, begin + grain_));
    }
  }

  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      seen = await(seen);
      if (retired_.load()) {
        return;
      }
      active_.fetch_add(1);
      if (open_.load()) {
        work();
      }
      active_.fetch_sub(1);
    }
  }

  std::uint64_t await(std::uint64_t seen) {
    const auto start = std::chrono::steady_clock::now();
    auto now = start;
    do {
      if (now - start > kSpinAlone) {
        std::this_thread::yield();
      }
      for (int look = 0; look < kPausesBetweenLooks; ++look) {
        std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
        if (epoch != seen) {
          return epoch;
        }
        pause();
      }
      now = std::chrono::steady_clock::now();
    } while (now - start < kSpin);
    std::unique_lock lock(sleep_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, [&] { return epoch_.load() != seen; });
    sleepers_.fetch_sub(1);
    return epoch_.load();
  }

  const int count_;
  std::atomic<bool> retired_{false};
  std::mutex sleep_;
  std::condition_variable wake_;
  std::atomic<int> sleepers_{0};

  // The job: written only while `open_` is false and no thread is active.
  detail::Body body_ = nullptr;
  void* context_ = nullptr;
  std::ptrdiff_t n_ = 0;
  std::ptrdiff_t grain_ = 1;

  alignas(64) std::atomic<std::uint64_t> epoch_{0};
  alignas(64) std::atomic<std::ptrdiff_t> next_{0};
  alignas(64) std::atomic<bool> open_{false};
  alignas(64) std::atomic<int> active_{0};
};

std::atomic_flag busy = ATOMIC_FLAG_INIT;
// Never deleted: its threads keep using it, and after a fork it belongs to the parent's threads.
std::atomic<Pool*> pool{nullptr};

void forget_pool() {
  pool.store(nullptr);
  busy.clear();
}

Pool& the_pool() {
  Pool* found = pool.load(std::memory_order_acquire);
  if (found != nullptr) {
    return *found;
  }
  static std::mutex making;
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, forget_pool); });
  std::lock_guard lock(making);
  if (pool.load() == nullptr) {
    pool.store(new Pool(cores()), std::memory_order_release);
  }
  return *pool.load();
}

}  // namespace

int threads() { return the_pool().count(); }

void set_threads(int count) {
  Pool* before = pool.exchange(new Pool(std::max(1, count)));
  if (before != nullptr) {
    before->retire();
  }
}

namespace detail {

Runs::Runs(std::ptrdiff_t n, int threads) : count_(std::clamp<std::ptrdiff_t>(n, 1, std::min(threads, kMost))) {
  for (std::ptrdiff_t run = 0; run < count_; ++run) {
    const std::uint64_t begin = n * run / count_, end = n * (run + 1) / count_;
    left_[run].ends.store(end << 32 | begin, std::memory_order_relaxed);
  }
}

std::ptrdiff_t Runs::next(std::ptrdiff_t own) {
  for (std::ptrdiff_t step = 0; step < count_; ++step) {
    std::atomic<std::uint64_t>& ends = left_[(own + step) % count_].ends;
    std::uint64_t seen = ends.load(std::memory_order_relaxed);
    while ((seen & 0xffffffff) < seen >> 32) {
      const std::uint64_t rest = step == 0 ? seen + 1 : seen - (std::uint64_t{1} << 32);
      if (ends.compare_exchange_weak(seen, rest, std::memory_order_relaxed)) {
        return static_cast<std::ptrdiff_t>(step == 0 ? seen & 0xffffffff : rest >> 32);
      }
    }
  }
  return -1;
}

void run(std::ptrdiff_t n, std::ptrdiff_t grain, Body body, void* context) {
  if (n <= 0) {
    return;
  }
  grain = std::max<std::ptrdiff_t>(1, grain);
  if (n > grain) {
    Pool& shared = the_pool();
    if (shared.count() > 1 && !busy.test_and_set(std::memory_order_acquire)) {
      shared.run(n, grain, body, context);
      busy.clear(std::memory_order_release);
      return;
    }
  }
  for (std::ptrdiff_t begin = 0; begin < n; begin += grain) {
    body(context, begin, std::min(n, begin + grain));
  }
}

}  // namespace detail

}  // namespace sotto
