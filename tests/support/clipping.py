"""Texts that are cut off."""

from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit

from sotto.ui.parts import ElidedLabel


def clipped(window):
    """Return the texts in a window that have less room than they need."""
    return [
        (type(widget).__name__, widget.objectName(), widget.text(), widget.sizeHint(), widget.size())
        for kind in (QLabel, QAbstractButton)
        for widget in window.findChildren(kind)
        if widget.isVisible()
        and not isinstance(widget.parent(), QLineEdit)
        and not isinstance(widget, ElidedLabel)
        and (
            widget.height() < widget.heightForWidth(widget.width())
            or (not getattr(widget, "wordWrap", bool)() and widget.sizeHint().width() > widget.width() + 1)
            or (not widget.hasHeightForWidth() and widget.sizeHint().height() > widget.height())
        )
    ]
