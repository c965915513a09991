"""The list of conversations in the sidebar."""

import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QActionGroup, QColor, QContextMenuEvent, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from sotto.chats.records import FOUND, Chat
from sotto.ui import icons, theme, words
from sotto.ui.chat_shelf import Entry, Shelf
from sotto.ui.parts import IconButton, Label, add_action, plain_tip, popup

_Index = QModelIndex | QPersistentModelIndex
_ENTRY = Qt.ItemDataRole.UserRole
_SHELF_NAMES = {Shelf.CURRENT: "Chats", Shelf.ARCHIVED: "Archive", Shelf.TRASH: "Trash"}
_EMPTY = {
    Shelf.CURRENT: "What you ask appears here.",
    Shelf.ARCHIVED: "Nothing is archived.",
    Shelf.TRASH: "The trash is empty. What is in it is erased after 30 days.",
}


class _Entries(QAbstractListModel):
    """The conversations as Qt's views want them."""

    def __init__(self, renamed: Callable[[int, str], None]) -> None:
        super().__init__()
        self.entries: tuple[Entry, ...] = ()
        self._renamed = renamed

    def show_entries(self, entries: tuple[Entry, ...]) -> None:
        if [entry.chat.id for entry in entries] == [entry.chat.id for entry in self.entries]:
            # The view keeps its place, and an editor stays open.
            self.entries = entries
            if entries:
                self.dataChanged.emit(self.index(0), self.index(len(entries) - 1))
            return
        self.beginResetModel()
        self.entries = entries
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self.entries[index.row()]
        if role == _ENTRY:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return entry.chat.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(entry.chat.title)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{entry.chat.title}, {caption(entry)}" + (", pinned" if entry.chat.pinned else "")
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or not isinstance(value, str) or not value.strip():
            return False
        self._renamed(self.entries[index.row()].chat.id, value)
        return True


class _Delegate(QStyledItemDelegate):
    """Draws a conversation: its title, and under it when something was last said, or where words were found."""

    def setEditorData(self, editor: QWidget, index: _Index) -> None:
        """Leave what is being typed alone when the list is read again and the conversation is called as before."""
        title = index.data(Qt.ItemDataRole.EditRole)
        if editor.property("title") != title:
            editor.setProperty("title", title)
            super().setEditorData(editor, index)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        entry, tokens = index.data(_ENTRY), theme.current().tokens
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area: QRect = option.rect.adjusted(0, 1, 0, -1)
        state: QStyle.StateFlag = option.state
        ground = (
            tokens.selection
            if state & QStyle.StateFlag.State_Selected
            else tokens.hover
            if state & QStyle.StateFlag.State_MouseOver
            else ""
        )
        if ground:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(ground))
            painter.drawRoundedRect(area, 7, 7)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(tokens.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(0, 0, -1, -1), 7, 7)
        inside = area.adjusted(theme.GAP_8, theme.GAP_4 + 1, -theme.GAP_8, -theme.GAP_4 - 1)
        if entry.chat.pinned:
            edge = theme.current().scaled(14)
            place = QRect(inside.right() - edge, inside.top() + 1, edge, edge)
            icons.paint(painter, "pin", tokens.muted, place.toRectF())
            inside.setRight(place.left() - theme.GAP_4)
        for text, font, color, at in self._lines(entry, inside):
            painter.setFont(font)
            painter.setPen(QColor(color))
            elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, inside.width())
            painter.drawText(QRect(inside.left(), at, inside.width(), QFontMetrics(font).height()), 0, elided)
        painter.restore()

    def _lines(self, entry: Entry, inside: QRect) -> list[tuple[str, QFont, str, int]]:
        look = theme.current()
        title, small = look.font(), look.font(0.88)
        below = inside.top() + QFontMetrics(title).height() + 1
        return [
            (entry.chat.title, title, look.tokens.text, inside.top()),
            (caption(entry), small, look.tokens.muted, below),
        ]

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        look = theme.current()
        lines = QFontMetrics(look.font()).height() + 1 + QFontMetrics(look.font(0.88)).height()
        return QSize(0, lines + 2 * (theme.GAP_4 + 1) + 2)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        editor.setGeometry(option.rect.adjusted(2, 2, -2, -2))


