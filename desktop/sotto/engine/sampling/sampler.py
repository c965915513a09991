"""Sampling the next token from a model's logits, in the order and with the random keys of Ollama's MLX runner.

Steps that this runner does not have come where llama.cpp has them. In order:

1. `logit_bias` is added, and banned tokens become impossible;
2. penalties on the tokens of the window: repeat, then presence (once a token), then frequency (once an occurrence);
3. DRY, on the tokens that would repeat a passage (`sotto.engine.sampling.dry`);
4. a temperature of 0 or less takes the best score and ends here;
5. top-k keeps the k best scores; all further steps run on those k values;
6. scores are divided by the temperature and become probabilities;
7. typical-p keeps entries, from the most typical down, while the sum of those before is less than p;
8. top-p does the same from the most likely down, with what is left, scaled to one;
9. min-p drops entries below m times the most likely one;
10. XTC, with its probability for each token, drops all entries above its threshold except the least likely of them;
11. what is left is scaled to one, and a token is sampled from it.

Mirostat replaces steps 5 and 7 to 10 (`sotto.engine.sampling.mirostat`).

Token n of an answer uses the PRNG key `draw_key(seed, n)`, mixed with each token's id
(`sotto.engine.sampling.draw_keys`), so an answer depends on its own seed, not on other answers that run. Everything is
float32 and lazy: no step waits for a token to be known, not even the penalties, whose window is kept in arrays.

Speculative decoding changes no answer. Each row of logits is sampled as if the drafts before it were the answer so
far, with the key of its own position. As long as a sampled token equals its draft, the next row is valid. The first
token that differs is what would have been sampled anyway, and the rows after it are dropped. So the tokens kept are
those of single steps, whatever was proposed, and their distribution is the model's. A draft model that samples with the
same keys (`fork`) uses the same random numbers on its own distribution, so the two agree as often as the distributions
do.
"""

import secrets
from collections.abc import Collection, Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Protocol, Self

import mlx.core as mx

from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.sampling.distribution import best, distribution
from sotto.engine.sampling.draw_keys import chance, draw_key, draw_rows
from sotto.engine.sampling.dry import Passages
from sotto.engine.sampling.mirostat import draw_mirostat, first_limit
from sotto.engine.sampling.penalties import Window

# Below this, dividing float32 scores by the temperature overflows, and only the best could be sampled anyway.
_MIN_TEMPERATURE = 1e-5
_NOTHING = -float("inf")


class Past(Protocol):
    """Penalties that earlier tokens put on the scores of the next one; immutable."""

    def as_wide_as(self, width: int) -> Self:
        """Return the same penalties for scores [R, width]."""

    def penalize(self, scores: mx.array) -> mx.array:
        """Return scores [1, V] with the penalties applied."""

    def pushed(self, token: mx.array) -> Self:
        """Return the penalties after `token` [1]."""


