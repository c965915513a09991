"""The widgets of one message: a question of the user or an answer of a model."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sotto.chats.chat_records import Turn
from sotto.engine.contract.answer_parts import Piece
from sotto.engine.contract.events import PrefillProgress
from sotto.ui.conversation.answer_wording import (
    answer_line,
    is_cut_short,
    pace_line,
    prefill_line,
    short_answer_line,
    thought_seconds,
)
from sotto.ui.markdown.text_browser import PlainText
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.state.names import short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.flow_layout import FlowLayout
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, Label, draw_bar, plain_tip
from sotto.ui.transcript.answer_body import AnswerBody
from sotto.ui.transcript.attachment_chips import SentAttachments
from sotto.ui.transcript.message_actions import MessageActions
from sotto.ui.transcript.question_editor import QuestionEditor

_BUBBLE_SHARE = 0.8
# Width that the status line needs to stand beside the buttons, at 13 px text.
_STATUS_WIDTH = 160


class UserMessage(QWidget):
    """A message of the user in a bubble at the right, which can be edited and may have several versions.

    Signals:
        edited: The user sends another text instead of the question with this id.
        version_wanted: The user wants to see the message with this id.

    Attributes:
        editor: The editor of the question; None while it is not being edited.
    """

    edited = Signal(int, str)
    version_wanted = Signal(int)

    def __init__(self, turn: Turn) -> None:
        """Show `turn`."""
        super().__init__()
        self._turn = turn
        self.text = PlainText(turn.text)
        self.text.setAccessibleName("Your message")
        self._bubble = QFrame()
        self._bubble.setObjectName("bubble")
        inside = QVBoxLayout(self._bubble)
        inside.setContentsMargins(theme.GAP_16, theme.GAP_8 + 2, theme.GAP_16, theme.GAP_8 + 2)
        inside.addWidget(self.text)
        self.edit = IconButton("edit", "Edit message")
        self.edit.clicked.connect(self._begin_edit)
        self.actions_shown = MessageActions(self, (self.edit,))
        self.versions = VersionSwitch("question")
        self.versions.wanted.connect(self.version_wanted)
        self.editor: QuestionEditor | None = None
        if not turn.text:
            # Only attachments were sent.
            self._bubble.hide()
        bubble_line = QHBoxLayout()
        bubble_line.addStretch(1)
        bubble_line.addWidget(self._bubble)
        foot = QHBoxLayout()
        foot.setSpacing(theme.GAP_4)
        foot.addStretch(1)
        foot.addWidget(self.versions)
        foot.addWidget(self.edit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_4)
        if turn.attachments:
            self.attachments = SentAttachments(turn.attachments)
            layout.addWidget(self.attachments)
        layout.addLayout(bubble_line)
        layout.addLayout(foot)
        self.show_turn(turn)

    @property
    def turn_id(self) -> int:
        """The id of the message."""
        return self._turn.id

    @property
    def has_view_state(self) -> bool:
        """Whether recreating the widget would lose an edit or a selection."""
        return self.editor is not None or self.text.textCursor().hasSelection()

    @property
    def texts(self) -> list[PlainText]:
        """The text of the message, as a list like `AnswerMessage.texts`."""
        return [self.text]

    def show_turn(self, turn: Turn) -> None:
        """Update the id and the versions."""
        self._turn = turn
        self.versions.show_versions(turn)
        self.edit.setEnabled(turn.id > 0)

    def _begin_edit(self) -> None:
        if self.editor is None:
            self.editor = QuestionEditor(self._turn.text)
            self.editor.sent.connect(self._finish_edit)
            self.editor.cancelled.connect(self.end_edit)
            layout = self.layout()
            assert isinstance(layout, QVBoxLayout)
            layout.insertWidget(layout.count() - 2, self.editor)
            self._bubble.hide()
            self.edit.hide()
        self.editor.draft.setFocus()

    def _finish_edit(self, text: str) -> None:
        self.end_edit()
        if text.strip() and text != self._turn.text:
            self.edited.emit(self._turn.id, text)

    @property
    def editing(self) -> bool:
        """Whether the question is being edited."""
        return self.editor is not None

    def end_edit(self) -> None:
        """Close the editor and keep the question as it was."""
        if self.editor is not None:
            editor, self.editor = self.editor, None
            editor.hide()
            editor.deleteLater()
        self._bubble.setVisible(bool(self._turn.text))
        self.edit.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make the bubble as wide as its text, up to a share of the column."""
        super().resizeEvent(event)
        room = round(self.width() * _BUBBLE_SHARE) - 2 * theme.GAP_16
        self.text.setFixedWidth(max(theme.GAP_32, min(self.text.widest(), room)))


