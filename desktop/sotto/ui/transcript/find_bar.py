"""The find bar, which steps through the messages that contain a text."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit

from sotto.chats.chat_records import Turn
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import IconButton, Label


class FindBar(QFrame):
    """A search field with buttons for the previous and next match; hidden until it is opened.

    Signals:
        pointed: The message with this id, which contains this text, should be shown.
        closed: The user closed the bar.
    """

    pointed = Signal(int, str)
    closed = Signal()

    def __init__(self) -> None:
        """Create the bar, hidden and without messages."""
        super().__init__()
        self.setObjectName("find")
        self._turns: Callable[[], Sequence[Turn]] = lambda: ()
        self._current: int | None = None
        self.field = QLineEdit()
        self.field.setObjectName("search")
        self.field.setPlaceholderText("Find in this chat")
        self.field.setAccessibleName("Find in this chat")
        self.field.setAcceptDrops(False)
        self.field.textChanged.connect(self._restart)
        self.field.returnPressed.connect(lambda: self.step(-1))
        self.count = Label("", "caption")
        self.older = IconButton("arrow-up", "Find an older message")
        self.newer = IconButton("arrow-down", "Find a newer message")
        close = IconButton("close", "Close find")
        self.older.clicked.connect(lambda: self.step(-1))
        self.newer.clicked.connect(lambda: self.step(1))
        close.clicked.connect(self.closed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.GAP_24, theme.GAP_8, theme.GAP_16, theme.GAP_8)
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
            self.pointed.emit(self._current, self.field.text())
        self._show(matches)

    def _restart(self) -> None:
        self._current = None
        self.step(-1)

    def _matches(self) -> list[int]:
        text = self.field.text().casefold()
        return [turn.id for turn in self._turns() if text.strip() and text in turn.text.casefold()]

    def _show(self, matches: list[int]) -> None:
        self.older.setEnabled(bool(matches))
        self.newer.setEnabled(bool(matches))
        if not self.field.text().strip():
            self.count.setText("")
        elif not matches:
            self.count.setText("Nothing found")
        else:
            number = matches.index(self._current) + 1 if self._current in matches else len(matches)
            self.count.setText(f"{wording.count(number)} of {wording.count(len(matches))}")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)
