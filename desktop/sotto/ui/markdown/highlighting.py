"""Colours code without changing its document, in slices of time that the window can spare.

A line gets its colours once it is complete, and keeps them. Lexers are loaded on another thread, because that is slow;
until then, code is plain.
"""

import time
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QTextCharFormat, QTextDocument, QTextLayout
from shiboken6 import isValid

from sotto.ui.markdown.block_regions import Region
from sotto.ui.markdown.code_lexer import LineLexer, Span, find_lexer
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.app_singleton import app_singleton
from sotto.ui.toolkit.colors import ColorTokens

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_TURN_SECONDS = 0.005
_PAUSE_MS = 4


class Languages(QObject):
    """The lexers that all messages share, and the queue of what waits for its colours.

    Signals:
        ready: The lexer of a language has been loaded, or there is none.
    """

    ready = Signal(str)

    def __init__(self, parent: QObject) -> None:
        """Start without any lexer."""
        super().__init__(parent)
        self._known: dict[str, Lexer | None] = {}
        self._asked: set[str] = set()
        self._waiting: deque[Highlighter] = deque()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._turn)

    def find(self, language: str) -> "tuple[bool, Lexer | None]":
        """Return whether the lexer of `language` is known, and the lexer; load it if it is not."""
        if language in self._known:
            return True, self._known[language]
        if language not in self._asked:
            self._asked.add(language)
            QThreadPool.globalInstance().start(lambda: self._load(language))
        return False, None

    def _load(self, language: str) -> None:
        """Load a lexer; called on the pool's thread."""
        try:
            self._known[language] = find_lexer(language)
        finally:
            self._known.setdefault(language, None)
            self.ready.emit(language)

    def queue(self, highlighter: "Highlighter") -> None:
        """Let `highlighter` work soon."""
        if highlighter not in self._waiting:
            self._waiting.append(highlighter)
        if not self._timer.isActive():
            self._timer.start()

    def _turn(self) -> None:
        end = time.perf_counter() + _TURN_SECONDS
        while self._waiting and time.perf_counter() < end:
            # The newest message first: it is the one in view.
            highlighter = self._waiting[-1]
            if not isValid(highlighter) or highlighter.work(end):
                self._waiting.remove(highlighter)
        if self._waiting:
            self._timer.start()


def languages() -> Languages:
    """Return the application's lexers, created at the first call."""
    return app_singleton(Languages)


@dataclass(slots=True)
class _Reading:
    """How far a region has been coloured.

    Attributes:
        lexer: Lexes its next line.
        lines: The tokens found so far, for when the region is drawn again.
        lit: How many lines have their colours.
    """

    lexer: LineLexer | None = None
    lines: list[tuple[str, list[Span]]] = field(default_factory=list)
    lit: int = 0


class Highlighter(QObject):
    """Colours the code of one document."""

    def __init__(self, document: QTextDocument) -> None:
        """Serve `document`, which becomes the parent."""
        super().__init__(document)
        self._document = document
        self._languages = languages()
        self._readings: dict[Region, _Reading] = {}
        self._queue: list[Region] = []
        self._finished = False
        self._languages.ready.connect(self._go_on)

    def follow(self, changed: list[Region], start: int, finished: bool) -> None:
        """Colour regions that have changed.

        Args:
            changed: The regions, in order.
            start: Number of the first block that may have changed.
            finished: Whether the text is complete, and so its last line.
        """
        self._finished = finished
        for region in changed:
            if region.kind != "code":
                continue
            reading = self._readings.setdefault(region, _Reading())
            reading.lit = max(0, min(reading.lit, start - region.first))
            if region not in self._queue:
                self._queue.append(region)
        if not self.work(time.perf_counter() + _TURN_SECONDS):
            self._languages.queue(self)

    def forget(self) -> None:
        """Start over, because everything has been drawn again."""
        self._readings.clear()
        self._queue.clear()

    def work(self, end: float) -> bool:
        """Colour until `end`, a time of `time.perf_counter`; return whether nothing is left to do."""
        later: list[Region] = []
        while self._queue:
            region = self._queue[0]
            known, lexer = self._languages.find(region.language)
            if not known:
                later.append(region)
            elif lexer is not None and not self._light(region, lexer, end):
                self._queue[:0] = later
                return False
            self._queue.pop(0)
        self._queue = later
        if self._finished and not later:
            self._readings.clear()
        return True

    def _go_on(self) -> None:
        if self._queue:
            self._languages.queue(self)

    def _light(self, region: Region, lexer: "Lexer", end: float) -> bool:
        reading = self._readings.setdefault(region, _Reading())
        count = region.last - region.first + 1
        if not self._finished and region.last == self._document.blockCount() - 1 and len(reading.lines) < count:
            # The last line is not complete. One that was read already is: something below it has gone again.
            count -= 1
        begin, done = reading.lit, True
        block = self._document.findBlockByNumber(region.first + begin)
        first = block
        while reading.lit < count:
            text = block.text()
            if reading.lit < len(reading.lines) and reading.lines[reading.lit][0] != text:
                # Other code than what was read here: from its first line again.
                reading.lines.clear()
                reading.lit, begin = 0, 0
                first = block = self._document.findBlockByNumber(region.first)
                continue
            if reading.lit == len(reading.lines):
                if time.perf_counter() > end:
                    done = False
                    break
                if reading.lit == 0 or reading.lexer is None:
                    reading.lexer = LineLexer(lexer)
                reading.lines.append((text, reading.lexer.read(text)))
            block.layout().setFormats(_ranges(reading.lines[reading.lit][1], theme.current().tokens))
            reading.lit += 1
            block = block.next()
        if reading.lit > begin:
            length = (block.position() if block.isValid() else self._document.characterCount()) - first.position()
            self._document.markContentsDirty(first.position(), length)
        return done


def _ranges(spans: list[Span], tokens: ColorTokens) -> list[QTextLayout.FormatRange]:
    ranges = []
    for start, length, role in spans:
        one = QTextLayout.FormatRange()
        one.start, one.length, one.format = start, length, _format(getattr(tokens, f"code_{role}"))
        ranges.append(one)
    return ranges


@lru_cache(maxsize=64)
def _format(color: str) -> QTextCharFormat:
    look = QTextCharFormat()
    look.setForeground(QBrush(QColor(color)))
    return look
