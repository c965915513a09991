"""Speculation: feed tokens on trial, keep those that the model draws itself, and find out how many to feed.

A round, for the caller that holds the model and the caches of an answer whose last token, `current`, was drawn and not
yet
fed::

    drafts = drafter.propose(most)                      # most: what is left to draw, less one
    logits = model([current, *drafts])                  # rows 0 ... n
    sampled = sampler.sample_rows(logits, drafts)       # lazily; reading it is the only wait of a round
    verdict = verify(sampled.tolist(), drafts, eos_ids)
    sampler.commit(len(verdict.tokens))
    # The caches hold 1 + n tokens more; the first len(verdict.tokens) of these are right, the others are taken back.
    drafter.advance(verdict.tokens)
    depths.costs.took(len(drafts), seconds)

The tokens are those that the same sampler would draw one at a time: see `sotto.engine.sampling.sampler`. A round
without drafts is an ordinary step.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from sotto.engine.generation.draft_depth import Costs, DraftDepth
from sotto.engine.generation.prompt_lookup import LENGTHS, PromptLookup

MOST_DRAFTS = 16


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a round has given.

    Attributes:
        tokens: The answer's next tokens, at least one; the last of them has not been fed, unless it is a draft that
            ends the answer.
        accepted: How many drafts are among them.
        judged: How many drafts were found right or wrong; those behind a wrong one or behind an end were neither.
    """

    tokens: tuple[int, ...]
    accepted: int
    judged: int


def verify(sampled: Sequence[int], drafts: Sequence[int], ends: Set[int] = frozenset()) -> Verdict:
    """Compare drafts with what the model draws.

    Args:
        sampled: The token drawn behind each of 0 ... n drafts.
        drafts: The n tokens that were fed on trial.
        ends: Tokens that end an answer; what follows one is not kept.
    """
    for index, (token, draft) in enumerate(zip(sampled, drafts, strict=False)):
        if token != draft:
            return Verdict(tuple(sampled[: index + 1]), index, index + 1)
        if token in ends:
            return Verdict(tuple(sampled[: index + 1]), index + 1, index + 1)
    return Verdict(tuple(sampled[: len(drafts) + 1]), len(drafts), len(drafts))


class LookupDepths:
    """What is learnt about prompt lookup with one model, over all its answers.

    The more tokens agree with an earlier place, the likelier the next one does, so each length has an acceptance of its
    own. What a round costs is the same for all of them.

    Attributes:
        costs: Seconds by number of drafts.
        limit: Most drafts in a round.
    """

    def __init__(self, limit: int = MOST_DRAFTS) -> None:
        """Start with nothing learnt.

        Args:
            limit: Most drafts in a round; 0 for none ever.
        """
        self.costs = Costs()
        self.limit = limit
        self._by_length = {length: DraftDepth(limit, self.costs) for length in LENGTHS}

    def controller(self, matched: int) -> DraftDepth:
        """Return what chooses the depth of proposals that `matched` tokens agree with."""
        return self._by_length[matched]


class LookupDrafter:
    """Proposes the drafts of one answer by prompt lookup, and sees how each proposal fares.

    A proposal is judged by the tokens that follow, whether or not it was fed. So acceptance is known without feeding
    anything, and where lookup does not pay it costs nothing but the look.
    """

    def __init__(self, prompt: Iterable[int], depths: LookupDepths, ends: Set[int] = frozenset()) -> None:
        """Start an answer.

        Args:
            prompt: Its tokens, or the first of them; `advance` adds more.
            depths: What is learnt over all answers of the model.
            ends: Tokens that end an answer.
        """
        self._lookup = PromptLookup(prompt, ends, LENGTHS)
        self._depths = depths
        self._watched: _Watched | None = None

    def promising(self, most: int) -> bool:
        """Say whether `propose` would give drafts now; asking changes nothing."""
        proposal = self._lookup.propose(min(most, self._depths.limit))
        return bool(proposal.tokens) and self._depths.controller(proposal.matched).planned(len(proposal.tokens)) > 0

    def gain(self, most: int) -> float:
        """Return how many times faster a round with drafts is likely to be; 1 where `propose` would give none."""
        proposal = self._lookup.propose(min(most, self._depths.limit))
        return self._depths.controller(proposal.matched).gain(len(proposal.tokens)) if proposal.tokens else 1.0

    def propose(self, most: int) -> list[int]:
        """Return the drafts of the next round: none where nothing is found or drafting would not pay.

        Args:
            most: How many there may be.
        """
        proposal = self._lookup.propose(min(most, self._depths.limit))
        if not proposal.tokens:
            return []
        controller = self._depths.controller(proposal.matched)
        if self._watched is None:
            self._watched = _Watched(controller, proposal.tokens)
        return list(proposal.tokens[: controller.choose(len(proposal.tokens))])

    def advance(self, tokens: Sequence[int]) -> None:
        """Add tokens of the answer, whichever way they were drawn."""
        self._lookup.extend(tokens)
        if self._watched is not None:
            self._watched = self._watched.after(tokens)


@dataclass(frozen=True, slots=True)
class _Watched:
    """A proposal that is being judged.

    Attributes:
        controller: Whom to tell.
        tokens: The proposal.
        right: How many of them have come true.
    """

    controller: DraftDepth
    tokens: tuple[int, ...]
    right: int = 0

    def after(self, drawn: Sequence[int]) -> "_Watched | None":
        """Return it after these tokens have come, or None once it is told."""
        right = self.right
        for token in drawn:
            if token != self.tokens[right]:
                self.controller.observed(right + 1, right)
                return None
            right += 1
            if right == len(self.tokens):
                self.controller.observed(right, right)
                return None
        return _Watched(self.controller, self.tokens, right)
