"""A scroll bar whose room is always reserved, and that is drawn only if there is something to scroll."""

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QScrollBar


class QuietScrollBar(QScrollBar):
    """A vertical scroll bar that is invisible while everything is in view."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar, if there is something to scroll."""
        if self.maximum() > self.minimum():
            super().paintEvent(event)
