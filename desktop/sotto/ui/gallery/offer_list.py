"""The list of models that can be downloaded: under headings, each with what it is good at and whether it fits."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QFrame, QListView, QStyledItemDelegate, QStyleOptionViewItem

from sotto.ui.gallery import offer_words
from sotto.ui.gallery.offers import Offer
from sotto.ui.models.model_description import FIT_SIGNS
from sotto.ui.state.memory_estimate import Fit
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.theme import GAP_4, GAP_8, GAP_12
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import draw_pill

Index = QModelIndex | QPersistentModelIndex
_ENTRY = Qt.ItemDataRole.UserRole
_ROOT = QModelIndex()
_ROW, _HEADING = 52, 30
_SMALL = 0.88


class OfferModel(QAbstractListModel):
    """Headings, which cannot be selected, and the models below them."""

    def __init__(self) -> None:
        """Create an empty list."""
        super().__init__()
        self.entries: tuple[Offer | str, ...] = ()

    def show(self, entries: Sequence[Offer | str]) -> None:
        """Replace the headings and models."""
        self.beginResetModel()
        self.entries = tuple(entries)
        self.endResetModel()

    def row_of(self, offer: Offer) -> int | None:
        """Return the row of a model, or of what it has become; None if it has none."""
        rows = (row for row, entry in enumerate(self.entries) if isinstance(entry, Offer) and entry.key == offer.key)
        return next(rows, None)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.entries)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let only models be selected."""
        return super().flags(index) if isinstance(self.entries[index.row()], Offer) else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the entry, or what it is called."""
        entry = self.entries[index.row()]
        if role == _ENTRY:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.title if isinstance(entry, Offer) else entry
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return offer_words.accessible_name(entry) if isinstance(entry, Offer) else entry
        return None


class OfferView(QListView):
    """Shows an `OfferModel`.

    Signals:
        chosen: Another model was selected (`Offer`, or None).
        opened: The user wants to go on with the selected model, by Enter, Space or a double click.
        typed: A letter was typed that may begin a search (the text).
        left_upwards: The user has gone up from the first model.
    """

    chosen = Signal(object)
    opened = Signal()
    typed = Signal(str)
    left_upwards = Signal()

    def __init__(self, model: OfferModel) -> None:
        """Show `model`."""
        super().__init__()
        self.setObjectName("offerList")
        self.setAccessibleName(tr("Models to download"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.hovered = -1
        self.offers = model
        self.setModel(model)
        self.setItemDelegate(_Delegate(self))
        self.selectionModel().currentChanged.connect(lambda now, before: self.chosen.emit(self.current))
        theme.current().changed.connect(self._lay_out)

    @property
    def current(self) -> Offer | None:
        """The selected model."""
        index = self.currentIndex()
        entry = self.offers.entries[index.row()] if index.isValid() else None
        return entry if isinstance(entry, Offer) else None

    def show_entries(self, entries: Sequence[Offer | str]) -> None:
        """Replace the list; the selected model stays selected, and the rows stay where they are."""
        kept, scrolled = self.current, self.verticalScrollBar().value()
        self.offers.show(entries)
        if kept is not None and (row := self.offers.row_of(kept)) is not None:
            self.setCurrentIndex(self.offers.index(row))
            self.verticalScrollBar().setValue(scrolled)
        else:
            self.chosen.emit(None)

    def select(self, offer: Offer) -> None:
        """Select a model and scroll to it."""
        if (row := self.offers.row_of(offer)) is not None:
            self.setCurrentIndex(self.offers.index(row))

    def select_first(self) -> None:
        """Select the first model, unless one is selected."""
        first = next((entry for entry in self.offers.entries if isinstance(entry, Offer)), None)
        if self.current is None and first is not None:
            self.select(first)

    def _lay_out(self) -> None:
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def _hover(self, row: int) -> None:
        if row != self.hovered:
            self.hovered = row
            self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        """Follow the pointer."""
        if event.type() == QEvent.Type.Leave:
            self._hover(-1)
        elif isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            self._hover(self.indexAt(event.position().toPoint()).row())
        return super().viewportEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go on with the model under the pointer."""
        if event.button() == Qt.MouseButton.LeftButton and self.current is not None:
            self.opened.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go on with Enter or Space, return to the field from the top, and let other letters search."""
        text = event.text()
        commands = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        before = self.currentIndex().row()
        if self.current is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.opened.emit()
        elif text.strip() and text.isprintable() and not event.modifiers() & commands:
            self.typed.emit(text)
        else:
            super().keyPressEvent(event)
            if event.key() == Qt.Key.Key_Up and self.currentIndex().row() == before:
                self.left_upwards.emit()


class _Delegate(QStyledItemDelegate):
    """Draws headings and models."""

    def __init__(self, view: OfferView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a row, at any width."""
        height = _ROW if isinstance(index.data(_ENTRY), Offer) else _HEADING
        return QSize(0, theme.current().scaled(height))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a row."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        entry = index.data(_ENTRY)
        if isinstance(entry, Offer):
            self._draw_ground(painter, option.rect, index)
            row = _Row(painter, option.rect.adjusted(GAP_12, 6, -GAP_12, -6), self._view.isRightToLeft())
            row.draw(entry)
        else:
            tokens = theme.current().tokens
            painter.setFont(theme.current().font(0.85, weight=theme.current().font().Weight.DemiBold))
            painter.setPen(QColor(tokens.muted))
            area = option.rect.adjusted(GAP_12, GAP_8, -GAP_12, 0)
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, entry)
        painter.restore()

    def _draw_ground(self, painter: QPainter, rect: QRect, index: Index) -> None:
        tokens, view = theme.current().tokens, self._view
        selected = index.row() == view.currentIndex().row()
        ground = tokens.selection if selected else tokens.hover if index.row() == view.hovered else ""
        if ground:
            focused = selected and view.hasFocus()
            painter.setPen(QPen(QColor(tokens.accent), 1.5) if focused else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(ground))
            painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), 7, 7)


