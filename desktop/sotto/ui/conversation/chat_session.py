"""One conversation: what is asked, what is answered, and how both get to the disk. Draws nothing itself.

A question is on the disk before the engine sees it; `chat_writer` sees to that, and to what comes of the answer.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from sotto.chats.chat_records import Attachment, Branch, State, Turn
from sotto.chats.messages import Conversation
from sotto.engine.contract.answer_parts import Piece, markup
from sotto.engine.contract.events import DoneReason, Failed, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.requests import Message
from sotto.engine.parsing.answer_parser import parsed
from sotto.runner.commands import Cancel
from sotto.ui.conversation.answer_timing import AnswerPace, ThoughtClock
from sotto.ui.conversation.answer_wording import figures_of
from sotto.ui.conversation.chat_loading import LoadedChat
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.chat_writer import ChatWriter
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.conversation.request_builder import RequestBuilder, conversation_of
from sotto.ui.conversation.row_ids import ChatRowId
from sotto.ui.conversation.summary import Summary
from sotto.ui.preferences.answer_options import AnswerOptions
from sotto.ui.session.engine_thread import EngineLost
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Problem

if TYPE_CHECKING:
    from sotto.chats.chat_store import ChatStore

# Of all conversations: the engine tells answers apart by them.
_REQUESTS = itertools.count(1)


class Phase(StrEnum):
    """What is under way for a conversation."""

    IDLE = "idle"
    SAVING = "saving"
    WAITING_FOR_MODEL = "waiting_for_model"
    PREFILLING = "prefilling"
    ANSWERING = "answering"
    SUMMARIZING = "summarizing"


class ChatSession(QObject):
    """One conversation, from when it is opened or begun until nobody needs it any more.

    Signals:
        phase_changed: Something else is under way, or nothing is.
        branch_changed: Other turns are on the branch in view (a tuple of `Turn`).
        turns_saved: The same turns have other numbers or versions on the disk (a tuple of `Turn`).
        pointed_at: The message of this number is what was looked for.
        question_added: A question was asked (`Turn`).
        answer_awaited: An answer is on its way; the model's name, and what it waits for.
        answer_begun: The engine is asked for it; there is nothing of it yet (`Turn`).
        answer_resumed: An answer that was cut short is gone on with (`Turn`); the next words belong to it.
        prefilled: How much of the prompt was read, and why it is read anew, which is empty where it is not.
        answer_grew: More of the answer (a tuple of `Piece`).
        answer_ended: The answer is complete (`Turn`).
        retracted: The question and its answer could not be had and are taken out again; the question's text.
        summarized: What was said, in short, for another conversation to begin with.
        changed: Something on the disk is different now, which lists of conversations show.
        problem: Something did not work (`Problem`).

    Attributes:
        chat: Its number; None while nothing was asked.
        phase: What is under way.
        draft: What is typed, attached and chosen for it.
        pace: How fast its answers come.
        summary: Writes `summarized`.
    """

    phase_changed = Signal()
    branch_changed = Signal(object)
    turns_saved = Signal(object)
    pointed_at = Signal(int)
    question_added = Signal(object)
    answer_awaited = Signal(str, str)
    answer_begun = Signal(object)
    answer_resumed = Signal(object)
    prefilled = Signal(object, str)
    answer_grew = Signal(object)
    answer_ended = Signal(object)
    retracted = Signal(str)
    summarized = Signal(str)
    changed = Signal()
    problem = Signal(object)

    def __init__(
        self, session: Session, keeper: ChatThread, loaded: LoadedChat | None = None, parent: QObject | None = None
    ) -> None:
        """Be one conversation.

        Args:
            session: Has the model that answers.
            keeper: Keeps what is said.
            loaded: What is on the disk of it; None for a new one.
            parent: Owns it.
        """
        super().__init__(parent)
        self._session = session
        self._keeper = keeper
        self.chat = loaded.number if loaded else None
        self.phase = Phase.IDLE
        row_id = ChatRowId(self.chat)
        self._writer = ChatWriter(keeper, row_id, loaded.branch.turns if loaded else (), self)
        self._writer.changed.connect(self.changed)
        self._writer.saved.connect(self._tell_saved)
        self.draft = DraftState(keeper, row_id, loaded, self)
        self._requests = RequestBuilder(session, self.draft)
        self._request, self._clock = "", ThoughtClock()
        # How much of the last turn was there before the request.
        self._begun = 0
        self._stop_wanted = False
        self.pace = AnswerPace(self)
        self.summary = Summary(session, self)
        self.summary.ended.connect(self._finish)
        self.summary.written.connect(self.summarized)
        self.summary.failed.connect(self._miss_summary)
        session.request_event.connect(self.receive)
        session.became_ready.connect(self._start_waiting)
        session.became_absent.connect(self._give_back)
        session.engine_lost.connect(self._lose)

    @property
    def turns(self) -> list[Turn]:
        """What was said, oldest first."""
        return self._writer.turns

    @property
    def conversation(self) -> Conversation:
        """What was said, as a model sees it."""
        return conversation_of(self.turns)

    @property
    def busy(self) -> bool:
        """Whether anything is under way."""
        return self.phase is not Phase.IDLE

    @property
    def answering(self) -> bool:
        """Whether the engine works on an answer."""
        return self.phase in (Phase.PREFILLING, Phase.ANSWERING)

    @property
    def awaiting(self) -> bool:
        """Whether the last turn is a question that the engine has not got yet."""
        return self.phase in (Phase.SAVING, Phase.WAITING_FOR_MODEL)

    @property
    def awaited(self) -> tuple[str, str]:
        """Who answers next, and what that waits for."""
        waiting = self._session.loading or self._session.library.searching
        return self._session.model_name, "Waiting for the model…" if waiting else "Reading prompt…"

    def with_draft(self) -> tuple[Message, ...]:
        """Return what a model would be given if the draft were sent now; empty where there is nothing."""
        return self._requests.with_draft(self.turns)

    # What a person does

    def send(self, text: str) -> bool:
        """Ask the model, now or as soon as it is loaded; return False if the text stays a draft."""
        if self.busy or not (text.strip() or self.draft.attachments) or not self._can_ask():
            return False
        self._ask(text, self.draft.sent(text))
        return True

    def edit(self, turn: int, text: str) -> bool:
        """Ask something else in place of a question, which stays as a version; return False if that cannot be."""
        index = self._writer.index(turn)
        if index is None or self.busy or not text.strip() or not self._can_ask():
            return False
        attachments = self.turns[index].attachments
        self._show(self.turns[:index])
        self._ask(text, attachments)
        return True

    def regenerate(self, turn: int) -> None:
        """Let the model answer a question again; the answer that there is stays as a version."""
        index = self._writer.index(turn)
        if index is None or index == 0 or self.busy or not self._can_ask():
            return
        self._show(self.turns[:index])
        self.answer_awaited.emit(*self.awaited)
        self._answer()

    def go_on(self, turn: int) -> None:
        """Let the model go on with the last answer, which was cut short."""
        index = self._writer.index(turn)
        if index is None or index != len(self.turns) - 1 or not self._session.state.loaded or self.busy:
            return
        if not self._can_ask():
            return
        last = self.turns[-1]
        self._begin_request()
        self._begun, self._clock = len(last.text), ThoughtClock()
        self._writer.resume_answer()
        self.answer_resumed.emit(last)
        # What was begun as any text goes on as that.
        answer_options = self._requests.answer_options
        self._generate(
            self.turns, answer_options if "format" in last.figures else replace(answer_options, grammar=None)
        )

    def show_version(self, turn: int) -> None:
        """Bring another version of a message into view, with what was said behind it."""
        if not self.busy and self.chat is not None:
            self._read_branch(lambda store: store.view(turn))

    def point_at(self, message: int) -> None:
        """Let a message be seen, on whichever branch it is; while anything is under way, on this one alone."""
        if self._writer.index(message) is None and not self.busy:
            self._read_branch(lambda store: store.show(message), lambda: self.pointed_at.emit(message))
        else:
            self.pointed_at.emit(message)

    def stop(self) -> None:
        """Stop the answer that is under way, or the load that a person waits for."""
        if self.answering:
            self._session.host.send(Cancel(self._request))
        elif self.phase is Phase.SUMMARIZING:
            self.summary.stop()
        elif self.phase is Phase.SAVING:
            self._stop_wanted = True
        else:
            self._session.stop_load()

    def halt(self) -> None:
        """Stop what is under way for this conversation; a load goes on."""
        if self.phase is Phase.WAITING_FOR_MODEL:
            self._give_back()
        elif self.busy:
            self.stop()

    def summarize(self) -> None:
        """Let the model summarise what was said, for another conversation to begin with."""
        whole = self._requests.messages(self.turns)
        if whole and not self.busy and self._session.state.loaded and self._can_ask():
            self._set_phase(Phase.SUMMARIZING)
            self.summary.begin(whole)

    def leave(self) -> None:
        """Keep what was typed, now that nobody looks; an answer goes on, and a summary is wanted no more."""
        self.draft.keep()
        self.summary.stop()

    def close(self) -> None:
        """Keep what there is; nothing is said afterwards."""
        self.leave()
        if self.answering:
            self._session.host.send(Cancel(self._request))
            self._end(State.STOPPED, {})
        self._finish()

    # What the engine says

    @Slot(object)
    def receive(self, event: PrefillProgress | TextChunk | Finished | Failed) -> None:
        """Take what the engine says about a request."""
        if not self.answering or event.request_id != self._request:
            return
        if isinstance(event, PrefillProgress):
            self.prefilled.emit(event, self._requests.reuse.why(event.cached))
        elif isinstance(event, TextChunk):
            self.pace.add(len(event.token_ids))
            self._set_phase(Phase.ANSWERING)
            self._grow(event.pieces)
        elif isinstance(event, Finished):
            text, whole = self.turns[-1].text[self._begun :], markup(event.pieces, begun=self._begun > 0)
            if len(whole) > len(text) and whole.startswith(text):
                self._grow(parsed(whole[len(text) :]))
            state = State.STOPPED if event.done_reason is DoneReason.CANCELLED else State.COMPLETE
            self._end(state, figures_of(event, self._requests.reuse.end(event, self.turns[-1].text)))
        else:
            self._fail(event)

    def _grow(self, pieces: tuple[Piece, ...]) -> None:
        if pieces:
            if not self._begun:
                self._clock.take(pieces)
            self._writer.grow(markup(pieces, begun=self._writer.answer_begun))
            self.answer_grew.emit(pieces)

    def _fail(self, event: Failed) -> None:
        if self._writer.answer_begun:
            self._end(State.FAILED, {})
        else:
            self._writer.drop_answer()
            self._retract()
        self.problem.emit(Problem("No answer", event.message, event.details))

    @Slot(object)
    def _lose(self, event: EngineLost) -> None:
        if self.answering:
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
        self._set_phase(Phase.SAVING)
        self.question_added.emit(self._writer.ask(text, attachments))
        self.answer_awaited.emit(*self.awaited)
        self._writer.keep_question(self._go_on)

    def _go_on(self, chat: int | None) -> None:
        """Have a question answered that is on the disk; None where nothing can be kept there."""
        if self.phase is Phase.SAVING:
            if chat is not None:
                self.chat = chat
                self.changed.emit()
            self._answer()

    def _answer(self) -> None:
        """Have the last question answered."""
        if self._stop_wanted:
            self._stop_wanted = False
            self._begin_answer({})
            self._end(State.STOPPED, {})
        elif self._session.refusal is not None:
            self._retract()
        elif self._session.state.loaded:
            self._answer_now()
        else:
            self._set_phase(Phase.WAITING_FOR_MODEL)

    @Slot()
    def _start_waiting(self) -> None:
        if self.phase is not Phase.WAITING_FOR_MODEL:
            return
        if self._can_ask():
            self._answer_now()
        else:
            self._give_back()

    @Slot()
    def _give_back(self) -> None:
        """Hand a question that waits for a model back to its writer."""
        if self.phase is Phase.WAITING_FOR_MODEL:
            self._retract()

    def _retract(self) -> None:
        """Take the last question back, which gets no answer; it is a draft again."""
        question = self._writer.retract()
        self._finish()
        self.draft.give_back(question.attachments)
        self.retracted.emit(question.text)

    def _answer_now(self) -> None:
        asked, answer_options = list(self.turns), self._requests.answer_options
        self._begin_request()
        self._begin_answer(answer_options.figures)
        self._generate(asked, answer_options)

    def _begin_request(self) -> None:
        self._set_phase(Phase.PREFILLING)
        self.pace.begin()
        self._request = f"answer {next(_REQUESTS)}"

    def _generate(self, asked: list[Turn], answer_options: AnswerOptions) -> None:
        self._session.generate(self._requests.build(self._request, asked, answer_options))
        self._session.begin_answer()

    def _begin_answer(self, figures: Mapping[str, Any]) -> None:
        """Put an empty answer behind the last question."""
        self._begun, self._clock = 0, ThoughtClock()
        record = self._session.state.record
        self._writer.begin_answer(record.name if record else "", figures)
        self.answer_begun.emit(self.turns[-1])

    def _end(self, state: State, figures: dict[str, object]) -> None:
        """Complete the answer."""
        thoughts = {"thoughts": self._clock.seconds} if self._clock.seconds else {}
        # What an answer was held to stays with it.
        held = {name: value for name, value in self.turns[-1].figures.items() if name == "format"}
        turn = self._writer.end(state, {**held, **figures, **thoughts})
        self._finish()
        self.answer_ended.emit(turn)

    @Slot()
    def _finish(self) -> None:
        """Have nothing under way any more."""
        answered = self.answering
        self._set_phase(Phase.IDLE)
        if answered:
            self._session.end_answer()

    def _set_phase(self, phase: Phase) -> None:
        if phase is not self.phase:
            self.phase = phase
            self.phase_changed.emit()

    @Slot(str)
    def _miss_summary(self, why: str) -> None:
        if why:
            self.problem.emit(Problem("No summary", why))

    # The turns

    def _read_branch(self, choose: Callable[["ChatStore"], None], then: Callable[[], None] | None = None) -> None:
        """Have `choose` bring another branch into view, show it, and do what comes `then`."""
        chat = self.chat

        def work(store: "ChatStore") -> Branch | None:
            choose(store)
            return store.branch(chat) if chat is not None else None

        def read(branch: Branch | None) -> None:
            # What was asked meanwhile is on the branch that was in view then.
            if branch is not None and not self.busy:
                self._show(list(branch.turns))
                self.changed.emit()
                if then is not None:
                    then()

        self._keeper.do(work, read)

    def _show(self, turns: list[Turn]) -> None:
        self._writer.show(turns)
        self.branch_changed.emit(tuple(turns))

    @Slot()
    def _tell_saved(self) -> None:
        self.turns_saved.emit(tuple(self.turns))
