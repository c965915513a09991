"""A card beside the sidebar: a panel over the rest of the window that does not block it."""

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from sotto.ui.toolkit import theme


class SideCard(QFrame):
    """Closes on Escape, and hides once another widget of the window has the focus.

    Signals:
        left: The user closed the card; the conversation should take the focus.
    """

    left = Signal()

    def __init__(self, identifier: str, name: str, width: int) -> None:
        """Create the card, hidden.

        Args:
            identifier: Its name in the style sheet.
            name: Accessible name.
            width: Width in pixels at 13 px text, if there is room.
        """
        super().__init__()
        self.setObjectName(identifier)
        self.setAccessibleName(name)
        self._width = width
        self._anchor: tuple[QWidget, QWidget] | None = None
        self._opened_by_foot = False
        # The height of the texts is known only after they have been laid out.
        self._layout_timer = QTimer(self, singleShot=True, interval=0)
        self._layout_timer.timeout.connect(self.place)
        self.hide()

    def install(self, centre: QWidget, sidebar: QWidget, foot: QWidget) -> None:
        """Put the card into `centre`, beside `sidebar`, with its lower edge at that of `foot`, which opens it."""
        self.setParent(centre)
        self.hide()
        self._anchor = sidebar, foot
        for widget in (centre, sidebar):
            widget.installEventFilter(self)
        QApplication.instance().focusChanged.connect(self._hide_unfocused)  # type: ignore[union-attr]

    def show_card(self) -> None:
        """Show the card in front."""
        self._opened_by_foot = self._anchor is not None and self._anchor[1].hasFocus()
        self.show()
        self.raise_()
        self.place()

    def close_card(self) -> None:
        """Hide the card and return the focus to where it was."""
        self.hide()
        if self._opened_by_foot and self._anchor is not None:
            self._anchor[1].setFocus()
        else:
            self.left.emit()

    def height_for(self, width: int) -> int:
        """Return the height that the card needs at a width."""
        layout = self.layout()
        assert layout is not None
        return layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()

    def place(self) -> None:
        """Update the position and the size to the room there is."""
        parent = self.parentWidget()
        if parent is None or self.isHidden() or self._anchor is None:
            return
        sidebar, foot = self._anchor
        width = min(theme.current().scaled(self._width), parent.width() - 2 * theme.GAP_8)
        height = min(self.height_for(width), parent.height() - 2 * theme.GAP_8)
        lower = foot.mapTo(parent, QPoint(0, foot.height())).y() if foot.isVisible() else parent.height()
        top = max(theme.GAP_8, min(lower, parent.height() - theme.GAP_8) - height)
        edge = sidebar.geometry() if sidebar.isVisible() else parent.rect().adjusted(0, 0, -parent.width(), 0)
        # With large text in a small window the card covers part of the sidebar.
        farthest = parent.width() - width - theme.GAP_8
        left = min(edge.right() + 1 + theme.GAP_8, farthest)
        if self.isRightToLeft():
            right = sidebar.geometry().left() if sidebar.isVisible() else parent.width()
            left = max(right - width - theme.GAP_8, theme.GAP_8)
        self.setGeometry(left, top, width, height)

    def _hide_unfocused(self, before: QWidget | None, now: QWidget | None) -> None:
        if now is None or self._anchor is None or now.window() is not self.window():
            return
        if now is not self._anchor[1] and now is not self and not self.isAncestorOf(now):
            self.hide()

    def event(self, event: QEvent) -> bool:
        """Resize the card when its texts need another height, and claim Escape before a shortcut gets it."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._layout_timer.start()
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_escape(event):
            event.accept()
            return True
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the card when the window is resized, and with the sidebar."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Hide):
            self.place()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape."""
        if _is_escape(event):
            self.close_card()
            return
        super().keyPressEvent(event)


def _is_escape(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Escape
