"""Mirostat: keeps the surprise of an answer near a target, by a limit that is adjusted after each token.

Algorithms 1 and 2 of Basu and others (arXiv:2007.14966), as in llama.cpp: surprise is in bits, of the probability
rescaled after truncation, and the limit begins at twice the target. Version 1 estimates from the most likely tokens, by
Zipf's law, how many surprise no more than the limit; version 2 checks each token.
"""

import math

import mlx.core as mx

from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.sampling.distribution import LEAST, all_ids, apply_temperature, best, log_scaled
from sotto.engine.sampling.draw_keys import draw_rows

VERSIONS = (1, 2)
_OFF = 0
# Number of most likely tokens from which the exponent of Zipf's law is estimated: the paper's m.
_ESTIMATE_TOKENS = 100
# Closer to 1 than this, the formula of the exponent would divide zero by zero.
_NEAR_ONE = 1e-3


def first_limit(options: SamplingOptions) -> mx.array | None:
    """Return the initial limit [1, 1] of an answer; None without mirostat."""
    return None if options.mirostat == _OFF else mx.array([[2 * options.mirostat_tau]])


def draw_mirostat(scores: mx.array, options: SamplingOptions, limit: mx.array, key: int) -> tuple[mx.array, mx.array]:
    """Sample a token [1], and return it with the limit [1, 1] for the next one, without evaluating anything.

    Args:
        scores: Penalized logits [1, V], float32.
        options: With a temperature above 0.
        limit: The most bits that a token may surprise; the most likely one is always allowed.
        key: The random key.
    """
    scaled = apply_temperature(scores, options)
    probabilities = mx.softmax(scaled, axis=-1)
    stays = _are_likeliest(scaled, limit) if options.mirostat == 1 else _surprise_little(probabilities, limit)
    log_probs, ids = log_scaled(mx.where(stays, probabilities, 0.0)), all_ids(scores)
    place = draw_rows(log_probs, ids, [key])
    surprise = mx.take_along_axis(log_probs, place, axis=-1) / -math.log(2)
    limit = limit - options.mirostat_eta * (surprise - options.mirostat_tau)
    return mx.take_along_axis(ids, place, axis=-1)[:, 0], limit


def _surprise_little(probabilities: mx.array, limit: mx.array) -> mx.array:
    """Return which tokens [1, V] surprise no more than the limit; the most likely one always counts."""
    likeliest = probabilities.max(axis=-1, keepdims=True)
    return (-mx.log2(probabilities) <= limit) | (probabilities == likeliest)


def _are_likeliest(scores: mx.array, limit: mx.array) -> mx.array:
    """Return which tokens [1, V] are among the k most likely, k from the limit and Zipf's law."""
    order = mx.argsort(-scores, axis=-1)
    stays = mx.arange(1, scores.shape[-1] + 1) <= _choices(scores, limit)
    return mx.put_along_axis(mx.zeros(scores.shape, mx.bool_), order, stays, axis=-1)


def _choices(scores: mx.array, limit: mx.array) -> mx.array:
    """Return how many of the most likely tokens [1, 1] surprise no more than the limit by Zipf's law, at least 1.

    The exponent s of the law is the least-squares estimate of algorithm 1, and the count is
    k = ((s - 1) 2^limit / (1 - V^(1 - s)))^(1 / s).

    Args:
        scores: [1, V], divided by the temperature.
        limit: In bits, [1, 1].
    """
    vocabulary = scores.shape[-1]
    likeliest = mx.take_along_axis(scores, best(scores, min(_ESTIMATE_TOKENS, vocabulary)), axis=-1)
    likeliest = -mx.sort(-likeliest, axis=-1)
    ranks = mx.arange(1, likeliest.shape[-1], dtype=mx.float32)
    steps = mx.log((ranks + 1) / ranks)
    # Impossible tokens say nothing about the law.
    known = mx.isfinite(likeliest[:, 1:])
    falls = mx.where(known, likeliest[:, :-1] - likeliest[:, 1:], 0.0)
    squares = mx.where(known, steps * steps, 0.0).sum(axis=-1, keepdims=True)
    exponent = mx.maximum((steps * falls).sum(axis=-1, keepdims=True) / mx.maximum(squares, LEAST), LEAST)
    # In logarithms, as 2^limit would overflow a float.
    beyond, size = exponent - 1, math.log(vocabulary)
    apart = mx.where(mx.abs(beyond) < _NEAR_ONE, _NEAR_ONE, beyond)
    ratio = mx.log(apart / (1 - mx.exp(-apart * max(size, _NEAR_ONE))))
    return mx.exp(mx.clip((ratio + limit * math.log(2)) / exponent, 0.0, size + 1))
