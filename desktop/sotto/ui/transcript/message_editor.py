"""The editor for the text of a message."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from sotto.chats.chat_records import Attachment
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.growing_text_edit import GrowingTextEdit
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import Label, TextButton
from sotto.ui.transcript.attachment_chips import AttachmentBar

_ANSWER_LINES = 20


class MessageEditor(QFrame):
    """A text field with the text of a message, its attachments, and buttons to save the change or cancel.

    Attributes:
        attachments: The attachments that are left.

    Signals:
        typed: The user has changed the text.
        done: The user has finished the text.
        cancelled: The user cancelled editing.
    """

    typed = Signal(str)
    done = Signal(str)
    cancelled = Signal()

    def __init__(self, text: str, attachments: Sequence[Attachment] = (), *, sends: bool) -> None:
        """Edit `text`.

        Args:
            text: The text.
            attachments: The attachments, which can be removed.
            sends: Whether it is a question, which Enter sends; the text of an answer is saved by Ctrl+Enter.
        """
        super().__init__()
        self.setObjectName("composer")
        self.attachments = tuple(attachments)
        self.bar = AttachmentBar(divisible=False)
        self.bar.remove_wanted.connect(self._detach)
        self.draft = GrowingTextEdit() if sends else GrowingTextEdit(enter_sends=False, most_lines=_ANSWER_LINES)
        self.draft.setObjectName("edited")
        self.draft.setAccessibleName(tr("Edit message") if sends else tr("Edit answer"))
        self.draft.setPlainText(text)
        self.draft.moveCursor(self.draft.textCursor().MoveOperation.End)
        self.draft.textChanged.connect(lambda: self.typed.emit(self.draft.toPlainText()))
        self.draft.entered.connect(self._finish)
        self.save = TextButton(tr("Send") if sends else tr("Save"), "primary")
        self.save.clicked.connect(self._finish)
        self.cancel = TextButton(tr("Cancel"), "quiet")
        self.cancel.clicked.connect(self.cancelled)
        foot = QHBoxLayout()
        self.note = Label(tr("Previous version is kept"), "caption")
        foot.addWidget(self.note, 1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.save)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.margins(theme.GAP_16, theme.GAP_12, theme.GAP_8 + 2, theme.GAP_8 + 2))
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.bar)
        layout.addWidget(self.draft)
        layout.addLayout(foot)
        # Only now does the bar belong to the editor.
        self.bar.show_attachments(self.attachments)

    def refuse(self) -> None:
        """Say why the text cannot be saved yet."""
        self.note.setText(tr("Wait for the end of the answer"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Cancel on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
            return
        super().keyPressEvent(event)

    def _detach(self, index: int) -> None:
        self.attachments = (*self.attachments[:index], *self.attachments[index + 1 :])
        self.bar.show_attachments(self.attachments)

    def _finish(self) -> None:
        self.done.emit(self.draft.toPlainText())
