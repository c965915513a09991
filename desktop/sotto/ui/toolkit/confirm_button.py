"""A button for what cannot be undone: it acts on the second click."""

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QFocusEvent

from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import TextButton

_SECONDS = 5


class ConfirmButton(TextButton):
    """Asks for a second click within a few seconds.

    Signals:
        confirmed: The user clicked a second time.

    Attributes:
        asking: Whether a second click confirms.
        timer: Runs while a second click confirms.
    """

    confirmed = Signal()

    def __init__(self, text: str, name: str, question: str) -> None:
        """Create the button.

        Args:
            text: The label.
            name: Accessible name.
            question: The label after the first click.
        """
        super().__init__(text, "outlined", name)
        self._text, self._name, self._question = text, name, question
        self.asking = False
        self.timer = QTimer(self, singleShot=True, interval=1000 * _SECONDS)
        self.timer.timeout.connect(self._stop_asking)
        self.clicked.connect(self._click)

    def _click(self) -> None:
        if self.asking:
            self._stop_asking()
            self.confirmed.emit()
        else:
            self.asking = True
            self._show(self._question, tr("{action}: click again to confirm").format(action=self._name))
            self.timer.start()

    def _stop_asking(self) -> None:
        self.timer.stop()
        self.asking = False
        self._show(self._text, self._name)

    def _show(self, text: str, name: str) -> None:
        self.setText(text)
        self.setAccessibleName(name)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Ask again from the start once the user has turned to something else."""
        super().focusOutEvent(event)
        self._stop_asking()
