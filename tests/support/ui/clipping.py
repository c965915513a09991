"""Finding texts that are cut off, and widgets that cannot be scrolled into view."""

from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QScrollArea

from sotto.ui.toolkit.widgets import ElidedButton, ElidedLabel
from sotto.ui.window.chat_header import ModelButton


def assert_unclipped(*widgets):
    """Assert that no text in the widgets is cut off or covered; when `waitUntil` times out, it lists those that are."""
    for widget in widgets:
        assert clipped(widget) == []
        assert overlapping(widget) == []


def assert_whole(*widgets):
    """Assert that no text in the widgets is cut off, and that everything can be scrolled into view."""
    for widget in widgets:
        assert clipped(widget) == []
        assert unreachable(widget) == []


def clipped(window):
    """Return the widgets in a window whose texts need more room than they have."""
    return [
        (type(widget).__name__, widget.objectName(), widget.text(), widget.sizeHint(), widget.size())
        for kind in (QLabel, QAbstractButton)
        for widget in window.findChildren(kind)
        if widget.isVisible()
        and not isinstance(widget.parent(), QLineEdit)
        and not isinstance(widget, ElidedButton | ElidedLabel | ModelButton)
        and (
            widget.height() < widget.heightForWidth(widget.width())
            or (not getattr(widget, "wordWrap", bool)() and widget.sizeHint().width() > widget.width() + 1)
            or (not widget.hasHeightForWidth() and widget.sizeHint().height() > widget.height())
        )
    ]


def overlapping(window):
    """Return the pairs of labels, buttons and fields in a window that stand in the same layout and cover each other."""
    shown = [
        widget
        for kind in (QLabel, QAbstractButton, QLineEdit)
        for widget in window.findChildren(kind)
        if widget.isVisible() and widget.text() and not isinstance(widget.parent(), QLineEdit)
    ]
    return [
        (type(one).__name__, one.text(), one.geometry(), type(other).__name__, other.text(), other.geometry())
        for number, one in enumerate(shown)
        for other in shown[number + 1 :]
        if one.parent() is other.parent() and one.geometry().intersects(other.geometry())
    ]


def unreachable(window):
    """Return the labels, buttons and fields in a window that extend beyond their parents and cannot be scrolled to."""
    return [
        (type(widget).__name__, widget.objectName(), widget.accessibleName() or widget.text(), widget.geometry())
        for kind in (QLabel, QAbstractButton, QLineEdit)
        for widget in window.findChildren(kind)
        if widget.isVisible() and not widget.objectName().startswith("qt_") and not _reachable(widget, window)
    ]


def _reachable(widget, window):
    area = widget.rect()
    while widget is not window:
        parent = widget.parentWidget()
        area = area.translated(widget.pos())
        scroller = parent.parentWidget()
        if isinstance(scroller, QScrollArea) and parent is scroller.viewport() and widget is scroller.widget():
            # Scroll areas scroll vertically only.
            if area.left() < 0 or area.right() > parent.rect().right():
                return False
            area = parent.rect()
        if not parent.rect().contains(area):
            return False
        widget = parent
    return True
