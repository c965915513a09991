"""Where in a prompt the system prompt and the last messages end: the places at which another prompt may part from it.

To find them, shorter conversations are rendered and compared. Rendering each beginning of a long conversation would
take as long as the square of its length, so only two short ones are looked at: the system prompt with one message, for
its end, and the last two turns, whose ends are as far from the end of the whole prompt as from the end of the short
one. Nothing but the texts between these places is tokenized a second time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sotto.engine.contract.requests import Message
from sotto.engine.prompt.common_prefix import shared_count
from sotto.engine.prompt.overflow import Parts
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError, InvalidRequestError

_LAST_TURNS = 2
_LAST_MESSAGES = 2


class Template(Protocol):
    """What renders conversations."""

    def render(self, messages: Sequence[Message], add_generation_prompt: bool = True) -> str:
        """Return the prompt for a conversation."""


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Places in a prompt, in tokens from its beginning; 0 where one is not known.

    Attributes:
        system: Behind the system prompt. Where a template has no such place, or there is no system prompt, before the
            text of the first message.
        messages: Behind the last messages but one, ascending.
        answer: Before what the template adds to ask for an answer.
    """

    system: int = 0
    messages: tuple[int, ...] = ()
    answer: int = 0

    @property
    def all(self) -> tuple[int, ...]:
        """Every place that is known, ascending."""
        return tuple(sorted({self.system, *self.messages, self.answer} - {0}))


def find_boundaries(
    template: Template, tokenizer: Tokenizer, messages: Sequence[Message], text: str, prompt: Sequence[int]
) -> Boundaries:
    """Find the places in a prompt.

    Args:
        template: What it was rendered by.
        tokenizer: What it was cut into tokens by.
        messages: What it was made from.
        text: The conversation rendered, with what asks for an answer.
        prompt: Its tokens.
    """
    parts = Parts.of(messages)
    system = _system_end(template, parts, text)
    ends = _last_ends(template, parts, text)
    places = _in_tokens(tokenizer, text, prompt, sorted({system, *ends} - {0}))
    answer = places.get(ends[0], 0)
    others = {places[end] for end in ends[1:] if end} - {answer, places.get(system, 0)}
    return Boundaries(places.get(system, 0), tuple(sorted(others)), answer)


def _system_end(template: Template, parts: Parts, text: str) -> int:
    """Return how much of `text` is the system prompt with what stands around it."""
    if parts.system:
        alone = _render_probe(template, parts.system, asks=False)
        # Some templates say nothing for a system message alone and put it into the user's.
        if alone and text.startswith(alone) and all(message.content.strip() in alone for message in parts.system):
            return len(alone)
    if not parts.turns:
        return 0
    first = parts.turns[0][0]
    other = "b" if first.content.lstrip().startswith("a") else "a"
    return shared_count(text, _render_probe(template, (*parts.system, Message(first.role, other)), asks=True))


def _last_ends(template: Template, parts: Parts, text: str) -> list[int]:
    """Return how much of `text` precedes what asks for an answer, and each of the last messages; 0 where unknown."""
    recent = parts.without(max(0, len(parts.turns) - _LAST_TURNS))
    whole = text if len(parts.turns) <= _LAST_TURNS else _render_probe(template, recent, asks=True)
    ends = []
    # At least one message stays, because most templates take no conversation without any.
    most = min(_LAST_MESSAGES, len(recent) - len(parts.system) - 1)
    for left_out in range(max(0, most) + 1):
        behind = whole[shared_count(whole, _render_probe(template, recent[: len(recent) - left_out], asks=False)) :]
        ends.append(len(text) - len(behind) if len(behind) < len(whole) and text.endswith(behind) else 0)
    return ends


def _render_probe(template: Template, messages: Sequence[Message], *, asks: bool) -> str:
    """Return a conversation that nobody asked for, or nothing where the template takes none such."""
    try:
        return template.render(messages, add_generation_prompt=asks)
    except (InvalidRequestError, BrokenModelError):
        return ""


def _in_tokens(tokenizer: Tokenizer, text: str, prompt: Sequence[int], places: Sequence[int]) -> dict[int, int]:
    """Return the number of tokens in front of each place of `text`; 0 is not among the places."""
    found: dict[int, int] = {}
    end, until = len(prompt), len(text)
    for place in reversed(places[1:]):
        between = tokenizer.encode(text[place:until], add_bos=False)
        begin = end - len(between)
        if begin < 0 or list(prompt[begin:end]) != between:
            # Tokens reach across this place, or a text begins otherwise than it goes on.
            begin = shared_count(prompt, tuple(tokenizer.encode(text[:place])))
        found[place] = end = begin
        until = place
    for place in places[:1]:
        found[place] = min(shared_count(prompt, tuple(tokenizer.encode(text[:place]))), end)
    return found
