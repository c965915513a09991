"""The text of one message: as tall as its document, selectable, and without access to files or the network."""

import math
import re
from collections.abc import Iterator

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QColor, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QTextEdit, QWidget

from sotto.ui.markdown.renderer import SealedDocument
from sotto.ui.toolkit import theme

LINK_SCHEMES = ("https", "http", "mailto")
# How much of the accent colour lies under a place that was found. The current one is selected, which is stronger.
_MARK_ALPHA = 64


class MessageText(QTextBrowser):
    """A read-only text view without a frame or scroll bars.

    Signals:
        link_asked: The person clicked a link that may be opened; its address.
    """

    link_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self.setDocument(SealedDocument(self))
        self._marked: tuple[object, ...] = ("",)
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

    def places(self, text: str) -> Iterator[QTextCursor]:
        """Yield the places that contain a text, ignoring case, each as a selection.

        Not by `QTextDocument.find`, which copies the rest of a paragraph for each place.
        """
        shown, units, seen = self.toPlainText(), 0, 0
        for match in re.finditer(re.escape(text), shown, re.IGNORECASE):
            start = units + _utf16_units(shown[seen : match.start()])
            units, seen = start + _utf16_units(match.group()), match.end()
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(units, QTextCursor.MoveMode.KeepAnchor)
            yield cursor

    def mark(self, text: str) -> None:
        """Mark every place that contains a text, also after the document or the colours have changed; none if empty."""
        color = QColor(theme.current().tokens.accent)
        color.setAlpha(_MARK_ALPHA)
        state = (text, self.document().revision(), color.rgba()) if text else ("",)
        if state == self._marked:
            return
        self._marked, marks = state, []
        for cursor in self.places(text) if text else ():
            mark = QTextEdit.ExtraSelection()
            mark.cursor = cursor
            mark.format.setBackground(color)
            marks.append(mark)
        self.setExtraSelections(marks)

    def _fit(self) -> None:
        self.setFixedHeight(max(1, math.ceil(self.document().size().height()) + self._below()))

    def _below(self) -> int:
        """Return how many pixels are painted below the end of the document."""
        return 0

    def _ask(self, url: QUrl) -> None:
        if url.scheme().lower() in LINK_SCHEMES:
            self.link_asked.emit(url.toString())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave scrolling to the transcript."""
        event.ignore()


def _utf16_units(text: str) -> int:
    """Return how many positions a text takes in a document, which counts in UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
