"""The steps from penalized scores to the distribution to sample from; see `sotto.engine.sampling.sampler`.

Typical sampling is Meister and others' (arXiv:2202.00666), min-p is Nguyen and others' (arXiv:2407.01082), XTC
("exclude top choices") and its two parameters are those of text-generation-webui and llama.cpp.
"""

from collections.abc import Sequence

import mlx.core as mx

from sotto.engine.contract.requests import SamplingOptions

# Smaller probabilities would be 0 in float32, and at least one entry has to stay.
LEAST = 1e-20
_BLOCK = 64
_NOTHING = -float("inf")


def distribution(scores: mx.array, options: SamplingOptions, struck: Sequence[bool] = ()) -> tuple[mx.array, mx.array]:
    """Return log-probabilities [R, N], -inf for impossible tokens, and their token ids [R, N].

    Args:
        scores: Penalized logits [R, V], float32.
        options: With a temperature above 0.
        struck: Whether XTC applies to each row; empty if it is off.
    """
    vocabulary = scores.shape[-1]
    ordered = 0 < options.top_p < 1
    if 0 < options.top_k < vocabulary:
        ids = best(scores, options.top_k)
        scores = mx.take_along_axis(scores, ids, axis=-1)
    else:
        ids = all_ids(scores)
    if 0 < options.typical_p < 1:
        scores = _typical(scores, options)
    if ordered:
        order = mx.argsort(-scores, axis=-1)
        ids = mx.take_along_axis(ids, order, axis=-1)
        scores = mx.take_along_axis(scores, order, axis=-1)
    probabilities = mx.softmax(apply_temperature(scores, options), axis=-1)
    if ordered:
        before = mx.cumsum(probabilities, axis=-1, inclusive=False)
        probabilities = mx.where(before < max(options.top_p, LEAST), probabilities, 0.0)
    if 0 < options.min_p <= 1:
        least = options.min_p * probabilities.max(axis=-1, keepdims=True)
        probabilities = mx.where(probabilities < least, 0.0, probabilities)
    if any(struck):
        probabilities = _without_top_choices(probabilities, options.xtc_threshold, mx.array(list(struck))[:, None])
    return log_scaled(probabilities), ids


def all_ids(scores: mx.array) -> mx.array:
    """Return the ids [R, V], uint32, of all tokens of each row."""
    return mx.broadcast_to(mx.arange(scores.shape[-1], dtype=mx.uint32), scores.shape)


def apply_temperature(scores: mx.array, options: SamplingOptions) -> mx.array:
    """Return scores [R, N] divided by the temperature, the best of each row at 0."""
    # The largest is subtracted first: divided by a small temperature it would overflow.
    return (scores - scores.max(axis=-1, keepdims=True)) / options.temperature


def log_scaled(probabilities: mx.array) -> mx.array:
    """Scale each row to a sum of one, and return its logarithms."""
    return mx.log(probabilities / mx.maximum(probabilities.sum(axis=-1, keepdims=True), LEAST))


def _typical(scores: mx.array, options: SamplingOptions) -> mx.array:
    """Return scores with -inf for tokens that are not typical.

    Tokens are ordered by how close their surprise is to the expected one, and kept while the sum of those before is
    less than p.
    """
    scaled = apply_temperature(scores, options)
    log_probs = scaled - mx.logsumexp(scaled, axis=-1, keepdims=True)
    probabilities = mx.exp(log_probs)
    expected = -mx.where(probabilities > 0, probabilities * log_probs, 0.0).sum(axis=-1, keepdims=True)
    order = mx.argsort(mx.abs(-log_probs - expected), axis=-1)
    before = mx.cumsum(mx.take_along_axis(probabilities, order, axis=-1), axis=-1, inclusive=False)
    stays = mx.put_along_axis(mx.zeros(scores.shape, mx.bool_), order, before < max(options.typical_p, LEAST), axis=-1)
    return mx.where(stays, scores, _NOTHING)


def _without_top_choices(probabilities: mx.array, threshold: float, struck: mx.array) -> mx.array:
    """Drop all likely entries but the least likely of them, in the rows to which XTC applies.

    Args:
        probabilities: [R, N], of any sum.
        threshold: The share from which an entry counts as likely.
        struck: Whether XTC applies to each row, [R, 1].
    """
    # Entries already cut off do not count: with a threshold of 0, one of them would be the only choice left.
    likely = (probabilities > 0) & (probabilities >= threshold * probabilities.sum(axis=-1, keepdims=True))
    kept = mx.where(likely, probabilities, float("inf")).min(axis=-1, keepdims=True)
    return mx.where(struck & likely & (probabilities > kept), 0.0, probabilities)


def best(scores: mx.array, count: int) -> mx.array:
    """Return the ids [R, count], uint32, of the best scores of each row [R, V], in no particular order.

    Of equal scores for a single place, the first takes it. The best scores are in the blocks with the best maxima, and
    looking at the maxima first is 8 times faster on a CPU than partitioning a vocabulary of 150,000.
    """
    rows, vocabulary = scores.shape
    blocks = vocabulary // _BLOCK
    if vocabulary % _BLOCK or blocks <= count:
        return _best_plain(scores, count)
    table = scores.reshape(rows, blocks, _BLOCK)
    chosen = _best_plain(table.max(axis=-1), count)[..., None]
    within = mx.take_along_axis(table, chosen, axis=1).reshape(rows, -1)
    ids = (chosen * _BLOCK + mx.arange(_BLOCK, dtype=mx.uint32)).reshape(rows, -1)
    return mx.take_along_axis(ids, _best_plain(within, count), axis=-1)


def _best_plain(scores: mx.array, count: int) -> mx.array:
    if count == 1:
        return mx.argmax(scores, axis=-1, keepdims=True)
    return mx.argpartition(scores, -count, axis=-1)[:, -count:]
