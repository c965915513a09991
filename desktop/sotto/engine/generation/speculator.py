"""Speculative decoding of an answer: several tokens in one step, proposed by prompt lookup or by a model.

That is a draft model, or the model's own head for multi-token prediction; what is said here of the one holds for both.

The tokens are those that single steps would sample; see `sotto.engine.generation.speculation`. Rejected drafts are
removed from the caches: caches that can be rewound are, and the others are restored to their state before the step and
fed the accepted tokens again. If a draft model fails, the answer continues without it.

For a guided answer, prompt lookup proposes only tokens that may follow, and each row of logits has its own mask. Draft
models do not propose for guided answers: they sample without masks, and with masks they would have to wait for each of
their tokens.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import mlx.core as mx

from sotto.engine.caches.sequence import Sequence, States
from sotto.engine.contract.events import GenerateEvent
from sotto.engine.generation.drafts import Drafter, Drafts
from sotto.engine.generation.generation import Generation, Model
from sotto.engine.generation.speculation import LookupDepths, LookupDrafter, verify
from sotto.engine.grammar.token_masks import mask_logits
from sotto.engine.vision.prompt_images import text_tokens

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


class Speculator:
    """Proposes and verifies drafts for the requests on one model, and learns over all of them."""

    def __init__(self, depths: LookupDepths | None = None, draft: Drafts | None = None) -> None:
        """Start with nothing learnt.

        Args:
            depths: What has been learnt about prompt lookup; None to begin with nothing.
            draft: A draft model or the model's own head; None for neither.
        """
        self._depths = depths or LookupDepths()
        self._draft = draft
        self._sources: dict[Generation, _Sources] = {}

    def wants(self, generation: Generation) -> bool:
        """Return whether `step` is likely to yield several tokens, so that the pending token should be read for it.

        If not, this counts as a round without drafts.
        """
        most = generation.room - 1
        if most <= 0:
            return False
        sources = self._sources_of(generation)
        model = sources.model
        if sources.lookup.promising(most) or (model is not None and model.is_promising(most)):
            return True
        sources.lookup.propose(most)
        if model is not None:
            self._try_draft_model(generation, lambda: model.propose(most))
        return False

    def step(self, model: Model, generation: Generation, *, alone: bool = True) -> list[GenerateEvent] | None:
        """Feed the pending token and the proposed drafts, and return the events of the accepted tokens.

        Return None if a single step is better. The pending token must have been read.

        Args:
            model: The model that computes the answer.
            generation: The request.
            alone: Whether no other request waits, so that a draft model has time to catch up.
        """
        started = time.perf_counter()
        proposal = self._proposal(generation, alone=alone)
        if proposal is None:
            return None
        if proposal.source is None:
            started = time.perf_counter()  # a draft model may have caught up in the meantime
        sequence = generation.sequence
        assert sequence is not None
        begun = len(sequence.tokens)
        states = None if sequence.is_rewindable else sequence.capture()
        fed = mx.concatenate([mx.array([generation.value], dtype=mx.uint32), proposal.tokens])
        logits = model(fed[None], cache=sequence.caches)[0]
        scores = logits
        if generation.guide is not None:
            # Compute the masks while the logits are computed.
            mx.async_eval(logits)  # type: ignore[no-untyped-call]
            scores = mask_logits(logits, generation.guide.masks(proposal.tokens.tolist()))  # type: ignore[arg-type]
        rows = generation.sampler.sample_rows(scores, proposal.tokens)
        logprobs = generation.logprobs(logits, rows)
        if not self._evaluate(generation, proposal, [rows, *(logprobs.arrays if logprobs else ())]):
            generation.start_over()
            return []
        sampled: list[int] = rows.tolist()  # type: ignore[assignment]
        drafts: list[int] = proposal.tokens.tolist()  # type: ignore[assignment]
        verdict = verify(sampled, drafts, generation.prepared.ends)
        generation.sampler.commit(len(verdict.tokens))
        generation.drafted += len(drafts)
        generation.accepted += verdict.accepted
        sequence.tokens.extend((generation.value, *drafts))
        take_back(model, sequence, begun + len(verdict.tokens), begun, states)
        if proposal.source is not None and self._draft is not None:
            right = len(verdict.tokens) - 1
            self._try_draft_model(generation, lambda: proposal.source.settle(drafts, right))  # type: ignore[union-attr]
            self._draft.depths.observed(verdict.judged, verdict.accepted)
        self._took(len(drafts), time.perf_counter() - started, by_model=proposal.source is not None)
        return generation.accept_all(verdict.tokens, logprobs)

    def took(self, seconds: float | None) -> None:
        """Record the seconds of a step without drafts; None if something else was computed as well."""
        self._depths.costs.took(0, seconds)
        if self._draft is not None:
            self._draft.depths.costs.took(0, seconds)

    def forget(self, ended: Generation) -> None:
        """Drop the state of a request; the draft model's caches stay available to later requests."""
        sources = self._sources.get(ended)
        if sources is not None and sources.model is not None:
            self._try_draft_model(ended, sources.model.end)
        self._sources.pop(ended, None)

    def _took(self, drafts: int, seconds: float, *, by_model: bool) -> None:
        """Record the seconds of a round, for the kind of drafts that it had."""
        self._depths.costs.took(drafts, None if by_model else seconds)
        if self._draft is not None:
            self._draft.depths.costs.took(drafts, seconds if by_model else None)

    def _proposal(self, generation: Generation, *, alone: bool) -> "_Proposal | None":
        most = generation.room - 1
        if most <= 0:
            return None
        sources = self._sources_of(generation)
        gain = sources.lookup.gain(most)
        found = sources.lookup.propose(most)
        if found and generation.guide is not None:
            found = found[: generation.guide.followed(found)]
        model = sources.model if alone else None
        if model is not None and (not found or model.gain(most) > gain):
            proposed = self._try_draft_model(generation, lambda: model.propose(most))
            if proposed is not None:
                return _Proposal(proposed, model)
        return _Proposal(mx.array(found, dtype=mx.uint32)) if found else None

    def _evaluate(self, generation: Generation, proposal: "_Proposal", arrays: list[mx.array]) -> bool:
        """Evaluate a round; return False if it failed and the draft model, which may be the cause, was dropped.

        The content of the caches is undefined then.
        """
        if proposal.source is None:
            mx.eval(arrays)
            return True
        try:
            mx.eval(arrays, proposal.tokens, proposal.source.unfinished)
        except Exception as error:
            self._end_model(generation, error)
            return False
        return True

    def _try_draft_model(self, generation: Generation, work: Callable[[], _T]) -> _T | None:
        """Return the result of `work` on the draft model; if it fails, drop the draft model and return None."""
        try:
            return work()
        except Exception as error:
            self._end_model(generation, error)
            return None

    def _end_model(self, generation: Generation, error: Exception) -> None:
        sources = self._sources[generation]
        assert self._draft is not None
        assert sources.model is not None
        _log.warning("Drafts by %s failed; the answer goes on without them: %s", self._draft.name, error)
        model, sources.model = sources.model, None
        model.drop()

    def _sources_of(self, generation: Generation) -> "_Sources":
        """Return the sources of drafts for a request, up to date with its answer."""
        sources = self._sources.get(generation)
        if sources is None:
            lookup = LookupDrafter(text_tokens(generation.prepared.prompt), self._depths, generation.prepared.ends)
            draft = self._draft if generation.guide is None else None
            if generation.prepared.images and draft is not None and not draft.sees:
                draft = None
            sources = _Sources(lookup, draft.drafter(generation) if draft is not None else None)
            self._sources[generation] = sources
        sources.lookup.advance(generation.answer_tokens[sources.seen :])
        sources.seen = len(generation.answer_tokens)
        return sources


