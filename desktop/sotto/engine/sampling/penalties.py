"""What the last tokens of prompt and answer take from the scores of their like."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import mlx.core as mx

from sotto.engine.contract.requests import SamplingOptions


@dataclass(frozen=True, slots=True)
class Window:
    """The last tokens of prompt and answer, kept on the device.

    Attributes:
        options: What penalizes them.
        size: How many there may be; None for a window over the whole context, which never forgets.
        ring: The tokens [N], uint32.
        oldest: Where in a full ring the next token goes.
        counts: How often each token is in the ring, as wide as the logits, which may be wider than the vocabulary.
    """

    options: SamplingOptions
    size: int | None
    ring: mx.array
    oldest: int
    counts: mx.array

    @classmethod
    def of(cls, options: SamplingOptions, prompt_ids: Sequence[int]) -> "Window | None":
        """Return the window at the end of a prompt, not yet as wide as any logits; None where nothing is penalized."""
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
        """Return scores [1, V] with those of the tokens in the window changed."""
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
        """Return the window after `token` [1] has come in, and the oldest has gone where there is no room."""
        counts = self.counts.at[token].add(1.0)
        if self.size is None or self.ring.size < self.size:
            return replace(self, ring=mx.concatenate([self.ring, token]), counts=counts)
        place = slice(self.oldest, self.oldest + 1)
        counts = counts.at[self.ring[place]].subtract(1.0)
        ring = mx.array(self.ring)
        ring[place] = token
        return replace(self, ring=ring, oldest=(self.oldest + 1) % self.size, counts=counts)
