"""Speculative decoding: verifying drafts, and proposing them by prompt lookup.

A round, for a caller that holds the model and the caches of an answer whose last token, `current`, has been sampled but
not fed::

    drafts = drafter.propose(most)                      # most: tokens left to sample, less one
    logits = model([current, *drafts])                  # rows 0 ... n
    sampled = sampler.sample_rows(logits, drafts)       # lazily; reading it is the only wait of a round
    verdict = verify(sampled.tolist(), drafts, eos_ids)
    sampler.commit(len(verdict.tokens))
    # The caches hold 1 + n more tokens; all but the first len(verdict.tokens) are removed again.
    drafter.advance(verdict.tokens)
    depths.costs.took(len(drafts), seconds)

The tokens are those that the same sampler would sample one by one: see `sotto.engine.sampling.sampler`. A round without
drafts is an ordinary step.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from sotto.engine.generation.draft_depth import Costs, DraftDepth
from sotto.engine.generation.prompt_lookup import LENGTHS, PromptLookup

MOST_DRAFTS = 16


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a round.

    Attributes:
        tokens: The next tokens of the answer, at least one; the last has not been fed, unless it is a draft that ends
            the answer.
        accepted: How many of them are drafts.
        judged: How many drafts were accepted or rejected; those after a rejected one or after an end were neither.
    """

    tokens: tuple[int, ...]
    accepted: int
    judged: int


def verify(sampled: Sequence[int], drafts: Sequence[int], ends: Set[int] = frozenset()) -> Verdict:
    """Compare drafts with the tokens sampled from the model.

    Args:
        sampled: The token sampled after each of 0 ... n drafts.
        drafts: The n drafts that were fed.
        ends: Tokens that end an answer; tokens after them are dropped.
    """
    for index, (token, draft) in enumerate(zip(sampled, drafts, strict=False)):
        if token != draft:
            return Verdict(tuple(sampled[: index + 1]), index, index + 1)
        if token in ends:
            return Verdict(tuple(sampled[: index + 1]), index + 1, index + 1)
    return Verdict(tuple(sampled[: len(drafts) + 1]), len(drafts), len(drafts))


class LookupDepths:
    """What has been learnt about prompt lookup with one model, over all its answers.

    The more tokens match an earlier passage, the more likely the next one matches too, so acceptance is recorded for
    each length of match. The cost of a round is the same for all lengths.

    Attributes:
        costs: Seconds of a round by its number of drafts.
        limit: Maximum number of drafts in a round.
    """

    def __init__(self, limit: int = MOST_DRAFTS) -> None:
        """Start with nothing learnt.

        Args:
            limit: Maximum number of drafts in a round; 0 for none.
        """
        self.costs = Costs()
        self.limit = limit
        self._by_length = {length: DraftDepth(limit, self.costs) for length in LENGTHS}

    def controller(self, matched: int) -> DraftDepth:
        """Return the controller that chooses the depth of proposals after a match of `matched` tokens."""
        return self._by_length[matched]


class LookupDrafter:
    """Proposes the drafts of one answer by prompt lookup, and records how many are right.

    A proposal is compared with the tokens that follow, whether or not it was fed. So acceptance is known without
    feeding anything, and where lookup does not pay, it costs only the lookup.
    """

    def __init__(self, prompt: Iterable[int], depths: LookupDepths, ends: Set[int] = frozenset()) -> None:
        """Start an answer.

        Args:
            prompt: Its tokens, or the first of them; `advance` adds more.
            depths: What has been learnt over all answers of the model.
            ends: Tokens that end an answer.
        """
        self._lookup = PromptLookup(prompt, ends, LENGTHS)
        self._depths = depths
        self._watched: _Watched | None = None

    def promising(self, most: int) -> bool:
        """Return whether `propose` would return drafts now, without changing anything."""
        proposal = self._lookup.propose(min(most, self._depths.limit))
        return bool(proposal.tokens) and self._depths.controller(proposal.matched).planned(len(proposal.tokens)) > 0

    def gain(self, most: int) -> float:
        """Return the expected speed-up of a round with drafts; 1 if `propose` would return none."""
        proposal = self._lookup.propose(min(most, self._depths.limit))
        return self._depths.controller(proposal.matched).gain(len(proposal.tokens)) if proposal.tokens else 1.0

    def propose(self, most: int) -> list[int]:
        """Return the drafts of the next round; none if nothing is found or drafting would not pay.

        Args:
            most: Maximum number of drafts.
        """
        proposal = self._lookup.propose(min(most, self._depths.limit))
        if not proposal.tokens:
            return []
        controller = self._depths.controller(proposal.matched)
        if self._watched is None:
            self._watched = _Watched(controller, proposal.tokens)
        return list(proposal.tokens[: controller.choose(len(proposal.tokens))])

    def advance(self, tokens: Sequence[int]) -> None:
        """Append tokens of the answer, drafted or not."""
        self._lookup.extend(tokens)
        if self._watched is not None:
            self._watched = self._watched.after(tokens)


@dataclass(frozen=True, slots=True)
class _Watched:
    """A proposal that is being compared with the tokens that follow.

    Attributes:
        controller: Receives the result.
        tokens: The proposal.
        right: How many of its tokens have been right so far.
    """

    controller: DraftDepth
    tokens: tuple[int, ...]
    right: int = 0

    def after(self, sampled: Sequence[int]) -> "_Watched | None":
        """Return the proposal after these tokens, or None once the result is recorded."""
        right = self.right
        for token in sampled:
            if token != self.tokens[right]:
                self.controller.observed(right + 1, right)
                return None
            right += 1
            if right == len(self.tokens):
                self.controller.observed(right, right)
                return None
        return _Watched(self.controller, self.tokens, right)
