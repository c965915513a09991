"""The built-in model's hello, while nothing has been asked."""

import itertools

from PySide6.QtCore import QObject, Signal, Slot

from sotto.engine.contract.events import DoneReason, Failed, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.requests import GenerateRequest, Message, SamplingOptions
from sotto.runner.commands import Cancel
from sotto.ui.conversation.chat_session import Phase
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.session.session import Session

_HELLO = "Hello"
_TOKENS = 64


class Greeting(QObject):
    """Lets the built-in model say hello; that costs a moment, and a question goes before it.

    Signals:
        grew: The model has said this much.
    """

    grew = Signal(str)

    def __init__(self, session: Session, current: CurrentChat, parent: QObject | None = None) -> None:
        """Let the model of `session` greet in the conversation in view."""
        super().__init__(parent)
        self._session = session
        self._current = current
        self._numbers = itertools.count(1)
        self._request = ""
        self.text = ""
        session.became_ready.connect(self.begin)
        session.request_event.connect(self._receive)
        session.engine_lost.connect(self._lose)
        self._subscription = Subscription()
        current.changed.connect(self._follow)
        self._follow()

    @property
    def under_way(self) -> bool:
        """Whether the model has not said all of it."""
        return bool(self._request)

    @Slot()
    def begin(self) -> None:
        """Ask for the greeting, if it is the built-in model that is loaded and nothing has been asked."""
        state, chat = self._session.state, self._current.session
        if not state.loaded or state.record is None or not state.record.builtin or chat.turns or chat.busy:
            return
        self._request, self.text = f"greeting {next(self._numbers)}", ""
        self._session.generate(
            GenerateRequest(
                self._request,
                messages=(Message("user", _HELLO),),
                sampling=SamplingOptions(temperature=0.0),
                num_predict=_TOKENS,
            )
        )

    @Slot()
    def _follow(self) -> None:
        self._subscription.close()
        self._subscription = Subscription((self._current.session.phase_changed, self._make_way))

    @Slot()
    def _make_way(self) -> None:
        """Stop where the model is needed for something else."""
        if self._request and self._current.session.phase in (Phase.PREFILLING, Phase.SUMMARIZING):
            self._session.host.send(Cancel(self._request))
            self._request = ""

    @Slot(object)
    def _receive(self, event: PrefillProgress | TextChunk | Finished | Failed) -> None:
        if not self._request or event.request_id != self._request:
            return
        if isinstance(event, TextChunk):
            self.text += event.text
            self.grew.emit(self.text)
        elif isinstance(event, Finished | Failed):
            self._request = ""
            if isinstance(event, Finished) and event.done_reason is DoneReason.STOP:
                self.grew.emit(event.text)

    @Slot(object)
    def _lose(self) -> None:
        self._request = ""
