"""Scheduling of several requests on one model, step by step.

A step is one prefill chunk or one decode step. While some requests are prefilled and others are decoded, the two kinds
of steps alternate, so that there is at most one chunk between two tokens of an answer for each prompt that waits. If
decode steps take longer than a small part of the time, because many answers share them, chunks are longer, and those of
several prompts follow each other: prompts then wait less for their first tokens, and steps are shared by more answers.

Of the requests that are prefilled, the one with the fewest tokens left is next: prompts of about the same length then
end one after the other rather than all at the end, and a short one does not wait behind a long one. From time to time
it is the oldest, so that a long prompt does not wait for ever. All requests that are decoded share one forward pass if
the model allows it. An error in one request ends only that request.
"""

import logging
import math
import time
from collections.abc import Callable
from functools import partial

import mlx.core as mx

from sotto.engine.architectures.cache_types import room_for
from sotto.engine.caches.batch import MAX_BATCH_ROWS, batch_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.contract.events import DoneReason, GenerateEvent
from sotto.engine.contract.failure_events import failure_of
from sotto.engine.generation.beginnings import SharedBeginnings
from sotto.engine.generation.chunk_sizing import CHUNK, ChunkSize, ChunkSizing
from sotto.engine.generation.generation import Generation, Model, SampledToken
from sotto.engine.generation.looking import Vision
from sotto.engine.generation.memory_guard import MemoryGuard
from sotto.engine.generation.speculator import Speculator
from sotto.engine.grammar.guides import Guide
from sotto.engine.grammar.token_masks import mask_logits
from sotto.engine.prompt.prepared import PreparedRequest
from sotto.engine.sampling.sampler import sample_each

_log = logging.getLogger(__name__)

_CLEAR_EVERY = 256
# Of so many chunks, one is for the request that has waited longest.
_OLDEST_EVERY = 4
# A prompt that waits, or several, may get so many times the time of decode steps, but answers never pause for longer
# than so many seconds and a chunk.
_PREFILL_SHARE, _SHARE_OF_SEVERAL, _LONGEST_PAUSE = 2, 7, 2.0
# A shared beginning of fewer tokens is computed twice rather than waited for.
_MIN_SHARED_TOKENS = 64


