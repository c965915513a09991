"""The random numbers of sampling: those of Ollama's MLX runner, with a key for each token.

Token n of an answer uses the key `draw_key(seed, n)`, mixed with each token's id, so an answer depends on its own seed,
not on other answers that run.
"""

from collections.abc import Sequence

import mlx.core as mx

_MASK = 2**64 - 1


def draw_key(seed: int, draw: int) -> int:
    """Return the 64-bit PRNG key of token number `draw`, from 0: splitmix64's output for `seed`."""
    z = (seed + 0x9E3779B97F4A7C15 * (draw + 1)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def chance(key: int) -> float:
    """Return a random number from [0, 1) for a key, independent of those that the sampling itself uses."""
    return (draw_key(key, 0) >> 11) / 2**53


def draw_rows(log_probs: mx.array, ids: mx.array, keys: Sequence[int]) -> mx.array:
    """Sample from each row.

    Args:
        log_probs: [R, N], -inf for impossible tokens.
        ids: Their token ids [R, N], uint32.
        keys: A 64-bit key for each row.

    Returns:
        The index among the N of the token of each row, [R, 1].
    """
    return mx.argmax(log_probs + gumbel(keys, ids), axis=-1, keepdims=True)


def gumbel(keys: Sequence[int], ids: mx.array) -> mx.array:
    """Return Gumbel noise: the argmax of log-probabilities plus this noise is a sample from them.

    The noise depends on the token's id, not on its position. So the result depends on the probabilities alone: rounding
    that swaps two tokens hardly ever changes it, and similar models sample the same tokens.

    Args:
        keys: A 64-bit key for each row.
        ids: Tokens [R, N], uint32.
    """
    high, low = (mx.array([key >> shift & 0xFFFFFFFF for key in keys], dtype=mx.uint32)[:, None] for shift in (32, 0))
    words = mx.stack([mx.broadcast_to(high, ids.shape), low ^ ids], axis=-1).reshape(-1, 2)
    noise: mx.array = mx.vmap(lambda key: mx.random.gumbel((), key=key))(words)
    return noise.reshape(ids.shape)
