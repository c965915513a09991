"""What is kept of conversations, as values."""

import re
from collections.abc import Mapping, Sequence
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


class Shelf(StrEnum):
    """Where a conversation is kept."""

    CURRENT = "current"
    ARCHIVED = "archived"
    TRASH = "trash"


@dataclass(frozen=True, slots=True)
class Attachment:
    """The text of a document that goes along with a question.

    Attributes:
        name: What the document is called.
        text: All of it.
        size: Bytes of the file that it came from.
        begins: Where the part that the model is given begins, in characters.
        ends: Where it ends.
        tokens: How many tokens that part was, in the form in which it is given, when it was counted last; 0 when it
            never was.
    """

    name: str
    text: str
    size: int
    begins: int
    ends: int
    tokens: int = 0

    @property
    def whole(self) -> bool:
        """Whether the model is given all of it."""
        return (self.begins, self.ends) == (0, len(self.text))

    @property
    def shown(self) -> str:
        """What the model is given: the name, which part it is, and the text between fences that it does not contain."""
        part = "" if self.whole else f", characters {self.begins + 1:,} to {self.ends:,} of {len(self.text):,}"
        text = self.text[self.begins : self.ends].rstrip("\n")
        longest = max(map(len, re.findall("`{3,}", text)), default=2)
        fence = "`" * (longest + 1)
        return f"{self.name}{part}:\n{fence}\n{text}\n{fence}"


def with_attachments(text: str, attachments: Sequence[Attachment]) -> str:
    """Return a question as the model is given it: what is attached stands in front of it."""
    return "\n\n".join(part for part in (*(attachment.shown for attachment in attachments), text) if part)


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
        options: How the model answers, where that differs from the defaults.
        trims: Whether its oldest turns may be left out where the context has no room for them.
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
    trims: bool = False

    @property
    def shelf(self) -> Shelf:
        """Where it is kept."""
        if self.trashed is not None:
            return Shelf.TRASH
        return Shelf.ARCHIVED if self.archived else Shelf.CURRENT


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
        figures: What the answer took, and its `format` where it was held to one.
        versions: Numbers of all messages that follow the same one, itself among them, oldest first.
        attachments: What went along with it.
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
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_json(self) -> bool:
        """Whether the answer was held to JSON."""
        return self.figures.get("format") == "json"

    @property
    def content(self) -> str:
        """What the model is given."""
        return with_attachments(self.text, self.attachments)


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
        closed: Whether the list shows no more of it than its name.
    """

    id: int
    name: str
    closed: bool = False


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
