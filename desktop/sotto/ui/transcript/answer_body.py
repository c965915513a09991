"""The body of an answer: text, thoughts and tool calls in the order in which they arrived."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from sotto.engine.contract.answer_parts import Kind, Piece, markup
from sotto.engine.parsing.answer_parser import Parser
from sotto.engine.parsing.families import STORED
from sotto.ui.conversation.json_layout import FENCE, JsonLayout
from sotto.ui.conversation.plain_markdown import unfinished_call
from sotto.ui.markdown.clipboard import mime_of_code, mime_of_markdown
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.toolkit import theme
from sotto.ui.transcript.collapsible_parts import ThoughtPart, ToolCallPart


class AnswerBody(QWidget):
    """A column with the parts of an answer.

    Attributes:
        is_json: Whether the text is JSON, which is pretty-printed; to be set before the first text.
        parts: The widgets of the parts, in order.

    Signals:
        link_asked: A link was clicked.
    """

    link_asked = Signal(str)

    def __init__(self, name: str) -> None:
        """Create an empty body; `name` is for screen readers."""
        super().__init__()
        self._name = name
        self.is_json = False
        self._layout, self._json = JsonLayout(), list[str]()
        self._raw: list[str] = []
        self._parser = Parser(STORED)
        self._live = True
        self.parts: list[MarkdownText | ThoughtPart | ToolCallPart] = []
        self._open: MarkdownText | ThoughtPart | ToolCallPart | None = None
        # Text of an unfinished tool call at the end of the answer.
        self._begun_call = ""
        self._blank = ""  # white space that is shown only if text follows
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.GAP_12)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def markdown(self) -> str:
        """The whole answer in the stored form, with tags."""
        self._raw = ["".join(self._raw)]
        return self._raw[0]

    @property
    def texts(self) -> list[MarkdownText]:
        """The parts that are neither thoughts nor tool calls."""
        return [part for part in self.parts if isinstance(part, MarkdownText)]

    @property
    def has_view_state(self) -> bool:
        """Whether recreating the widget would lose something that the reader did, such as unfolding a part."""
        return any(part.has_view_state for part in self.parts)

    def append(self, text: str, live: bool = True) -> None:
        """Append text in the stored form; `live` if the answer is arriving now."""
        self._live = live
        self._raw.append(text)
        for piece in self._parser.feed(text):
            self._show(piece)

    def flush(self) -> None:
        """Show everything appended so far; later text continues it."""
        pieces = self._parser.finish()
        self._begun_call = unfinished_call(pieces) if pieces else self._begun_call
        for piece in pieces:
            self._show(piece)
        self._parser = Parser(STORED)

    def grow(self, pieces: Iterable[Piece]) -> None:
        """Append pieces that have just arrived."""
        self._live = True
        pieces = tuple(pieces)
        self._begun_call = unfinished_call(pieces)
        self._raw.append(markup(pieces, begun=any(self._raw)))
        for piece in pieces:
            self._show(piece)

    def finish(self) -> None:
        """Complete the answer."""
        self.flush()
        self._close()

    def fold_begun_call(self) -> None:
        """Turn the text of an unfinished tool call, which is the last part, into a collapsible part."""
        if not self._begun_call:
            return
        self._remove(self.parts[-1])
        call = ToolCallPart()
        self._begin(call)
        call.show_cut(self._begun_call)
        self._open = None

    def show_durations(self, seconds: Sequence[int]) -> None:
        """Show how long the thoughts took, in order; later ones are left alone if `seconds` is shorter."""
        thoughts = [part for part in self.parts if isinstance(part, ThoughtPart)]
        for thought, duration in zip(thoughts, seconds, strict=False):
            thought.show_duration(duration)

    def place(self) -> None:
        """Let visible texts know that another part of them may be in view."""
        for part in self.parts:
            text = part if isinstance(part, MarkdownText) else part.text
            if text is not None and text.isVisible():
                text.place()

    def copy_data(self) -> QMimeData:
        """Return the answer for the clipboard, without thoughts and tool calls."""
        if self._json:
            return mime_of_code("".join(self._json))
        return mime_of_markdown("\n\n".join(part.markdown.strip() for part in self.texts))

    def _show(self, piece: Piece) -> None:
        if piece.turned:
            self._turn_into_thought()
            return
        if piece.begins:
            self._begin(ThoughtPart(self._live) if piece.kind is Kind.THOUGHT else ToolCallPart())
        if piece.text:
            self._grow(piece)
        if isinstance(self._open, ToolCallPart) and piece.call is not None:
            self._open.show_call(piece.call)
        if piece.ends:
            self._close()

    def _grow(self, piece: Piece) -> None:
        if piece.kind is Kind.THOUGHT:
            if not isinstance(self._open, ThoughtPart):
                self._begin(ThoughtPart(self._live))
            assert isinstance(self._open, ThoughtPart)
            self._open.append(piece.text)
            return
        text = self._blank + piece.text
        if not isinstance(self._open, MarkdownText):
            if not text.strip():
                self._blank = text
                return
            self._open = self._begin_text()
        self._blank = ""
        if self.is_json:
            text = self._layout.feed(text)
            self._json.append(text)
        self._open.append_markdown(text)

    def _turn_into_thought(self) -> None:
        """Turn the text so far into a thought, when its end tag shows that it was one."""
        thought = ThoughtPart(live=False)
        text = self._open.markdown.removeprefix(FENCE) if isinstance(self._open, MarkdownText) else ""
        if isinstance(self._open, MarkdownText):
            self._remove(self._open)
        self._begin(thought)
        thought.append(text)
        self._close()

    def _begin_text(self) -> MarkdownText:
        text = MarkdownText()
        text.setAccessibleName(self._name)
        text.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        text.link_asked.connect(self.link_asked)
        self.parts.append(text)
        self._column.addWidget(text)
        if self.is_json:
            # The whole answer is one code block.
            text.append_markdown(FENCE)
        return text

    def _begin(self, part: ThoughtPart | ToolCallPart) -> None:
        self._close()
        self._open, self._blank = part, ""
        self.parts.append(part)
        self._column.addWidget(part)
        part.unfolded.connect(lambda: part.text.link_asked.connect(self.link_asked) if part.text else None)

    def _close(self) -> None:
        """Complete the open part."""
        if isinstance(self._open, MarkdownText):
            self._open.finish()
        elif isinstance(self._open, ThoughtPart):
            self._open.end()
            if not self._open.has_text:
                # Some templates disable thinking by an empty thought.
                self._remove(self._open)
        elif isinstance(self._open, ToolCallPart) and not self._open.has_call:
            # It was not a tool call, or the answer was cut off before it.
            self._remove(self._open)
        self._open = None

    def _remove(self, part: MarkdownText | ThoughtPart | ToolCallPart) -> None:
        self.parts.remove(part)
        part.hide()
        part.deleteLater()
