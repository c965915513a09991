"""Shortening of conversations that are longer than the context.

System messages and the last message stay. The oldest turns between them go first, each whole with its answer, so that
the rest begins with a user's message. Then the oldest tool calls of the last turn go, each with its result. More is
dropped than necessary: the amount is rounded up to whole steps of a fixed size, counted from the beginning of the
conversation. So the prompts of the next turns begin with the same tokens, which need not be computed again, until new
ones fill another step. Which turns go depends on the messages alone.

Where the system prompt and the last turn alone are too long, a mark replaces the middle of the longest message:
questions about a long text mostly stand before or after it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sotto.engine.contract.message_content import ImagePart, TextPart, content_of
from sotto.engine.contract.requests import Message
from sotto.errors import InvalidRequestError

MARK = "\n[…]\n"
# About how many tokens a template adds to a message. An error only changes when the next step is taken.
_TOKENS_AROUND_MESSAGE = 6


@dataclass(frozen=True, slots=True)
class Parts:
    """A conversation split into turns.

    Attributes:
        system: The system messages at the beginning; may be empty.
        turns: The rest; each turn goes from a user's message to the one before the next user's.
    """

    system: tuple[Message, ...]
    turns: tuple[tuple[Message, ...], ...]

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "Parts":
        """Split a conversation."""
        first = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
        turns: list[tuple[Message, ...]] = []
        begins = True
        for message in messages[first:]:
            if not turns or (message.role == "user" and begins):
                turns.append(())
            turns[-1] = (*turns[-1], message)
            begins = message.role != "user"
        return cls(tuple(messages[:first]), tuple(turns))

    @property
    def droppable(self) -> tuple[tuple[Message, ...], ...]:
        """What may be dropped, oldest first: the turns before the last, then the answered tool calls of the last."""
        return (*self.turns[:-1], *self._rounds[1][:-1])

    @property
    def last(self) -> int:
        """How many messages at the end are never left out, and so may be shortened."""
        head, rounds = self._rounds
        return len(head) + sum(map(len, rounds[-1:]))

    def without(self, count: int) -> tuple[Message, ...]:
        """Return the conversation without the first `count` of `droppable`, but with the system messages in them."""
        dropped, turns = self.droppable[:count], self.turns[:-1][count:]
        head, rounds = self._rounds
        system = (message for turn in dropped for message in turn if message.role == "system")
        kept = (*turns, head, *rounds[max(0, count - len(self.turns) + 1) :])
        return (*self.system, *system, *(message for turn in kept for message in turn))

    @property
    def _rounds(self) -> tuple[tuple[Message, ...], tuple[tuple[Message, ...], ...]]:
        """The beginning of the last turn, and its rounds: an assistant's message each, with the tool results after."""
        last = self.turns[-1] if self.turns else ()
        begins = [index for index, message in enumerate(last) if message.role == "assistant"]
        ends = [*begins[1:], len(last)]
        rounds = tuple(last[begin:end] for begin, end in zip(begins, ends, strict=False))
        return last[: begins[0] if begins else len(last)], rounds


