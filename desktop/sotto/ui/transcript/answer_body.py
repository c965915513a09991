"""The body of an answer: its text, and in their places what was thought and which tools are wanted."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from sotto.engine.contract.answer_parts import Kind, Piece, markup
from sotto.engine.parsing.answer_parser import Parser
from sotto.engine.parsing.families import KEPT
from sotto.ui.conversation.json_layout import FENCE, JsonLayout
from sotto.ui.conversation.plain_markdown import unfinished_call
from sotto.ui.markdown.clipboard import mime_of_code, mime_of_markdown
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.toolkit import theme
from sotto.ui.transcript.collapsible_parts import ThoughtPart, ToolCallPart


class AnswerBody(QWidget):
    """A column of the parts of an answer, in the order in which they came.

    Attributes:
        is_json: Whether its text is JSON, which is laid out for people; set before anything is shown.

    Signals:
        link_asked: A link was clicked.
    """

    link_asked = Signal(str)

    def __init__(self, name: str) -> None:
        """Be empty; `name` is what a screen reader says."""
        super().__init__()
        self._name = name
        self.is_json = False
        self._layout, self._json = JsonLayout(), list[str]()
        self._raw: list[str] = []
        self._parser = Parser(KEPT)
        self._live = True
        self.parts: list[MarkdownText | ThoughtPart | ToolCallPart] = []
        self._open: MarkdownText | ThoughtPart | ToolCallPart | None = None
        # What was written of the call that the answer ends in, as far as it has come.
        self._begun_call = ""
        self._blank = ""  # white space that shows only if something follows it
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.GAP_12)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def markdown(self) -> str:
        """The whole answer as it is kept, with tags."""
        self._raw = ["".join(self._raw)]
        return self._raw[0]

    @property
    def texts(self) -> list[MarkdownText]:
        """The parts that are neither thoughts nor calls."""
        return [part for part in self.parts if isinstance(part, MarkdownText)]

    @property
    def held(self) -> bool:
        """Whether a reader has done something to it that would be lost if it were made anew."""
        return any(part.held for part in self.parts)

    def append(self, text: str, live: bool = True) -> None:
        """Show more of an answer as it was kept; `live` if it comes just now."""
        self._live = live
        self._raw.append(text)
        for piece in self._parser.feed(text):
            self._show(piece)

    def flush(self) -> None:
        """Show all of what was kept; what comes next goes on with it."""
        held = self._parser.finish()
        self._begun_call = unfinished_call(held) if held else self._begun_call
        for piece in held:
            self._show(piece)
        self._parser = Parser(KEPT)

    def grow(self, pieces: Iterable[Piece]) -> None:
        """Show what has just come of the answer."""
        self._live = True
        pieces = tuple(pieces)
        self._begun_call = unfinished_call(pieces)
        self._raw.append(markup(pieces, begun=any(self._raw)))
        for piece in pieces:
            self._show(piece)

    def finish(self) -> None:
        """Show that nothing more comes."""
        self.flush()
        self._close()

    def fold_begun_call(self) -> None:
        """Fold away what was written of a call in which the answer was cut short; it is the last part by itself."""
        if not self._begun_call:
            return
        self._drop(self.parts[-1])
        call = ToolCallPart()
        self._begin(call)
        call.show_cut(self._begun_call)
        self._open = None

    def show_durations(self, seconds: Sequence[int]) -> None:
        """Show how long thoughts took, in order, as far as that is known."""
        thoughts = [part for part in self.parts if isinstance(part, ThoughtPart)]
        for thought, took in zip(thoughts, seconds, strict=False):
            thought.took(took)

    def place(self) -> None:
        """Tell what is in view that another part of it may be."""
        for part in self.parts:
            text = part if isinstance(part, MarkdownText) else part.text
            if text is not None and text.isVisible():
                text.place()

    def copied(self) -> QMimeData:
        """Return the answer without what was thought and which tools were wanted."""
        if self._json:
            return mime_of_code("".join(self._json))
        return mime_of_markdown("\n\n".join(part.markdown.strip() for part in self.texts))

    def _show(self, piece: Piece) -> None:
        if piece.turned:
            self._turn()
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

    def _turn(self) -> None:
        """Make a thought of the text that has come so far: its end shows that it was one."""
        thought = ThoughtPart(live=False)
        text = self._open.markdown.removeprefix(FENCE) if isinstance(self._open, MarkdownText) else ""
        if isinstance(self._open, MarkdownText):
            self._drop(self._open)
        self._begin(thought)
        thought.append(text)
        self._close()

    def _begin_text(self) -> MarkdownText:
        text = MarkdownText()
        text.setAccessibleName(self._name)
        text.link_asked.connect(self.link_asked)
        self.parts.append(text)
        self._column.addWidget(text)
        if self.is_json:
            # All of it is code, which ends with it.
            text.append_markdown(FENCE)
        return text

    def _begin(self, part: ThoughtPart | ToolCallPart) -> None:
        self._close()
        self._open, self._blank = part, ""
        self.parts.append(part)
        self._column.addWidget(part)
        part.unfolded.connect(lambda: part.text.link_asked.connect(self.link_asked) if part.text else None)

    def _close(self) -> None:
        """Complete the part that is open."""
        if isinstance(self._open, MarkdownText):
            self._open.finish()
        elif isinstance(self._open, ThoughtPart):
            self._open.end()
            if not self._open.markdown_begun:
                # Templates ask for no thought by an empty one.
                self._drop(self._open)
        elif isinstance(self._open, ToolCallPart) and not self._open.known:
            # It was none, or the answer broke off in front of it.
            self._drop(self._open)
        self._open = None

    def _drop(self, part: MarkdownText | ThoughtPart | ToolCallPart) -> None:
        self.parts.remove(part)
        part.hide()
        part.deleteLater()
