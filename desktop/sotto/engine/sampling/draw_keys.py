"""The random numbers that answers are drawn with: those of Ollama's MLX runner, a key for each draw.

Draw n of an answer uses the key `draw_key(seed, n)`, mixed with each token's id, so an answer depends on its own seed
and on nothing else that runs.
"""

from collections.abc import Sequence

import mlx.core as mx

_MASK = 2**64 - 1


def draw_key(seed: int, draw: int) -> int:
    """Return the 64-bit PRNG seed of draw number `draw`, from 0: splitmix64's output for `seed`."""
    z = (seed + 0x9E3779B97F4A7C15 * (draw + 1)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def chance(key: int) -> float:
    """Return a number from [0, 1) that goes with a draw's key and is not among those that the draw itself uses."""
    return (draw_key(key, 0) >> 11) / 2**53


def draw_rows(log_probs: mx.array, ids: mx.array, keys: Sequence[int]) -> mx.array:
    """Draw from each row.

    Args:
        log_probs: [R, N], -inf for what is impossible.
        ids: The tokens [R, N], uint32, that these are of.
        keys: One of 64 bits for each row.

    Returns:
        Where among the N the token of each row stands, [R, 1].
    """
    return mx.argmax(log_probs + gumbel(keys, ids), axis=-1, keepdims=True)


def gumbel(keys: Sequence[int], ids: mx.array) -> mx.array:
    """Return Gumbel noise: the largest of log-probabilities plus it is a draw from them.

    Each token has noise of its own, wherever it stands among the others. So a draw depends on the probabilities alone:
    rounding that makes two tokens change places hardly ever changes it, and models that are alike draw alike.

    Args:
        keys: One of 64 bits for each row.
        ids: Tokens [R, N], uint32.
    """
    high, low = (mx.array([key >> shift & 0xFFFFFFFF for key in keys], dtype=mx.uint32)[:, None] for shift in (32, 0))
    words = mx.stack([mx.broadcast_to(high, ids.shape), low ^ ids], axis=-1).reshape(-1, 2)
    noise: mx.array = mx.vmap(lambda key: mx.random.gumbel((), key=key))(words)
    return noise.reshape(ids.shape)
