"""A warning above the draft, with a button for each thing that can be done about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.flow_layout import FlowLayout
from sotto.ui.toolkit.widgets import IconLabel, Label, TextButton


@dataclass(frozen=True, slots=True)
class PanelAction:
    """Something that can be done about a warning.

    Attributes:
        text: The text on its button.
        act: Does it.
    """

    text: str
    act: Callable[[], None]


class ActionPanel(QFrame):
    """A warning with its buttons; hidden if there is none."""

    def __init__(self) -> None:
        """Create the panel, hidden."""
        super().__init__()
        self.setObjectName("actionPanel")
        self.title = Label("", "strong", wrap=True)
        self.message = Label("", "muted", wrap=True)
        self.buttons: list[TextButton] = []
        self._row = QWidget()
        self._flow = FlowLayout(self._row, theme.GAP_8)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.title)
        texts.addWidget(self.message)
        texts.addSpacing(theme.GAP_4)
        texts.addWidget(self._row)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.GAP_12, theme.GAP_8 + 2, theme.GAP_12, theme.GAP_8 + 2)
        layout.setSpacing(theme.GAP_12)
        layout.addWidget(IconLabel("alert", "alert"), 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(texts, 1)
        self.hide()

    def show_warning(self, title: str, message: str, actions: Sequence[PanelAction]) -> None:
        """Show a warning and what can be done about it."""
        self.title.setText(title)
        self.message.setText(message)
        self.setAccessibleName(f"{title}: {message}")
        if [button.text() for button in self.buttons] != [action.text for action in actions]:
            for button in self.buttons:
                self._flow.removeWidget(button)
                button.hide()
                button.deleteLater()
            self.buttons = [TextButton(action.text) for action in actions]
            for button in self.buttons:
                self._flow.addWidget(button)
        else:
            for button in self.buttons:
                button.clicked.disconnect()
        for button, action in zip(self.buttons, actions, strict=True):
            button.clicked.connect(lambda _=False, act=action.act: act())
        self._row.setVisible(bool(actions))
        self.show()

    def take_focus(self) -> None:
        """Focus the button of the first action."""
        if self.buttons:
            self.buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)
