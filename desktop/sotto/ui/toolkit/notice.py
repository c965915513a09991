"""A notice shown in place, instead of a modal dialog: a problem, a question, or something to undo."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import IconButton, IconLabel, Label, TextButton

# Width of the texts below which the button moves under them, at 13 px text.
_TEXT_WIDTH = 180


class Notice(QFrame):
    """A title, a message, and optionally a button with one action.

    Attributes:
        stays: Whether the notice is not about models, so that loading a model must not hide it.
    """

    def __init__(self) -> None:
        """Create the notice, hidden."""
        super().__init__()
        self.setObjectName("notice")
        self.stays = False
        self._action: Callable[[], None] | None = None
        self.title = Label("", "strong", wrap=True)
        self.message = Label("", "muted", wrap=True)
        self.button = TextButton("", "outlined", "Do it")
        self.button.clicked.connect(self._run_action)
        self.dismiss = IconButton("close", "Dismiss")
        self.dismiss.clicked.connect(self.hide)
        self._icon = IconLabel("alert", "alert")
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.title)
        texts.addWidget(self.message)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.GAP_12, theme.GAP_12, theme.GAP_8, theme.GAP_12)
        layout.setSpacing(theme.GAP_12)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._body.setSpacing(theme.GAP_12)
        self._body.addLayout(texts, 1)
        self._body.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        layout.addLayout(self._body, 1)
        layout.addWidget(self.dismiss, 0, Qt.AlignmentFlag.AlignTop)
        # WORKAROUND: deferred, because Qt's parent layouts miss changes made during their own layout pass. Check
        # whether the next Qt lets `_fit` be called directly.
        self._fit_timer = QTimer(self, singleShot=True, interval=0)
        self._fit_timer.timeout.connect(self._fit)
        self._hide_timer = QTimer(self, singleShot=True)
        self._hide_timer.timeout.connect(self.hide)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Check again whether the button fits beside the texts."""
        super().resizeEvent(event)
        self._fit_timer.start()

    def _fit(self) -> None:
        """Put the button below the texts where it would leave too little room for them."""
        beside = self._body.geometry().width() - self.button.sizeHint().width()
        narrow = not self.button.isHidden() and beside < theme.current().scaled(_TEXT_WIDTH)
        self._body.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)

    def show_problem(self, title: str, message: str, label: str = "", action: Callable[[], None] | None = None) -> None:
        """Show a problem.

        Args:
            title: What happened.
            message: The reason.
            label: Label of the button; empty for none.
            action: Called when the button is clicked.
        """
        self._show("alert", "problem", title, message, label, action)

    def show_question(self, title: str, message: str, label: str, action: Callable[[], None]) -> None:
        """Show a question that the user may leave unanswered.

        Args:
            title: The question.
            message: Further details.
            label: Label of the button.
            action: Called when the button is clicked.
        """
        self._show("link", "question", title, message, label, action)

    def show_success(self, title: str, message: str) -> None:
        """Show that something succeeded."""
        self._show("check", "question", title, message, "", None)

    def show_offer(self, title: str, message: str, label: str, action: Callable[[], None], seconds: float) -> None:
        """Show what was done, and offer an action such as undoing it.

        Args:
            title: What was done.
            message: Further details.
            label: Label of the button.
            action: Called when the button is clicked.
            seconds: Time after which the notice hides itself.
        """
        self._show("check", "question", title, message, label, action)
        self._hide_timer.start(round(1000 * seconds))

    def _show(
        self, icon: str, kind: str, title: str, message: str, label: str, action: Callable[[], None] | None
    ) -> None:
        self._hide_timer.stop()
        self.stays = False
        self._action = action
        self._icon.show_icon(icon, "alert" if kind == "problem" else "muted")
        self.setProperty("kind", kind)
        self.style().unpolish(self)
        self.style().polish(self)
        self.title.setText(title)
        self.message.setText(message)
        self.button.setText(label)
        self.button.setAccessibleName(label or "Do it")
        self.button.setVisible(bool(label))
        self.setAccessibleName(f"{title}: {message}")
        self.show()
        self._fit_timer.start()

    def _run_action(self) -> None:
        action, self._action = self._action, None
        self.hide()
        if action is not None:
            action()
