"""Messages below each other, of which only those near the view are made.

Each message has a place from the beginning. While it is not made, its place is as tall as it was when it was made last,
or as its text lets guess. So the scroll bar shows all of a conversation, and a long one costs what is seen of it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QEvent, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication, QWidget

from sotto.chats.chat_records import Turn
from sotto.ui.toolkit import theme
from sotto.ui.transcript.message_widgets import AnswerMessage, UserMessage

WIDTH = 720
_ABOVE, _BETWEEN, _BELOW = theme.GAP_24, theme.GAP_24, theme.GAP_32
_FOOT = 32
# A quarter of what a frame may take: what is not in view yet is made in several goes.
_SECONDS = 0.004
# In heights of the view: what is nearer than the first is made, what is farther than the second is made no longer.
_NEAR, _FAR = 1, 4

Message = UserMessage | AnswerMessage


@dataclass(eq=False)
class MessageSlot:
    """Where a message is.

    Attributes:
        turn: The message; None for an answer that is on its way.
        widget: What shows it, if it is made.
        top: In pixels from the top of the column.
        height: In pixels.
    """

    turn: Turn | None
    widget: Message | None = None
    top: int = 0
    height: int = 0

    @property
    def bottom(self) -> int:
        """The first pixel below it."""
        return self.top + self.height


class MessageColumn(QWidget):
    """The places of all messages, from the first to the last.

    Signals:
        loosened: Something in it is of another size now, and `arrange` is due.
    """

    loosened = Signal()

    def __init__(self, make: Callable[[Turn], Message]) -> None:
        """Have no messages; `make` makes what shows one."""
        super().__init__()
        self.setObjectName("transcriptBody")
        self._make = make
        self._arranging = False
        self.places: list[MessageSlot] = []

    @property
    def made(self) -> list[Message]:
        """The messages that are made, in order."""
        return [place.widget for place in self.places if place.widget is not None]

    def fill(self, turns: Sequence[Turn]) -> None:
        """Have these messages in place of all others."""
        while self.places:
            self.remove_last()
        self.places = [MessageSlot(turn, height=_guessed(turn, self._across()[1])) for turn in turns]

    def append(self, widget: Message, turn: Turn | None) -> None:
        """Put a message behind the last one."""
        place = MessageSlot(turn, widget)
        self.places.append(place)
        self._adopt(place)

    def remove_last(self) -> None:
        """Take the last message away."""
        self._drop(self.places.pop())

    def place_at(self, y: int) -> MessageSlot | None:
        """Return the place at a height, or the next one below it; None below the last one."""
        return next((place for place in self.places if place.bottom > y), None)

    def arrange(self) -> None:
        """Put every message where it belongs, and be as tall as all of them."""
        self._arranging = True
        left, width = self._across()
        top = _ABOVE
        for place in self.places:
            place.top = top
            if place.widget is not None:
                place.height = _height(place.widget, width)
                place.widget.setGeometry(left, top, width, place.height)
            top += place.height + _BETWEEN
        self.resize(self.width(), top - _BETWEEN + _BELOW if self.places else 0)
        self._arranging = False

    def make_near(self, top: int, height: int) -> tuple[bool, bool]:
        """Make what is in view from `top`, begin to make what is near, and take away what is far.

        Returns:
            Whether anything was made or taken away, and whether there is more to make.
        """
        ends, changed = time.perf_counter() + _SECONDS, False
        far = [place for place in self.places if not _within(place, top, height, _FAR)]
        for place in far:
            if _may_go(place):
                self._drop(place)
                changed = True
        for reach in (0, _NEAR):
            for place in self.places:
                if place.widget is None and place.turn is not None and _within(place, top, height, reach):
                    if reach and time.perf_counter() > ends:
                        return changed, True
                    place.widget = self._make(place.turn)
                    self._adopt(place)
                    changed = True
        return changed, False

    def event(self, event: QEvent) -> bool:
        """Notice that a message wants another size."""
        if event.type() == QEvent.Type.LayoutRequest:
            if not self._arranging:
                self.loosened.emit()
            return True
        return super().event(event)

    def _adopt(self, place: MessageSlot) -> None:
        widget = place.widget
        assert widget is not None
        left, width = self._across()
        widget.setParent(self)
        widget.setGeometry(left, place.top, width, max(1, place.height))
        widget.show()
        self._arranging = True
        place.height = _height(widget, width)
        self._arranging = False

    def _drop(self, place: MessageSlot) -> None:
        if place.widget is not None:
            place.widget.hide()
            place.widget.deleteLater()
            place.widget = None

    def _across(self) -> tuple[int, int]:
        """Return where messages begin, and how wide they are."""
        width = min(max(WIDTH, theme.current().scaled(WIDTH)), self.width() - 2 * theme.GAP_32)
        return (self.width() - width) // 2, width


def _within(place: MessageSlot, top: int, height: int, reach: float) -> bool:
    """Return whether a place is in view, or no more heights of the view away from it than `reach`."""
    return place.bottom > top - reach * height and place.top < top + (1 + reach) * height


def _may_go(place: MessageSlot) -> bool:
    """Return whether nothing is lost when a message is made anew the next time that it is near."""
    widget, focus = place.widget, QApplication.focusWidget()
    if widget is None or place.turn is None or widget.held:
        return False
    return focus is None or not widget.isAncestorOf(focus)


def _height(widget: Message, width: int) -> int:
    """Return how tall a message is at a width, with all the layouts in it done."""
    if widget.width() != width:
        widget.resize(width, widget.height())
    # Only what is waiting inside the message, from the inside out: the caller may be a layout around the column that is
    # half done, and running it again from within would leave widgets at sizes that no longer hold.
    for inner in (*reversed(widget.findChildren(QWidget)), widget):
        QCoreApplication.sendPostedEvents(inner, QEvent.Type.LayoutRequest)
    return widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()


def _guessed(turn: Turn, width: int) -> int:
    """Return how tall a message may be that was never made."""
    metrics = QFontMetricsF(theme.current().font(1.06))
    lines = turn.text.count("\n") + 1 + len(turn.text) * metrics.averageCharWidth() / max(1, width)
    return round(lines * metrics.lineSpacing() * 1.2) + _FOOT
