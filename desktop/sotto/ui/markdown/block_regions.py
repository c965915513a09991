"""Finds the code blocks, tables, quotations and tasks of a document while it grows."""

from bisect import bisect_left
from dataclasses import dataclass, field

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextCursor, QTextDocument, QTextFormat, QTextTable

from sotto.ui.markdown.renderer import BEGINS_CODE, is_code


@dataclass(eq=False, slots=True)
class Region:
    """Adjacent blocks of one kind.

    Attributes:
        kind: `code`, `table`, `quote` or `task`.
        first: Number of its first block.
        last: Number of its last block.
        language: The language that the fence names; empty for none.
        natural: Its width in pixels without line breaks.
        offset: How many pixels it is scrolled sideways.
        wrapped: Whether the reader asked for long lines to be wrapped.
    """

    kind: str
    first: int
    last: int
    language: str = ""
    natural: float = 0.0
    offset: int = 0
    wrapped: bool = False


@dataclass
class Regions:
    """All regions of a document, in document order.

    Attributes:
        document: The document.
        found: The regions.
    """

    document: QTextDocument
    found: list[Region] = field(default_factory=list)

    def scan(self, start: int) -> tuple[list[Region], set[Region]]:
        """Find the regions again from block number `start` on, where blocks may have changed.

        A region that begins where one of its kind began before is the same one, and keeps what the reader did to it.

        Returns:
            The regions that are new or have changed, and those that are gone.
        """
        dropped: dict[tuple[str, int], Region] = {}
        while self.found and self.found[-1].last >= start:
            region = self.found.pop()
            dropped[region.kind, region.first] = region
        changed: list[Region] = []
        current: Region | None = None
        block = self.document.findBlockByNumber(start)
        over = next((region for region in dropped.values() if region.first < start), None)
        if over is not None and start > 0:
            # It began before the blocks that have changed, and continues into them.
            over.last = start - 1
            self.found.append(over)
            changed.append(over)
            current = over
        while block.isValid():
            number = block.blockNumber()
            kind, table = _kind(block)
            begins = kind == "code" and (
                block.blockFormat().hasProperty(BEGINS_CODE)
                or (current is not None and current.language != _language(block))
            )
            if not kind:
                current = None
            elif current is None or current.kind != kind or begins or kind == "task":
                known = dropped.get((kind, number))
                current = known if known is not None and known is not over else Region(kind, number, number)
                current.last, current.natural = number, 0.0
                current.language = _language(block) if kind == "code" else ""
                self.found.append(current)
                changed.append(current)
            if current is not None:
                current.last = number
            if table is not None and current is not None:
                # A table is taken as a whole.
                last = self.document.findBlock(table.lastPosition())
                current.last, block, current = last.blockNumber(), last, None
            block = block.next()
        return changed, set(dropped.values()) - set(changed)

    def between(self, top: float, bottom: float) -> list[Region]:
        """Return the regions that overlap the range of heights from `top` to `bottom`."""
        at = bisect_left(self.found, top, key=lambda region: self.area(region).bottom())
        result = []
        while at < len(self.found) and self.area(self.found[at]).top() <= bottom:
            result.append(self.found[at])
            at += 1
        return result

    def of(self, number: int) -> Region | None:
        """Return the region that contains a block; None for none."""
        at = bisect_left(self.found, number, key=lambda region: region.last)
        return self.found[at] if at < len(self.found) and self.found[at].first <= number else None

    def area(self, region: Region) -> QRectF:
        """Return the rectangle of a region's text in the document, without the background around it."""
        layout = self.document.documentLayout()
        first = self.document.findBlockByNumber(region.first)
        if region.kind == "table" and (table := QTextCursor(first).currentTable()) is not None:
            # The frame's own rectangle includes margins and, in some cases, an extra line.
            row, pad = table.rows() - 1, table.format().cellPadding()
            cells = [table.cellAt(row, column).lastCursorPosition().block() for column in range(table.columns())]
            area = layout.blockBoundingRect(first).adjusted(-pad, -pad, 0, 0)
            area.setBottom(max(layout.blockBoundingRect(cell).bottom() for cell in cells) + pad + 1)
            return area
        top = layout.blockBoundingRect(first)
        return top.united(layout.blockBoundingRect(self.document.findBlockByNumber(region.last)))


def _kind(block: QTextBlock) -> tuple[str, QTextTable | None]:
    if is_code(block.blockFormat()):
        return "code", None
    if block.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel):
        return "quote", None
    if block.blockFormat().marker() != QTextBlockFormat.MarkerType.NoMarker:
        return "task", None
    table = QTextCursor(block).currentTable()
    return ("table", table) if table is not None else ("", None)


def _language(block: QTextBlock) -> str:
    return block.blockFormat().stringProperty(QTextFormat.Property.BlockCodeLanguage)
