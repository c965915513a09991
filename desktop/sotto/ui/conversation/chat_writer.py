"""The turns of the conversation in view, and how each of them gets to the disk.

An answer is written there while it comes, every half second. Where the disk takes nothing, the conversation goes on
without it, which is said once.
"""

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.chats.records import Attachment, Branch, Role, State, Turn
from sotto.ui.conversation.chat_thread import ChatKeeper
from sotto.ui.conversation.row_ids import ChatRowId, MessageRowId
from sotto.ui.conversation.talk import Said

if TYPE_CHECKING:
    from sotto.chats.store import ChatStore

_SAVE_MS = 500


class ChatWriter(QObject):
    """What was said in one conversation, as a value and on the disk.

    Signals:
        known: The same turns are known better: their numbers and versions.
        changed: Something on the disk is another now, which lists of conversations show.

    Attributes:
        place: Where the conversation is on the disk.
        turns: What is in view, oldest first.
        view: Changes with every other conversation: what comes back later, for one that is not in view, is dropped.
    """

    known = Signal()
    changed = Signal()

    def __init__(self, keeper: ChatKeeper, parent: QObject | None = None) -> None:
        """Begin with a new conversation, kept with `keeper`."""
        super().__init__(parent)
        self._keeper = keeper
        self.place = ChatRowId(None)
        self.turns: list[Turn] = []
        # Where each of the turns is on the disk, or will be: the next one need not wait for its number.
        self._places: list[MessageRowId] = []
        self.view = 0
        self._unkept = False
        self._numbers = itertools.count(1)
        # What has come of the last turn and is not part of it yet.
        self._fresh: list[str] = []
        self._saver = QTimer(self, singleShot=True, interval=_SAVE_MS)
        self._saver.timeout.connect(self._save)

    def leave(self) -> None:
        """Let the conversation in view go."""
        self._unkept = False
        self.view += 1

    def show(self, turns: list[Turn]) -> None:
        """Have other turns in view, which are on the disk."""
        self.turns, self._places = turns, [MessageRowId(turn.id) for turn in turns]

    def hand_out(self) -> Said:
        """Keep what has come of the last answer, and return everything, for another record to go on with."""
        if self._saver.isActive():
            self._saver.stop()
            self._save()
        return Said(self.place, list(self.turns), list(self._places), self._unkept)

    def take_over(self, said: Said) -> None:
        """Go on with what another record handed out."""
        self.place, self.turns, self._places, self._unkept = said.place, said.turns, said.places, said.unkept

    def index(self, turn: int) -> int | None:
        """Return where the turn of this number stands; None where it does not."""
        return next((place for place, one in enumerate(self.turns) if one.id == turn), None)

    def ask(self, text: str, attachments: tuple[Attachment, ...], then: Callable[[int | None], None]) -> Turn:
        """Put a question behind the last turn, and keep it.

        Args:
            text: What is asked.
            attachments: What goes along with it.
            then: Called once it is on the disk, with the number of the conversation; None where it cannot be kept.
        """
        before = self._places[-1] if self._places else None
        number = -next(self._numbers)
        question = Turn(number, None, Role.USER, text, State.COMPLETE, time.time(), attachments=attachments)
        place, view, chat = MessageRowId(), self.view, self.place
        self._add(question, place)

        def kept(numbers: tuple[int, int] | None) -> None:
            if view != self.view:
                return
            if numbers is None:
                self._unkept = True
            else:
                self.turns[-1] = replace(self.turns[-1], id=numbers[1])
            then(numbers[0] if numbers is not None else None)

        def work(store: "ChatStore") -> tuple[int, int]:
            number = chat.begun(store)
            place.number = store.ask(number, text, before.known() if before is not None else None, attachments)
            return number, place.number

        if self._unkept:
            kept(None)
        else:
            self._keeper.do(work, kept, lambda: kept(None))
        return question

    def retract(self) -> Turn:
        """Take the last question back, which gets no answer, and return it; it is a draft again."""
        question, place = self.turns.pop(), self._places.pop()
        if not self._unkept:
            self._keeper.do(lambda store: store.retract(place.known()), lambda _: self.changed.emit())
        return question

    def begin_answer(self, model: str, figures: Mapping[str, Any]) -> None:
        """Put an empty answer of `model` behind the last question; `figures` are known of it before it comes."""
        question, answer, number = self._places[-1], MessageRowId(), -next(self._numbers)
        self._add(Turn(number, None, Role.ASSISTANT, "", State.STREAMING, time.time(), model, figures), answer)

        def begin(store: "ChatStore") -> None:
            answer.number = store.begin_answer(question.known(), model, figures)

        if not self._unkept:
            self._keeper.do(begin)

    def drop_answer(self) -> None:
        """Take away the last answer, of which there is nothing; on the disk it goes with its question."""
        self.turns.pop()
        self._places.pop()

    def resume_answer(self) -> None:
        """Go on with the last answer, which was cut short."""
        self.turns[-1] = replace(self.turns[-1], state=State.STREAMING)
        place = self._places[-1]
        self._keeper.do(lambda store: store.go_on(place.known()))

    def grow(self, text: str) -> None:
        """Put more text at the end of the last answer; it is on the disk soon."""
        if not text:
            return
        self._fresh.append(text)
        if not self._saver.isActive():
            self._saver.start()

    @property
    def answer_begun(self) -> bool:
        """Whether there is anything of the last answer."""
        return bool(self._fresh or self.turns[-1].text)

    def take_in(self) -> str:
        """Make what has come part of the answer, and return it. Word by word that would copy all of it each time."""
        text, self._fresh = "".join(self._fresh), []
        if text:
            self.turns[-1] = replace(self.turns[-1], text=self.turns[-1].text + text)
        return text

    def end(self, state: State, figures: dict[str, object]) -> Turn:
        """Complete the last answer, and return it."""
        self._saver.stop()
        self.take_in()
        turn = self.turns[-1] = replace(self.turns[-1], state=state, figures=figures)
        answer, view, chat = self._places[-1], self.view, self.place

        def ended(branch: Branch) -> None:
            self.changed.emit()
            if view == self.view and [one.text for one in branch.turns] == [one.text for one in self.turns]:
                self.show(list(branch.turns))
                self.known.emit()

        def work(store: "ChatStore") -> Branch:
            store.end_answer(answer.known(), turn.text, state, figures)
            return store.branch(chat.begun(store))

        if not self._unkept:
            self._keeper.do(work, ended)
        return turn

    def _add(self, turn: Turn, place: MessageRowId) -> None:
        self.turns.append(turn)
        self._places.append(place)

    @Slot()
    def _save(self) -> None:
        """Write what the answer has become since the last time."""
        text, answer = self.take_in(), self._places[-1]
        if text and not self._unkept:
            self._keeper.do(lambda store: store.grow(answer.known(), text))
