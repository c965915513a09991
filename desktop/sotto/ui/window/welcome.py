"""The page that the chat pane shows before the first message."""

from functools import partial

from PySide6.QtCore import QByteArray, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sotto.paths import resources_dir
from sotto.ui.models.discovery_summary import DiscoverySummary
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import model_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.widgets import Label, TextButton

BUILTIN_QUESTIONS = ("What can you do?", "How do I load a bigger model?", "What does 4-bit mean?")
OTHER_QUESTIONS = (
    "Explain how a rainbow forms, in three sentences.",
    "Suggest a name for a small sailing boat.",
    "What makes bread rise?",
)
_COLUMN = 560


class Welcome(Scroller):
    """A greeting, three example questions, and the models that were found on this machine.

    Signals:
        question_chosen: The user has chosen an example question (its text).
    """

    question_chosen = Signal(str)

    def __init__(self) -> None:
        """Show that nothing is loaded."""
        super().__init__()
        self._title = Label("", "title", wrap=True)
        self._title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.greeting = Label("", "lead", wrap=True)
        self.greeting.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.finds = DiscoverySummary()
        # After a turn of the event loop, when it has been laid out.
        show_finds = partial(self.ensureWidgetVisible, self.finds)
        self.finds.unfolded.connect(lambda: QTimer.singleShot(0, self, show_finds))
        self.chips = [TextButton("", "chip") for _ in BUILTIN_QUESTIONS]
        column = QWidget()
        inside = QVBoxLayout(column)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(theme.GAP_8)
        inside.addWidget(_AppIcon(), 0, Qt.AlignmentFlag.AlignHCenter)
        inside.addSpacing(theme.GAP_8)
        inside.addWidget(self._title)
        inside.addWidget(self.greeting)
        inside.addSpacing(theme.GAP_16)
        for chip in self.chips:
            inside.addWidget(chip, 0, Qt.AlignmentFlag.AlignHCenter)
            chip.clicked.connect(self._ask)
        inside.addSpacing(theme.GAP_24)
        inside.addWidget(self.finds)
        self._column = column
        across = QHBoxLayout()
        across.addStretch(1)
        across.addWidget(column, 1000)
        across.addStretch(1)
        body = QWidget()
        body.setObjectName("column")
        layout = QVBoxLayout(body)
        layout.setContentsMargins(theme.GAP_24, theme.GAP_24, theme.GAP_24, theme.GAP_24)
        layout.addStretch(5)
        layout.addLayout(across)
        layout.addStretch(6)
        self.setWidget(body)
        theme.current().changed.connect(self._update_width)
        self._update_width()
        self.show_state(ModelState())

    def show_state(self, state: ModelState, greeting: str = "") -> None:
        """Show the greeting for the state of the model.

        Args:
            state: The state of the model in use.
            greeting: The greeting that the built-in model has written; empty for a default text.
        """
        builtin = state.record is not None and state.record.builtin
        unable = state.chat_refusal
        if unable and state.record is not None:
            title, line = model_name(state.record.name), unable
        elif state.loaded and state.record is not None:
            title = "Ask about Sotto" if builtin else f"Ask {model_name(state.record.name)}"
            line = greeting or (
                "I’m the small model that comes with Sotto." if builtin else "It runs on your computer."
            )
        elif state.phase is Phase.LOADING and not state.pace.shown:
            return
        elif state.phase is Phase.LOADING and state.record is not None:
            title = "One moment"
            line = f"Loading {model_name(state.record.name)}. You can start writing."
        else:
            title = "Welcome to Sotto"
            line = "Choose a model in the list to chat with it. Nothing you write leaves your computer."
        self._title.setText(title)
        self.greeting.setText(line)
        questions = BUILTIN_QUESTIONS if builtin or not state.loaded else OTHER_QUESTIONS
        for chip, question in zip(self.chips, questions, strict=True):
            chip.setText(question)
            chip.setAccessibleName(f"Ask: {question}")
            chip.setVisible(state.loaded and not unable)

    def _ask(self) -> None:
        chip = self.sender()
        if isinstance(chip, TextButton):
            self.question_chosen.emit(chip.text())

    def _update_width(self) -> None:
        self._column.setMaximumWidth(theme.current().scaled(_COLUMN))


class _AppIcon(QWidget):
    """The app's icon."""

    def __init__(self) -> None:
        super().__init__()
        self._renderer = QSvgRenderer(QByteArray((resources_dir() / "icons" / "sotto.svg").read_bytes()))
        self.setFixedSize(72, 72)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._renderer.render(QPainter(self), QRectF(self.rect()))
