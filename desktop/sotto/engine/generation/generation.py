"""The generation of one answer: from prompt tokens to text.

All but the last prompt token are prefilled in chunks. Only the caches are evaluated for them, so the output layer is
never computed. Each further step feeds the token sampled last, beginning with the last prompt token. Between two steps
the caches hold exactly the tokens recorded for them, so a generation can end after any step, and the next request can
continue from its caches.
"""

import math
import time
from collections.abc import Callable
from collections.abc import Sequence as Series
from dataclasses import dataclass
from functools import partial
from typing import cast

import mlx.core as mx

from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.caches.sequence import Sequence
from sotto.engine.contract.answer_parts import Kind, Piece, merge_pieces, text_of
from sotto.engine.contract.events import DoneReason, Finished, GenerateEvent, PrefillProgress, TextChunk
from sotto.engine.contract.logprob_values import LogprobEntry
from sotto.engine.generation.chunk_sizing import ChunkSize
from sotto.engine.generation.looking import Vision
from sotto.engine.generation.shown_images import ShownImages, without_images
from sotto.engine.prompt.prepared import PreparedRequest
from sotto.engine.sampling import loop_detector
from sotto.engine.sampling.logprob_rows import PendingLogprobs, compute_logprobs
from sotto.engine.sampling.sampler import Sampler
from sotto.engine.tokens.stop_strings import StopMatcher
from sotto.engine.vision.prompt_images import text_tokens

Model = Callable[..., mx.array]

# A chunk of a prompt is evaluated in steps of about so long, between which it can be stopped.
_STOP_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class SampledToken:
    """The token after the pending one, not necessarily evaluated yet.

    Attributes:
        token: [1], uint32.
        sampler: Samples the token after it.
        logprobs: Its log-probability; None if the request does not ask for it.
    """

    token: mx.array
    sampler: Sampler
    logprobs: PendingLogprobs | None = None

    @property
    def arrays(self) -> list[mx.array]:
        """The arrays to evaluate."""
        return [self.token, *(self.logprobs.arrays if self.logprobs else ())]


