"""The command palette: a search field with the matching chats, models and menu actions below it."""

from collections.abc import Callable

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QTextCharFormat,
    QTextLayout,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from sotto.ui.palette import fuzzy
from sotto.ui.palette.command_finder import Command, CommandFinder, Kind
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.announcements import announce
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import EscapableLineEdit, Label

_Index = QModelIndex | QPersistentModelIndex
_COMMAND = Qt.ItemDataRole.UserRole
_ICONS = {Kind.CHAT: "speech", Kind.MODEL: "chip", Kind.ACTION: "command"}
_KINDS = {Kind.CHAT: QT_TR_NOOP("Chat"), Kind.MODEL: QT_TR_NOOP("Model"), Kind.ACTION: QT_TR_NOOP("Menu")}
_WIDTH, _VISIBLE_ROWS, _ROW_HEIGHT = 600, 10, 34
# Screen readers should hear only the row at which the user stops.
_ANNOUNCE_MS = 150
_MOVES = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: _VISIBLE_ROWS,
    Qt.Key.Key_PageUp: -_VISIBLE_ROWS,
}


class _Results(QAbstractListModel):
    """The commands that were found, as a Qt model."""

    def __init__(self) -> None:
        super().__init__()
        self.commands: tuple[Command, ...] = ()

    def show_commands(self, commands: tuple[Command, ...]) -> None:
        self.beginResetModel()
        self.commands = commands
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.commands)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        command = self.commands[index.row()]
        if role == _COMMAND:
            return command
        if role == Qt.ItemDataRole.DisplayRole:
            return command.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return accessible_text(command)
        return None


