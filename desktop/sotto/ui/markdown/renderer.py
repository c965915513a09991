"""Renders Markdown while it streams in: only the last block is drawn again, the rest of the document stays.

A text is cut where a top-level block follows an empty line, and around fenced code. Later text changes nothing before
the last cut, unless it defines a link: then the whole text is drawn again. Qt reads each piece into a document of its
own, where it is styled, and its blocks are appended to the shown document together with the break before them: that
break carries the format of the first block, which a plain insertion would lose. While a fence is open its lines are
appended one by one, and they stay when it is closed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
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

from sotto.ui.markdown.line_breaks import join_lines, remove_spaces
from sotto.ui.markdown.math_svg import Formula, mark_of, mask_formulas

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# What Qt passes to its reader, md4c, as MD_FLAG_UNDERLINE: `_emphasis_` would be underlined.
_UNDERLINE = 0x4000
# Without NoHTML Qt's reader drops everything after the first tag.
FLAGS = QTextDocument.MarkdownFeature(
    (QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML).value
    & ~_UNDERLINE
)

BEGINS_CODE = QTextFormat.Property.UserProperty.value + 1
"""Property of the first line of a code block, since two blocks may touch; set by `document_style`."""
FORMULA = QTextFormat.Property.UserProperty.value + 2
"""Property of the characters of a formula: its source."""
_BEFORE = "x"
_OPEN_FENCE = re.compile(r"(`{3,}|~{3,})([^\n]*)\n")
_EMPTY_ITEM = re.compile(r"(?:^|\n)[ \t>]*(?:[-+*]|\d+[.)])(?:[ \t]+(?:[-+*]|\d+[.)]))*$")
_NUMBER = re.compile(r" {0,3}\d{1,9}")


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    # Imported late: the window's first paint needs none of it.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).disable(["inline", "text_join"]).enable("table")


class SealedDocument(QTextDocument):
    """A document that loads nothing that a text refers to, from a file or the network."""

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Return an invisible picture for every image; Qt asks once for each name."""
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return None
        picture = QImage(1, 1, QImage.Format.Format_ARGB32)
        picture.fill(0)
        return picture


