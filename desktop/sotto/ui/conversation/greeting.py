"""The built-in model's hello, while nothing has been asked."""

import itertools

from PySide6.QtCore import QObject, Signal, Slot

from sotto.engine.contract.events import DoneReason, Failed, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.types import GenerateRequest, Message, SamplingOptions
from sotto.runner.commands import Cancel
from sotto.ui.session.session import Session

_HELLO = "Hello"
_TOKENS = 64


class Greeting(QObject):
    """Lets the built-in model say hello; that costs a moment, and a question goes before it.

    Signals:
        grew: The model has said this much.
    """

    grew = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Use the model of `session`."""
        super().__init__(parent)
        self._session = session
        self._numbers = itertools.count(1)
        self._request = ""
        self.text = ""
        session.spoke.connect(self._receive)
        session.lost.connect(self._lose)

    @property
    def under_way(self) -> bool:
        """Whether the model has not said all of it."""
        return bool(self._request)

    def begin(self) -> None:
        """Ask for the greeting."""
        self._request, self.text = f"greeting {next(self._numbers)}", ""
        self._session.generate(
            GenerateRequest(
                self._request,
                messages=(Message("user", _HELLO),),
                sampling=SamplingOptions(temperature=0.0),
                num_predict=_TOKENS,
            )
        )

    def stop(self) -> None:
        """Make way for a question."""
        if self._request:
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
