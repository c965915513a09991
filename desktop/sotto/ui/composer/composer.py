"""The composer: the text field for messages with its buttons. It accepts text in every state of the model."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from sotto.chats.chat_records import Attachment
from sotto.ui.composer.action_panel import ActionPanel, PanelAction
from sotto.ui.composer.context_gauge import ContextGauge, ContextPanel
from sotto.ui.composer.thinking_button import ThinkingButton
from sotto.ui.conversation.context_meter import ContextUse
from sotto.ui.preferences.answer_options import format_label, format_sentence
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.growing_text_edit import GrowingTextEdit
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, restyle
from sotto.ui.transcript.attachment_chips import AttachmentBar

_MARGINS = (theme.GAP_12, theme.GAP_12, theme.GAP_8 + 2, theme.GAP_8 + 2)
# Minimum width, for the icons below the draft at 13 px text.
_MIN_WIDTH = 160


class Composer(QFrame):
    """The draft, its attachments, and a button that sends it, or stops a load or an answer.

    Signals:
        sent: The user sends this text; the receiver calls `clear` if it accepts it.
        stopped: The user stops the load or the answer.
        attach_wanted: The user wants to choose files to attach.
        screenshot_wanted: The user wants to attach a picture of a part of the screen.
        think_chosen: The user chose whether the model thinks first (`Think`); None for the default.
        format_wanted: The user wants to choose the format of answers.
    """

    sent = Signal(str)
    stopped = Signal()
    attach_wanted = Signal()
    screenshot_wanted = Signal()
    think_chosen = Signal(object)
    format_wanted = Signal()

    def __init__(self, *, attaches: bool = True, invitation: str = "") -> None:
        """Create an empty composer.

        Args:
            attaches: Whether there are buttons for files and answer options; files can be pasted in any case.
            invitation: Placeholder of the empty field; empty for the usual one.
        """
        super().__init__()
        self.setObjectName("composer")
        self.draft = GrowingTextEdit()
        self.draft.takes_files = True
        self.attachments = AttachmentBar()
        self.panel = ContextPanel()
        self.sight_panel = ActionPanel()
        self.gauge = ContextGauge()
        self.hint = ElidedLabel("", "caption")
        self.clip = IconButton("clip", tr("Attach files"), tip=tr("Attach text files, PDFs or images"))
        self.clip.setObjectName("attach")
        self.clip.clicked.connect(self.attach_wanted)
        self.screenshot = IconButton(
            "screenshot", tr("Take a screenshot"), tip=tr("Attach a picture of a part of the screen")
        )
        self.screenshot.clicked.connect(self.screenshot_wanted)
        self.screenshot.hide()
        self.think = ThinkingButton(brief=True)
        self.think.chosen.connect(self.think_chosen)
        self.format = IconButton("braces", "", " ")
        self.format.clicked.connect(self.format_wanted)
        self.button = IconButton("arrow-up", tr("Send message"), role="primary", color="on_accent")
        self.button.setObjectName("send")
        self._foot = foot = QHBoxLayout()
        foot.setSpacing(theme.GAP_8)
        if attaches:
            foot.addWidget(self.clip)
            foot.addWidget(self.screenshot)
            foot.addWidget(self.think)
            foot.addWidget(self.format)
        foot.addWidget(self.hint, 1)
        foot.addWidget(self.gauge)
        foot.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.margins(*_MARGINS))
        layout.setSpacing(theme.GAP_8)
        layout.addWidget(self.panel)
        layout.addWidget(self.sight_panel)
        layout.addWidget(self.attachments)
        layout.addWidget(self.draft)
        layout.addLayout(foot)
        self._attaches, self._invitation = attaches, invitation or tr("Write a message")
        self._line_tip = tr("Shift+Enter for a new line")
        # Whether the button stops, whether files are being read, and whether files are attached.
        self._stops = self._reading = self._attached = False
        # Why the model cannot chat; and the hint below the draft.
        self._refusal = self._hint = ""
        # How full the context is, what makes room in it, and whether an answer needs that room.
        self._use: ContextUse | None = None
        self._actions: Sequence[PanelAction] = ()
        self._wants_room = self._loading = self._queued = False
        self.button.clicked.connect(self._send_or_stop)
        self.draft.entered.connect(self._send)
        self.draft.textChanged.connect(self._update_buttons)
        self.draft.focus_changed.connect(self._show_focus)
        theme.current().changed.connect(self._fit)
        self.show_choices({}, {})
        self.show_state(ModelState())

    def show_state(self, state: ModelState) -> None:
        """Update the button and the hint to the state of the model."""
        self._stops = state.busy
        if state.busy:
            name = tr("Stop loading") if state.phase is Phase.LOADING else tr("Stop answering")
            self.button.set_icon("stop", name, tr("Stop (Esc)"))
        else:
            self.button.set_icon("arrow-up", tr("Send message"), tr("Send (Enter)"))
        self._loading = state.phase is Phase.LOADING
        self._refusal = state.chat_refusal
        self.draft.setPlaceholderText(tr("This model cannot chat") if self._refusal else self._invitation)
        self.think.show_model(state.info)
        self.think.setVisible(self._attaches and state.info is not None and state.info.thinks)
        self._update_buttons()
        self._show_hint()

    def show_queued(self, queued: bool) -> None:
        """Show whether the draft will be sent after the answer under way."""
        self._queued = queued
        self._show_hint()

    def _show_hint(self) -> None:
        queued = tr("Sends after this answer") if self._queued else ""
        loading = tr("Sends as soon as the model is loaded") if self._loading else ""
        self.set_hint(self._refusal or queued or loading or self._line_tip)

    def set_hint(self, hint: str) -> None:
        """Show a hint below the draft."""
        self._hint = hint
        self._fit()

    def show_choices(self, own: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        """Show the answer options.

        Args:
            own: Options of this chat, by name.
            settings: Options that apply to chats without their own, by name.
        """
        self.think.show_choices(own, settings)
        stored = own.get("format")
        line = format_sentence(stored)
        self.format.setText(f" {format_label(stored)}")
        self.format.setAccessibleName(line)
        self.format.setToolTip(line)
        self.format.setVisible(self._attaches and bool(line))
        self._fit()

    @property
    def text(self) -> str:
        """The text of the draft."""
        return self.draft.toPlainText()

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Show the attachments of the draft."""
        self._attached = bool(attachments)
        self.attachments.show_attachments(attachments)
        self._update_buttons()

    def show_pending(self, names: Sequence[str]) -> None:
        """Show the names of files that are being read; sending is disabled meanwhile."""
        self._reading = bool(names)
        self.attachments.show_pending(names)
        self._update_buttons()

    def show_use(self, use: ContextUse | None, actions: Sequence[PanelAction]) -> None:
        """Show how full the context is, and if there is too little room for the draft, `actions` that make room."""
        self.gauge.show_use(use)
        self._fit()
        self._use, self._actions = use, actions
        self._wants_room = self._wants_room and use is not None and use.tight
        if use is not None and use.tight and (self._has_content or self._wants_room):
            self.panel.show_use(use, actions)
        else:
            self.panel.hide()

    def show_blindness(self, title: str, message: str, actions: Sequence[PanelAction]) -> None:
        """Warn that the model does not see the images of the draft; an empty title is no warning."""
        if title:
            self.sight_panel.show_warning(title, message, actions)
        else:
            self.sight_panel.hide()

    def offer_screenshots(self) -> None:
        """Show the button that takes a screenshot."""
        self.screenshot.setVisible(self._attaches)
        self._fit()

    def show_room(self) -> None:
        """Show the actions that make room for the rest of an answer, whether or not there is a draft."""
        self._wants_room = True
        self.show_use(self._use, self._actions)
        self.panel.take_focus()

    def clear(self) -> None:
        """Empty the draft."""
        self.draft.clear()

    def restore(self, text: str) -> None:
        """Put back a text that could not be sent, before anything written since."""
        newer = self.text
        self.draft.setPlainText(f"{text}\n{newer}" if newer.strip() else text)
        self.draft.moveCursor(self.draft.textCursor().MoveOperation.End)

    def _update_buttons(self) -> None:
        self.button.setEnabled(self._stops or self.can_send)
        if not self._has_content:
            self.panel.hide()

    @property
    def _has_content(self) -> bool:
        return self._attached or not self.draft.is_blank

    def _fit(self) -> None:
        """Hide what there is no room for: first the hint, then the texts beside the icons, then the numbers."""
        left, _, right, _ = _MARGINS
        room = self.contentsRect().width() - left - right
        icons, texts = Qt.ToolButtonStyle.ToolButtonIconOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        for style, numbers in ((texts, True), (icons, True), (icons, False)):
            for button in (self.think, self.format):
                button.setToolButtonStyle(style)
            self.gauge.show_numbers(numbers)
            widgets = [item.widget() for index in range(self._foot.count()) if (item := self._foot.itemAt(index))]
            shown = [widget for widget in widgets if widget and widget is not self.hint and not widget.isHidden()]
            spare = room - sum(widget.sizeHint().width() + self._foot.spacing() for widget in shown)
            if spare >= 0:
                break
        fits = spare >= self.hint.fontMetrics().horizontalAdvance(self._hint)
        self.hint.setText(self._hint if fits or self._hint != self._line_tip else "")

    def minimumSizeHint(self) -> QSize:
        """Ask for a fixed width, because what is hidden depends on the width, and not the reverse."""
        return QSize(theme.current().scaled(_MIN_WIDTH), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Check again what there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _send_or_stop(self) -> None:
        if self._stops:
            self.stopped.emit()
        else:
            self._send()

    @property
    def can_send(self) -> bool:
        """Whether there is anything to send, and nothing in the way."""
        return self._has_content and not self._reading and not self._refusal

    def _send(self) -> None:
        if self.can_send:
            self.sent.emit(self.text)

    def _show_focus(self, focused: bool) -> None:
        restyle(self, "focused", focused)