class MarkdownRenderer:
    """Renders a growing Markdown text into a document.

    The finished document does not depend on how the text was split on arrival.

    Attributes:
        has_formulas: Whether the text has formulas, which become text with `FORMULA` set.
    """

    def __init__(
        self, document: QTextDocument, dress: Callable[[QTextDocument], None] | None = None, *, keep_lines: bool = True
    ) -> None:
        """Render into `document`, which nothing else may change from now on.

        Args:
            document: The document.
            dress: Sets fonts, colours and margins of a piece that Qt has just read.
            keep_lines: Whether the lines of a paragraph stay lines, as in a chat, instead of being joined by spaces.
        """
        self._document = document
        self._join_lines: Callable[[str], str] = join_lines if keep_lines else lambda piece: piece
        self._dress = dress or (lambda piece: None)
        self._source = ""
        self._drawn = 0
        self._whole = False
        self._settled = 0  # characters of the source that are drawn for good
        self._end: int | None = None  # where they end in the document
        self._last_formats: tuple[QTextBlockFormat, QTextCharFormat] | None = None
        self.has_formulas = False
        self._first_changed = 0  # the number of the first block of the tail
        self._fence: _Fence | None = None

    @property
    def source(self) -> str:
        """The text so far."""
        return self._source

    @property
    def behind(self) -> bool:
        """Whether there is text that is not drawn yet."""
        return self._drawn < len(self._source)

    def append(self, text: str) -> None:
        """Append text, which `render` draws."""
        self._source += text.replace("\r", "").replace("\0", "")

    def render(self) -> int:
        """Draw what was appended; return the number of the first block that may have changed."""
        return self._render(last=False)

    def finish(self) -> int:
        """Draw the complete text, because no more will come; return what `render` returns."""
        return self._render(last=True)

    def redraw(self) -> None:
        """Draw everything again after colours or fonts have changed."""
        self._forget()
        self._render(last=True)

    def _render(self, last: bool) -> int:
        self._drawn = len(self._source)
        if self._fence is not None:
            changed = self._document.blockCount() - 1
            self._grow_fence(self._fence, last)
            if self._fence is not None or self._settled == len(self._source):
                return changed
            self._draw_tail(last)
            return changed
        self._draw_tail(last)
        return 0 if self._whole else self._first_changed

    def _draw_tail(self, last: bool) -> None:
        """Draw what follows the last cut again, and look for further cuts in it."""
        cuts, defines_links = _cuts(self._source[self._settled :])
        if defines_links and not self._whole:
            self._whole = True
            self._forget()
        if self._whole:
            cuts = []
        self._first_changed = 0 if self._end is None else self._document.findBlock(self._end).blockNumber()
        pieces = [self._source[self._settled + start : self._settled + end] for start, end in pairwise(cuts)]
        if self._whole or not pieces:
            pieces = [self._source[self._settled :]]
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        self._remove_tail()
        for piece in pieces[:-1]:
            self._add(piece)
            self._settle(len(piece))
        open_end = None if self._whole or last else _open_fence(pieces[-1], self._settled)
        if open_end is not None:
            self._fence, drawn = open_end
            self._add(pieces[-1][:drawn])
        else:
            self._add(pieces[-1])
        cursor.endEditBlock()

    def _forget(self) -> None:
        """Start over from the first character."""
        self._settled = self._first_changed = 0
        self._end = self._last_formats = self._fence = None

    def _remove_tail(self) -> None:
        if self._end is None or self._last_formats is None:
            self._document.clear()
            return
        cursor = QTextCursor(self._document)
        cursor.setPosition(self._end)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        # An empty block takes on the format of what was removed after it.
        cursor.setBlockFormat(self._last_formats[0])
        cursor.setBlockCharFormat(self._last_formats[1])

    def _add(self, piece: str) -> None:
        piece, formulas = mask_formulas(piece)
        self.has_formulas = self.has_formulas or bool(formulas)
        if self._end is None and self._document.isEmpty():
            self._read(self._document, self._join_lines(piece), formulas)
            return
        scratch = SealedDocument()
        scratch.setDefaultFont(self._document.defaultFont())
        self._read(scratch, f"{_BEFORE}\n\n{self._join_lines(piece)}", formulas)
        part = QTextCursor(scratch)
        part.setPosition(len(_BEFORE))
        part.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertFragment(QTextDocumentFragment(part))

    def _read(self, document: QTextDocument, markdown: str, formulas: list[Formula]) -> None:
        """Have Qt read Markdown into `document`, and finish what it made of it."""
        document.setMarkdown(markdown, FLAGS)
        remove_spaces(document)
        _put_back(document, formulas)
        self._dress(document)

    def _settle(self, length: int) -> None:
        """Record that the next `length` characters of the source, all that is drawn, will not change any more."""
        self._settled += length
        last = self._document.lastBlock()
        self._end = last.position() + last.length() - 1
        self._last_formats = (last.blockFormat(), last.charFormat())

    def _grow_fence(self, fence: "_Fence", last: bool) -> None:
        """Add new lines to an open code block, and settle it once it is closed or the text is complete."""
        lines = self._source[fence.taken :].split("\n")
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        for line in lines[:-1]:
            fence.taken += len(line) + 1
            if fence.closing.fullmatch(line):
                self._fence = None
                break
            self._add_code(cursor, fence, line)
            fence.begun = ""
            fence.fresh = True
        else:
            # A line that may turn out to close the block waits until it is complete.
            closes = fence.closing.fullmatch(lines[-1]) is not None
            if lines[-1] and not closes and (last or not _may_close(lines[-1], fence.mark)):
                self._add_code(cursor, fence, lines[-1])
                fence.begun, fence.fresh = lines[-1], False
            if last:
                fence.taken = len(self._source)
                self._fence = None
        cursor.endEditBlock()
        if self._fence is None:
            self._settle(fence.taken - self._settled)

    def _add_code(self, cursor: QTextCursor, fence: "_Fence", line: str) -> None:
        """Append a line, or the rest of the one that was begun."""
        line = _spaced(line)
        if not fence.fresh:
            cursor.insertText(line[len(_spaced(fence.begun)) :])
            return
        closing = cursor.blockFormat()
        if closing.bottomMargin():
            upper = QTextBlockFormat(closing)
            upper.setBottomMargin(0)
            cursor.setBlockFormat(upper)
        if closing.topMargin():
            closing.setTopMargin(0)
        closing.clearProperty(BEGINS_CODE)
        cursor.insertBlock(closing)
        cursor.insertText(line)


