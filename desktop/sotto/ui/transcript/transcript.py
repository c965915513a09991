"""The scrollable transcript, which follows an arriving answer but never scrolls against the reader."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QScrollArea

from sotto.chats.chat_records import Role, Turn
from sotto.engine.contract.answer_parts import Piece
from sotto.engine.contract.events import PrefillProgress
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import HoverRefresher
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import popup
from sotto.ui.transcript.answer_message import AnswerMessage
from sotto.ui.transcript.formula_veil import FormulaVeil
from sotto.ui.transcript.jump_to_latest import JumpToLatest
from sotto.ui.transcript.message_column import Message, MessageColumn, MessageSlot
from sotto.ui.transcript.message_menu import MessagePlace, exchange_of, message_menu
from sotto.ui.transcript.message_requests import MessageRequests
from sotto.ui.transcript.quiet_scroll_bar import QuietScrollBar
from sotto.ui.transcript.user_message import UserMessage

_NO_EDITS: Mapping[int, str] = {}


@dataclass(frozen=True, slots=True)
class _Held:
    """A message whose top, or bottom, stays where it is.

    Attributes:
        slot: The message.
        below: Pixels by which the top of the viewport is below the message's top, or bottom.
        by_bottom: Whether its bottom stays where it is.
    """

    slot: MessageSlot
    below: int
    by_bottom: bool = False

    @property
    def scroll(self) -> int:
        """How far to scroll for that, in pixels."""
        return (self.slot.bottom if self.by_bottom else self.slot.top) + self.below


class Transcript(QScrollArea):
    """The messages of a chat.

    Attributes:
        requests: What the user wants to be done with messages.
        follows: Whether answers are followed at all, which the user can choose in the settings.
        following: Whether the view scrolls with new text at the moment.
    """

    def __init__(self, *, quick: bool = False) -> None:
        """Create an empty transcript; that of the quick prompt offers less."""
        super().__init__()
        self.setObjectName("transcript")
        self.setAccessibleName(tr("Conversation"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Its room is always reserved, so that nothing moves when it appears.
        self.setVerticalScrollBar(QuietScrollBar())
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self._quick = quick
        self.requests = MessageRequests(self)
        self.requests.menu_wanted.connect(self._show_menu)
        self._column = MessageColumn(self._make_message)
        self._column.layout_outdated.connect(self._arrange)
        self.setWidget(self._column)
        self.follows = True
        self.following = True
        # Whether following the current answer has ended, because its beginning stays in view.
        self._released = False
        self._arranging = False
        self._answer: AnswerMessage | None = None
        self._edits = _NO_EDITS
        # Marked wherever it is found.
        self._marked = ""
        # Goes on when the event loop is idle: with further widgets near the viewport, or in the size that it now has.
        self._idle_timer = QTimer(self, singleShot=True, interval=0)
        self._idle_timer.timeout.connect(self._arrange)
        self._veil = FormulaVeil(self.viewport(), self._awaits_formulas)
        self._hover = HoverRefresher(self.viewport())
        self.newest = JumpToLatest()
        self.newest.setParent(self)
        self.newest.clicked.connect(self.go_to_newest)
        self.newest.hide()
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_scroll)
        bar.sliderPressed.connect(self.stop_following)
        bar.actionTriggered.connect(self.stop_following)
        theme.current().changed.connect(self._arrange)

    @property
    def empty(self) -> bool:
        """Whether there are no messages."""
        return not self._column.slots

    @property
    def answer(self) -> AnswerMessage | None:
        """The answer that is arriving; None if none is."""
        return self._answer

    @property
    def last_message(self) -> Message | None:
        """The widget of the newest message; None if it has not been created."""
        return None if self.empty else self._column.slots[-1].widget

    @property
    def settled(self) -> bool:
        """Whether all widgets near the viewport have been created."""
        return not self._idle_timer.isActive()

    @property
    def messages(self) -> list[Message]:
        """The widgets that exist, oldest first."""
        return self._column.widgets

    def end_edit(self) -> bool:
        """Cancel the edits that are in view; return whether there were any."""
        in_view = [message for message in self.messages if message.editing and not message.visibleRegion().isEmpty()]
        for message in in_view:
            message.end_edit()
        return bool(in_view)

    def show_turns(self, turns: Sequence[Turn], edits: Mapping[int, str] = _NO_EDITS) -> None:
        """Replace all messages and scroll to the end.

        Args:
            turns: The messages.
            edits: The texts in their open editors, by number, which are followed: whenever the widget of a message is
                created, it has its editor.
        """
        self.clear()
        self._edits = edits
        self._column.fill(turns)
        self.go_to_newest()
        self._veil.lower()

    def change_turns(self, turns: Sequence[Turn]) -> None:
        """Show another branch of the conversation; messages that are on both stay where they are, if possible.

        The buttons of a message whose version changes stay under the pointer.
        """
        bar, column = self.verticalScrollBar(), self._column
        top, bottom = bar.value(), bar.value() + self.viewport().height()
        before = list(column.slots)
        focus = self.window().focusWidget()
        focused = next(
            (message for message in self.messages if focus is not None and message.isAncestorOf(focus)), None
        )
        self._answer = None
        self._update_button()
        column.change(turns)
        pairs = zip(before, column.slots, strict=False)
        changed = next(((old, new) for old, new in pairs if old is not new), None)
        kept = next((slot for slot in before if slot.bottom > top and slot in column.slots), None)
        if not self.following and changed is not None and top < changed[0].bottom <= bottom:
            self._arrange(_Held(changed[1], top - changed[0].bottom, by_bottom=True))
        else:
            self._arrange(_Held(kept, top - kept.top) if kept is not None else None)
        self._dress_all()
        self._veil.lower()
        if focused is not None and focused not in self.messages:
            # The keyboard stays at the switch between versions, or else in the conversation.
            widget = changed[1].widget if changed is not None else None
            if widget is None or not widget.versions.take_focus(focus, focused.versions):
                self.setFocus()

    def update_turns(self, turns: Sequence[Turn]) -> None:
        """Update the ids and versions of all messages after they have been saved."""
        for slot, turn in zip(self._column.slots, turns, strict=True):
            if slot.turn is not None:
                slot.turn = turn
            if slot.widget is not None:
                slot.widget.show_turn(turn)
        self._dress_all()

    def add_question(self, turn: Turn) -> UserMessage:
        """Append a question and follow its answer."""
        message = self._make_question(turn)
        self._column.append(message, turn)
        self._dress_all()
        self.go_to_newest()
        self._released = False
        return message

    def add_answer(self, model: str) -> AnswerMessage:
        """Append an empty answer of `model`."""
        answer = self._make_answer(model)
        self._column.append(answer, None)
        self._answer = answer
        self._update_button()
        self._dress_all()
        self._arrange()
        return answer

    def await_answer(self, model: str, line: str) -> None:
        """Append an empty answer of `model` that shows what it is waiting for, and follow it."""
        self._released = False
        self.following = True
        self.add_answer(model).show_waiting(line)

    def show_prefill(self, progress: PrefillProgress, why: str = "") -> None:
        """Show how much of the prompt has been processed, and why it is processed again, if it is."""
        if self._answer is not None:
            self._answer.show_prefill(progress, why)

    def show_pace(self, tokens: int, rate: float) -> None:
        """Show the number of tokens of the arriving answer, and the approximate rate in tokens per second."""
        if self._answer is not None:
            self._answer.show_pace(tokens, rate)

    def grow_answer(self, pieces: Sequence[Piece]) -> None:
        """Append pieces to the arriving answer."""
        if self._answer is not None:
            self._answer.grow(pieces)

    def begin_answer(self, turn: Turn) -> None:
        """Prepare the arriving answer for its format."""
        if self._answer is not None:
            self._answer.set_format(turn)

    def resume_answer(self, turn: Turn) -> AnswerMessage:
        """Continue the last answer."""
        self.remove_last()
        answer = self.add_answer(turn.model)
        answer.set_format(turn)
        answer.resume(turn.text)
        return answer

    def end_answer(self, turn: Turn) -> None:
        """Complete the arriving answer."""
        if self._answer is not None:
            self._answer.end(turn)
            self._answer = None
            self._column.slots[-1].turn = turn
        self._update_button()

    def retract(self) -> None:
        """Remove the last question and its answer."""
        self.remove_last()
        self.remove_last()

    def remove_last(self) -> None:
        """Remove the last message."""
        if not self.empty:
            if self._column.slots[-1].widget is self._answer:
                self._answer = None
            self._column.remove_last()
            self._update_button()
            self._arrange()

    def clear(self) -> None:
        """Remove all messages."""
        self._answer = None
        self._update_button()
        self._column.fill(())
        self.following, self._released = True, False
        self._arrange()

    def reading_position(self) -> tuple[int, int]:
        """Return the id of the message at the top of the viewport, and the pixels above it; zeros at the end."""
        bar = self.verticalScrollBar()
        top = bar.value() + theme.GAP_16
        slot = None if self.following or bar.maximum() - bar.value() <= theme.GAP_32 else self._column.slot_at(top)
        return (slot.turn.id, top - slot.top) if slot is not None and slot.turn is not None else (0, 0)

    def go_to(self, turn_id: int, text: str = "", index: int = 0, *, offset: int = 0) -> None:
        """Scroll to a message, if it exists.

        Args:
            turn_id: Id of the message.
            text: Text in it to select and scroll to; empty for none.
            index: Which of the places that contain the text to select; the last one if there are fewer.
            offset: Pixels below the top of the message; ignored if there is a text.
        """
        slots = (slot for slot in self._column.slots if slot.turn is not None and slot.turn.id == turn_id)
        slot = next(slots, None)
        if slot is None:
            return
        self.following = False
        self.clear_selection()
        # Scrolling there creates the widget.
        self._scroll_to(slot.top)
        if slot.widget is not None:
            if text and isinstance(slot.widget, UserMessage):
                reveal = slot.widget.text.reveal
                if reveal(text, index, lambda: self.go_to(turn_id, text, index)):
                    # The end of a long question is shown only now that it is needed.
                    return
            if text:
                places = [(widget, place) for widget in slot.widget.texts for place in widget.places(text)]
                if places:
                    widget, place = places[min(index, len(places) - 1)]
                    widget.setTextCursor(place)
                offset = self._selection_offset(slot.widget)
            self._scroll_to(slot.top + offset - theme.GAP_16)

    def mark(self, text: str) -> None:
        """Mark every place in the messages that contains a text; none if it is empty."""
        self._marked = text
        self._mark_messages()

    def _mark_messages(self) -> None:
        for widget in (widget for message in self.messages for widget in message.texts):
            widget.mark(self._marked)

    def clear_selection(self) -> None:
        """Select nothing in any message."""
        for widget in (widget for message in self.messages for widget in message.texts):
            widget.moveCursor(QTextCursor.MoveOperation.Start)

    def _selection_offset(self, message: Message) -> int:
        """Return how far to scroll below the top of a message so that its selection is in view, in pixels."""
        selected = next((widget for widget in message.texts if widget.textCursor().hasSelection()), None)
        y = selected.mapTo(message, selected.cursorRect().topLeft()).y() if selected is not None else 0
        return max(0, y - self.viewport().height() // 2)

    def go_to_newest(self) -> None:
        """Scroll to the end and follow new text."""
        self.following = True
        self._arrange()

    def stop_following(self) -> None:
        """Keep the scroll position when new text arrives."""
        self.following = False

    def _make_message(self, turn: Turn) -> Message:
        if turn.role is Role.USER:
            message: Message = self._make_question(turn)
        else:
            message = self._make_answer(turn.model)
            message.show_complete(turn)
        self._dress(message, is_last=turn is self._column.slots[-1].turn)
        if edit := self._edits.get(turn.id):
            message.show_edit(edit)
        return message

    def _make_question(self, turn: Turn) -> UserMessage:
        return UserMessage(turn, self.requests)

    def _make_answer(self, model: str) -> AnswerMessage:
        answer = AnswerMessage(model, self.requests)
        answer.offer_models(not self._quick)
        return answer

    def _dress(self, message: Message, *, is_last: bool) -> None:
        """Show the buttons that depend on whether a message is the last one."""
        if isinstance(message, UserMessage):
            message.show_unanswered(is_last)
        else:
            message.actions_shown.show_always(is_last)
            if not is_last:
                message.more.hide()

    def _dress_all(self) -> None:
        last = self.last_message
        for message in self.messages:
            self._dress(message, is_last=message is last)

    @Slot(object, QPoint)
    def _show_menu(self, message: Message, at: QPoint) -> None:
        exchange = exchange_of([slot.turn for slot in self._column.slots if slot.turn is not None], message.turn_id)
        menu = message_menu(message, MessagePlace(not self.requests.busy, exchange, self._quick), at)
        message.actions_shown.show_during(menu)
        popup(menu, at)

    def _on_scroll(self) -> None:
        if not self._arranging:
            self._arrange()

    def _arrange(self, held: _Held | None = None, *, passing: bool = False) -> None:
        """Create widgets near the viewport and position all messages, without moving what the reader looks at.

        An answer is followed until it is taller than the viewport; then its beginning stays in view.

        Args:
            held: What stays where it is; None for the message at the top of the viewport.
            passing: Whether the viewport may be about to change again, so that following must not end because of it.
        """
        if self._arranging:
            return
        self._arranging = True
        bar, column = self.verticalScrollBar(), self._column
        if held is None and (top := column.slot_at(bar.value())) is not None:
            held = _Held(top, bar.value() - top.top)
        column.gutter = bar.sizeHint().width()
        column.resize(self.viewport().width(), column.height())
        more = changed = True
        while changed:
            column.arrange()
            if self.following:
                self._follow(passing)
            elif held is not None:
                self._scroll_to(held.scroll)
            changed, more = column.update_widgets(bar.value(), self.viewport().height())
        self._arranging = False
        if more or passing:
            self._idle_timer.start()
        self._place_headers()
        self._mark_messages()
        self._place_button()
        self._hover.note_movement()

    def _awaits_formulas(self) -> bool:
        """Return whether a text in a message still waits for pictures of its formulas."""
        return any(text.awaits_formulas for message in self.messages for text in message.texts)

    def _place_headers(self) -> None:
        """Let answers know that another part of them may be in view, so that they place their code headers."""
        for message in self.messages:
            if isinstance(message, AnswerMessage):
                message.body.place()

    def _follow(self, passing: bool) -> None:
        last = self.last_message
        outgrown = isinstance(last, AnswerMessage) and last.height() > self.viewport().height() - theme.GAP_32
        if not self._released and last is not None and outgrown and not passing:
            self._released = True
            self.following = False
            self._scroll_to(last.y() - theme.GAP_16)
        elif not self.follows and not self._released and self._answer is not None and self._answer.body.markdown:
            self._released = True
            self.following = False
        else:
            self._scroll_to(self.verticalScrollBar().maximum())

    def _scroll_to(self, value: int) -> None:
        self.verticalScrollBar().setValue(value)

    def _place_button(self) -> None:
        bar = self.verticalScrollBar()
        away = bar.maximum() - bar.value() > theme.GAP_32
        self.newest.setVisible(away and not self.following)
        if away:
            self.newest.place(self.viewport().size())

    def _update_button(self) -> None:
        self.requests.busy = self._answer is not None
        self.newest.show_arriving(self.requests.busy)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Stop following when the user scrolls up."""
        if event.angleDelta().y() > 0 or event.pixelDelta().y() > 0:
            self.stop_following()
        super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Stop following when the user scrolls up by keys."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_Home):
            self.stop_following()
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the reader's place when the view is resized."""
        super().resizeEvent(event)
        # While everything around it finds its size, the view can be far too small for a moment.
        self._arrange(passing=True)
