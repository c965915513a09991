"""Small widgets that several parts of the window are made of."""

import html
import math
import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QColor, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from sotto.ui.toolkit import icons, theme

_CONFIRM_MS = 2000
# An address, a path or a digest is broken behind its punctuation, and else where it must be.
_LONG_WORD = re.compile(r"\S{20,}")
_BREAKS = re.compile(r"[^\w\s](?=\w)|\w{12}(?=\w)")
_BREAK = "\u200b"


class Label(QLabel):
    """Plain text in one of the theme's roles; never read as HTML."""

    def __init__(self, text: str = "", role: str = "", wrap: bool = False, parent: QWidget | None = None) -> None:
        """Show `text`."""
        super().__init__(parent)
        self._said = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setWordWrap(wrap)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show `text`; where lines are wrapped, no word of it is so long that it needs a line of its own."""
        self._said = text
        super().setText(_breakable(text) if self.wordWrap() else text)

    def text(self) -> str:
        """Return what is shown, without the places at which words may be broken."""
        return self._said


def _breakable(text: str) -> str:
    return _LONG_WORD.sub(lambda word: _BREAKS.sub(lambda place: place[0] + _BREAK, word[0]), text)


class ElidedLabel(Label):
    """One line of text with an ellipsis where there is no room; the tool tip has the whole."""

    def __init__(
        self,
        text: str = "",
        role: str = "",
        parent: QWidget | None = None,
        where: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        """Show `text`, and leave out what there is no room for where `where` says."""
        super().__init__(text, role, parent=parent)
        self._where = where
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Give way to anything beside it."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw as much text as fits."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        text = self.fontMetrics().elidedText(self.text(), self._where, self.width())
        self.setToolTip(plain_tip(self.text()) if text != self.text() else "")
        painter.drawText(self.rect(), self.alignment(), text)


class IconButton(QToolButton):
    """A button with an icon in the theme's colours, with or without text."""

    def __init__(
        self, icon: str, name: str, text: str = "", role: str = "quiet", color: str = "muted", tip: str = ""
    ) -> None:
        """Show `icon`.

        Args:
            icon: Its name in `sotto.ui.toolkit.icons`.
            name: What a screen reader says.
            text: What stands beside the icon.
            role: The role in the style sheet.
            color: Which of the theme's tokens the icon is drawn in.
            tip: The tool tip, if it should say more than the name.
        """
        super().__init__()
        self._icon, self._color = icon, color
        self._before: tuple[str, str, str] | None = None
        self.setProperty("role", role)
        self.setText(f" {text}" if text else "")  # a little more air between icon and text than the style gives
        self.setAccessibleName(name)
        self.setToolTip(tip or name)
        self.setToolButtonStyle(
            Qt.ToolButtonStyle.ToolButtonTextBesideIcon if text else Qt.ToolButtonStyle.ToolButtonIconOnly
        )
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.current().changed.connect(self.repaint_icon)
        self.repaint_icon()

    def set_icon(self, icon: str, name: str, tip: str = "") -> None:
        """Show another icon, which means something else."""
        self._icon = icon
        self.setAccessibleName(name)
        self.setToolTip(tip or name)
        self.repaint_icon()

    def confirm(self, icon: str, name: str) -> None:
        """Show for two seconds that it has been done."""
        if self._before is None:
            self._before = (self._icon, self.accessibleName(), self.toolTip())
        self.set_icon(icon, name)
        QTimer.singleShot(_CONFIRM_MS, self, self._forget)

    def _forget(self) -> None:
        if self._before is not None:
            before, self._before = self._before, None
            self.set_icon(*before)

    def repaint_icon(self) -> None:
        """Draw the icon in the colours in force."""
        tokens = theme.current().tokens
        edge = theme.current().scaled(16)
        self.setIcon(icons.icon(self._icon, getattr(tokens, self._color), tokens.faint, edge))
        self.setIconSize(QSize(edge, edge))


