// Reading tensors from files.
#include "bind.h"

#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "mlx/allocator.h"
#include "mlx/array.h"
#include "reading/huge_pages.h"
#include "thread_pool.h"

namespace nb = nanobind;
namespace mx = mlx::core;

namespace sotto {

namespace {

// Bytes that a thread reads at once: whole huge pages, as the thread that first writes to one has to provide it.
constexpr std::size_t kPiece = 4 << 20;

// Fill `to` with the bytes of an open file from `start` on; return whether there are so many.
bool read_piece(int file, std::uint8_t* to, std::size_t bytes, off_t start) {
  while (bytes > 0) {
    const ssize_t got = pread(file, to, bytes, start);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    to += got;
    start += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

mx::array read_tensor(int file, std::int64_t start, const std::vector<int>& shape, mx::Dtype dtype) {
  std::size_t bytes = dtype.size();
  for (const int size : shape) {
    bytes *= static_cast<std::size_t>(size);
  }
  mx::array tensor(mx::allocator::malloc(bytes), mx::Shape(shape.begin(), shape.end()), dtype);
  auto* to = tensor.data<std::uint8_t>();
  use_huge_pages(to, bytes);
  std::atomic<bool> complete{true};
  const std::ptrdiff_t pieces = static_cast<std::ptrdiff_t>((bytes + kPiece - 1) / kPiece);
  parallel_for(pieces, 1, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t piece = begin; piece < end; ++piece) {
      const std::size_t first = piece * kPiece;
      if (!read_piece(file, to + first, std::min(kPiece, bytes - first), static_cast<off_t>(start + first))) {
        complete = false;
      }
    }
  });
  if (!complete) {
    throw std::runtime_error("[read] The file is too short, or its disk failed.");
  }
  return tensor;
}

}  // namespace

void bind_reading(nb::module_& m) {
  using namespace nb::literals;
  m.def("read_tensor", &read_tensor, "file"_a, "start"_a, "shape"_a, "dtype"_a,
        nb::call_guard<nb::gil_scoped_release>(),
        "Return an array of the bytes of an open file, by its descriptor, from `start` on.");
}

}  // namespace sotto
