"""Perplexity and KL divergence, from the logits of two models for the same tokens.

The figures and their standard errors are those of `llama-perplexity --kl-divergence` of llama.cpp
(`tools/perplexity/perplexity.cpp`), so that they can be compared with published ones. For each predicted token t, with
the probabilities p of the original and q of the other model:

- the negative log-likelihoods are -ln p(t) and -ln q(t); a model's perplexity is e to the power of their mean;
- the KL divergence is the sum of p(v) * (ln p(v) - ln q(v)) over the vocabulary, in nats;
- the top token is the same where p and q have their largest values at the same v.

The standard error of a mean over n tokens is sqrt((mean of x^2 - (mean of x)^2) / (n - 1)), as if tokens were drawn
independently. That of a perplexity P is P times the one of its logarithm, and the one of the ratio Q / P takes into
account that both models read the same text: var(ln Q - ln P) = var(ln Q) + var(ln P) - 2 cov(ln Q, ln P).

Differences to llama.cpp: the original's logits are kept in 32 bits instead of 16, sums are in 64, and tokens that the
original gives a probability below e^-16 count as well. MLX's exponentials have the accuracy of 32 bits also in 64, so a
divergence is exact to about 1e-8.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

import mlx.core as mx

# Rows that are computed at the same time, which bounds the memory.
_ROWS = 16


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over the tokens of a text, or what follows from one, and its standard error."""

    value: float
    error: float


@dataclass(frozen=True, slots=True)
class Quality:
    """How far a model is from the original, in the sense of the module's text.

    Attributes:
        tokens: How many predictions were compared.
        original_perplexity: Perplexity of the original.
        perplexity: Perplexity of the other model.
        ratio: The other model's perplexity divided by the original's.
        divergence: Mean KL divergence in nats.
        median_divergence: Its median.
        high_divergence: Its 99th percentile.
        same_token: Share of predictions with the same most likely token, from 0 to 1.
    """

    tokens: int
    original_perplexity: Estimate
    perplexity: Estimate
    ratio: Estimate
    divergence: Estimate
    median_divergence: float
    high_divergence: float
    same_token: Estimate

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


class Comparison:
    """Collects the figures of each predicted token, and sums them up. Belongs to the thread that owns MLX."""

    def __init__(self) -> None:
        """Start without tokens."""
        self._before: list[float] = []
        self._after: list[float] = []
        self._divergence: list[float] = []
        self._same: list[float] = []

    def add(self, original: mx.array, other: mx.array, targets: Sequence[int]) -> None:
        """Add predictions.

        Args:
            original: Logits [rows, vocabulary] of the original.
            other: Logits of the other model, of the same shape.
            targets: The token that really comes next, for each row.
        """
        # Only processors compute in 64 bits.
        with mx.stream(mx.cpu):
            for start in range(0, len(targets), _ROWS):
                part = slice(start, start + _ROWS)
                self._add(original[part], other[part], mx.array(list(targets[part]))[:, None])

    def _add(self, original: mx.array, other: mx.array, targets: mx.array) -> None:
        before, after = _logarithms(original), _logarithms(other)
        chances = mx.exp(before)
        # A token that the original rules out, with a logit of minus infinity, adds nothing.
        terms = mx.where(chances > 0, chances * (before - after), 0.0)
        same = mx.argmax(original, axis=1) == mx.argmax(other, axis=1)
        figures = (
            (self._before, -mx.take_along_axis(before, targets, axis=1)[:, 0]),
            (self._after, -mx.take_along_axis(after, targets, axis=1)[:, 0]),
            # Never negative but for rounding.
            (self._divergence, mx.maximum(terms.sum(axis=1), 0.0)),
            (self._same, same.astype(mx.float64)),
        )
        mx.eval([values for _, values in figures])
        for column, values in figures:
            column.extend(values.tolist())  # type: ignore[arg-type]

    def result(self) -> Quality:
        """Return the figures of everything that was added: at least two predictions."""
        count = len(self._before)
        first, second = _mean(self._before), _mean(self._after)
        # The error of a mean of differences is what the two errors and their covariance come to.
        change = _mean([after - before for before, after in zip(self._before, self._after, strict=True)])
        ordered = sorted(self._divergence)
        return Quality(
            tokens=count,
            original_perplexity=_exponential(first),
            perplexity=_exponential(second),
            ratio=_exponential(change),
            divergence=_mean(self._divergence),
            median_divergence=median(ordered),
            high_divergence=_percentile(ordered, 0.99),
            same_token=_mean(self._same),
        )


def _logarithms(logits: mx.array) -> mx.array:
    """Return log-probabilities in 64 bits."""
    wide = logits.astype(mx.float64)
    shifted = wide - wide.max(axis=1, keepdims=True)
    return shifted - mx.log(mx.exp(shifted).sum(axis=1, keepdims=True))


def _mean(values: Sequence[float]) -> Estimate:
    mean = fmean(values)
    variance = fmean((value - mean) ** 2 for value in values)
    return Estimate(mean, math.sqrt(variance / (len(values) - 1)))


def _exponential(logarithm: Estimate) -> Estimate:
    value = math.exp(logarithm.value)
    return Estimate(value, value * logarithm.error)


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Return a percentile of ascending values, interpolated between neighbours as llama.cpp does."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