class AnswerMessage(QWidget):
    """An answer of a model, with its progress or its statistics below it.

    Signals:
        link_asked: A link was clicked.
        regenerate_wanted: The user wants another answer instead of the one with this id.
        more_wanted: The user wants the answer with this id to be continued.
        version_wanted: The user wants to see the message with this id.
    """

    link_asked = Signal(str)
    regenerate_wanted = Signal(int)
    more_wanted = Signal(int)
    version_wanted = Signal(int)

    def __init__(self, model: str) -> None:
        """Create an empty answer of `model`."""
        super().__init__()
        self.turn_id = 0
        self.body = AnswerBody(f"Answer of {model}")
        self.body.link_asked.connect(self.link_asked)
        self.body.hide()
        self.model = ElidedLabel(short_name(model), "caption")
        self.model.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.status = StatusLine()
        self._bar = _Progress()
        self._bar.hide()
        self.copy = IconButton("copy", "Copy answer", "Copy")
        self.copy.setObjectName("copyAnswer")
        self.copy.clicked.connect(self._copy)
        self.again = IconButton("refresh", "Regenerate", tip="Regenerate; this answer is kept as a version")
        self.again.clicked.connect(lambda: self.regenerate_wanted.emit(self.turn_id))
        self.versions = VersionSwitch("answer")
        self.versions.wanted.connect(self.version_wanted)
        self.more = IconButton("right", "Continue the answer", "Continue")
        self.more.clicked.connect(lambda: self.more_wanted.emit(self.turn_id))
        for button in (self.copy, self.again, self.more):
            button.hide()
        self.actions_shown = MessageActions(self, (self.copy, self.again))
        self._tools = FlowLayout(None, theme.GAP_12)
        # At the end of the line, and what appears later before the others, so that no button moves under the pointer.
        for widget in (self._bar, self.more, self.versions, self.again, self.copy):
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
        return self.body.has_view_state

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
            self.status.setText("Answering…")

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
        self.turn_id = turn.id
        self.versions.show_versions(turn)
        self.again.setVisible(turn.id > 0)
        self.more.setVisible(turn.id > 0 and is_cut_short(turn))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setMimeData(self.body.copy_data())
        self.copy.confirm("check", "Copied")

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


class StatusLine(Label):
    """What happens to an answer; once it has ended, its speed, and at a click all statistics."""

    def __init__(self) -> None:
        """Show nothing."""
        super().__init__("", "caption", wrap=True)
        self._short = self._whole = ""

    def setText(self, text: str) -> None:
        """Show what happens to the answer."""
        self._short = self._whole = ""
        self.unsetCursor()
        self.setToolTip("")
        self.setAccessibleName("")
        super().setText(text)

    def show_end(self, short: str, whole: str) -> None:
        """Show the `short` statistics; the `whole` line is the tool tip, and shown at a click."""
        self.setText(short)
        self._short, self._whole = short, whole
        self.setToolTip(plain_tip(whole))
        self.setAccessibleName(whole)
        if whole != short:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Show all statistics, or only the speed again."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self._whole != self._short:
            shows_all = self.text() == self._whole
            super().setText(self._short if shows_all else self._whole)


class VersionSwitch(QWidget):
    """Shows which version of a message is displayed, with buttons for the others; hidden if there is only one.

    Signals:
        wanted: The user wants to see the version with this id.
    """

    wanted = Signal(int)

    def __init__(self, kind: str) -> None:
        """Create the switch; `kind` names the message for screen readers: `question` or `answer`."""
        super().__init__()
        self._turn: Turn | None = None
        self.older = IconButton("left", f"Previous {kind}")
        self.newer = IconButton("right", f"Next {kind}")
        self.place = Label("", "caption")
        self.older.clicked.connect(lambda: self._step(-1))
        self.newer.clicked.connect(lambda: self._step(1))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.older, self.place, self.newer):
            layout.addWidget(widget)
        self.hide()

    def show_versions(self, turn: Turn) -> None:
        """Show the number of `turn` among its versions."""
        self._turn = turn
        index = turn.versions.index(turn.id) if turn.id in turn.versions else 0
        self.place.setText(f"{index + 1} / {len(turn.versions)}")
        # As wide as for the last version, so that the buttons stay under the pointer.
        self.place.setFixedWidth(self.place.fontMetrics().horizontalAdvance("0" * len(self.place.text())))
        self.place.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.place.setAccessibleName(f"Version {index + 1} of {len(turn.versions)}")
        self.older.setEnabled(index > 0)
        self.newer.setEnabled(index + 1 < len(turn.versions))
        self.setVisible(len(turn.versions) > 1)

    def _step(self, by: int) -> None:
        if self._turn is not None and self._turn.id in self._turn.versions:
            self.wanted.emit(self._turn.versions[self._turn.versions.index(self._turn.id) + by])


class _Progress(QWidget):
    """A short progress bar."""

    def __init__(self) -> None:
        super().__init__()
        self.share = 0.0
        self.setFixedSize(120, 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current().tokens
        draw_bar(QPainter(self), QRectF(self.rect()), [(self.share, tokens.accent)], tokens.track)
