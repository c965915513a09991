"""Drafts from a model's own head for multi-token prediction.

The model feeds the head along with its own layers, so the head is always level with the answer: a round begins with the
hidden state after the last token. Its proposals are sampled with the random numbers that the answer's own sampler will
use, as those of a draft model are, and removed from its cache again before they are verified.
"""

import mlx.core as mx

from sotto.engine.architectures.prediction import Predicting, PredictionCache
from sotto.engine.generation.draft_depth import DraftDepth
from sotto.engine.generation.generation import Generation

MOST_DRAFTS = 8


class PredictionDrafts:
    """The head of a model, and what has been learnt about it over all answers.

    Attributes:
        name: What logs call it.
        sees: It reads the model's own hidden states, so what the model has seen.
        model: The model.
        depths: Chooses how many tokens it proposes.
    """

    name = "the prediction head"
    sees = True

    def __init__(self, model: Predicting, limit: int = MOST_DRAFTS) -> None:
        """Start with nothing learnt.

        Args:
            model: The model.
            limit: Maximum number of tokens to propose at a time.
        """
        self.model = model
        self.depths = DraftDepth(limit)

    def drafter(self, generation: Generation) -> "PredictionDrafter":
        """Return what proposes drafts for an answer."""
        return PredictionDrafter(self, generation)


class PredictionDrafter:
    """Proposes drafts for one answer with the model's head; has no state between rounds."""

    unfinished: tuple[object, ...] = ()

    def __init__(self, source: PredictionDrafts, generation: Generation) -> None:
        """Propose for `generation`."""
        self._source = source
        self._generation = generation

    def gain(self, most: int) -> float:
        """Return the expected speed-up of a round with at most `most` drafts; 1 if none would be proposed."""
        return self._source.depths.gain(most)

    def is_promising(self, most: int) -> bool:
        """Return whether `propose` would propose anything now, without changing anything."""
        return self._source.depths.planned(most) > 0

    def propose(self, most: int) -> mx.array | None:
        """Return tokens [n], uint32, proposed to follow the pending one; their evaluation has been started.

        Return None if drafting would not pay.

        Args:
            most: Maximum number of tokens.
        """
        count = self._source.depths.choose(most)
        cache = self._generation.caches[-1]
        # Without hidden states, the tokens before are from the prefix cache, and the next step gives one.
        if not count or not isinstance(cache, PredictionCache) or cache.recent is None:
            return None
        length, hidden, sampler = cache.offset, cache.recent[:, -1:], self._generation.sampler.fork()
        tokens: list[mx.array] = []
        fed = mx.array([self._generation.value])
        try:
            while len(tokens) < count:
                logits, hidden = self._source.model.predict(fed[None], hidden, cache)
                tokens.append(sampler.sample(logits[:, -1, :]))
                mx.async_eval(tokens[-1])  # type: ignore[no-untyped-call]
                fed = tokens[-1]
        finally:
            cache.forget_proposals(length)
        return mx.concatenate(tokens)

    def settle(self, drafts: list[int], right: int) -> None:
        """Do nothing: the model's pass has fed the head with the drafts, and their removal removes them there too."""

    def end(self) -> None:
        """Do nothing: the cache is one of the answer's."""

    def drop(self) -> None:
        """Do nothing: the answer drops its caches."""
