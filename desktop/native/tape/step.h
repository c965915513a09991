// One decode step as a single MLX operation.
#pragma once

#include <memory>
#include <vector>

#include "tape/tape.h"

namespace sotto::tape {

// Compute the logits [..., vocabulary] of one more token for each row, and write its keys and values in place. The step
// is dispatched immediately, so that later reads of the caches see it.
//
// `tokens` are [rows, 1], each of a separate sequence, or [1, rows], all of one sequence; uint32 or int32, and possibly
// not yet computed. There is one position for each row. `slots` and `seen` are [layers, rows]: the index of the new
// token in the room of the cache, and the number of tokens that it attends to, itself last. `buffers` are [layers,
// sequences]: keys and values, each [1, heads, room, size], which are written in place; or the words, scales and biases
// of packed keys, then those of packed values. `states` are [states, rows], separate arrays with what is kept of
// each row, which are written in place. Throws std::invalid_argument for anything else.
mx::array step(
    const std::shared_ptr<Tape>& tape, const mx::array& tokens, const std::vector<int>& positions,
    const std::vector<int>& slots, const std::vector<int>& seen,
    const std::vector<std::vector<mx::array*>>& buffers, const std::vector<mx::array*>& states);

}  // namespace sotto::tape
