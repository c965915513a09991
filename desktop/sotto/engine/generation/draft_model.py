"""A draft model: a second, smaller model that proposes the next tokens of an answer.

It has its own caches, which follow those of the main model. Text that it has not seen is fed in chunks, one before each
step, so that an answer never waits for a whole long prompt, and only if proposals are likely to pay. It proposes tokens
one by one, each sampled with the random numbers that the answer's own sampler will use, so that the two agree as often
as their distributions do. A round waits only once, for the verification; rejected tokens are then removed. Caches that
cannot be rewound are restored to the beginning of the round, and accepted tokens are fed again together with the next
ones, which needs no extra step.

Proposals affect only the speed: tokens that this model does not have are fed as its last one.
"""

import math
import time
from collections.abc import Sequence as Series

import mlx.core as mx

from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.caches.sequence import Sequence, States
from sotto.engine.generation.chunk_sizing import CHUNK, ChunkSize
from sotto.engine.generation.draft_depth import DraftDepth
from sotto.engine.generation.generation import Generation, Model

MOST_DRAFTS = 8
# A model that does not pay is tried again occasionally, but not if it must first read more tokens than this.
_MAX_TRIAL_TOKENS = 256
_FIRST_CHUNK = 64


def short_chunks(largest: int) -> ChunkSize:
    """Return the size of chunks, at most `largest`, that a draft model is fed before a step; they stay short."""
    return ChunkSize(largest, min(_FIRST_CHUNK, largest), target=0.1, limit=0.25)


class DraftModel:
    """A loaded model that proposes drafts for a main model, and what has been learnt about it over all answers.

    Attributes:
        name: Its name, for people.
        model: Computes logits [B, L, V] from tokens [B, L] and `cache=`.
        steps: Equivalent of `model` for the few tokens of a step.
        prefix: Its prefix cache.
        rows: Width of its logits.
        width: Width of the main model's logits.
        context: Its maximum context length in tokens.
        weight_bytes: Bytes of its weights in memory.
        chunk: Size of chunks while it catches up.
        depths: Chooses how many tokens it proposes.
        sees: Whether it can draft answers about images, which are shown to the main model alone.
    """

    sees = False

    def __init__(
        self,
        name: str,
        model: Model,
        prefix: PrefixCache,
        *,
        rows: int,
        width: int,
        steps: Model | None = None,
        context: float = math.inf,
        weight_bytes: int = 0,
        chunk: ChunkSize | None = None,
        limit: int = MOST_DRAFTS,
    ) -> None:
        """Start with nothing learnt.

        Args:
            name: Its name, for people.
            model: Computes logits [B, L, V] from tokens [B, L] and `cache=`.
            prefix: Its prefix cache.
            rows: Width of its logits.
            width: Width of the main model's logits.
            steps: Equivalent of `model` for the few tokens of a step; None for `model` itself.
            context: Its maximum context length in tokens.
            weight_bytes: Bytes of its weights in memory.
            chunk: Size of chunks while it catches up; None for short ones.
            limit: Maximum number of tokens to propose at a time.
        """
        self.name = name
        self.model = model
        self.steps = steps or model
        self.prefix = prefix
        self.rows = rows
        self.width = width
        self.context = context
        self.weight_bytes = weight_bytes
        self.chunk = chunk or short_chunks(CHUNK)
        self.depths = DraftDepth(limit)

    def drafter(self, generation: Generation) -> "ModelDrafter":
        """Return what proposes drafts for an answer."""
        return ModelDrafter(self, generation)

    def scores(self, logits: mx.array) -> mx.array:
        """Return logits [1, V] in the main model's width; tokens that either model does not have are impossible."""
        common = min(logits.shape[-1], self.width)
        held = logits[:, :common]
        if common == self.width:
            return held
        return mx.concatenate([held, mx.full((1, self.width - common), -math.inf, held.dtype)], axis=-1)