class Sampler:
    """Samples the tokens of one answer.

    Attributes:
        seed: The seed of the keys: that of the options, or 64 random bits.
        width: Width of the last logits; 0 before the first.
    """

    def __init__(
        self,
        options: SamplingOptions,
        prompt_ids: Sequence[int],
        banned: Iterable[int] = (),
        breakers: Collection[int] = (),
    ) -> None:
        """Start an answer.

        Args:
            options: The sampling options.
            prompt_ids: The prompt; its last tokens fill the window of the penalties.
            banned: Tokens that are never sampled.
            breakers: Tokens that end a passage, for DRY.
        """
        self._options = options
        self._draws = 0
        self.seed = secrets.randbits(64) if options.seed is None else options.seed
        self._banned = tuple(sorted(banned))
        # Precomputed, because it is read at every step.
        self._alike = replace(options, seed=None), self._banned
        # The bias, -inf for banned tokens; as wide as the logits, so created with the first of them.
        self._bias = mx.zeros(0)
        pasts = Window.of(options, prompt_ids), Passages.of(options, prompt_ids, breakers)
        self._pasts: tuple[Past, ...] = tuple(past for past in pasts if past is not None)
        self._limit = first_limit(options) if self._random else None
        self._undecided: _Undecided | None = None
        self.width = 0

    def sample(self, logits: mx.array) -> mx.array:
        """Return the next token [1], uint32, for logits [1, V], without evaluating either."""
        token = self.sample_rows(logits)
        self.commit(1)
        return token

    def sample_rows(self, logits: mx.array, drafts: Sequence[int] | mx.array = ()) -> mx.array:
        """Return the token after each draft, without evaluating anything; then `commit` says how many are kept.

        Args:
            logits: [n + 1, V]; row i is what follows the answer so far and the first i drafts.
            drafts: The n tokens that were proposed and fed.

        Returns:
            Tokens [n + 1], uint32. Token i is the next one if all drafts before it are accepted.
        """
        drafted = drafts if isinstance(drafts, mx.array) else mx.array(list(drafts), dtype=mx.uint32)
        pasts = self.pasts(logits.shape[-1], drafted)
        tokens, limits = self.chosen(logits, pasts, self.keys(len(logits)))
        self.propose(tokens, pasts, limits)
        return tokens

    def commit(self, count: int) -> None:
        """Keep the first `count` tokens of the last `sample_rows`, as if they had been sampled one by one.

        All but the last must be equal to their drafts; the last need not be evaluated yet.
        """
        if self._undecided is None or not 0 <= count <= self._undecided.tokens.size:
            raise RuntimeError(f"no {count} sampled tokens are there to be kept")
        done, self._undecided = self._undecided, None
        if count == 0:
            return
        if self._random:
            self._draws += count
        if done.pasts:
            self._pasts = _pushed(done.pasts[count - 1], done.tokens[count - 1 : count])
        if done.limits:
            self._limit = done.limits[count - 1]

    def push(self, token: int, width: int) -> None:
        """Continue as if `token` had been sampled for logits [1, width], without using up a random key."""
        pasts = tuple(past.as_wide_as(width) for past in self._pasts)
        self._pasts = _pushed(pasts, mx.array([token], dtype=mx.uint32))

    def fork(self) -> "Sampler":
        """Return an independent sampler in the same state, for a draft model.

        Its logits may be wider or narrower than those of this one.
        """
        return copy(self)

    # The steps of `sample_rows`, for `sample_each`.

    @property
    def group_key(self) -> Hashable:
        """Equal for samplers whose rows can be sampled together; unique with mirostat, whose limit changes."""
        return self._alike, None if self._limit is None else id(self)

    def pasts(self, width: int, drafts: mx.array) -> list[tuple[Past, ...]]:
        """Return the penalties of n + 1 rows, each after one more of n drafts; empty without penalties."""
        self.width = width
        if not self._pasts:
            return []
        pasts = [tuple(past.as_wide_as(width) for past in self._pasts)]
        for row in range(drafts.size):
            pasts.append(_pushed(pasts[-1], drafts[row : row + 1]))
        return pasts

    def keys(self, count: int) -> list[int]:
        """Return the random keys of the next tokens."""
        return [draw_key(self.seed, self._draws + row) for row in range(count)]

    def chosen(
        self, logits: mx.array, pasts: Sequence[tuple[Past, ...]], keys: Sequence[int]
    ) -> tuple[mx.array, list[mx.array]]:
        """Sample a token from each row of logits.

        Args:
            logits: [R, V].
            pasts: Penalties of each row; empty without penalties.
            keys: Random key of each row.

        Returns:
            The tokens [R], and mirostat's limit after each of them; no limits without mirostat.
        """
        options, scores = self._options, self._biased(logits.astype(mx.float32))
        if pasts:
            scores = mx.concatenate([_penalize(scores[row : row + 1], past) for row, past in enumerate(pasts)])
        if not self._random:
            return best(scores, 1)[:, 0], []
        if self._limit is not None:
            tokens, limits = [], [self._limit]
            for row, key in enumerate(keys):
                token, limit = draw_mirostat(scores[row : row + 1], options, limits[-1], key)
                tokens.append(token)
                limits.append(limit)
            return mx.concatenate(tokens), limits[1:]
        struck = [chance(key) < options.xtc_probability for key in keys] if options.xtc_probability > 0 else []
        log_probs, ids = distribution(scores, options, struck)
        return mx.take_along_axis(ids, draw_rows(log_probs, ids, keys), axis=-1)[:, 0], []

    def propose(self, tokens: mx.array, pasts: list[tuple[Past, ...]], limits: list[mx.array]) -> None:
        """Hold sampled tokens until `commit` says how many are kept."""
        self._undecided = _Undecided(tokens, pasts, limits)

    @property
    def _random(self) -> bool:
        return self._options.temperature >= _MIN_TEMPERATURE

    def _biased(self, scores: mx.array) -> mx.array:
        """Return scores [R, V] with the bias added, and -inf for banned tokens."""
        bias = self._options.logit_bias
        if not (self._banned or bias):
            return scores
        width = scores.shape[-1]
        if self._bias.size != width:
            changes = [(token, value) for token, value in (*bias, *((each, _NOTHING) for each in self._banned))]
            ids = mx.array([token for token, _ in changes], dtype=mx.int32)
            self._bias = mx.zeros(width).at[ids].add(mx.array([value for _, value in changes]))
            mx.eval(self._bias)
        return scores + self._bias


def sample_each(samplers: Sequence[Sampler], logits: mx.array) -> list[mx.array]:
    """Return the next token [1] of each of several answers, as `Sampler.sample` would, without evaluating anything.

    Answers with equal options, whatever their seeds, are sampled in one operation, which saves its fixed cost.

    Args:
        samplers: One for each answer.
        logits: [answers, V].
    """
    groups: dict[Hashable, list[int]] = {}
    for row, sampler in enumerate(samplers):
        groups.setdefault(sampler.group_key, []).append(row)
    tokens: dict[int, mx.array] = {}
    nothing = mx.zeros(0, dtype=mx.uint32)
    for rows in groups.values():
        own = logits if len(rows) == len(samplers) else logits[mx.array(rows)]
        group = [samplers[row] for row in rows]
        pasts = [sampler.pasts(logits.shape[-1], nothing) for sampler in group]
        keys = [key for sampler in group for key in sampler.keys(1)]
        chosen, limits = group[0].chosen(own, [past for each in pasts for past in each], keys)
        for at, sampler in enumerate(group):
            tokens[rows[at]] = chosen[at : at + 1]
            sampler.propose(tokens[rows[at]], pasts[at], limits)
            sampler.commit(1)
    return [tokens[row] for row in range(len(samplers))]


@dataclass(frozen=True, slots=True)
class _Undecided:
    """Sampled tokens that are neither kept nor dropped yet.

    Attributes:
        tokens: One for each row of logits.
        pasts: Penalties of each row; empty without penalties.
        limits: Mirostat's limit after each token; empty without mirostat.
    """

    tokens: mx.array
    pasts: list[tuple[Past, ...]]
    limits: list[mx.array]


def _penalize(scores: mx.array, pasts: Iterable[Past]) -> mx.array:
    for past in pasts:
        scores = past.penalize(scores)
    return scores


def _pushed(pasts: Iterable[Past], token: mx.array) -> tuple[Past, ...]:
    return tuple(past.pushed(token) for past in pasts)
