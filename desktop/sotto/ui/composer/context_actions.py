"""The actions that make room in the context for the draft."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from sotto.chats.chat_records import Attachment
from sotto.engine.contract.events import ModelInfo
from sotto.ui.composer.action_panel import PanelAction
from sotto.ui.composer.image_shrinking import ImageShrinking
from sotto.ui.conversation.context_meter import ContextMeter, ContextUse
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.pictures.chat_images import ChatImages
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.names import shorten_middle
from sotto.ui.toolkit.translation import tr

# Share of the free room that a part of a document may take, because tokens are not spread evenly over its text.
_SHARE = 0.95
# Tokens of free room below which no part of a document is worth sending.
_MIN_TOKENS = 32


class ContextActions(QObject):
    """Offers and carries out what makes room for the draft.

    Signals:
        offered: How full the context is (`ContextUse` or None), and the actions (a tuple of `PanelAction`).
    """

    offered = Signal(object, object)

    def __init__(
        self,
        session: Session,
        current: CurrentChat,
        meter: ContextMeter,
        images: ChatImages,
        parent: QObject | None = None,
    ) -> None:
        """Offer actions whenever `meter` has measured.

        Args:
            session: Reloads the model with a longer context.
            current: The conversation in view.
            meter: Measures how full the context is.
            images: The images of conversations.
            parent: Owner of this object.
        """
        super().__init__(parent)
        self._session = session
        self._current = current
        self._meter = meter
        self._shrinking = ImageShrinking(session, images, self)
        meter.measured.connect(self._offer)
        self._shrinking.found.connect(lambda: self._offer(meter.use))

    def cut(self, index: int, part: str) -> None:
        """Send only a part of an attachment.

        Args:
            index: Index of the attachment.
            part: `whole`; `beginning` or `end` for as much as fits.
        """
        draft = self._current.session.draft
        attachment = draft.attachments[index]
        length = len(attachment.text)
        if part == "whole":
            draft.cut_attachment(index, 0, length)
        elif (fits := self._fitting_length(attachment)) is not None:
            begins, ends = (0, fits) if part == "beginning" else (length - fits, length)
            draft.cut_attachment(index, begins, ends)

    def _offer(self, use: ContextUse | None) -> None:
        self.offered.emit(use, self._actions(use) if use is not None and use.tight else ())

    def _actions(self, use: ContextUse) -> tuple[PanelAction, ...]:
        chat, state = self._current.session, self._session.state
        actions: list[PanelAction] = []
        if use.earlier and not use.trims and use.last <= use.room:
            actions.append(PanelAction(tr("Drop oldest messages"), chat.draft.allow_trimming))
        if not chat.busy and state.info is not None and state.record is not None:
            context = use.larger_context(state.record.context_length)
            if context is not None:
                text = _raising_label(state.info, context)
                actions.append(PanelAction(text, partial(self._session.reload, context)))
        if use.earlier and use.fits_alone and not chat.busy:
            actions.append(PanelAction(tr("Continue in a new chat with a summary"), chat.summarize))
        documents = [(index, each) for index, each in enumerate(chat.draft.attachments) if not each.image]
        largest = max(documents, key=lambda pair: pair[1].tokens, default=None)
        if largest is not None and use.over and self._fitting_length(largest[1]) is not None:
            index, attachment = largest
            parts = {"beginning": tr("Only the beginning of {name}"), "end": tr("Only the end of {name}")}
            actions += [
                PanelAction(text.format(name=shorten_middle(attachment.name)), partial(self.cut, index, part))
                for part, text in parts.items()
            ]
        if use.over and (smaller := self._smaller_image(use)) is not None:
            actions.append(smaller)
        return tuple(actions)

    def _smaller_image(self, use: ContextUse) -> PanelAction | None:
        """Return what makes the largest image of the draft fit; None if nothing does, or it is not known yet."""
        draft = self._current.session.draft
        images = [(index, each) for index, each in enumerate(draft.attachments) if each.image and each.tokens]
        index, image = max(images, key=lambda pair: pair[1].tokens, default=(0, None))
        if image is None:
            return None
        room = use.room - ((use.last if use.trims else use.tokens) - image.tokens)
        smaller = self._shrinking.smaller(image, room) if room >= _MIN_TOKENS else None
        if smaller is None:
            return None
        text = tr("Make {name} smaller ({tokens} tokens instead of {before})").format(
            name=shorten_middle(image.name), tokens=wording.count(smaller.tokens), before=wording.count(image.tokens)
        )
        return PanelAction(text, partial(self._shrinking.replace, draft, index, smaller))

    def _fitting_length(self, attachment: Attachment) -> int | None:
        """Return how many characters of an attachment fit; None if hardly any do, or its tokens are not counted yet."""
        use = self._meter.use
        if use is None or not attachment.tokens:
            return None
        room = use.room - ((use.last if use.trims else use.tokens) - attachment.tokens)
        fits = int((attachment.ends - attachment.begins) * _SHARE * room / attachment.tokens)
        return min(fits, len(attachment.text)) if room >= _MIN_TOKENS and fits > 0 else None


def _raising_label(info: ModelInfo, context: int) -> str:
    """Return what raises the context to `context` tokens, with how much more memory it then takes when it is full."""
    tokens = wording.count(context)
    if info.kv_bytes_per_token is None:
        return tr("Raise the context to {tokens} (memory need unknown)").format(tokens=tokens)
    size = wording.size((context - info.context_length) * info.kv_bytes_per_token)
    return tr("Raise the context to {tokens} (up to {size} more memory)").format(tokens=tokens, size=size)
