"""What a screen reader is told while an answer comes: its beginning, its sentences now and then, and its end."""

import re
import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Slot

from sotto.chats.chat_records import State, Turn
from sotto.engine.contract.answer_parts import Kind, Piece
from sotto.ui.conversation.answer_wording import wanted_tool
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.toolkit.announcements import announce, spoken

PAUSE = 2.0
"""Seconds between announcements while an answer comes."""
_END = re.compile(r"(?:[.!?…]+[\"'”’)\]*_]*|[。！？])(?=\s)|\n\n")


class AnswerAnnouncer(QObject):
    """Listens to a conversation and has it announced."""

    def __init__(
        self,
        about: QObject,
        send: Callable[[QObject, str], None] = announce,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Announce nothing yet.

        Args:
            about: The widget that shows the conversation.
            send: Says something about a widget.
            clock: Returns seconds.
        """
        super().__init__(about)
        self._about, self._send, self._clock = about, send, clock
        self._unsaid, self._looked_at = "", 0.0
        self._coming = self._in_code = False
        self._subscription = Subscription()

    @Slot(object)
    def bind(self, session: ChatSession) -> None:
        """Announce what is said in `session` from now on."""
        self._subscription.close()
        self._forget()
        self._subscription = Subscription(
            (session.answer_awaited, self._begin),
            (session.answer_begun, self._hold),
            (session.answer_resumed, self._resume),
            (session.answer_grew, self._grow),
            (session.answer_ended, self._end),
            (session.retracted, self._give_up),
            (session.branch_changed, self._forget),
        )
        if session.answering:
            self._resume(session.turns[-1])
        elif session.awaiting:
            self._begin(*session.awaited)

    @Slot(str, str)
    def _begin(self, model: str, line: str) -> None:
        self._start(f"{model} answers")

    @Slot(object)
    def _hold(self, turn: Turn) -> None:
        """Nothing of JSON is said but that it is there."""
        self._in_code = turn.is_json

    @Slot(object)
    def _resume(self, turn: Turn) -> None:
        self._start("The answer goes on")
        self._hold(turn)

    def _start(self, text: str) -> None:
        self._unsaid, self._coming, self._in_code = "", True, False
        self._say(text)

    @Slot(object)
    def _grow(self, pieces: Sequence[Piece]) -> None:
        if not self._coming:
            return
        for piece in pieces:
            if piece.call is not None:
                self._unsaid += f"\n\n{wanted_tool(piece.call)}.\n\n"
            elif piece.kind is Kind.TEXT and not (self._in_code or piece.cut):
                self._unsaid += piece.text
        if self._clock() - self._looked_at < PAUSE:
            return
        self._looked_at = self._clock()
        # Nothing of code is said before it is whole: what ends there is no sentence.
        whole = self._unsaid.rfind("```") if self._unsaid.count("```") % 2 else len(self._unsaid)
        ends = [match.end() for match in _END.finditer(self._unsaid, 0, whole)]
        if ends:
            ready, self._unsaid = self._unsaid[: ends[-1]], self._unsaid[ends[-1] :]
            self._say(spoken(ready))

    @Slot(object)
    def _end(self, turn: Turn) -> None:
        if self._coming:
            self._coming = False
            ended = "The answer is complete" if turn.state is State.COMPLETE else "The answer broke off"
            if turn.state is State.STOPPED:
                ended = "The answer was stopped"
            rest = f"{spoken(self._unsaid)} (code)".strip() if self._in_code and turn.text else spoken(self._unsaid)
            self._unsaid = ""
            self._say(f"{rest} {ended}." if rest else f"{ended}.")

    @Slot(str)
    def _give_up(self, text: str) -> None:
        if self._coming:
            self._forget()
            self._say("There is no answer; your message is a draft again.")

    @Slot()
    def _forget(self) -> None:
        self._unsaid, self._coming = "", False

    def _say(self, text: str) -> None:
        if text:
            self._looked_at = self._clock()
            self._send(self._about, text)