@dataclass(slots=True)
class _Sources:
    """The sources of drafts for one answer.

    Attributes:
        lookup: Prompt lookup.
        model: The drafts of a model; None if there are none, if they failed, or if the answer is guided.
        seen: How many tokens of the answer `lookup` has received.
    """

    lookup: LookupDrafter
    model: Drafter | None
    seen: int = 0


@dataclass(frozen=True, slots=True)
class _Proposal:
    """Drafts to feed.

    Attributes:
        tokens: [n], uint32, at least one; not necessarily evaluated yet.
        source: The draft model that proposed them; None for prompt lookup.
    """

    tokens: mx.array
    source: Drafter | None = None


def take_back(model: Model, sequence: Sequence, length: int, begun: int, states: States | None) -> None:
    """Rewind a sequence to `length` tokens after a step that fed too many.

    Args:
        model: Feeds accepted tokens again if caches had to be restored.
        sequence: The sequence, with all tokens that were fed.
        length: Number of tokens to keep.
        begun: Number of tokens before the step.
        states: The stateful caches before the step; None if all caches can be rewound.
    """
    if length == len(sequence.tokens):
        return
    if states is None:
        sequence.rewind(length)
        return
    right = sequence.tokens[begun:length]
    sequence.rewind(begun, states)
    model(mx.array([right]), cache=sequence.caches)
    sequence.evaluate()
    sequence.tokens.extend(right)