class _Delegate(QStyledItemDelegate):
    """Draws a command in one line: icon, title with the matching letters highlighted, details and shortcut."""

    query = ""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(0, theme.current().scaled(_ROW_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        command, look = index.data(_COMMAND), theme.current()
        tokens = look.tokens
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state: QStyle.StateFlag = option.state
        area: QRect = option.rect
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selection))
            painter.drawRoundedRect(area.adjusted(0, 1, 0, -1), 7, 7)
        mirrored = option.direction is Qt.LayoutDirection.RightToLeft

        def place(x: int, width: int) -> QRect:
            left = area.right() - x - width + 1 if mirrored else area.left() + x
            return QRect(left, area.top(), width, area.height())

        edge, gap = look.scaled(16), theme.GAP_8
        icon = place(gap, edge)
        icon.setTop(area.top() + (area.height() - edge) // 2)
        icon.setHeight(edge)
        icons.paint(painter, _ICONS[command.kind], tokens.muted, icon.toRectF())
        small = look.font(0.88)
        keys = QFontMetrics(small).horizontalAdvance(command.shortcut)
        x, room = gap + edge + gap, area.width() - (gap + edge + gap) - gap - (keys + gap if keys else 0)
        painter.setFont(small)
        painter.setPen(QColor(tokens.muted))
        vertical = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
        alignment = vertical | (Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft)
        if keys:
            painter.drawText(place(area.width() - gap - keys, keys), alignment, command.shortcut)
        taken = self._draw_title(painter, command, place, x, room)
        left = room - taken - gap
        painter.setFont(small)
        painter.setPen(QColor(tokens.muted))
        detail = QFontMetrics(small).elidedText(command.detail, Qt.TextElideMode.ElideRight, left)
        if left > 3 * gap:
            painter.drawText(place(x + taken + gap, left), alignment, detail)
        painter.restore()

    def _draw_title(
        self, painter: QPainter, command: Command, place: Callable[[int, int], QRect], x: int, room: int
    ) -> int:
        """Draw the title, with matching letters in the accent colour; return its width."""
        look = theme.current()
        font = look.font()
        metrics = QFontMetrics(font)
        text = metrics.elidedText(command.title, Qt.TextElideMode.ElideRight, room)
        layout = QTextLayout(text, font)
        formats = []
        for index in fuzzy.match_positions(self.query, command.folded):
            if index < len(text) and text[index] == command.title[index]:
                highlight = QTextLayout.FormatRange()
                highlight.start, highlight.length = index, 1
                highlight.format = QTextCharFormat()
                highlight.format.setForeground(QColor(look.tokens.accent_text))
                highlight.format.setFontWeight(QFont.Weight.DemiBold)
                formats.append(highlight)
        layout.setFormats(formats)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(room)
        layout.endLayout()
        taken = min(room, round(line.naturalTextWidth()) + 1)
        rect = place(x, taken)
        painter.setPen(QColor(look.tokens.text))
        layout.draw(painter, QPointF(rect.left(), rect.top() + (rect.height() - line.height()) / 2))
        return taken


class _Field(EscapableLineEdit):
    """The search field, which keeps the focus while the arrow keys move through the results.

    Signals:
        stepped: The user moved by this number of rows.
    """

    stepped = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVES:
            self.stepped.emit(_MOVES[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # A menu or another window takes the focus only for a while.
        if event.reason() not in (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason):
            self.escaped.emit()


class Palette(QFrame):
    """A panel over the window; hidden until it is opened.

    Signals:
        chosen: The user chose this command (`Command`).
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        """Create the palette over `parent`, hidden."""
        super().__init__(parent)
        self._parent = parent
        self.setObjectName("palette")
        self.setAccessibleName(tr("Command palette"))
        self.finder = CommandFinder(self)
        # The widget that had the focus before the palette was opened.
        self._focused_before: QWidget | None = None
        # Whether the user, rather than the search, selected the current row.
        self._moved = False
        self.field = _Field(tr("Search chats, models and commands"), tr("Open a chat, load a model, run a command"))
        self._model, self._delegate = _Results(), _Delegate()
        self.list = QListView()
        self.list.setObjectName("results")
        self.list.setAccessibleName(tr("Results"))
        self.list.setModel(self._model)
        self.list.setItemDelegate(self._delegate)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.clicked.connect(lambda index: self._choose(index.row()))
        self._empty = Label(tr("No results."), "caption")
        self._empty.setContentsMargins(theme.GAP_8, theme.GAP_8, theme.GAP_8, theme.GAP_8)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_8, theme.GAP_8, theme.GAP_8, theme.GAP_8)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.field)
        layout.addWidget(self.list, 1)
        layout.addWidget(self._empty)
        self._empty.hide()
        self.field.textChanged.connect(self._search)
        self.field.returnPressed.connect(lambda: self._choose(self.list.currentIndex().row()))
        self.field.stepped.connect(self._step)
        self.field.escaped.connect(self.dismiss)
        self.finder.found.connect(self._show)
        self._announce_timer = QTimer(self, singleShot=True, interval=_ANNOUNCE_MS)
        self._announce_timer.timeout.connect(self._announce)
        self.list.selectionModel().currentChanged.connect(self._announce_timer.start)
        theme.current().changed.connect(self._place)
        parent.installEventFilter(self)
        self.hide()

    @property
    def results(self) -> tuple[Command, ...]:
        """The commands that were found."""
        return self._model.commands

    @property
    def current(self) -> Command | None:
        """The command that Return would choose."""
        row = self.list.currentIndex().row()
        return self.results[row] if 0 <= row < len(self.results) else None

    def open(self) -> None:
        """Show the palette with an empty search field; if it is open, select the text."""
        if self.isVisible():
            self.field.selectAll()
            return
        self._focused_before = QApplication.focusWidget()
        self._moved = False
        self.field.clear()
        self._place()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def dismiss(self) -> None:
        """Hide the palette and return the focus to where it was."""
        if not self.isVisible():
            return
        had_focus = self.field.hasFocus()
        self.finder.stop()
        self.hide()
        if had_focus and self._focused_before is not None:
            self._focused_before.setFocus(Qt.FocusReason.OtherFocusReason)
        self._focused_before = None

    def _search(self, text: str) -> None:
        self._moved = False
        self.finder.search(text)

    def _show(self, commands: tuple[Command, ...]) -> None:
        """Show the results; a row that the user selected stays current if the query has not changed."""
        kept = self.current if self._moved and self._delegate.query == self.field.text() else None
        self._delegate.query = self.field.text()
        self._model.show_commands(commands)
        self.list.setVisible(bool(commands))
        self._empty.setVisible(not commands)
        keys = [command.key for command in commands]
        if commands:
            self._set_row(keys.index(kept.key) if kept is not None and kept.key in keys else 0)
        self._place()

    def _step(self, by: int) -> None:
        if self.results:
            self._moved = True
            row = self.list.currentIndex().row() + by
            last = len(self.results) - 1
            wraps = abs(by) == 1
            self._set_row(row % (last + 1) if wraps else min(max(row, 0), last))

    def _set_row(self, row: int) -> None:
        index = self._model.index(row)
        self.list.setCurrentIndex(index)
        self.list.scrollTo(index)

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self.results):
            command = self.results[row]
            self.dismiss()
            self.chosen.emit(command)

    def _announce(self) -> None:
        """Announce the current row, which screen readers do not follow, because the focus stays in the field."""
        if self.isVisible() and self.current is not None:
            announce(self.list, accessible_text(self.current))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the palette centred when the parent is resized."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        parent, look = self._parent, theme.current()
        width = min(look.scaled(_WIDTH), parent.width() - 2 * theme.GAP_24)
        rows = min(_VISIBLE_ROWS, max(1, len(self.results)))
        height = self.field.sizeHint().height() + rows * look.scaled(_ROW_HEIGHT) + 2 * theme.GAP_8 + theme.GAP_4 + 2
        top = min(look.scaled(90), parent.height() // 8)
        height = min(height, parent.height() - top - theme.GAP_16)
        self.setGeometry((parent.width() - width) // 2, top, width, height)


def accessible_text(command: Command) -> str:
    """Return the description of a command for screen readers."""
    parts = (command.title, tr(_KINDS[command.kind]), command.detail, command.shortcut)
    return ", ".join(part for part in parts if part)
