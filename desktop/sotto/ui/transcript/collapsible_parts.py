"""The collapsible parts of an answer: thoughts and tool calls."""

import re
import time
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sotto.engine.contract.answer_parts import ToolCall
from sotto.ui.conversation.answer_wording import CUT_CALL, thought_line, tool_call_line
from sotto.ui.conversation.json_layout import fence_code, format_json
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton

_PREVIEW_LINES = 3
# Characters that are enough to fill these lines.
_PREVIEW_LENGTH = 1200
_INDENT = theme.GAP_24


@dataclass(frozen=True, slots=True)
class _Names:
    """What the button of a part is called while its content is hidden and while it is shown, and the content itself."""

    show: str
    hide: str
    content: str


class CollapsiblePart(QWidget):
    """A title with a button that shows or hides the content below it.

    Signals:
        unfolded: The content was shown for the first time.

    Attributes:
        open: Whether the content is shown.
        touched: Whether the reader has shown or hidden the content; from then on nothing else changes that.
    """

    unfolded = Signal()

    def __init__(self, names: _Names) -> None:
        """Create a collapsed part."""
        super().__init__()
        self.setObjectName("fold")
        self._names = names
        self._body: MarkdownText | None = None
        self.open = False
        self.touched = False
        self.button = IconButton("right", names.show)
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

    def set_title(self, title: str) -> None:
        """Replace the title."""
        self.title.setText(title)
        self.title.setAccessibleName(title)

    def _toggle(self) -> None:
        self.touched = True
        self.set_open(not self.open)

    def set_open(self, is_open: bool) -> None:
        """Show or hide the content."""
        self.open = is_open
        icon, name = ("down", self._names.hide) if is_open else ("right", self._names.show)
        self.button.set_icon(icon, name)
        if is_open and self._body is None:
            self._body = MarkdownText("thought")
            self._body.setAccessibleName(self._names.content)
            self._body.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
            inside = QHBoxLayout()
            inside.setContentsMargins(theme.margins(_INDENT, 0, 0, 0))
            inside.addWidget(self._body)
            self._layout.addLayout(inside)
            self._fill(self._body)
            self.unfolded.emit()
        if self._body is not None:
            self._body.setVisible(is_open)

    @property
    def has_view_state(self) -> bool:
        """Whether recreating the widget would lose what the reader did."""
        return self.touched

    @property
    def text(self) -> MarkdownText | None:
        """The content; None until it is shown for the first time."""
        return self._body

    def _fill(self, body: MarkdownText) -> None:
        """Fill `body` with the content so far."""


class ThoughtPart(CollapsiblePart):
    """A thought of the model: shows its newest lines while it arrives, and then how long it took."""

    def __init__(self, live: bool) -> None:
        """Create an empty thought; `live` if it is arriving now."""
        super().__init__(_Names(tr("Show thoughts"), tr("Hide thoughts"), tr("Thoughts")))
        self._parts: list[str] = []
        self._since = time.monotonic() if live else None
        self._ended = False
        self.preview = _Preview()
        below = QHBoxLayout()
        below.setContentsMargins(theme.margins(_INDENT, 0, 0, 0))
        below.addWidget(self.preview)
        self._layout.addLayout(below)
        self.preview.setVisible(False)
        self.set_title(tr("Thinking…"))

    @property
    def markdown(self) -> str:
        """The thought so far."""
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def append(self, text: str) -> None:
        """Append text."""
        if not self.has_text:
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
    def has_text(self) -> bool:
        """Whether the thought contains any text."""
        return bool(self._parts)

    def end(self) -> None:
        """Complete the thought and show how long it took."""
        if self._ended:
            return
        self._ended = True
        self.show_duration(round(time.monotonic() - self._since) if self._since is not None else 0)
        self.preview.hide()
        if self._body is not None:
            self._body.finish()

    def show_duration(self, seconds: int) -> None:
        """Show how long the thought took; short ones get no number."""
        self.set_title(thought_line(seconds))

    def set_open(self, is_open: bool) -> None:
        """Show or hide the whole thought; the preview is shown only while it is collapsed."""
        super().set_open(is_open)
        self.preview.setVisible(not is_open and not self.touched and not self._ended and bool(self._parts))

    def _fill(self, body: MarkdownText) -> None:
        body.append_markdown(self.markdown)
        if self._ended:
            body.finish()


class ToolCallPart(CollapsiblePart):
    """A tool call by the model; it is only shown, never run."""

    def __init__(self) -> None:
        """Create a part for a call that has just begun."""
        super().__init__(_Names(tr("Show arguments"), tr("Hide arguments"), tr("Arguments")))
        self._markdown = ""
        self.set_title(tr("Choosing a tool…"))

    @property
    def has_call(self) -> bool:
        """Whether a complete or cut-off call has been shown."""
        return bool(self._markdown)

    def show_call(self, call: ToolCall) -> None:
        """Show a complete call."""
        self._show(tool_call_line(call), fence_code(format_json(call.arguments)))

    def show_cut(self, text: str) -> None:
        """Show the text of a call in which the answer was cut off."""
        self._show(tr(CUT_CALL), fence_code(text, ""))

    def _show(self, title: str, markdown: str) -> None:
        self._markdown = markdown
        self.set_title(title)
        if self._body is not None:
            self._fill(self._body)

    def _fill(self, body: MarkdownText) -> None:
        if self._markdown:
            body.append_markdown(f"{self._markdown}\n")
            body.finish()


class _Preview(QWidget):
    """The newest lines of a thought; the oldest one fades out."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Newest thoughts"))
        self._text = ""
        theme.current().changed.connect(self._measure)
        self._measure()

    def _measure(self) -> None:
        self.setFont(theme.current().font(0.96))
        self.setFixedHeight(_PREVIEW_LINES * self.fontMetrics().lineSpacing())

    def append(self, text: str) -> None:
        """Append text."""
        # The beginning is cut off only from time to time, because each cut reflows the lines.
        self._text += text
        if len(self._text) > 2 * _PREVIEW_LENGTH:
            self._text = self._text[-_PREVIEW_LENGTH:].partition(" ")[2] or self._text[-_PREVIEW_LENGTH:]
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, aligned to the bottom."""
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
