"""Find in the conversation: one message after the other that has the words."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit

from sotto.chats.chat_records import Turn
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import IconButton, Label


class FindBar(QFrame):
    """A line to type into, and the way from one message to the next; hidden until it is wanted.

    Signals:
        pointed: The message of this number has this text.
        closed: The bar is to go away.
    """

    pointed = Signal(int, str)
    closed = Signal()

    def __init__(self) -> None:
        """Look into no conversation yet."""
        super().__init__()
        self.setObjectName("find")
        self._turns: Callable[[], Sequence[Turn]] = lambda: ()
        self._at: int | None = None
        self.field = QLineEdit()
        self.field.setObjectName("search")
        self.field.setPlaceholderText("Find in this chat")
        self.field.setAccessibleName("Find in this chat")
        self.field.setAcceptDrops(False)
        self.field.textChanged.connect(self._begin)
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

    def look_into(self, turns: Callable[[], Sequence[Turn]]) -> None:
        """Look into what `turns` returns, oldest first."""
        self._turns = turns

    def open(self) -> None:
        """Show the bar, with the caret in it."""
        self.show()
        self.field.selectAll()
        self.field.setFocus()
        self._show(self._found())

    def step(self, by: int) -> None:
        """Point at the message before (-1) or behind (1) the one that was pointed at last; from the newest on."""
        found = self._found()
        if found:
            place = found.index(self._at) + by if self._at in found else -1
            self._at = found[place % len(found)]
            self.pointed.emit(self._at, self.field.text())
        self._show(found)

    def _begin(self) -> None:
        self._at = None
        self.step(-1)

    def _found(self) -> list[int]:
        text = self.field.text().casefold()
        return [turn.id for turn in self._turns() if text.strip() and text in turn.text.casefold()]

    def _show(self, found: list[int]) -> None:
        several = bool(found)
        self.older.setEnabled(several)
        self.newer.setEnabled(several)
        if not self.field.text().strip():
            self.count.setText("")
        elif not found:
            self.count.setText("Nothing found")
        else:
            place = found.index(self._at) + 1 if self._at in found else len(found)
            self.count.setText(f"{wording.count(place)} of {wording.count(len(found))}")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go away with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)
