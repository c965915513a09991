// Products of blocks of activations with matrices that indices choose, as in the layers of a mixture of experts.
#pragma once

#include "matmul/packing.h"

namespace sotto {

// Inputs: x [..., M, columns], weights [..., rows, ...], indices into the leading axes of x and of the weights, both of
// the result's leading shape, and scales and maybe biases of packed weights.
mx::array gathered_product(const Packing& packing, mx::Stream stream, mx::Dtype type, mx::Shape shape,
                           std::vector<mx::array> inputs);

}  // namespace sotto