class EscapableLineEdit(QLineEdit):
    """A line of text in a panel that Escape leaves, before anything else that Escape does.

    Signals:
        left: Escape was pressed.
    """

    left = Signal()

    def __init__(self, name: str, hint: str = "") -> None:
        """Begin empty; `name` is what a screen reader says, `hint` stands where nothing is typed."""
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(hint or name)
        self.setAcceptDrops(False)

    def event(self, event: QEvent) -> bool:
        """Take Escape before a menu does."""
        key = event.key() if isinstance(event, QKeyEvent) else None
        if event.type() == QEvent.Type.ShortcutOverride and key == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)


class TextButton(QPushButton):
    """A button with words."""

    def __init__(self, text: str, role: str = "outlined", name: str = "") -> None:
        """Show `text`; `name` is what a screen reader says, when that should be more."""
        super().__init__(text)
        self.setProperty("role", role)
        self.setAccessibleName(name or text)
        self.setAutoDefault(False)


class ElidedButton(TextButton):
    """A button with an ellipsis where there is no room for its words; the tool tip has the whole."""

    def __init__(self, text: str, role: str = "outlined", name: str = "") -> None:
        """Show `text`."""
        super().__init__(text, role, name)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Give way to anything beside it."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw as many words as fit."""
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        whole = self.text()
        room = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self).width()
        mode, flag = Qt.TextElideMode.ElideMiddle, Qt.TextFlag.TextShowMnemonic
        text = self.fontMetrics().elidedText(whole, mode, room, flag.value)
        self.setToolTip(plain_tip(whole.replace("&&", "&")) if text != whole else "")
        option.text = text
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)


class IconLabel(QWidget):
    """An icon by itself."""

    def __init__(self, icon: str, color: str = "faint", edge: int = 20) -> None:
        """Show `icon` in one of the theme's tokens, `edge` pixels wide at 13 px text."""
        super().__init__()
        self._icon, self._color, self._edge = icon, color, edge
        theme.current().changed.connect(self._resize)
        self._resize()

    def show_icon(self, icon: str, color: str) -> None:
        """Show another icon."""
        self._icon, self._color = icon, color
        self.update()

    def _resize(self) -> None:
        edge = theme.current().scaled(self._edge)
        self.setFixedSize(edge, edge)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the icon."""
        painter = QPainter(self)
        icons.paint(painter, self._icon, getattr(theme.current().tokens, self._color), QRectF(self.rect()))


def draw_bar(painter: QPainter, rect: QRectF, parts: list[tuple[float, str]], ground: str) -> None:
    """Draw a rounded bar: shares of its width from the left, each in its colour, on a ground."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    radius = rect.height() / 2
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(rect, radius, radius)
    reached = sum(share for share, _ in parts)
    # From the far end to the near one, so that each part's round end lies on the next part's start.
    for share, color in reversed(parts):
        width = rect.width() * min(1.0, reached)
        if share > 0:
            painter.setBrush(QColor(color))
            painter.drawRoundedRect(
                QRectF(rect.x(), rect.y(), max(width, rect.height()), rect.height()), radius, radius
            )
        reached -= share
    painter.restore()


def draw_pill(painter: QPainter, rect: QRectF, text: str) -> None:
    """Draw a word or two in an outline."""
    tokens = theme.current().tokens
    painter.setPen(QColor(tokens.edge))
    painter.setBrush(QColor(tokens.raised))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
    painter.setPen(QColor(tokens.muted))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def add_action(menu: QMenu, text: str, act: Callable[[], object]) -> QAction:
    """Add an entry to a menu."""
    action = menu.addAction(text)
    action.triggered.connect(lambda: act())
    return action


def popup(menu: QMenu, at: QPoint) -> None:
    """Show a menu at a place on the screen, until something is chosen."""
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.popup(at)


def plain_tip(text: str) -> str:
    """Return a tool tip that shows `text` letter for letter: Qt would take for HTML what looks like it."""
    return f"<span style='white-space: pre-wrap'>{html.escape(text)}</span>" if text else ""


def line_height(widget: QWidget) -> int:
    """Return the height of one line of a widget's text as it is laid out: rounded up."""
    return math.ceil(QFontMetricsF(widget.font()).lineSpacing())
