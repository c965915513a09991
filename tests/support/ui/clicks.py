"""Clicks and movements as a mouse sends them."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication


def point_at(widget, place=None):
    """Move the pointer to a place in a widget, by default its middle."""
    window = widget.window()
    on_screen = widget.mapToGlobal(widget.rect().center() if place is None else place)
    QCursor.setPos(on_screen)
    # The offscreen platform may have sent that to another window, even a hidden one.
    QTest.mouseMove(window.windowHandle(), window.mapFromGlobal(on_screen))
    QApplication.processEvents()


def double_click(widget, place=None):
    """Click twice on a widget; `mouseDClick` leaves out the first click, and does not release the button at the end.

    As long as a button is pressed, no other window becomes active, also after the widget is gone.
    """
    at = widget.rect().center() if place is None else place
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseDClick(widget, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=at)