class Generation:
    """A request in flight. Every method belongs to the thread that owns MLX.

    Attributes:
        prepared: The prepared request.
        cancelled: Polled once per step, and within long ones; returns whether to end the answer.
        sampler: Samples the token after `pending`.
        guide: Restricts which tokens may follow; None for no restriction.
        sequence: Its caches; None before it begins and after it has ended.
        ended: Whether the answer is complete, or has failed.
        pending: The token to feed next [1], sampled but not necessarily evaluated; None while prefilling, and between
            feeding it and sampling the next one.
        answer_tokens: All tokens sampled and read so far.
        drafted: Number of tokens proposed by speculative decoding.
        accepted: How many of those were accepted.
        alone: Whether it must not share a forward pass, because it had to start over.
        shared_fault: The error of a forward pass that it shared; empty for none.
    """

    def __init__(
        self,
        prepared: PreparedRequest,
        prefix: PrefixCache,
        cancelled: Callable[[], bool],
        vision: Vision | None = None,
    ) -> None:
        """Prepare the generation of an answer; `begin` starts it.

        Args:
            prepared: The prepared request.
            prefix: Provides the caches.
            cancelled: Polled once per step, and within long ones; returns whether to end the answer.
            vision: Sees the images of the request; None for a model that sees none.
        """
        banned = prepared.ends if prepared.request.ignore_eos else ()
        self.prepared = prepared
        self.cancelled = cancelled
        self.sampler = Sampler(prepared.sampling, text_tokens(prepared.prompt), banned, prepared.breakers)
        self.guide = prepared.guide.fork() if prepared.guide is not None else None
        self.sequence: Sequence | None = None
        self.ended = False
        self.pending: mx.array | None = None
        self.answer_tokens: list[int] = []
        self.drafted = self.accepted = 0
        self.alone = False
        self.shared_fault = ""
        self._prefix = prefix
        self._images = ShownImages(prepared.images, vision) if vision is not None and prepared.images else None
        self._parser = prepared.parser()
        self._text = prepared.tokenizer.detokenizer(self._parser.marks)
        self._stop_matcher = StopMatcher(prepared.stop)
        self._prompt = list(prepared.prompt)
        self._value: int | None = None
        # The log-probability of the pending token, and the sampler before it was sampled.
        self._logprobs: PendingLogprobs | None = None
        self._sampler_before = self.sampler
        self._stops: list[int] = []
        self._pieces: list[Piece] = []
        # Tokens that follow regardless of what is sampled, and whether the pending token is the first of them.
        self._forced: list[int] = []
        self._forcing = self._ending = False
        self._thought_tokens = 0
        self._cached = 0
        self._dropped = prepared.dropped_tokens
        self._turn_end: tuple[int, ...] = ()
        self._begun = 0
        self._first = 0
        self._end_thought()

    @property
    def prompt(self) -> Series[int]:
        """The tokens to prefill: the prompt, and after a restart also the answer so far."""
        return self._prompt

    @property
    def prefilled(self) -> int:
        """Number of tokens of `prompt` that are in the caches."""
        return min(len(self.sequence.tokens), len(self._prompt)) if self.sequence else 0

    @property
    def is_read(self) -> bool:
        """Whether the value of the pending token is known."""
        return self._value is not None

    @property
    def value(self) -> int:
        """The value of the pending token, which must have been read."""
        assert self._value is not None
        return self._value

    @property
    def room(self) -> int:
        """How many more tokens may be sampled before the answer or the context ends."""
        assert self.sequence is not None
        return int(min(self.prepared.max_tokens - len(self.answer_tokens), self._limit - len(self.sequence.tokens)))

    @property
    def samples_freely(self) -> bool:
        """Whether the next tokens depend on sampling alone, as no token is or may become forced."""
        return not self._forced and (self.prepared.request.think_budget is None or not self._parser.thought_end)

    @property
    def can_share(self) -> bool:
        """Whether it may share a forward pass with others now."""
        assert self.sequence is not None
        return not self.alone and self.sequence.has_states

    @property
    def caches(self) -> list[object]:
        """The caches to feed."""
        assert self.sequence is not None
        return self.sequence.caches

    def begin(self) -> list[GenerateEvent]:
        """Look up the prompt in the prefix cache, and prepare to prefill the rest."""
        images = self._images
        whole = images.place(self._prompt) if images is not None else ()
        self.sequence = self._prefix.begin(self._prompt, whole)
        self._stops = self._prefix.stops(self.sequence, len(self._prompt), self.prepared.boundaries, whole)
        self.sequence.shift_positions(images.shift_at(len(self.sequence.tokens)) if images is not None else 0)
        self.pending, self._value = None, None
        if self._begun:
            return [TextChunk(self.prepared.request.id, "", ())]
        self._begun = time.perf_counter_ns()
        self._cached = len(self.sequence.tokens)
        if self._cached == len(self._prompt) - 1:
            self._to_decoding()
        echo = [self._chunk([Piece(Kind.TEXT, self.prepared.echo)])] if self.prepared.echo else []
        return [self._progress(self._cached), *echo]

    def prefill(self, model: Model, chunk: ChunkSize, most: int, seconds: float) -> list[GenerateEvent]:
        """Prefill the next chunk of the prompt.

        Args:
            model: Computes it.
            chunk: Chooses its size.
            most: Maximum number of tokens.
            seconds: What it may take even if chunks usually take fewer.
        """
        sequence = self.sequence
        assert sequence is not None
        done, end = len(sequence.tokens), len(self._prompt) - 1
        if done < end:
            # A state inside a chunk cannot be restored, so a chunk ends wherever a state must be kept.
            due = next((stop for stop in self._stops if stop > done), end)
            until = done + min(chunk.next_of(due - done, seconds), most)
            images = self._images
            if images is not None:
                until = images.fitting_end(done, until)
                if not images.look(done, until):
                    return [self._fed_so_far(done)]
            ids = self._prompt[done:until]
            started = time.perf_counter()
            if images is not None and (view := images.view(done, until)) is not None:
                forward = partial(model, mx.array([without_images(ids)]), cache=sequence.caches, view=view)
            else:
                forward = partial(model, mx.array([ids]), cache=sequence.caches)
            steps = math.ceil(min(chunk.seconds_of(len(ids)) / _STOP_SECONDS, len(sequence.caches)))
            if not sequence.compute(forward, self.cancelled, steps):
                return []
            sequence.tokens.extend(ids)
            mx.clear_cache()
            chunk.took(len(ids), time.perf_counter() - started)
            done = until
            if images is not None:
                sequence.shift_positions(images.shift_at(done))
        if done in self._stops:
            self._prefix.keep(sequence)
        if done == end:
            self._to_decoding()
        return [self._fed_so_far(done)]

    def logprobs(self, logits: mx.array, tokens: mx.array, first: int = 0) -> PendingLogprobs | None:
        """Return the log-probabilities of tokens [R] in logits [.., V]; None if the request does not ask for them.

        Args:
            logits: As the model gave them.
            tokens: The sampled tokens.
            first: The row of the first token; the others are from the rows after it.
        """
        count = self.prepared.request.logprobs
        return None if count is None else compute_logprobs(logits[first : first + tokens.size], tokens, count)

    def take(self, sample: SampledToken) -> None:
        """Make `sample` the pending token, or a forced token in its place; the previous one was read and fed."""
        self._forcing = bool(self._forced)
        if self._forcing:
            self._ending = True
            sampler = self.sampler.fork()
            sampler.push(self._forced[0], sample.sampler.width)
            sample = SampledToken(_fed(self._forced[:1]), sampler)
        self.pending, self._value, self._logprobs = sample.token, None, sample.logprobs
        self._sampler_before, self.sampler = self.sampler, sample.sampler

    def read(self, *, fed: bool = False) -> list[GenerateEvent]:
        """Read the pending token if it has not been read yet, and return the resulting events.

        Args:
            fed: Whether it has been fed in the meantime; it is then recorded as such, and `take` must follow.
        """
        assert self.pending is not None
        assert self.sequence is not None
        fresh = self._value is None
        value = cast("int", self.pending.item()) if self._value is None else self._value
        self._value = value
        if fed:
            self.sequence.tokens.append(value)
            # From here on, tokens can be sampled again after a failure; all before are known.
            self.pending, self._value, self._sampler_before = None, None, self.sampler
        return self.accept(value, self._read_logprobs(self._logprobs)) if fresh else []

    def accept_all(self, tokens: Series[int], logprobs: PendingLogprobs | None = None) -> list[GenerateEvent]:
        """Append tokens to the answer until one ends it; the last one has not been fed yet.

        Args:
            tokens: One token or more.
            logprobs: Those of the tokens, perhaps with further rows; None if the request does not ask for them.
        """
        events: list[GenerateEvent] = []
        entries = self._read_logprobs(logprobs)
        for index, token in enumerate(tokens):
            events += self.accept(token, entries[index : index + 1])
            if self.ended:
                return events
        self.pending, self._value, self._logprobs = _fed([tokens[-1]]), tokens[-1], None
        return events

    def accept(self, token: int, entries: Series[LogprobEntry] = ()) -> list[GenerateEvent]:
        """Append a token to the answer, with its log-probability in `entries`, or end the answer because of it."""
        events: list[GenerateEvent] = []
        if not self._first:
            self._first = time.perf_counter_ns()
            events.append(self._progress(len(self.prepared.prompt)))
        guide = self.guide
        if guide is not None:
            guide.take(token)
        if token in self.prepared.ends:
            self._turn_end = (token,)
            return [*events, *self.finish(DoneReason.STOP)]
        self.answer_tokens.append(token)
        if self._forcing:
            del self._forced[:1]
            self._forcing = False
            self._ending = bool(self._forced)
        pieces = self._parser.feed(self._stop_matcher.add(self._text.add(token)))
        events.append(self._chunk(pieces, (token,), tuple(entries)))
        self._thought_tokens += bool(self._parser.thought_end)
        self._end_thought()
        if self._stop_matcher.found or self._parser.called or (guide is not None and guide.complete):
            return [*events, *self.finish(DoneReason.STOP)]
        if len(self.answer_tokens) == self.prepared.max_tokens:
            return [*events, *self.finish(DoneReason.LENGTH)]
        if (
            self.prepared.loop_guard
            and len(self.answer_tokens) % loop_detector.EVERY == 0
            and loop_detector.repeats(self.answer_tokens)
        ):
            return [*events, *self.finish(DoneReason.LOOP)]
        return events

    @property
    def is_last(self) -> bool:
        """Whether `pending` is unread and the last token that the answer may have, so that it need not be fed."""
        return (
            self._value is None and self.pending is not None and len(self.answer_tokens) + 1 == self.prepared.max_tokens
        )

    @property
    def is_full(self) -> bool:
        """Whether the caches must be rebuilt before another token can be fed."""
        assert self.sequence is not None
        return len(self.sequence.tokens) >= self._limit

    def restart(self) -> list[GenerateEvent]:
        """Release the caches and prefill again: for a longer context, or with the oldest tokens dropped.

        If the context is full and may not be shifted, the answer ends.
        """
        assert self.sequence is not None
        assert self._value is not None
        tokens = [*self.sequence.tokens, self._value]
        if len(tokens) > self.prepared.context_length:
            kept = self.prepared.shift_context(tokens)
            if kept is None:
                return self.finish(DoneReason.LENGTH)
            self._dropped += len(tokens) - len(kept)
            tokens = list(kept)
        self._prefix.end(self.sequence)
        self._prompt = tokens
        return self.begin()

    def start_over(self, shared_fault: str = "") -> None:
        """Drop the caches and prefill again, without sharing steps from now on, because a shared step failed.

        Args:
            shared_fault: The error, if the step was shared with other answers; empty if with a draft model.
        """
        assert self.sequence is not None
        if self._value is None:
            # The pending token can no longer be read: it is sampled again, by the same sampler.
            self.sampler = self._sampler_before
            self._forcing = False
            self._prompt = list(self.sequence.tokens)
        else:
            self._prompt = [*self.sequence.tokens, self._value]
        self._prefix.drop(self.sequence)
        self.sequence = self.pending = None
        self.alone = True
        self.shared_fault = shared_fault

    def finish(self, reason: DoneReason) -> list[GenerateEvent]:
        """End the answer, and leave its caches to later requests."""
        events: list[GenerateEvent] = []
        pieces: list[Piece] = []
        if not self._stop_matcher.found:
            held = self._stop_matcher.add(self._text.finish()) + self._stop_matcher.finish()
            pieces = self._parser.feed(held) if held else []
        pieces += self._parser.finish(cut=reason is not DoneReason.STOP)
        if pieces:
            events.append(self._chunk(pieces))
        parts = merge_pieces(self._pieces)
        whole = (*self.prepared.prompt, *self.answer_tokens, *self._turn_end)
        ended = time.perf_counter_ns()
        begun, first = self._begun or ended, self._first or ended
        self.give_back()
        return [
            *events,
            Finished(
                request_id=self.prepared.request.id,
                text=text_of(parts),
                token_ids=tuple(self.answer_tokens),
                done_reason=reason,
                prompt_tokens=len(self.prepared.prompt),
                cached_tokens=self._cached,
                prompt_duration=first - begun,
                eval_duration=ended - first,
                total_duration=ended - self.prepared.received,
                drafted_tokens=self.drafted,
                accepted_tokens=self.accepted,
                dropped_tokens=self._dropped,
                dropped_messages=self.prepared.dropped_messages,
                cut_messages=self.prepared.cut_messages,
                stop=self._stop_matcher.found,
                thought_tokens=self._thought_tokens,
                parts=_parts_of(parts),
                context=whole if self.prepared.request.context is not None and not self.prepared.images else (),
                shared_fault=self.shared_fault,
            ),
        ]

    def give_back(self, *, spoiled: bool = False) -> None:
        """End without events; if the caches are `spoiled`, drop them."""
        self.ended = True
        sequence, self.sequence, self.pending = self.sequence, None, None
        if sequence is not None and spoiled:
            self._prefix.drop(sequence)
        elif sequence is not None:
            self._prefix.end(sequence)

    def _read_logprobs(self, logprobs: PendingLogprobs | None) -> Series[LogprobEntry]:
        return logprobs.read(self.prepared.tokenizer.token_bytes) if logprobs is not None else ()

    @property
    def _limit(self) -> float:
        """How many tokens may be fed in all before the caches must be rebuilt."""
        return min(self.prepared.context_length, self._prefix.limit(len(self._prompt)))

    def _to_decoding(self) -> None:
        if self._images is not None:
            self._images.release()
        self.pending, self._logprobs = _fed([self._prompt[-1]]), None
        self._value = self._prompt[-1]

    def _fed_so_far(self, done: int) -> GenerateEvent:
        """Return the event after a part of the prompt: within an answer that was restarted, it is a piece of that."""
        return TextChunk(self.prepared.request.id, "", ()) if self.answer_tokens else self._progress(done)

    def _progress(self, done: int) -> PrefillProgress:
        return PrefillProgress(self.prepared.request.id, done, len(self.prepared.prompt), self._cached)

    def _chunk(
        self, pieces: list[Piece], tokens: tuple[int, ...] = (), logprobs: tuple[LogprobEntry, ...] = ()
    ) -> TextChunk:
        self._pieces += pieces
        return TextChunk(self.prepared.request.id, text_of(pieces), tokens, logprobs, _parts_of(pieces))

    def _end_thought(self) -> None:
        """Force the end of a thought that has used up its budget of tokens."""
        end, budget = self._parser.thought_end, self.prepared.request.think_budget
        if budget is None or self._ending:
            return
        # A thought that has ended by itself in the meantime needs no forced end.
        forced = list(self.prepared.encode(end)) if end and self._thought_tokens >= budget else []
        # In the middle of a character, the end cannot follow.
        possible = self.guide is None or not forced or self.guide.followed(forced) == len(forced)
        self._forced = forced if possible else []


def _parts_of(pieces: Series[Piece]) -> tuple[Piece, ...]:
    """Return the pieces, or none if they are only text."""
    return tuple(pieces) if any(piece.kind is not Kind.TEXT or piece.cut for piece in pieces) else ()


def _fed(tokens: list[int]) -> mx.array:
    """Return tokens in the type of the samplers, so that those of several answers can be concatenated."""
    return mx.array(tokens, dtype=mx.uint32)
