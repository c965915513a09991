"""What a person can do where the context has no room for the draft. Draws nothing itself."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from sotto.chats.chat_records import Attachment
from sotto.engine.contract.events import ModelInfo
from sotto.ui.composer.context_gauge import ContextAction
from sotto.ui.conversation.context_meter import ContextMeter, ContextUse
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.names import shorten_middle

# Of the room that is left a part of a document takes so much: tokens are not spread evenly over it.
_SHARE = 0.95
_LEAST = 32


class ContextActions(QObject):
    """Knows what makes room for the draft, and does it.

    Signals:
        offered: How full the context is (`ContextUse` or None), and what makes room (a tuple of `ContextAction`).
    """

    offered = Signal(object, object)

    def __init__(
        self, session: Session, current: CurrentChat, meter: ContextMeter, parent: QObject | None = None
    ) -> None:
        """Offer what makes room in the conversation in view, whenever `meter` has measured.

        Args:
            session: Has the model, and loads it with a longer context.
            current: Has the conversation in view.
            meter: Measures how full the context is.
            parent: Owns this.
        """
        super().__init__(parent)
        self._session = session
        self._current = current
        self._meter = meter
        meter.measured.connect(self._offer)

    def cut(self, index: int, part: str) -> None:
        """Give the model a part of an attachment, as `words.PARTS` calls it: as much as fits."""
        draft = self._current.session.draft
        one = draft.attachments[index]
        length = len(one.text)
        if part == "whole":
            draft.cut_attachment(index, 0, length)
        elif (fits := self._fitting(one)) is not None:
            begins, ends = (0, fits) if part == "beginning" else (length - fits, length)
            draft.cut_attachment(index, begins, ends)

    def _offer(self, use: ContextUse | None) -> None:
        self.offered.emit(use, self._choices(use) if use is not None and use.tight else ())

    def _choices(self, use: ContextUse) -> tuple[ContextAction, ...]:
        chat, state = self._current.session, self._session.state
        made: list[ContextAction] = []
        if use.earlier and not use.trims and use.last <= use.room:
            made.append(ContextAction("Leave out the oldest turns", chat.draft.allow_trimming))
        if not chat.busy and state.info is not None and state.record is not None:
            context = use.larger_context(state.record.context_length)
            if context is not None:
                text = f"Raise the context to {wording.count(context)} ({_cost(state.info, context)})"
                made.append(ContextAction(text, partial(self._session.reload, context)))
        if use.earlier and use.fits_alone and not chat.busy:
            made.append(ContextAction("New chat with a summary", chat.summarize))
        largest = max(enumerate(chat.draft.attachments), key=lambda pair: pair[1].tokens, default=None)
        if largest is not None and use.over and self._fitting(largest[1]) is not None:
            index, one = largest
            made += [
                ContextAction(f"Only the {part} of {shorten_middle(one.name)}", partial(self.cut, index, part))
                for part in ("beginning", "end")
            ]
        return tuple(made)

    def _fitting(self, one: Attachment) -> int | None:
        """Return how many characters of an attachment fit; None where hardly any do, or nothing was counted yet."""
        use = self._meter.use
        if use is None or not one.tokens:
            return None
        room = use.room - ((use.last if use.trims else use.tokens) - one.tokens)
        fits = int((one.ends - one.begins) * _SHARE * room / one.tokens)
        return min(fits, len(one.text)) if room >= _LEAST and fits > 0 else None


def _cost(info: ModelInfo, context: int) -> str:
    """Return what a longer context takes of memory, once it is full."""
    if info.kv_bytes_per_token is None:
        return "memory need not known"
    return f"up to {wording.size((context - info.context_length) * info.kv_bytes_per_token)} more memory"
