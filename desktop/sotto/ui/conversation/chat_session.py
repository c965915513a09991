"""One open conversation: sends questions, receives answers, and has both saved by `chat_writer`.

A question is on disk before the engine receives it.
"""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.chats.chat_records import Attachment, Role, State, Turn
from sotto.chats.messages import Conversation
from sotto.engine.contract.answer_parts import Piece, markup
from sotto.engine.contract.events import DoneReason, Failed, Finished, PrefillProgress, TextChunk
from sotto.engine.contract.requests import Message
from sotto.engine.parsing.answer_parser import parse_answer
from sotto.runner.commands import Cancel
from sotto.ui.conversation.answer_timing import AnswerPace, ThoughtClock
from sotto.ui.conversation.answer_wording import answer_figures
from sotto.ui.conversation.chat_branches import ChatBranches
from sotto.ui.conversation.chat_loading import LoadedChat
from sotto.ui.conversation.chat_phase import Phase
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.chat_writer import ChatWriter
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.conversation.request_builder import RequestBuilder, to_conversation
from sotto.ui.conversation.row_ids import ChatRowId
from sotto.ui.conversation.summary import Summary
from sotto.ui.preferences.answer_options import AnswerOptions
from sotto.ui.session.engine_thread import EngineLost
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Problem
from sotto.ui.toolkit.translation import tr

# Shared by all conversations, because the engine distinguishes answers by these numbers.
_REQUEST_NUMBERS = itertools.count(1)


