#include "reading/huge_pages.h"

#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace sotto {

void use_huge_pages(void* data, std::size_t bytes) {
#ifdef __linux__
  constexpr std::uintptr_t kPage = 2 << 20;
  // Smaller arrays may be among the memory of others.
  if (bytes < kPage) {
    return;
  }
  // All pages that the memory is in, as they may hold the next array, too.
  const auto begin = reinterpret_cast<std::uintptr_t>(data) & ~(kPage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes + kPage - 1) & ~(kPage - 1);
  // This is a wish only; without it everything works as well.
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace sotto