class _Row:
    """Draws a model in two lines: its name and size, what it is good at and whether it fits."""

    def __init__(self, painter: QPainter, area: QRect, mirrored: bool) -> None:
        self._painter, self._mirrored = painter, mirrored
        half = area.height() // 2
        self._lines = (area.adjusted(0, 0, 0, half - area.height()), area.adjusted(0, half, 0, 0))

    def draw(self, offer: Offer) -> None:
        """Draw a model."""
        tokens, dull = theme.current().tokens, bool(offer.refusal)
        small = theme.current().font(_SMALL)
        strong = theme.current().font(weight=small.Weight.DemiBold)
        upper, lower = (_Line(self._painter, line, self._mirrored) for line in self._lines)
        upper.text(offer_words.row_end(offer), theme.current().font(), tokens.muted, at_end=True)
        if offer.recommended:
            upper.pill(tr("Suits this machine best"), small)
        upper.text(offer.title, strong, tokens.muted if dull else tokens.text)
        word = offer_words.verdict(offer)
        if word:
            fit = Fit.NO if dull or offer.chosen is None else offer.chosen.projection.fit
            icon, color = ("unfit", "muted") if dull else FIT_SIGNS[fit]
            shade = getattr(tokens, color)
            lower.text(word, small, shade, at_end=True)
            lower.icon(icon, shade)
        lower.text(offer_words.line(offer), small, tokens.muted)


class _Line:
    """A line that is filled from both ends."""

    def __init__(self, painter: QPainter, area: QRect, mirrored: bool) -> None:
        self._painter, self._area, self._mirrored = painter, QRect(area), mirrored

    def _take(self, width: int, *, at_end: bool) -> QRect:
        part = QRect(self._area)
        width = min(width, self._area.width())
        if at_end != self._mirrored:
            part.setLeft(self._area.right() + 1 - width)
            self._area.setRight(part.left() - GAP_8 - 1)
        else:
            part.setRight(self._area.left() + width - 1)
            self._area.setLeft(part.right() + GAP_8 + 1)
        return part

    def text(self, text: str, font: object, color: str, *, at_end: bool = False) -> None:
        """Draw a text, elided if there is no room."""
        if not text or self._area.width() <= 0:
            return
        self._painter.setFont(font)  # type: ignore[arg-type]
        metrics = QFontMetrics(self._painter.font())
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, self._area.width())
        part = self._take(metrics.horizontalAdvance(shown) + 2, at_end=at_end)
        self._painter.setPen(QColor(color))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute
        self._painter.drawText(part, flags.value | Qt.TextFlag.TextSingleLine.value, shown)

    def icon(self, name: str, color: str) -> None:
        """Draw an icon at the end, beside what is there."""
        edge = theme.current().scaled(14)
        self._area.adjust(*((0, 0, GAP_4, 0) if not self._mirrored else (-GAP_4, 0, 0, 0)))
        part = self._take(edge, at_end=True)
        top = part.top() + (part.height() - edge) / 2
        icons.paint(self._painter, name, color, QRectF(part.left(), top, edge, edge))

    def pill(self, text: str, font: object) -> None:
        """Draw a text in an outline at the end, if there is room for all of it."""
        self._painter.setFont(font)  # type: ignore[arg-type]
        metrics = QFontMetrics(self._painter.font())
        width = metrics.horizontalAdvance(text) + 2 * GAP_8
        if width < self._area.width() // 2 + self._area.width() // 6:
            part = QRectF(self._take(width, at_end=True))
            height = metrics.height() + GAP_4
            draw_pill(self._painter, QRectF(part.x(), part.center().y() - height / 2, part.width(), height), text)
