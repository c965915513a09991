"""Small widgets and drawing helpers: labels, buttons, line edit, progress bars, menus."""

import html
import math
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QColor, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
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

_Value = TypeVar("_Value")
_CONFIRM_MS = 2000
_ROUND = Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint
# Long words, such as URLs, paths and digests, may be broken after punctuation, and otherwise every 12 characters.
_LONG_WORD = re.compile(r"\S{20,}")
_BREAKS = re.compile(r"[^\w\s](?=\w)|\w{12}(?=\w)")
_BREAK = "\u200b"
# Between a number and its unit, and inside the unit, no line is broken.
_UNIT = re.compile(r"(?<=\d) ([KMGT]?B|tok|ms|s|min|h|%)(?:/(s))?(?!\w)")
_SPACE, _JOINED = "\u00a0", "/\u2060"


class Label(QLabel):
    """Plain text in one of the style sheet's roles; never interpreted as HTML."""

    def __init__(self, text: str = "", role: str = "", wrap: bool = False, parent: QWidget | None = None) -> None:
        """Create a label.

        Args:
            text: The text.
            role: The role in the style sheet.
            wrap: Whether lines are wrapped.
            parent: Parent widget.
        """
        super().__init__(parent)
        self._text = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(self.alignment())
        self.setProperty("role", role)
        self.setWordWrap(wrap)
        self.setText(text)

    def setAlignment(self, alignment: Qt.AlignmentFlag) -> None:
        """Align text with a side of the window; QLabel itself mirrors by the direction of the text."""
        super().setAlignment(QStyle.visualAlignment(self.layoutDirection(), alignment) | Qt.AlignmentFlag.AlignAbsolute)

    def setText(self, text: str) -> None:
        """Show `text`; if lines are wrapped, long words can be broken, but not figures."""
        self._text = text
        super().setText(_breakable(text) if self.wordWrap() else text)

    def text(self) -> str:
        """Return the text as it was given, without the marks for where lines may be broken."""
        return self._text


def _breakable(text: str) -> str:
    text = _LONG_WORD.sub(lambda word: _BREAKS.sub(lambda match: match[0] + _BREAK, word[0]), text)
    return _UNIT.sub(lambda found: _SPACE + _JOINED.join(filter(None, found.groups())), text)


