"""A conversation as it goes from one dialogue to another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.chats.records import Attachment, Turn
from sotto.ui.conversation.answer_timing import ThoughtClock
from sotto.ui.conversation.row_ids import ChatRowId, MessageRowId


@dataclass(frozen=True, slots=True)
class Said:
    """What was said in a conversation, and where that is.

    Attributes:
        place: Where the conversation is on the disk, or will be.
        turns: What was said.
        places: Where each of the turns is on the disk, or will be.
        unkept: Whether the disk takes nothing of it.
    """

    place: ChatRowId
    turns: list[Turn]
    places: list[MessageRowId]
    unkept: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What a person has typed into a conversation and chosen for it; see `DraftState`."""

    draft: str
    attachments: tuple[Attachment, ...]
    system: str
    options: Mapping[str, Any]
    trims: bool


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation on its way.

    Attributes:
        chat: Its number; None while it is not on the disk.
        said: What was said in it.
        queued: Whether its last question waits for a model.
        request: The request that its last turn is the answer to; empty while the engine does nothing for it.
        begun: How much of that turn was there before.
        clock: How long its thoughts have taken.
        written: What a person has typed and chosen.
    """

    chat: int | None
    said: Said
    queued: bool
    request: str
    begun: int
    clock: ThoughtClock
    written: Written
