"""What is kept of conversations, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Who says something."""

    USER = "user"
    ASSISTANT = "assistant"


class State(StrEnum):
    """How far a message has come; `interrupted` was being written when the app ended without a word."""

    COMPLETE = "complete"
    STREAMING = "streaming"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation in the list.

    Attributes:
        id: Its number.
        title: What it is called; empty until there is a first question.
        created: When it was begun, in seconds since 1970.
        changed: When something was last said in it.
        folder: Number of the folder it is in; None for none.
        pinned: Whether it stays at the top.
        archived: Whether it is kept out of the list.
        trashed: When it was thrown away; None where it was not.
        model: Name of the model that answered last.
        draft: What was typed and not sent.
        system: What every answer is told first.
        options: How answers are drawn, where that differs from the defaults.
    """

    id: int
    title: str
    created: float
    changed: float
    folder: int | None = None
    pinned: bool = False
    archived: bool = False
    trashed: float | None = None
    model: str = ""
    draft: str = ""
    system: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation, on the branch in view.

    Attributes:
        id: Its number.
        parent: The message that it follows; None for the first.
        role: Who said it.
        text: What was said, as Markdown where a model said it.
        state: How far it has come.
        created: When it was begun, in seconds since 1970.
        model: Name of the model that answered; empty for what a person wrote.
        figures: What the answer took.
        versions: Numbers of all messages that follow the same one, itself among them, oldest first.
    """

    id: int
    parent: int | None
    role: Role
    text: str
    state: State
    created: float
    model: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    versions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """What is in view of a conversation.

    Attributes:
        turns: Its messages, oldest first.
        unreadable: How many messages on the way hold something that nobody can read; they are left as they are.
    """

    turns: tuple[Turn, ...] = ()
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of conversations.

    Attributes:
        id: Its number.
        name: What it is called.
    """

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A message in which something was found.

    Attributes:
        chat: Number of its conversation.
        message: Its number.
        title: What the conversation is called.
        excerpt: Some words around what was found, which stands between `FOUND` marks.
    """

    chat: int
    message: int
    title: str
    excerpt: str


def clean(text: str) -> str:
    """Return a text as it can be kept: halves of characters, which some programs paste, become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


# What stands in front of and behind what was found in an excerpt: characters that no text needs.
FOUND = ("\x02", "\x03")
