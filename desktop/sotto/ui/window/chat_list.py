"""The list of conversations in the sidebar, in folders."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import (
    QActionGroup,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QMenu, QVBoxLayout

from sotto.chats.chat_records import Chat, Folder, Shelf
from sotto.ui.conversation.chat_library import ChatEntry
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import IconButton, Label, add_action, popup
from sotto.ui.window.chat_list_model import CHAT_TYPE, ChatRows, FolderRow, RowDelegate

_SHELF_NAMES = {Shelf.CURRENT: "Chats", Shelf.ARCHIVED: "Archive", Shelf.TRASH: "Trash"}
_EMPTY = {
    Shelf.CURRENT: "What you ask appears here.",
    Shelf.ARCHIVED: "Nothing is archived.",
    Shelf.TRASH: "The trash is empty. What is in it is erased after 30 days.",
}


class _View(QListView):
    """The list itself; it would like to show all of its rows.

    Signals:
        entered: The conversation in this row is to be opened.
        folded: The folder in this row is to be closed (True) or opened.
        menu_wanted: What can be done with the conversation in this row, at this place.
        dropped: A conversation was dropped on this row; -1 for where there is none.
    """

    entered = Signal(int)
    folded = Signal(int, bool)
    menu_wanted = Signal(int, QPoint)
    dropped = Signal(int, int)

    def sizeHint(self) -> QSize:
        """Return the room that all rows take."""
        rows = self.model().rowCount() if self.model() is not None else 0
        return QSize(super().sizeHint().width(), rows * max(0, self.sizeHintForRow(0)))

    def minimumSizeHint(self) -> QSize:
        """Take one row at least."""
        return QSize(0, max(0, self.sizeHintForRow(0)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open with Enter, open and close folders with the arrows; nothing is ever deleted by a key."""
        chosen = self.currentIndex()
        if self.state() is QListView.State.EditingState:
            # What ends a name opens nothing.
            super().keyPressEvent(event)
        elif chosen.isValid() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit(chosen.row())
        elif chosen.isValid() and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            closes = (event.key() == Qt.Key.Key_Left) != self.isRightToLeft()
            self.folded.emit(chosen.row(), closes)
        elif event.text().isprintable() and event.text().strip():
            # A letter is for the message that is written.
            event.ignore()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take conversations."""
        if event.mimeData().hasFormat(CHAT_TYPE):
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Show where a conversation would go."""
        if event.mimeData().hasFormat(CHAT_TYPE):
            event.acceptProposedAction()
            self._point_at(self.indexAt(event.position().toPoint()).row())
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Show nothing of it any more."""
        self._point_at(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        """Let a conversation go where it is dropped."""
        self._point_at(-1)
        number = bytes(event.mimeData().data(CHAT_TYPE).data())
        if number.isdigit():
            # Nothing is removed here: the list is read again.
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.dropped.emit(int(number), self.indexAt(event.position().toPoint()).row())

    def _point_at(self, row: int) -> None:
        delegate = self.itemDelegate()
        if isinstance(delegate, RowDelegate) and delegate.target != row:
            delegate.target = row
            self.viewport().update()

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
        move_wanted: A conversation is to be in the folder of this number; None for none.
        folder_wanted: There is to be a new folder, with the conversation of this number in it; None for none.
        folder_renamed: A folder is to be called something else.
        folder_closed: A folder is to be closed, or opened.
        folder_removed: A folder is to go; its conversations stay (`Folder`).
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
    move_wanted = Signal(int, object)
    folder_wanted = Signal(object)
    folder_renamed = Signal(int, str)
    folder_closed = Signal(int, bool)
    folder_removed = Signal(object)

    def __init__(self) -> None:
        """Show an empty list."""
        super().__init__()
        self.setObjectName("chats")
        self._shelf = Shelf.CURRENT
        self._folders: tuple[Folder, ...] = ()
        self._to_name: int | None = None
        self.model = ChatRows()
        self.model.renamed.connect(self.renamed)
        self.model.folder_renamed.connect(self.folder_renamed)
        self.view = _View()
        self.view.setObjectName("chatView")
        self.view.setAccessibleName("Chats")
        self.view.setModel(self.model)
        self.view.setItemDelegate(RowDelegate(self.view))
        self.view.setDragEnabled(True)
        self.view.setAcceptDrops(True)
        self.view.setDragDropMode(QListView.DragDropMode.DragDrop)
        self.view.setDropIndicatorShown(False)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMouseTracking(True)
        self.view.setTabKeyNavigation(False)
        self.view.setUniformItemSizes(True)
        self.view.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.clicked.connect(lambda index: self._open(index.row()))
        self.view.entered.connect(self._open)
        self.view.folded.connect(self._fold)
        self.view.dropped.connect(lambda chat, row: self.move_wanted.emit(chat, self.model.folder_at(row)))
        self.view.menu_wanted.connect(self._show_menu)
        self.title = Label("Chats", "section")
        self.choose = IconButton(
            "more", "Which chats are listed, and new folders", tip="Chats, archive, trash, folders"
        )
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

    def show_entries(
        self, entries: tuple[ChatEntry, ...], shelf: Shelf, *, folders: Sequence[Folder] = (), searched: bool = False
    ) -> None:
        """Show these conversations of a shelf, in these folders; what was looked for is shown in none."""
        self._shelf, self._folders = shelf, tuple(folders)
        self.model.show_entries(entries, () if searched else folders)
        self.title.setText(_SHELF_NAMES[shelf])
        listed = bool(self.model.rows)
        self._empty.setText("" if listed else "Nothing was found." if searched else _EMPTY[shelf])
        self._empty.setVisible(not listed)
        self.view.setVisible(listed)
        self.view.updateGeometry()
        if self._to_name is not None and (row := self.model.row_of(folder=self._to_name)) is not None:
            self._to_name = None
            self._edit(row)

    def name_folder(self, folder: int) -> None:
        """Let the person name a folder, as soon as it is listed."""
        self._to_name = folder

    def show_answering(self, chats: frozenset[int]) -> None:
        """Say of these conversations that they are being answered out of view."""
        self.model.show_answering(chats)

    def show_current(self, chat: int | None) -> None:
        """Mark the conversation that is in view."""
        if self.view.state() is QListView.State.EditingState:
            return
        row = self.model.row_of(chat=chat)
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))
        elif not self._on_folder():
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
            if not chat.archived:
                menu.addMenu(self._folders_of(chat, menu))
        menu.addSeparator()
        add_action(menu, "Export as Markdown…", lambda: self.markdown_wanted.emit(chat))
        add_action(menu, "Export as JSON…", lambda: self.json_wanted.emit(chat))
        if chat.trashed is None:
            menu.addSeparator()
            add_action(menu, "Move to Trash", lambda: self.trash_wanted.emit(chat))
        return menu

    def menu_of_folder(self, folder: Folder) -> QMenu:
        """Return what can be done with a folder."""
        menu = QMenu(self)
        fold = "Open" if folder.closed else "Close"
        add_action(menu, fold, lambda: self.folder_closed.emit(folder.id, not folder.closed))
        add_action(menu, "Rename…", lambda: self._edit(self.model.row_of(folder=folder.id)))
        menu.addSeparator()
        add_action(menu, "Delete Folder; Its Chats Stay", lambda: self.folder_removed.emit(folder))
        return menu

    def _folders_of(self, chat: Chat, parent: QMenu) -> QMenu:
        """Return the folders that a conversation can be moved to."""
        menu = QMenu("Move to Folder", parent)
        group = QActionGroup(menu)
        places = [(None, "No Folder"), *((folder.id, folder.name) for folder in self._folders)]
        known = {folder.id for folder in self._folders}
        for number, name in places:
            # An ampersand in a name is one, and no mark of a key.
            action = add_action(menu, name.replace("&", "&&"), partial(self.move_wanted.emit, chat.id, number))
            action.setCheckable(True)
            action.setChecked(number == (chat.folder if chat.folder in known else None))
            group.addAction(action)
        menu.addSeparator()
        add_action(menu, "New Folder…", lambda: self.folder_wanted.emit(chat.id))
        return menu

    def _open(self, row: int) -> None:
        one = self.model.rows[row]
        if isinstance(one, FolderRow):
            self.folder_closed.emit(one.folder.id, not one.folder.closed)
        else:
            self.open_wanted.emit(one.chat.id, one.message)

    def _fold(self, row: int, closed: bool) -> None:
        one = self.model.rows[row]
        if isinstance(one, FolderRow):
            if one.folder.closed != closed:
                self.folder_closed.emit(one.folder.id, closed)
        elif closed and self.model.is_inside(row):
            # From what is inside to the folder.
            self.view.setCurrentIndex(self.model.index(self.model.row_of(folder=one.chat.folder) or 0))

    def _on_folder(self) -> bool:
        chosen = self.view.currentIndex()
        return chosen.isValid() and isinstance(self.model.rows[chosen.row()], FolderRow)

    def _rename(self, chat: int) -> None:
        self._edit(self.model.row_of(chat=chat))

    def _edit(self, row: int | None) -> None:
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))
            self.view.edit(self.model.index(row))

    def _show_menu(self, row: int, at: QPoint) -> None:
        one = self.model.rows[row]
        popup(self.menu_of_folder(one.folder) if isinstance(one, FolderRow) else self.menu_of(one.chat), at)

    def _choose_shelf(self) -> None:
        menu = QMenu(self)
        group = QActionGroup(menu)
        for shelf in Shelf:
            action = add_action(menu, _SHELF_NAMES[shelf], partial(self.shelf_wanted.emit, shelf))
            action.setCheckable(True)
            action.setChecked(shelf is self._shelf)
            group.addAction(action)
        menu.addSeparator()
        add_action(menu, "New Folder", lambda: self.folder_wanted.emit(None))
        popup(menu, self.choose.mapToGlobal(self.choose.rect().bottomLeft()))

    def changeEvent(self, event: QEvent) -> None:
        """Draw the rows again in another appearance."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.view.viewport().update()
