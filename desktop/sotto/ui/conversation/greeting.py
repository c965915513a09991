"""The greeting by the built-in model in an empty conversation."""

import itertools

from PySide6.QtCore import QObject, Signal, Slot

from sotto.engine.contract.events import DoneReason, Failed, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.requests import GenerateRequest, Message, SamplingOptions
from sotto.runner.commands import Cancel
from sotto.ui.conversation.chat_phase import Phase
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.session.session import Session

_HELLO = "Hello"
_MAX_TOKENS = 64


class Greeting(QObject):
    """Has the built-in model say hello until a question needs the model.

    Signals:
        written: The greeting is complete (its text). While it grows, a centred text would jump with each token.

    Attributes:
        text: The last greeting that was written.
    """

    written = Signal(str)

    def __init__(self, session: Session, current: CurrentChat, parent: QObject | None = None) -> None:
        """Greet with the model of `session` while the conversation of `current` is empty."""
        super().__init__(parent)
        self._session = session
        self._current = current
        self._numbers = itertools.count(1)
        self._request = ""
        self.text = ""
        session.became_ready.connect(self.begin)
        session.request_event.connect(self._receive)
        session.engine_lost.connect(self._fail_lost)
        self._subscription = Subscription()
        current.changed.connect(self._follow)
        self._follow()

    @property
    def under_way(self) -> bool:
        """Whether the greeting is being written."""
        return bool(self._request)

    @Slot()
    def begin(self) -> None:
        """Request the greeting, if the built-in model is loaded and the conversation is empty."""
        state, chat = self._session.state, self._current.session
        if not state.loaded or state.record is None or not state.record.builtin or chat.turns or chat.busy:
            return
        self._request, self.text = f"greeting-{next(self._numbers)}", ""
        self._session.generate(
            GenerateRequest(
                self._request,
                messages=(Message("user", _HELLO),),
                sampling=SamplingOptions(temperature=0.0),
                num_predict=_MAX_TOKENS,
            )
        )

    @Slot()
    def _follow(self) -> None:
        self._subscription.close()
        self._subscription = Subscription((self._current.session.phase_changed, self._cancel_if_needed))

    @Slot()
    def _cancel_if_needed(self) -> None:
        """Cancel the greeting if the model is needed for something else."""
        if self._request and self._current.session.phase in (Phase.PREFILLING, Phase.SUMMARIZING):
            self._session.host.send(Cancel(self._request))
            self._request = ""

    @Slot(object)
    def _receive(self, event: PrefillProgress | TextChunk | Finished | Failed) -> None:
        if not self._request or event.request_id != self._request:
            return
        if isinstance(event, Finished | Failed):
            self._request = ""
        if isinstance(event, Finished) and event.done_reason is DoneReason.STOP:
            self.text = event.text
            self.written.emit(event.text)

    @Slot(object)
    def _fail_lost(self) -> None:
        self._request = ""
