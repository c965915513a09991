"""Mirostat v2: an answer's surprise is held near a target by a limit that follows what was drawn.

Algorithm 2 of Basu and others (arXiv:2007.14966), as llama.cpp has it: surprise is in bits, of the probability after
what surprises more than the limit is left out; the limit begins at twice the target.
"""

import math

import mlx.core as mx

from sotto.engine.distribution import all_ids, cooled, log_scaled
from sotto.engine.randomness import drawn
from sotto.engine.types import SamplingOptions

VERSION = 2


def first_limit(options: SamplingOptions) -> mx.array | None:
    """Return the limit [1, 1] that an answer begins with; None where it has none."""
    return mx.array([[2 * options.mirostat_tau]]) if options.mirostat == VERSION else None


def steered(scores: mx.array, options: SamplingOptions, limit: mx.array, key: int) -> tuple[mx.array, mx.array]:
    """Return a token [1] and the limit [1, 1] for the next one, without evaluating anything.

    Args:
        scores: Penalized logits [1, V], float32.
        options: With a temperature above 0.
        limit: The most that a token may surprise; the likeliest one always may.
        key: What to draw with.
    """
    probabilities = mx.softmax(cooled(scores, options), axis=-1)
    likeliest = probabilities.max(axis=-1, keepdims=True)
    stays = (-mx.log2(probabilities) <= limit) | (probabilities == likeliest)
    log_probs, ids = log_scaled(mx.where(stays, probabilities, 0.0)), all_ids(scores)
    place = drawn(log_probs, ids, [key])
    surprise = mx.take_along_axis(log_probs, place, axis=-1) / -math.log(2)
    limit = limit - options.mirostat_eta * (surprise - options.mirostat_tau)
    return mx.take_along_axis(ids, place, axis=-1)[:, 0], limit
