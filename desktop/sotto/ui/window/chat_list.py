"""The sidebar's list of conversations and their folders."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QActionGroup,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QMenu, QVBoxLayout, QWidget

from sotto.chats.chat_records import Chat, Folder, Shelf
from sotto.ui.conversation.chat_library import ChatEntry
from sotto.ui.state.addresses import chat_address
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.section_title import SectionTitle
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import IconButton, Label, TextButton, add_action, popup
from sotto.ui.transfer.chat_exporting import Form
from sotto.ui.window.chat_list_model import CHAT_TYPE, ChatListModel, FolderRow, GroupRow, RowDelegate
from sotto.ui.window.menus import export_label

# How long ago conversations were changed is shown in minutes.
_TICK_MS = 60_000
# A list is never taller than this many rows.
_MOST_ROWS = 40
_SHELF_NAMES = {
    Shelf.CURRENT: QT_TR_NOOP("Chats"),
    Shelf.ARCHIVED: QT_TR_NOOP("Archive"),
    Shelf.TRASH: QT_TR_NOOP("Trash"),
}
_EMPTY = {
    Shelf.CURRENT: QT_TR_NOOP("Your chats appear here."),
    Shelf.ARCHIVED: QT_TR_NOOP("No archived chats."),
    Shelf.TRASH: QT_TR_NOOP("The trash is empty. Chats in it are deleted after 30 days."),
}


class _ChatView(QListView):
    """The list view, whose preferred height shows all rows.

    Signals:
        opened: The row should be opened (its index).
        fold_wanted: The folder in a row should be closed (True) or opened (False).
        menu_wanted: The context menu of a row should be shown, at a global position.
        dropped: A conversation was dropped (its number, and the row; -1 for none).
    """

    opened = Signal(int)
    fold_wanted = Signal(int, bool)
    menu_wanted = Signal(int, QPoint)
    dropped = Signal(int, int)

    def sizeHint(self) -> QSize:
        """Return the size at which all rows are visible."""
        rows = self.model().rowCount() if self.model() is not None else 0
        return QSize(super().sizeHint().width(), sum(self.sizeHintForRow(row) for row in range(min(rows, _MOST_ROWS))))

    def minimumSizeHint(self) -> QSize:
        """Return the height of one conversation."""
        rows = self.model().rowCount() if self.model() is not None else 0
        return QSize(0, max((self.sizeHintForRow(row) for row in range(min(rows, 2))), default=0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open rows with Enter, and open and close folders with the arrow keys; no key deletes anything."""
        chosen = self.currentIndex()
        if self.state() is QListView.State.EditingState:
            # Enter ends the editing of a name, and must not open the row.
            super().keyPressEvent(event)
        elif chosen.isValid() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(chosen.row())
        elif chosen.isValid() and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            closes = (event.key() == Qt.Key.Key_Left) != self.isRightToLeft()
            self.fold_wanted.emit(chosen.row(), closes)
        elif event.text().isprintable() and event.text().strip():
            # Letters go to the composer.
            event.ignore()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept conversations."""
        if event.mimeData().hasFormat(CHAT_TYPE):
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Mark the row on which the conversation would be dropped."""
        if event.mimeData().hasFormat(CHAT_TYPE):
            event.acceptProposedAction()
            self.mark(self.indexAt(event.position().toPoint()).row())
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Remove the mark."""
        self.mark(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        """Report on which row a conversation was dropped."""
        self.mark(-1)
        number = bytes(event.mimeData().data(CHAT_TYPE).data())
        if number.isdigit():
            # A copy, so that Qt removes no row: the list is read again after the move.
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.dropped.emit(int(number), self.indexAt(event.position().toPoint()).row())

    def mark(self, row: int) -> None:
        """Mark the row that a menu or a drop is about; -1 for none."""
        delegate = self.itemDelegate()
        if isinstance(delegate, RowDelegate) and delegate.target != row:
            delegate.target = row
            self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select a row with the left button alone: another one does not open its conversation."""
        if event.button() == Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the context menu of the row under the mouse, or of the current one."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid():
            place = self.visualRect(index).center() if by_key else event.pos()
            self.menu_wanted.emit(index.row(), self.viewport().mapToGlobal(place))


