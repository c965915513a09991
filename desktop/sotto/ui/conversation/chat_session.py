"""The conversation in view: what is asked, what is answered, and how both get to the disk. Draws nothing itself.

A question is on the disk before the engine sees it; `turn_record` sees to that, and to what comes of the answer.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from sotto.chats.conversation import Conversation
from sotto.chats.records import Attachment, Branch, State, Turn
from sotto.engine.contract.answer_parts import Piece, markup
from sotto.engine.contract.events import DoneReason, Failed, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.types import Message
from sotto.engine.parsing.parser import parsed
from sotto.runner.commands import Cancel
from sotto.ui.conversation.answer_timing import AnswerPace, ThoughtClock
from sotto.ui.conversation.chat_loading import LoadedChat, read, read_unbegun
from sotto.ui.conversation.chat_thread import ChatKeeper
from sotto.ui.conversation.chat_writer import ChatWriter
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.conversation.greeting import Greeting
from sotto.ui.conversation.request_builder import RequestBuilder, said
from sotto.ui.conversation.row_ids import ChatRowId
from sotto.ui.conversation.summary import Summary
from sotto.ui.conversation.talk import Talk
from sotto.ui.session.engine_thread import EngineLost
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem

if TYPE_CHECKING:
    from sotto.chats.store import ChatStore
    from sotto.ui.conversation.chat_sessions import Behind

# Of all conversations in view: the engine tells answers apart by them.
_REQUESTS = itertools.count(1)


class Dialogue(QObject):
    """One conversation at a time, on disk.

    Signals:
        opened: Other turns are in view now (a tuple of `Turn`).
        pointed_at: The message of this number is what was looked for.
        turns_changed: The same turns are known better: their numbers and versions.
        question_added: A question was taken into the conversation (`Turn`).
        answer_awaited: An answer is on its way; the model's name, and what it waits for.
        answer_begun: The engine is asked for it; there is nothing of it yet (`Turn`).
        answer_resumed: An answer that was cut short is gone on with (`Turn`); the next words belong to it.
        prefilled: How much of the prompt was read, and why it is read anew, which is empty where it is not.
        answer_grew: More of the answer (a tuple of `Piece`).
        answer_ended: The answer is complete (`Turn`).
        retracted: The question and its answer could not be had and are taken out again; the question's text.
        changed: Something on the disk is another now, which lists of conversations show.
        problem: Something did not work (`Problem`).
    """

    opened = Signal(object)
    pointed_at = Signal(int)
    turns_changed = Signal(object)
    question_added = Signal(object)
    answer_awaited = Signal(str, str)
    answer_begun = Signal(object)
    answer_resumed = Signal(object)
    prefilled = Signal(object, str)
    answer_grew = Signal(object)
    answer_ended = Signal(object)
    retracted = Signal(str)
    changed = Signal()
    problem = Signal(object)

    def __init__(
        self,
        session: Session,
        keeper: ChatKeeper,
        parent: QObject | None = None,
        *,
        greets: bool = True,
        behind: "Behind | None" = None,
    ) -> None:
        """Talk to the model of `session`, and keep what is said with `keeper`; the built-in model may say hello.

        An answer to a conversation that leaves the view is gone on with `behind` it, or ends where there is none.
        """
        super().__init__(parent)
        self._session = session
        self._greets = greets
        self._behind = behind
        self._keeper = keeper
        self.chat: int | None = None
        self._record = ChatWriter(keeper, self)
        self.greeting = Greeting(session, self)
        self._numbers = itertools.count(1)
        self._asking = self._queued = self._stopping = False
        self._request, self._clock = "", ThoughtClock()
        # How much of the last turn was there before the request.
        self._begun = 0
        self.pace = AnswerPace(self)
        self.summary = Summary(session, self)
        self.summary.written.connect(self._begin_with)
        self.summary.failed.connect(self._miss_summary)
        self.unsent = DraftState(keeper, self._record.place, self)
        self._asker = RequestBuilder(session, self.unsent)
        self._record.changed.connect(self.changed)
        self._record.known.connect(lambda: self.turns_changed.emit(tuple(self.turns)))
        session.spoke.connect(self.receive)
        session.became_ready.connect(self._start_queued)
        session.became_absent.connect(self._give_back)
        session.lost.connect(self._lose)

    @property
    def turns(self) -> list[Turn]:
        """What is in view, oldest first."""
        return self._record.turns

    @property
    def conversation(self) -> Conversation:
        """What is in view, as a model sees it."""
        return said(self.turns)

    @property
    def busy(self) -> bool:
        """Whether a question waits for its answer, or the answer is on its way."""
        return self._asking or self._queued or bool(self._request) or self.summary.under_way

    @property
    def answering(self) -> bool:
        """Whether the engine works on an answer."""
        return bool(self._request)

    # What a person does

    def begin(self) -> None:
        """Go on with the draft of a conversation that was never begun, if there is one."""
        view = self._record.view

        def begun(found: LoadedChat | None) -> None:
            written = self.turns or self.unsent.draft or self.unsent.attachments
            if found is not None and found.chat is not None and view == self._record.view and not written:
                self.chat = found.chat.id
                self._record.place = ChatRowId(self.chat)
                self.unsent.open(self._record.place, found.chat, found.attachments)
            self.changed.emit()

        self._keeper.do(read_unbegun, begun)
        if self._session.state.loaded:
            self._start_queued()

    def send(self, text: str) -> bool:
        """Ask the model, now or as soon as it is loaded; return False if the text stays a draft."""
        if self.busy or not (text.strip() or self.unsent.attachments) or not self._can_ask():
            return False
        self._ask(text, self.unsent.sent(text))
        return True

    def edit(self, turn: int, text: str) -> bool:
        """Ask something else in place of a question, which stays as a version; return False if that cannot be."""
        place = self._record.index(turn)
        if place is None or self.busy or not text.strip() or not self._can_ask():
            return False
        attachments = self.turns[place].attachments
        self._show(self.turns[:place])
        self._ask(text, attachments)
        return True

    def regenerate(self, turn: int) -> None:
        """Let the model answer a question again; the answer that there is stays as a version."""
        place = self._record.index(turn)
        if place is None or place == 0 or self.busy or not self._can_ask():
            return
        self._show(self.turns[:place])
        self._await()
        self._go_on()

    def go_on(self, turn: int) -> None:
        """Let the model go on with the last answer, which was cut short."""
        place = self._record.index(turn)
        if place is None or place != len(self.turns) - 1 or not self._session.state.loaded or self.busy:
            return
        if not self._can_ask():
            return
        last = self.turns[-1]
        self._begin_request()
        self._begun = len(last.text)
        self._record.resume_answer()
        self.answer_resumed.emit(last)
        # What was begun as any text goes on as that.
        manner = self._asker.manner
        self._asker.ask(
            self._request, self.turns, manner if "format" in last.figures else replace(manner, grammar=None)
        )

    def show_version(self, turn: int) -> None:
        """Bring another version of a message into view, with what was said behind it."""
        if self.busy or self.chat is None:
            return
        view, chat = self._record.view, self.chat

        def shown(branch: Branch) -> None:
            if view == self._record.view:
                self._show(list(branch.turns))
                self.changed.emit()

        def work(store: "ChatStore") -> Branch:
            store.view(turn)
            return store.branch(chat)

        self._keeper.do(work, shown)

    def stop(self) -> None:
        """Stop the answer that is under way, or the load that a person waits for."""
        if self._request:
            self._session.host.send(Cancel(self._request))
        elif self.summary.under_way:
            self.summary.stop()
        elif self._asking:
            self._stopping = True
        else:
            self._session.stop_load()

    def halt(self) -> None:
        """Stop what is under way for this conversation; a load goes on."""
        if self._queued:
            self._give_back()
        elif self.busy:
            self.stop()

    def summarize(self) -> None:
        """Let the model summarise what was said, and begin a new conversation with that; the draft goes along."""
        whole = self._asker.told(self.turns)
        if whole and not self.busy and self._session.state.loaded and self._can_ask():
            self.greeting.stop()
            self.summary.begin(whole)

    def new_chat(self) -> None:
        """Begin an empty conversation; an answer under way goes on."""
        if self._waits(self.new_chat):
            return
        self._leave()
        self.chat, self._record.place = None, ChatRowId(None)
        self._show([])
        self.unsent.open(self._record.place, None)

    def open(self, chat: int, message: int | None = None) -> None:
        """Bring a conversation into view; an answer under way goes on.

        Args:
            chat: Its number.
            message: One of its messages that is to be seen, on whichever branch it is; None for where it was left.
        """
        if chat == self.chat and self.turns and (message is None or self._record.index(message) is not None):
            if message is not None:
                self.pointed_at.emit(message)
            return
        if self._waits(lambda: self.open(chat, message)):
            return
        self._leave()
        talk = self._behind.take(chat) if self._behind is not None else None
        if talk is not None:
            self._go_on_with(talk)
        else:
            self.chat, self._record.place = chat, ChatRowId(chat)
        view = self._record.view

        def found(opening: LoadedChat) -> None:
            if view != self._record.view:
                return
            if talk is None:
                self._show(list(opening.branch.turns))
            self.unsent.open(self._record.place, opening.chat, opening.attachments)
            if message is not None:
                self.pointed_at.emit(message)
            if opening.problem is not None:
                self.problem.emit(opening.problem)

        # What is still being said is in view as it is, on its branch.
        on_branch_of = message if talk is None else None
        self._keeper.do(lambda store: read(store, chat, on_branch_of), found, self.new_chat)

    def give_away(self) -> Talk:
        """Let the conversation go, with an answer that is under way, and begin an empty one."""
        self.unsent.leave()
        talk = self._hand_out()
        self.new_chat()
        return talk

    def _hand_out(self) -> Talk:
        begun, written = self._begun, self.unsent.written
        talk = Talk(self.chat, self._record.hand_out(), self._queued, self._request, begun, self._clock, written)
        self._request, self._queued = "", False
        return talk

    def take_over(self, talk: Talk) -> None:
        """Go on with a conversation that another dialogue gave away; its question is not on its way to the disk."""
        self._leave()
        self._go_on_with(talk)

    def _go_on_with(self, talk: Talk) -> None:
        self._record.take_over(talk.said)
        self.chat, self._queued, self._request, self._begun = talk.chat, talk.queued, talk.request, talk.begun
        self._clock = talk.clock
        self.opened.emit(tuple(self.turns))
        self.unsent.take_over(self._record.place, talk.written)
        if self._request:
            self.answer_resumed.emit(self.turns[-1])
        elif self._queued:
            self._await()
        self.changed.emit()

    def close(self) -> None:
        """Keep what is still on its way; nothing is said afterwards."""
        self._behind = None
        self._leave()

    @Slot(str)
    def _begin_with(self, summary: str) -> None:
        draft, attachments = self.unsent.take()
        self.new_chat()
        self.unsent.put(wording.summarized(summary, draft), attachments)

    @Slot(str)
    def _miss_summary(self, why: str) -> None:
        if why:
            self.problem.emit(Problem("No summary", why))

    # What the engine says

    @Slot(object)
    def receive(self, event: PrefillProgress | TextChunk | Finished | Failed) -> None:
        """Take what the engine says about a request."""
        if self._request and event.request_id == self._request:
            self._take(event)

    def _take(self, event: PrefillProgress | TextChunk | Finished | Failed) -> None:
        if isinstance(event, PrefillProgress):
            self.prefilled.emit(event, self._asker.reuse.why(event.cached))
        elif isinstance(event, TextChunk):
            self.pace.add(len(event.token_ids))
            self._grow(event.pieces)
        elif isinstance(event, Finished):
            self._record.take_in()
            text, whole = self.turns[-1].text[self._begun :], markup(event.pieces, begun=self._begun > 0)
            if len(whole) > len(text) and whole.startswith(text):
                self._grow(parsed(whole[len(text) :]))
            state = State.STOPPED if event.done_reason is DoneReason.CANCELLED else State.COMPLETE
            self._end(state, wording.figures_of(event, self._asker.reuse.end(event, self.turns[-1].text)))
        else:
            self._fail(event)

    def _grow(self, pieces: tuple[Piece, ...]) -> None:
        if pieces:
            if not self._begun:
                self._clock.take(pieces)
            self._record.grow(markup(pieces, begun=self._record.answer_begun))
            self.answer_grew.emit(pieces)

    def _fail(self, event: Failed) -> None:
        self._record.take_in()
        if self.turns[-1].text:
            self._end(State.FAILED, {})
        else:
            self._record.drop_answer()
            self._forget_request()
            self._retract()
        self.problem.emit(Problem("No answer", event.message, event.details))

    @Slot(object)
    def _lose(self, event: EngineLost) -> None:
        if self._request:
            self._fail(Failed(self._request, event.message, bug=True, details=event.details))
        else:
            self._give_back()

    # Questions and answers

    def _can_ask(self) -> bool:
        if (refusal := self._session.refusal) is not None:
            self.problem.emit(refusal)
        return refusal is None

    def _ask(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Keep a question on the disk, behind the last message, and then have it answered."""
        self._asking = True

        def kept(chat: int | None) -> None:
            self._asking = False
            if chat is not None:
                self.chat = chat
                self.changed.emit()
            self._go_on()

        self.question_added.emit(self._record.ask(text, attachments, kept))
        self._await()

    def _await(self) -> None:
        """Say that the last question is to be answered."""
        waiting = self._session.loading or self._session.searching
        self.answer_awaited.emit(self._session.model_name, "Waiting for the model…" if waiting else "Reading prompt…")

    def _go_on(self) -> None:
        """Have the last question answered, which is on the disk."""
        if self._stopping:
            self._stopping = False
            self._begin_answer()
            self._end(State.STOPPED, {})
        elif self._session.refusal is not None:
            self._retract()
        elif self._session.state.loaded:
            self._generate()
        else:
            self._queued = True

    @Slot()
    def _start_queued(self) -> None:
        state = self._session.state
        if self._queued and not self._can_ask():
            self._give_back()
        elif self._queued:
            self._queued = False
            self._generate()
        elif self._greets and state.record is not None and state.record.builtin and not self.turns and not self._asking:
            self.greeting.begin()

    @Slot()
    def _give_back(self) -> None:
        """Hand a question that waits for a model back to its writer."""
        if self._queued:
            self._queued = False
            self._retract()

    def _retract(self) -> None:
        """Take the last question back, which gets no answer; it is a draft again."""
        question = self._record.retract()
        self.unsent.give_back(question.attachments)
        self.retracted.emit(question.text)

    def _generate(self) -> None:
        self._begin_request()
        asked, manner = list(self.turns), self._asker.manner
        self._begin_answer(manner.figures)
        self._asker.ask(self._request, asked, manner)

    def _begin_request(self) -> None:
        self.greeting.stop()
        self.pace.begin()
        self._request, self._clock = f"answer {next(_REQUESTS)}", ThoughtClock()

    def drafted(self) -> tuple[Message, ...]:
        """Return what a model would be given if the draft were sent now; empty where there is nothing."""
        return self._asker.drafted(self.turns)

    def _begin_answer(self, figures: Mapping[str, Any] | None = None) -> None:
        """Put an empty answer behind the last question."""
        self._begun = 0
        record = self._session.state.record
        self._record.begin_answer(record.name if record else "", figures or {})
        self.answer_begun.emit(self.turns[-1])

    def _end(self, state: State, figures: dict[str, object]) -> None:
        """Complete the answer."""
        thoughts = {"thoughts": self._clock.seconds} if self._clock.seconds else {}
        # What an answer was held to stays with it.
        held = {name: value for name, value in self.turns[-1].figures.items() if name == "format"}
        turn = self._record.end(state, {**held, **figures, **thoughts})
        self._forget_request()
        self.answer_ended.emit(turn)

    def _forget_request(self) -> None:
        if self._request:
            self._request = ""
            self._session.answered()

    def _waits(self, then: Callable[[], None]) -> bool:
        """Tell whether the last question is still on its way to the disk; what is to be done then waits for that."""
        waits = self._asking and self._behind is not None
        if waits:
            # The keeper works in order.
            self._keeper.do(lambda store: None, lambda _: then(), then)
        return waits

    def _leave(self) -> None:
        """Let the conversation in view go, and keep what there is of it."""
        self.unsent.leave()
        self.summary.stop()
        if self._behind is not None and (self._request or self._queued):
            self._behind.keep(self._hand_out())
        elif self._request:
            self._session.host.send(Cancel(self._request))
            self._end(State.STOPPED, {})
        self._asking = self._queued = self._stopping = False
        self._asker.reuse.forget()
        self._record.leave()

    def _show(self, turns: list[Turn]) -> None:
        self._record.show(turns)
        self.opened.emit(tuple(turns))
