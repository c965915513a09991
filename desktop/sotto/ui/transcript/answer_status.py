"""The line below an answer: what happens to it, and its statistics; and the progress of its prompt."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import Label, draw_bar, plain_tip


class StatusLine(Label):
    """What happens to an answer; once it has ended, its speed, and at a click all statistics."""

    def __init__(self) -> None:
        """Show nothing."""
        super().__init__("", "caption", wrap=True)
        self._short = self._whole = ""

    def setText(self, text: str) -> None:
        """Show what happens to the answer."""
        self._short = self._whole = ""
        self.unsetCursor()
        self.setToolTip("")
        self.setAccessibleName("")
        super().setText(text)

    def show_end(self, short: str, whole: str) -> None:
        """Show the `short` statistics; the `whole` line is the tool tip, and shown at a click."""
        self.setText(short)
        self._short, self._whole = short, whole
        self.setToolTip(plain_tip(whole))
        self.setAccessibleName(whole)
        if whole != short:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Show all statistics, or only the speed again."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self._whole != self._short:
            shows_all = self.text() == self._whole
            super().setText(self._short if shows_all else self._whole)


class PromptProgress(QWidget):
    """A short progress bar for the reading of a prompt.

    Attributes:
        share: How much of the prompt has been read, from 0 to 1.
    """

    def __init__(self) -> None:
        """Show that nothing has been read."""
        super().__init__()
        self.share = 0.0
        self.setFixedSize(120, 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar."""
        tokens = theme.current().tokens
        draw_bar(QPainter(self), QRectF(self.rect()), [(self.share, tokens.accent)], tokens.track)
