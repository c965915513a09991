"""The widget of an answer."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sotto.chats.chat_records import Attachment, Turn
from sotto.engine.contract.answer_parts import Piece
from sotto.engine.contract.events import PrefillProgress
from sotto.ui.conversation.answer_text import answer_text
from sotto.ui.conversation.answer_wording import (
    answer_line,
    can_continue,
    is_cut_short,
    pace_line,
    prefill_line,
    short_answer_line,
    thought_seconds,
)
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.state.names import short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.flow_layout import FlowLayout
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton
from sotto.ui.transcript.answer_body import AnswerBody
from sotto.ui.transcript.answer_status import PromptProgress, StatusLine
from sotto.ui.transcript.message_actions import MessageActions
from sotto.ui.transcript.message_requests import MessageRequests
from sotto.ui.transcript.message_widget import MessageWidget

# Width that the status line needs to stand beside the buttons, at 13 px text.
_STATUS_WIDTH = 160


class AnswerMessage(MessageWidget):
    """An answer of a model, with its progress or its statistics below it.

    Attributes:
        again: The button that has the question answered again.
        again_with: The button that has it answered by another model.
        more: The button that has the answer continued.
    """

    def __init__(self, model: str, requests: MessageRequests | None = None) -> None:
        """Create an empty answer of `model`."""
        super().__init__(requests, tr("Copy answer"))
        self.body = AnswerBody(tr("Answer by {model}").format(model=model) if model else tr("Answer"))
        self.body.link_asked.connect(self.requests.link_asked)
        self.body.hide()
        self.model = ElidedLabel(short_name(model), "caption")
        self.model.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.status = StatusLine()
        self._bar = PromptProgress()
        self._bar.hide()
        self.copy.setObjectName("copyAnswer")
        self.again = IconButton("refresh", tr("Regenerate"), tip=tr("Regenerate and keep this answer"))
        self.again.clicked.connect(lambda: self.requests.regenerate_wanted.emit(self.turn_id))
        self.again_with = IconButton("down", tr("Try another model"))
        self.again_with.setObjectName("againWith")
        self.again_with.clicked.connect(self.choose_model)
        self.more = IconButton("right", tr("Continue answer"), tr("Continue"))
        self.more.clicked.connect(lambda: self.requests.more_wanted.emit(self.turn_id))
        again = QWidget()
        both = QHBoxLayout(again)
        both.setContentsMargins(0, 0, 0, 0)
        both.setSpacing(0)
        both.addWidget(self.again)
        both.addWidget(self.again_with)
        for button in (self.copy, self.again, self.again_with, self.more, self.menu_button):
            button.hide()
        # The room of one button is kept, so that the line is no taller once the answer has ended.
        kept = self.menu_button.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.menu_button.setSizePolicy(kept)
        self.actions_shown = MessageActions(self, (self.again, self.again_with, self.copy, self.menu_button))
        self._offers_models = True
        self._tools = FlowLayout(None, theme.GAP_4)
        # At the end of the line, and what appears later before the others, so that no button moves under the pointer.
        for widget in (self._bar, self.more, self.versions, again, self.copy, self.menu_button):
            self._tools.addWidget(widget)
        self._foot = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._foot.setContentsMargins(0, 0, 0, 0)
        self._foot.setSpacing(theme.GAP_12)
        told = QHBoxLayout()
        told.setSpacing(theme.GAP_8)
        told.addWidget(self.model)
        told.addWidget(self.status, 1)
        self._foot.addLayout(told, 1)
        self._foot.addLayout(self._tools)
        self._foot.setAlignment(self._tools, Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.body)
        layout.addLayout(self._foot)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def has_view_state(self) -> bool:
        """Whether recreating the widget would lose something that the reader did."""
        return super().has_view_state or self.body.has_view_state

    @property
    def text(self) -> MarkdownText:
        """The last text part; there must be one."""
        return self.texts[-1]

    @property
    def texts(self) -> list[MarkdownText]:
        """The text parts in order, without thoughts and tool calls."""
        return self.body.texts

    def show_waiting(self, line: str) -> None:
        """Show what the answer is waiting for."""
        self.status.setText(line)

    def show_prefill(self, progress: PrefillProgress, why: str = "") -> None:
        """Show how much of the prompt has been processed, and why it is processed again, if it is."""
        self.status.setText(prefill_line(progress, why))
        self._bar.share = progress.done / progress.total if progress.total else 0.0
        self._bar.show()
        self._bar.update()

    def set_format(self, turn: Turn) -> None:
        """Prepare for the format of the answer, before its first text."""
        self.body.is_json = turn.is_json

    def append(self, text: str) -> None:
        """Append text in the stored form."""
        if text:
            self._begin()
            self.body.append(text)

    def resume(self, text: str) -> None:
        """Show the beginning of an answer that is being continued."""
        self.append(text)
        self.body.flush()

    def grow(self, pieces: Sequence[Piece]) -> None:
        """Append pieces that have just arrived."""
        if pieces:
            self._begin()
            self.body.grow(pieces)

    def _begin(self) -> None:
        if self.body.isHidden():
            self.body.show()
            self._bar.hide()
            self.status.setText(tr("Answering…"))

    def show_pace(self, tokens: int, rate: float) -> None:
        """Show the number of tokens so far, and the approximate rate in tokens per second."""
        self.status.setText(pace_line(tokens, rate))

    def end(self, turn: Turn) -> None:
        """Complete the answer and show its statistics."""
        self.body.finish()
        if is_cut_short(turn):
            self.body.fold_begun_call()
        self.body.show_durations(thought_seconds(turn))
        self._bar.hide()
        self.copy.setVisible(bool(self.body.texts))
        self.status.show_end(short_answer_line(turn), answer_line(turn))
        self.show_turn(turn)

    def show_complete(self, turn: Turn) -> None:
        """Show a complete, stored answer."""
        self.set_format(turn)
        if turn.text:
            self.body.show()
            self.body.append(turn.text, live=False)
        self.end(turn)

    def show_turn(self, turn: Turn) -> None:
        """Update the id and the versions."""
        super().show_turn(turn)
        self.again.setVisible(turn.id > 0)
        self.again_with.setVisible(turn.id > 0 and self._offers_models)
        self.more.setVisible(turn.id > 0 and can_continue(turn))

    def offer_models(self, offered: bool) -> None:
        """Set whether another model can be chosen for another answer."""
        self._offers_models = offered

    def choose_model(self) -> None:
        """Let the user choose a model for another answer."""
        self.requests.model_wanted.emit(self.turn_id, self.again_with)

    def show_source(self, shown: bool) -> None:
        """Show the Markdown of the answer, or the rendered text."""
        for text in self.texts:
            text.show_source(text.markdown.strip() if shown else None)

    def copy_text(self) -> None:
        """Copy the answer without thoughts and tool calls."""
        QGuiApplication.clipboard().setMimeData(self.body.copy_data())
        self.copy.confirm("check", tr("Copied"))

    def show_edit(self, text: str) -> None:
        """Show an editor in place of the answer."""
        self._open_editor(text, sends=False, above=1)
        self.body.hide()

    @property
    def editable(self) -> str:
        """The answer without thoughts and tool calls."""
        return answer_text(self.body.markdown)

    def request_edit(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Ask for another text of the answer, which has no attachments."""
        self.requests.answer_edited.emit(self.turn_id, text)

    def end_edit(self) -> None:
        """Close the editor and keep the answer as it was."""
        super().end_edit()
        self.body.setVisible(bool(self.body.parts))

    def _fit(self) -> None:
        """Put the status line beside the buttons, or below them if it would be too narrow."""
        beside = self.width() >= self._tools.sizeHint().width() + theme.GAP_12 + theme.current().scaled(_STATUS_WIDTH)
        to = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._foot.direction() is not to:
            self._foot.setDirection(to)
            self._foot.setSpacing(theme.GAP_12 if beside else theme.GAP_4)
            self._foot.update()

    def event(self, event: QEvent) -> bool:
        """Rearrange the footer when its contents or the width change."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._fit()
        return super().event(event)
