"""A conversation with all its branches as a value, apart from any database: what imports read and exports write."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sotto.chats.chat_records import Attachment, Role, State
from sotto.errors import SottoError


class UnreadableChatError(SottoError):
    """A conversation in an import cannot be read; the others of the same file may be."""


class Lost(StrEnum):
    """Something in an import that cannot be kept."""

    CHAT = "chat"
    MESSAGE = "message"
    IMAGE = "image"
    RECORDING = "recording"
    FILE = "file"
    TOOL_CALL = "tool call"
    PART = "unknown part"


@dataclass(frozen=True, slots=True)
class WholeMessage:
    """A message of a conversation.

    Attributes:
        role: Its author.
        text: The text; answers have their thoughts between tags, in the form in which answers are stored.
        parent: The place of the message that it follows, which is earlier in the conversation; None for a first one.
        created: Seconds since 1970; 0 if that is unknown.
        model: Name of the model that answered; empty in questions.
        state: How complete it is.
        figures: Statistics of the answer.
        attachments: Documents and images attached to it.
    """

    role: Role
    text: str
    parent: int | None
    created: float = 0.0
    model: str = ""
    state: State = State.COMPLETE
    figures: Mapping[str, Any] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class WholeChat:
    """A conversation; see `Chat` for what is not described here.

    Attributes:
        title: Its title; may be empty.
        created: Seconds since 1970; 0 if that is unknown.
        changed: Seconds since 1970; 0 if that is unknown.
        messages: All messages, each after the one that it follows.
        leaf: The place of the last message of the branch in view; None for the newest.
        model: Name of the model that answered last.
        pinned: Whether it stays at the top.
        archived: Whether it is left out of the list.
        system: The system prompt.
        draft: Text that was typed but not sent.
        options: Answer options.
        trims: Whether the oldest turns may be left out when the context is full.
        attachments: Documents and images attached to the draft.
        images: The files of the images of its messages and its draft, by digest.
        lost: What could not be kept, and how often.
    """

    title: str
    created: float
    changed: float
    messages: tuple[WholeMessage, ...]
    leaf: int | None = None
    model: str = ""
    pinned: bool = False
    archived: bool = False
    system: str = ""
    draft: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    trims: bool = False
    attachments: tuple[Attachment, ...] = ()
    images: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    lost: Counter[Lost] = field(default_factory=Counter)
