"""Has the model summarise a conversation, so that another one can begin with the summary."""

import itertools

from PySide6.QtCore import QObject, Signal, Slot

from sotto.engine.contract.events import DoneReason, Failed, Finished
from sotto.engine.contract.requests import GenerateRequest, Message, Overflow
from sotto.runner.commands import Cancel
from sotto.ui.session.session import Session
from sotto.ui.toolkit.translation import tr

_INSTRUCTION = (
    "Summarise our conversation so far, so that someone who has not read it can go on with it: what it is about, what "
    "was found out and decided, and what is still open. Keep names, numbers and code that matter. Write nothing else."
)
_MAX_TOKENS = 600


class Summary(QObject):
    """Has the loaded model write one summary at a time.

    Signals:
        begun: A summary is being written.
        ended: It is no longer being written.
        written: The summary is complete (its text).
        failed: There is no summary; the reason, in a sentence, which is empty if it was stopped.
    """

    begun = Signal()
    ended = Signal()
    written = Signal(str)
    failed = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Use the model of `session`."""
        super().__init__(parent)
        self._session = session
        self._numbers = itertools.count(1)
        self._request = ""
        session.request_event.connect(self._receive)
        session.engine_lost.connect(self._fail_lost)

    def begin(self, messages: tuple[Message, ...]) -> None:
        """Summarise these messages; if there are too many, the oldest are left out."""
        self._request = f"summary-{next(self._numbers)}"
        self._session.generate(
            GenerateRequest(
                self._request,
                messages=(*messages, Message("user", _INSTRUCTION)),
                num_predict=_MAX_TOKENS,
                overflow=Overflow.TRUNCATE,
            )
        )
        self._session.begin_answer()
        self.begun.emit()

    def stop(self) -> None:
        """Stop writing."""
        if self._request:
            self._session.host.send(Cancel(self._request))
            self._end()
            self.failed.emit("")

    def _end(self) -> None:
        self._request = ""
        self._session.end_answer()
        self.ended.emit()

    @Slot(object)
    def _receive(self, event: object) -> None:
        if not isinstance(event, Finished | Failed) or not self._request or event.request_id != self._request:
            return
        self._end()
        if isinstance(event, Failed):
            self.failed.emit(event.message)
        elif event.done_reason is DoneReason.CANCELLED or not event.text.strip():
            self.failed.emit("" if event.text.strip() else tr("The model wrote nothing."))
        else:
            self.written.emit(event.text.strip())

    @Slot(object)
    def _fail_lost(self) -> None:
        if self._request:
            self._end()


def draft_with_summary(summary: str, draft: str) -> str:
    """Return a draft that begins with the summary of another conversation."""
    return f"Summary of our previous conversation:\n\n{summary}\n\n{draft}".rstrip() + ("" if draft.strip() else "\n\n")
