"""One message of a conversation, of a person or of a model."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sotto.chats.chat_records import Turn
from sotto.engine.contract.answer_parts import Piece
from sotto.engine.contract.events import PrefillProgress
from sotto.ui.conversation.answer_wording import answer_line, is_cut_short, pace_line, prefill_line, thought_seconds
from sotto.ui.markdown.text_browser import PlainText
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.state.names import short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.flow_layout import FlowLayout
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, Label, draw_bar
from sotto.ui.transcript.answer_body import AnswerBody
from sotto.ui.transcript.attachment_chips import SentAttachments
from sotto.ui.transcript.question_editor import QuestionEditor

_BUBBLE_SHARE = 0.8
# What the line of figures needs beside the buttons, at 13 px text.
_FIGURES = 160


class UserMessage(QWidget):
    """What a person said, in a bubble at the right; it can be edited, and its versions be turned over.

    Signals:
        edited: The person asks something else in place of the question of this number.
        version_wanted: The person wants to see the message of this number.

    Attributes:
        editor: Where it is written anew; None while it is not.
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
        self.versions = VersionSwitch("question")
        self.versions.wanted.connect(self.version_wanted)
        self.editor: QuestionEditor | None = None
        if not turn.text:
            # There is nothing to show but what went along.
            self._bubble.hide()
        across = QHBoxLayout()
        across.addStretch(1)
        across.addWidget(self._bubble)
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
        layout.addLayout(across)
        layout.addLayout(foot)
        self.show_turn(turn)

    @property
    def number(self) -> int:
        """Its number."""
        return self._turn.id

    @property
    def held(self) -> bool:
        """Whether it must not be made anew, because something in it would be lost."""
        return self.editor is not None or self.text.textCursor().hasSelection()

    @property
    def texts(self) -> list[PlainText]:
        """Its text."""
        return [self.text]

    def show_turn(self, turn: Turn) -> None:
        """Show its versions, and go by its number from now on."""
        self._turn = turn
        self.versions.show_versions(turn)
        self.edit.setEnabled(turn.id > 0)

    def _begin_edit(self) -> None:
        if self.editor is None:
            self.editor = QuestionEditor(self._turn.text)
            self.editor.sent.connect(self._finish_edit)
            self.editor.dropped.connect(self.end_edit)
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
        """Whether it is being written anew."""
        return self.editor is not None

    def end_edit(self) -> None:
        """Leave the question as it was."""
        if self.editor is not None:
            editor, self.editor = self.editor, None
            editor.hide()
            editor.deleteLater()
        self._bubble.setVisible(bool(self._turn.text))
        self.edit.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make the bubble as wide as its text, up to a part of the column."""
        super().resizeEvent(event)
        room = round(self.width() * _BUBBLE_SHARE) - 2 * theme.GAP_16
        self.text.setFixedWidth(max(theme.GAP_32, min(self.text.widest(), room)))


class AnswerMessage(QWidget):
    """What a model says: its text, and under it how far it is or what it took.

    Signals:
        link_asked: A link was clicked.
        regenerate_wanted: Another answer is wanted in place of the one of this number.
        more_wanted: The person wants the answer of this number to go on.
        version_wanted: The person wants to see the message of this number.
    """

    link_asked = Signal(str)
    regenerate_wanted = Signal(int)
    more_wanted = Signal(int)
    version_wanted = Signal(int)

    def __init__(self, model: str) -> None:
        """Wait for the first words of `model`."""
        super().__init__()
        self.number = 0
        self.body = AnswerBody(f"Answer of {model}")
        self.body.link_asked.connect(self.link_asked)
        self.body.hide()
        self.model = ElidedLabel(short_name(model), "caption")
        self.model.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.status = Label("", "caption", wrap=True)
        self._bar = _Progress()
        self._bar.hide()
        self.copy = IconButton("copy", "Copy answer", "Copy")
        self.copy.setObjectName("copyAnswer")
        self.copy.clicked.connect(self._copy)
        self.again = IconButton("refresh", "Answer again", tip="Answer again; this answer stays as a version")
        self.again.clicked.connect(lambda: self.regenerate_wanted.emit(self.number))
        self.versions = VersionSwitch("answer")
        self.versions.wanted.connect(self.version_wanted)
        self.more = IconButton("right", "Continue the answer", "Continue")
        self.more.clicked.connect(lambda: self.more_wanted.emit(self.number))
        for button in (self.copy, self.again, self.more):
            button.hide()
        self._tools = FlowLayout(None, theme.GAP_12)
        for widget in (self.versions, self.copy, self.again, self.more, self.model, self._bar):
            self._tools.addWidget(widget)
        self._foot = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._foot.setContentsMargins(0, 0, 0, 0)
        self._foot.setSpacing(theme.GAP_12)
        self._foot.addLayout(self._tools)
        self._foot.setAlignment(self._tools, Qt.AlignmentFlag.AlignVCenter)
        self._foot.addWidget(self.status, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.body)
        layout.addLayout(self._foot)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def held(self) -> bool:
        """Whether it must not be made anew, because something in it would be lost."""
        return self.body.held

    @property
    def text(self) -> MarkdownText:
        """The newest part that is neither thought nor call; there must be one."""
        return self.texts[-1]

    @property
    def texts(self) -> list[MarkdownText]:
        """Its text in order, without thoughts and calls."""
        return self.body.texts

    def show_waiting(self, line: str) -> None:
        """Say what the answer waits for."""
        self.status.setText(line)

    def show_prefill(self, progress: PrefillProgress, why: str = "") -> None:
        """Show how much of the prompt has been read, and why it is read anew where it is."""
        self.status.setText(prefill_line(progress, why))
        self._bar.share = progress.done / progress.total if progress.total else 0.0
        self._bar.show()
        self._bar.update()

    def hold(self, turn: Turn) -> None:
        """Show the answer as what it is held to, before anything of it has come."""
        self.body.is_json = turn.is_json

    def append(self, text: str) -> None:
        """Show more of an answer as it was kept."""
        if text:
            self._begin()
            self.body.append(text)

    def resume(self, text: str) -> None:
        """Show what there is of an answer that is gone on with."""
        self.append(text)
        self.body.flush()

    def grow(self, pieces: Sequence[Piece]) -> None:
        """Show what has just come of the answer."""
        if pieces:
            self._begin()
            self.body.grow(pieces)

    def _begin(self) -> None:
        if self.body.isHidden():
            self.body.show()
            self._bar.hide()
            self.status.setText("Answering…")

    def show_pace(self, tokens: int, rate: float) -> None:
        """Show how far the answer has come, and about how fast."""
        self.status.setText(pace_line(tokens, rate))

    def end(self, turn: Turn) -> None:
        """Show that nothing more comes, and a line of figures."""
        self.body.finish()
        if is_cut_short(turn):
            self.body.fold_begun_call()
        self.body.show_durations(thought_seconds(turn))
        self._bar.hide()
        self.copy.setVisible(bool(self.body.texts))
        self.status.setText(answer_line(turn))
        self.show_turn(turn)

    def show_complete(self, turn: Turn) -> None:
        """Show an answer that came long ago."""
        self.hold(turn)
        if turn.text:
            self.body.show()
            self.body.append(turn.text, live=False)
        self.end(turn)

    def show_turn(self, turn: Turn) -> None:
        """Show its versions, and go by its number from now on."""
        self.number = turn.id
        self.versions.show_versions(turn)
        self.again.setVisible(turn.id > 0)
        self.more.setVisible(turn.id > 0 and is_cut_short(turn))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setMimeData(self.body.copied())
        self.copy.confirm("check", "Copied")

    def _fit(self) -> None:
        """Put the line of figures beside the buttons, or below them where it would be one word wide."""
        beside = self.width() >= self._tools.sizeHint().width() + theme.GAP_12 + theme.current().scaled(_FIGURES)
        to = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._foot.direction() is not to:
            self._foot.setDirection(to)
            self._foot.setSpacing(theme.GAP_12 if beside else theme.GAP_4)
            self._foot.update()

    def event(self, event: QEvent) -> bool:
        """See what there is room for when there is more to show, or less room."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._fit()
        return super().event(event)


