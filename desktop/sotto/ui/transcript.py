"""The conversation: one column of messages that follows an answer without ever moving against its reader.

Of a long conversation the newest messages are made first, and older ones as the reader comes near them.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sotto.chats.records import Role, Turn
from sotto.ui import theme
from sotto.ui.messages import AnswerMessage, UserMessage
from sotto.ui.parts import IconButton

COLUMN = 720
_BUTTON = 30
# Messages that are made at a time, and how near to the oldest one the reader comes before more of them are.
_AT_ONCE = 12
_NEAR = 400
_SETTLE_MS = 30


class Transcript(QScrollArea):
    """The messages of a chat.

    Signals:
        link_asked: A link in a message was clicked.
        edited: Another question is to be asked in place of the one of this number.
        regenerate_wanted: Another answer is wanted in place of the one of this number.
        more_wanted: The answer of this number is to be gone on with.
        version_wanted: The message of this number is to be in view.
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
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget()
        body.setObjectName("transcriptBody")
        self._column = QWidget()
        self._column.setObjectName("column")
        self._messages = QVBoxLayout(self._column)
        self._messages.setContentsMargins(0, theme.GAP_24, 0, theme.GAP_32)
        self._messages.setSpacing(theme.GAP_24)
        self._messages.addStretch(1)
        self._across = across = QHBoxLayout(body)
        across.addStretch(1)
        across.addWidget(self._column, 1000)
        across.addStretch(1)
        self._body = body
        self.setWidget(body)
        self.following = True
        self._released = False
        self._answer: AnswerMessage | None = None
        self._older: list[Turn] = []
        # What stays where it is while older messages come above it, and how far from its top the view begins.
        self._anchor: tuple[QWidget, int] | None = None
        # The number of a message that is looked for; 0 for none.
        self._wanted, self._selected = 0, ""
        self.newest = IconButton("arrow-down", "Go to the newest text", role="", color="text")
        self.newest.setObjectName("newest")
        self.newest.setParent(self)
        self.newest.clicked.connect(self.go_to_newest)
        self.newest.hide()
        self.verticalScrollBar().rangeChanged.connect(self._grown)
        self.verticalScrollBar().valueChanged.connect(self._place_button)
        self.verticalScrollBar().valueChanged.connect(self._look_for_older)
        self.verticalScrollBar().sliderPressed.connect(self._let_go)
        self.verticalScrollBar().actionTriggered.connect(self._let_go)
        theme.current().changed.connect(self._measure)
        self._measure()
        self._grown()

    @property
    def empty(self) -> bool:
        """Whether there is no message."""
        return self._messages.count() == 1

    @property
    def answer(self) -> AnswerMessage | None:
        """The newest answer."""
        return self._answer

    @property
    def messages(self) -> list[UserMessage | AnswerMessage]:
        """The messages that have been made, oldest first."""
        items = (self._messages.itemAt(place) for place in range(self._messages.count() - 1))
        widgets = (item.widget() for item in items if item is not None)
        return [one for one in widgets if isinstance(one, UserMessage | AnswerMessage)]

    def show_turns(self, turns: Sequence[Turn]) -> None:
        """Show other messages, from the last one up."""
        self.clear()
        self._older = list(turns)
        self._add_older()
        self.go_to_newest()

    def show_numbers(self, turns: Sequence[Turn]) -> None:
        """Let the messages know their numbers and versions, now that they are on the disk."""
        made = self.messages
        self._older = list(turns[: len(turns) - len(made)])
        for message, turn in zip(made, turns[len(self._older) :], strict=True):
            message.show_turn(turn)
        self._let_last_go_on()

    def add_question(self, turn: Turn) -> UserMessage:
        """Show what a person said, and follow what comes."""
        message = self._question(turn)
        self._insert(message)
        self._let_last_go_on()
        self.go_to_newest()
        self._released = False
        return message

    def add_answer(self, model: str) -> AnswerMessage:
        """Show that an answer of `model` is on its way."""
        answer = self._answered(model)
        self._insert(answer)
        self._answer = answer
        self._name_button()
        return answer

    def resume_answer(self, turn: Turn) -> AnswerMessage:
        """Show that more of the last answer is on its way."""
        self.remove_last()
        answer = self.add_answer(turn.model)
        answer.append(turn.text)
        return answer

    def end_answer(self, turn: Turn) -> None:
        """Show that the newest answer is complete."""
        if self._answer is not None:
            self._answer.end(turn)
            self._answer = None
        self._name_button()

    def remove_last(self) -> None:
        """Take the newest message away."""
        item = self._messages.takeAt(self._messages.count() - 2)
        if item is not None and (widget := item.widget()) is not None:
            if widget is self._answer:
                self._answer = None
            widget.hide()
            widget.deleteLater()

    def clear(self) -> None:
        """Begin an empty chat."""
        self._older, self._wanted = [], 0
        self._weigh_anchor()
        while not self.empty:
            self.remove_last()
        self._answer = None
        self.following, self._released = True, False

    def go_to(self, number: int, text: str = "") -> None:
        """Scroll to the message of this number, as soon as it is there, and select `text` in it."""
        self.following = False
        self._wanted, self._selected = number, text
        self._seek()

    def _seek(self) -> None:
        """Look for the wanted message; where it is among the older ones, these are made first."""
        found = next((one for one in self.messages if one.number == self._wanted), None)
        if found is None and any(turn.id == self._wanted for turn in self._older):
            self._set(0)
            self._add_older()
        elif found is not None:
            self._wanted = 0
            # Nothing stays selected where something was found before.
            for message in self.messages:
                message.text.moveCursor(QTextCursor.MoveOperation.Start)
            if self._selected:
                found.text.find(self._selected)
            # Once more when all heights are known.
            for pause in (0, 2 * _SETTLE_MS):
                QTimer.singleShot(pause, found, lambda: self._set(found.y() + self._below(found) - theme.GAP_16))

    def _below(self, message: UserMessage | AnswerMessage) -> int:
        """Return how far below the top of a message its selection is, where that would not be in view otherwise."""
        at = message.text.cursorRect().top() if message.text.textCursor().hasSelection() else 0
        return max(0, at - self.viewport().height() // 2)

    def go_to_newest(self) -> None:
        """Scroll to the end and follow what comes there."""
        self.following = True
        self._to_end()

    def _question(self, turn: Turn) -> UserMessage:
        message = UserMessage(turn)
        message.edited.connect(self.edited)
        message.version_wanted.connect(self.version_wanted)
        return message

    def _answered(self, model: str) -> AnswerMessage:
        answer = AnswerMessage(model)
        answer.text.link_asked.connect(self.link_asked)
        answer.regenerate_wanted.connect(self.regenerate_wanted)
        answer.more_wanted.connect(self.more_wanted)
        answer.version_wanted.connect(self.version_wanted)
        return answer

    def _let_last_go_on(self) -> None:
        """Leave the way to go on to the last message: behind the others something else follows."""
        for message in self.messages[:-1]:
            if isinstance(message, AnswerMessage):
                message.more.hide()

    def _look_for_older(self) -> None:
        if self._older and self.verticalScrollBar().value() < _NEAR:
            # Not from inside a change of the scroll bar's value.
            QTimer.singleShot(0, self, self._add_older)

    def _add_older(self) -> None:
        """Make some more of the older messages, above those that there are; what is in view stays where it is."""
        near = self.empty or self.verticalScrollBar().value() < _NEAR
        if not self._older or not near or self._anchor is not None:
            return
        self._older, turns = self._older[:-_AT_ONCE], self._older[-_AT_ONCE:]
        first = self.messages[0] if not self.empty else None
        before = self.verticalScrollBar().value() - first.y() if first is not None else 0
        for place, turn in enumerate(turns):
            message = self._question(turn) if turn.role is Role.USER else self._answered(turn.model)
            if isinstance(message, AnswerMessage):
                message.show_complete(turn)
            self._messages.insertWidget(place, message)
        self._let_last_go_on()
        if first is not None and not self.following:
            # Layouts are computed later, and in turns; nothing is drawn until what was in view is there again.
            self.viewport().setUpdatesEnabled(False)
            self._anchor = (first, before)
            QTimer.singleShot(_SETTLE_MS, self, self._weigh_anchor)

    def _hold_anchor(self) -> None:
        if self._anchor is not None:
            widget, offset = self._anchor
            self._set(widget.y() + offset)

    def _weigh_anchor(self) -> None:
        self._hold_anchor()
        self._anchor = None
        self.viewport().setUpdatesEnabled(True)
        if self._wanted:
            self._seek()
        else:
            self._look_for_older()

    def _last(self) -> QWidget | None:
        item = self._messages.itemAt(self._messages.count() - 2)
        return item.widget() if item is not None else None

    def _insert(self, widget: QWidget) -> None:
        self._messages.insertWidget(self._messages.count() - 1, widget)

    def _grown(self) -> None:
        """Follow the text, until an answer is taller than the view: then its beginning stays in sight, once."""
        last = self._last()
        outgrown = isinstance(last, AnswerMessage) and last.height() > self.viewport().height() - theme.GAP_32
        if self.following and not self._released and last is not None and outgrown:
            self._released = True
            self.following = False
            self._set(last.y() - theme.GAP_16)
        if self.following:
            self._to_end()
        self._hold_anchor()
        # The column keeps its place when the scroll bar comes and goes.
        bar = self.verticalScrollBar()
        taken = bar.sizeHint().width() if bar.maximum() > 0 else 0
        self._across.setContentsMargins(theme.GAP_32, 0, theme.GAP_32 - taken, 0)
        self._place_button()

    def _to_end(self) -> None:
        self._set(self.verticalScrollBar().maximum())

    def _set(self, value: int) -> None:
        self.verticalScrollBar().setValue(value)

    def _let_go(self) -> None:
        self.following = False

    def _place_button(self) -> None:
        bar = self.verticalScrollBar()
        away = bar.maximum() - bar.value() > theme.GAP_32
        self.newest.setVisible(away and not self.following)
        if away:
            size = self.newest.sizeHint()
            edge = max(size.width(), size.height(), _BUTTON)
            self.newest.setFixedSize(edge, edge)
            x = (self.viewport().width() - self.newest.width()) // 2
            self.newest.move(x, self.viewport().height() - self.newest.height() - theme.GAP_12)
            self.newest.raise_()

    def _name_button(self) -> None:
        coming = ", answer in progress" if self._answer is not None else ""
        self.newest.setAccessibleName(f"Go to the newest text{coming}")

    def _measure(self) -> None:
        self._column.setMaximumWidth(max(COLUMN, theme.current().scaled(COLUMN)))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll, and follow no longer."""
        if event.angleDelta().y() > 0 or event.pixelDelta().y() > 0:
            self._let_go()
        super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by keys, and follow no longer."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_Home):
            self._let_go()
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stay at the end if that is where the reader is."""
        super().resizeEvent(event)
        if self.following:
            self._to_end()
        self._place_button()
