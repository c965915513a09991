"""Several tokens of one answer in one step, where the text itself or a second model proposes them.

The tokens are those that single steps would draw; see `sotto.engine.generation.speculation`. What was fed on trial and
turned out wrong is taken back: caches that can go back do, and the others are put back to where they were before the
step and fed what was right. A draft model that fails ends its own part in an answer, and nothing else.

Where an answer must be something, only those tokens of the text are proposed that may follow, and each row is drawn
from under a mask of its own. A draft model proposes nothing to it: it draws without masks, and under them it would have
to wait for each of its tokens.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import mlx.core as mx

from sotto.engine.caches.sequence import Sequence, States
from sotto.engine.contract.events import GenerateEvent
from sotto.engine.generation.draft_model import DraftModel, ModelDrafter
from sotto.engine.generation.generation import Generation, Model
from sotto.engine.generation.speculation import LookupDepths, LookupDrafter, verify
from sotto.engine.grammar.token_masks import mask_logits

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


class Speculator:
    """Proposes and verifies for the requests on one model; what it learns is kept from one to the next."""

    def __init__(self, depths: LookupDepths | None = None, draft: DraftModel | None = None) -> None:
        """Start with nothing learnt.

        Args:
            depths: How many tokens of the text to propose; None to find out.
            draft: A model that proposes as well.
        """
        self._depths = depths or LookupDepths()
        self._draft = draft
        self._sources: dict[Generation, _Sources] = {}

    def wants(self, generation: Generation) -> bool:
        """Return whether `step` is likely to take several tokens, so that the pending one should be read for it.

        Where that is not so, this counts as a round without drafts.
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
        """Feed the pending token and what is proposed behind it, and return what comes of those that are right.

        None where a single step is better. The pending token must be read.

        Args:
            model: Computes the answer.
            generation: The request.
            alone: Whether nobody else waits, so that there is time for a draft model to catch up.
        """
        started = time.perf_counter()
        proposal = self._proposal(generation, alone=alone)
        if proposal is None:
            return None
        if proposal.source is None:
            started = time.perf_counter()  # a draft model may have caught up meanwhile
        sequence = generation.sequence
        assert sequence is not None
        begun = len(sequence.tokens)
        states = None if sequence.is_rewindable else sequence.capture()
        fed = mx.concatenate([mx.array([generation.value], dtype=mx.uint32), proposal.tokens])
        logits = model(fed[None], cache=sequence.caches)[0]
        scores = logits
        if generation.guide is not None:
            # The masks are made while the scores are.
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
        """Learn what a step without drafts took; None where something else was computed as well."""
        self._depths.costs.took(0, seconds)
        if self._draft is not None:
            self._draft.depths.costs.took(0, seconds)

    def forget(self, ended: Generation) -> None:
        """Drop what was kept for a request, and leave to the next one what the draft model computed."""
        sources = self._sources.get(ended)
        if sources is not None and sources.model is not None:
            self._try_draft_model(ended, sources.model.end)
        self._sources.pop(ended, None)

    def _took(self, drafts: int, seconds: float, *, by_model: bool) -> None:
        """Learn what a round took; for drafts of the other kind it says nothing."""
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
        """Wait for a round; return False where it failed and the draft model may be why, which then ends its part.

        Nobody knows then what the caches hold.
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
        """Return what some work of the draft model gives; None where it fails, which ends its part in an answer."""
        try:
            return work()
        except Exception as error:
            self._end_model(generation, error)
            return None

    def _end_model(self, generation: Generation, error: Exception) -> None:
        sources = self._sources[generation]
        assert self._draft is not None
        assert sources.model is not None
        _log.warning("The draft model %s failed; the answer goes on without it: %s", self._draft.name, error)
        model, sources.model = sources.model, None
        model.drop()

    def _sources_of(self, generation: Generation) -> "_Sources":
        """Return what proposes for a request, up to date with its answer."""
        sources = self._sources.get(generation)
        if sources is None:
            lookup = LookupDrafter(generation.prepared.prompt, self._depths, generation.prepared.ends)
            draft = self._draft if generation.guide is None else None
            sources = _Sources(lookup, ModelDrafter(draft, generation) if draft is not None else None)
            self._sources[generation] = sources
        sources.lookup.advance(generation.answer_tokens[sources.seen :])
        sources.seen = len(generation.answer_tokens)
        return sources


@dataclass(slots=True)
class _Sources:
    """What proposes for one answer.

    Attributes:
        lookup: The text itself.
        model: The draft model; None where there is none, where it failed, or where the answer must be something.
        seen: How many tokens of the answer the text has.
    """

    lookup: LookupDrafter
    model: ModelDrafter | None
    seen: int = 0


@dataclass(frozen=True, slots=True)
class _Proposal:
    """Tokens to feed on trial.

    Attributes:
        tokens: [n], uint32, at least one; perhaps not computed yet.
        source: The draft model that they are from; None for the text itself.
    """

    tokens: mx.array
    source: ModelDrafter | None = None


def take_back(model: Model, sequence: Sequence, length: int, begun: int, states: States | None) -> None:
    """Go back to `length` tokens after a step that fed too many.

    Args:
        model: Feeds again what was right, where that is the only way.
        sequence: Holds all that was fed.
        length: How many tokens are right.
        begun: How many there were before the step.
        states: The stateful caches as they were then; None where all caches can go back by themselves.
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
