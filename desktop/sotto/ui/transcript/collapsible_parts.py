"""Parts of an answer that are folded away: what a model thought, and tools that it wants to use."""

import re
import time

from PySide6.QtCore import QRect, QRectF, Signal
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sotto.engine.contract.answer_parts import ToolCall
from sotto.ui.conversation.answer_wording import CUT_CALL, thought_line, tool_call_line
from sotto.ui.conversation.json_layout import fence_code, format_json
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton

_PREVIEW_LINES = 3
# What is enough to fill these lines.
_PREVIEW_LENGTH = 1200
_INDENT = theme.GAP_24


class CollapsiblePart(QWidget):
    """A line that unfolds what is below it. Once a reader has done that, or the reverse, only he changes it.

    Signals:
        unfolded: What is below it came into view for the first time.
    """

    unfolded = Signal()

    def __init__(self, what: str) -> None:
        """Be folded; `what` it is, for a screen reader."""
        super().__init__()
        self.setObjectName("fold")
        self._what = what
        self._body: MarkdownText | None = None
        self.open = False
        self.touched = False
        self.button = IconButton("right", f"Show {what}", "")
        self.button.setObjectName("unfold")
        self.title = ElidedLabel("", "muted")
        self.button.clicked.connect(self._toggle)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(theme.GAP_4)
        head.addWidget(self.button)
        head.addWidget(self.title, 1)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(theme.GAP_4)
        self._layout.addLayout(head)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def say(self, title: str) -> None:
        """Show another line."""
        self.title.setText(title)
        self.title.setAccessibleName(title)

    def _toggle(self) -> None:
        self.touched = True
        self.set_open(not self.open)

    def set_open(self, is_open: bool) -> None:
        """Show what is below, or fold it away."""
        self.open = is_open
        self.button.set_icon("down" if is_open else "right", f"{'Hide' if is_open else 'Show'} {self._what}")
        if is_open and self._body is None:
            self._body = MarkdownText("thought")
            self._body.setAccessibleName(self._what.capitalize())
            inside = QHBoxLayout()
            inside.setContentsMargins(_INDENT, 0, 0, 0)
            inside.addWidget(self._body)
            self._layout.addLayout(inside)
            self._fill(self._body)
            self.unfolded.emit()
        if self._body is not None:
            self._body.setVisible(is_open)

    @property
    def held(self) -> bool:
        """Whether a reader has done something to it."""
        return self.touched

    @property
    def text(self) -> MarkdownText | None:
        """What is below the line, once it has been shown."""
        return self._body

    def _fill(self, body: MarkdownText) -> None:
        """Put what there is so far into `body`."""


class ThoughtPart(CollapsiblePart):
    """What a model thinks: its newest lines while it comes, and then how long it took."""

    def __init__(self, live: bool) -> None:
        """Begin; `live` if it comes just now."""
        super().__init__("what the model thought")
        self._parts: list[str] = []
        self._since = time.monotonic() if live else None
        self._ended = False
        self.preview = _Preview()
        below = QHBoxLayout()
        below.setContentsMargins(_INDENT, 0, 0, 0)
        below.addWidget(self.preview)
        self._layout.addLayout(below)
        self.preview.setVisible(False)
        self.say("Thinking…")

    @property
    def markdown(self) -> str:
        """What was thought so far."""
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def append(self, text: str) -> None:
        """Show more of it."""
        if not self.markdown_begun:
            text = text.lstrip()
        if not text:
            return
        self._parts.append(text)
        if self._body is not None:
            self._body.append_markdown(text)
        if self._since is not None and not self._ended:
            self.preview.append(text)
            self.preview.setVisible(not self.open and not self.touched)

    @property
    def markdown_begun(self) -> bool:
        """Whether anything has been thought."""
        return bool(self._parts)

    def end(self) -> None:
        """Show that it is complete, and for how long it went on."""
        if self._ended:
            return
        self._ended = True
        self.took(round(time.monotonic() - self._since) if self._since is not None else 0)
        self.preview.hide()
        if self._body is not None:
            self._body.finish()

    def took(self, seconds: int) -> None:
        """Show for how long it went on, if that is worth a number."""
        self.say(thought_line(seconds))

    def set_open(self, is_open: bool) -> None:
        """Show all of it, or none."""
        super().set_open(is_open)
        self.preview.setVisible(not is_open and not self.touched and not self._ended and bool(self._parts))

    def _fill(self, body: MarkdownText) -> None:
        body.append_markdown(self.markdown)
        if self._ended:
            body.finish()


class ToolCallPart(CollapsiblePart):
    """A tool that a model wants to use. Nothing runs."""

    def __init__(self) -> None:
        """Begin."""
        super().__init__("what the model wants to hand to the tool")
        self._markdown = ""
        self.say("Choosing a tool…")

    @property
    def known(self) -> bool:
        """Whether it has come to what it is."""
        return bool(self._markdown)

    def show_call(self, call: ToolCall) -> None:
        """Show what it is."""
        self._show(tool_call_line(call), fence_code(format_json(call.arguments)))

    def show_cut(self, written: str) -> None:
        """Show that the answer ends in the middle of it, and what was written of it."""
        self._show(CUT_CALL, fence_code(written, ""))

    def _show(self, title: str, markdown: str) -> None:
        self._markdown = markdown
        self.say(title)
        if self._body is not None:
            self._fill(self._body)

    def _fill(self, body: MarkdownText) -> None:
        if self._markdown:
            body.append_markdown(f"{self._markdown}\n")
            body.finish()


class _Preview(QWidget):
    """The newest lines of a thought, of which the oldest fades."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Newest thoughts")
        self._text = ""
        theme.current().changed.connect(self._measure)
        self._measure()

    def _measure(self) -> None:
        self.setFont(theme.current().font(0.96))
        self.setFixedHeight(_PREVIEW_LINES * self.fontMetrics().lineSpacing())

    def append(self, text: str) -> None:
        """Show what is new at the end."""
        # A line is begun anew from time to time only, so that words do not move from line to line with each new one.
        self._text += text
        if len(self._text) > 2 * _PREVIEW_LENGTH:
            self._text = self._text[-_PREVIEW_LENGTH:].partition(" ")[2] or self._text[-_PREVIEW_LENGTH:]
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text from the bottom up."""
        tokens, painter = theme.current().tokens, QPainter(self)
        painter.setPen(QColor(tokens.muted))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        text = "\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", self._text.strip()))
        needed = painter.boundingRect(QRectF(0, 0, self.width(), 1 << 20), text, option).height()
        painter.drawText(QRectF(0, self.height() - needed, self.width(), needed), text, option)
        if needed > self.height():
            line = self.fontMetrics().lineSpacing()
            fade = QLinearGradient(0, 0, 0, 2 * line)
            ground = QColor(tokens.page)
            fade.setColorAt(0, ground)
            ground.setAlpha(0)
            fade.setColorAt(1, ground)
            painter.fillRect(QRect(0, 0, self.width(), 2 * line), fade)