class _View(QListView):
    """The list itself; it would like to show all of its rows.

    Signals:
        entered: The conversation in this row is to be opened.
        menu_wanted: What can be done with the conversation in this row, at this place.
    """

    entered = Signal(int)
    menu_wanted = Signal(int, QPoint)

    def sizeHint(self) -> QSize:
        """Return the room that all rows take."""
        rows = self.model().rowCount() if self.model() is not None else 0
        return QSize(super().sizeHint().width(), rows * max(0, self.sizeHintForRow(0)))

    def minimumSizeHint(self) -> QSize:
        """Take one row at least."""
        return QSize(0, max(0, self.sizeHintForRow(0)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open with Enter; nothing is ever deleted by a key."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered.emit(self.currentIndex().row())
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid():
            place = self.visualRect(index).center() if by_key else event.pos()
            self.menu_wanted.emit(index.row(), self.viewport().mapToGlobal(place))


class ChatList(QFrame):
    """Conversations, of which one is in view.

    Signals:
        open_wanted: The conversation of this number is to be in view, and the message of that one; None for no special
            one.
        renamed: A conversation is to be called something else.
        pin_wanted, archive_wanted: A conversation is to be pinned or archived, or no longer.
        trash_wanted: A conversation is to be thrown away (`Chat`).
        restore_wanted: A conversation is to be taken out of the trash.
        markdown_wanted, json_wanted: A conversation is to be exported (`Chat`).
        shelf_wanted: Other conversations are to be listed (`Shelf`).
    """

    open_wanted = Signal(int, object)
    renamed = Signal(int, str)
    pin_wanted = Signal(int, bool)
    archive_wanted = Signal(int, bool)
    trash_wanted = Signal(object)
    restore_wanted = Signal(int)
    markdown_wanted = Signal(object)
    json_wanted = Signal(object)
    shelf_wanted = Signal(object)

    def __init__(self) -> None:
        """Show an empty list."""
        super().__init__()
        self.setObjectName("chats")
        self._shelf = Shelf.CURRENT
        self.model = _Entries(self.renamed.emit)
        self.view = _View()
        self.view.setObjectName("chatView")
        self.view.setAccessibleName("Chats")
        self.view.setModel(self.model)
        self.view.setItemDelegate(_Delegate(self.view))
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMouseTracking(True)
        self.view.setTabKeyNavigation(False)
        self.view.setUniformItemSizes(True)
        self.view.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.clicked.connect(lambda index: self._open(index.row()))
        self.view.entered.connect(self._open)
        self.view.menu_wanted.connect(self._show_menu)
        self.title = Label("Chats", "section")
        self.choose = IconButton("more", "Which chats are listed")
        self.choose.clicked.connect(self._choose_shelf)
        self._empty = Label("", "caption", wrap=True)
        self._empty.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, 0)
        top = QHBoxLayout()
        top.setContentsMargins(theme.GAP_8, theme.GAP_4, 0, 0)
        top.addWidget(self.title)
        top.addStretch(1)
        top.addWidget(self.choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, theme.GAP_4)
        layout.setSpacing(theme.GAP_4)
        layout.addLayout(top)
        layout.addWidget(self._empty)
        layout.addWidget(self.view, 1)
        theme.current().changed.connect(self.view.doItemsLayout)
        self.show_entries((), Shelf.CURRENT)

    def show_entries(self, entries: tuple[Entry, ...], shelf: Shelf, *, searched: bool = False) -> None:
        """Show these conversations of a shelf."""
        self._shelf = shelf
        self.model.show_entries(entries)
        self.title.setText(_SHELF_NAMES[shelf])
        self._empty.setText("" if entries else "Nothing was found." if searched else _EMPTY[shelf])
        self._empty.setVisible(not entries)
        self.view.setVisible(bool(entries))
        self.view.updateGeometry()

    def show_current(self, chat: int | None) -> None:
        """Mark the conversation that is in view."""
        rows = [row for row, entry in enumerate(self.model.entries) if entry.chat.id == chat]
        if rows:
            self.view.setCurrentIndex(self.model.index(rows[0]))
        else:
            self.view.clearSelection()
            self.view.setCurrentIndex(QModelIndex())

    def menu_of(self, chat: Chat) -> QMenu:
        """Return what can be done with a conversation."""
        menu = QMenu(self)
        if chat.trashed is not None:
            add_action(menu, "Restore", lambda: self.restore_wanted.emit(chat.id))
        else:
            add_action(menu, "Rename…", lambda: self._rename(chat.id))
            add_action(menu, "Unpin" if chat.pinned else "Pin", lambda: self.pin_wanted.emit(chat.id, not chat.pinned))
            archive = "Take out of the Archive" if chat.archived else "Archive"
            add_action(menu, archive, lambda: self.archive_wanted.emit(chat.id, not chat.archived))
        menu.addSeparator()
        add_action(menu, "Export as Markdown…", lambda: self.markdown_wanted.emit(chat))
        add_action(menu, "Export as JSON…", lambda: self.json_wanted.emit(chat))
        if chat.trashed is None:
            menu.addSeparator()
            add_action(menu, "Move to Trash", lambda: self.trash_wanted.emit(chat))
        return menu

    def _open(self, row: int) -> None:
        entry = self.model.entries[row]
        self.open_wanted.emit(entry.chat.id, entry.message)

    def _rename(self, chat: int) -> None:
        for row, entry in enumerate(self.model.entries):
            if entry.chat.id == chat:
                self.view.setCurrentIndex(self.model.index(row))
                self.view.edit(self.model.index(row))

    def _show_menu(self, row: int, at: QPoint) -> None:
        popup(self.menu_of(self.model.entries[row].chat), at)

    def _choose_shelf(self) -> None:
        menu = QMenu(self)
        group = QActionGroup(menu)
        for shelf in Shelf:
            action = add_action(menu, _SHELF_NAMES[shelf], partial(self.shelf_wanted.emit, shelf))
            action.setCheckable(True)
            action.setChecked(shelf is self._shelf)
            group.addAction(action)
        popup(menu, self.choose.mapToGlobal(self.choose.rect().bottomLeft()))

    def changeEvent(self, event: QEvent) -> None:
        """Draw the rows again in another appearance."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.view.viewport().update()


def caption(entry: Entry) -> str:
    """Return the line under a title."""
    if entry.excerpt:
        return " ".join(entry.excerpt.replace(FOUND[0], "").replace(FOUND[1], "").split())
    when = words.ago(time.time() - entry.chat.changed)
    return f"{when} · {words.short_name(entry.chat.model)}" if entry.chat.model else when