@dataclass
class _Fence:
    """A code block that is still open.

    Attributes:
        mark: The character of its fence.
        closing: Matches a line that closes it.
        taken: How many characters of the source are in complete lines.
        begun: What is drawn of the next, incomplete line.
        fresh: Whether the next character begins a line of the document.
    """

    mark: str
    closing: "re.Pattern[str]"
    taken: int
    begun: str
    fresh: bool


def _cuts(text: str) -> tuple[list[int], bool]:
    """Return the offsets that split `text` into pieces, from 0 to its length, and whether it defines links."""
    environment: dict[str, object] = {}
    tokens = _parser().parse(text, environment)
    starts = [(token.map[0], token.type) for token in tokens if token.level == 0 and token.map and token.nesting >= 0]
    lines = text.split("\n")
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    cuts, before_it = [0], ""
    for start, kind in starts:
        after_fence, before_it = before_it == "fence", kind
        before = text[: offsets[start]].rstrip(" \t\n")
        if not before:
            continue
        if not after_fence:
            fence = kind == "fence" and _opening(text, offsets[start]) is not None
            if lines[start - 1].strip(" \t") and not fence:
                continue
            # Qt makes a paragraph after an empty list item part of it, and a lone number may continue a list.
            if _EMPTY_ITEM.search(before) or _NUMBER.fullmatch(text, offsets[start]):
                continue
        cuts.append(offsets[start])
    return [*cuts, len(text)], bool(environment.get("references"))


def _opening(text: str, at: int = 0) -> "re.Match[str] | None":
    """Match the complete line that opens a fence at offset `at`."""
    opening = _OPEN_FENCE.match(text, at)
    return None if opening is None or (opening[1][0] == "`" and "`" in opening[2]) else opening


def _open_fence(piece: str, offset: int) -> tuple[_Fence, int] | None:
    """Return the open code block that `piece` is, and how many characters of it to draw at first.

    Args:
        piece: A piece of the source.
        offset: Where it begins in the source.

    Returns:
        None if the block is closed, or still empty, which Qt would not draw.
    """
    opening = _opening(piece)
    if opening is None:
        return None
    mark = opening[1][0]
    closing = re.compile(rf" {{0,3}}{re.escape(mark)}{{{len(opening[1])},}}[ \t]*")
    *lines, begun = piece[opening.end() :].split("\n")
    if not any(line.strip() for line in lines) or any(closing.fullmatch(line) for line in lines):
        return None
    taken = len(piece) - len(begun)
    if _may_close(begun, mark):
        return _Fence(mark, closing, offset + taken, "", True), taken
    return _Fence(mark, closing, offset + taken, begun, False), len(piece)


def _spaced(line: str) -> str:
    """Return a line of code with its leading tabs expanded, as Qt does it."""
    rest = line.lstrip(" \t")
    return line[: len(line) - len(rest)].expandtabs(4) + rest


def _may_close(line: str, mark: str) -> bool:
    """Return whether an incomplete line is empty, or may turn out to close a block."""
    return not line.strip(f" \t{mark}")


def _put_back(document: QTextDocument, formulas: list[Formula]) -> None:
    """Replace the marks of formulas with their LaTeX."""
    cursor = QTextCursor(document)
    for number, formula in enumerate(formulas):
        found = document.find(mark_of(number), cursor)
        if found.isNull():
            # It is in the address of a link, or somewhere else that is not shown.
            continue
        look = QTextCharFormat(found.charFormat())
        look.setProperty(FORMULA, formula.raw)
        found.insertText(" ".join(formula.raw.split("\n")), look)
        cursor = found


def is_code(block_format: QTextBlockFormat) -> bool:
    """Return whether a block is a line of a code block."""
    return block_format.hasProperty(QTextFormat.Property.BlockCodeFence) or (
        block_format.hasProperty(QTextFormat.Property.BlockCodeLanguage)
    )