class Scheduler:
    """Runs generations on one loaded model. Every method belongs to the thread that owns MLX."""

    def __init__(
        self,
        model: Model,
        prefix: PrefixCache,
        sizing: ChunkSizing,
        *,
        steps: Model | None = None,
        batches: bool = False,
        speculator: Speculator | None = None,
        guard: MemoryGuard | None = None,
        vision: Vision | None = None,
    ) -> None:
        """Start without requests.

        Args:
            model: Computes logits [B, L, V] from tokens [B, L] and `cache=`.
            prefix: The prefix cache.
            sizing: Chooses the size of chunks from measured times.
            steps: Equivalent of `model` for the few tokens of a decode step; None for `model` itself.
            batches: Whether the model computes each row of a batch as if it were alone.
            speculator: Speculative decoding for a request that is alone; None for none.
            guard: Watches the machine's memory; None for no guard.
            vision: Sees the images of requests; None for a model that sees none.
        """
        self._model = model
        self._step_model = steps or model
        self._prefix = prefix
        self._sizing = sizing
        self._batches = batches
        self._speculator = speculator
        self._guard = guard
        self._vision = vision
        self._running: list[Generation] = []
        self._shared = SharedBeginnings()
        self._most = CHUNK
        self._steps = self._chunks = 0
        # The chunks since the last decode step and their seconds, and the seconds of that step.
        self._chunks_since = 0
        self._prefill_seconds = self._step_seconds = 0.0
        self._stepped = -math.inf
        self._interval = math.inf

    @property
    def count(self) -> int:
        """Number of requests in flight."""
        return len(self._running)

    @property
    def expected_room(self) -> int:
        """Tokens that the caches of the requests in flight may have room for in all."""
        return sum(room_for(generation.prepared.expected_tokens) for generation in self._running)

    def add(self, prepared: PreparedRequest, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Add a request, on which the next steps will work.

        Args:
            prepared: The prepared request.
            cancelled: Polled once per step, and within long ones; if it returns True, the answer ends as cancelled.
        """
        self._running.append(Generation(prepared, self._prefix, cancelled, self._vision))

    def step(self) -> list[GenerateEvent]:
        """Compute one prefill chunk or one decode step, and return its events in order."""
        events: list[GenerateEvent] = []
        if self._guard is not None:
            self._most = self._guard.look()
        for generation in self._running:
            self._run_guarded(generation, events, partial(self._check_request, generation))
        self._forget_ended()
        begun = [generation for generation in self._running if generation.sequence is not None]
        prefilling = [generation for generation in begun if generation.pending is None]
        decoding = [generation for generation in begun if generation.pending is not None]
        pause = self._longest_pause(len(prefilling)) - self._prefill_seconds
        if prefilling and not decoding:
            self._prefill(self._next_of(prefilling), self._sizing.chunk, 0.0, events)
        elif prefilling and self._is_turn_of(len(prefilling), pause):
            self._prefill(self._next_of(prefilling), self._sizing.shared, pause, events)
        elif decoding:
            started = time.perf_counter()
            self._decode(decoding, events)
            self._chunks_since, self._prefill_seconds = 0, 0.0
            self._step_seconds = time.perf_counter() - started
        self._forget_ended()
        if not self._running:
            mx.clear_cache()
        return events

    def close(self) -> None:
        """Drop all requests without events."""
        for generation in self._running:
            generation.give_back()
        self._forget_ended()

    # Beginning and ending

    def _check_request(self, generation: Generation) -> list[GenerateEvent]:
        if generation.cancelled():
            return generation.finish(DoneReason.CANCELLED)
        if generation.sequence is None and not self._is_worth_waiting(generation):
            return generation.begin()
        return []

    def _is_worth_waiting(self, generation: Generation) -> bool:
        """Return whether another request is prefilling a long common beginning of the prompt."""
        return any(
            other.sequence is not None
            and other.pending is None
            and other.prefilled < (shared := self._shared.length(generation, other)) - 1
            and shared >= _MIN_SHARED_TOKENS
            for other in self._running
        )

    def _forget_ended(self) -> None:
        for generation in self._running:
            if generation.ended:
                self._shared.forget(generation)
                if self._speculator is not None:
                    self._speculator.forget(generation)
        self._running = [generation for generation in self._running if not generation.ended]

    def _run_guarded(
        self, generation: Generation, events: list[GenerateEvent], work: Callable[[], list[GenerateEvent]]
    ) -> bool:
        """Run `work` on one request and collect its events; return False if it failed, which ends the request."""
        try:
            events.extend(work())
        except Exception as error:
            # The failed step may have changed the caches.
            generation.give_back(spoiled=True)
            events.append(failure_of(generation.prepared.request.id, error))
            return False
        return True

    # Steps

    def _prefill(self, generation: Generation, chunk: ChunkSize, pause: float, events: list[GenerateEvent]) -> None:
        """Compute a chunk, for which answers may pause for `pause` seconds even if chunks usually take fewer."""
        started = time.perf_counter()
        self._chunks += 1
        self._run_guarded(generation, events, lambda: generation.prefill(self._model, chunk, self._most, pause))
        # A step ahead of its reader brings no token where it is the first of its kind.
        self._stepped, self._interval = -math.inf, math.inf
        self._chunks_since += 1
        self._prefill_seconds += time.perf_counter() - started

    def _longest_pause(self, prompts: int) -> float:
        """Return the seconds that so many prompts may take between two decode steps."""
        share = _SHARE_OF_SEVERAL if prompts > 1 else _PREFILL_SHARE
        return min(share * self._step_seconds, _LONGEST_PAUSE)

    def _is_turn_of(self, prompts: int, pause: float) -> bool:
        """Return whether a chunk of one of `prompts` prompts is next, while answers may pause `pause` more seconds."""
        return self._chunks_since == 0 or (self._chunks_since < prompts and pause > 0)

    def _next_of(self, prefilling: list[Generation]) -> Generation:
        if self._chunks % _OLDEST_EVERY == 0:
            return prefilling[0]
        return min(prefilling, key=lambda generation: len(generation.prompt) - generation.prefilled)

    def _decode(self, decoding: list[Generation], events: list[GenerateEvent]) -> None:
        for generation in decoding:
            if generation.is_full and self._run_guarded(generation, events, generation.read) and not generation.ended:
                self._run_guarded(generation, events, generation.restart)
        decoding = [generation for generation in decoding if generation.pending is not None]
        together = [generation for generation in decoding if self._batches and generation.can_share]
        groups = [together[first : first + MAX_BATCH_ROWS] for first in range(0, len(together), MAX_BATCH_ROWS)]
        groups += [[generation] for generation in decoding if generation not in together]
        for group in groups:
            if len(decoding) == 1 and self._speculate(group[0], events):
                continue
            self._decode_together(group, events)
        now = time.perf_counter()
        self._interval, self._stepped = now - self._stepped, now
        self._steps += 1
        if self._steps % _CLEAR_EVERY == 0:
            mx.clear_cache()

    def _speculate(self, generation: Generation, events: list[GenerateEvent]) -> bool:
        """Decode several tokens of the only answer in one step, if that is likely to pay; return whether it did."""
        speculator = self._speculator
        if speculator is None or not generation.samples_freely:
            return False
        taken = False

        def step() -> list[GenerateEvent]:
            nonlocal taken
            found = speculator.step(self._step_model, generation, alone=len(self._running) == 1)
            taken = found is not None
            return found or []

        # If decoding runs ahead of reading, wait for the pending token only if a proposal is likely.
        read = generation.is_read or (
            self._run_guarded(generation, events, lambda: generation.read() if speculator.wants(generation) else [])
            and generation.is_read
        )
        well = not generation.ended and (not read or self._run_guarded(generation, events, step))
        return taken or not well

    def _decode_together(self, group: list[Generation], events: list[GenerateEvent]) -> None:
        """Feed the pending token of each request and read it if unread; unless running ahead, read the next one too."""
        ahead = self._interval <= self._sizing.ahead_below
        # The time of a step that is not waited for says nothing.
        steady = not (ahead and group[0].is_read)
        feeding = [generation for generation in group if not generation.is_last]
        started = time.perf_counter()
        try:
            sampled = self._sample(feeding, events)
            arrays = [array for sample in sampled.values() for array in sample.arrays]
            if ahead:
                mx.async_eval(arrays)  # type: ignore[no-untyped-call]
            else:
                mx.eval(arrays)
        except Exception as error:
            self._recover(feeding, error, events)
            sampled = {}
        for generation in group:
            sample = sampled.get(generation)
            if generation.pending is not None:
                self._run_guarded(generation, events, partial(generation.read, fed=sample is not None))
            if generation.ended or sample is None:
                continue
            generation.take(sample)
            if not ahead:
                self._run_guarded(generation, events, generation.read)
        if self._speculator is not None and len(group) == 1 == len(self._running):
            self._speculator.took(time.perf_counter() - started if steady and feeding else None)

    def _sample(self, feeding: list[Generation], events: list[GenerateEvent]) -> dict[Generation, SampledToken]:
        """Sample the token after the pending one of each request, lazily; requests that end here are left out."""
        if not feeding:
            return {}
        tokens = mx.concatenate([generation.pending for generation in feeding if generation.pending is not None])[
            :, None
        ]
        caches = feeding[0].caches if len(feeding) == 1 else batch_caches([generation.caches for generation in feeding])
        logits = self._step_model(tokens, cache=caches)[:, -1, :]
        scores = logits
        if any(generation.guide is not None for generation in feeding):
            feeding, logits, scores = self._apply_guides(feeding, logits, events)
            if not feeding:
                return {}
        # Sample with forks: if this step fails, the samplers of the answers are unchanged.
        samplers = [generation.sampler.fork() for generation in feeding]
        sampled = sample_each(samplers, scores) if len(feeding) > 1 else [samplers[0].sample(scores)]
        return {
            generation: SampledToken(token, sampler, generation.logprobs(logits, token, row))
            for row, (generation, token, sampler) in enumerate(zip(feeding, sampled, samplers, strict=True))
        }

    def _apply_guides(
        self, feeding: list[Generation], logits: mx.array, events: list[GenerateEvent]
    ) -> tuple[list[Generation], mx.array, mx.array]:
        """Return the requests that continue, their logits, and their logits masked to what the guides allow.

        The mask depends on the pending token, which is therefore read first, while the logits are computed.
        """
        mx.async_eval(logits)  # type: ignore[no-untyped-call]
        masks: dict[Generation, bytes] = {}

        def look(generation: Generation, guide: Guide) -> list[GenerateEvent]:
            masks[generation] = guide.mask()
            return []

        for generation in feeding:
            guide = generation.guide
            if (
                guide is None
                or not self._run_guarded(generation, events, partial(generation.read, fed=True))
                or generation.ended
            ):
                continue
            self._run_guarded(generation, events, partial(look, generation, guide))
        left = [row for row, generation in enumerate(feeding) if not generation.ended]
        if not left:
            return [], logits, logits
        if len(left) < len(feeding):
            feeding, logits = [feeding[row] for row in left], logits[mx.array(left, dtype=mx.int32)]
        return feeding, logits, mask_logits(logits, [masks.get(generation) for generation in feeding])

    def _recover(self, group: list[Generation], error: Exception, events: list[GenerateEvent]) -> None:
        """After a failed step, end its only request, or let each of several start over by itself."""
        if len(group) > 1:
            _log.warning("A step of %d answers failed, and each goes on by itself", len(group), exc_info=error)
        for generation in [generation for generation in group if not generation.ended]:
            if len(group) == 1:
                generation.give_back(spoiled=True)
                events.append(failure_of(generation.prepared.request.id, error))
            else:
                generation.start_over(f"{type(error).__name__}: {error}")
