"""DRY ("don't repeat yourself"): the longer the passage that a token would repeat, the more it is penalized.

A token that followed the same last n tokens before loses `multiplier * base ** (n - allowed_length)`, if n is at least
`allowed_length`; of several such places the longest counts. Names, defaults and effect are those of
text-generation-webui, where DRY comes from, and of llama.cpp. Breakers, such as line ends, quotation marks and turn
markers, end a passage, and are never penalized themselves.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import mlx.core as mx

from sotto.engine.contract.requests import SamplingOptions

# Far beyond any score, but a sum of two does not overflow.
_MAX_PENALTY = 1e30


@dataclass(frozen=True, slots=True)
class Passages:
    """Which passages of a text its end repeats, and how long they are; kept on the device.

    Attributes:
        options: The sampling options.
        breakers: Tokens that end a passage.
        size: How many tokens to look back; None for all.
        tokens: The last tokens of prompt and answer [N], uint32.
        lengths: For each position [N], int32, how many tokens up to it equal those at the end; 0 for the last.
        breaks: Whether each token is a breaker; as wide as the logits, which may be wider than the vocabulary.
    """

    options: SamplingOptions
    breakers: Collection[int]
    size: int | None
    tokens: mx.array
    lengths: mx.array
    breaks: mx.array

    @classmethod
    def of(cls, options: SamplingOptions, prompt_ids: Sequence[int], breakers: Collection[int]) -> "Passages | None":
        """Return the passages of a prompt, still without a width; None if DRY is off."""
        if options.dry_multiplier <= 0 or options.dry_penalty_last_n == 0:
            return None
        size = options.dry_penalty_last_n if options.dry_penalty_last_n > 0 else None
        recent = list(prompt_ids if size is None else prompt_ids[-size:])
        return cls(
            options,
            breakers,
            size,
            mx.array(recent, dtype=mx.uint32),
            mx.array(_lengths(recent, breakers), dtype=mx.int32),
            mx.zeros(0, mx.bool_),
        )

    def as_wide_as(self, width: int) -> "Passages":
        """Return the passages for scores [R, width]."""
        if self.breaks.size == width:
            return self
        known = [token for token in self.breakers if token < width]
        breaks = mx.zeros(width, mx.bool_)
        breaks[mx.array(known, dtype=mx.uint32)] = True
        return replace(self, breaks=breaks)

    def penalize(self, scores: mx.array) -> mx.array:
        """Return scores [1, V] with the penalties of tokens that would continue a passage."""
        count = self.tokens.size - 1
        if count < 1:
            return scores
        options, following = self.options, self.tokens[1:]
        # Passages cannot begin before the first token that is kept.
        lengths = mx.minimum(self.lengths[:-1], mx.arange(1, count + 1))
        counts = (lengths >= options.dry_allowed_length) & ~self.breaks[following]
        penalties = options.dry_multiplier * mx.power(options.dry_base, lengths - options.dry_allowed_length)
        penalties = mx.where(counts, mx.minimum(penalties, _MAX_PENALTY), 0.0)
        return scores - mx.zeros(scores.shape[-1]).at[following].maximum(penalties)

    def pushed(self, token: mx.array) -> "Passages":
        """Return the passages after `token` [1]; the oldest token leaves if there are more than `size`.

        A passage up to some position is one token longer than that up to the position before, if the token is the same.
        """
        so_far = mx.concatenate([mx.zeros(1, mx.int32), self.lengths[:-1]])
        goes_on = (self.tokens == token) & ~self.breaks[token]
        lengths = mx.concatenate([mx.where(goes_on, so_far + 1, 0), mx.zeros(1, mx.int32)])
        tokens = mx.concatenate([self.tokens, token])
        if self.size is not None and tokens.size > self.size:
            tokens, lengths = tokens[1:], lengths[1:]
        return replace(self, tokens=tokens, lengths=lengths)


def _lengths(tokens: Sequence[int], breakers: Collection[int]) -> list[int]:
    """Return `Passages.lengths` of a text, in linear time (the Z-algorithm, from the end of the text)."""
    back = tokens[::-1]
    most = next((index for index, token in enumerate(back) if token in breakers), len(back))
    same = [0] * len(back)
    start = end = 0
    for index in range(1, len(back)):
        length = min(same[index - start], end - index) if index < end else 0
        while index + length < len(back) and back[length] == back[index + length]:
            length += 1
        same[index] = length
        if index + length > end:
            start, end = index, index + length
    return [min(length, most) for length in reversed(same)]
