"""The conversation: one column of messages that follows an answer without ever moving against its reader."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from sotto.engine.types import PrefillProgress
from sotto.ui import theme, words
from sotto.ui.message_text import MarkdownText, PlainText
from sotto.ui.parts import IconButton, Label, draw_bar

COLUMN = 720
_BUBBLE_SHARE = 0.8
_BUTTON = 30


class UserMessage(QWidget):
    """What a person said, in a bubble at the right."""

    def __init__(self, text: str) -> None:
        """Show `text`."""
        super().__init__()
        self.text = PlainText(text)
        self.text.setAccessibleName("Your message")
        bubble = QFrame()
        bubble.setObjectName("bubble")
        inside = QVBoxLayout(bubble)
        inside.setContentsMargins(theme.GAP_16, theme.GAP_8 + 2, theme.GAP_16, theme.GAP_8 + 2)
        inside.addWidget(self.text)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addStretch(1)
        layout.addWidget(bubble)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make the bubble as wide as its text, up to a part of the column."""
        super().resizeEvent(event)
        room = round(self.width() * _BUBBLE_SHARE) - 2 * theme.GAP_16
        self.text.setFixedWidth(max(theme.GAP_32, min(self.text.widest(), room)))


class AnswerMessage(QWidget):
    """What a model says: its text, and under it how far it is or what it took."""

    def __init__(self, model: str) -> None:
        """Wait for the first words of `model`."""
        super().__init__()
        self.text = MarkdownText()
        self.text.setAccessibleName(f"Answer of {model}")
        self.text.hide()
        self.status = Label("", "caption", wrap=True)
        self._bar = _Progress()
        self._bar.hide()
        self.copy = IconButton("copy", "Copy answer", "Copy")
        self.copy.setObjectName("copyAnswer")
        self.copy.clicked.connect(self._copy)
        self.copy.hide()
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 0, 0, 0)
        foot.setSpacing(theme.GAP_12)
        foot.addWidget(self.copy)
        foot.addWidget(self._bar)
        foot.addWidget(self.status, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.text)
        layout.addLayout(foot)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_waiting(self, line: str) -> None:
        """Say what the answer waits for."""
        self.status.setText(line)

    def show_prefill(self, progress: PrefillProgress) -> None:
        """Show how much of the prompt has been read."""
        self.status.setText(words.prefill_line(progress))
        self._bar.share = progress.done / progress.total if progress.total else 0.0
        self._bar.show()
        self._bar.update()

    def append(self, text: str) -> None:
        """Show more of the answer."""
        if text and self.text.isHidden():
            self.text.show()
            self._bar.hide()
            self.status.setText("Answering…")
        self.text.append_markdown(text)

    def end(self, line: str) -> None:
        """Show that nothing more comes, and a line of figures."""
        self.text.finish()
        self._bar.hide()
        self.copy.setVisible(bool(self.text.markdown))
        self.status.setText(line)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.markdown)
        self.copy.confirm("check", "Copied")


