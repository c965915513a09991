"""The text of one message: as tall as its document, selectable, and without access to files or the network."""

import math

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from sotto.ui.markdown.renderer import SealedDocument

LINK_SCHEMES = ("https", "http", "mailto")


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
