"""Borders between the columns of a table by which these are resized, where the first column takes what is left."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHeaderView, QStyle


@dataclass(frozen=True, slots=True)
class _Drag:
    """A border that is being dragged.

    Attributes:
        column: The column that begins there.
        place: Where the mouse was pressed, in pixels.
        width: How wide the column was.
    """

    column: int
    place: float
    width: int


class ColumnGrips(QObject):
    """Reports what the user does with borders in a header whose sections cannot be resized by Qt.

    A border belongs to the column that begins there, because the first column gives what the other takes: so the border
    follows the pointer, and the columns after it stay where they are.

    Signals:
        dragged: A border is being dragged (the column, and the width that it should have).
        released: A border was dragged, and released.
        fit_wanted: A border was double-clicked (the column).
    """

    dragged = Signal(int, int)
    released = Signal()
    fit_wanted = Signal(int)

    def __init__(self, header: QHeaderView) -> None:
        """Watch `header`, which owns this object."""
        super().__init__(header)
        self._header = header
        self._drag: _Drag | None = None
        header.viewport().setMouseTracking(True)
        header.viewport().installEventFilter(self)

    def border(self, column: int) -> int:
        """Return where a column begins, in pixels from the left of the header."""
        left = self._header.sectionViewportPosition(column)
        return left + self._header.sectionSize(column) if self._header.isRightToLeft() else left

    def _column_at(self, place: float) -> int | None:
        """Return the column whose border is at a place, but for the first one; None if none is."""
        reach = self._header.style().pixelMetric(QStyle.PixelMetric.PM_HeaderGripMargin, None, self._header)
        columns = [column for column in range(1, self._header.count()) if not self._header.isSectionHidden(column)]
        nearest = min(columns, key=lambda column: abs(self.border(column) - place), default=None)
        return nearest if nearest is not None and abs(self.border(nearest) - place) <= reach else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the mouse at borders, so that the header does not."""
        if event.type() == QEvent.Type.Leave:
            self._header.viewport().unsetCursor()
        if not isinstance(event, QMouseEvent):
            return super().eventFilter(watched, event)
        place = event.position().x()
        if self._drag is not None:
            return self._go_on(self._drag, event)
        column = self._column_at(place)
        if event.type() == QEvent.Type.MouseMove and not event.buttons():
            if column is None:
                self._header.viewport().unsetCursor()
            else:
                self._header.viewport().setCursor(Qt.CursorShape.SplitHCursor)
        if column is None or event.button() != Qt.MouseButton.LeftButton:
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.MouseButtonPress:
            self._drag = _Drag(column, place, self._header.sectionSize(column))
        elif event.type() == QEvent.Type.MouseButtonDblClick:
            self.fit_wanted.emit(column)
        return True

    def _go_on(self, drag: _Drag, event: QMouseEvent) -> bool:
        """Handle the mouse while a border is being dragged."""
        if event.type() == QEvent.Type.MouseMove:
            moved = round(event.position().x() - drag.place)
            self.dragged.emit(drag.column, drag.width + (moved if self._header.isRightToLeft() else -moved))
        elif event.type() == QEvent.Type.MouseButtonRelease and event.button() == Qt.MouseButton.LeftButton:
            self._drag = None
            self.released.emit()
        return True