class ChatList(QFrame):
    """The list with its title and menus. Its signals are requests by the user, which it does not carry out itself.

    Signals:
        open_wanted: Open a conversation (its number, and that of a message to scroll to, or None).
        renamed: Rename a conversation (its number, and the new title).
        pin_wanted: Pin or unpin a conversation (its number, and whether to pin it).
        archive_wanted: Archive a conversation or bring it back (its number, and whether to archive it).
        trash_wanted: Move a conversation to the trash (`Chat`).
        restore_wanted: Take a conversation out of the trash (its number).
        erase_wanted: Erase a conversation that is in the trash (`Chat`).
        empty_wanted: Erase all conversations in the trash.
        export_wanted: Export a conversation (`Chat`, and its `Form`).
        print_wanted: Print a conversation (`Chat`).
        shelf_wanted: List the conversations of another shelf (`Shelf`).
        move_wanted: Move a conversation (its number, and that of the folder, or None).
        folder_wanted: Add a folder (the number of a conversation to move into it, or None).
        folder_renamed: Rename a folder (its number, and the new name).
        folder_closed: Close or open a folder (its number, and whether to close it).
        folder_removed: Remove a folder but not its conversations (`Folder`).
    """

    open_wanted = Signal(int, object)
    renamed = Signal(int, str)
    pin_wanted = Signal(int, bool)
    archive_wanted = Signal(int, bool)
    trash_wanted = Signal(object)
    restore_wanted = Signal(int)
    erase_wanted = Signal(object)
    empty_wanted = Signal()
    export_wanted = Signal(object, object)
    print_wanted = Signal(object)
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
        self._folder_to_name: int | None = None
        self.model = ChatListModel()
        self.model.renamed.connect(self.renamed)
        self.model.folder_renamed.connect(self.folder_renamed)
        self.view = _ChatView()
        self.view.setObjectName("chatView")
        self.view.setAccessibleName(tr("Chats"))
        self.view.setModel(self.model)
        self.view.setItemDelegate(RowDelegate(self.view))
        self.view.setDragEnabled(True)
        self.view.setAcceptDrops(True)
        self.view.setDragDropMode(QListView.DragDropMode.DragDrop)
        self.view.setDropIndicatorShown(False)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMouseTracking(True)
        self.view.setTabKeyNavigation(False)
        self.view.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.clicked.connect(lambda index: self.open_row(index.row()))
        self.view.opened.connect(self.open_row)
        self.view.fold_wanted.connect(self._fold)
        self.view.dropped.connect(lambda chat, row: self.move_wanted.emit(chat, self.model.folder_at(row)))
        self.view.menu_wanted.connect(self._show_menu)
        self.title = SectionTitle(tr(_SHELF_NAMES[Shelf.CURRENT]))
        self.shelf_button = IconButton(
            "more", tr("Choose which chats are listed, or make a folder"), tip=tr("Chats, archive, trash, folders")
        )
        self.shelf_button.clicked.connect(self._choose_shelf)
        self.empty_note = Label("", "caption", wrap=True)
        self.empty_note.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, 0)
        top = QHBoxLayout()
        top.setContentsMargins(0, theme.GAP_4, 0, 0)
        top.addWidget(self.title)
        top.addStretch(1)
        self.empty_trash = TextButton(tr("Empty…"), "quiet", tr("Empty the trash"))
        self.empty_trash.clicked.connect(self.empty_wanted)
        self.empty_trash.hide()
        top.addWidget(self.empty_trash)
        self.back = IconButton("close", tr("Back to chats"))
        self.back.clicked.connect(lambda: self.shelf_wanted.emit(Shelf.CURRENT))
        top.addWidget(self.back)
        top.addWidget(self.shelf_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, theme.GAP_4)
        layout.setSpacing(theme.GAP_4)
        layout.addLayout(top)
        self._body = QWidget()
        body = QVBoxLayout(self._body)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(theme.GAP_4)
        body.addWidget(self.empty_note)
        body.addWidget(self.view, 1)
        layout.addWidget(self._body, 1)
        clock = QTimer(self, interval=_TICK_MS)
        clock.timeout.connect(self.model.show_time)
        clock.start()
        theme.current().changed.connect(self.view.doItemsLayout)
        self.show_entries((), Shelf.CURRENT)

    def show_entries(
        self, entries: tuple[ChatEntry, ...], shelf: Shelf, *, folders: Sequence[Folder] = (), searched: bool = False
    ) -> None:
        """List conversations.

        Args:
            entries: The conversations.
            shelf: The shelf that they are on.
            folders: The folders of the shelf.
            searched: Whether the entries are the results of a search, which are not shown in folders.
        """
        self._shelf, self._folders = shelf, tuple(folders)
        grouped = shelf is Shelf.CURRENT and not searched
        self.model.show_entries(entries, () if searched else folders, grouped=grouped)
        self.title.set_title(tr(_SHELF_NAMES[shelf]))
        listed = bool(self.model.rows)
        self.empty_note.setText("" if listed else tr("No results.") if searched else tr(_EMPTY[shelf]))
        self.empty_note.setVisible(not listed)
        self.view.setVisible(listed)
        self._show_buttons()
        self.view.updateGeometry()
        if self._folder_to_name is not None and (row := self.model.row_of(folder=self._folder_to_name)) is not None:
            self._folder_to_name = None
            self._edit_name(row)

    def set_folded(self, folded: bool) -> None:
        """Show the title alone, or the list below it, too."""
        self.title.set_folded(folded)
        self._body.setHidden(folded)
        self._show_buttons()

    def _show_buttons(self) -> None:
        folded = self.title.folded
        self.shelf_button.setHidden(folded)
        self.back.setVisible(self._shelf is not Shelf.CURRENT and not folded)
        self.empty_trash.setVisible(bool(self.model.rows) and self._shelf is Shelf.TRASH and not folded)

    def name_folder(self, folder: int) -> None:
        """Let the user edit the name of a folder, as soon as it is listed."""
        self._folder_to_name = folder

    def show_answering(self, chats: frozenset[int]) -> None:
        """Mark the conversations that are being answered out of view."""
        self.model.show_answering(chats)

    def show_current(self, chat: int | None) -> None:
        """Select the conversation that is in view."""
        if self.view.state() is QListView.State.EditingState:
            return
        row = self.model.row_of(chat=chat)
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))
        elif not self._is_folder_chosen():
            self.view.clearSelection()
            self.view.setCurrentIndex(QModelIndex())

    def chat_menu(self, chat: Chat) -> QMenu:
        """Return the context menu of a conversation."""
        menu = QMenu(self)
        if chat.trashed is not None:
            add_action(menu, tr("Restore"), lambda: self.restore_wanted.emit(chat.id))
            add_action(menu, tr("Delete for Good…"), lambda: self.erase_wanted.emit(chat))
        else:
            add_action(menu, tr("Rename…"), lambda: self.rename(chat.id))
            pin = tr("Unpin") if chat.pinned else tr("Pin")
            add_action(menu, pin, lambda: self.pin_wanted.emit(chat.id, not chat.pinned))
            archive = tr("Unarchive") if chat.archived else tr("Archive", "move to the archive")
            add_action(menu, archive, lambda: self.archive_wanted.emit(chat.id, not chat.archived))
            if not chat.archived:
                menu.addMenu(self._folder_choices(chat, menu))
        menu.addSeparator()
        export = menu.addMenu(tr("Export"))
        for form in Form:
            add_action(export, export_label(form), partial(self.export_wanted.emit, chat, form))
        add_action(menu, tr("Print…"), lambda: self.print_wanted.emit(chat))
        if chat.trashed is None:
            address = chat_address(chat.id)
            add_action(menu, tr("Copy Link"), lambda: QGuiApplication.clipboard().setText(address))
            menu.addSeparator()
            add_action(menu, tr("Move to Trash"), lambda: self.trash_wanted.emit(chat))
        return menu

    def folder_menu(self, folder: Folder) -> QMenu:
        """Return the context menu of a folder."""
        menu = QMenu(self)
        fold = tr("Open") if folder.closed else tr("Close")
        add_action(menu, fold, lambda: self.folder_closed.emit(folder.id, not folder.closed))
        add_action(menu, tr("Rename…"), lambda: self._edit_name(self.model.row_of(folder=folder.id)))
        menu.addSeparator()
        add_action(menu, tr("Delete Folder but Keep Chats"), lambda: self.folder_removed.emit(folder))
        return menu

    def _folder_choices(self, chat: Chat, parent: QMenu) -> QMenu:
        """Return the menu of folders that a conversation can be moved to."""
        menu = QMenu(tr("Move to Folder"), parent)
        group = QActionGroup(menu)
        places = [(None, tr("No Folder")), *((folder.id, folder.name) for folder in self._folders)]
        known = {folder.id for folder in self._folders}
        for number, name in places:
            # Doubled, because Qt takes a single ampersand as the mark of a mnemonic.
            action = add_action(menu, name.replace("&", "&&"), partial(self.move_wanted.emit, chat.id, number))
            action.setCheckable(True)
            action.setChecked(number == (chat.folder if chat.folder in known else None))
            group.addAction(action)
        menu.addSeparator()
        add_action(menu, tr("New Folder…"), lambda: self.folder_wanted.emit(chat.id))
        return menu

    def open_row(self, row: int) -> None:
        """Open the conversation in a row, or close or open the folder."""
        item = self.model.rows[row]
        if isinstance(item, FolderRow):
            self.folder_closed.emit(item.folder.id, not item.folder.closed)
        elif isinstance(item, ChatEntry):
            self.open_wanted.emit(item.chat.id, item.message)

    def _fold(self, row: int, closed: bool) -> None:
        item = self.model.rows[row]
        if isinstance(item, FolderRow):
            if item.folder.closed != closed:
                self.folder_closed.emit(item.folder.id, closed)
        elif isinstance(item, ChatEntry) and closed and self.model.is_inside(row):
            # As in file managers, the key goes from a conversation to its folder first.
            self.view.setCurrentIndex(self.model.index(self.model.row_of(folder=item.chat.folder) or 0))

    def _is_folder_chosen(self) -> bool:
        chosen = self.view.currentIndex()
        return chosen.isValid() and isinstance(self.model.rows[chosen.row()], FolderRow)

    def rename(self, chat: int) -> None:
        """Let the user edit the title of a conversation."""
        self._edit_name(self.model.row_of(chat=chat))

    def _edit_name(self, row: int | None) -> None:
        if row is not None:
            self.view.setCurrentIndex(self.model.index(row))
            self.view.edit(self.model.index(row))

    def _show_menu(self, row: int, at: QPoint) -> None:
        item = self.model.rows[row]
        if isinstance(item, GroupRow):
            return
        menu = self.folder_menu(item.folder) if isinstance(item, FolderRow) else self.chat_menu(item.chat)
        menu.aboutToHide.connect(lambda: self.view.mark(-1))
        self.view.mark(row)
        popup(menu, at)

    def _choose_shelf(self) -> None:
        menu = QMenu(self)
        group = QActionGroup(menu)
        for shelf in Shelf:
            action = add_action(menu, tr(_SHELF_NAMES[shelf]), partial(self.shelf_wanted.emit, shelf))
            action.setCheckable(True)
            action.setChecked(shelf is self._shelf)
            group.addAction(action)
        menu.addSeparator()
        add_action(menu, tr("New Folder"), lambda: self.folder_wanted.emit(None))
        popup(menu, self.shelf_button.mapToGlobal(self.shelf_button.rect().bottomLeft()))

    def changeEvent(self, event: QEvent) -> None:
        """Redraw the rows when the appearance changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.view.viewport().update()
