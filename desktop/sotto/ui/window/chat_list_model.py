"""The Qt model of conversations and their folders, and the delegate that draws its rows."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from PySide6.QtCore import (
    QAbstractListModel,
    QLocale,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sotto.chats.chat_records import FOUND, Folder
from sotto.ui.conversation.chat_library import ChatEntry
from sotto.ui.state import wording
from sotto.ui.state.names import join_facts, short_name
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import plain_tip

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
CAPTION = ROW + 1
CHAT_TYPE = "application/x-sotto-chat"
_EDITOR_FILLED = "filled"
_WEEK = 7
# Rows are as high as the chosen font; characters that it lacks come from others, which may be higher.
_UNCLIPPED = Qt.TextFlag.TextDontClip


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A folder in the list.

    Attributes:
        folder: The folder.
        count: The number of conversations in it.
    """

    folder: Folder
    count: int


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The title of a group of conversations, such as those of today."""

    title: str


Row = ChatEntry | FolderRow | GroupRow


class ChatListModel(QAbstractListModel):
    """The rows of the list: folders, each followed by its conversations if it is open, then the others by their age.

    Signals:
        renamed: The user has renamed a conversation (its number, and the new title).
        folder_renamed: The user has renamed a folder (its number, and the new name).

    Attributes:
        entries: All conversations, including those in closed folders.
        rows: The rows.
        answering: The numbers of the conversations that are being answered out of view.
    """

    renamed = Signal(int, str)
    folder_renamed = Signal(int, str)

    def __init__(self) -> None:
        """Begin without rows."""
        super().__init__()
        self.entries: tuple[ChatEntry, ...] = ()
        self.rows: tuple[Row, ...] = ()
        self.answering: frozenset[int] = frozenset()
        self._listed: set[int] = set()
        # The lines under the titles by the keys of the rows, which are not translated again for each paint.
        self._captions: dict[tuple[str, int | str], str] = {}

    def show_answering(self, chats: frozenset[int]) -> None:
        """Mark the conversations that are being answered out of view."""
        if chats != self.answering:
            self.answering = chats
            self.show_time()

    def show_time(self) -> None:
        """Write the lines under the titles again, which say how long ago the conversations were changed."""
        self._write_captions()
        if self.rows:
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def _write_captions(self) -> None:
        self._captions = {_key(row): self._caption_of(row) for row in self.rows}

    def show_entries(self, entries: Sequence[ChatEntry], folders: Sequence[Folder], *, grouped: bool = False) -> None:
        """Replace the conversations and folders; `grouped` puts titles above conversations of about the same age."""
        rows = _arrange(entries, folders, grouped=grouped)
        same = list(map(_key, rows)) == list(map(_key, self.rows))
        if not same:
            self.beginResetModel()
        self.entries, self.rows = tuple(entries), rows
        self._listed = {row.folder.id for row in rows if isinstance(row, FolderRow)}
        if not same:
            self._write_captions()
            self.endResetModel()
        else:
            # Without a reset, the view keeps its scroll position, and an open editor stays open.
            self.show_time()

    def row_of(self, *, chat: int | None = None, folder: int | None = None) -> int | None:
        """Return the index of the row of a conversation or folder; None if it is not listed."""
        key = ("folder", folder) if folder is not None else ("chat", chat)
        return next((index for index, row in enumerate(self.rows) if _key(row) == key), None)

    def folder_at(self, row: int) -> int | None:
        """Return the number of the folder that a row shows or is in; None for none."""
        entry = self.rows[row] if 0 <= row < len(self.rows) else None
        if isinstance(entry, FolderRow):
            return entry.folder.id
        return entry.chat.folder if isinstance(entry, ChatEntry) and self.is_inside(row) else None

    def is_inside(self, row: int) -> bool:
        """Return whether a conversation is listed in a folder."""
        entry = self.rows[row]
        return isinstance(entry, ChatEntry) and entry.chat.folder in self._listed

    def caption(self, row: Row) -> str:
        """Return the line under the title of a row that is listed."""
        return self._captions[_key(row)]

    def _caption_of(self, row: Row) -> str:
        if isinstance(row, GroupRow):
            return ""
        if isinstance(row, FolderRow):
            return tr("1 chat|{count} chats", "", row.count).format(count=wording.count(row.count))
        if row.chat.id in self.answering:
            return tr("Answering…")
        if row.excerpt:
            return " ".join(row.excerpt.replace(FOUND[0], "").replace(FOUND[1], "").split())
        when = wording.ago(time.time() - row.chat.changed)
        return join_facts((when, short_name(row.chat.model or "")))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a row, its title, the line under it, its tip or its accessible text."""
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if role == CAPTION:
            return self.caption(row)
        if isinstance(row, GroupRow):
            shown = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
            return row.title if role in shown else None
        title = row.folder.name if isinstance(row, FolderRow) else row.chat.title
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(title)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            if isinstance(row, FolderRow):
                said = tr("Folder {name}, {chats}, closed") if row.folder.closed else tr("Folder {name}, {chats}, open")
                return said.format(name=title, chats=self.caption(row))
            pinned = tr("pinned") if row.chat.pinned else ""
            inside = tr("in a folder") if self.is_inside(index.row()) else ""
            return ", ".join(filter(None, (title, self.caption(row), pinned, inside)))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Make conversations and folders editable, and conversations draggable."""
        if index.isValid() and isinstance(self.rows[index.row()], GroupRow):
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable
        if index.isValid() and isinstance(self.rows[index.row()], ChatEntry):
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Request another name."""
        if role != Qt.ItemDataRole.EditRole or not isinstance(value, str) or not value.strip():
            return False
        row = self.rows[index.row()]
        if isinstance(row, FolderRow):
            self.folder_renamed.emit(row.folder.id, value)
        elif isinstance(row, ChatEntry):
            self.renamed.emit(row.chat.id, value)
        return True

    def mimeTypes(self) -> list[str]:
        """Return the MIME type of a dragged conversation."""
        return [CHAT_TYPE]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Return the number of the dragged conversation."""
        data = QMimeData()
        dragged = [row.chat.id for index in indexes if isinstance(row := self.rows[index.row()], ChatEntry)]
        if dragged:
            data.setData(CHAT_TYPE, str(dragged[0]).encode())
        return data


def _arrange(entries: Sequence[ChatEntry], folders: Sequence[Folder], *, grouped: bool) -> tuple[Row, ...]:
    rows: list[Row] = []
    for folder in folders:
        inside = [entry for entry in entries if entry.chat.folder == folder.id]
        rows.append(FolderRow(folder, len(inside)))
        if not folder.closed:
            rows += inside
    known = {folder.id for folder in folders}
    today, title = date.today(), ""
    for entry in entries:
        if entry.chat.folder in known:
            continue
        group = tr("Pinned") if entry.chat.pinned else group_of(date.fromtimestamp(entry.chat.changed), today)
        if grouped and group != title:
            title = group
            rows.append(GroupRow(title))
        rows.append(entry)
    return tuple(rows)


def group_of(day: date, today: date) -> str:
    """Return the title of the group of conversations that were last changed on `day`."""
    days = (today - day).days
    if days <= 1:
        return tr("Today") if days <= 0 else tr("Yesterday")
    if days <= _WEEK:
        return tr("Previous 7 days")
    month = QLocale().standaloneMonthName(day.month)
    title = month if day.year == today.year else tr("{month} {year}").format(month=month, year=day.year)
    # In many languages, months do not begin with a capital.
    return title[:1].upper() + title[1:]


def _key(row: Row) -> tuple[str, int | str]:
    if isinstance(row, GroupRow):
        return ("group", row.title)
    return ("folder", row.folder.id) if isinstance(row, FolderRow) else ("chat", row.chat.id)


class RowDelegate(QStyledItemDelegate):
    """Draws a row: the title, and below it when the conversation was last used, or the text around a search hit.

    Attributes:
        target: The row that a menu or a drop is about; -1 for none.
    """

    target = -1

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a row."""
        row, tokens = index.data(ROW), theme.current().tokens
        if isinstance(row, GroupRow):
            self._paint_group(painter, option.rect, row)
            return
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
        right_to_left = option.direction == Qt.LayoutDirection.RightToLeft
        inside = area.adjusted(theme.GAP_8, theme.GAP_4 + 1, -theme.GAP_8, -theme.GAP_4 - 1)
        edge = theme.current().scaled(14)
        model = index.model()
        if isinstance(row, FolderRow):
            arrow = "right" if row.folder.closed else "down"
            inside = self._draw_icon(painter, inside, arrow, edge, at_end=False, mirrored=right_to_left)
        elif isinstance(model, ChatListModel) and model.is_inside(index.row()):
            step = edge + theme.GAP_4
            inside.adjust(0 if right_to_left else step, 0, -step if right_to_left else 0, 0)
        if isinstance(row, ChatEntry) and row.chat.pinned:
            inside = self._draw_icon(painter, inside, "pin", edge, at_end=True, mirrored=right_to_left)
        # A title has the direction of its own words, but begins where those of the window do.
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        side = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeft).value
        for text, font, color, at in _lines(row, index.data(CAPTION), inside):
            painter.setFont(font)
            painter.setPen(QColor(color))
            elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, inside.width())
            place = QRect(inside.left(), at, inside.width(), QFontMetrics(font).height())
            painter.drawText(place, side | _UNCLIPPED, elided)
        painter.restore()

    def _paint_group(self, painter: QPainter, area: QRect, row: GroupRow) -> None:
        painter.save()
        painter.setFont(_group_font())
        painter.setPen(QColor(theme.current().tokens.muted))
        height = QFontMetrics(_group_font()).height()
        place = QRect(area.left() + theme.GAP_8, area.bottom() - height - 1, area.width() - 2 * theme.GAP_8, height)
        painter.drawText(place, _UNCLIPPED, row.title)
        painter.restore()

    def _draw_icon(
        self, painter: QPainter, inside: QRect, icon: str, edge: int, *, at_end: bool, mirrored: bool
    ) -> QRect:
        """Draw an icon at one end of a row, and return the area that remains."""
        right = at_end != mirrored
        left = inside.right() - edge if right else inside.left()
        icons.paint(painter, icon, theme.current().tokens.muted, QRect(left, inside.top() + 1, edge, edge).toRectF())
        step = edge + theme.GAP_4
        return inside.adjusted(0 if right else step, 0, -step if right else 0, 0)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of two lines, or that of the title of a group."""
        appearance = theme.current()
        if isinstance(index.data(ROW), GroupRow):
            return QSize(0, QFontMetrics(_group_font()).height() + theme.GAP_8)
        lines = QFontMetrics(appearance.font()).height() + 1 + QFontMetrics(appearance.font(0.88)).height()
        return QSize(0, lines + 2 * (theme.GAP_4 + 1) + 2)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Put the name into the editor, once, so that a refresh does not replace what is being typed."""
        if not editor.property(_EDITOR_FILLED):
            editor.setProperty(_EDITOR_FILLED, True)
            super().setEditorData(editor, index)
            if isinstance(editor, QLineEdit):
                editor.setAccessibleName(tr("Name"))
                editor.selectAll()

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Put the editor over the row."""
        editor.setGeometry(option.rect.adjusted(2, 2, -2, -2))


def _group_font() -> QFont:
    return theme.current().font(0.85, QFont.Weight.DemiBold)


def _lines(row: ChatEntry | FolderRow, caption: str, inside: QRect) -> list[tuple[str, QFont, str, int]]:
    appearance = theme.current()
    weight = QFont.Weight.DemiBold if isinstance(row, FolderRow) else QFont.Weight.Normal
    title, small = appearance.font(1.0, weight), appearance.font(0.88)
    below = inside.top() + QFontMetrics(title).height() + 1
    name = row.folder.name if isinstance(row, FolderRow) else row.chat.title
    return [(name, title, appearance.tokens.text, inside.top()), (caption, small, appearance.tokens.muted, below)]
