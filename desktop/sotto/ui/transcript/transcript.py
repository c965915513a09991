"""The conversation: one column of messages that follows an answer without ever moving against its reader."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QScrollArea

from sotto.chats.chat_records import Role, Turn
from sotto.engine.contract.answer_parts import Piece
from sotto.engine.contract.events import PrefillProgress
from sotto.ui.toolkit import theme
from sotto.ui.transcript.jump_to_latest import JumpToLatest
from sotto.ui.transcript.message_column import Message, MessageColumn
from sotto.ui.transcript.message_widgets import AnswerMessage, UserMessage


class Transcript(QScrollArea):
    """The messages of a chat.

    Signals:
        link_asked: A link in a message was clicked.
        edited: The person asks something else in place of the question of this number.
        regenerate_wanted: Another answer is wanted in place of the one of this number.
        more_wanted: The person wants the answer of this number to go on.
        version_wanted: The person wants to see the message of this number.

    Attributes:
        follows: Whether the reader wants answers to be followed at all.
        following: Whether the view goes along with what comes now.
    """

    link_asked = Signal(str)
    edited = Signal(int, str)
    regenerate_wanted = Signal(int)
    more_wanted = Signal(int)
    version_wanted = Signal(int)

    def __init__(self) -> None:
        """Show an empty chat."""
        super().__init__()
        self.setObjectName("transcript")
        self.setAccessibleName("Conversation")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._column = MessageColumn(self._made)
        self._column.loosened.connect(self._arrange)
        self.setWidget(self._column)
        self.follows = True
        self.following = True
        self._released = False
        self._arranging = False
        self._answer: AnswerMessage | None = None
        # Makes more of what is near as soon as there is nothing else to do.
        self._maker = QTimer(self, singleShot=True, interval=0)
        self._maker.timeout.connect(self._arrange)
        self.newest = JumpToLatest()
        self.newest.setParent(self)
        self.newest.clicked.connect(self.go_to_newest)
        self.newest.hide()
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._scrolled)
        bar.sliderPressed.connect(self.stop_following)
        bar.actionTriggered.connect(self.stop_following)
        theme.current().changed.connect(self._arrange)

    @property
    def empty(self) -> bool:
        """Whether there is no message."""
        return not self._column.places

    @property
    def answer(self) -> AnswerMessage | None:
        """The newest answer."""
        return self._answer

    @property
    def last_message(self) -> Message | None:
        """The newest message, as far as it is made."""
        return None if self.empty else self._column.places[-1].widget

    @property
    def settled(self) -> bool:
        """Whether all that is near the view is made."""
        return not self._maker.isActive()

    @property
    def messages(self) -> list[Message]:
        """The messages that are made, oldest first."""
        return self._column.made

    def end_edit(self) -> bool:
        """Leave the questions as they were that are being edited; return whether there were any."""
        edited = [one for one in self.messages if isinstance(one, UserMessage) and one.editing]
        for one in edited:
            one.end_edit()
        return bool(edited)

    def show_turns(self, turns: Sequence[Turn]) -> None:
        """Show other messages, and of them the last."""
        self.clear()
        self._column.fill(turns)
        self.go_to_newest()

    def show_numbers(self, turns: Sequence[Turn]) -> None:
        """Let the messages know their numbers and versions, now that they are on the disk."""
        for place, turn in zip(self._column.places, turns, strict=True):
            if place.turn is not None:
                place.turn = turn
            if place.widget is not None:
                place.widget.show_turn(turn)
        self._let_last_go_on()

    def add_question(self, turn: Turn) -> UserMessage:
        """Show what a person said, and follow what comes."""
        message = self._question(turn)
        self._column.append(message, turn)
        self._let_last_go_on()
        self.go_to_newest()
        self._released = False
        return message

    def add_answer(self, model: str) -> AnswerMessage:
        """Show that an answer of `model` is on its way."""
        answer = self._answered(model)
        self._column.append(answer, None)
        self._answer = answer
        self._name_button()
        self._arrange()
        return answer

    def await_answer(self, model: str, line: str) -> None:
        """Show that an answer of `model` is on its way, and what it waits for."""
        self.add_answer(model).show_waiting(line)

    def show_prefill(self, progress: PrefillProgress, why: str = "") -> None:
        """Show how much of the prompt has been read, and why it is read anew where it is."""
        if self._answer is not None:
            self._answer.show_prefill(progress, why)

    def show_pace(self, tokens: int, rate: float) -> None:
        """Show how far the newest answer has come, and about how fast."""
        if self._answer is not None:
            self._answer.show_pace(tokens, rate)

    def grow_answer(self, pieces: Sequence[Piece]) -> None:
        """Show what has just come of the newest answer."""
        if self._answer is not None:
            self._answer.grow(pieces)

    def begin_answer(self, turn: Turn) -> None:
        """Show the newest answer as what it is held to."""
        if self._answer is not None:
            self._answer.hold(turn)

    def resume_answer(self, turn: Turn) -> AnswerMessage:
        """Show that more of the last answer is on its way."""
        self.remove_last()
        answer = self.add_answer(turn.model)
        answer.hold(turn)
        answer.resume(turn.text)
        return answer

    def end_answer(self, turn: Turn) -> None:
        """Show that the newest answer is complete."""
        if self._answer is not None:
            self._answer.end(turn)
            self._answer = None
            self._column.places[-1].turn = turn
        self._name_button()

    def retract(self) -> None:
        """Take the last question and its answer away."""
        self.remove_last()
        self.remove_last()

    def remove_last(self) -> None:
        """Take the newest message away."""
        if not self.empty:
            if self._column.places[-1].widget is self._answer:
                self._answer = None
            self._column.remove_last()
            self._name_button()
            self._arrange()

    def clear(self) -> None:
        """Begin an empty chat."""
        self._answer = None
        self._name_button()
        self._column.fill(())
        self.following, self._released = True, False
        self._arrange()

    def reading(self) -> tuple[int, int]:
        """Return which message is at the top of the view and how far below its top that is; zeros at the end."""
        bar = self.verticalScrollBar()
        top = bar.value() + theme.GAP_16
        place = None if self.following or bar.maximum() - bar.value() <= theme.GAP_32 else self._column.place_at(top)
        return (place.turn.id, top - place.top) if place is not None and place.turn is not None else (0, 0)

    def go_to(self, number: int, text: str = "", below: int = 0) -> None:
        """Scroll to the message of this number, if it is there, or so far below its top; select `text` in it."""
        place = next((one for one in self._column.places if one.turn is not None and one.turn.id == number), None)
        if place is None:
            return
        self.following = False
        # Nothing stays selected where something was found before.
        for shown in (shown for message in self.messages for shown in message.texts):
            shown.moveCursor(QTextCursor.MoveOperation.Start)
        # What comes into view is made.
        self._set(place.top)
        if place.widget is not None:
            if text:
                next((shown for shown in place.widget.texts if shown.find(text)), None)
                below = self._below(place.widget)
            self._set(place.top + below - theme.GAP_16)

    def _below(self, message: Message) -> int:
        """Return how far below the top of a message its selection is, where that would not be in view otherwise."""
        chosen = next((text for text in message.texts if text.textCursor().hasSelection()), None)
        at = chosen.mapTo(message, chosen.cursorRect().topLeft()).y() if chosen is not None else 0
        return max(0, at - self.viewport().height() // 2)

    def go_to_newest(self) -> None:
        """Scroll to the end and follow what comes there."""
        self.following = True
        self._arrange()

    def stop_following(self) -> None:
        """Stay where the view is, whatever comes at the end."""
        self.following = False

    def _made(self, turn: Turn) -> Message:
        if turn.role is Role.USER:
            return self._question(turn)
        answer = self._answered(turn.model)
        answer.show_complete(turn)
        last = self._column.places[-1].turn
        if last is not None and last is not turn:
            answer.more.hide()
        return answer

    def _question(self, turn: Turn) -> UserMessage:
        message = UserMessage(turn)
        message.edited.connect(self.edited)
        message.version_wanted.connect(self.version_wanted)
        return message

    def _answered(self, model: str) -> AnswerMessage:
        answer = AnswerMessage(model)
        answer.link_asked.connect(self.link_asked)
        answer.regenerate_wanted.connect(self.regenerate_wanted)
        answer.more_wanted.connect(self.more_wanted)
        answer.version_wanted.connect(self.version_wanted)
        return answer

    def _let_last_go_on(self) -> None:
        """Leave the way to go on to the last message: behind the others something else follows."""
        for message in self.messages[:-1]:
            if isinstance(message, AnswerMessage):
                message.more.hide()

    def _scrolled(self) -> None:
        if not self._arranging:
            self._arrange()

    def _arrange(self) -> None:
        """Make what is near, and put all in its place; what the reader looks at stays where it is.

        An answer is followed until it is taller than the view: then its beginning stays in sight, once.
        """
        if self._arranging:
            return
        self._arranging = True
        bar, column = self.verticalScrollBar(), self._column
        held = None if self.following else column.place_at(bar.value())
        offset = bar.value() - held.top if held is not None else 0
        column.resize(self.viewport().width(), column.height())
        more = changed = True
        while changed:
            column.arrange()
            if self.following:
                self._follow()
            elif held is not None:
                self._set(held.top + offset)
            changed, more = column.make_near(bar.value(), self.viewport().height())
        self._arranging = False
        if more:
            self._maker.start()
        self._place_headers()
        self._place_button()

    def _place_headers(self) -> None:
        """Let answers know that another part of them may be in view."""
        for message in self.messages:
            if isinstance(message, AnswerMessage):
                message.body.place()

    def _follow(self) -> None:
        last = self.last_message
        outgrown = isinstance(last, AnswerMessage) and last.height() > self.viewport().height() - theme.GAP_32
        if not self._released and last is not None and outgrown:
            self._released = True
            self.following = False
            self._set(last.y() - theme.GAP_16)
        elif not self.follows and not self._released and self._answer is not None and self._answer.body.markdown:
            self._released = True
            self.following = False
        else:
            self._set(self.verticalScrollBar().maximum())

    def _set(self, value: int) -> None:
        self.verticalScrollBar().setValue(value)

    def _place_button(self) -> None:
        bar = self.verticalScrollBar()
        away = bar.maximum() - bar.value() > theme.GAP_32
        self.newest.setVisible(away and not self.following)
        if away:
            self.newest.place(self.viewport().size())

    def _name_button(self) -> None:
        self.newest.show_coming(self._answer is not None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll, and follow no longer."""
        if event.angleDelta().y() > 0 or event.pixelDelta().y() > 0:
            self.stop_following()
        super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by keys, and follow no longer."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_Home):
            self.stop_following()
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep in view what the reader looks at."""
        super().resizeEvent(event)
        self._arrange()
