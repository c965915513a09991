"""Clicks as a mouse sends them."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest


def double_click(widget):
    """Click twice on a widget; `mouseDClick` alone leaves out the first click."""
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(widget, Qt.MouseButton.LeftButton)
