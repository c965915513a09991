"""The command palette: one line to type into, and everything that can be done, opened or loaded below it."""

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
from sotto.ui.toolkit.widgets import EscapableLineEdit, Label

_Index = QModelIndex | QPersistentModelIndex
_COMMAND = Qt.ItemDataRole.UserRole
_ICONS = {Kind.CHAT: "speech", Kind.MODEL: "chip", Kind.ACTION: "command"}
_KINDS = {Kind.CHAT: "Chat", Kind.MODEL: "Model", Kind.ACTION: "Menu"}
_WIDTH, _SHOWN = 600, 10
_MOVES = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: _SHOWN,
    Qt.Key.Key_PageUp: -_SHOWN,
}


class _Results(QAbstractListModel):
    """What was found, as Qt's views want it."""

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
            return spoken(command)
        return None


class _Delegate(QStyledItemDelegate):
    """Draws a command on one line: what it is, its title with the letters that were meant, more about it, its keys."""

    query = ""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(0, theme.current().scaled(34))

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
        sign = place(gap, edge)
        sign.setTop(area.top() + (area.height() - edge) // 2)
        sign.setHeight(edge)
        icons.paint(painter, _ICONS[command.kind], tokens.muted, sign.toRectF())
        small = look.font(0.88)
        keys = QFontMetrics(small).horizontalAdvance(command.shortcut)
        x, room = gap + edge + gap, area.width() - (gap + edge + gap) - gap - (keys + gap if keys else 0)
        painter.setFont(small)
        painter.setPen(QColor(tokens.muted))
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
        begins = side | (Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft)
        if keys:
            painter.drawText(place(area.width() - gap - keys, keys), begins, command.shortcut)
        taken = self._title(painter, command, place, x, room)
        left = room - taken - gap
        painter.setFont(small)
        painter.setPen(QColor(tokens.muted))
        detail = QFontMetrics(small).elidedText(command.detail, Qt.TextElideMode.ElideRight, left)
        if left > 3 * gap:
            painter.drawText(place(x + taken + gap, left), begins, detail)
        painter.restore()

    def _title(self, painter: QPainter, command: Command, place: Callable[[int, int], QRect], x: int, room: int) -> int:
        """Draw a title, the letters that were meant in the accent's colour; return how much of the room it took."""
        look = theme.current()
        font = look.font()
        metrics = QFontMetrics(font)
        text = metrics.elidedText(command.title, Qt.TextElideMode.ElideRight, room)
        layout = QTextLayout(text, font)
        shown = []
        for at in fuzzy.places(self.query, command.folded):
            if at < len(text) and text[at] == command.title[at]:
                mark = QTextLayout.FormatRange()
                mark.start, mark.length = at, 1
                mark.format = QTextCharFormat()
                mark.format.setForeground(QColor(look.tokens.accent_text))
                mark.format.setFontWeight(QFont.Weight.DemiBold)
                shown.append(mark)
        layout.setFormats(shown)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(room)
        layout.endLayout()
        taken = min(room, round(line.naturalTextWidth()) + 1)
        at_left = place(x, taken)
        painter.setPen(QColor(look.tokens.text))
        layout.draw(painter, QPointF(at_left.left(), at_left.top() + (at_left.height() - line.height()) / 2))
        return taken


class _Field(EscapableLineEdit):
    """The line; it keeps the caret while the arrow keys move through what was found.

    Signals:
        stepped: By so many rows.
    """

    stepped = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVES:
            self.stepped.emit(_MOVES[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # A menu or another window of the desktop takes the caret for a moment only.
        if event.reason() not in (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason):
            self.escaped.emit()


class Palette(QFrame):
    """A panel over the window, hidden until it is wanted.

    Signals:
        chosen: A command is to be carried out (`Command`).
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        """Lie over `parent`."""
        super().__init__(parent)
        self._over = parent
        self.setObjectName("palette")
        self.setAccessibleName("Command palette")
        self.finder = CommandFinder(self)
        self._before: QWidget | None = None
        # Whether a person chose the row that is current.
        self._moved = False
        self.field = _Field("Search chats, models and commands", "Open a chat, load a model, do something")
        self._model, self._delegate = _Results(), _Delegate()
        self.list = QListView()
        self.list.setObjectName("results")
        self.list.setAccessibleName("Results")
        self.list.setModel(self._model)
        self.list.setItemDelegate(self._delegate)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.clicked.connect(lambda index: self._choose(index.row()))
        self._nothing = Label("Nothing is called like that.", "caption")
        self._nothing.setContentsMargins(theme.GAP_8, theme.GAP_8, theme.GAP_8, theme.GAP_8)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_8, theme.GAP_8, theme.GAP_8, theme.GAP_8)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.field)
        layout.addWidget(self.list, 1)
        layout.addWidget(self._nothing)
        self._nothing.hide()
        self.field.textChanged.connect(self._look)
        self.field.returnPressed.connect(lambda: self._choose(self.list.currentIndex().row()))
        self.field.stepped.connect(self._step)
        self.field.escaped.connect(self.leave)
        self.finder.found.connect(self._show)
        self._teller = QTimer(self, singleShot=True, interval=150)
        self._teller.timeout.connect(self._tell)
        self.list.selectionModel().currentChanged.connect(self._teller.start)
        theme.current().changed.connect(self._place)
        parent.installEventFilter(self)
        self.hide()

    @property
    def shown(self) -> tuple[Command, ...]:
        """What was found."""
        return self._model.commands

    @property
    def current(self) -> Command | None:
        """What Return would carry out."""
        row = self.list.currentIndex().row()
        return self.shown[row] if 0 <= row < len(self.shown) else None

    def open(self) -> None:
        """Come into view, empty, with the caret."""
        if self.isVisible():
            self.field.selectAll()
            return
        self._before = QApplication.focusWidget()
        self._moved = False
        self.field.clear()
        self._place()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        """Go away; the caret goes back to where it was."""
        if not self.isVisible():
            return
        had = self.field.hasFocus()
        self.finder.stop()
        self.hide()
        if had and self._before is not None:
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)
        self._before = None

    def _look(self, text: str) -> None:
        self._moved = False
        self.finder.look_for(text)

    def _show(self, commands: tuple[Command, ...]) -> None:
        """Show what was found; a row that was chosen stays current while only the list grows."""
        kept = self.current if self._moved and self._delegate.query == self.field.text() else None
        self._delegate.query = self.field.text()
        self._model.show_commands(commands)
        self.list.setVisible(bool(commands))
        self._nothing.setVisible(not commands)
        keys = [command.key for command in commands]
        if commands:
            self._go(keys.index(kept.key) if kept is not None and kept.key in keys else 0)
        self._place()

    def _step(self, by: int) -> None:
        if self.shown:
            self._moved = True
            row = self.list.currentIndex().row() + by
            last = len(self.shown) - 1
            around = abs(by) == 1
            self._go(row % (last + 1) if around else min(max(row, 0), last))

    def _go(self, row: int) -> None:
        index = self._model.index(row)
        self.list.setCurrentIndex(index)
        self.list.scrollTo(index)

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self.shown):
            command = self.shown[row]
            self.leave()
            self.chosen.emit(command)

    def _tell(self) -> None:
        """Let a screen reader say what Return would do: the caret is in the line, not in the list."""
        if self.isVisible() and self.current is not None:
            announce(self.list, spoken(self.current))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the middle of what lies below."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        owner, look = self._over, theme.current()
        width = min(look.scaled(_WIDTH), owner.width() - 2 * theme.GAP_24)
        rows = min(_SHOWN, max(1, len(self.shown)))
        height = self.field.sizeHint().height() + rows * look.scaled(34) + 2 * theme.GAP_8 + theme.GAP_4 + 2
        top = min(look.scaled(90), owner.height() // 8)
        height = min(height, owner.height() - top - theme.GAP_16)
        self.setGeometry((owner.width() - width) // 2, top, width, height)


def spoken(command: Command) -> str:
    """Return what a screen reader says of a command."""
    parts = (command.title, _KINDS[command.kind], command.detail, command.shortcut)
    return ", ".join(part for part in parts if part)
