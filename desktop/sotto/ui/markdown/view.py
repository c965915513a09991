"""Shows Markdown while it streams in; wide code blocks and tables scroll sideways on their own."""

import time

from PySide6.QtCore import QEvent, QMimeData, QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar

from sotto.ui.markdown.block_regions import Region, Regions
from sotto.ui.markdown.clipboard import mime_of_selection
from sotto.ui.markdown.code_header import RADIUS, CodeHeader
from sotto.ui.markdown.document_style import CODE_PAD, HEADER, TASK_GAP, dress, fit_table, is_from_right
from sotto.ui.markdown.formula_placer import Formulas
from sotto.ui.markdown.highlighting import Highlighter
from sotto.ui.markdown.renderer import MarkdownRenderer, is_code
from sotto.ui.markdown.text_browser import MessageText
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.translation import tr

_SHORTEST_PAUSE = 0.016
_SHARE = 3
_LIST_INDENT = 26.0
_BAR = 10
_SOURCE_PERCENT = 125
# How far below its last line a region may reach.
_NEAR = CODE_PAD + _BAR


class MarkdownText(MessageText):
    """Streaming Markdown, as a model writes it."""

    def __init__(self, role: str = "", *, keep_lines: bool = True) -> None:
        """Start empty.

        Args:
            role: One of the style sheet's roles.
            keep_lines: Whether the lines of a paragraph stay lines, as in a chat.
        """
        super().__init__()
        self.setProperty("role", role)
        self._factor = 0.96 if role else 1.06
        self._renderer = MarkdownRenderer(
            self.document(), lambda piece: dress(piece, theme.current()), keep_lines=keep_lines
        )
        self.regions = Regions(self.document())
        self._highlighter = Highlighter(self.document())
        self._formulas = Formulas(self.document())
        self._formulas.changed.connect(self._place_again)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.render_now)
        self._not_before = 0.0
        self._finished = False
        self._source: str | None = None
        self.headers: dict[Region, CodeHeader] = {}
        self.scroll_bars: dict[Region, QScrollBar] = {}
        self._placed: set[Region] = set()
        # The view as a whole never scrolls sideways: each wide region has a scroll bar of its own.
        self.horizontalScrollBar().rangeChanged.connect(lambda: self.horizontalScrollBar().setRange(0, 0))
        self.cursorPositionChanged.connect(self._reveal)
        theme.current().changed.connect(self._dress)
        self._dress()

    @property
    def markdown(self) -> str:
        """The Markdown so far."""
        return self._renderer.source

    @property
    def has_view_state(self) -> bool:
        """Whether the reader has selected, wrapped or scrolled anything, or reads the source."""
        changed = any(region.wrapped or region.offset for region in self.regions.found)
        return self.textCursor().hasSelection() or changed or self.source_shown

    @property
    def awaits_formulas(self) -> bool:
        """Whether pictures of formulas are still to be put in."""
        return self._formulas.waiting

    @property
    def source_shown(self) -> bool:
        """Whether a source is shown in place of the rendered text."""
        return self._source is not None

    def show_source(self, source: str | None) -> None:
        """Show a source as it is, in the font of code, in place of the rendered text; None to render it again."""
        if source != self._source:
            self._source = source
            self._dress()

    def append_markdown(self, text: str) -> None:
        """Append text. Drawing follows soon, and takes at most a quarter of the time."""
        self._renderer.append(text)
        if self._source is None and not self._timer.isActive():
            self._timer.start(max(0, round((self._not_before - time.perf_counter()) * 1000)))

    def finish(self) -> None:
        """Draw the complete text, because no more will come."""
        self._timer.stop()
        self._finished = True
        if self._source is None:
            self._follow(self._renderer.finish())
            self._draw_formulas()

    def render_now(self) -> None:
        """Render what was appended, without waiting for the pause between two renderings to end."""
        self._timer.stop()
        started = time.perf_counter()
        self._follow(self._renderer.render())
        cost = time.perf_counter() - started
        self._not_before = started + cost + max(_SHORTEST_PAUSE, _SHARE * cost)

    def _follow(self, start: int) -> None:
        """Find the regions of what was drawn, from block number `start` on."""
        changed, gone = self.regions.scan(start)
        self._drop(gone)
        self._leave_room_above()
        for region in changed:
            if region.wrapped:
                self._break_lines(region, max(start, region.first))
            self._measure(region, start)
        self._highlighter.follow(changed, start, self._finished)
        self._formulas.forget()
        self.place()
        self.viewport().update()

    def _leave_room_above(self) -> None:
        """Add the margin that Qt leaves out above the first block of a document."""
        first = self.regions.of(0)
        look = self.document().rootFrame().frameFormat()
        margin = float(self._above()) if first is not None and first.kind == "code" else 0.0
        if look.topMargin() != margin:
            look.setTopMargin(margin)
            self.document().rootFrame().setFrameFormat(look)

    def _draw_formulas(self) -> None:
        """Draw the formulas, once the text is complete."""
        if self._finished and self._renderer.has_formulas:
            tokens = theme.current().tokens
            color = tokens.muted if self.property("role") else tokens.text
            self._formulas.draw(color, self.devicePixelRatioF())

    def _place_again(self) -> None:
        """Lay out again after formulas have made lines taller."""
        for region in self.regions.found:
            if region.kind == "table":
                self._measure(region, region.first)
        self.place()
        self.viewport().update()

    def _drop(self, gone: set[Region]) -> None:
        """Delete the widgets of regions that are gone."""
        for region in gone:
            for kept in (self.headers, self.scroll_bars):
                if (widget := kept.pop(region, None)) is not None:
                    widget.hide()
                    widget.deleteLater()
        self._placed -= gone

    def _measure(self, region: Region, start: int) -> None:
        """Measure the natural width of a region, whose blocks from number `start` on are new."""
        if region.kind == "table":
            region.natural = fit_table(self.document().findBlockByNumber(region.first), self.viewport().width())
        elif region.kind == "code" and not region.wrapped:
            layout = self.document().documentLayout()
            block = self.document().findBlockByNumber(max(start, region.first))
            while block.isValid() and block.blockNumber() <= region.last:
                layout.blockBoundingRect(block)  # lays it out
                line = block.layout().lineAt(0)
                if line.isValid():
                    region.natural = max(region.natural, line.naturalTextWidth() + self._indent(block))
                block = block.next()

    def _break_lines(self, region: Region, start: int) -> None:
        look = QTextBlockFormat()
        look.setNonBreakableLines(not region.wrapped)
        cursor = QTextCursor(self.document().findBlockByNumber(start))
        last = self.document().findBlockByNumber(region.last)
        cursor.setPosition(last.position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeBlockFormat(look)

    def _wrap(self, region: Region, wrapped: bool) -> None:
        region.wrapped, region.offset, region.natural = wrapped, 0, 0.0
        self._break_lines(region, region.first)
        self._measure(region, region.first)
        self.place()
        self.viewport().update()

    def _copy_code(self, region: Region) -> None:
        QGuiApplication.clipboard().setText(self.code_of(region))
        self.headers[region].confirm()

    def code_of(self, region: Region) -> str:
        """Return the code of a region."""
        blocks = (self.document().findBlockByNumber(number) for number in range(region.first, region.last + 1))
        return "\n".join(block.text() for block in blocks)

    # Geometry

    def _indent(self, block: QTextBlock) -> float:
        """Return the left edge of a block's text, in pixels."""
        look, items = block.blockFormat(), block.textList()
        steps = look.indent() + (items.format().indent() if items is not None else 0)
        return look.leftMargin() + steps * self.document().indentWidth()

    def _above(self) -> int:
        """Return how many pixels above its first line a region may begin."""
        return theme.current().scaled(HEADER) + CODE_PAD

    def frame_of(self, region: Region) -> QRectF:
        """Return the rectangle of a region with its header, background and scroll bar."""
        area = self.regions.area(region)
        width = self.viewport().width()
        if region.kind == "code":
            left = self._indent(self.document().findBlockByNumber(region.first)) - CODE_PAD
            header = theme.current().scaled(HEADER)
            top = area.top() - CODE_PAD - header
            return QRectF(left + 0.5, top, width - left - 1, area.height() + 2 * CODE_PAD + header)
        if region.kind == "table":
            return QRectF(0, area.top(), width, area.height() + (_BAR + 2 if region.natural > width else 0))
        from_right = is_from_right(self.document().findBlockByNumber(region.first))
        return QRectF(width - 4 if from_right else 1, area.top(), 3, area.height())

    def surplus(self, region: Region) -> int:
        """Return by how many pixels a region is too wide for the view."""
        pad = CODE_PAD if region.kind == "code" else 0
        return max(0, round(region.natural + pad - self.viewport().width())) if region.natural else 0

    def _region_at(self, y: float) -> Region | None:
        """Return the region at height `y` that scrolls sideways; None for none."""
        for region in self.regions.between(y - _NEAR, y + self._above()):
            frame = self.frame_of(region)
            if (region.offset or self.surplus(region)) and frame.top() <= y <= frame.bottom():
                return region
        return None

    def place(self) -> None:
        """Place headers and scroll bars, and hide those that are out of view.

        Call it when another part of the text has come into view.
        """
        if not self.regions.found and not self._placed:
            return
        view = self.visibleRegion().boundingRect()
        seen = self.regions.between(view.top() - _NEAR, view.bottom() + self._above()) if not view.isEmpty() else []
        for region in self._placed - set(seen):
            for kept in (self.headers, self.scroll_bars):
                if region in kept:
                    kept[region].hide()
        self._placed = set(seen)
        for region in seen:
            ground = self.frame_of(region)
            if region.kind == "code":
                self._place_header(region, ground, view.top())
            surplus = self.surplus(region)
            region.offset = min(region.offset, surplus)
            if surplus:
                self._place_bar(region, ground, surplus)
            elif region in self.scroll_bars:
                self.scroll_bars[region].hide()

    def _place_header(self, region: Region, ground: QRectF, top: int) -> None:
        header = self.headers.get(region)
        if header is None:
            header = CodeHeader(self.viewport(), region.language, region.wrapped)
            header.copy_wanted.connect(lambda: self._copy_code(region))
            header.wrap_wanted.connect(lambda wrapped: self._wrap(region, wrapped))
            self.headers[region] = header
        height = theme.current().scaled(HEADER)
        y = max(ground.top(), min(float(top), ground.bottom() - height - CODE_PAD))
        header.stand(QRectF(ground.left(), round(y), ground.width(), height), y > ground.top())

    def _place_bar(self, region: Region, ground: QRectF, surplus: int) -> None:
        bar = self.scroll_bars.get(region)
        if bar is None:
            bar = QScrollBar(Qt.Orientation.Horizontal, self.viewport())
            bar.setAccessibleName(tr("Scroll table sideways") if region.kind == "table" else tr("Scroll code sideways"))
            bar.setCursor(Qt.CursorShape.ArrowCursor)
            bar.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
            bar.valueChanged.connect(lambda value: self._scroll(region, value))
            self.scroll_bars[region] = bar
        bar.setRange(0, surplus)
        bar.setPageStep(self.viewport().width())
        bar.setSingleStep(theme.current().scaled(24))
        bar.setValue(region.offset)
        bar.setGeometry(
            QRect(round(ground.left()) + 4, round(ground.bottom()) - _BAR - 1, round(ground.width()) - 8, _BAR)
        )
        bar.show()

    def _scroll(self, region: Region, offset: int) -> None:
        region.offset = offset
        self.viewport().update()

    def _reveal(self) -> None:
        """Scroll a region sideways to the cursor when a search has found text in it."""
        cursor = self.textCursor()
        region = self.regions.of(cursor.blockNumber()) if cursor.hasSelection() else None
        if region is None or not self.surplus(region):
            return
        x = super().cursorRect(cursor).x()
        room = self.viewport().width() - 4 * CODE_PAD
        if not region.offset <= x <= region.offset + room:
            region.offset = max(0, min(self.surplus(region), x - room // 2))
            self.place()
            self.viewport().update()

    def _below(self) -> int:
        # The background of code extends below its last line, where the document ends.
        return CODE_PAD if is_code(self.document().lastBlock().blockFormat()) else 0

    def _dress(self) -> None:
        font = theme.current().font(self._factor) if self._source is None else theme.current().code_font()
        self.setFont(font)
        self.document().setDefaultFont(font)
        self.document().setIndentWidth(theme.current().scaled(_LIST_INDENT))
        if self._source is not None:
            self.setPlainText(self._source)
            lines = QTextBlockFormat()
            lines.setLineHeight(_SOURCE_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            whole = QTextCursor(self.document())
            whole.select(QTextCursor.SelectionType.Document)
            whole.mergeBlockFormat(lines)
            self._follow(0)
        elif self._renderer.source:
            self._renderer.redraw()
            self._highlighter.forget()
            self._follow(0)
            self._draw_formulas()

    def event(self, event: QEvent) -> bool:
        """Draw the formulas again for a screen of another pixel density."""
        if event.type() == QEvent.Type.DevicePixelRatioChange and self._renderer.has_formulas:
            self._dress()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again for the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            for region in self.regions.found:
                if region.kind == "table":
                    self._measure(region, region.first)
            if self._renderer.has_formulas:
                self._formulas.fit(self.viewport().width())
        self.place()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the backgrounds of code and the bars of quotations, then the text, scrolled regions by themselves."""
        seen = self.regions.between(event.rect().top() - _NEAR, event.rect().bottom() + self._above())
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens = theme.current().tokens
        if not self._placed.issuperset(seen):
            QTimer.singleShot(0, self, self.place)
        wide: list[tuple[Region, QRect]] = []
        for region in seen:
            ground = self.frame_of(region)
            painter.setPen(QColor(tokens.line) if region.kind == "code" else Qt.PenStyle.NoPen)
            if region.kind == "code":
                painter.setBrush(QColor(tokens.code))
                painter.drawRoundedRect(ground, RADIUS, RADIUS)
            elif region.kind == "quote":
                painter.setBrush(QColor(tokens.edge))
                painter.drawRoundedRect(ground, 1.5, 1.5)
            if self.surplus(region):
                wide.append((region, ground.adjusted(1.5, 0, -1.5, 0).toAlignedRect()))
        painter.end()
        top, area = event.rect().top(), event.rect()
        for region, place in wide:
            self._paint_text(QRect(area.left(), top, area.width(), place.top() - top))
            self._paint_wide(region, place & area)
            top = place.bottom() + 1
        self._paint_text(QRect(area.left(), top, area.width(), area.bottom() + 1 - top))
        self._paint_tasks([region for region in seen if region.kind == "task"])

    def _paint_text(self, area: QRect) -> None:
        if area.height() > 0:
            super().paintEvent(QPaintEvent(area))

    def _paint_tasks(self, tasks: list[Region]) -> None:
        """Draw the checkboxes of tasks over Qt's own."""
        if not tasks:
            return
        tokens, edge = theme.current().tokens, theme.current().scaled(14)
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for region in tasks:
            block = self.document().findBlockByNumber(region.first)
            line, area = block.layout().lineAt(0), self.regions.area(region)
            indent = self._indent(block)
            from_right = is_from_right(block)
            x = self.viewport().width() - indent + TASK_GAP if from_right else indent - TASK_GAP - edge
            # The line is higher than its letters, with the extra space above them.
            letters = QFontMetricsF(block.charFormat().font()).height() if line.isValid() else edge
            box = QRectF(x, area.top() + line.height() - (letters + edge) / 2, edge, edge)
            painter.fillRect(box.adjusted(1 - TASK_GAP, -4, TASK_GAP - 1, 4), QColor(tokens.page))
            done = block.blockFormat().marker() == QTextBlockFormat.MarkerType.Checked
            painter.setPen(QPen(QColor(tokens.muted if done else tokens.faint), 1.2))
            painter.setBrush(QColor(tokens.muted) if done else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(0.6, 0.6, -0.6, -0.6), 3.5, 3.5)
            if done:
                icons.paint(painter, "check", tokens.page, box.adjusted(1, 1, -1, -1))

    def _paint_wide(self, region: Region, area: QRect) -> None:
        """Draw a region that is wider than the view."""
        painter = QPainter(self.viewport())
        painter.setClipRect(area)
        painter.translate(-region.offset, 0)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(area.translated(region.offset, 0))
        context.palette = self.palette()
        context.cursorPosition = -1
        selections = []
        for mark in self.extraSelections():
            marked = QAbstractTextDocumentLayout.Selection()
            marked.cursor, marked.format = mark.cursor, mark.format
            selections.append(marked)
        cursor = self.textCursor()
        if cursor.hasSelection():
            chosen = QAbstractTextDocumentLayout.Selection()
            chosen.cursor = cursor
            chosen.format.setBackground(self.palette().brush(QPalette.ColorRole.Highlight))
            chosen.format.setForeground(self.palette().brush(QPalette.ColorRole.HighlightedText))
            selections.append(chosen)
        context.selections = selections
        self.document().documentLayout().draw(painter, context)

    # Input

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll a wide region sideways; leave everything else to the transcript."""
        delta = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() / 2
        sideways = delta.x() or (delta.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        region = self._region_at(event.position().y()) if abs(sideways) >= abs(delta.y()) and sideways else None
        if region is None or region not in self.scroll_bars:
            super().wheelEvent(event)
            return
        self.scroll_bars[region].setValue(region.offset - sideways)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Handle the event at the scrolled position of the text."""
        super().mousePressEvent(self._in_text(event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Handle the event at the scrolled position of the text."""
        super().mouseMoveEvent(self._in_text(event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Handle the event at the scrolled position of the text."""
        super().mouseReleaseEvent(self._in_text(event))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Handle the event at the scrolled position of the text."""
        super().mouseDoubleClickEvent(self._in_text(event))

    def _in_text(self, event: QMouseEvent) -> QMouseEvent:
        region = self._region_at(event.position().y())
        if region is None or not region.offset:
            return event
        return QMouseEvent(
            event.type(),
            event.position() + QPointF(region.offset, 0),
            event.scenePosition(),
            event.globalPosition(),
            event.button(),
            event.buttons(),
            event.modifiers(),
            event.pointingDevice(),
        )

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selection as text and as HTML without the window's colours."""
        return mime_of_selection(self.textCursor())
