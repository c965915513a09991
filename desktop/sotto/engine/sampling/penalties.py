"""Penalties on tokens that have occurred lately: repeat, presence and frequency."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import mlx.core as mx

from sotto.engine.contract.requests import SamplingOptions


@dataclass(frozen=True, slots=True)
class Window:
    """The last tokens of prompt and answer, kept on the device.

    Attributes:
        options: The sampling options.
        size: Maximum number of tokens; None for a window over the whole context.
        ring: The tokens [N], uint32.
        oldest: Index of the oldest token of a full ring, which the next one replaces.
        counts: How often each token is in the ring; as wide as the logits, which may be wider than the vocabulary.
    """

    options: SamplingOptions
    size: int | None
    ring: mx.array
    oldest: int
    counts: mx.array

    @classmethod
    def of(cls, options: SamplingOptions, prompt_ids: Sequence[int]) -> "Window | None":
        """Return the window at the end of a prompt, still without a width; None without penalties."""
        repeats = options.repeat_penalty > 0 and options.repeat_penalty != 1
        if options.repeat_last_n == 0 or not (repeats or options.presence_penalty or options.frequency_penalty):
            return None
        size = options.repeat_last_n if options.repeat_last_n > 0 else None
        recent = prompt_ids if size is None else prompt_ids[-size:]
        return cls(options, size, mx.array(list(recent), dtype=mx.uint32), 0, mx.zeros(0))

    def as_wide_as(self, width: int) -> "Window":
        """Return the window for scores [R, width]."""
        if self.counts.size == width:
            return self
        return replace(self, counts=mx.zeros(width).at[self.ring].add(1.0))

    def penalize(self, scores: mx.array) -> mx.array:
        """Return scores [1, V] with the penalties of the tokens in the window."""
        options = self.options
        # A token that is in the ring twice is computed twice, to the same value.
        values = scores[:, self.ring]
        if options.repeat_penalty > 0:
            values = values * mx.where(values < 0, options.repeat_penalty, 1 / options.repeat_penalty)
        values = values - options.presence_penalty - options.frequency_penalty * self.counts[self.ring]
        penalized = mx.array(scores)
        penalized[:, self.ring] = values
        return penalized

    def pushed(self, token: mx.array) -> "Window":
        """Return the window after `token` [1], which replaces the oldest one in a full window."""
        counts = self.counts.at[token].add(1.0)
        if self.size is None or self.ring.size < self.size:
            return replace(self, ring=mx.concatenate([self.ring, token]), counts=counts)
        place = slice(self.oldest, self.oldest + 1)
        counts = counts.at[self.ring[place]].subtract(1.0)
        ring = mx.array(self.ring)
        ring[place] = token
        return replace(self, ring=ring, oldest=(self.oldest + 1) % self.size, counts=counts)
