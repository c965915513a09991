"""Why a model reads again what it has read before."""

from dataclasses import dataclass, replace

from sotto.engine.contract.events import Finished
from sotto.engine.contract.requests import Message, Think

# What is less than this share of what was read before is lost; the rest is what templates and edits of the end cost.
_LOST = 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation as a model is given it.

    Attributes:
        model: Which model; its digest.
        messages: The conversation.
        trims: Whether oldest turns are left out where there is no room.
        think: Whether it was asked to think first, which some templates say at the beginning.
    """

    model: str
    messages: tuple[Message, ...]
    trims: bool = False
    think: Think | None = None


def why_lost(before: Asked, tokens: int, now: Asked, cached: int) -> str:
    """Return why hardly anything of what was read is known any more; empty where it is.

    Args:
        before: What was read and written last.
        tokens: How long that was.
        now: What it reads next.
        cached: Tokens of that which need not be computed again.
    """
    if cached >= _LOST * tokens:
        return ""
    if before.model != now.model:
        return "another model reads it for the first time"
    pairs = zip(before.messages, now.messages, strict=False)
    same = next((place for place, (old, new) in enumerate(pairs) if old != new), None)
    if same is None and before.think != now.think:
        return "it is to think otherwise"
    if same is None:
        return "the oldest turns are left out" if now.trims else "what was kept of it had to make place"
    changed = (*before.messages[same : same + 1], *now.messages[same : same + 1])
    if any(message.role == "system" for message in changed):
        return "the system prompt was changed"
    return "an earlier message was changed"


class PrefixReuse:
    """Follows what a model reads in one conversation."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._before: Asked | None = None
        self._tokens = 0
        self._now = Asked("", ())
        self._why: str | None = None

    def begin(self, now: Asked) -> None:
        """Begin to follow how this is read."""
        self._now, self._why = now, None

    def why(self, cached: int) -> str:
        """Return why it is read anew, if hardly more than `cached` of it is known; empty where it is not."""
        if self._why is None:
            self._why = why_lost(self._before, self._tokens, self._now, cached) if self._before is not None else ""
        return self._why

    def end(self, end: Finished, answer: str) -> str:
        """Remember what was read and answered, and return `why` it was read anew."""
        if not end.prompt_tokens:
            return ""
        why = self.why(end.cached_tokens)
        said = self._now.messages
        if len(said) > 1 and said[-1].role == "assistant":
            # It was gone on with, and is part of the answer.
            said = said[:-1]
        self._before = replace(self._now, messages=(*said, Message("assistant", answer)))
        self._tokens = end.prompt_tokens + len(end.token_ids)
        return why
