"""Draw the next token from a model's logits, in the order and with the random keys of Ollama's MLX runner.

1. penalties on the tokens of the window: repeat, then presence (once a token), then frequency (once an occurrence);
2. a temperature of 0 or less takes the best score and is done;
3. top-k keeps the k best scores; everything below runs on those k values;
4. scores are divided by the temperature and become probabilities;
5. top-p keeps, from the likeliest down, every entry in front of which there is less than p;
6. min-p drops what is below m times the likeliest;
7. what is left is scaled to one and drawn from.

Draw n of an answer uses the PRNG key `draw_key(seed, n)`, mixed with each token's id, so an answer depends on its own
seed and on nothing else that runs. Everything is float32 and lazy: no step waits for a token to be known, not even the
penalties, whose window lives in arrays.

Speculation changes no answer. Each row of logits behind a draft is sampled as it would be if the drafts in front of it
were the answer so far, with the key of its own draw. While a sampled token equals its draft, the next row's tokens in
front are therefore right; the first that does not is what would have been drawn anyway, and the rows behind it are
dropped. So the tokens kept are those that one step after the other would give, whatever was proposed, and their
distribution is the model's. A draft model that draws with the same keys (`fork`) proposes what the same random numbers
choose from its own distribution, which agrees as often as the two are alike.
"""

import secrets
from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import mlx.core as mx

from sotto.engine.penalties import Window
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
        self._banned = tuple(sorted(banned))
        # What bans them: as wide as the logits, made when the first ones come.
        self._ban = mx.zeros(0)
        self._window = Window.of(options, prompt_ids)
        self._undecided: _Undecided | None = None

    def sample(self, logits: mx.array) -> mx.array:
        """Return the next token [1], uint32, for logits [1, V], without evaluating either."""
        token = self.sample_rows(logits)
        self.commit(1)
        return token

    def sample_rows(self, logits: mx.array, drafts: Sequence[int] | mx.array = ()) -> mx.array:
        """Return the token behind each draft, without evaluating anything; `commit` then says how many are kept.

        Args:
            logits: [n + 1, V]; row i is what follows the answer so far and the first i drafts.
            drafts: The n tokens that were fed on trial.

        Returns:
            Tokens [n + 1], uint32. Token i is the one that follows if all drafts in front of it are right.
        """
        drafted = drafts if isinstance(drafts, mx.array) else mx.array(list(drafts), dtype=mx.uint32)
        windows = self.windows(logits.shape[-1], drafted)
        tokens = self.chosen(logits, windows, self.keys(len(logits)))
        self.propose(tokens, windows)
        return tokens

    def commit(self, count: int) -> None:
        """Go on as if the first `count` tokens of the last `sample_rows` had been sampled one after the other.

        All of them but the last must be equal to their drafts; the last one need not be known yet.
        """
        if self._undecided is None or not 0 <= count <= self._undecided.tokens.size:
            raise RuntimeError(f"no {count} sampled tokens are there to be kept")
        tokens, windows = self._undecided.tokens, self._undecided.windows
        self._undecided = None
        if count == 0:
            return
        if self._random:
            self._draws += count
        if windows:
            self._window = windows[count - 1].pushed(tokens[count - 1 : count])

    def fork(self) -> "Sampler":
        """Return a sampler that would draw the same from here on, and goes its own way: for the drafts of a model.

        Its logits may be wider or narrower than those of this one.
        """
        return copy(self)

    # The steps of `sample_rows`, for `sample_each`.

    @property
    def manner(self) -> Hashable:
        """What samplers have in common whose rows can be drawn together."""
        return replace(self._options, seed=None), self._banned

    def windows(self, width: int, drafts: mx.array) -> list[Window]:
        """Return what the row behind each of n drafts is penalized by, n + 1 windows; none without penalties."""
        if self._window is None:
            return []
        windows = [self._window.as_wide_as(width)]
        for row in range(drafts.size):
            windows.append(windows[-1].pushed(drafts[row : row + 1]))
        return windows

    def keys(self, count: int) -> list[int]:
        """Return the keys of the next draws."""
        return [draw_key(self.seed, self._draws + row) for row in range(count)]

    def chosen(self, logits: mx.array, windows: Sequence[Window], keys: Sequence[int]) -> mx.array:
        """Return a token [R] for each row of logits [R, V], penalized by its window and drawn with its key."""
        scores = logits.astype(mx.float32)
        if self._banned:
            if self._ban.size != scores.shape[-1]:
                self._ban = mx.zeros(scores.shape[-1]).at[mx.array(self._banned, dtype=mx.int32)].add(_NOTHING)
                mx.eval(self._ban)
            scores = scores + self._ban
        if windows:
            scores = mx.concatenate([window.penalize(scores[row : row + 1]) for row, window in enumerate(windows)])
        if not self._random:
            return best(scores, 1)[:, 0]
        log_probs, ids = distribution(scores, self._options)
        drawn = mx.argmax(log_probs + gumbel(keys, ids), axis=-1, keepdims=True)
        return mx.take_along_axis(ids, drawn, axis=-1)[:, 0]

    def propose(self, tokens: mx.array, windows: list[Window]) -> None:
        """Take what was chosen, until `commit` says how much of it is kept."""
        self._undecided = _Undecided(tokens, windows)

    @property
    def _random(self) -> bool:
        return self._options.temperature >= _COLDEST


