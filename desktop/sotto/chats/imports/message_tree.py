"""From the messages of other programs to those of a conversation here.

Other programs keep system messages, tool calls and thoughts as messages of their own. Here questions and answers
remain: what is between them goes into the answer, or is left out. The tree of versions stays as it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sotto.chats.chat_records import Role
from sotto.chats.imports.message_parts import MessageParts
from sotto.chats.whole_chat import Lost, UnreadableChatError, WholeMessage

LARGEST_CHAT = 32_000_000
"""Characters of a conversation with all its versions."""
MOST_MESSAGES = 100_000
MOST_STEPS = 500_000
"""How often a message may be part of a version of an answer, in total."""


@dataclass(slots=True)
class Node:
    """A message of another program.

    Attributes:
        id: Identifies it among its siblings and parents.
        parent: The id of the one that it follows; None, or one that does not exist, for a first one.
        role: Its author; None for what is left out, while the messages after it stay.
        parts: Its parts.
    """

    id: str
    parent: str | None
    role: Role | None
    parts: MessageParts = field(default_factory=MessageParts)


@dataclass(slots=True, eq=False)
class _Answer:
    """The parts of an answer so far: those of `node`, after those of `before`."""

    node: Node
    before: "_Answer | None"
    place: int | None = None

    def nodes(self) -> list[Node]:
        """Return the messages of the answer, the first one first."""
        found, answer = [self.node], self.before
        while answer is not None:
            found.append(answer.node)
            answer = answer.before
        return found[::-1]


@dataclass(frozen=True, slots=True)
class Tree:
    """The messages of a conversation.

    Attributes:
        messages: The messages, each after the one that it follows.
        leaf: The place of the last one in view; None for the newest.
        lost: What could not be kept of them.
        images: The files of their images, by digest.
    """

    messages: tuple[WholeMessage, ...]
    leaf: int | None
    lost: Counter[Lost]
    images: Mapping[str, bytes]


def chain(nodes: Iterable[Node]) -> Tree:
    """Return the messages of a conversation without versions."""
    linked: list[Node] = []
    for node in nodes:
        node.parent = linked[-1].id if linked else None
        linked.append(node)
    return grow(linked, linked[-1].id if linked else None)


def grow(nodes: Sequence[Node], leaf: str | None) -> Tree:
    """Return the messages of a conversation, with all versions.

    Args:
        nodes: All messages, siblings in the order of their versions.
        leaf: The id of the last message in view; None if it is unknown.

    Raises:
        UnreadableChatError: The conversation is too large, or its messages follow each other in a circle.
    """
    if len(nodes) > MOST_MESSAGES:
        raise UnreadableChatError(f"It has more than {MOST_MESSAGES:,} messages.")
    return _Growth(nodes).run(leaf)


class _Growth:
    """Walks through the messages from the first ones to the last ones, without recursion."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Order the messages by what they follow."""
        self._nodes = {node.id: node for node in nodes}
        self._children: dict[str | None, list[Node]] = defaultdict(list)
        for node in self._nodes.values():
            known = node.parent if node.parent in self._nodes else None
            self._children[known].append(node)
        self._messages: list[WholeMessage] = []
        self._reached: dict[str, _Answer | int | None] = {}
        self._lost: Counter[Lost] = Counter()
        self._images: dict[str, bytes] = {}
        self._size = self._steps = 0

    def run(self, leaf: str | None) -> Tree:
        """Return the messages; see `grow`."""
        # Each with the place of the question or answer before it, and the answer that it may continue.
        waiting: list[tuple[Node, int | None, _Answer | None]] = [
            (node, None, None) for node in reversed(self._children[None])
        ]
        while waiting:
            node, before, answer = waiting.pop()
            if node.role is not Role.USER and node.id not in self._reached:
                node.parts.lose_images()
            self._lost += node.parts.lost
            before, answer = self._visit(node, before, answer)
            self._reached[node.id] = before if answer is None else answer
            following = self._children.get(node.id, ())
            if not following and answer is not None:
                self._close(answer, before)
            waiting += [(child, before, answer) for child in reversed(following)]
        unreached = [node for node in self._nodes.values() if node.id not in self._reached and node.role is not None]
        if unreached and not self._messages:
            raise UnreadableChatError("Its messages follow each other in a circle.")
        if unreached:
            self._lost[Lost.MESSAGE] += len(unreached)
        return Tree(tuple(self._messages), self._place(leaf), self._lost, self._images)

    def _visit(self, node: Node, before: int | None, answer: _Answer | None) -> "tuple[int | None, _Answer | None]":
        """Return the place before what follows a message, and the answer that this may continue."""
        if node.role is Role.ASSISTANT:
            return before, _Answer(node, answer)
        if node.role is Role.USER and not node.parts.is_empty:
            if answer is not None:
                before = self._close(answer, before)
            return self._add(node.parts, Role.USER, before), None
        return before, answer

    def _close(self, answer: _Answer, before: int | None) -> int | None:
        """Add an answer, unless it is there already or empty, and return the place before what follows it."""
        if answer.place is None:
            nodes = answer.nodes()
            self._steps += len(nodes)
            if self._steps > MOST_STEPS:
                raise UnreadableChatError("It has too many versions of long answers.")
            whole = MessageParts()
            for node in nodes:
                whole.join(node.parts)
            if whole.is_empty:
                return before
            answer.place = self._add(whole, Role.ASSISTANT, before)
        return answer.place

    def _add(self, parts: MessageParts, role: Role, before: int | None) -> int:
        self._size += parts.size
        if self._size > LARGEST_CHAT:
            raise UnreadableChatError(f"It has more than {LARGEST_CHAT:,} characters.")
        self._messages.append(parts.as_message(role, before))
        self._images |= parts.images
        if parts.is_too_long:
            self._lost[Lost.PART] += 1
        return len(self._messages) - 1

    def _place(self, leaf: str | None) -> int | None:
        found = self._reached.get(leaf) if leaf is not None else None
        return found.place if isinstance(found, _Answer) else found
