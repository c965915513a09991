"""Draw the next token from a model's logits, in the order and with the random keys of Ollama's MLX runner.

1. penalties on the tokens of the window: repeat, then presence (once a token), then frequency (once an occurrence);
2. a temperature of 0 or less takes the best score and is done;
3. top-k keeps the k best scores; everything below runs on those k values;
4. scores are divided by the temperature and become probabilities;
5. top-p keeps, from the likeliest down, every entry in front of which there is less than p;
6. min-p drops what is below m times the likeliest;
7. what is left is scaled to one and drawn from.

Draw n of an answer uses the PRNG key `draw_key(seed, n)`, so an answer depends on its own seed and on nothing else that
runs. Everything is float32 and lazy: no step waits for a token to be known, not even the penalties, whose window lives
in arrays.
"""

import secrets
from collections.abc import Iterable, Sequence

import mlx.core as mx

from sotto.engine.types import SamplingOptions

# Below this, dividing float32 scores by the temperature overflows, and nothing but the best could be drawn anyway.
_COLDEST = 1e-5
_LEAST = 1e-20
_BLOCK = 64
_MASK = 2**64 - 1
_NOTHING = -float("inf")


class Sampler:
    """Draws the tokens of one answer.

    Attributes:
        seed: What the keys come from: the one asked for, or one of 64 random bits.
    """

    def __init__(self, options: SamplingOptions, prompt_ids: Sequence[int], banned: Iterable[int] = ()) -> None:
        """Start an answer.

        Args:
            options: How to draw.
            prompt_ids: The prompt; its last tokens fill the window of the penalties.
            banned: Tokens that are never drawn.
        """
        self._options = options
        self._draws = 0
        self.seed = secrets.randbits(64) if options.seed is None else options.seed
        self._banned = mx.array(sorted(banned), dtype=mx.int32)
        # What bans them: as wide as the logits, made when the first ones come.
        self._ban = mx.zeros(0)
        self._window = _Window(options, prompt_ids) if _penalizes(options) else None

    def sample(self, logits: mx.array) -> mx.array:
        """Return the next token [1], uint32, for logits [1, V], without evaluating either."""
        scores = logits.astype(mx.float32)
        if self._banned.size:
            if not self._ban.size:
                self._ban = mx.zeros(scores.shape[-1]).at[self._banned].add(_NOTHING)
                mx.eval(self._ban)
            scores = scores + self._ban
        if self._window is not None:
            scores = self._window.penalize(scores)
        token = best(scores, 1)[:, 0] if self._options.temperature < _COLDEST else self._draw(scores)
        if self._window is not None:
            self._window.push(token)
        return token

    def _draw(self, scores: mx.array) -> mx.array:
        log_probs, ids = distribution(scores, self._options)
        drawn = mx.random.categorical(log_probs, key=mx.random.key(draw_key(self.seed, self._draws)))
        self._draws += 1
        return mx.take_along_axis(ids, drawn[:, None], axis=-1)[:, 0]


class _Window:
    """The last tokens of prompt and answer and how often each is among them, kept on the device."""

    def __init__(self, options: SamplingOptions, prompt_ids: Sequence[int]) -> None:
        self._options = options
        # A window over the whole context never forgets.
        self._size = options.repeat_last_n if options.repeat_last_n > 0 else None
        recent = prompt_ids if self._size is None else prompt_ids[-self._size :]
        self._ring = mx.array(list(recent), dtype=mx.uint32)
        self._oldest = 0
        # As wide as the logits, which may be wider than the vocabulary; made when the first ones come.
        self._counts = mx.zeros(0)

    def penalize(self, scores: mx.array) -> mx.array:
        options = self._options
        if not self._counts.size:
            self._counts = mx.zeros(scores.shape[-1]).at[self._ring].add(1.0)
        # A token that is in the ring twice is computed twice, to the same value.
        values = scores[:, self._ring]
        if options.repeat_penalty > 0:
            values = values * mx.where(values < 0, options.repeat_penalty, 1 / options.repeat_penalty)
        values = values - options.presence_penalty - options.frequency_penalty * self._counts[self._ring]
        penalized = mx.array(scores)
        penalized[:, self._ring] = values
        return penalized

    def push(self, token: mx.array) -> None:
        self._counts = self._counts.at[token].add(1.0)
        if self._size is None or self._ring.size < self._size:
            self._ring = mx.concatenate([self._ring, token])
            return
        place = slice(self._oldest, self._oldest + 1)
        self._counts = self._counts.at[self._ring[place]].subtract(1.0)
        ring = mx.array(self._ring)
        ring[place] = token
        self._ring = ring
        self._oldest = (self._oldest + 1) % self._size


