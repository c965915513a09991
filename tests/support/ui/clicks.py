"""Clicks and movements as a mouse sends them."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication


def point_at(widget, place=None):
    """Move the pointer to a place in a widget, by default its middle."""
    window = widget.window()
    if QApplication.mouseButtons():
        # A double click by `QTest` leaves the button pressed.
        QTest.mouseRelease(window.windowHandle(), Qt.MouseButton.LeftButton, pos=QPoint(window.width() - 1, 0))
    on_screen = widget.mapToGlobal(widget.rect().center() if place is None else place)
    QCursor.setPos(on_screen)
    # The offscreen platform may have sent that to another window, even a hidden one.
    QTest.mouseMove(window.windowHandle(), window.mapFromGlobal(on_screen))
    QApplication.processEvents()


def double_click(widget):
    """Click twice on a widget; `mouseDClick` alone leaves out the first click."""
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(widget, Qt.MouseButton.LeftButton)
