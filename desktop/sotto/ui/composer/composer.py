"""Where a message is written. It takes text in every state; what cannot be sent yet is kept."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from sotto.chats.chat_records import Attachment
from sotto.ui.composer.context_gauge import ContextAction, ContextGauge, ContextPanel
from sotto.ui.composer.thinking_button import ThinkingButton
from sotto.ui.conversation.context_meter import ContextUse
from sotto.ui.preferences.answer_options import format_label, format_sentence
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.growing_text_edit import GrowingTextEdit
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton
from sotto.ui.transcript.attachment_chips import AttachmentBar

_MARGINS = (theme.GAP_12, theme.GAP_12, theme.GAP_8 + 2, theme.GAP_8 + 2)
# Of the icons below the draft, at 13 px text.
_LEAST = 160
_LINE_TIP = "Shift+Enter for a new line"
_CANNOT = "This model cannot chat"


class Composer(QFrame):
    """The draft with its button, which sends, or stops what is under way.

    Signals:
        sent: The person sends this text; `clear` empties the draft once it is taken.
        stopped: The person stops the load or the answer.
        attach_wanted: The person wants to choose files that go along.
        think_chosen: Whether the model is to think first (`Think`); None to choose nothing of that.
        format_wanted: The person wants to choose what answers must be.
    """

    sent = Signal(str)
    stopped = Signal()
    attach_wanted = Signal()
    think_chosen = Signal(object)
    format_wanted = Signal()

    def __init__(self, *, attaches: bool = True, invitation: str = "Write a message") -> None:
        """Begin with nothing written and nothing loaded.

        Args:
            attaches: Whether files go along, and it is chosen here how the model answers; there is only text otherwise.
            invitation: What stands where nothing is written.
        """
        super().__init__()
        self.setObjectName("composer")
        self.draft = GrowingTextEdit()
        self.draft.takes_files = attaches
        self.attachments = AttachmentBar()
        self.panel = ContextPanel()
        self.gauge = ContextGauge()
        self.hint = ElidedLabel("", "caption")
        self.clip = IconButton("clip", "Attach files", tip="Attach text files or PDFs")
        self.clip.setObjectName("attach")
        self.clip.clicked.connect(self.attach_wanted)
        self.think = ThinkingButton(brief=True)
        self.think.chosen.connect(self.think_chosen)
        self.format = IconButton("braces", "", " ")
        self.format.clicked.connect(self.format_wanted)
        self.button = IconButton("arrow-up", "Send message", role="primary", color="on_accent")
        self.button.setObjectName("send")
        self._foot = foot = QHBoxLayout()
        foot.setSpacing(theme.GAP_8)
        if attaches:
            foot.addWidget(self.clip)
            foot.addWidget(self.think)
            foot.addWidget(self.format)
        foot.addWidget(self.hint, 1)
        foot.addWidget(self.gauge)
        foot.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*_MARGINS)
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(self.panel)
        layout.addWidget(self.attachments)
        layout.addWidget(self.draft)
        layout.addLayout(foot)
        self._attaches, self._invitation = attaches, invitation
        self._stops = self._reads = False
        self._unable = self._hint = ""
        self._attached = False
        self.button.clicked.connect(self._press)
        self.draft.entered.connect(self._send)
        self.draft.textChanged.connect(self._enable)
        self.draft.focus_changed.connect(self._show_focus)
        theme.current().changed.connect(self._fit)
        self.show_choices({}, {})
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
        self._unable = state.chat_refusal
        self.draft.setPlaceholderText(_CANNOT if self._unable else self._invitation)
        self.think.show_model(state.info)
        self.think.setVisible(self._attaches and state.info is not None and state.info.thinks)
        self._enable()
        self.say(self._unable or ("Sends as soon as the model is loaded" if waiting else _LINE_TIP))

    def say(self, hint: str) -> None:
        """Say something below the draft."""
        self._hint = hint
        self._fit()

    def show_choices(self, own: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        """Show what was chosen of the answers: in this conversation, and for all of them."""
        self.think.show_choices(own, settings)
        kept = own.get("format")
        line = format_sentence(kept)
        self.format.setText(f" {format_label(kept)}")
        self.format.setAccessibleName(line)
        self.format.setToolTip(line)
        self.format.setVisible(self._attaches and bool(line))
        self._fit()

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

    def show_use(self, use: ContextUse | None, choices: Sequence[ContextAction]) -> None:
        """Show how full the context is, and where it is too full for the draft, what makes room."""
        self.gauge.show_use(use)
        self._fit()
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
        self.button.setEnabled(self._stops or (something and not self._reads and not self._unable))
        if not something:
            self.panel.hide()

    @property
    def _has_something(self) -> bool:
        return self._attached or not self.draft.is_blank

    def _fit(self) -> None:
        """Leave out what there is no room for: the hint first, then the words beside the icons, then the numbers."""
        left, _, right, _ = _MARGINS
        room = self.contentsRect().width() - left - right
        brief, wordy = Qt.ToolButtonStyle.ToolButtonIconOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        for style, numbers in ((wordy, True), (brief, True), (brief, False)):
            for button in (self.think, self.format):
                button.setToolButtonStyle(style)
            self.gauge.show_numbers(numbers)
            widgets = [item.widget() for number in range(self._foot.count()) if (item := self._foot.itemAt(number))]
            shown = [one for one in widgets if one is not None and one is not self.hint and not one.isHidden()]
            spare = room - sum(one.sizeHint().width() + self._foot.spacing() for one in shown)
            if spare >= 0:
                break
        whole = spare >= self.hint.fontMetrics().horizontalAdvance(self._hint)
        self.hint.setText(self._hint if whole or self._hint != _LINE_TIP else "")

    def minimumSizeHint(self) -> QSize:
        """Ask for the same width whatever is left out: what is left out follows from the width."""
        return QSize(theme.current().scaled(_LEAST), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See what there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _press(self) -> None:
        if self._stops:
            self.stopped.emit()
        else:
            self._send()

    def _send(self) -> None:
        if self._has_something and not self._reads and not self._unable:
            self.sent.emit(self.text)

    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        self.style().unpolish(self)
        self.style().polish(self)
