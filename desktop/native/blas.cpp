#include "blas.h"

#include <algorithm>
#include <atomic>

#include "thread_pool.h"

namespace sotto {

namespace {

// A part with fewer multiplications is not worth another thread. Parts begin at multiples of a kernel's tile size.
constexpr std::ptrdiff_t kSmallestPart = 1 << 20;
constexpr std::ptrdiff_t kStep = 16;

std::atomic<Sgemm> function{nullptr};

}  // namespace

void set_sgemm(std::uintptr_t address) { function.store(reinterpret_cast<Sgemm>(address)); }

bool has_sgemm() { return function.load(std::memory_order_relaxed) != nullptr; }

void sgemm(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, const float* a, std::ptrdiff_t a_stride, const float* b,
           std::ptrdiff_t b_stride, float* c, std::ptrdiff_t c_stride) {
  function.load(std::memory_order_relaxed)(kRowMajor, kPlain, kTransposed, static_cast<int>(m), static_cast<int>(n),
                                           static_cast<int>(k), 1.0f, a, static_cast<int>(a_stride), b,
                                           static_cast<int>(b_stride), 0.0f, c, static_cast<int>(c_stride));
}

void divided_sgemm(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float* a, int a_stride,
                   const float* b, int b_stride, float beta, float* c, int c_stride) {
  const Sgemm compute = function.load(std::memory_order_relaxed);
  const bool known = (a_form == kPlain || a_form == kTransposed) && (b_form == kPlain || b_form == kTransposed);
  const std::ptrdiff_t length = std::max(m, n);
  const std::ptrdiff_t cost = static_cast<std::ptrdiff_t>(std::min(m, n)) * std::max(1, k);
  const std::ptrdiff_t least = (kSmallestPart + cost - 1) / std::max<std::ptrdiff_t>(1, cost);
  const std::ptrdiff_t even = (length + threads() - 1) / threads();
  const std::ptrdiff_t part = (std::max(least, even) + kStep - 1) / kStep * kStep;
  if (order != kRowMajor || !known || part >= length) {
    compute(order, a_form, b_form, m, n, k, alpha, a, a_stride, b, b_stride, beta, c, c_stride);
    return;
  }
  parallel_for(length, part, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    const int count = static_cast<int>(end - begin);
    if (m >= n) {
      const float* a_part = a + begin * (a_form == kPlain ? a_stride : 1);
      compute(order, a_form, b_form, count, n, k, alpha, a_part, a_stride, b, b_stride, beta, c + begin * c_stride,
              c_stride);
    } else {
      const float* b_part = b + begin * (b_form == kTransposed ? b_stride : 1);
      compute(order, a_form, b_form, m, count, k, alpha, a, a_stride, b_part, b_stride, beta, c + begin, c_stride);
    }
  });
}

}  // namespace sotto