class ElidedLabel(Label):
    """One line of text, elided if there is no room; the tool tip then shows all of it."""

    def __init__(
        self,
        text: str = "",
        role: str = "",
        parent: QWidget | None = None,
        where: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        """Create a label.

        Args:
            text: The text.
            role: The role in the style sheet.
            parent: Parent widget.
            where: Which part of the text is elided.
        """
        super().__init__(text, role, parent=parent)
        self._where = where
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Ask for no width, so that the label gives way to its neighbours."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw as much text as fits."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        # A path or a name keeps the direction of its own letters.
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        text = self.fontMetrics().elidedText(self.text(), self._where, self.width())
        self.setToolTip(plain_tip(self.text()) if text != self.text() else "")
        painter.drawText(self.rect(), self.alignment(), text)


class IconButton(QToolButton):
    """A button with an icon in the theme's colours, with or without text."""

    def __init__(
        self, icon: str, name: str, text: str = "", role: str = "quiet", color: str = "muted", tip: str = ""
    ) -> None:
        """Create a button.

        Args:
            icon: Name of the icon in `sotto.ui.toolkit.icons`.
            name: Accessible name.
            text: Text beside the icon; empty for none.
            role: The role in the style sheet.
            color: Name of the icon's colour token.
            tip: Tool tip; empty for the accessible name.
        """
        super().__init__()
        self._icon, self._color = icon, color
        self._veiled = False
        self._before: tuple[str, str, str] | None = None
        self.setProperty("role", role)
        self.setText(f" {text}" if text else "")  # a little more space between icon and text
        self.setAccessibleName(name)
        self.setToolTip(tip or name)
        self.setToolButtonStyle(
            Qt.ToolButtonStyle.ToolButtonTextBesideIcon if text else Qt.ToolButtonStyle.ToolButtonIconOnly
        )
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.current().changed.connect(self.repaint_icon)
        self.repaint_icon()

    def set_veiled(self, veiled: bool) -> None:
        """Draw nothing, but keep the place and react as before."""
        if veiled != self._veiled:
            self._veiled = veiled
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the button, unless it is veiled."""
        if not self._veiled:
            super().paintEvent(event)

    def set_icon(self, icon: str, name: str, tip: str = "") -> None:
        """Replace the icon, the accessible name and the tool tip."""
        self._icon = icon
        self.setAccessibleName(name)
        self.setToolTip(tip or name)
        self.repaint_icon()

    def confirm(self, icon: str, name: str) -> None:
        """Show another icon and name for two seconds, to confirm that the action is done."""
        if self._before is None:
            self._before = (self._icon, self.accessibleName(), self.toolTip())
        self.set_icon(icon, name)
        QTimer.singleShot(_CONFIRM_MS, self, self._restore_icon)

    def _restore_icon(self) -> None:
        if self._before is not None:
            before, self._before = self._before, None
            self.set_icon(*before)

    def repaint_icon(self) -> None:
        """Draw the icon in the current colours and size."""
        tokens = theme.current().tokens
        edge = theme.current().scaled(16)
        self.setIcon(icons.icon(self._icon, getattr(tokens, self._color), tokens.faint, edge))
        self.setIconSize(QSize(edge, edge))


class EscapableLineEdit(QLineEdit):
    """A line edit that takes Escape before shortcuts and menus do.

    Signals:
        escaped: Escape was pressed.
    """

    escaped = Signal()

    def __init__(self, name: str, hint: str = "") -> None:
        """Create an empty field with an accessible name; `hint` is the placeholder, by default the same as `name`."""
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(hint or name)
        self.setAcceptDrops(False)

    def event(self, event: QEvent) -> bool:
        """Claim Escape before a shortcut gets it."""
        key = event.key() if isinstance(event, QKeyEvent) else None
        if event.type() == QEvent.Type.ShortcutOverride and key == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit `escaped` on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
            return
        super().keyPressEvent(event)


class TextButton(QPushButton):
    """A button with a text."""

    def __init__(self, text: str, role: str = "outlined", name: str = "") -> None:
        """Create a button; the accessible name is `name`, or else `text`."""
        super().__init__(text)
        self.setProperty("role", role)
        self.setAccessibleName(name or text)
        self.setAutoDefault(False)


class ElidedButton(TextButton):
    """A button whose text is elided if there is no room; the tool tip then shows all of it."""

    def __init__(self, text: str, role: str = "outlined", name: str = "") -> None:
        """Create a button; the accessible name is `name`, or else `text`."""
        super().__init__(text, role, name)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Ask for no width, so that the button gives way to its neighbours."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw as much of the text as fits."""
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
    """An icon without a button."""

    def __init__(self, icon: str, color: str = "faint", edge: int = 20) -> None:
        """Show `icon` in the colour token `color`, `edge` pixels wide at 13 px text."""
        super().__init__()
        self._icon, self._color, self._edge = icon, color, edge
        theme.current().changed.connect(self._resize)
        self._resize()

    def show_icon(self, icon: str, color: str) -> None:
        """Replace the icon and its colour token."""
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
    """Draw a rounded bar.

    Args:
        painter: Where to draw.
        rect: Area of the bar.
        parts: Shares of the width from the left, 0 to 1, with their colours.
        ground: Colour of the rest.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    radius = rect.height() / 2
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(rect, radius, radius)
    reached = sum(share for share, _ in parts)
    # From the last part to the first, so that each part's rounded end covers the start of the next.
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
    """Draw a short text in a rounded outline."""
    tokens = theme.current().tokens
    painter.setPen(QColor(tokens.edge))
    painter.setBrush(QColor(tokens.raised))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
    painter.setPen(QColor(tokens.muted))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def add_action(menu: QMenu, text: str, act: Callable[[], object]) -> QAction:
    """Add an entry to a menu that calls `act` when it is chosen."""
    action = menu.addAction(text)
    action.triggered.connect(lambda: act())
    return action


def add_choices(
    menu: QMenu,
    choices: Iterable[tuple[_Value, str]],
    is_current: Callable[[_Value], bool],
    choose: Callable[[_Value], object],
) -> None:
    """Add entries to a menu of which one at most is checked: values with their texts."""
    group = QActionGroup(menu)
    for value, text in choices:
        action = add_action(menu, text, partial(choose, value))
        action.setCheckable(True)
        action.setChecked(is_current(value))
        group.addAction(action)


def popup(menu: QMenu, at: QPoint) -> None:
    """Show a menu at a position on the screen, and delete it when it is closed."""
    round_corners(menu)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.popup(at)


def round_corners(menu: QMenu) -> None:
    """Give a menu and its submenus round corners, where windows can be transparent."""
    if theme.current().transparent:
        for each in (menu, *menu.findChildren(QMenu)):
            each.setWindowFlags(each.windowFlags() | _ROUND)
            each.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)


def plain_tip(text: str) -> str:
    """Return a tool tip that shows `text` literally, because Qt interprets anything that looks like HTML."""
    return f"<span style='white-space: pre-wrap'>{html.escape(text)}</span>" if text else ""


def line_height(widget: QWidget) -> int:
    """Return the height in pixels of one line of a widget's text as Qt lays it out: rounded up."""
    return math.ceil(QFontMetricsF(widget.font()).lineSpacing())


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet reads, and look as it says."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