def distribution(scores: mx.array, options: SamplingOptions) -> tuple[mx.array, mx.array]:
    """Return what is drawn from: log-probabilities [1, N], impossible ones -inf, and the token ids [1, N] they are of.

    Args:
        scores: Penalized logits [1, V], float32.
        options: With a temperature above 0.
    """
    vocabulary = scores.shape[-1]
    ordered = 0 < options.top_p < 1
    if 0 < options.top_k < vocabulary:
        ids = best(scores, options.top_k)
        scores = mx.take_along_axis(scores, ids, axis=-1)
    else:
        ids = mx.arange(vocabulary, dtype=mx.uint32)[None]
    if ordered:
        order = mx.argsort(-scores, axis=-1)
        ids = mx.take_along_axis(ids, order, axis=-1)
        scores = mx.take_along_axis(scores, order, axis=-1)
    # The largest is subtracted first: divided by a small temperature it would overflow.
    scores = (scores - scores.max(axis=-1, keepdims=True)) / options.temperature
    probabilities = mx.softmax(scores, axis=-1)
    if ordered:
        before = mx.cumsum(probabilities, axis=-1, inclusive=False)
        # Smaller numbers would be 0 in float32, and at least one entry has to stay.
        probabilities = mx.where(before < max(options.top_p, _LEAST), probabilities, 0.0)
    if 0 < options.min_p <= 1:
        least = options.min_p * probabilities.max(axis=-1, keepdims=True)
        probabilities = mx.where(probabilities < least, 0.0, probabilities)
    total = mx.maximum(probabilities.sum(axis=-1, keepdims=True), _LEAST)
    return mx.log(probabilities / total), ids


def best(scores: mx.array, count: int) -> mx.array:
    """Return the ids [1, count], uint32, of the best scores [1, V], in no particular order.

    Of equal scores for a single place the first takes it. The best of all are among the blocks with the best maxima,
    and looking at maxima first is 8 times faster on a CPU than partitioning a vocabulary of 150,000.
    """
    vocabulary = scores.shape[-1]
    blocks = vocabulary // _BLOCK
    if vocabulary % _BLOCK or blocks <= count:
        return _best_plain(scores, count)
    table = scores.reshape(blocks, _BLOCK)
    chosen = _best_plain(table.max(axis=-1)[None], count)[0]
    within = table[chosen].reshape(1, -1)
    ids = (chosen[:, None] * _BLOCK + mx.arange(_BLOCK, dtype=mx.uint32)).reshape(1, -1)
    return mx.take_along_axis(ids, _best_plain(within, count), axis=-1)


def _best_plain(scores: mx.array, count: int) -> mx.array:
    if count == 1:
        return mx.argmax(scores, axis=-1, keepdims=True)
    return mx.argpartition(scores, -count, axis=-1)[:, -count:]


def draw_key(seed: int, draw: int) -> int:
    """Return the 64-bit PRNG seed of draw number `draw`, from 0: splitmix64's output for `seed`."""
    z = (seed + 0x9E3779B97F4A7C15 * (draw + 1)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _penalizes(options: SamplingOptions) -> bool:
    repeats = options.repeat_penalty > 0 and options.repeat_penalty != 1
    return options.repeat_last_n != 0 and bool(repeats or options.presence_penalty or options.frequency_penalty)
