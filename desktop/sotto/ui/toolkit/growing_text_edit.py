"""The text field for messages, which grows with its text."""

import time

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QKeySequence, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import line_height

_MAX_LINES = 8
# WORKAROUND: some input methods deliver the Enter that committed a word once more, right after the word. Check with
# the next Qt whether a committed Enter still arrives as a key press.
_GUARD_SECONDS = 0.01
# Characters of a word from which on lines are broken anywhere.
_ENDLESS_WORD = 2000
# Characters of a text that certainly takes more lines than a field shows.
_LONG_TEXT = 20_000


class GrowingTextEdit(QPlainTextEdit):
    """A text field in which Enter sends, and Shift+Enter starts a new line; or else Ctrl+Enter sends.

    Signals:
        entered: The user wants to send the message.
        files_pasted: Files or a picture were pasted (`QMimeData`).
        focus_changed: The field got or lost the focus.

    Attributes:
        takes_files: Whether pasting files or pictures emits `files_pasted`; otherwise they are pasted as text.
    """

    entered = Signal()
    files_pasted = Signal(object)
    focus_changed = Signal(bool)

    def __init__(self, *, enter_sends: bool = True, most_lines: int = _MAX_LINES) -> None:
        """Create an empty field.

        Args:
            enter_sends: Whether Enter alone sends.
            most_lines: How many lines it is high at most.
        """
        super().__init__()
        self._enter_sends, self._most_lines = enter_sends, most_lines
        self.setObjectName("draft")
        self.setAccessibleName(tr("Message"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setAcceptDrops(False)
        self.viewport().setAcceptDrops(False)
        self.document().setDocumentMargin(2)
        self.takes_files = False
        self._composing = False
        self._committed_at = 0.0
        self.textChanged.connect(self.fit)
        theme.current().changed.connect(self.fit)
        self.fit()

    @property
    def is_blank(self) -> bool:
        """Whether the text is empty or white space; reads only as much of a long text as needed."""
        block = self.document().firstBlock()
        while block.isValid():
            if block.text().strip():
                return False
            block = block.next()
        return True

    def fit(self) -> None:
        """Adjust the height to the number of lines, up to a limit."""
        self.ensurePolished()
        lines = min(self._most_lines, max(1, round(self.document().size().height())))
        self.setFixedHeight(lines * line_height(self) + 2 * 2 + 2)

    def setPlainText(self, text: str) -> None:
        """Replace the text."""
        self._set_wrapping(text, replaces=True)
        super().setPlainText(text)

    def _set_wrapping(self, text: str, *, replaces: bool) -> None:
        """Choose the wrap mode for text that will be inserted, or will replace everything.

        WORKAROUND: Qt takes seconds to find line breaks in an extremely long word. Measure again with the next Qt.
        """
        endless = len(text) > _ENDLESS_WORD and max(map(len, text.split()), default=0) > _ENDLESS_WORD
        mode = QTextOption.WrapMode.WrapAnywhere if endless else QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
        if (replaces or endless or self.document().isEmpty()) and mode is not self.wordWrapMode():
            self.setWordWrapMode(mode)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send on Enter, unless Shift is held or an input method is composing or has just committed text."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        shift, control = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
        sends = not event.modifiers() & shift if self._enter_sends else bool(event.modifiers() & control)
        if enter and not self._composing and sends:
            if time.monotonic() - self._committed_at > _GUARD_SECONDS:
                self.entered.emit()
            return
        if event.matches(QKeySequence.StandardKey.Undo) and not self.document().isUndoAvailable():
            # Something else may be undone.
            event.ignore()
            return
        super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Record whether an input method is composing, and when it committed text."""
        self._composing = bool(event.preeditString())
        if event.commitString():
            self._committed_at = time.monotonic()
        super().inputMethodEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept files and pictures, too, if `takes_files` is set."""
        return (self.takes_files and _has_files(source)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert text, or emit `files_pasted` for files and pictures."""
        if self.takes_files and _has_files(source):
            self.files_pasted.emit(source)
            return
        text = source.text()
        self._set_wrapping(text, replaces=False)
        if len(text) > _LONG_TEXT:
            # With room for the scroll bar from the beginning, the lines are laid out once instead of twice.
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        super().insertFromMimeData(source)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        # Only now are the lines known.
        self.fit()

    def resizeEvent(self, event: object) -> None:
        """Adjust the height to the lines at the new width."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Report the focus."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Report the lost focus."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)


def _has_files(data: QMimeData) -> bool:
    """Return whether files or a picture were copied, rather than text."""
    if data.hasUrls() and all(url.isLocalFile() for url in data.urls()):
        return True
    return data.hasImage() and not data.hasText()
