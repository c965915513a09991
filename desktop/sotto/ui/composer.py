"""Where a message is written. It takes text in every state; what cannot be sent yet is kept."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from sotto.chats.records import Attachment
from sotto.ui import theme
from sotto.ui.attachment_chips import AttachmentBar
from sotto.ui.context_gauge import Choice, ContextGauge, ContextPanel
from sotto.ui.context_meter import ContextUse
from sotto.ui.draft import Draft
from sotto.ui.parts import ElidedLabel, IconButton
from sotto.ui.states import ModelState, Phase


class Composer(QFrame):
    """The draft with its button, which sends, or stops what is under way.

    Signals:
        sent: The person sends this text; `clear` empties the draft once it is taken.
        stopped: The person stops the load or the answer.
        attach_wanted: The person wants to choose files that go along.
    """

    sent = Signal(str)
    stopped = Signal()
    attach_wanted = Signal()

    def __init__(self, *, attaches: bool = True) -> None:
        """Begin with nothing written and nothing loaded; without `attaches` there is nothing but text."""
        super().__init__()
        self.setObjectName("composer")
        self.draft = Draft()
        self.draft.takes_files = attaches
        self.attachments = AttachmentBar()
        self.panel = ContextPanel()
        self.gauge = ContextGauge()
        self.hint = ElidedLabel("", "caption")
        self.clip = IconButton("clip", "Attach files", tip="Attach text files or PDFs")
        self.clip.setObjectName("attach")
        self.clip.clicked.connect(self.attach_wanted)
        self.button = IconButton("arrow-up", "Send message", role="primary", color="on_accent")
        self.button.setObjectName("send")
        foot = QHBoxLayout()
        foot.setSpacing(theme.GAP_8)
        if attaches:
            foot.addWidget(self.clip)
        foot.addWidget(self.hint, 1)
        foot.addWidget(self.gauge)
        foot.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_12, theme.GAP_12, theme.GAP_8 + 2, theme.GAP_8 + 2)
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(self.panel)
        layout.addWidget(self.attachments)
        layout.addWidget(self.draft)
        layout.addLayout(foot)
        self._stops = self._reads = False
        self._attached = False
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

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Show what goes along with the draft."""
        self._attached = bool(attachments)
        self.attachments.show_attachments(attachments)
        self._enable()

    def show_pending(self, names: Sequence[str]) -> None:
        """Show what is being read; nothing is sent without it."""
        self._reads = bool(names)
        self.attachments.show_pending(names)
        self._enable()

    def show_use(self, use: ContextUse | None, choices: Sequence[Choice]) -> None:
        """Show how full the context is, and where it is too full for the draft, what makes room."""
        self.gauge.show_use(use)
        if use is not None and use.tight and self._has_something:
            self.panel.show_use(use, choices)
        else:
            self.panel.hide()

    def clear(self) -> None:
        """Empty the draft."""
        self.draft.clear()

    def restore(self, text: str) -> None:
        """Put a text that could not be sent back, before what has been written since."""
        now = self.text
        self.draft.setPlainText(f"{text}\n{now}" if now.strip() else text)
        self.draft.moveCursor(self.draft.textCursor().MoveOperation.End)

    def _enable(self) -> None:
        something = self._has_something
        self.button.setEnabled(self._stops or (something and not self._reads))
        if not something:
            self.panel.hide()

    @property
    def _has_something(self) -> bool:
        return self._attached or not self.draft.is_blank

    def _press(self) -> None:
        if self._stops:
            self.stopped.emit()
        else:
            self._send()

    def _send(self) -> None:
        if self._has_something and not self._reads:
            self.sent.emit(self.text)

    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        self.style().unpolish(self)
        self.style().polish(self)
