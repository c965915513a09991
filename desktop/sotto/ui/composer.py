"""Where a message is written. It takes text in every state; what cannot be sent yet is kept."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout

from sotto.ui import theme
from sotto.ui.parts import IconButton, Label, line_height
from sotto.ui.states import ModelState, Phase

_MOST_LINES = 8


class Draft(QPlainTextEdit):
    """The text field: Enter sends, Shift+Enter begins a new line.

    Signals:
        entered: The person wants to send.
        focus_changed: The caret came or went.
    """

    entered = Signal()
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
        self._composing = False
        self.textChanged.connect(self.fit)
        theme.current().changed.connect(self.fit)
        self.fit()

    def fit(self) -> None:
        """Take as many lines as are written, up to eight."""
        self.ensurePolished()
        lines = min(_MOST_LINES, max(1, round(self.document().size().height())))
        self.setFixedHeight(lines * line_height(self) + 2 * 2 + 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send with Enter, unless an input method is at work or Shift is held."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not self._composing and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
            return
        super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Note whether an input method has text that is not chosen yet."""
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

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


class Composer(QFrame):
    """The draft with its button, which sends, or stops what is under way.

    Signals:
        sent: The person sends this text; `clear` empties the draft once it is taken.
        stopped: The person stops the load or the answer.
    """

    sent = Signal(str)
    stopped = Signal()

    def __init__(self) -> None:
        """Begin with nothing written and nothing loaded."""
        super().__init__()
        self.setObjectName("composer")
        self.draft = Draft()
        self.hint = Label("", "caption")
        self.button = IconButton("arrow-up", "Send message", role="primary", color="on_accent")
        self.button.setObjectName("send")
        foot = QHBoxLayout()
        foot.addWidget(self.hint)
        foot.addStretch(1)
        foot.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_8 + 2, theme.GAP_8 + 2)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.draft)
        layout.addLayout(foot)
        self._stops = False
        self.button.clicked.connect(self._press)
        self.draft.entered.connect(self._send)
        self.draft.textChanged.connect(self._enable)
        self.draft.focus_changed.connect(self._show_focus)
        self.show_state(ModelState())

    def show_state(self, state: ModelState) -> None:
        """Let the button do what can be done now, and say so."""
        self._stops = state.busy
        if state.busy:
            doing = "loading" if state.phase is Phase.LOADING else "answering"
            self.button.set_icon("stop", f"Stop {doing}", "Stop (Esc)")
        else:
            self.button.set_icon("arrow-up", "Send message", "Send (Enter)")
        waiting = state.phase is Phase.LOADING
        self.draft.setPlaceholderText("Write a message")
        self.hint.setText("Sends as soon as the model is loaded" if waiting else "Shift+Enter for a new line")
        self._enable()

    @property
    def text(self) -> str:
        """What is written."""
        return self.draft.toPlainText()

    def clear(self) -> None:
        """Empty the draft."""
        self.draft.clear()

    def restore(self, text: str) -> None:
        """Put a text that could not be sent back, before what has been written since."""
        now = self.text
        self.draft.setPlainText(f"{text}\n{now}" if now.strip() else text)
        self.draft.moveCursor(self.draft.textCursor().MoveOperation.End)

    def _enable(self) -> None:
        self.button.setEnabled(self._stops or bool(self.text.strip()))

    def _press(self) -> None:
        if self._stops:
            self.stopped.emit()
        else:
            self._send()

    def _send(self) -> None:
        if self.text.strip():
            self.sent.emit(self.text)

    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        self.style().unpolish(self)
        self.style().polish(self)
