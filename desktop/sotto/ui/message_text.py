"""The text of one message: as tall as its document, selectable, and shut off from files and the network."""

import math
import time

from PySide6.QtCore import QPoint, QRectF, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextFormat,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from sotto.ui import theme
from sotto.ui.dress import CODE_PAD, dress
from sotto.ui.markdown import MarkdownRenderer, SealedDocument, is_code
from sotto.ui.parts import IconButton

LINK_SCHEMES = ("https", "http", "mailto")
_SHORTEST_PAUSE = 0.016
_SHARE = 3
_LIST_INDENT = 26.0


class MessageText(QTextBrowser):
    """A read-only text without a frame or scroll bars.

    Signals:
        link_asked: A link to an address that may be opened was clicked.
    """

    link_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show nothing yet."""
        super().__init__(parent)
        self.setDocument(SealedDocument(self))
        self.document().setDocumentMargin(0)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAcceptDrops(False)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.anchorClicked.connect(self._ask)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        # The ground of code reaches below its last line, where the document ends.
        below = CODE_PAD if is_code(self.document().lastBlock().blockFormat()) else 0
        self.setFixedHeight(max(1, math.ceil(self.document().size().height()) + below))

    def _ask(self, url: QUrl) -> None:
        if url.scheme().lower() in LINK_SCHEMES:
            self.link_asked.emit(url.toString())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave scrolling to the transcript."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the grounds of code and the bars of quotations, then the text."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        tokens = theme.current().tokens
        for area, code in self._grounds(event.rect().top(), event.rect().bottom()):
            painter.setBrush(QColor(tokens.code if code else tokens.edge))
            radius = 8 if code else 1.5
            if code:
                painter.setPen(QColor(tokens.line))
            painter.drawRoundedRect(area, radius, radius)
            painter.setPen(Qt.PenStyle.NoPen)
        painter.end()
        super().paintEvent(event)

    def _grounds(self, top: int, bottom: int) -> list[tuple[QRectF, bool]]:
        """Return the areas behind code (True) and beside quotations (False) between `top` and `bottom`."""
        layout = self.document().documentLayout()
        block = self.cursorForPosition(QPoint(0, max(0, top))).block()
        while (kind := _kind(block)) and block.previous().isValid() and _kind(block.previous()) == kind:
            block = block.previous()
        areas: list[tuple[QRectF, bool]] = []
        while block.isValid() and layout.blockBoundingRect(block).top() <= bottom:
            kind = _kind(block)
            if not kind:
                block = block.next()
                continue
            area = layout.blockBoundingRect(block)
            while block.next().isValid() and _kind(block.next()) == kind:
                block = block.next()
                area = area.united(layout.blockBoundingRect(block))
            if kind == "code":
                area = QRectF(0.5, area.top() - CODE_PAD, self.viewport().width() - 1, area.height() + 2 * CODE_PAD)
                areas.append((area, True))
            else:
                areas.append((QRectF(1, area.top(), 3, area.height()), False))
            block = block.next()
        return areas


def _kind(block: QTextBlock) -> str:
    if is_code(block.blockFormat()):
        return "code"
    return "quote" if block.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel) else ""


class PlainText(MessageText):
    """What a person wrote, letter for letter."""

    def __init__(self, text: str) -> None:
        """Show `text`."""
        super().__init__()
        self.setPlainText(text)
        theme.current().changed.connect(self._dress)
        self._dress()

    def widest(self) -> int:
        """Return the width that no line needs more than."""
        metrics = self.fontMetrics()
        lines = self.toPlainText().splitlines()[:200] or [""]
        return max(metrics.horizontalAdvance(line[:2000]) for line in lines) + 4

    def _dress(self) -> None:
        font = theme.current().font(1.06)
        self.setFont(font)
        self.document().setDefaultFont(font)


class CopyCode(IconButton):
    """Copies one code block."""

    def __init__(self, parent: QWidget, block: QTextBlock, code: str) -> None:
        """Stand in the corner of the code that begins with `block`."""
        super().__init__("copy", "Copy code")
        self.setParent(parent)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.block = block
        self._code = code
        self.clicked.connect(self._copy)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._code)
        self.confirm("check", "Copied")


class MarkdownText(MessageText):
    """What a model writes, drawn while it comes."""

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__()
        self._renderer = MarkdownRenderer(self.document(), lambda piece: dress(piece, theme.current()))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._render)
        self._not_before = 0.0
        self._copies: list[CopyCode] = []
        theme.current().changed.connect(self._dress)
        self._dress()

    @property
    def markdown(self) -> str:
        """The Markdown so far."""
        return self._renderer.source

    def append_markdown(self, text: str) -> None:
        """Take more text. It is drawn soon, with pauses that leave three quarters of the time to others."""
        self._renderer.append(text)
        if not self._timer.isActive():
            self._timer.start(max(0, round((self._not_before - time.perf_counter()) * 1000)))

    def finish(self) -> None:
        """Draw the text as it is when nothing more comes."""
        self._timer.stop()
        self._renderer.finish()
        self._offer_copies()

    def _offer_copies(self) -> None:
        """Put a button into the corner of every code block; only when nothing more comes, so that nothing flickers."""
        for button in self._copies:
            button.deleteLater()
        self._copies = []
        block = self.document().begin()
        while block.isValid():
            first, lines = block, []
            while block.isValid() and is_code(block.blockFormat()):
                lines.append(block.text())
                block = block.next()
            if lines:
                self._copies.append(CopyCode(self.viewport(), first, "\n".join(lines)))
            else:
                block = block.next()
        self._place_copies()

    def _place_copies(self) -> None:
        layout = self.document().documentLayout()
        for button in self._copies:
            top = layout.blockBoundingRect(button.block).top() - CODE_PAD
            size = button.sizeHint()
            button.setGeometry(self.viewport().width() - size.width() - 4, round(top) + 4, size.width(), size.height())
            button.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the buttons in their corners."""
        super().resizeEvent(event)
        self._place_copies()

    def _render(self) -> None:
        started = time.perf_counter()
        self._renderer.render()
        cost = time.perf_counter() - started
        self._not_before = started + cost + max(_SHORTEST_PAUSE, _SHARE * cost)

    def _dress(self) -> None:
        font = theme.current().font(1.06)
        self.setFont(font)
        self.document().setDefaultFont(font)
        self.document().setIndentWidth(theme.current().scaled(_LIST_INDENT))
        if self._renderer.source:
            self._renderer.redraw()
            if self._copies:
                self._offer_copies()
