"""Something to know or to decide, shown in place; never a dialog that stops everything."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import IconButton, IconLabel, Label, TextButton

# With less width for the words beside it, at the usual size of text, the button stands below them.
_LEAST_WORDS = 180


class Notice(QFrame):
    """What happened, why, and one thing to do about it.

    Attributes:
        stays: Whether what is shown has nothing to do with models, so that loading one does not take it away.
    """

    def __init__(self) -> None:
        """Begin hidden."""
        super().__init__()
        self.setObjectName("notice")
        self.stays = False
        self._action: Callable[[], None] | None = None
        self.title = Label("", "strong", wrap=True)
        self.message = Label("", "muted", wrap=True)
        self.button = TextButton("", "outlined", "Do it")
        self.button.clicked.connect(self._act)
        self.dismiss = IconButton("close", "Dismiss")
        self.dismiss.clicked.connect(self.hide)
        self._sign = IconLabel("alert", "alert")
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.title)
        words.addWidget(self.message)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.GAP_12, theme.GAP_12, theme.GAP_8, theme.GAP_12)
        layout.setSpacing(theme.GAP_12)
        layout.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._body.setSpacing(theme.GAP_12)
        self._body.addLayout(words, 1)
        self._body.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        layout.addLayout(self._body, 1)
        layout.addWidget(self.dismiss, 0, Qt.AlignmentFlag.AlignTop)
        # Not while this is laid out: what then changes is not heard of by what is around.
        self._fitting = QTimer(self, singleShot=True, interval=0)
        self._fitting.timeout.connect(self._fit)
        self._while = QTimer(self, singleShot=True)
        self._while.timeout.connect(self.hide)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See again whether there is room for words and button side by side."""
        super().resizeEvent(event)
        self._fitting.start()

    def _fit(self) -> None:
        """Put the button below the words where too little room is left for them beside it."""
        beside = self._body.geometry().width() - self.button.sizeHint().width()
        narrow = not self.button.isHidden() and beside < theme.current().scaled(_LEAST_WORDS)
        self._body.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)

    def tell(self, title: str, message: str, label: str = "", action: Callable[[], None] | None = None) -> None:
        """Show a failure, with a button if there is something to do about it."""
        self._show("alert", "problem", title, message, label, action)

    def ask(self, title: str, message: str, label: str, action: Callable[[], None]) -> None:
        """Show a question that may as well stay unanswered."""
        self._show("link", "question", title, message, label, action)

    def inform(self, title: str, message: str) -> None:
        """Show that something went well."""
        self._show("check", "question", title, message, "", None)

    def offer(self, title: str, message: str, label: str, action: Callable[[], None], seconds: float) -> None:
        """Show for some seconds what was done, and a way to undo it."""
        self._show("check", "question", title, message, label, action)
        self._while.start(round(1000 * seconds))

    def _show(
        self, sign: str, kind: str, title: str, message: str, label: str, action: Callable[[], None] | None
    ) -> None:
        self._while.stop()
        self.stays = False
        self._action = action
        self._sign.show_icon(sign, "alert" if kind == "problem" else "muted")
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
        self._fitting.start()

    def _act(self) -> None:
        action, self._action = self._action, None
        self.hide()
        if action is not None:
            action()
