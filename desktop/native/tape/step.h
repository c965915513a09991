// One decode step as one operation of MLX.
#pragma once

#include <memory>
#include <vector>

#include "tape/tape.h"

namespace sotto::tape {

// Compute the logits [..., vocabulary] of one more token for each row, and write its keys and values in place. The step
// is put on its way at once, so whatever reads the caches afterwards sees it.
//
// `tokens` are [rows, 1], each of a sequence of its own, or [1, rows], of one sequence; uint32 or int32, and may have
// yet to be computed. `positions` are one for each row. For each row of each layer, in this order, there are `slots`,
// where in the room of the cache the new token goes, and `seen`, how many tokens it sees, itself as the last; and for
// each sequence of each layer, as `buffers`, its keys and its values, [1, heads, room, size], which are written in
// place. Throws std::invalid_argument for anything else.
mx::array step(
    const std::shared_ptr<Tape>& tape, const mx::array& tokens, const std::vector<int>& positions,
    const std::vector<int>& slots, const std::vector<int>& seen,
    const std::vector<mx::array*>& buffers);

}  // namespace sotto::tape
