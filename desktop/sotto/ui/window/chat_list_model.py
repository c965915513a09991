"""Conversations and their folders as Qt's views want them, and how a row of them is drawn."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sotto.chats.chat_records import FOUND, Folder
from sotto.ui.conversation.chat_library import ChatEntry
from sotto.ui.state import wording
from sotto.ui.state.names import short_name
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.widgets import plain_tip

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
CHAT_TYPE = "application/x-sotto-chat"
_FILLED = "filled"


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A folder in the list.

    Attributes:
        folder: The folder.
        count: How many conversations are in it.
    """

    folder: Folder
    count: int


Row = ChatEntry | FolderRow


class ChatRows(QAbstractListModel):
    """The rows of the list: folders, each with its conversations where it is open, and then all others.

    Signals:
        renamed: The conversation of this number is to be called something else.
        folder_renamed: The folder of this number is.

    Attributes:
        entries: All conversations, those in closed folders too.
        rows: What is listed.
        answering: The numbers of conversations that are being answered out of view.
    """

    renamed = Signal(int, str)
    folder_renamed = Signal(int, str)

    def __init__(self) -> None:
        """Begin with no rows."""
        super().__init__()
        self.entries: tuple[ChatEntry, ...] = ()
        self.rows: tuple[Row, ...] = ()
        self.answering: frozenset[int] = frozenset()
        self._listed: set[int] = set()

    def show_answering(self, chats: frozenset[int]) -> None:
        """Say of these conversations that they are being answered."""
        if chats != self.answering:
            self.answering = chats
            if self.rows:
                self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def show_entries(self, entries: Sequence[ChatEntry], folders: Sequence[Folder]) -> None:
        """Have these conversations, in these folders."""
        rows = _arranged(entries, folders)
        same = list(map(_key, rows)) == list(map(_key, self.rows))
        if not same:
            self.beginResetModel()
        self.entries, self.rows = tuple(entries), rows
        self._listed = {row.folder.id for row in rows if isinstance(row, FolderRow)}
        if not same:
            self.endResetModel()
        elif rows:
            # The view keeps its place, and an editor stays open.
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))

    def row_of(self, *, chat: int | None = None, folder: int | None = None) -> int | None:
        """Return the row of a conversation or a folder; None where it is not listed."""
        wanted = ("folder", folder) if folder is not None else ("chat", chat)
        return next((number for number, row in enumerate(self.rows) if _key(row) == wanted), None)

    def folder_at(self, row: int) -> int | None:
        """Return the number of the folder that a row is, or is in; None for none."""
        one = self.rows[row] if 0 <= row < len(self.rows) else None
        if isinstance(one, FolderRow):
            return one.folder.id
        # What is in a folder stands right behind it, or behind others that do.
        return one.chat.folder if one is not None and self.is_inside(row) else None

    def is_inside(self, row: int) -> bool:
        """Return whether a conversation is listed in a folder."""
        one = self.rows[row]
        return isinstance(one, ChatEntry) and one.chat.folder in self._listed

    def caption(self, row: Row) -> str:
        """Return the line under a title."""
        if isinstance(row, ChatEntry) and row.chat.id in self.answering:
            return "Answering…"
        return caption(row)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many rows there are."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what a row is, or is called."""
        row = self.rows[index.row()]
        if role == ROW:
            return row
        title = row.folder.name if isinstance(row, FolderRow) else row.chat.title
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(title)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if isinstance(row, FolderRow):
                return f"Folder {title}, {self.caption(row)}, {'closed' if row.folder.closed else 'open'}"
            inside = ", in a folder" if self.is_inside(index.row()) else ""
            return f"{title}, {self.caption(row)}" + (", pinned" if row.chat.pinned else "") + inside
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let everything be named, and conversations be dragged."""
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable
        if index.isValid() and isinstance(self.rows[index.row()], ChatEntry):
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another name."""
        if role != Qt.ItemDataRole.EditRole or not isinstance(value, str) or not value.strip():
            return False
        row = self.rows[index.row()]
        if isinstance(row, FolderRow):
            self.folder_renamed.emit(row.folder.id, value)
        else:
            self.renamed.emit(row.chat.id, value)
        return True

    def mimeTypes(self) -> list[str]:
        """Return as what a conversation is dragged."""
        return [CHAT_TYPE]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Return the number of the conversation that is dragged."""
        data = QMimeData()
        dragged = [row.chat.id for index in indexes if isinstance(row := self.rows[index.row()], ChatEntry)]
        if dragged:
            data.setData(CHAT_TYPE, str(dragged[0]).encode())
        return data


def _arranged(entries: Sequence[ChatEntry], folders: Sequence[Folder]) -> tuple[Row, ...]:
    rows: list[Row] = []
    for folder in folders:
        inside = [entry for entry in entries if entry.chat.folder == folder.id]
        rows.append(FolderRow(folder, len(inside)))
        if not folder.closed:
            rows += inside
    known = {folder.id for folder in folders}
    return (*rows, *(entry for entry in entries if entry.chat.folder not in known))


def _key(row: Row) -> tuple[str, int]:
    return ("folder", row.folder.id) if isinstance(row, FolderRow) else ("chat", row.chat.id)


class RowDelegate(QStyledItemDelegate):
    """Draws a conversation: its title, and under it when something was last said, or where words were found.

    Attributes:
        target: The row on which something would be dropped; -1 for none.
    """

    target = -1

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a row."""
        row, tokens = index.data(ROW), theme.current().tokens
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
        if state & QStyle.StateFlag.State_HasFocus or index.row() == self.target:
            painter.setPen(QColor(tokens.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(0, 0, -1, -1), 7, 7)
        leads = option.direction == Qt.LayoutDirection.RightToLeft
        inside = area.adjusted(theme.GAP_8, theme.GAP_4 + 1, -theme.GAP_8, -theme.GAP_4 - 1)
        edge = theme.current().scaled(14)
        model = index.model()
        if isinstance(row, FolderRow):
            sign = ("left" if leads else "right") if row.folder.closed else "down"
            inside = self._sign(painter, inside, sign, edge, at_end=False, mirrored=leads)
        elif isinstance(model, ChatRows) and model.is_inside(index.row()):
            step = edge + theme.GAP_4
            inside.adjust(0 if leads else step, 0, -step if leads else 0, 0)
        if isinstance(row, ChatEntry) and row.chat.pinned:
            inside = self._sign(painter, inside, "pin", edge, at_end=True, mirrored=leads)
        below = model.caption(row) if isinstance(model, ChatRows) else caption(row)
        for text, font, color, at in _lines(row, below, inside):
            painter.setFont(font)
            painter.setPen(QColor(color))
            elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, inside.width())
            # From the side on which reading begins: the painter knows which.
            painter.drawText(QRect(inside.left(), at, inside.width(), QFontMetrics(font).height()), 0, elided)
        painter.restore()

    def _sign(self, painter: QPainter, inside: QRect, icon: str, edge: int, *, at_end: bool, mirrored: bool) -> QRect:
        """Draw an icon at one end of a row, and return the room beside it."""
        right = at_end != mirrored
        left = inside.right() - edge if right else inside.left()
        icons.paint(painter, icon, theme.current().tokens.muted, QRect(left, inside.top() + 1, edge, edge).toRectF())
        step = edge + theme.GAP_4
        return inside.adjusted(0 if right else step, 0, -step if right else 0, 0)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of two lines."""
        look = theme.current()
        lines = QFontMetrics(look.font()).height() + 1 + QFontMetrics(look.font(0.88)).height()
        return QSize(0, lines + 2 * (theme.GAP_4 + 1) + 2)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Put the name into the editor, once: what is being typed there is not replaced."""
        if not editor.property(_FILLED):
            editor.setProperty(_FILLED, True)
            super().setEditorData(editor, index)
            if isinstance(editor, QLineEdit):
                editor.setAccessibleName("Name")
                editor.selectAll()

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Put the editor over the row."""
        editor.setGeometry(option.rect.adjusted(2, 2, -2, -2))


def _lines(row: Row, caption: str, inside: QRect) -> list[tuple[str, QFont, str, int]]:
    look = theme.current()
    weight = QFont.Weight.DemiBold if isinstance(row, FolderRow) else QFont.Weight.Normal
    title, small = look.font(1.0, weight), look.font(0.88)
    below = inside.top() + QFontMetrics(title).height() + 1
    name = row.folder.name if isinstance(row, FolderRow) else row.chat.title
    return [(name, title, look.tokens.text, inside.top()), (caption, small, look.tokens.muted, below)]


def caption(row: Row) -> str:
    """Return the line under the title of what nothing happens with."""
    if isinstance(row, FolderRow):
        return "1 chat" if row.count == 1 else f"{wording.count(row.count)} chats"
    if row.excerpt:
        return " ".join(row.excerpt.replace(FOUND[0], "").replace(FOUND[1], "").split())
    when = wording.ago(time.time() - row.chat.changed)
    return f"{when} · {short_name(row.chat.model)}" if row.chat.model else when
