"""The editor for a question that was sent before."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.growing_text_edit import GrowingTextEdit
from sotto.ui.toolkit.widgets import Label, TextButton


class QuestionEditor(QFrame):
    """A text field with the question, and buttons to ask again or cancel.

    Signals:
        sent: The user sent this text.
        cancelled: The user cancelled editing.
    """

    sent = Signal(str)
    cancelled = Signal()

    def __init__(self, text: str) -> None:
        """Edit `text`."""
        super().__init__()
        self.setObjectName("composer")
        self.draft = GrowingTextEdit()
        self.draft.setObjectName("edited")
        self.draft.setAccessibleName("Edit message")
        self.draft.setPlainText(text)
        self.draft.moveCursor(self.draft.textCursor().MoveOperation.End)
        self.draft.entered.connect(self._send)
        self.send = TextButton("Send", "primary")
        self.send.clicked.connect(self._send)
        self.cancel = TextButton("Cancel", "quiet")
        self.cancel.clicked.connect(self.cancelled)
        foot = QHBoxLayout()
        foot.addWidget(Label("Previous version is kept", "caption"), 1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.send)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_8 + 2, theme.GAP_8 + 2)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.draft)
        layout.addLayout(foot)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Cancel on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
            return
        super().keyPressEvent(event)

    def _send(self) -> None:
        self.sent.emit(self.draft.toPlainText())