class ChatSession(QObject):
    """One conversation, from when it is opened or begun until it is closed.

    Signals:
        phase_changed: `phase` has changed.
        branch_changed: Other turns are in view (a tuple of `Turn`).
        turns_saved: The turns have been saved; their numbers or versions may have changed (a tuple of `Turn`).
        question_added: A question was sent (`Turn`).
        answer_awaited: An answer is awaited; the model's name, and the line to show meanwhile.
        answer_begun: The answer has been requested from the engine, and is still empty (`Turn`).
        answer_resumed: The last answer is being continued (`Turn`).
        prefilled: Progress in reading the prompt, and why it is read again (empty if it is not).
        answer_grew: More of the answer has arrived (a tuple of `Piece`).
        answer_ended: The answer has ended (`Turn`).
        retracted: The question could not be answered and was removed again (its text).
        summarized: A summary was written, with which another conversation can begin.
        changed: Something that lists of conversations show has changed on disk.
        queue_changed: Whether the draft will be sent after the answer under way has changed.
        problem: Something failed (`Problem`).
        room_wanted: The answer cannot be continued, because the context is full; the user should make room.

    Attributes:
        chat: The number of the conversation; None before the first question.
        phase: What is under way.
        draft: What is typed, attached and chosen for the conversation.
        queued: Whether the draft will be sent after the answer under way.
        pace: Measures how fast answers are generated.
        summary: Has the model write summaries.
        branches: Switches between versions of messages, and changes messages.
    """

    phase_changed = Signal()
    branch_changed = Signal(object)
    turns_saved = Signal(object)
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
    queue_changed = Signal(bool)
    problem = Signal(object)
    room_wanted = Signal()

    def __init__(
        self, session: Session, chats: ChatThread, loaded: LoadedChat | None = None, parent: QObject | None = None
    ) -> None:
        """Open or begin a conversation.

        Args:
            session: Provides the model.
            chats: Stores the conversation.
            loaded: The conversation as read from disk; None for a new one.
            parent: The Qt parent.
        """
        super().__init__(parent)
        self._session = session
        self._chats = chats
        self.chat = loaded.number if loaded else None
        self.phase = Phase.IDLE
        row_id = ChatRowId(self.chat)
        self._writer = ChatWriter(chats, row_id, loaded.branch.turns if loaded else (), self)
        self._writer.changed.connect(self.changed)
        self._writer.saved.connect(self._emit_saved)
        self.draft = DraftState(chats, row_id, loaded, self)
        self.branches = ChatBranches(chats, row_id, self._writer, self.draft.edits, lambda: self.busy, self)
        self.branches.read.connect(self._show_read)
        self.branches.branched.connect(self.changed)
        self._requests = RequestBuilder(session, self.draft, chats.images)
        self._request, self._thought_clock = "", ThoughtClock()
        # The length of the last turn before the current request, in characters; 0 unless an answer is continued.
        self._initial_length = 0
        # The answer that is being continued, as it was before.
        self._continued: Turn | None = None
        # The turns in view before a question is edited or answered again; they come back if there is no answer.
        self._replaced: tuple[Turn, ...] = ()
        self._stop_wanted = self.queued = False
        # Whether images are being read, which the engine then gets with the request.
        self._reading = False
        self.pace = AnswerPace(self)
        self.summary = Summary(session, self)
        self.summary.ended.connect(self._finish)
        self.summary.written.connect(self.summarized)
        self.summary.failed.connect(self._report_summary)
        session.request_event.connect(self.receive)
        session.became_ready.connect(self._answer_waiting)
        session.became_absent.connect(self._retract_waiting)
        session.engine_lost.connect(self._fail_lost)

    @property
    def turns(self) -> list[Turn]:
        """The turns in view, oldest first."""
        return self._writer.turns

    @property
    def conversation(self) -> Conversation:
        """The turns as a model receives them."""
        return to_conversation(self.turns)

    @property
    def model(self) -> str:
        """The name of the model that answered last, not counting answers that failed; empty before the first one."""
        answers = (turn for turn in reversed(self.turns) if turn.model and turn.state is not State.FAILED)
        return next((turn.model for turn in answers), "")

    @property
    def busy(self) -> bool:
        """Whether anything is under way."""
        return self.phase is not Phase.IDLE

    @property
    def answering(self) -> bool:
        """Whether the engine is working on an answer."""
        return self.phase in (Phase.PREFILLING, Phase.ANSWERING)

    @property
    def awaiting(self) -> bool:
        """Whether the last turn is a question that has not been sent to the engine yet."""
        return self.phase in (Phase.SAVING, Phase.WAITING_FOR_MODEL)

    @property
    def awaited(self) -> tuple[str, str]:
        """The name of the model that will answer, and the line to show meanwhile."""
        waiting = self._session.loading or self._session.library.searching
        return self._session.model_name, tr("Waiting for the model…") if waiting else tr("Reading prompt…")

    def read_with_draft(self, then: Callable[[tuple[Message, ...]], None]) -> None:
        """Call `then` with the messages as they would be if the draft were sent now; empty if there are none."""
        self._requests.read_with_draft(self.turns, then)

    # The user's actions

    def send(self, text: str) -> bool:
        """Send a question, now or as soon as a model is loaded; return False if the text stays a draft.

        While an answer is under way, the draft stays, and is sent once that answer is complete.
        """
        if not (text.strip() or self.draft.attachments):
            return False
        if self.answering or self.awaiting:
            self._set_queued(True)
            return False
        if self.busy or not self._can_ask():
            return False
        self._ask(text, self.draft.hand_over(text))
        return True

    def edit(self, turn: int, text: str, attachments: tuple[Attachment, ...] | None = None) -> bool:
        """Send a changed question; the old one stays as a version. Return False if that is not possible.

        Args:
            turn: The question.
            text: The new text.
            attachments: Its attachments; None for those that it has.
        """
        index = self._writer.index_of(turn)
        if index is None or self.busy:
            return False
        attachments = self.turns[index].attachments if attachments is None else attachments
        if not (text.strip() or attachments) or not self._can_ask():
            return False
        self._replaced = tuple(self.turns)
        self._show(self.turns[:index])
        self._ask(text, attachments)
        self.draft.edits.set_text(turn, "")
        return True

    def regenerate(self, turn: int) -> None:
        """Have a question answered, or answered again; an existing answer stays as a version.

        Args:
            turn: The question, or one of its answers.
        """
        index = self._writer.index_of(turn)
        if index is None or self.busy:
            return
        end = index + 1 if self.turns[index].role is Role.USER else index
        if end == 0 or self.turns[end - 1].role is not Role.USER or not self._can_ask():
            return
        self._replaced = tuple(self.turns)
        self._show(self.turns[:end])
        self.answer_awaited.emit(*self.awaited)
        self._answer()

    def continue_answer(self, turn: int) -> None:
        """Have the last answer continued, which was cut short."""
        index = self._writer.index_of(turn)
        if index is None or index != len(self.turns) - 1 or not self._session.state.loaded or self.busy:
            return
        if not self._can_ask():
            return
        last = self.turns[-1]
        if self._requests.fills_context(last):
            self.room_wanted.emit()
            return
        self._begin_request()
        self._initial_length, self._thought_clock = len(last.text), ThoughtClock()
        self._continued = last
        self._writer.resume_answer()
        self.answer_resumed.emit(last)
        self._generate(self.turns, self._requests.options_to_continue(last))

    def stop(self) -> None:
        """Stop the answer under way, or the load that it waits for; a queued draft stays a draft."""
        self._set_queued(False)
        if self._reading:
            self._end(State.STOPPED, {})
        elif self.answering:
            self._session.host.send(Cancel(self._request))
        elif self.phase is Phase.SUMMARIZING:
            self.summary.stop()
        elif self.phase is Phase.SAVING:
            self._stop_wanted = True
        else:
            self._session.stop_load()

    def cancel(self) -> None:
        """Stop what is under way for this conversation; a load continues."""
        if self.phase is Phase.WAITING_FOR_MODEL:
            self._retract_waiting()
        elif self.busy:
            self.stop()

    def summarize(self) -> None:
        """Have the model summarise the conversation, so that another one can begin with the summary."""
        if self.conversation.messages and not self.busy and self._session.state.loaded and self._can_ask():
            self._requests.read_messages(self.turns, self._summarize)

    def _summarize(self, messages: tuple[Message, ...]) -> None:
        if not self.busy and self._session.state.loaded:
            self._set_phase(Phase.SUMMARIZING)
            self.summary.begin(messages)

    def leave(self) -> None:
        """Save the draft when the conversation goes out of view; an answer continues, a summary is stopped."""
        self.draft.save()
        self.summary.stop()

    def close(self) -> None:
        """Save everything and stop what is under way."""
        self.leave()
        if self.answering:
            self._session.host.send(Cancel(self._request))
            self._end(State.STOPPED, {})
        self._finish()

    # The engine's events

    @Slot(object)
    def receive(self, event: PrefillProgress | TextChunk | Finished | Failed) -> None:
        """Handle an event of a request."""
        if not self.answering or event.request_id != self._request:
            return
        if isinstance(event, PrefillProgress):
            self.prefilled.emit(event, self._requests.reuse.reason(event.cached))
        elif isinstance(event, TextChunk):
            self.pace.add(len(event.token_ids))
            self._set_phase(Phase.ANSWERING)
            self._grow(event.pieces)
        elif isinstance(event, Finished):
            received = self.turns[-1].text[self._initial_length :]
            whole = markup(event.pieces, begun=self._initial_length > 0)
            if len(whole) > len(received) and whole.startswith(received):
                self._grow(parse_answer(whole[len(received) :]))
            state = State.STOPPED if event.done_reason is DoneReason.CANCELLED else State.COMPLETE
            self._end(state, answer_figures(event, self._requests.reuse.end(event, self.turns[-1].text)))
        else:
            self._fail(event)

    def _grow(self, pieces: tuple[Piece, ...]) -> None:
        if pieces:
            if not self._initial_length:
                self._thought_clock.update(pieces)
            self._writer.append_text(markup(pieces, begun=self._writer.answer_begun))
            self.answer_grew.emit(pieces)

    def _fail(self, event: Failed) -> None:
        before = self._continued
        if before is not None and self.turns[-1].text == before.text:
            # Nothing was added, so the answer stays as it was, with its statistics.
            self._end(before.state, dict(before.figures))
        elif self._writer.answer_begun:
            self._end(State.FAILED, {})
        else:
            self._writer.drop_answer()
            self._retract()
        self.problem.emit(Problem(tr("No answer"), event.message, event.details))

    @Slot(object)
    def _fail_lost(self, event: EngineLost) -> None:
        if self.answering:
            self._fail(Failed(self._request, event.message, bug=True, details=event.details))
        else:
            self._retract_waiting()

    # Questions and answers

    def _can_ask(self) -> bool:
        if (refusal := self._session.refusal) is not None:
            self.problem.emit(refusal)
        return refusal is None

    def _ask(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Save a question as the last turn, then have it answered."""
        self._set_phase(Phase.SAVING)
        self.question_added.emit(self._writer.add_question(text, attachments))
        self.answer_awaited.emit(*self.awaited)
        self._writer.save_question(self._question_saved)

    def _question_saved(self, chat: int | None) -> None:
        """Have the saved question answered; `chat` is None if it could not be saved."""
        if self.phase is Phase.SAVING:
            if chat is not None:
                self.chat = chat
                self.changed.emit()
            self._answer()

    def _answer(self) -> None:
        """Have the last question answered, now or once a model is loaded."""
        if self._stop_wanted:
            self._stop_wanted = False
            self._begin_answer({})
            self._end(State.STOPPED, {})
        elif not self._can_ask():
            self._retract()
        elif self._session.state.loaded:
            self._answer_now()
        else:
            self._set_phase(Phase.WAITING_FOR_MODEL)
            self._session.require()

    @Slot()
    def _answer_waiting(self) -> None:
        if self.phase is not Phase.WAITING_FOR_MODEL:
            return
        if self._can_ask():
            self._answer_now()
        else:
            self._retract_waiting()

    @Slot()
    def _retract_waiting(self) -> None:
        """Retract a question that waits for a model."""
        if self.phase is Phase.WAITING_FOR_MODEL:
            self._retract()

    def _retract(self) -> None:
        """Undo that the last question was asked, edited or asked again, as it will not be answered.

        A question that was new is removed, and becomes a draft again.
        """
        before, self._replaced = self._replaced, ()
        is_new = self.turns[-1].id not in {turn.id for turn in before}
        question = self._writer.retract() if is_new else self.turns[-1]
        self._finish()
        if is_new:
            self.draft.restore_attachments(question.attachments)
            self.retracted.emit(question.text)
        if before:
            self._show(list(before))
            self.branches.show_version(before[-1].id)

    def _answer_now(self) -> None:
        turns, answer_options = list(self.turns), self._requests.answer_options
        self._begin_request()
        self._begin_answer(answer_options.figures)
        self._generate(turns, answer_options)

    def _begin_request(self) -> None:
        self._set_phase(Phase.PREFILLING)
        self.pace.begin()
        self._request = f"answer-{next(_REQUEST_NUMBERS)}"

    def _generate(self, turns: list[Turn], answer_options: AnswerOptions) -> None:
        """Have the engine answer `turns`, once their images are read."""
        request, self._reading = self._request, True

        def send(messages: tuple[Message, ...]) -> None:
            if self._reading and self._request == request:
                self._reading = False
                self._session.generate(self._requests.build(request, messages, answer_options))

        self._session.begin_answer()
        self._requests.read_messages(turns, send)

    def _begin_answer(self, figures: Mapping[str, Any]) -> None:
        """Add an empty answer after the last question."""
        self._initial_length, self._thought_clock, self._continued = 0, ThoughtClock(), None
        record = self._session.state.record
        self._writer.begin_answer(record.name if record else "", figures)
        self.answer_begun.emit(self.turns[-1])

    def _end(self, state: State, figures: dict[str, object]) -> None:
        """End the answer."""
        thoughts = {"thoughts": self._thought_clock.seconds} if self._thought_clock.seconds else {}
        # The format was recorded when the answer began.
        recorded = {name: value for name, value in self.turns[-1].figures.items() if name == "format"}
        turn = self._writer.end_answer(state, {**recorded, **figures, **thoughts})
        if state is not State.FAILED and turn.text and turn.model:
            self._session.record_use(turn.model)
        self._replaced = ()
        self._finish()
        self.answer_ended.emit(turn)
        if self.queued:
            self._set_queued(False)
            if state is State.COMPLETE:
                QTimer.singleShot(0, self, self._send_queued)

    @Slot()
    def _send_queued(self) -> None:
        """Send the draft that waited for the end of an answer."""
        if self.send(self.draft.text):
            self.draft.replaced.emit(self.draft.text)

    def _set_queued(self, queued: bool) -> None:
        if queued != self.queued:
            self.queued = queued
            self.queue_changed.emit(queued)

    @Slot()
    def _finish(self) -> None:
        """Record that nothing is under way any more."""
        self._reading = False
        was_answering = self.answering
        self._set_phase(Phase.IDLE)
        if was_answering:
            self._session.end_answer()

    def _set_phase(self, phase: Phase) -> None:
        if phase is not self.phase:
            self.phase = phase
            self.phase_changed.emit()
            self.branches.catch_up()

    @Slot(str)
    def _report_summary(self, why: str) -> None:
        if why:
            self.problem.emit(Problem(tr("No summary"), why))

    # The turns

    @Slot(object)
    def _show_read(self, turns: tuple[Turn, ...]) -> None:
        """Show a branch that was read from disk."""
        if list(turns) != self.turns:
            self._show(list(turns))
        self.changed.emit()

    def _show(self, turns: list[Turn]) -> None:
        self._writer.set_turns(turns)
        self.branch_changed.emit(tuple(turns))

    @Slot()
    def _emit_saved(self) -> None:
        self.turns_saved.emit(tuple(self.turns))
