"""Explains why a model must read a prompt again although it has read most of it before."""

from dataclasses import dataclass, replace

from sotto.engine.contract.events import Finished
from sotto.engine.contract.requests import Message, Think
from sotto.ui.toolkit.translation import QT_TR_NOOP

# If less than this fraction of the earlier prompt is cached, it counts as lost. Templates and edits near the end always
# cost a part of it.
_LOST_BELOW = 0.5


@dataclass(frozen=True, slots=True)
class PromptState:
    """Everything that determines the prompt of a request.

    Attributes:
        model: The digest of the model.
        messages: The messages.
        trims: Whether the oldest turns are left out if the context is too short for them.
        think: Whether the model is asked to think, which some templates state at the beginning of the prompt.
    """

    model: str
    messages: tuple[Message, ...]
    trims: bool = False
    think: Think | None = None


def reread_reason(before: PromptState, tokens: int, now: PromptState, cached: int) -> str:
    """Return why hardly any of the earlier prompt is still cached, in English; empty if most of it is.

    Args:
        before: The previous prompt, including its answer.
        tokens: The length of both, in tokens.
        now: The current prompt.
        cached: How many of its tokens need not be computed again.
    """
    if cached >= _LOST_BELOW * tokens:
        return ""
    if before.model != now.model:
        return QT_TR_NOOP("this model has not seen it yet")
    pairs = zip(before.messages, now.messages, strict=False)
    first = next((index for index, (old, new) in enumerate(pairs) if old != new), None)
    if first is None and before.think != now.think:
        return QT_TR_NOOP("the setting for thinking was changed")
    if first is None:
        return QT_TR_NOOP("the oldest messages were dropped") if now.trims else QT_TR_NOOP("its cache was evicted")
    changed = (*before.messages[first : first + 1], *now.messages[first : first + 1])
    if any(message.role == "system" for message in changed):
        return QT_TR_NOOP("the system prompt was changed")
    return QT_TR_NOOP("an earlier message was changed")


class PrefixReuse:
    """Compares each prompt of one conversation with the one before."""

    def __init__(self) -> None:
        """Begin without an earlier prompt."""
        self._before: PromptState | None = None
        self._tokens = 0
        self._now = PromptState("", ())
        self._reason: str | None = None

    def begin(self, now: PromptState) -> None:
        """Begin a request."""
        self._now, self._reason = now, None

    def reason(self, cached: int) -> str:
        """Return why the prompt is read again, of which `cached` tokens are cached; empty if it is not."""
        if self._reason is None:
            before = self._before
            self._reason = reread_reason(before, self._tokens, self._now, cached) if before is not None else ""
        return self._reason

    def end(self, end: Finished, answer: str) -> str:
        """End a request with its answer, and return the `reason`."""
        if not end.prompt_tokens:
            return ""
        reason = self.reason(end.cached_tokens)
        messages = self._now.messages
        if len(messages) > 1 and messages[-1].role == "assistant":
            # The answer was continued, so `answer` contains this message.
            messages = messages[:-1]
        self._before = replace(self._now, messages=(*messages, Message("assistant", answer)))
        self._tokens = end.prompt_tokens + len(end.token_ids)
        return reason
