"""Conversations that are in view no more while something is still to come of them: their answers go on."""

from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from sotto.ui.conversation.chat_session import Dialogue
from sotto.ui.conversation.chat_thread import ChatKeeper
from sotto.ui.conversation.talk import Talk
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Problem


class Behind(QObject):
    """Brings answers to their ends that nobody looks at.

    Signals:
        changed: Other conversations are being answered, or something of them is on the disk.
        problem: Something did not work (`Problem`).
    """

    changed = Signal()
    problem = Signal(object)

    def __init__(self, session: Session, keeper: ChatKeeper, parent: QObject | None = None) -> None:
        """Begin with nothing under way."""
        super().__init__(parent)
        self._session, self._keeper = session, keeper
        self._dialogues: list[Dialogue] = []

    @property
    def chats(self) -> frozenset[int]:
        """The numbers of the conversations that are being answered."""
        return frozenset(one.chat for one in self._dialogues if one.chat is not None)

    def keep(self, talk: Talk) -> None:
        """Go on with a conversation until its answer has ended."""
        dialogue = Dialogue(self._session, self._keeper, self, greets=False)
        dialogue.take_over(talk)
        dialogue.changed.connect(self.changed)
        dialogue.problem.connect(self._tell)
        dialogue.answer_ended.connect(partial(self._end, dialogue))
        dialogue.retracted.connect(partial(self._give_back, dialogue))
        self._dialogues.append(dialogue)
        self.changed.emit()

    def take(self, chat: int) -> Talk | None:
        """Let go of the conversation of this number, for it is in view again; None where it is not here."""
        dialogue = self._find(chat)
        if dialogue is None:
            return None
        talk = dialogue.give_away()
        self._end(dialogue)
        return talk

    def stop(self, chat: int) -> None:
        """Stop what is under way for the conversation of this number, if anything is."""
        dialogue = self._find(chat)
        if dialogue is not None:
            dialogue.halt()

    def close(self) -> None:
        """Keep what there is of all answers, and go on with none."""
        for dialogue in tuple(self._dialogues):
            dialogue.close()

    def _find(self, chat: int) -> Dialogue | None:
        return next((one for one in self._dialogues if one.chat == chat), None)

    def _give_back(self, dialogue: Dialogue, question: str) -> None:
        """Let a question that got no answer be a draft again, before what has been typed since."""
        since = dialogue.unsent.draft
        dialogue.unsent.type(f"{question}\n{since}" if since.strip() else question)
        dialogue.unsent.leave()
        self._end(dialogue)

    def _end(self, dialogue: Dialogue, _answer: object = None) -> None:
        if dialogue in self._dialogues:
            self._dialogues.remove(dialogue)
            # The keeper works in order: nothing comes back to it afterwards.
            self._keeper.do(lambda store: None, lambda _: dialogue.deleteLater(), dialogue.deleteLater)
            self.changed.emit()

    @Slot(object)
    def _tell(self, problem: Problem) -> None:
        self.problem.emit(Problem(f"{problem.title} in another chat", problem.message, problem.details))