class ModelDrafter:
    """Proposes drafts for one answer with a draft model.

    A round consists of `propose` and, after the verification, `settle`. After an exception, call `drop`.
    """

    def __init__(self, draft: DraftModel, generation: Generation) -> None:
        """Start with nothing fed.

        Args:
            draft: The draft model.
            generation: The answer to propose for.
        """
        self._draft = draft
        self._generation = generation
        self._sequence: Sequence | None = None
        # The prompt of the answer's caches; replaced when these are rebuilt.
        self._followed: Series[int] = ()
        self._limit = math.inf
        self._stops: list[int] = []
        self._proposing = False
        # The stateful caches before the proposals; None if all can be rewound.
        self._states: States | None = None

    def gain(self, most: int) -> float:
        """Return the expected speed-up of a round with drafts; 1 if none would be proposed.

        Args:
            most: Maximum number of tokens.
        """
        return self._draft.depths.gain(self._most(most))

    def is_promising(self, most: int) -> bool:
        """Return whether `propose` would do anything now, without changing anything."""
        most = self._most(most)
        depths = self._draft.depths
        return depths.planned(most) > 0 and (depths.gain(most) > 1 or self._missing <= _MAX_TRIAL_TOKENS)

    def propose(self, most: int) -> mx.array | None:
        """Return tokens [n], uint32, proposed to follow the pending one; their evaluation has been started.

        Return None if drafting would not pay, or if the model has to catch up, which one call does by one chunk.

        Args:
            most: Maximum number of tokens.
        """
        depths = self._draft.depths
        if not self.is_promising(most):
            depths.choose(self._most(most))
            return None
        sequence = self._follow()
        if self._stops or self._missing > depths.limit + 1:
            self._catch_up(sequence)
            return None
        return self._proposed(sequence, depths.choose(self._most(most)))

    @property
    def unfinished(self) -> list[object]:
        """The arrays of a round to evaluate besides its tokens."""
        assert self._sequence is not None
        return [self._states, [cache.state for cache in self._sequence.caches]]

    def settle(self, drafts: list[int], right: int) -> None:
        """End a round.

        Args:
            drafts: The tokens that were proposed.
            right: How many of them are part of the answer.
        """
        sequence, states = self._sequence, self._states
        assert sequence is not None
        begun = len(sequence.tokens)
        # The last draft was proposed but not fed.
        sequence.tokens.extend(drafts[:-1])
        kept = begun + min(right, len(drafts) - 1)
        if states is None:
            sequence.rewind(kept)
        elif kept < len(sequence.tokens):
            sequence.rewind(begun, states)
        self._proposing, self._states = False, None

    def end(self) -> None:
        """Release the caches to later answers."""
        if self._proposing:
            self.drop()
        elif self._sequence is not None:
            self._draft.prefix.end(self._sequence)
            self._sequence = None

    def drop(self) -> None:
        """Drop the caches, whose content is undefined."""
        sequence, self._sequence = self._sequence, None
        self._proposing, self._states = False, None
        if sequence is not None:
            self._draft.prefix.drop(sequence)

    @property
    def _length(self) -> int:
        """Number of tokens fed to the main model, plus the pending one."""
        assert self._generation.sequence is not None
        return len(self._generation.sequence.tokens) + 1

    @property
    def _missing(self) -> int:
        """How many of these have not been fed to the draft model."""
        is_level = self._sequence is not None and self._followed is self._generation.prompt
        return self._length - (len(self._sequence.tokens) if self._sequence is not None and is_level else 0)

    def _most(self, most: int) -> int:
        return int(max(0, min(most, self._draft.depths.limit, self._draft.context - self._length)))

    def _unseen(self, start: int) -> list[int]:
        """Return the tokens from `start` on, as the draft model is fed them."""
        assert self._generation.sequence is not None
        last = self._draft.rows - 1
        return [min(token, last) for token in (*self._generation.sequence.tokens[start:], self._generation.value)]

    def _follow(self) -> Sequence:
        """Return the caches to feed, which hold a beginning of the text."""
        sequence, length = self._sequence, self._length
        if sequence is None or self._followed is not self._generation.prompt or length > self._limit:
            self.end()
            prefix = self._draft.prefix
            sequence = self._sequence = prefix.begin(self._unseen(0))
            self._followed = self._generation.prompt
            self._limit = prefix.limit(length)
            # Pausing where the next prompt may continue pays only for caches that cannot be rewound.
            self._stops = (
                prefix.stops(sequence, length, self._generation.prepared.boundaries) if sequence.stateful else []
            )
        return sequence

    def _catch_up(self, sequence: Sequence) -> None:
        """Feed the next chunk of the missing tokens, except for the pending one."""
        draft, done = self._draft, len(sequence.tokens)
        if done in self._stops:
            draft.prefix.keep(sequence)
        due = next((stop for stop in self._stops if stop > done), math.inf)
        ids = self._unseen(done)[: int(min(draft.chunk.tokens, self._missing - 1, due - done))]
        if ids:
            started = time.perf_counter()
            draft.model(mx.array([ids]), cache=sequence.caches)
            sequence.evaluate()
            sequence.tokens.extend(ids)
            mx.clear_cache()
            draft.chunk.took(len(ids), time.perf_counter() - started)
            if due == len(sequence.tokens):
                draft.prefix.keep(sequence)
        self._stops = [stop for stop in self._stops if stop > len(sequence.tokens)]

    def _proposed(self, sequence: Sequence, count: int) -> mx.array:
        draft, sampler = self._draft, self._generation.sampler.fork()
        self._proposing = True
        ids = self._unseen(len(sequence.tokens))
        fed = mx.array([ids])
        tokens: list[mx.array] = []
        while len(tokens) < count:
            logits = draft.steps(fed, cache=sequence.caches)[:, -1, :]
            if not tokens:
                sequence.tokens.extend(ids)
                self._states = None if sequence.is_rewindable else sequence.capture(computed=False)
            tokens.append(sampler.sample(draft.scores(logits)))
            mx.async_eval(tokens[-1])  # type: ignore[no-untyped-call]
            fed = tokens[-1][None]
        return mx.concatenate(tokens)