class VersionSwitch(QWidget):
    """Which of several versions of a message is in view, and the way to the others; hidden where there is one.

    Signals:
        wanted: The person wants to see the version of this number.
    """

    wanted = Signal(int)

    def __init__(self, of: str) -> None:
        """Belong to a message that is called `of`."""
        super().__init__()
        self._turn: Turn | None = None
        self.older = IconButton("left", f"Show the {of} before")
        self.newer = IconButton("right", f"Show the {of} after")
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
        """Show where `turn` stands among its versions."""
        self._turn = turn
        among = turn.versions.index(turn.id) if turn.id in turn.versions else 0
        self.place.setText(f"{among + 1} / {len(turn.versions)}")
        self.place.setAccessibleName(f"Version {among + 1} of {len(turn.versions)}")
        self.older.setEnabled(among > 0)
        self.newer.setEnabled(among + 1 < len(turn.versions))
        self.setVisible(len(turn.versions) > 1)

    def _step(self, by: int) -> None:
        if self._turn is not None and self._turn.id in self._turn.versions:
            self.wanted.emit(self._turn.versions[self._turn.versions.index(self._turn.id) + by])


class _Progress(QWidget):
    """A short bar."""

    def __init__(self) -> None:
        super().__init__()
        self.share = 0.0
        self.setFixedSize(120, 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current().tokens
        draw_bar(QPainter(self), QRectF(self.rect()), [(self.share, tokens.accent)], tokens.track)
