"""The field that messages are written in."""

import time

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import line_height

_MOST_LINES = 8
# Some systems deliver the Enter that chose a word in an input method once more, right behind the word.
_GUARD_SECONDS = 0.01
_ENDLESS = 2000


class GrowingTextEdit(QPlainTextEdit):
    """The text field: Enter sends, Shift+Enter begins a new line.

    Signals:
        entered: The person wants to send.
        files_pasted: Something that is no text was pasted (`QMimeData`).
        focus_changed: The caret came or went.

    Attributes:
        takes_files: Whether files and pictures are handed over when they are pasted; they are text otherwise.
    """

    entered = Signal()
    files_pasted = Signal(object)
    focus_changed = Signal(bool)

    def __init__(self) -> None:
        """Begin with nothing written."""
        super().__init__()
        self.setObjectName("draft")
        self.setAccessibleName("Message")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setAcceptDrops(False)
        self.viewport().setAcceptDrops(False)
        self.document().setDocumentMargin(2)
        self.takes_files = False
        self._composing = False
        self._chosen = 0.0
        self.textChanged.connect(self.fit)
        theme.current().changed.connect(self.fit)
        self.fit()

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing but blanks. Of a long text only as much is read as is needed."""
        block = self.document().firstBlock()
        while block.isValid():
            if block.text().strip():
                return False
            block = block.next()
        return True

    def fit(self) -> None:
        """Take as many lines as are written, up to eight."""
        self.ensurePolished()
        lines = min(_MOST_LINES, max(1, round(self.document().size().height())))
        self.setFixedHeight(lines * line_height(self) + 2 * 2 + 2)

    def setPlainText(self, text: str) -> None:
        """Show another text."""
        self._wrap(text, alone=True)
        super().setPlainText(text)

    def _wrap(self, more: str, *, alone: bool) -> None:
        """Break lines as the text to come asks for, before it is laid out.

        To look for the ends of words in a word that goes on and on takes seconds.
        """
        endless = len(more) > _ENDLESS and max(map(len, more.split()), default=0) > _ENDLESS
        mode = QTextOption.WrapMode.WrapAnywhere if endless else QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
        if (alone or endless or self.document().isEmpty()) and mode is not self.wordWrapMode():
            self.setWordWrapMode(mode)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send with Enter, unless an input method is or was just at work, or Shift is held."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not self._composing and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            if time.monotonic() - self._chosen > _GUARD_SECONDS:
                self.entered.emit()
            return
        super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Note whether an input method has text that is not chosen yet, and when it was chosen."""
        self._composing = bool(event.preeditString())
        if event.commitString():
            self._chosen = time.monotonic()
        super().inputMethodEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take files and pictures too: they go along with the message, or a sentence says why not."""
        return (self.takes_files and _is_given(source)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert text; hand over what is none."""
        if self.takes_files and _is_given(source):
            self.files_pasted.emit(source)
        else:
            self._wrap(source.text(), alone=False)
            super().insertFromMimeData(source)

    def resizeEvent(self, event: object) -> None:
        """Count the lines again."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the caret is."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show that the caret is elsewhere."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)


def _is_given(data: QMimeData) -> bool:
    """Return whether something was copied that is no text: files, or a picture."""
    if data.hasUrls() and all(url.isLocalFile() for url in data.urls()):
        return True
    return data.hasImage() and not data.hasText()
