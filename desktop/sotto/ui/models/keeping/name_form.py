"""The small form in which a user gives a model another name."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sotto.ui.models.download_row import Bar
from sotto.ui.models.side_card import SideCard
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.announcements import announce
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import EscapableLineEdit, IconButton, Label, TextButton

_WIDTH = 348


class NameForm(SideCard):
    """A card with a field for the name.

    Signals:
        submitted: The user wants this name, which is not validated yet.
        stopped: The user wants to stop what is under way.
    """

    submitted = Signal(str)
    stopped = Signal()

    def __init__(self) -> None:
        """Create the form, hidden."""
        super().__init__("getCard", tr("Name of the model"), _WIDTH)
        self.title = Label("", "strong", wrap=True)
        self.close_button = IconButton("close", tr("Close"))
        self.close_button.clicked.connect(self.close_card)
        self.field = EscapableLineEdit(tr("Name of the model"))
        self.field.setObjectName("value")
        self.field.escaped.connect(self.close_card)
        self.field.textChanged.connect(self._follow_text)
        self.field.returnPressed.connect(self._submit)
        self.button = TextButton(tr("Rename"), "primary")
        self.button.clicked.connect(self._submit)
        self.stop = TextButton(tr("Stop"))
        self.stop.clicked.connect(self.stopped)
        self.progress = Bar(tr("Progress"))
        self.hint = Label("", "caption", wrap=True)
        self.error = Label("", "error", wrap=True)
        self._arrange()
        self.show_running(False)

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addWidget(self.title, 1)
        top.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        line = QHBoxLayout()
        line.setSpacing(theme.GAP_8)
        line.addWidget(self.field, 1)
        line.addWidget(self.progress, 1)
        line.addWidget(self.button)
        line.addWidget(self.stop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_12, theme.GAP_8, theme.GAP_12, theme.GAP_12)
        layout.setSpacing(theme.GAP_8)
        layout.addLayout(top)
        layout.addLayout(line)
        layout.addWidget(self.hint)
        layout.addWidget(self.error)

    def ask(self, title: str, name: str, button: str, hint: str) -> None:
        """Show the form with the caret in the field.

        Args:
            title: What the name is for.
            name: The name in the field.
            button: The label of the button.
            hint: A line below the field; may be empty.
        """
        self.title.setText(title)
        self.setAccessibleName(title)
        self.button.setText(button)
        self.button.setAccessibleName(button)
        self.hint.setText(hint)
        self.field.setText(name)
        self._follow_text()
        self.show_running(False)
        self.show_card()
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_running(self, running: bool) -> None:
        """Show the progress in place of the field, or the field again."""
        busy: tuple[QWidget, ...] = (self.stop, self.progress)
        asking: tuple[QWidget, ...] = (self.field, self.button)
        shown, hidden = (busy, asking) if running else (asking, busy)
        for widget in shown:
            widget.show()
        # The form hides when none of its widgets has the focus, so one gets it before the others are gone.
        if self.isVisible():
            shown[0].setFocus()
        for widget in hidden:
            widget.hide()
        self.show_progress(0, 1)
        self._set_error("")

    def show_progress(self, done: int, total: int) -> None:
        """Show how much is done."""
        share = done / max(total, 1)
        self.progress.show_share(share, int(100 * share), "accent")

    def show_error(self, message: str) -> None:
        """Show why the name was rejected, and return to the field."""
        self.show_running(False)
        self._set_error(message)
        self.field.setFocus()
        announce(self.field, message)

    def _set_error(self, message: str) -> None:
        self.error.setText(message)
        self.error.setVisible(bool(message))
        self.hint.setVisible(bool(self.hint.text()) and not message)
        self.field.setAccessibleDescription(message or self.hint.text())

    def _follow_text(self) -> None:
        self.button.setEnabled(bool(self.field.text().strip()))
        self._set_error("")

    def _submit(self) -> None:
        if text := self.field.text().strip():
            self.submitted.emit(text)