class _Progress(QWidget):
    """A short bar."""

    def __init__(self) -> None:
        super().__init__()
        self.share = 0.0
        self.setFixedSize(120, 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current().tokens
        draw_bar(QPainter(self), QRectF(self.rect()), [(self.share, tokens.accent)], tokens.track)


class Transcript(QScrollArea):
    """The messages of a chat.

    Signals:
        link_asked: A link in a message was clicked.
    """

    link_asked = Signal(str)

    def __init__(self) -> None:
        """Show an empty chat."""
        super().__init__()
        self.setObjectName("transcript")
        self.setAccessibleName("Conversation")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget()
        body.setObjectName("transcriptBody")
        self._column = QWidget()
        self._column.setObjectName("column")
        self._messages = QVBoxLayout(self._column)
        self._messages.setContentsMargins(0, theme.GAP_24, 0, theme.GAP_32)
        self._messages.setSpacing(theme.GAP_24)
        self._messages.addStretch(1)
        self._across = across = QHBoxLayout(body)
        across.addStretch(1)
        across.addWidget(self._column, 1000)
        across.addStretch(1)
        self.setWidget(body)
        self.following = True
        self._released = False
        self._answer: AnswerMessage | None = None
        self.newest = IconButton("arrow-down", "Go to the newest text", role="", color="text")
        self.newest.setObjectName("newest")
        self.newest.setParent(self)
        self.newest.clicked.connect(self.go_to_newest)
        self.newest.hide()
        self.verticalScrollBar().rangeChanged.connect(self._grown)
        self.verticalScrollBar().valueChanged.connect(self._place_button)
        self.verticalScrollBar().sliderPressed.connect(self._let_go)
        self.verticalScrollBar().actionTriggered.connect(self._let_go)
        theme.current().changed.connect(self._measure)
        self._measure()
        self._grown()

    @property
    def empty(self) -> bool:
        """Whether there is no message."""
        return self._messages.count() == 1

    @property
    def answer(self) -> AnswerMessage | None:
        """The newest answer."""
        return self._answer

    def add_question(self, text: str) -> UserMessage:
        """Show what a person said, and follow what comes."""
        message = UserMessage(text)
        self._insert(message)
        self.go_to_newest()
        self._released = False
        return message

    def add_answer(self, model: str) -> AnswerMessage:
        """Show that an answer of `model` is on its way."""
        answer = AnswerMessage(model)
        answer.text.link_asked.connect(self.link_asked)
        self._insert(answer)
        self._answer = answer
        self._name_button()
        return answer

    def end_answer(self, line: str) -> None:
        """Show that the newest answer is complete."""
        if self._answer is not None:
            self._answer.end(line)
            self._answer = None
        self._name_button()

    def remove_last(self) -> None:
        """Take the newest message away."""
        item = self._messages.takeAt(self._messages.count() - 2)
        if item is not None and (widget := item.widget()) is not None:
            if widget is self._answer:
                self._answer = None
            widget.hide()
            widget.deleteLater()

    def clear(self) -> None:
        """Begin an empty chat."""
        while not self.empty:
            self.remove_last()
        self._answer = None
        self.following, self._released = True, False

    def go_to_newest(self) -> None:
        """Scroll to the end and follow what comes there."""
        self.following = True
        self._to_end()

    def _last(self) -> QWidget | None:
        item = self._messages.itemAt(self._messages.count() - 2)
        return item.widget() if item is not None else None

    def _insert(self, widget: QWidget) -> None:
        self._messages.insertWidget(self._messages.count() - 1, widget)

    def _grown(self) -> None:
        """Follow the text, until an answer is taller than the view: then its beginning stays in sight, once."""
        last = self._last()
        outgrown = isinstance(last, AnswerMessage) and last.height() > self.viewport().height() - theme.GAP_32
        if self.following and not self._released and last is not None and outgrown:
            self._released = True
            self.following = False
            self._set(last.y() - theme.GAP_16)
        if self.following:
            self._to_end()
        # The column keeps its place when the scroll bar comes and goes.
        bar = self.verticalScrollBar()
        taken = bar.sizeHint().width() if bar.maximum() > 0 else 0
        self._across.setContentsMargins(theme.GAP_32, 0, theme.GAP_32 - taken, 0)
        self._place_button()

    def _to_end(self) -> None:
        self._set(self.verticalScrollBar().maximum())

    def _set(self, value: int) -> None:
        self.verticalScrollBar().setValue(value)

    def _let_go(self) -> None:
        self.following = False

    def _place_button(self) -> None:
        bar = self.verticalScrollBar()
        away = bar.maximum() - bar.value() > theme.GAP_32
        self.newest.setVisible(away and not self.following)
        if away:
            size = self.newest.sizeHint()
            edge = max(size.width(), size.height(), _BUTTON)
            self.newest.setFixedSize(edge, edge)
            x = (self.viewport().width() - self.newest.width()) // 2
            self.newest.move(x, self.viewport().height() - self.newest.height() - theme.GAP_12)
            self.newest.raise_()

    def _name_button(self) -> None:
        coming = ", answer in progress" if self._answer is not None else ""
        self.newest.setAccessibleName(f"Go to the newest text{coming}")

    def _measure(self) -> None:
        self._column.setMaximumWidth(max(COLUMN, theme.current().scaled(COLUMN)))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll, and follow no longer."""
        if event.angleDelta().y() > 0 or event.pixelDelta().y() > 0:
            self._let_go()
        super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by keys, and follow no longer."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_Home):
            self._let_go()
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stay at the end if that is where the reader is."""
        super().resizeEvent(event)
        if self.following:
            self._to_end()
        self._place_button()
