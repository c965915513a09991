"""Measures how full the model's context would be if the draft were sent now.

The engine's tokenizer counts the tokens, on neither the window's thread nor the one that computes. One count is under
way at a time; changes in the meantime are counted afterwards.
"""

import itertools
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.engine.contract.events import Counted, Failed
from sotto.engine.contract.requests import CountRequest, Message
from sotto.runner.commands import Count
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import ModelState

TIGHT_FROM = 0.9
_PAUSE_MS = 200
# A longer context that is suggested leaves a fourth of it to the answer.
_ANSWER_SHARE = 4


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How much of the context a conversation would use with its draft, in tokens.

    Attributes:
        tokens: The whole prompt, including attachments.
        limit: The context length of the loaded model, which the answer must fit into, too.
        last: The part that is never left out: the system prompt and the draft.
        room: The longest prompt that remains when the oldest turns are left out.
        trims: Whether the oldest turns may be left out in this conversation.
        earlier: Whether there are earlier turns that could be left out.
        answer: The answer that is being written, which comes on top of the prompt.
    """

    tokens: int
    limit: int
    last: int
    room: int
    trims: bool = False
    earlier: bool = False
    answer: int = 0

    @property
    def used(self) -> int:
        """The length of the prompt after the oldest turns are left out, if they may be, and of the answer so far."""
        return (max(self.last, min(self.tokens, self.room)) if self.trims else self.tokens) + self.answer

    @property
    def shortened(self) -> bool:
        """Whether the oldest turns would be left out."""
        return self.trims and self.tokens > self.room

    @property
    def over(self) -> bool:
        """Whether the draft cannot be sent because the prompt is too long."""
        return self.last > self.room if self.shortened else self.tokens >= self.limit

    @property
    def tight(self) -> bool:
        """Whether there is little or no room for an answer."""
        return self.over or (self.used - self.answer > TIGHT_FROM * self.limit and not self.shortened)

    @property
    def fits_alone(self) -> bool:
        """Whether the draft would fit comfortably in a conversation of its own."""
        return self.last <= TIGHT_FROM * self.limit

    def larger_context(self, longest: int | None) -> int | None:
        """Return a context length that is long enough; None if the model has no longer context.

        Args:
            longest: The model's longest context; None if unknown.
        """
        if longest is None or longest <= self.limit:
            return None
        context = 2 * self.limit
        while context - context // _ANSWER_SHARE < self.tokens and context < longest:
            context *= 2
        return min(context, longest)


class ContextMeter(QObject):
    """Measures the context use of the conversation in view whenever it or its draft changes.

    Signals:
        measured: The context use (`ContextUse`); None if there is nothing to count or no model is loaded.

    Attributes:
        use: The last measurement.
        fresh: Whether `use` is up to date.
    """

    measured = Signal(object)

    def __init__(self, session: Session, current: CurrentChat, parent: QObject | None = None) -> None:
        """Measure the conversation of `current` with the model of `session`."""
        super().__init__(parent)
        self._session = session
        self._current = current
        self.use: ContextUse | None = None
        self.fresh = False
        self._numbers = itertools.count(1)
        self.waiting = ""
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._measure)
        self._subscription = Subscription()
        current.changed.connect(self._bind)
        self._bind(current.session)
        session.request_event.connect(self._receive)
        session.state_changed.connect(self._follow)

    @Slot(object)
    def _bind(self, chat: ChatSession) -> None:
        self._subscription.close()
        signals = (chat.branch_changed, chat.question_added, chat.answer_ended, chat.retracted, chat.draft.changed)
        touching = ((signal, self.touch) for signal in signals)
        self._subscription = Subscription(*touching, (chat.pace.measured, self._grow))
        self.touch()

    @Slot()
    def touch(self) -> None:
        """Measure again, after a short pause."""
        self.fresh = False
        if not self._pause.isActive():
            self._pause.start()

    @Slot(int, float)
    def _grow(self, tokens: int, _: float) -> None:
        """Add the tokens of the answer that is being written, at the pace at which its speed is shown."""
        if self.use is not None and self._current.session.answering:
            self._show(replace(self.use, answer=tokens))

    @Slot(object)
    def _follow(self, state: ModelState) -> None:
        if not state.loaded:
            self.waiting = ""
        if state.loaded != (self.use is not None):
            self.touch()

    @Slot()
    def _measure(self) -> None:
        if self.waiting:
            return  # `_receive` starts the next count
        chat, state = self._current.session, self._session.state
        self.fresh = True
        if not state.loaded or state.chat_refusal:
            self._show(None)
            return
        self.waiting = request = f"count-{next(self._numbers)}"

        def count(messages: tuple[Message, ...]) -> None:
            if self.waiting == request and not messages:
                self._end(None)
            elif self.waiting == request:
                texts = tuple(attachment.shown for attachment in chat.draft.attachments if not attachment.image)
                images = messages[-1].images if any(each.image for each in chat.draft.attachments) else ()
                self._session.host.send(Count(CountRequest(request, messages, texts, images), self._session.seat))

        chat.read_with_draft(count)

    @Slot(object)
    def _receive(self, event: object) -> None:
        if not isinstance(event, Counted | Failed) or not self.waiting or event.request_id != self.waiting:
            return
        info = self._session.state.info
        if isinstance(event, Failed) or info is None:
            # If the template refuses the conversation, the user is told when they send it.
            self._end(None)
        else:
            chat = self._current.session
            if self.fresh:
                chat.draft.set_token_counts(event.texts, event.image_sizes)
            earlier = any(turn.text for turn in chat.turns)
            self._end(ContextUse(event.tokens, info.context_length, event.last, event.room, chat.draft.trims, earlier))

    def _end(self, use: ContextUse | None) -> None:
        """End a measurement, and begin the next one if anything has changed meanwhile."""
        self.waiting = ""
        self._show(use)
        if not self.fresh and not self._pause.isActive():
            self._pause.start()

    def _show(self, use: ContextUse | None) -> None:
        self.use = use
        self.measured.emit(use)
