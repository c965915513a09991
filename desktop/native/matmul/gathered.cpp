#include "matmul/gathered.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "matmul/product.h"
#include "tape/recording.h"
#include "thread_pool.h"

namespace sotto {

namespace {

// Blocks of numbers whose copies together are worth another thread.
std::ptrdiff_t blocks_at_once(std::ptrdiff_t size) {
  constexpr std::ptrdiff_t kCopied = 1 << 16;
  return std::max<std::ptrdiff_t>(1, kCopied / std::max<std::ptrdiff_t>(1, size));
}

// Numbers of products, of blocks of activations and of matrices, and the rows of a block.
struct Counts {
  std::ptrdiff_t pairs;
  std::ptrdiff_t blocks;
  std::ptrdiff_t matrices;
  std::ptrdiff_t height;
};

Counts counts_of(const std::vector<mx::array>& inputs) {
  const mx::array &x = inputs[0], &weights = inputs[1];
  const std::ptrdiff_t height = x.shape(-2);
  return {static_cast<std::ptrdiff_t>(inputs[3].size()),
          static_cast<std::ptrdiff_t>(x.size()) / (height * x.shape(-1)),
          static_cast<std::ptrdiff_t>(weights.size()) / (weights.shape(-1) * std::ptrdiff_t{weights.shape(-2)}), height};
}

// Multiply the block of each pair by its matrix. All blocks of a matrix are multiplied together, for which they must lie
// one after the other; a single one is where it is.
void multiply_pairs(const Weights& weights, const Counts& counts, const float* x, const std::uint32_t* block_of,
                    const std::uint32_t* matrix_of, float* y) {
  const auto [pairs, blocks, matrices, height] = counts;
  const Matrix shape = weights.matrix();
  std::vector<std::ptrdiff_t> start(matrices + 1, 0);
  for (std::ptrdiff_t pair = 0; pair < pairs; ++pair) {
    if (matrix_of[pair] >= static_cast<std::uint64_t>(matrices) ||
        block_of[pair] >= static_cast<std::uint64_t>(blocks)) {
      throw std::out_of_range("An index of a gathered product is beyond the end of its array.");
    }
    ++start[matrix_of[pair] + 1];
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::ptrdiff_t> place(pairs), next(start);
  const std::ptrdiff_t block_in = height * shape.columns, block_out = height * shape.rows;
  bool sorted = true, in_place = pairs == blocks;
  for (std::ptrdiff_t pair = 0; pair < pairs; ++pair) {
    place[pair] = next[matrix_of[pair]]++;
    sorted = sorted && place[pair] == pair;
    in_place = in_place && block_of[pair] == static_cast<std::uint64_t>(pair);
  }
  // Definitions sort the rows of a long prompt themselves: nothing is copied then.
  in_place = in_place && sorted;
  const auto alone = [&](std::ptrdiff_t pair) {
    return start[matrix_of[pair] + 1] - start[matrix_of[pair]] == 1;
  };
  const std::unique_ptr<float[]> copies(
      new float[(in_place ? 0 : pairs * block_in) + (sorted ? 0 : pairs * block_out)]);
  const float* operands = in_place ? x : copies.get();
  float* results = sorted ? y : copies.get() + pairs * block_in;
  parallel_for(in_place ? 0 : pairs, blocks_at_once(block_in), [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t pair = begin; pair < end; ++pair) {
      if (!alone(pair)) {
        std::memcpy(copies.get() + place[pair] * block_in, x + block_of[pair] * block_in, block_in * sizeof(float));
      }
    }
  });
  std::vector<Product> products;
  for (std::ptrdiff_t pair = 0; pair < pairs; ++pair) {
    const std::ptrdiff_t matrix = matrix_of[pair], first = start[matrix];
    if (alone(pair)) {
      products.push_back({weights.matrix(matrix), height, x + block_of[pair] * block_in, y + pair * block_out});
    } else if (place[pair] == first) {
      products.push_back({weights.matrix(matrix), (start[matrix + 1] - first) * height, operands + first * block_in,
                          results + first * block_out});
    }
  }
  multiply(products);
  parallel_for(sorted ? 0 : pairs, blocks_at_once(block_out), [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t pair = begin; pair < end; ++pair) {
      if (!alone(pair)) {
        std::memcpy(y + pair * block_out, results + place[pair] * block_out, block_out * sizeof(float));
      }
    }
  });
}

class GatheredProduct : public CpuPrimitive, public tape::Recordable {
 public:
  GatheredProduct(mx::Stream stream, Packing packing) : CpuPrimitive(stream), packing_(packing) {}
  const char* name() const override { return "SottoGatheredProduct"; }

  void record(tape::Recorder& recorder, const mx::array& out) const override {
    const auto& inputs = out.inputs();
    std::vector<mx::array> arrays{inputs[1]};
    arrays.insert(arrays.end(), inputs.begin() + 4, inputs.end());
    tape::Operation operation;
    operation.reads = {recorder.dense(inputs[0]), recorder.integers(inputs[2]), recorder.integers(inputs[3])};
    operation.work = [weights = recorder.weights(packing_, arrays), counts = counts_of(inputs)](
                         const tape::Run& run, const tape::Operation& own) {
      multiply_pairs(*weights, counts, run.at(own.reads[0]), run.integers(own.reads[1]), run.integers(own.reads[2]),
                     run.at(own.writes[0]));
    };
    recorder.add(std::move(operation), out);
  }

 protected:
  Task task() const override {
    return [packing = packing_](const std::vector<mx::array>& inputs, mx::array& out) {
      const bool packed = packing.bits != 0;
      const Floats x(inputs[0]);
      const Bytes left(inputs[2]), right(inputs[3]);
      const Weights weights(packing, inputs[1], packed ? &inputs[4] : nullptr,
                            packed && inputs.size() > 5 ? &inputs[5] : nullptr);
      Results y(out);
      multiply_pairs(weights, counts_of(inputs), x.data(), left.data<std::uint32_t>(), right.data<std::uint32_t>(),
                     y.data());
      y.store();
    };
  }

 private:
  Packing packing_;
};

}  // namespace

mx::array gathered_product(const Packing& packing, mx::Stream stream, mx::Dtype type, mx::Shape shape,
                           std::vector<mx::array> inputs) {
  return mx::array(std::move(shape), type, std::make_shared<GatheredProduct>(stream, packing), std::move(inputs));
}

}  // namespace sotto
