"""The find bar, which steps through the places in a conversation that contain a text."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout

from sotto.chats.chat_records import Turn
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import EscapableLineEdit, IconButton, Label


class _Field(EscapableLineEdit):
    """The search field.

    Signals:
        stepped: Enter was pressed (-1), or Shift+Enter (1).
    """

    stepped = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step on Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.stepped.emit(1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else -1)
            return
        super().keyPressEvent(event)


class FindBar(QFrame):
    """A search field with buttons for the previous and next match; hidden until it is opened.

    Signals:
        sought: All places with this text should be marked; empty for none.
        pointed: A match should be shown: the id of its message, the text, and its index in the message.
        closed: The user closed the bar.
    """

    sought = Signal(str)
    pointed = Signal(int, str, int)
    closed = Signal()

    def __init__(self) -> None:
        """Create the bar, hidden and without messages."""
        super().__init__()
        self.setObjectName("find")
        self._turns: Callable[[], Sequence[Turn]] = lambda: ()
        self._current: tuple[int, int] | None = None
        self.field = _Field(tr("Find in this chat"))
        self.field.setObjectName("search")
        self.field.textChanged.connect(self._restart)
        self.field.stepped.connect(self.step)
        self.field.escaped.connect(self.closed)
        self.count = Label("", "caption")
        self.older = IconButton("arrow-up", tr("Previous match"), tip=tr("Previous match (Enter)"))
        self.newer = IconButton("arrow-down", tr("Next match"), tip=tr("Next match (Shift+Enter)"))
        close = IconButton("close", tr("Close find bar"))
        self.older.clicked.connect(lambda: self.step(-1))
        self.newer.clicked.connect(lambda: self.step(1))
        close.clicked.connect(self.closed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.margins(theme.GAP_24, theme.GAP_8, theme.GAP_16, theme.GAP_8))
        layout.addWidget(self.field, 1)
        for widget in (self.count, self.older, self.newer, close):
            layout.addWidget(widget)
        self.hide()

    def set_source(self, turns: Callable[[], Sequence[Turn]]) -> None:
        """Search the messages that `turns` returns, oldest first."""
        self._turns = turns

    def open(self) -> None:
        """Show the bar, with the caret in it."""
        self.show()
        self.field.selectAll()
        self.field.setFocus()
        self._show(self._matches())

    def step(self, by: int) -> None:
        """Go to the previous (-1) or next (1) match, starting with the newest."""
        matches = self._matches()
        if matches:
            index = matches.index(self._current) + by if self._current in matches else -1
            self._current = matches[index % len(matches)]
            self.pointed.emit(self._current[0], self.field.text(), self._current[1])
        self._show(matches)

    def _restart(self) -> None:
        self._current = None
        self._tell()
        self.step(-1)

    def _tell(self) -> None:
        text = self.field.text()
        self.sought.emit(text if text.strip() and not self.isHidden() else "")

    def _matches(self) -> list[tuple[int, int]]:
        """Return the message and the index in it of each place that contains the text, oldest first."""
        text = self.field.text().casefold()
        if not text.strip():
            return []
        return [(turn.id, index) for turn in self._turns() for index in range(turn.text.casefold().count(text))]

    def _show(self, matches: list[tuple[int, int]]) -> None:
        self.older.setEnabled(bool(matches))
        self.newer.setEnabled(bool(matches))
        if not self.field.text().strip():
            self.count.setText("")
        elif not matches:
            self.count.setText(tr("Nothing found"))
        else:
            number = matches.index(self._current) + 1 if self._current in matches else len(matches)
            place = tr("{number} of {count}")
            self.count.setText(place.format(number=wording.count(number), count=wording.count(len(matches))))

    def showEvent(self, event: QShowEvent) -> None:
        """Mark what was sought before."""
        super().showEvent(event)
        self._tell()

    def hideEvent(self, event: QHideEvent) -> None:
        """Mark nothing any more."""
        super().hideEvent(event)
        self._tell()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)
