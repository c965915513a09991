"""What is left out where a conversation is longer than the context.

What the system says and the last message stay. Of the turns between them the oldest go first, each whole, with the
answer to it, so that what is left begins with a user's message; after them the oldest calls of tools in the last turn,
each with what the tool answered. More is dropped than must be: what is dropped is rounded up to whole steps of a fixed
size, counted from the beginning of the conversation. So the next turns begin with the same tokens, which need not be
computed again, until a step's worth of new ones has come. Which turns go follows from the messages alone.

Where the system prompt and the last turn are too long by themselves, the middle of the longest message gives way to a
mark: what is asked about a long text mostly stands in front of it or behind it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sotto.engine.contract.requests import Message
from sotto.errors import InvalidRequestError

MARK = "\n[…]\n"
# What a template adds to a message, about. Only when the next step is taken depends on it.
_AROUND_MESSAGE = 6


@dataclass(frozen=True, slots=True)
class Parts:
    """A conversation taken apart.

    Attributes:
        system: The messages with which the system speaks first; may be empty.
        turns: What follows, each turn from a user's message to the one before the next user's.
    """

    system: tuple[Message, ...]
    turns: tuple[tuple[Message, ...], ...]

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "Parts":
        """Take a conversation apart."""
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
        """What may be left out, oldest first: the turns before the last, then of that the calls that were answered."""
        return (*self.turns[:-1], *self._rounds[1][:-1])

    @property
    def last(self) -> int:
        """How many messages at the end are never left out, and so may be shortened."""
        head, rounds = self._rounds
        return len(head) + sum(map(len, rounds[-1:]))

    def without(self, count: int) -> tuple[Message, ...]:
        """Return the conversation without so much of what may be left out, but with what the system says in that."""
        left, turns = self.droppable[:count], self.turns[:-1][count:]
        head, rounds = self._rounds
        said = (message for turn in left for message in turn if message.role == "system")
        kept = (*turns, head, *rounds[max(0, count - len(self.turns) + 1) :])
        return (*self.system, *said, *(message for turn in kept for message in turn))

    @property
    def _rounds(self) -> tuple[tuple[Message, ...], tuple[tuple[Message, ...], ...]]:
        """What the last turn begins with, and its rounds: what an assistant says, with what tools answer to it."""
        last = self.turns[-1] if self.turns else ()
        begins = [index for index, message in enumerate(last) if message.role == "assistant"]
        ends = [*begins[1:], len(last)]
        rounds = tuple(last[begin:end] for begin, end in zip(begins, ends, strict=False))
        return last[: begins[0] if begins else len(last)], rounds


def shortened(
    messages: Sequence[Message],
    rendered: Callable[[Sequence[Message]], int],
    size: Callable[[str], int],
    most: int,
    step: int,
) -> tuple[Message, ...]:
    """Leave out of a conversation what does not fit.

    Args:
        messages: A conversation that is too long.
        rendered: Tokens of a conversation as the model is given it.
        size: Tokens of a text by itself.
        most: Tokens that the conversation may have.
        step: Tokens to drop at a time, at least 1.

    Raises:
        InvalidRequestError: Even the system prompt and nothing of the last turn are too long.
    """
    parts = Parts.of(messages)

    def length(message: Message) -> int:
        return _AROUND_MESSAGE + size(message.content) + sum(size(call.as_json()) for call in message.tool_calls)

    # What the system says in between is not dropped with its turn.
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
            return _without_middles(kept, len(kept) - parts.last, rendered, size, most)
        # What the template adds was taken for less than it is.
        steps = max(steps + 1, dropped // step + 1)


def _without_middles(
    messages: tuple[Message, ...],
    first: int,
    rendered: Callable[[Sequence[Message]], int],
    size: Callable[[str], int],
    most: int,
) -> tuple[Message, ...]:
    """Cut the middle out of messages from number `first` on, the longest one first, until all fit."""
    kept = list(messages)
    for index in sorted(range(first, len(kept)), key=lambda place: size(kept[place].content), reverse=True):
        content, tokens = kept[index].content, size(kept[index].content)
        length = len(content)
        while (surplus := rendered(kept) - most) > 0 and length > 0:
            # The first cut is by how many characters a token has, and leaves room for the mark.
            share = max(0.0, 1 - (surplus + len(MARK)) / max(tokens, 1)) if length == len(content) else 0.9
            length = min(int(length * share), length - 1)
            text = content[: length - length // 2] + MARK + content[len(content) - length // 2 :]
            kept[index] = replace(kept[index], content=text)
    if (length := rendered(kept)) > most:
        raise InvalidRequestError(
            f"The system prompt and what the chat template adds take {length} tokens, and there is room for {most}: "
            "shorten the system prompt, or give the model a larger num_ctx."
        )
    return tuple(kept)


def cut_among(kept: Sequence[Message], messages: Sequence[Message]) -> int:
    """Return how many of the messages that are kept of a conversation are not in it as they are."""
    whole = set(map(id, messages))
    return sum(id(message) not in whole for message in kept)


def without_middle(tokens: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the beginning and the end of a prompt, `most` tokens together."""
    head = most - most // 2
    return (*tokens[:head], *tokens[len(tokens) - (most - head) :])


def shifted(tokens: Sequence[int], keep: int, most: int, opening: Sequence[int] = ()) -> tuple[int, ...]:
    """Make room in a full context: forget the older half of what follows the system prompt.

    Args:
        tokens: What the context holds, at least two tokens.
        keep: How many of them, from the first, stay in any case.
        most: How many there may be afterwards, at least two.
        opening: The tokens that ask for the answer. Where they are forgotten with the rest, they are put in front of
            what is left of the answer, which would otherwise seem to be the user's.

    Returns:
        At least one token less than there were. What is computed for the first `keep` of them remains right.
    """
    most = min(most, len(tokens) - 1)
    head = tuple(tokens[: min(keep, most // 2)])
    rest = tuple(tokens[len(head) :])
    tail = rest[-(-len(rest) // 2) :][-(most - len(head)) :]
    if opening and not _holds(tail, tuple(opening)):
        # The cut may have gone through it.
        torn = next((size for size in range(len(opening) - 1, 0, -1) if tail[:size] == tuple(opening[-size:])), 0)
        tail = tail[torn:]
        room = max(0, most - len(head) - len(opening))
        tail = (*opening, *tail[len(tail) - min(room, len(tail)) :])[: most - len(head)]
    return head + tail


def _holds(tokens: tuple[int, ...], run: tuple[int, ...]) -> bool:
    return any(tokens[start : start + len(run)] == run for start in range(len(tokens) - len(run) + 1))
