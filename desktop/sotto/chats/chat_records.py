"""The values that conversations on disk consist of."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """The author of a message."""

    USER = "user"
    ASSISTANT = "assistant"


class State(StrEnum):
    """How complete a message is; `interrupted` means that the app ended unexpectedly while it was being written."""

    COMPLETE = "complete"
    STREAMING = "streaming"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Shelf(StrEnum):
    """The list that a conversation is in."""

    CURRENT = "current"
    ARCHIVED = "archived"
    TRASH = "trash"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image in what a model is given.

    Attributes:
        digest: 64 hex digits, the SHA-256 of its file.
        name: The name of the file.
    """

    digest: str
    name: str


Content = str | tuple[str | Picture, ...]
"""What a model is given of a message: a text alone, or texts and images in their order."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """The text of a document, or an image, attached to a question.

    Attributes:
        name: Name of the file.
        text: The whole text; empty for an image.
        size: Size of the file in bytes.
        begins: Start of the part that the model is given, in characters.
        ends: End of that part, exclusive.
        tokens: Length of that part, as the model is given it, when it was last counted; 0 if it never was.
        image: The digest of an image, under which `ImageStore` has its file; empty for a document.
    """

    name: str
    text: str
    size: int
    begins: int
    ends: int
    tokens: int = 0
    image: str = ""

    @property
    def whole(self) -> bool:
        """Whether the model is given the whole text."""
        return (self.begins, self.ends) == (0, len(self.text))

    @property
    def shown(self) -> str:
        """What a model is given of a document: its name, the part, and the text in a code fence that fits around it."""
        part = "" if self.whole else f", characters {self.begins + 1:,} to {self.ends:,} of {len(self.text):,}"
        text = self.text[self.begins : self.ends]
        fence = _fence_around(text)
        text = text.rstrip("\n")
        return f"{self.name}{part}:\n{fence}\n{text}\n{fence}"


def _fence_around(text: str) -> str:
    """Return a code fence that is longer than any in a text, which may have millions of characters.

    Searching for a few fences takes much less time than listing all of them, and the window's thread waits for it.
    """
    there, longer = 2, 3
    while "`" * longer in text:
        there, longer = longer, 2 * longer
    while longer - there > 1:
        middle = (there + longer) // 2
        there, longer = (middle, longer) if "`" * middle in text else (there, middle)
    return "`" * longer


def with_attachments(text: str, attachments: Sequence[Attachment]) -> Content:
    """Return a question as the model is given it, preceded by its attachments."""
    joined: list[str | Picture] = []
    for attachment in attachments:
        if attachment.image:
            joined.append(Picture(attachment.image, attachment.name))
        else:
            _add_text(joined, attachment.shown)
    if text:
        _add_text(joined, text)
    texts = [part for part in joined if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(joined) else tuple(joined)


def written_content(content: Content, written: Callable[[Picture], str]) -> str:
    """Return what a model is given as a text, in which images are `written`."""
    parts = (content,) if isinstance(content, str) else content
    return "\n\n".join(part if isinstance(part, str) else written(part) for part in parts).strip()


def _add_text(parts: list[str | Picture], text: str) -> None:
    """Add a text after these parts, as a paragraph of its own if the last one is a text, too."""
    if parts and isinstance(parts[-1], str):
        parts[-1] = f"{parts[-1]}\n\n{text}"
    else:
        parts.append(text)


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation in the list.

    Attributes:
        id: Its number.
        title: Empty until there is a first question.
        created: Seconds since 1970.
        changed: Time of the last message, in seconds since 1970.
        folder: Number of its folder; None for none.
        pinned: Whether it stays at the top.
        archived: Whether it is left out of the list.
        trashed: When it was moved to the trash, in seconds since 1970; None if it was not.
        model: Name of the model that answered last.
        draft: Text that was typed but not sent.
        system: The system prompt.
        options: Answer options that differ from the defaults.
        trims: Whether the oldest turns may be left out when the context is full.
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
        """The shelf that it is on."""
        if self.trashed is not None:
            return Shelf.TRASH
        return Shelf.ARCHIVED if self.archived else Shelf.CURRENT


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation, on the branch in view.

    Attributes:
        id: Its number.
        parent: The message that it follows; None for the first.
        role: Its author.
        text: The text; Markdown in answers.
        state: How complete it is.
        created: Seconds since 1970.
        model: Name of the model that answered; empty in questions.
        figures: Statistics of the answer, and its `format` if it had one.
        versions: Numbers of all messages with the same parent, itself included, oldest first.
        attachments: Documents and images attached to it.
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
        """Whether the answer had to be JSON."""
        return self.figures.get("format") == "json"

    @property
    def is_edited(self) -> bool:
        """Whether the user has edited the answer."""
        return bool(self.figures.get("edited"))

    @property
    def content(self) -> Content:
        """What the model is given."""
        return with_attachments(self.text, self.attachments)


@dataclass(frozen=True, slots=True)
class Branch:
    """The branch of a conversation that is shown.

    Attributes:
        turns: Its messages, oldest first.
        unreadable: Number of messages on it that cannot be read; they are left as they are.
    """

    turns: tuple[Turn, ...] = ()
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of conversations.

    Attributes:
        id: Its number.
        name: Its name.
        closed: Whether the list shows only its name.
    """

    id: int
    name: str
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that a search has found.

    Attributes:
        chat: Number of its conversation.
        message: Its number.
        title: Title of the conversation.
        excerpt: The match between `FOUND` marks, and some words around it.
    """

    chat: int
    message: int
    title: str
    excerpt: str


_DIGEST = re.compile(r"[0-9a-f]{64}")


def is_digest(value: object) -> bool:
    """Return whether a value is the digest of an image: it becomes the name of a file."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def clean(text: str) -> str:
    """Replace lone surrogates, which some programs paste, by question marks, as they cannot be stored."""
    return text.encode("utf-8", "replace").decode("utf-8")


def title_from(text: str, attachments: Sequence[Attachment] = ()) -> str:
    """Return the title of a conversation with this first question until it is named: the words without Markdown."""
    source = text.lstrip()[:_TITLE_SOURCE]
    # A text of nothing but marks is its own title: a conversation without one is not listed.
    words = _BLOCK_MARKS.sub("", source).split() or source.split()
    beginning = _PAIRED_MARKS.sub(r"\2", " ".join(words)[: 3 * _TITLE_LENGTH])
    return clean(beginning or ", ".join(attachment.name for attachment in attachments))[:_TITLE_LENGTH]


_TITLE_LENGTH = 60
_TITLE_SOURCE = 10_000
# Marks of headings, quotes and fences, and those around bold text and code. Underscores stay: names have them, too.
_BLOCK_MARKS = re.compile(r"^ {0,3}(?:#{1,6}[ \t]+|(?:>[ \t]?)+|(?:`{3,}|~{3,})[^`\n]*$)", re.MULTILINE)
_PAIRED_MARKS = re.compile(r"(\*\*|`+)(?=[^\s`*])(.+?)(?<=[^\s`*])\1")
# Marks before and after a match in an excerpt: control characters, which no text needs.
FOUND = ("\x02", "\x03")
