"""Where in a prompt the system prompt and the last messages end: positions at which a later prompt may diverge.

They are found by rendering shorter conversations and comparing. Rendering every beginning of a long conversation would
take quadratic time, so only short ones are rendered: the system prompt with one message, for its end, and the last two
turns, whose messages end as far from the end of the short prompt as from the end of the whole one. Only the texts
between these positions are tokenized a second time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sotto.engine.contract.requests import Message
from sotto.engine.prompt.common_prefix import shared_count
from sotto.engine.prompt.overflow import Parts
from sotto.errors import BrokenModelError, InvalidRequestError

_LAST_TURNS = 2
_LAST_MESSAGES = 2


class Encoder(Protocol):
    """Turns texts into tokens."""

    def encode(self, text: str, add_bos: bool | None = None) -> list[int]:
        """Return the tokens of a text, see `Tokenizer.encode`."""


class Template(Protocol):
    """Renders conversations."""

    def render(self, messages: Sequence[Message], add_generation_prompt: bool = True) -> str:
        """Return the prompt for a conversation."""


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Positions in a prompt, in tokens from its beginning; 0 where one is not known.

    Attributes:
        system: After the system prompt. Where the template marks no such end, or there is no system prompt, before the
            text of the first message.
        messages: After each of the last messages except the very last, ascending.
        answer: Before the generation prompt, which the template adds to ask for an answer.
    """

    system: int = 0
    messages: tuple[int, ...] = ()
    answer: int = 0

    @property
    def all(self) -> tuple[int, ...]:
        """Every known position, ascending."""
        return tuple(sorted({self.system, *self.messages, self.answer} - {0}))


def find_boundaries(
    template: Template, tokenizer: Encoder, messages: Sequence[Message], text: str, prompt: Sequence[int]
) -> Boundaries:
    """Find the positions in a prompt.

    Args:
        template: The template that rendered it.
        tokenizer: The tokenizer that encoded it.
        messages: The conversation.
        text: The rendered conversation, with the generation prompt.
        prompt: Its tokens.
    """
    parts = Parts.of(messages)
    system = _system_end(template, parts, text)
    ends = _last_ends(template, parts, text)
    places = _token_positions(tokenizer, text, prompt, sorted({system, *ends} - {0}))
    answer = places.get(ends[0], 0)
    others = {places[end] for end in ends[1:] if end} - {answer, places.get(system, 0)}
    return Boundaries(places.get(system, 0), tuple(sorted(others)), answer)


def _system_end(template: Template, parts: Parts, text: str) -> int:
    """Return how many characters of `text` are the system prompt with its markup."""
    if parts.system:
        alone = _render_probe(template, parts.system, asks=False)
        # Some templates print nothing for a lone system message, and put it into the user's message.
        if alone and text.startswith(alone) and all(message.text.strip() in alone for message in parts.system):
            return len(alone)
    if not parts.turns:
        return 0
    first = parts.turns[0][0]
    other = "b" if first.text.lstrip().startswith("a") else "a"
    return shared_count(text, _render_probe(template, (*parts.system, Message(first.role, other)), asks=True))


def _last_ends(template: Template, parts: Parts, text: str) -> list[int]:
    """Return where in `text` the generation prompt begins, and where the messages before the last end; 0 if unknown."""
    recent = parts.without(max(0, len(parts.turns) - _LAST_TURNS))
    whole = text if len(parts.turns) <= _LAST_TURNS else _render_probe(template, recent, asks=True)
    ends = []
    # At least one message stays, because most templates refuse an empty conversation.
    most = min(_LAST_MESSAGES, len(recent) - len(parts.system) - 1)
    for left_out in range(max(0, most) + 1):
        rest = whole[shared_count(whole, _render_probe(template, recent[: len(recent) - left_out], asks=False)) :]
        ends.append(len(text) - len(rest) if len(rest) < len(whole) and text.endswith(rest) else 0)
    return ends


def _render_probe(template: Template, messages: Sequence[Message], *, asks: bool) -> str:
    """Return a shorter conversation, rendered for comparison; empty where the template refuses it."""
    try:
        return template.render(messages, add_generation_prompt=asks)
    except (InvalidRequestError, BrokenModelError):
        return ""


def _token_positions(tokenizer: Encoder, text: str, prompt: Sequence[int], places: Sequence[int]) -> dict[int, int]:
    """Return the number of tokens before each of `places`, which are ascending character offsets in `text`, not 0."""
    found: dict[int, int] = {}
    end, until = len(prompt), len(text)
    for place in reversed(places[1:]):
        between = tokenizer.encode(text[place:until], add_bos=False)
        begin = end - len(between)
        if begin < 0 or list(prompt[begin:end]) != between:
            # A token reaches across this place, or the tokenizer treats the beginning of a text differently.
            begin = shared_count(prompt, tuple(tokenizer.encode(text[:place])))
        found[place] = end = begin
        until = place
    for place in places[:1]:
        found[place] = min(shared_count(prompt, tuple(tokenizer.encode(text[:place]))), end)
    return found
