"""A layout that puts widgets one behind the other, and begins a new line where there is no room."""

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QStyle, QWidget


class FlowLayout(QLayout):
    """Lines of widgets, from the side on which reading begins."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 0, *, ends: bool = False) -> None:
        """Lay out the widgets of `parent`, with so much between them; `ends` for lines that end at the far side."""
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        self._ends = ends
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        """Put an item behind the others."""
        self._items.append(item)

    def count(self) -> int:
        """Return how many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem:
        """Return an item; None where there is none."""
        return self._items[index] if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def takeAt(self, index: int) -> QLayoutItem:
        """Take an item out."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None  # type: ignore[return-value]

    def expandingDirections(self) -> Qt.Orientation:
        """Take no more room than is needed."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Be the higher the narrower."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines."""
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        """Put everything in its place."""
        super().setGeometry(rect)
        self._arrange(self.alignmentRect(rect), move=True)

    def sizeHint(self) -> QSize:
        """Return the size of one line of everything."""
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(0, len(sizes) - 1)
        return self._around(QSize(width, max((size.height() for size in sizes), default=0)))

    def minimumSize(self) -> QSize:
        """Return the size of the largest item."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return self._around(size)

    def _around(self, size: QSize) -> QSize:
        margins: QMargins = self.contentsMargins()
        return size.grownBy(margins)

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        """Arrange the items in a rectangle of any height, and return the height that they take."""
        margins: QMargins = self.contentsMargins()
        room = rect.marginsRemoved(margins)
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        x = 0
        for item in self._shown():
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
            x = room.left() + (max(0, room.width() - taken) if self._ends else 0)
            for item, size in line:
                if move:
                    place = QRect(QPoint(x, y), QSize(size.width(), height))
                    widget = self.parentWidget()
                    direction = widget.layoutDirection() if widget else Qt.LayoutDirection.LeftToRight
                    item.setGeometry(QStyle.visualRect(direction, room, place))
                x += size.width() + self.spacing()
            y += height + self.spacing()
        return y - (self.spacing() if lines else 0) - rect.top() + margins.bottom()
