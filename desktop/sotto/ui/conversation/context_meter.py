"""How full the model's context would be if the draft were sent now. Draws nothing itself.

The tokens are counted by the engine's tokenizer, on a thread that is neither the window's nor the one that computes.
One count is under way at a time; what is typed meanwhile is counted after it.
"""

import itertools
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.engine.contract.events import Counted, Failed
from sotto.engine.contract.requests import CountRequest
from sotto.runner.commands import Count
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import ModelState

TIGHT_FROM = 0.9
_PAUSE_MS = 200
# A context that is raised leaves so much of itself to the answer.
_FOR_ANSWER = 4


@dataclass(frozen=True, slots=True)
class ContextUse:
    """What the draft, its attachments and everything before them take of the context.

    Attributes:
        tokens: All of it, as the model would be given it.
        limit: Tokens that the loaded model has room for, the answer included.
        last: Tokens that can never be left out: the system prompt and the draft.
        room: The most that stays where the oldest turns are left out.
        trims: Whether they may be left out in this conversation.
        earlier: Whether there are earlier turns that could be.
    """

    tokens: int
    limit: int
    last: int
    room: int
    trims: bool = False
    earlier: bool = False

    @property
    def used(self) -> int:
        """Tokens that the model would be given."""
        return max(self.last, min(self.tokens, self.room)) if self.trims else self.tokens

    @property
    def shortened(self) -> bool:
        """Whether the oldest turns would be left out."""
        return self.trims and self.tokens > self.room

    @property
    def over(self) -> bool:
        """Whether it cannot be sent: not all of it would reach the model, and nobody has chosen what."""
        return self.last > self.room if self.shortened else self.tokens >= self.limit

    @property
    def tight(self) -> bool:
        """Whether there is hardly room for an answer, or none."""
        return self.over or (self.used > TIGHT_FROM * self.limit and not self.shortened)

    @property
    def fits_alone(self) -> bool:
        """Whether there would be room enough without anything before it."""
        return self.last <= TIGHT_FROM * self.limit

    def raised(self, longest: int | None) -> int | None:
        """Return a context in which it has room; None where there is no larger one.

        Args:
            longest: The longest that the model was made for; None when not known.
        """
        if longest is None or longest <= self.limit:
            return None
        context = 2 * self.limit
        while context - context // _FOR_ANSWER < self.tokens and context < longest:
            context *= 2
        return min(context, longest)


class ContextMeter(QObject):
    """Has the conversation in view counted, with its draft, whenever that is another.

    Signals:
        measured: What it takes (`ContextUse`); None where nothing is said and typed, or no model is loaded.

    Attributes:
        use: What was measured last.
        fresh: Whether that is about what is typed now.
    """

    measured = Signal(object)

    def __init__(self, session: Session, current: CurrentChat, parent: QObject | None = None) -> None:
        """Measure what is said in the conversation in view with the model of `session`."""
        super().__init__(parent)
        self._session = session
        self._current = current
        self.use: ContextUse | None = None
        self.fresh = False
        self._numbers = itertools.count(1)
        self._waiting = ""
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
        self._subscription = Subscription(*((signal, self.touch) for signal in signals))
        self.touch()

    @Slot()
    def touch(self) -> None:
        """Measure again, soon."""
        self.fresh = False
        if not self._pause.isActive():
            self._pause.start()

    @Slot(object)
    def _follow(self, state: ModelState) -> None:
        if not state.loaded:
            self._waiting = ""
        if state.loaded != (self.use is not None):
            self.touch()

    @Slot()
    def _measure(self) -> None:
        if self._waiting:
            # Counted once that is answered.
            return
        messages, state = self._current.session.with_draft(), self._session.state
        self.fresh = True
        if not messages or not state.loaded or state.chat_refusal:
            self._show(None)
            return
        self._waiting = f"count {next(self._numbers)}"
        texts = tuple(one.shown for one in self._current.session.draft.attachments)
        self._session.host.send(Count(CountRequest(self._waiting, messages, texts), self._session.seat))

    @Slot(object)
    def _receive(self, event: object) -> None:
        if not isinstance(event, Counted | Failed) or not self._waiting or event.request_id != self._waiting:
            return
        self._waiting = ""
        info = self._session.state.info
        if isinstance(event, Failed) or info is None:
            # What a template refuses is told when it is sent.
            self._show(None)
        else:
            chat = self._current.session
            if self.fresh:
                chat.draft.weigh(event.texts)
            earlier = any(turn.text for turn in chat.turns)
            self._show(ContextUse(event.tokens, info.context_length, event.last, event.room, chat.draft.trims, earlier))
        if not self.fresh and not self._pause.isActive():
            self._pause.start()

    def _show(self, use: ContextUse | None) -> None:
        self.use = use
        self.measured.emit(use)
