"""A layout that arranges widgets in lines, like the words of a paragraph."""

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QStyle, QWidget


class FlowLayout(QLayout):
    """Lines of widgets, filled in reading direction."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 0, *, align_end: bool = False) -> None:
        """Create an empty layout.

        Args:
            parent: Widget that gets this layout; None if it becomes part of another one.
            spacing: Pixels between widgets and between lines.
            align_end: Whether lines are aligned at their end.
        """
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        self._align_end = align_end
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem:
        """Return an item; None if the index is out of range."""
        return self._items[index] if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def takeAt(self, index: int) -> QLayoutItem:
        """Remove and return an item; None if the index is out of range."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def expandingDirections(self) -> Qt.Orientation:
        """Return that the layout never wants to grow."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Return True: a narrower layout is taller."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines."""
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        """Arrange the items in `rect`."""
        super().setGeometry(rect)
        self._arrange(self.alignmentRect(rect), move=True)

    def sizeHint(self) -> QSize:
        """Return the size of all items in one line."""
        sizes = [item.sizeHint() for item in self._visible_items()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(0, len(sizes) - 1)
        return self._with_margins(QSize(width, max((size.height() for size in sizes), default=0)))

    def minimumSize(self) -> QSize:
        """Return the size of the largest item."""
        size = QSize()
        for item in self._visible_items():
            size = size.expandedTo(item.minimumSize())
        return self._with_margins(size)

    def _with_margins(self, size: QSize) -> QSize:
        margins: QMargins = self.contentsMargins()
        return size.grownBy(margins)

    def _visible_items(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        """Return the height that the items need in a rectangle of any height, and place them there if `move` is set."""
        margins: QMargins = self.contentsMargins()
        room = rect.marginsRemoved(margins)
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        x = 0
        for item in self._visible_items():
            size = item.sizeHint()
            size.setWidth(min(size.width(), max(room.width(), item.minimumSize().width())))
            if not lines or (x and x + size.width() > room.width()):
                lines.append([])
                x = 0
            lines[-1].append((item, size))
            x += size.width() + self.spacing()
        y = room.top()
        for line in lines:
            height = max(size.height() for _, size in line)
            taken = sum(size.width() for _, size in line) + self.spacing() * (len(line) - 1)
            x = room.left() + (max(0, room.width() - taken) if self._align_end else 0)
            for item, size in line:
                if move:
                    place = QRect(QPoint(x, y), QSize(size.width(), height))
                    widget = self.parentWidget()
                    direction = widget.layoutDirection() if widget else Qt.LayoutDirection.LeftToRight
                    item.setGeometry(QStyle.visualRect(direction, room, place))
                x += size.width() + self.spacing()
            y += height + self.spacing()
        return y - (self.spacing() if lines else 0) - rect.top() + margins.bottom()
