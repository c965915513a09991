"""Markdown that is still arriving: only the last block is drawn again, the rest of the document stays.

A text is cut where a top-level block follows an empty line. Nothing that comes later changes a piece before the last
cut, except the definition of a link, after which the whole text is drawn again. Each piece is read by Qt into a
document of its own, dressed there, and its blocks are put at the end of the shown document together with the break
before them: that break carries the first block's format, which a plain insertion would lose.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QImage,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextDocumentFragment,
    QTextFormat,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# Without NoHTML Qt's reader drops everything after the first tag.
FLAGS = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML

_BEFORE = "x"
_OPEN_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)\n")
_EMPTY_ITEM = re.compile(r"(?:^|\n)[ \t>]*(?:[-+*]|\d+[.)])(?:[ \t]+(?:[-+*]|\d+[.)]))*$")
_NUMBER = re.compile(r" {0,3}\d{1,9}")


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    # Imported late: the window's first paint needs none of it.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).disable(["inline", "text_join"]).enable("table")


class SealedDocument(QTextDocument):
    """A document that loads nothing: neither pictures that a text names, from a file or the network, nor styles."""

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Answer with an invisible picture, once for each name."""
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return None
        picture = QImage(1, 1, QImage.Format.Format_ARGB32)
        picture.fill(0)
        return picture


class MarkdownRenderer:
    """Shows a growing Markdown text in a document.

    However the text was cut when it came, the document is the same in the end.
    """

    def __init__(self, document: QTextDocument, dress: Callable[[QTextDocument], None] | None = None) -> None:
        """Show in `document`, which belongs to the renderer from here on.

        Args:
            document: Where to show it.
            dress: Sets fonts, colours and margins of a freshly read piece.
        """
        self._document = document
        self._dress = dress or (lambda piece: None)
        self._source = ""
        self._drawn = 0
        self._whole = False
        self._settled = 0  # characters of the source that are drawn for good
        self._end: int | None = None  # where they end in the document
        self._last_formats: tuple[QTextBlockFormat, QTextCharFormat] | None = None
        self._fence: re.Match[str] | None = None
        self._fence_shown = ""

    @property
    def source(self) -> str:
        """The text so far."""
        return self._source

    @property
    def behind(self) -> bool:
        """Whether there is text that is not drawn yet."""
        return self._drawn < len(self._source)

    def append(self, text: str) -> None:
        """Take more text; `render` draws it."""
        self._source += text.replace("\r", "").replace("\0", "")

    def render(self) -> None:
        """Draw what has come since the last time."""
        self._drawn = len(self._source)
        if self._grow_fence():
            return
        cuts, defines_links = _cuts(self._source[self._settled :])
        if defines_links and not self._whole:
            self._whole = True
            self._forget()
        if self._whole:
            cuts = []
        pieces = [self._source[self._settled + start : self._settled + end] for start, end in _spans(cuts)]
        if self._whole or not pieces:
            pieces = [self._source[self._settled :]]
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        self._remove_tail()
        for piece in pieces[:-1]:
            self._add(piece)
            self._settle(piece)
        self._add(pieces[-1])
        cursor.endEditBlock()
        self._fence = _open_fence(pieces[-1]) if not self._whole else None
        self._fence_shown = _code_of(pieces[-1], self._fence) if self._fence else ""

    def finish(self) -> None:
        """Draw the text as it is when nothing more comes."""
        self._fence = None
        self.render()

    def redraw(self) -> None:
        """Draw everything again, because colours or fonts have changed."""
        self._forget()
        self.render()

    def _forget(self) -> None:
        """Begin at the beginning."""
        self._settled = 0
        self._end = self._last_formats = self._fence = None
        self._fence_shown = ""

    def _remove_tail(self) -> None:
        if self._end is None or self._last_formats is None:
            self._document.clear()
            return
        cursor = QTextCursor(self._document)
        cursor.setPosition(self._end)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        # An empty block takes over the format of what was behind it.
        cursor.setBlockFormat(self._last_formats[0])
        cursor.setBlockCharFormat(self._last_formats[1])

    def _add(self, piece: str) -> None:
        if self._end is None and self._document.isEmpty():
            self._document.setMarkdown(piece, FLAGS)
            self._dress(self._document)
            return
        scratch = SealedDocument()
        scratch.setDefaultFont(self._document.defaultFont())
        scratch.setMarkdown(f"{_BEFORE}\n\n{piece}", FLAGS)
        self._dress(scratch)
        part = QTextCursor(scratch)
        part.setPosition(len(_BEFORE))
        part.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertFragment(QTextDocumentFragment(part))

    def _settle(self, piece: str) -> None:
        """Note that all that is drawn stays."""
        self._settled += len(piece)
        last = self._document.lastBlock()
        self._end = last.position() + last.length() - 1
        self._last_formats = (last.blockFormat(), last.charFormat())

    def _grow_fence(self) -> bool:
        """Add the new lines of a code block that is still open; return False where the tail must be read anew."""
        if self._fence is None:
            return False
        tail = self._source[self._settled :]
        if _open_fence(tail) is None:
            return False
        code = _code_of(tail, self._fence)
        if not self._fence_shown or not code.startswith(self._fence_shown):
            return False
        lines = code[len(self._fence_shown) :].split("\n")
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(lines[0])
        for line in lines[1:]:
            closing = cursor.blockFormat()
            upper = QTextBlockFormat(closing)
            upper.setBottomMargin(0)
            closing.setTopMargin(0)
            cursor.setBlockFormat(upper)
            cursor.insertBlock(closing)
            cursor.insertText(line)
        cursor.endEditBlock()
        self._fence_shown = code
        return True


def _cuts(text: str) -> tuple[list[int], bool]:
    """Return where pieces of `text` begin, the first at 0, and whether it defines links."""
    environment: dict[str, object] = {}
    tokens = _parser().parse(text, environment)
    starts = [token.map[0] for token in tokens if token.level == 0 and token.map and token.nesting >= 0]
    lines = text.split("\n")
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    cuts = [0]
    for start in starts:
        before = text[: offsets[start]].rstrip(" \t\n")
        if not before or lines[start - 1].strip(" \t"):
            continue
        # Qt takes a paragraph after an empty list item into the item, and a lone number may yet count on a list.
        if _EMPTY_ITEM.search(before) or _NUMBER.fullmatch(text, offsets[start]):
            continue
        cuts.append(offsets[start])
    return [*cuts, len(text)], bool(environment.get("references"))


def _spans(cuts: list[int]) -> list[tuple[int, int]]:
    return list(pairwise(cuts))


def _open_fence(piece: str) -> "re.Match[str] | None":
    """Return the opening line if `piece` is one code block that is still open."""
    opening = _OPEN_FENCE.match(piece)
    if opening is None or (opening[1][0] == "`" and "`" in opening[2]):
        return None
    closing = re.compile(rf"^ {{0,3}}{re.escape(opening[1][0])}{{{len(opening[1])},}}[ \t]*$", re.MULTILINE)
    return None if closing.search(piece, opening.end()) else opening


def _code_of(piece: str, opening: "re.Match[str]") -> str:
    """Return the complete part of an open code block: without a last line that may yet close it."""
    code = piece[opening.end() :]
    head, _, last = code.rpartition("\n")
    if not last.strip(f" {opening[1][0]}"):
        code = head
    return code


def is_code(block_format: QTextBlockFormat) -> bool:
    """Tell whether a block is a line of a code block."""
    return block_format.hasProperty(QTextFormat.Property.BlockCodeFence) or (
        block_format.hasProperty(QTextFormat.Property.BlockCodeLanguage)
    )