def sample_each(samplers: Sequence[Sampler], logits: mx.array) -> list[mx.array]:
    """Return the next token [1] of each of several answers, as `Sampler.sample` would, without evaluating anything.

    Answers that are drawn in the same manner, whatever their seeds, are drawn in one go: what an operation costs
    besides its arithmetic is paid for once.

    Args:
        samplers: One for each answer.
        logits: [answers, V].
    """
    alike: dict[Hashable, list[int]] = {}
    for row, sampler in enumerate(samplers):
        alike.setdefault(sampler.manner, []).append(row)
    tokens: dict[int, mx.array] = {}
    nothing = mx.zeros(0, dtype=mx.uint32)
    for rows in alike.values():
        own = logits if len(rows) == len(samplers) else logits[mx.array(rows)]
        group = [samplers[row] for row in rows]
        windows = [one.windows(logits.shape[-1], nothing) for one in group]
        keys = [key for one in group for key in one.keys(1)]
        chosen = group[0].chosen(own, [window for each in windows for window in each], keys)
        for at, one in enumerate(group):
            tokens[rows[at]] = chosen[at : at + 1]
            one.propose(tokens[rows[at]], windows[at])
            one.commit(1)
    return [tokens[row] for row in range(len(samplers))]


@dataclass(frozen=True, slots=True)
class _Undecided:
    """What was sampled and not yet kept or dropped.

    Attributes:
        tokens: One for each row of logits.
        windows: What each row was penalized by; empty without penalties.
    """

    tokens: mx.array
    windows: list[Window]


def distribution(scores: mx.array, options: SamplingOptions) -> tuple[mx.array, mx.array]:
    """Return what is drawn from: log-probabilities [R, N], impossible ones -inf, and the token ids [R, N] they are of.

    Args:
        scores: Penalized logits [R, V], float32; each row by itself.
        options: With a temperature above 0.
    """
    vocabulary = scores.shape[-1]
    ordered = 0 < options.top_p < 1
    if 0 < options.top_k < vocabulary:
        ids = best(scores, options.top_k)
        scores = mx.take_along_axis(scores, ids, axis=-1)
    else:
        ids = mx.broadcast_to(mx.arange(vocabulary, dtype=mx.uint32), scores.shape)
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
    """Return the ids [R, count], uint32, of the best scores of each row [R, V], in no particular order.

    Of equal scores for a single place the first takes it. The best of all are among the blocks with the best maxima,
    and looking at maxima first is 8 times faster on a CPU than partitioning a vocabulary of 150,000.
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


def draw_key(seed: int, draw: int) -> int:
    """Return the 64-bit PRNG seed of draw number `draw`, from 0: splitmix64's output for `seed`."""
    z = (seed + 0x9E3779B97F4A7C15 * (draw + 1)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)
