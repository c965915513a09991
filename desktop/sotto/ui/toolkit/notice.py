"""A notice shown in place, instead of a modal dialog: a problem, a question, or something to undo."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout

from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton, IconLabel, Label, TextButton, restyle

# Width of the texts below which the button moves under them, at 13 px text.
_TEXT_WIDTH = 180


@dataclass(frozen=True, slots=True)
class NoticeText:
    """What a notice says.

    Attributes:
        title: What happened, or the question.
        message: The reason, or further details.
        label: Label of the button; empty for none.
        action: Called when the button is clicked.
        kind: `problem`, or `question` for anything else.
        icon: Name of the icon.
        tip: The tool tip.
        stays: Whether the notice stays while models are loaded.
    """

    title: str
    message: str
    label: str = ""
    action: Callable[[], object] | None = None
    kind: str = "question"
    icon: str = "check"
    tip: str = ""
    stays: bool = False


class Notice(QFrame):
    """A title, a message, and optionally a button with one action.

    Attributes:
        text: What is shown; None while the notice is hidden.
    """

    def __init__(self) -> None:
        """Create the notice, hidden."""
        super().__init__()
        self.setObjectName("notice")
        self.text: NoticeText | None = None
        self.title = Label("", "strong", wrap=True)
        self.message = Label("", "muted", wrap=True)
        self.button = TextButton("", "outlined", tr("Do it"))
        self.button.clicked.connect(self._run_action)
        self.dismiss = IconButton("close", tr("Dismiss"))
        self.dismiss.clicked.connect(self.hide)
        self._icon = IconLabel("alert", "alert")
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.title)
        texts.addWidget(self.message)
        layout = self._line = QHBoxLayout(self)
        layout.setContentsMargins(theme.margins(theme.GAP_12, theme.GAP_12, theme.GAP_8, theme.GAP_12))
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

    def show_text(self, text: NoticeText, seconds: float = 0.0) -> None:
        """Show a notice; it hides itself after `seconds`, unless that is 0."""
        self._hide_timer.stop()
        self.text = text
        self._icon.show_icon(text.icon, "alert" if text.kind == "problem" else "muted")
        restyle(self, "kind", text.kind)
        self.title.setText(text.title)
        self.message.setText(text.message)
        self.message.setVisible(bool(text.message))
        # A title alone is in the middle, beside the button; more text begins at the top.
        flag = Qt.AlignmentFlag.AlignTop if text.message else Qt.AlignmentFlag.AlignVCenter
        self._line.setAlignment(self._icon, flag)
        self.button.setText(text.label)
        self.button.setAccessibleName(text.label or tr("Do it"))
        self.button.setVisible(bool(text.label))
        self.setAccessibleName(f"{text.title}: {text.message}")
        self.setToolTip(text.tip)
        self.show()
        self._fit_timer.start()
        if seconds:
            self._hide_timer.start(round(1000 * seconds))

    @property
    def seconds_left(self) -> float:
        """Seconds until the notice hides itself; 0 if it does not."""
        return max(0, self._hide_timer.remainingTime()) / 1000

    @property
    def stays(self) -> bool:
        """Whether loading a model must not hide the notice."""
        return self.text is not None and self.text.stays

    def hideEvent(self, event: QHideEvent) -> None:
        """Forget the notice, unless only the window was hidden."""
        super().hideEvent(event)
        if self.isHidden():
            self.text = None

    def _run_action(self) -> None:
        text = self.text
        self.hide()
        if text is not None and text.action is not None:
            text.action()
