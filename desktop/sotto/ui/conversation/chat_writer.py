"""Holds the turns of a conversation and saves each of them to disk.

An answer is saved every half second while it streams. If the disk cannot be written, the conversation continues
without it, and that is reported once.
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
    """The turns of one conversation, in memory and on disk.

    Signals:
        saved: The turns have been saved; their numbers or versions may have changed.
        changed: Something that lists of conversations show has changed on disk.
    """

    saved = Signal()
    changed = Signal()

    def __init__(
        self, chats: ChatThread, chat: ChatRowId, turns: Sequence[Turn] = (), parent: QObject | None = None
    ) -> None:
        """Continue a conversation.

        Args:
            chats: Stores it.
            chat: The conversation's row on disk, which may not exist yet.
            turns: The turns that are already on disk.
            parent: The Qt parent.
        """
        super().__init__(parent)
        self._chats = chats
        self._chat = chat
        self._turns: list[Turn] = []
        # The row of each turn. A turn refers to the row before it, which may not have a number yet.
        self._row_ids: list[MessageRowId] = []
        self.set_turns(turns)
        self._disk_failed = False
        self._numbers = itertools.count(1)
        # New text of the last turn that is not in `_turns` yet: adding each word at once would copy the text each time.
        self._new_text: list[str] = []
        # New text of the last turn that is not on disk yet.
        self._unsaved_text: list[str] = []
        self._save_timer = QTimer(self, singleShot=True, interval=_SAVE_MS)
        self._save_timer.timeout.connect(self._save_text)

    @property
    def turns(self) -> list[Turn]:
        """The turns, oldest first."""
        if self._new_text:
            text, self._new_text = "".join(self._new_text), []
            self._turns[-1] = replace(self._turns[-1], text=self._turns[-1].text + text)
        return self._turns

    def set_turns(self, turns: Sequence[Turn]) -> None:
        """Replace the turns with others that are on disk."""
        self._turns, self._row_ids = list(turns), [MessageRowId(turn.id) for turn in turns]

    def index_of(self, turn: int) -> int | None:
        """Return the index of the turn of this number, or None."""
        return next((index for index, known in enumerate(self._turns) if known.id == turn), None)

    def add_question(self, text: str, attachments: tuple[Attachment, ...]) -> Turn:
        """Add a question after the last turn; `save_question` saves it."""
        question = Turn(
            -next(self._numbers), None, Role.USER, text, State.COMPLETE, time.time(), attachments=attachments
        )
        self._add(question, MessageRowId())
        return question

    def save_question(self, then: Callable[[int | None], None]) -> None:
        """Save the last question.

        Args:
            then: Called once it is saved, with the number of the conversation, or with None if it cannot be saved.
        """
        question, row_id, chat = self._turns[-1], self._row_ids[-1], self._chat
        before = self._row_ids[-2] if len(self._row_ids) > 1 else None

        def saved(numbers: tuple[int, int]) -> None:
            self._turns[-1] = replace(self._turns[-1], id=numbers[1])
            then(numbers[0])

        def failed() -> None:
            self._disk_failed = True
            then(None)

        def work(store: "ChatStore") -> tuple[int, int]:
            number, parent = chat.ensure(store), before.require() if before is not None else None
            row_id.number = store.ask(number, question.text, parent, question.attachments)
            return number, row_id.number

        if self._disk_failed:
            then(None)
        else:
            self._chats.do(work, saved, failed)

    def retract(self) -> Turn:
        """Remove the last question, which will not be answered, and return it."""
        question, row_id = self._turns.pop(), self._row_ids.pop()
        if not self._disk_failed:
            self._chats.do(lambda store: store.retract(row_id.require()), lambda _: self.changed.emit())
        return question

    def begin_answer(self, model: str, figures: Mapping[str, Any]) -> None:
        """Add an empty answer after the last question.

        Args:
            model: The name of the model that answers.
            figures: The figures that are known before the answer begins.
        """
        question, answer, number = self._row_ids[-1], MessageRowId(), -next(self._numbers)
        self._add(Turn(number, None, Role.ASSISTANT, "", State.STREAMING, time.time(), model, figures), answer)

        def begin(store: "ChatStore") -> None:
            answer.number = store.begin_answer(question.require(), model, figures)

        if not self._disk_failed:
            self._chats.do(begin)

    def drop_answer(self) -> None:
        """Remove the last answer, which is empty."""
        self._turns.pop()
        row_id = self._row_ids.pop()
        if not self._disk_failed:
            self._chats.do(lambda store: store.drop_answer(row_id.require()))

    def resume_answer(self) -> None:
        """Continue the last answer, which was cut short."""
        self._turns[-1] = replace(self._turns[-1], state=State.STREAMING)
        row_id = self._row_ids[-1]
        self._chats.do(lambda store: store.go_on(row_id.require()))

    def append_text(self, text: str) -> None:
        """Append text to the last answer; it is saved soon."""
        if not text:
            return
        self._new_text.append(text)
        self._unsaved_text.append(text)
        if not self._save_timer.isActive():
            self._save_timer.start()

    @property
    def answer_begun(self) -> bool:
        """Whether the last answer has any text."""
        return bool(self._new_text or self._turns[-1].text)

    def end_answer(self, state: State, figures: dict[str, object]) -> Turn:
        """End the last answer, and return it."""
        self._save_timer.stop()
        self._unsaved_text = []
        turn = self.turns[-1] = replace(self.turns[-1], state=state, figures=figures)
        answer, chat = self._row_ids[-1], self._chat

        def ended(branch: Branch) -> None:
            self.changed.emit()
            if [saved.text for saved in branch.turns] == [shown.text for shown in self.turns]:
                self.set_turns(branch.turns)
                self.saved.emit()

        def work(store: "ChatStore") -> Branch:
            store.end_answer(answer.require(), turn.text, state, figures)
            return store.branch(chat.ensure(store))

        if not self._disk_failed:
            self._chats.do(work, ended)
        return turn

    def _add(self, turn: Turn, row_id: MessageRowId) -> None:
        self._turns.append(turn)
        self._row_ids.append(row_id)

    @Slot()
    def _save_text(self) -> None:
        """Save the text of the answer that has arrived since the last time."""
        text, self._unsaved_text, answer = "".join(self._unsaved_text), [], self._row_ids[-1]
        if text and not self._disk_failed:
            self._chats.do(lambda store: store.grow(answer.require(), text))
