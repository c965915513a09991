"""A second, smaller model that proposes the next tokens of an answer.

It has caches of its own, which follow those of the model that answers. What it has not seen of the text is fed in
chunks, one in front of each step, so that an answer never waits for all of a long prompt; and only where proposals are
likely to pay. It proposes one token after the other and draws each with the random numbers that the answer's own
sampler will use for it, so that the two agree as often as their distributions are alike. A round waits only once, for
the verdict; what was wrong is then taken back. Caches that cannot go back return to where the proposals began, and what
was right is fed again together with what comes next, which costs no step of its own.

Nothing depends on the proposals but time: tokens that this model does not have are fed as its last one.
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
# A model that does not pay is tried again now and then, but never at the price of reading more tokens than this.
_WORTH_A_TRIAL = 256
_FIRST_CHUNK = 64


def short_chunks(largest: int) -> ChunkSize:
    """Return how many tokens, at most `largest`, a draft model is fed in front of a step, so that it stays short."""
    return ChunkSize(largest, min(_FIRST_CHUNK, largest), target=0.1, limit=0.25)


class DraftModel:
    """A loaded model that proposes for another one, and what is learnt about that over all answers.

    Attributes:
        name: For people.
        model: Takes tokens [B, L] and `cache=` to logits [B, L, V].
        steps: Computes the same, for the few tokens of a step.
        prefix: What it has computed before.
        rows: How many tokens it has scores for.
        width: How many the model has that it proposes for.
        context: Most tokens it can take.
        weight_bytes: Bytes of its weights in memory.
        chunk: How many tokens to feed at a time while it catches up.
        depths: Chooses how many tokens it proposes.
    """

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
            name: For people.
            model: Takes tokens [B, L] and `cache=` to logits [B, L, V].
            prefix: What it has computed before.
            rows: How many tokens it has scores for.
            width: How many the model has that it proposes for.
            steps: Computes the same as `model`, for the few tokens of a step; None for `model` itself.
            context: Most tokens it can take.
            weight_bytes: Bytes of its weights in memory.
            chunk: How many tokens to feed at a time while it catches up; None for what keeps a step short.
            limit: Most tokens to propose at a time.
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

    def scores(self, logits: mx.array) -> mx.array:
        """Return logits [1, V] as wide as the other model's: a token that either does not have is impossible."""
        common = min(logits.shape[-1], self.width)
        held = logits[:, :common]
        if common == self.width:
            return held
        return mx.concatenate([held, mx.full((1, self.width - common), -math.inf, held.dtype)], axis=-1)


class ModelDrafter:
    """Proposes the drafts of one answer with a model.

    A round is `propose` and, once it is known what was right, `settle`. When anything here raises, `drop` ends it.
    """

    def __init__(self, draft: DraftModel, one: Generation) -> None:
        """Start with nothing fed.

        Args:
            draft: What proposes.
            one: What it proposes for.
        """
        self._draft = draft
        self._one = one
        self._sequence: Sequence | None = None
        # The prompt of the caches that are followed: another one when they were begun anew.
        self._followed: Series[int] = ()
        self._limit = math.inf
        self._stops: list[int] = []
        self._proposing = False
        # The caches where the proposals began; None for those that can go back by themselves.
        self._states: States | None = None

    def gain(self, most: int) -> float:
        """Return how many times faster a round with drafts is likely to be; 1 where none would be proposed.

        Args:
            most: How many tokens there may be.
        """
        return self._draft.depths.gain(self._most(most))

    def is_promising(self, most: int) -> bool:
        """Say whether `propose` would do anything now; asking changes nothing."""
        most = self._most(most)
        depths = self._draft.depths
        return depths.planned(most) > 0 and (depths.gain(most) > 1 or self._missing <= _WORTH_A_TRIAL)

    def propose(self, most: int) -> mx.array | None:
        """Return tokens [n], uint32, that are likely to follow the pending one, on their way to be computed.

        None where drafting would not pay, or where the model had to catch up, for which it takes one chunk.

        Args:
            most: How many there may be.
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
        """What a round has to compute besides its tokens."""
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
        # The last one was proposed and not fed.
        sequence.tokens.extend(drafts[:-1])
        kept = begun + min(right, len(drafts) - 1)
        if states is None:
            sequence.rewind(kept)
        elif kept < len(sequence.tokens):
            sequence.rewind(begun, states)
        self._proposing, self._states = False, None

    def end(self) -> None:
        """Leave what was computed to the next answer."""
        if self._proposing:
            self.drop()
        elif self._sequence is not None:
            self._draft.prefix.end(self._sequence)
            self._sequence = None

    def drop(self) -> None:
        """Forget the caches: nobody knows what they hold."""
        sequence, self._sequence = self._sequence, None
        self._proposing, self._states = False, None
        if sequence is not None:
            self._draft.prefix.drop(sequence)

    @property
    def _length(self) -> int:
        """How many tokens there are: those that were fed to the model that answers, and the pending one."""
        assert self._one.sequence is not None
        return len(self._one.sequence.tokens) + 1

    @property
    def _missing(self) -> int:
        """How many of them are not fed here."""
        is_level = self._sequence is not None and self._followed is self._one.prompt
        return self._length - (len(self._sequence.tokens) if self._sequence is not None and is_level else 0)

    def _most(self, most: int) -> int:
        return int(max(0, min(most, self._draft.depths.limit, self._draft.context - self._length)))

    def _unseen(self, start: int) -> list[int]:
        """Return the tokens from `start` on, as they are fed here."""
        assert self._one.sequence is not None
        last = self._draft.rows - 1
        return [min(token, last) for token in (*self._one.sequence.tokens[start:], self._one.value)]

    def _follow(self) -> Sequence:
        """Return the caches to feed, which hold a beginning of the text."""
        sequence, length = self._sequence, self._length
        if sequence is None or self._followed is not self._one.prompt or length > self._limit:
            self.end()
            prefix = self._draft.prefix
            sequence = self._sequence = prefix.begin(self._unseen(0))
            self._followed = self._one.prompt
            self._limit = prefix.limit(length)
            # Only where caches cannot go back is it worth pausing for what the next prompt may go on from.
            self._stops = prefix.stops(sequence, length, self._one.prepared.boundaries) if sequence.stateful else []
        return sequence

    def _catch_up(self, sequence: Sequence) -> None:
        """Feed the next chunk of what is missing; at least the pending token is left."""
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
        draft, sampler = self._draft, self._one.sampler.fork()
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
