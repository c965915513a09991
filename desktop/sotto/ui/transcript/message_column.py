"""A virtualised column of messages: only those near the viewport have widgets.

Every message has a slot. Without a widget, the slot keeps the height that its last widget had, or one estimated from
the text. So the scroll bar represents the whole conversation, and a long one costs no more than its visible part.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QEvent, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication, QWidget

from sotto.chats.chat_records import Role, Turn
from sotto.ui.toolkit import theme
from sotto.ui.transcript.answer_message import AnswerMessage
from sotto.ui.transcript.user_message import UserMessage

_WIDTH = 736
MARGIN = theme.GAP_24
"""Least distance in pixels of the column from the sides of the chat."""
_ABOVE, _BETWEEN, _BELOW = theme.GAP_24, theme.GAP_24, theme.GAP_32
# Estimated height of the buttons below a message.
_FOOTER_HEIGHT = 32
# Time for creating widgets outside the viewport in one go: a quarter of a frame.
_BUDGET_SECONDS = 0.004
# Distances from the viewport, in its heights, within which widgets are created, and beyond which they are removed.
_NEAR, _FAR = 1, 4

# How much of a question is certainly shown, in characters.
_SHOWN = 2000

Message = UserMessage | AnswerMessage


def column_width() -> int:
    """Return the greatest width of messages, and of everything else that is in line with them, in pixels."""
    return max(_WIDTH, theme.current().scaled(_WIDTH))


@dataclass(eq=False)
class MessageSlot:
    """The space of one message in the column.

    Attributes:
        turn: The message; None for an answer that is arriving.
        widget: The widget of the message; None if it has not been created.
        top: Distance from the top of the column, in pixels.
        height: Height in pixels.
    """

    turn: Turn | None
    widget: Message | None = None
    top: int = 0
    height: int = 0

    @property
    def bottom(self) -> int:
        """The first pixel below the slot."""
        return self.top + self.height


class MessageColumn(QWidget):
    """The slots of all messages, in order.

    Signals:
        layout_outdated: A message needs another size, so `arrange` must be called.

    Attributes:
        slots: The space of each message, in order.
        gutter: Width of the scroll bar beside the column, in pixels: messages are centred as if it were not there.
    """

    layout_outdated = Signal()

    def __init__(self, make_widget: Callable[[Turn], Message]) -> None:
        """Create an empty column; `make_widget` creates the widget of a message."""
        super().__init__()
        self.setObjectName("transcriptBody")
        self._make_widget = make_widget
        self._arranging = False
        self.slots: list[MessageSlot] = []
        self.gutter = 0

    @property
    def widgets(self) -> list[Message]:
        """The widgets that exist, in order."""
        return [slot.widget for slot in self.slots if slot.widget is not None]

    def fill(self, turns: Sequence[Turn]) -> None:
        """Replace all messages."""
        while self.slots:
            self.remove_last()
        self.slots = [MessageSlot(turn, height=_estimate_height(turn, self._horizontal_extent()[1])) for turn in turns]

    def change(self, turns: Sequence[Turn]) -> None:
        """Replace the messages by those of another branch; the slots of messages that are on both are kept."""
        known = {slot.turn.id: slot for slot in self.slots if slot.turn is not None}
        before, width = self.slots, self._horizontal_extent()[1]
        self.slots = []
        for turn in turns:
            slot = known.get(turn.id)
            if slot is None or slot.turn is None or (slot.turn.text, slot.turn.state) != (turn.text, turn.state):
                slot = MessageSlot(turn, height=_estimate_height(turn, width))
            slot.turn = turn
            if slot.widget is not None:
                slot.widget.show_turn(turn)
            self.slots.append(slot)
        for slot in before:
            if slot not in self.slots:
                self._remove_widget(slot)

    def append(self, widget: Message, turn: Turn | None) -> None:
        """Append a message with its widget."""
        slot = MessageSlot(turn, widget)
        self.slots.append(slot)
        self._adopt(slot)

    def remove_last(self) -> None:
        """Remove the last message."""
        self._remove_widget(self.slots.pop())

    def slot_at(self, y: int) -> MessageSlot | None:
        """Return the slot at `y` pixels from the top, or the next one below; None below the last one."""
        return next((slot for slot in self.slots if slot.bottom > y), None)

    def arrange(self) -> None:
        """Position all messages and adjust the height of the column."""
        self._arranging = True
        left, width = self._horizontal_extent()
        top = _ABOVE
        for slot in self.slots:
            slot.top = top
            if slot.widget is not None:
                slot.height = _measure_height(slot.widget, width)
                slot.widget.setGeometry(left, top, width, slot.height)
            top += slot.height + _BETWEEN
        self.resize(self.width(), top - _BETWEEN + _BELOW if self.slots else 0)
        self._arranging = False

    def update_widgets(self, top: int, height: int) -> tuple[bool, bool]:
        """Create widgets in the viewport and, as far as time allows, near it; remove those far from it.

        Args:
            top: Top of the viewport, in pixels from the top of the column.
            height: Height of the viewport in pixels.

        Returns:
            Whether any widget was created or removed, and whether more have to be created.
        """
        deadline, changed = time.perf_counter() + _BUDGET_SECONDS, False
        far = [slot for slot in self.slots if not _within(slot, top, height, _FAR)]
        for slot in far:
            if _is_removable(slot):
                self._remove_widget(slot)
                changed = True
        for distance in (0, _NEAR):
            for slot in self.slots:
                if slot.widget is None and slot.turn is not None and _within(slot, top, height, distance):
                    if distance and time.perf_counter() > deadline:
                        return changed, True
                    slot.widget = self._make_widget(slot.turn)
                    self._adopt(slot)
                    changed = True
        return changed, False

    def event(self, event: QEvent) -> bool:
        """Report that a message needs another size."""
        if event.type() == QEvent.Type.LayoutRequest:
            if not self._arranging:
                self.layout_outdated.emit()
            return True
        return super().event(event)

    def _adopt(self, slot: MessageSlot) -> None:
        widget = slot.widget
        assert widget is not None
        left, width = self._horizontal_extent()
        widget.setParent(self)
        widget.setGeometry(left, slot.top, width, max(1, slot.height))
        widget.show()
        self._arranging = True
        slot.height = _measure_height(widget, width)
        self._arranging = False

    def _remove_widget(self, slot: MessageSlot) -> None:
        if slot.widget is not None:
            slot.widget.hide()
            slot.widget.deleteLater()
            slot.widget = None

    def _horizontal_extent(self) -> tuple[int, int]:
        """Return the left edge and the width of messages, in pixels."""
        room = self.width() + self.gutter
        width = min(column_width(), room - 2 * MARGIN)
        return (room - width) // 2 - (self.gutter if self.isRightToLeft() else 0), width


def _within(slot: MessageSlot, top: int, height: int, distance: float) -> bool:
    """Return whether a slot is in the viewport or near it.

    Args:
        slot: The slot.
        top: Top of the viewport, in pixels from the top of the column.
        height: Height of the viewport in pixels.
        distance: Largest distance from the viewport, in its heights.
    """
    return slot.bottom > top - distance * height and slot.top < top + (1 + distance) * height


def _is_removable(slot: MessageSlot) -> bool:
    """Return whether the widget of a message can be recreated later without losing anything."""
    widget, focus = slot.widget, QApplication.focusWidget()
    if widget is None or slot.turn is None or widget.has_view_state:
        return False
    return focus is None or not widget.isAncestorOf(focus)


def _measure_height(widget: Message, width: int) -> int:
    """Return the height of a message at a width, after completing all its pending layouts."""
    if widget.width() != width:
        widget.resize(width, widget.height())
    # Only what is waiting inside the message, from the inside out: the caller may be a layout around the column that is
    # half done, and running it again from within would leave widgets at sizes that no longer hold.
    for inner in (*reversed(widget.findChildren(QWidget)), widget):
        QCoreApplication.sendPostedEvents(inner, QEvent.Type.LayoutRequest)
    return widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()


def _estimate_height(turn: Turn, width: int) -> int:
    """Return the estimated height of a message that has never had a widget."""
    metrics = QFontMetricsF(theme.current().font(1.06))
    text = turn.text[:_SHOWN] if turn.role is Role.USER else turn.text
    lines = text.count("\n") + 1 + len(text) * metrics.averageCharWidth() / max(1, width)
    return round(lines * metrics.lineSpacing() * 1.2) + _FOOTER_HEIGHT
