#pragma once

#include <cstddef>

namespace sotto {

// Have the system use pages of 2 MB for memory that was not written yet. Providing small ones, one after the other, takes
// as long as filling them, and reading from many of them is slower on virtual machines, where addresses are translated
// twice.
void use_huge_pages(void* data, std::size_t bytes);

}  // namespace sotto
