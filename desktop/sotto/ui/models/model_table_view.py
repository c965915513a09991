"""The table of models: its rows, its header, and the columns for which there is room."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QItemSelectionModel, QPoint, QPointF, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord
from sotto.ui.models.model_description import fit_word
from sotto.ui.models.model_table import RIGHT_ALIGNED, Index, ModelTable, Row
from sotto.ui.preferences.preferences import MODEL_COLUMNS
from sotto.ui.state import wording
from sotto.ui.state.memory_estimate import Fit
from sotto.ui.state.names import model_name
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.column_grips import ColumnGrips
from sotto.ui.toolkit.theme import GAP_4, GAP_8
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import draw_bar

# Columns that give way first where there is no room; the card shows what they say.
_LEAST_IMPORTANT = ("parameters", "source", "context", "bits", "used", "disk")
_GOOD_NAME, _LEAST_NAME = 220, 160
_NAME = MODEL_COLUMNS.index("name")
# A length long enough to tell the scale of text from.
_UNIT = 1000
# Texts are drawn in parts, each rounded up.
_SLACK = 4
_DOT, _CHEVRON = 7, 11
# At the left also where the layout is mirrored, as places are.
_LEFT_MIDDLE = (
    Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
).value | Qt.TextFlag.TextSingleLine.value


@dataclass(frozen=True, slots=True)
class _Look:
    """What cells are drawn with, kept because it is needed for each of them.

    Attributes:
        font: The font.
        metrics: Its metrics.
        small_height: Height of the icons beside text.
    """

    font: QFont
    metrics: QFontMetrics
    small_height: int

    @classmethod
    def current(cls) -> "_Look":
        """Return the look in the current size of text."""
        font, small = theme.current().font(), theme.current().font(0.88)
        return cls(font, QFontMetrics(font), QFontMetrics(small).height())


class ModelTableView(QTableView):
    """Shows a `ModelTable`; its signals are requests by the user.

    Signals:
        selected: Another model was selected (`ModelRecord`, or None).
        load_wanted: Load a model (`ModelRecord`): double-click or Enter.
        details_wanted: Move to the details of a model (`ModelRecord`): Space.
        menu_wanted: Show the menu of a model (`ModelRecord`), at a position on the screen.
        typed: A letter was typed that may begin a filter (the text).
    """

    selected = Signal(object)
    load_wanted = Signal(object)
    details_wanted = Signal(object)
    menu_wanted = Signal(object, QPoint)
    typed = Signal(str)

    def __init__(self, model: ModelTable) -> None:
        """Show `model`, sorted as it says."""
        super().__init__()
        self.setObjectName("modelTable")
        self.setAccessibleName(tr("Models"))
        self.table, self.look = model, _Look.current()
        # The model of the row on which a mouse button was pressed last, and the row under the pointer.
        self._pressed: ModelRecord | None = None
        self._hovered = -1
        # What was selected before the rows were replaced.
        self._kept: ModelRecord | None = None
        self._samples = _samples()
        self.setHorizontalHeader(_Header(self, model.titles))
        self._grips = ColumnGrips(self.horizontalHeader())
        self._grips.dragged.connect(self._resize_column)
        self._grips.released.connect(self._keep_widths)
        self._grips.fit_wanted.connect(self._fit_column)
        # The columns whose widths the user has changed since they were kept.
        self._resized: set[int] = set()
        self.setModel(model)
        self.setItemDelegate(_Delegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setWordWrap(False)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        column, descending = model.order
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        self.horizontalHeader().setSortIndicator(MODEL_COLUMNS.index(column), order)
        self.setSortingEnabled(True)
        model.modelAboutToBeReset.connect(self._keep_selection)
        model.modelReset.connect(self._restore_selection)
        bar = self.verticalScrollBar()
        for changed in (model.dataChanged, model.arranged, bar.valueChanged, bar.rangeChanged):
            changed.connect(self._prepare)
        theme.current().changed.connect(self._apply_theme)
        self._fit()

    def _apply_theme(self) -> None:
        self.look = _Look.current()
        self._fit()

    # Selection

    @property
    def current(self) -> ModelRecord | None:
        """The selected model."""
        index = self.currentIndex()
        return self.table.records[index.row()] if index.isValid() else None

    def select(self, record: ModelRecord) -> None:
        """Select a model and scroll to it; one that is filtered out cannot be selected."""
        row = self.table.row_of(record)
        if row is not None:
            self._select_row(row)
            self.scrollTo(self.currentIndex())

    def _select_row(self, row: int) -> None:
        column = max(0, self.currentIndex().column())
        mode = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().setCurrentIndex(self.table.index(row, column), mode)

    def _keep_selection(self) -> None:
        self._kept = self.current or self._kept

    def _restore_selection(self) -> None:
        row = self.table.row_of(self._kept) if self._kept is not None else None
        if row is not None:
            self._select_row(row)
        elif self.table.records:
            self._select_row(0)
        else:
            self.selected.emit(None)

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Report that another model is selected."""
        super().currentChanged(current, previous)
        record = self.current
        # While the rows are replaced, there is none for a moment.
        if record is not None and (self._kept is None or not is_same_model(record, self._kept)):
            self._kept = record
            self.selected.emit(record)
        elif record is not None:
            self._kept = record

    # Geometry

    def _fit(self) -> None:
        """Fit rows and columns to the size of the text and the width of the table."""
        self.verticalHeader().setDefaultSectionSize(self.look.metrics.height() + 2 * GAP_8)
        room = self.viewport().width() - theme.current().scaled(_GOOD_NAME)
        chosen = self.table.widths
        widths = {
            column: max(self._title_width(column), min(theme.current().scaled(chosen[column]), room))
            if column in chosen
            else self._needed(column, samples)
            for column, samples in self._samples.items()
        }
        hidden: set[str] = set()
        for column in _LEAST_IMPORTANT:
            if sum(width for name, width in widths.items() if name not in hidden) > room:
                hidden.add(column)
        widths["name"] = self.viewport().width() - sum(width for name, width in widths.items() if name not in hidden)
        for number, column in enumerate(MODEL_COLUMNS):
            self.setColumnHidden(number, column in hidden)
            self.setColumnWidth(number, widths[column])

    def _title_width(self, column: str) -> int:
        """Return the width that a column needs for its title."""
        title = QFontMetrics(_header_font()).horizontalAdvance(self.table.titles[column])
        return title + theme.current().scaled(_CHEVRON) + GAP_4 + 2 * GAP_8 + _SLACK

    def _needed(self, column: str, texts: Iterable[str]) -> int:
        """Return the width at which a column shows its title and these texts whole."""
        metrics = self.look.metrics
        icon = metrics.height() + GAP_4 if column == "fit" else 0
        widest = max(map(metrics.horizontalAdvance, texts), default=0)
        return max(self._title_width(column), icon + widest + 2 * GAP_8 + _SLACK)

    @property
    def least_width(self) -> int:
        """The width at which the most important columns have room."""
        return theme.current().scaled(_LEAST_NAME) + self._needed("fit", self._samples["fit"])

    @Slot(int, int)
    def _resize_column(self, number: int, width: int) -> None:
        """Resize a column at the cost of the name, as far as neither becomes too narrow."""
        name, before = self.columnWidth(_NAME), self.columnWidth(number)
        most = before + max(0, name - theme.current().scaled(_GOOD_NAME))
        now = max(self._title_width(MODEL_COLUMNS[number]), min(width, most))
        self.setColumnWidth(_NAME, name + before - now)
        self.setColumnWidth(number, now)
        self._resized.add(number)

    @Slot(int)
    def _fit_column(self, number: int) -> None:
        """Make a column as wide as its title and texts need."""
        column = MODEL_COLUMNS[number]
        texts = (self.table.row(record).texts[column] for record in self.table.records)
        self._resize_column(number, self._needed(column, texts))
        self._keep_widths()

    @Slot()
    def _keep_widths(self) -> None:
        """Remember the widths that the user has changed, and show the columns for which there is room now."""
        scale = theme.current().scaled(_UNIT) / _UNIT
        changed = {MODEL_COLUMNS[number]: round(self.columnWidth(number) / scale, 1) for number in self._resized}
        self._resized.clear()
        self.table.keep_widths(changed)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the columns for which there is room."""
        super().resizeEvent(event)
        self._fit()

    # Painting

    @Slot()
    def _prepare(self) -> None:
        """Ask for the rows in view before they are painted: what they say is not worked out while that happens."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        for record in self.table.records[first : last + 1 or None] if first >= 0 else ():
            self.table.row(record)

    def _row_rect(self, row: int) -> QRectF:
        top = self.rowViewportPosition(row)
        return QRectF(0, top, self.viewport().width(), self.rowHeight(row)).adjusted(0.5, 1, -0.5, -1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the grounds of the selected row and the one under the pointer, and the cells over them."""
        tokens, painter = theme.current().tokens, QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = self.currentIndex().row()
        for row, ground in ((self._hovered, tokens.hover), (selected, tokens.selection)):
            if 0 <= row < len(self.table.records):
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(ground))
                painter.drawRoundedRect(self._row_rect(row), 7, 7)
        if self.hasFocus() and selected >= 0:
            painter.setPen(QPen(QColor(tokens.accent), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self._row_rect(selected).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        painter.end()
        super().paintEvent(event)

    # Mouse and keyboard

    def _hover(self, row: int) -> None:
        if row != self._hovered:
            self._hovered = row
            self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        """Follow the pointer."""
        if event.type() == QEvent.Type.Leave:
            self._hover(-1)
        elif isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            self._hover(self.rowAt(round(event.position().y())))
        return super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember which model was pressed, because the rows may move before a second click."""
        row = self.rowAt(round(event.position().y()))
        self._pressed = self.table.records[row] if row >= 0 else None
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Load the model on which the first click was."""
        if event.button() == Qt.MouseButton.LeftButton and self._pressed is not None:
            self.load_wanted.emit(self._pressed)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of the model under the pointer, or of the selected one."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid():
            place = self._row_rect(index.row()).center().toPoint() if by_key else event.pos()
            self.menu_wanted.emit(self.table.records[index.row()], self.viewport().mapToGlobal(place))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Load with Enter, show details with Space, and let other letters filter."""
        current, text = self.current, event.text()
        commands = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        if current is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.load_wanted.emit(current)
        elif current is not None and event.key() == Qt.Key.Key_Space:
            self.details_wanted.emit(current)
        elif text.strip() and text.isprintable() and not event.modifiers() & commands:
            self.typed.emit(text)
        else:
            super().keyPressEvent(event)


class _Delegate(QStyledItemDelegate):
    """Draws a cell without its ground."""

    def __init__(self, view: ModelTableView) -> None:
        super().__init__(view)
        self._view = view

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a cell."""
        model, column = self._view.table, MODEL_COLUMNS[index.column()]
        record, tokens = model.records[index.row()], theme.current().tokens
        row = model.row(record)
        mirrored = option.direction == Qt.LayoutDirection.RightToLeft
        cell = _Cell(painter, self._view.look, option.rect.adjusted(GAP_8, 0, -GAP_8, 0), mirrored=mirrored)
        color = tokens.text if record.runnable and record.present else tokens.muted
        if column == "name":
            cell.draw_name(row, record, color)
        elif column == "fit":
            cell.draw_fit(row)
        else:
            cell.draw_text(row.texts[column], color, at_end=column in RIGHT_ALIGNED)


class _Cell:
    """The area of a cell that is still empty, filled from the side where reading begins."""

    def __init__(self, painter: QPainter, look: _Look, area: QRect, *, mirrored: bool) -> None:
        self._painter, self._look, self._area, self._mirrored = painter, look, area, mirrored
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(look.font)

    def _take(self, width: int, *, at_end: bool = False) -> QRect:
        """Take a part of the area."""
        part, right = QRect(self._area), at_end != self._mirrored
        if right:
            part.setLeft(self._area.right() + 1 - width)
            self._area.setRight(part.left() - 1)
        else:
            part.setRight(self._area.left() + width - 1)
            self._area.setLeft(part.right() + 1)
        return part

    def draw_text(
        self, text: str, color: str, *, at_end: bool = False, where: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        """Draw text in the area, and take its width."""
        metrics, width = self._look.metrics, self._area.width()
        needed = metrics.horizontalAdvance(text) + 1
        shown = text if needed <= width else metrics.elidedText(text, where, width)
        self._painter.setPen(QColor(color))
        part = self._take(min(width, needed), at_end=at_end)
        # Not mirrored once more: the part is where it belongs.
        self._painter.drawText(part, _LEFT_MIDDLE, shown)

    def draw_icon(self, icon: str, color: str, edge: int, *, at_end: bool = False) -> None:
        """Draw an icon, with a gap beside it."""
        part = self._take(edge + GAP_4, at_end=at_end)
        left = part.left() + (GAP_4 if at_end != self._mirrored else 0)
        top = part.top() + (part.height() - edge) / 2
        icons.paint(self._painter, icon, getattr(theme.current().tokens, color), QRectF(left, top, edge, edge))

    def draw_name(self, row: Row, record: ModelRecord, color: str) -> None:
        """Draw a dot if the model is loaded, its name, its owner, and what the user chose for it."""
        tokens, dot = theme.current().tokens, self._take(_DOT + GAP_8)
        if row.loaded:
            left = dot.left() + (GAP_8 if self._mirrored else 0)
            area = QRectF(QPointF(left, dot.top() + (dot.height() - _DOT) / 2), QPointF(left, dot.top()))
            area.setSize(QRectF(0, 0, _DOT, _DOT).size())
            draw_bar(self._painter, area, [(1.0, tokens.accent)], tokens.accent)
        for icon, _, shade in row.marks:
            self.draw_icon(icon, shade, theme.current().scaled(13), at_end=True)
        owner, _, name = model_name(record.name).rpartition("/")
        self.draw_text(name, color, where=Qt.TextElideMode.ElideMiddle)
        if owner and self._area.width() > theme.current().scaled(48):
            self._take(GAP_8)
            self.draw_text(owner, tokens.muted)

    def draw_fit(self, row: Row) -> None:
        """Draw whether the model is loaded or fits, and its memory; or else what happens to it."""
        tokens, shown = theme.current().tokens, row.verdict
        if shown is None:
            self.draw_text(row.texts["fit"], tokens.muted)
            return
        self.draw_icon(shown.icon, shown.color, self._look.small_height)
        self.draw_text(shown.word, getattr(tokens, shown.color))
        if row.memory:
            self.draw_text(f" · {row.memory}", tokens.muted)


class _Header(QHeaderView):
    """Draws the titles, and a chevron at the one that the rows are sorted by."""

    def __init__(self, parent: QWidget, titles: Mapping[str, str]) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._titles = titles
        self.setObjectName("modelTableHeader")
        self.setSectionsClickable(True)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setHighlightSections(False)
        theme.current().changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(QFontMetrics(_header_font()).height() + 2 * GAP_8)

    def paintSection(self, painter: QPainter, rect: QRect, index: int) -> None:
        """Draw a title."""
        tokens, column = theme.current().tokens, MODEL_COLUMNS[index]
        painter.save()
        painter.setPen(QColor(tokens.line))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        sorted_by = self.sortIndicatorSection() == index
        painter.setFont(_header_font())
        painter.setPen(QColor(tokens.text if sorted_by else tokens.muted))
        metrics, text = QFontMetrics(_header_font()), self._titles[column]
        edge, indent = theme.current().scaled(_CHEVRON), _DOT + GAP_8 if column == "name" else 0
        width = metrics.horizontalAdvance(text) + (edge + GAP_4 if sorted_by else 0)
        at_right = (column in RIGHT_ALIGNED) != self.isRightToLeft()
        left = rect.right() + 1 - GAP_8 - indent - width if at_right else rect.left() + GAP_8 + indent
        text_left = left + (edge + GAP_4 if sorted_by and self.isRightToLeft() else 0)
        painter.drawText(QRect(text_left, rect.top(), rect.width(), rect.height()), _LEFT_MIDDLE, text)
        if sorted_by:
            down = self.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
            x = left if self.isRightToLeft() else left + metrics.horizontalAdvance(text) + GAP_4
            place = QRectF(x, rect.center().y() - edge / 2 + 1, edge, edge)
            icons.paint(painter, "down" if down else "up", tokens.text, place)
        painter.restore()


def _samples() -> dict[str, list[str]]:
    """Return what decides the width of each column, beside its title, unless the user has; the name gets the rest."""
    return {
        "parameters": ["405.5B"],
        "bits": ["Q4_K_M"],
        "fit": [f"{verdict} · 99.9 GB" for verdict in map(fit_word, Fit)],
        "context": ["1,048,576"],
        "source": ["Hugging Face"],
        "used": [wording.ago(23 * 3600)],
        "disk": ["999.9 GB"],
    }


def _header_font() -> QFont:
    return theme.current().font(0.85, QFont.Weight.DemiBold)
