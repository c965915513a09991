"""The turns of a conversation, and how each of them gets to the disk.

An answer is written there while it comes, every half second. Where the disk takes nothing, the conversation goes on
without it, which is said once.
"""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.chats.chat_records import Attachment, Branch, Role, State, Turn
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.row_ids import ChatRowId, MessageRowId

if TYPE_CHECKING:
    from sotto.chats.chat_store import ChatStore

_SAVE_MS = 500


class ChatWriter(QObject):
    """What was said in one conversation, as a value and on the disk.

    Signals:
        saved: The same turns have other numbers or versions now.
        changed: Something on the disk is different now, which lists of conversations show.
    """

    saved = Signal()
    changed = Signal()

    def __init__(
        self, keeper: ChatThread, chat: ChatRowId, turns: Sequence[Turn] = (), parent: QObject | None = None
    ) -> None:
        """Go on with a conversation.

        Args:
            keeper: Keeps it.
            chat: Where it is on the disk, or will be.
            turns: What was said, which is on the disk.
            parent: Owns this.
        """
        super().__init__(parent)
        self._keeper = keeper
        self._chat = chat
        self._turns: list[Turn] = []
        # Where each of the turns is on the disk, or will be: the next one need not wait for its number.
        self._row_ids: list[MessageRowId] = []
        self.show(turns)
        self._unkept = False
        self._numbers = itertools.count(1)
        # What has come of the last turn and is not part of its text yet. Word by word that would copy it each time.
        self._fresh: list[str] = []
        # What has come of it and is not on the disk.
        self._unsaved: list[str] = []
        self._saver = QTimer(self, singleShot=True, interval=_SAVE_MS)
        self._saver.timeout.connect(self._save)

    @property
    def turns(self) -> list[Turn]:
        """What was said, oldest first."""
        if self._fresh:
            text, self._fresh = "".join(self._fresh), []
            self._turns[-1] = replace(self._turns[-1], text=self._turns[-1].text + text)
        return self._turns

    def show(self, turns: Sequence[Turn]) -> None:
        """Have other turns, which are on the disk."""
        self._turns, self._row_ids = list(turns), [MessageRowId(turn.id) for turn in turns]

    def index(self, turn: int) -> int | None:
        """Return where the turn of this number stands; None where it does not."""
        return next((index for index, one in enumerate(self._turns) if one.id == turn), None)

    def ask(self, text: str, attachments: tuple[Attachment, ...]) -> Turn:
        """Put a question behind the last turn; `keep_question` brings it to the disk."""
        question = Turn(
            -next(self._numbers), None, Role.USER, text, State.COMPLETE, time.time(), attachments=attachments
        )
        self._add(question, MessageRowId())
        return question

    def keep_question(self, then: Callable[[int | None], None]) -> None:
        """Bring the last question to the disk.

        Args:
            then: Called once it is there, with the number of the conversation; None where it cannot be kept.
        """
        question, row_id, chat = self._turns[-1], self._row_ids[-1], self._chat
        before = self._row_ids[-2] if len(self._row_ids) > 1 else None

        def kept(numbers: tuple[int, int]) -> None:
            self._turns[-1] = replace(self._turns[-1], id=numbers[1])
            then(numbers[0])

        def failed() -> None:
            self._unkept = True
            then(None)

        def work(store: "ChatStore") -> tuple[int, int]:
            number, parent = chat.begun(store), before.known() if before is not None else None
            row_id.number = store.ask(number, question.text, parent, question.attachments)
            return number, row_id.number

        if self._unkept:
            then(None)
        else:
            self._keeper.do(work, kept, failed)

    def retract(self) -> Turn:
        """Take the last question back, which gets no answer, and return it; it is a draft again."""
        question, row_id = self._turns.pop(), self._row_ids.pop()
        if not self._unkept:
            self._keeper.do(lambda store: store.retract(row_id.known()), lambda _: self.changed.emit())
        return question

    def begin_answer(self, model: str, figures: Mapping[str, Any]) -> None:
        """Put an empty answer of `model` behind the last question; `figures` are known of it before it comes."""
        question, answer, number = self._row_ids[-1], MessageRowId(), -next(self._numbers)
        self._add(Turn(number, None, Role.ASSISTANT, "", State.STREAMING, time.time(), model, figures), answer)

        def begin(store: "ChatStore") -> None:
            answer.number = store.begin_answer(question.known(), model, figures)

        if not self._unkept:
            self._keeper.do(begin)

    def drop_answer(self) -> None:
        """Take away the last answer, of which there is nothing; on the disk it goes with its question."""
        self._turns.pop()
        self._row_ids.pop()

    def resume_answer(self) -> None:
        """Go on with the last answer, which was cut short."""
        self._turns[-1] = replace(self._turns[-1], state=State.STREAMING)
        row_id = self._row_ids[-1]
        self._keeper.do(lambda store: store.go_on(row_id.known()))

    def grow(self, text: str) -> None:
        """Put more text at the end of the last answer; it is on the disk soon."""
        if not text:
            return
        self._fresh.append(text)
        self._unsaved.append(text)
        if not self._saver.isActive():
            self._saver.start()

    @property
    def answer_begun(self) -> bool:
        """Whether there is anything of the last answer."""
        return bool(self._fresh or self._turns[-1].text)

    def end(self, state: State, figures: dict[str, object]) -> Turn:
        """Complete the last answer, and return it."""
        self._saver.stop()
        self._unsaved = []
        turn = self.turns[-1] = replace(self.turns[-1], state=state, figures=figures)
        answer, chat = self._row_ids[-1], self._chat

        def ended(branch: Branch) -> None:
            self.changed.emit()
            if [one.text for one in branch.turns] == [one.text for one in self.turns]:
                self.show(branch.turns)
                self.saved.emit()

        def work(store: "ChatStore") -> Branch:
            store.end_answer(answer.known(), turn.text, state, figures)
            return store.branch(chat.begun(store))

        if not self._unkept:
            self._keeper.do(work, ended)
        return turn

    def _add(self, turn: Turn, row_id: MessageRowId) -> None:
        self._turns.append(turn)
        self._row_ids.append(row_id)

    @Slot()
    def _save(self) -> None:
        """Write what the answer has become since the last time."""
        text, self._unsaved, answer = "".join(self._unsaved), [], self._row_ids[-1]
        if text and not self._unkept:
            self._keeper.do(lambda store: store.grow(answer.known(), text))
