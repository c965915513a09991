"""Several tokens of one answer in one step, where the text itself proposes them.

The tokens are those that single steps would draw; see `sotto.engine.speculation`. What was fed on trial and turned out
wrong is taken back: caches that can go back do, and the others are put back to where they were before the step and fed
what was right.
"""

import mlx.core as mx

from sotto.engine.generation import Generation, Model
from sotto.engine.sequence import Sequence, States
from sotto.engine.speculation import LookupDepths, LookupDrafter, verify
from sotto.engine.types import GenerateEvent


class Speculator:
    """Proposes and verifies for the requests on one model; what it learns is kept from one to the next."""

    def __init__(self, depths: LookupDepths | None = None) -> None:
        """Start with nothing learnt.

        Args:
            depths: How many tokens to propose; None to find out.
        """
        self._depths = depths or LookupDepths()
        self._drafters: dict[Generation, tuple[LookupDrafter, int]] = {}

    def drafts(self, one: Generation) -> list[int]:
        """Return tokens to feed on trial behind the pending one; none where a single step is better.

        The pending token must be read.
        """
        most = one.room - 1
        return self._drafter(one).propose(most) if most > 0 else []

    def took(self, one: Generation, drafts: int, seconds: float | None) -> None:
        """Learn what a step took; None where something else was computed as well."""
        self._drafter(one).took(drafts, seconds)

    def forget(self, ended: Generation) -> None:
        """Drop what was kept for a request."""
        self._drafters.pop(ended, None)

    def step(self, model: Model, one: Generation, drafts: list[int]) -> list[GenerateEvent]:
        """Feed the pending token and `drafts`, and return what comes of those that are right."""
        sequence = one.sequence
        assert sequence is not None
        begun = len(sequence.tokens)
        states = None if sequence.is_rewindable else sequence.capture()
        ids = [one.value, *drafts]
        logits = model(mx.array([ids]), cache=sequence.caches)[0]
        proposed = mx.array(drafts, dtype=mx.uint32)
        sampled: list[int] = one.sampler.sample_rows(logits, proposed).tolist()  # type: ignore[assignment]
        verdict = verify(sampled, drafts, one.task.eos_ids)
        one.sampler.commit(len(verdict.tokens))
        one.drafted += len(drafts)
        one.accepted += verdict.accepted
        sequence.tokens.extend(ids)
        take_back(model, sequence, begun + len(verdict.tokens), begun, states)
        return one.accept_all(verdict.tokens)

    def _drafter(self, one: Generation) -> LookupDrafter:
        """Return what proposes for a request, up to date with its answer."""
        drafter, seen = self._drafters.get(one, (None, 0))
        if drafter is None:
            drafter = LookupDrafter(one.task.prompt, self._depths, one.task.eos_ids)
        drafter.advance(one.drawn[seen:])
        self._drafters[one] = drafter, len(one.drawn)
        return drafter


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
