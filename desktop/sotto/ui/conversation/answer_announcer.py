"""Announces streaming answers to screen readers: the beginning, the sentences every few seconds, and the end."""

import re
import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Slot

from sotto.chats.chat_records import State, Turn
from sotto.engine.contract.answer_parts import Kind, Piece
from sotto.ui.conversation.answer_wording import tool_call_line
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.toolkit.announcements import announce, speakable
from sotto.ui.toolkit.translation import tr

PAUSE = 2.0
"""Seconds between announcements while an answer streams."""
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s)|[。！？][」』）”’]*|\n\n")


class AnswerAnnouncer(QObject):
    """Announces the answers of one conversation at a time."""

    def __init__(
        self,
        about: QObject,
        send: Callable[[QObject, str], None] = announce,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Announce nothing before `bind`.

        Args:
            about: The widget that shows the conversation.
            send: Announces a text on behalf of a widget.
            clock: Returns the time in seconds.
        """
        super().__init__(about)
        self._about, self._send, self._clock = about, send, clock
        self._pending, self._announced_at = "", 0.0
        self._streaming = self._is_json = False
        self._subscription = Subscription()

    @Slot(object)
    def bind(self, session: ChatSession) -> None:
        """Announce the answers of `session` from now on."""
        self._subscription.close()
        self._discard()
        self._subscription = Subscription(
            (session.answer_awaited, self._begin),
            (session.answer_begun, self._set_turn),
            (session.answer_resumed, self._resume),
            (session.answer_grew, self._grow),
            (session.answer_ended, self._end),
            (session.retracted, self._retract),
            (session.branch_changed, self._discard),
        )
        if session.answering:
            self._resume(session.turns[-1])
        elif session.awaiting:
            self._begin(*session.awaited)

    @Slot(str, str)
    def _begin(self, model: str, line: str) -> None:
        self._start(tr("{model} answers").format(model=model))

    @Slot(object)
    def _set_turn(self, turn: Turn) -> None:
        # The text of a JSON answer is not announced, only that it is there.
        self._is_json = turn.is_json

    @Slot(object)
    def _resume(self, turn: Turn) -> None:
        self._start(tr("The answer continues"))
        self._set_turn(turn)

    def _start(self, text: str) -> None:
        self._pending, self._streaming, self._is_json = "", True, False
        self._announce(text)

    @Slot(object)
    def _grow(self, pieces: Sequence[Piece]) -> None:
        if not self._streaming:
            return
        for piece in pieces:
            if piece.call is not None:
                self._pending += f"\n\n{tool_call_line(piece.call)}.\n\n"
            elif piece.kind is Kind.TEXT and not (self._is_json or piece.cut):
                self._pending += piece.text
        if self._clock() - self._announced_at < PAUSE:
            return
        self._announced_at = self._clock()
        # An open code block is not announced before it is complete: full stops in code do not end sentences.
        complete = self._pending.rfind("```") if self._pending.count("```") % 2 else len(self._pending)
        ends = [match.end() for match in _SENTENCE_END.finditer(self._pending, 0, complete)]
        if ends:
            ready, self._pending = self._pending[: ends[-1]], self._pending[ends[-1] :]
            self._announce(speakable(ready))

    @Slot(object)
    def _end(self, turn: Turn) -> None:
        if self._streaming:
            self._streaming = False
            rest = speakable(self._pending)
            if self._is_json and turn.text:
                rest = " ".join(filter(None, (rest, tr("(code)"))))
            self._pending = ""
            self._announce(" ".join(filter(None, (rest, _end_sentence(turn.state)))))

    @Slot(str)
    def _retract(self, question: str) -> None:
        if self._streaming:
            self._discard()
            self._announce(tr("There is no answer; your message is back in the composer."))

    @Slot()
    def _discard(self) -> None:
        self._pending, self._streaming = "", False

    def _announce(self, text: str) -> None:
        if text:
            self._announced_at = self._clock()
            self._send(self._about, text)


def _end_sentence(state: State) -> str:
    """Return how an answer ended."""
    if state is State.COMPLETE:
        return tr("The answer is complete.")
    return tr("The answer was stopped.") if state is State.STOPPED else tr("The answer was interrupted.")
