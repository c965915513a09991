"""Images made smaller, for those that do not fit into the context: each with the tokens that it would then take."""

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sotto.chats.chat_records import Attachment
from sotto.engine.contract.events import Counted, Failed
from sotto.engine.contract.message_content import ImagePart
from sotto.engine.contract.requests import CountRequest, Message
from sotto.runner.commands import Count
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.conversation.pictures import thumbnails
from sotto.ui.conversation.pictures.chat_images import ChatImages
from sotto.ui.session.session import Session

if TYPE_CHECKING:
    from sotto.chats.attachable import Attachable

# Tokens grow with the number of pixels, roughly, and families round.
_SHARE = 0.9
_SMALLEST, _LARGEST = 0.05, 0.8


@dataclass(frozen=True, slots=True)
class SmallerImage:
    """An image made smaller.

    Attributes:
        made: The smaller image.
        tokens: How many tokens it takes.
    """

    made: "Attachable"
    tokens: int


class ImageShrinking(QObject):
    """Makes images smaller, and has their tokens counted, one at a time.

    Signals:
        found: It is known how many tokens a smaller image takes.
    """

    found = Signal()

    def __init__(self, session: Session, images: ChatImages, parent: QObject | None = None) -> None:
        """Count with the model of `session`; `images` has the images."""
        super().__init__(parent)
        self._session, self._images = session, images
        # By digest and wanted tokens; None while it is being made, or if that would not help.
        self._known: dict[tuple[str, str, int], SmallerImage | None] = {}
        self._counting: dict[str, tuple[tuple[str, str, int], Attachable]] = {}
        self._numbers = itertools.count(1)
        session.request_event.connect(self._receive)

    def smaller(self, attachment: Attachment, tokens: int) -> SmallerImage | None:
        """Return an image made so small that it takes at most about as many tokens; None if it is not known yet."""
        record = self._session.state.record
        key = (attachment.image, record.digest if record is not None else "", tokens)
        if key not in self._known:
            self._known[key] = None
            factor = min(_LARGEST, max(_SMALLEST, math.sqrt(_SHARE * tokens / attachment.tokens)))

            def count(made: "Attachable") -> None:
                request = f"shrunk-{next(self._numbers)}"
                self._counting[request] = (key, made)
                part = ImagePart(made.image)
                self._session.host.send(
                    Count(CountRequest(request, (Message("user", (part,)),), images=(part,)), self._session.seat)
                )

            self._images.shrink(attachment.image, attachment.name, factor, count, lambda _: None, self)
        found = self._known[key]
        return found if found is not None and found.tokens < attachment.tokens else None

    def replace(self, draft: DraftState, index: int, smaller: SmallerImage) -> None:
        """Put a smaller image in the place of an attachment of a draft."""
        made = smaller.made
        thumbnails.current().add(made.attachment.image, made.thumbnail)
        draft.replace_image(index, made.attachment, made.image)

    @Slot(object)
    def _receive(self, event: object) -> None:
        if isinstance(event, Counted | Failed) and event.request_id in self._counting:
            key, made = self._counting.pop(event.request_id)
            if isinstance(event, Counted) and event.image_sizes:
                self._known[key] = SmallerImage(made, event.image_sizes[0])
                self.found.emit()