def shorten_conversation(
    messages: Sequence[Message],
    rendered: Callable[[Sequence[Message]], int],
    size: Callable[[str], int],
    image_size: Callable[[ImagePart], int],
    most: int,
    step: int,
) -> tuple[Message, ...]:
    """Drop the messages of a conversation that do not fit.

    Args:
        messages: A conversation that is too long.
        rendered: Returns the number of tokens of a conversation rendered by the template.
        size: Returns the number of tokens of a text by itself.
        image_size: Returns the number of tokens of an image.
        most: Most tokens that the rendered conversation may have.
        step: Tokens to drop at a time, at least 1.

    Raises:
        InvalidRequestError: It is still too long with the last messages cut to nothing.
    """
    parts = Parts.of(messages)

    def length(message: Message) -> int:
        content = size(message.text) + sum(map(image_size, message.images))
        return _TOKENS_AROUND_MESSAGE + content + sum(size(call.as_json()) for call in message.tool_calls)

    # A system message within a turn is not dropped with it.
    sizes = [sum(length(message) for message in turn if message.role != "system") for turn in parts.droppable]
    total = sum(map(length, messages))
    last = len(sizes)
    steps = max(1, -(-(total - most) // step))
    while True:
        dropped = first = 0
        while first < last and dropped < steps * step:
            dropped += sizes[first]
            first += 1
        if first and rendered(kept := parts.without(first)) <= most:
            return kept
        if first == last:
            kept = parts.without(last)
            return _cut_middles(kept, len(kept) - parts.last, rendered, size, most)
        # The template adds more than was estimated.
        steps = max(steps + 1, dropped // step + 1)


def _cut_middles(
    messages: tuple[Message, ...],
    first: int,
    rendered: Callable[[Sequence[Message]], int],
    size: Callable[[str], int],
    most: int,
) -> tuple[Message, ...]:
    """Cut the middle out of the messages from index `first` on, the longest first, until the conversation fits."""
    kept = list(messages)
    for index in sorted(range(first, len(kept)), key=lambda place: size(kept[place].text), reverse=True):
        content, tokens = kept[index].text, size(kept[index].text)
        length = len(content)
        while (surplus := rendered(kept) - most) > 0 and length > 0:
            # The first cut goes by the message's characters per token, and leaves room for the mark.
            share = max(0.0, 1 - (surplus + len(MARK)) / max(tokens, 1)) if length == len(content) else 0.9
            length = min(int(length * share), length - 1)
            text = content[: length - length // 2] + MARK + content[len(content) - length // 2 :]
            kept[index] = replace(kept[index], content=content_of((*kept[index].images, TextPart(text))))
    if (length := rendered(kept)) > most:
        what, less = "The system prompt", "shorten the system prompt"
        if any(message.images for message in kept):
            what, less = "The system prompt, the last images", f"{less}, send fewer images"
        raise InvalidRequestError(
            f"{what} and what the chat template adds take {length} tokens, and there is room for {most}: {less}, or "
            "give the model a larger num_ctx."
        )
    return tuple(kept)


def count_cut_messages(kept: Sequence[Message], messages: Sequence[Message]) -> int:
    """Return how many of the messages kept from a conversation were changed by cutting."""
    whole = set(map(id, messages))
    return sum(id(message) not in whole for message in kept)


def cut_middle(tokens: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the beginning and the end of a prompt, together `most` tokens."""
    head = most - most // 2
    return (*tokens[:head], *tokens[len(tokens) - (most - head) :])


def shift_context(tokens: Sequence[int], keep: int, most: int, opening: Sequence[int] = ()) -> tuple[int, ...]:
    """Make room in a full context: drop the older half of what follows the system prompt.

    Args:
        tokens: The tokens in the context, at least two.
        keep: How many tokens at the beginning stay in any case.
        most: Most tokens to return, at least two.
        opening: The generation prompt. Where it is dropped, it is inserted before the rest of the answer, which would
            otherwise look like the user's text.

    Returns:
        At least one token fewer than before. Cached states of the first `keep` tokens stay valid.
    """
    most = min(most, len(tokens) - 1)
    head = tuple(tokens[: min(keep, most // 2)])
    rest = tuple(tokens[len(head) :])
    tail = rest[-(-len(rest) // 2) :][-(most - len(head)) :]
    if opening and not _contains(tail, tuple(opening)):
        # The cut may have gone through the opening.
        torn = next((size for size in range(len(opening) - 1, 0, -1) if tail[:size] == tuple(opening[-size:])), 0)
        tail = tail[torn:]
        room = max(0, most - len(head) - len(opening))
        tail = (*opening, *tail[len(tail) - min(room, len(tail)) :])[: most - len(head)]
    return head + tail


def _contains(tokens: tuple[int, ...], run: tuple[int, ...]) -> bool:
    return any(tokens[start : start + len(run)] == run for start in range(len(tokens) - len(run) + 1))
