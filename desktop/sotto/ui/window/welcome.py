"""The page that the chat pane shows before the first message."""

from functools import partial

from PySide6.QtCore import QByteArray, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sotto.paths import resources_dir
from sotto.ui.models.discovery_summary import DiscoverySummary
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.state.names import model_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import QT_TR_NOOP, isolated, tr
from sotto.ui.toolkit.widgets import Label, TextButton

# The built-in model knows English alone.
BUILTIN_QUESTIONS = ("What can you do?", "How do I load a bigger model?", "What does 4-bit mean?")
_OTHER_QUESTIONS = (
    QT_TR_NOOP("Explain how a rainbow forms, in three sentences."),
    QT_TR_NOOP("Suggest a name for a small sailing boat."),
    QT_TR_NOOP("What makes bread rise?"),
)
_COLUMN = 560
# Of the free height, the share that is above the greeting.
_ABOVE = 0.42
# Heights kept free at 13 px text, so that nothing moves when the greeting or the models arrive.
_GREETING = 44
_FINDS = 150
# Windows that are lower have no room for the icon.
_ICON_ABOVE = 560


class Welcome(Scroller):
    """A greeting and three example questions; before the first chat, also the models that were found on this machine.

    Nothing on the page moves when a model has been loaded or models have been found.

    Signals:
        question_chosen: The user has chosen an example question (its text).
    """

    question_chosen = Signal(str)

    def __init__(self) -> None:
        """Show that nothing is loaded."""
        super().__init__()
        self._icon = _AppIcon()
        self.title = Label("", "title", wrap=True)
        self.title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.greeting = Label("", "lead", wrap=True)
        self.greeting.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.finds = DiscoverySummary()
        self.finds.hide()
        # After a turn of the event loop, when it has been laid out.
        show_finds = partial(self.ensureWidgetVisible, self.finds)
        self.finds.unfolded.connect(lambda: QTimer.singleShot(0, self, show_finds))
        self.chips = [TextButton("", "chip") for _ in BUILTIN_QUESTIONS]
        self._block = QWidget()
        inside = QVBoxLayout(self._block)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(theme.GAP_8)
        inside.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignHCenter)
        inside.addSpacing(theme.GAP_8)
        inside.addWidget(self.title)
        inside.addWidget(self.greeting)
        inside.addSpacing(theme.GAP_4)
        for chip in self.chips:
            inside.addWidget(chip, 0, Qt.AlignmentFlag.AlignHCenter)
            chip.clicked.connect(self._ask)
            keep = chip.sizePolicy()
            keep.setRetainSizeWhenHidden(True)
            chip.setSizePolicy(keep)
        # Not in a widget of their own, whose layout would divide its old height between them before it has a new one.
        column = QVBoxLayout()
        column.setSpacing(theme.GAP_24)
        column.addWidget(self._block)
        column.addWidget(self.finds)
        across = QHBoxLayout()
        across.addStretch(1)
        across.addLayout(column, 1000)
        across.addStretch(1)
        body = QWidget()
        body.setObjectName("column")
        self._layout = QVBoxLayout(body)
        self._layout.addLayout(across)
        self._layout.addStretch(1)
        self.setWidget(body)
        theme.current().changed.connect(self._update_width)
        self._update_width()
        self.show_state(ModelState())

    def show_state(self, state: ModelState, greeting: str = "") -> None:
        """Show the greeting for the state of the model.

        Args:
            state: The state of the model in use.
            greeting: The last greeting by the built-in model; empty if it has written none.
        """
        record, unable = state.record, state.chat_refusal
        askable = False
        if record is None or state.phase is Phase.FAILED:
            title = tr("Welcome to Sotto")
            line = tr("Choose a model in the list to chat with it. Nothing you write leaves your computer.")
        elif unable:
            title, line = model_name(record.name), unable
        else:
            askable = True
            title = tr("Ask about Sotto") if record.builtin else tr("Ask {model}").format(model=model_name(record.name))
            if state.phase is Phase.LOADING and state.pace.shown:
                line = tr("The model is loading. You can start writing.")
            elif record.builtin:
                line = greeting or tr("I’m the small model that comes with Sotto.")
            else:
                line = tr("It runs on your computer.")
        self.title.setText(title)
        self.greeting.setText(line)
        builtin = record is None or record.builtin
        questions = BUILTIN_QUESTIONS if builtin else [tr(question) for question in _OTHER_QUESTIONS]
        for chip, question in zip(self.chips, questions, strict=True):
            # Those to the built-in model are English in every language.
            chip.setText(isolated(question))
            chip.setProperty("question", question)
            chip.setAccessibleName(tr("Ask: {question}").format(question=question))
            chip.setVisible(askable)

    def show_finds(self, *, shown: bool) -> None:
        """Show or hide the models that were found on this machine."""
        self.finds.setVisible(shown)
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the greeting a little above the middle."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        scaled = theme.current().scaled
        # Not by the height of the page, which changes while one writes.
        self._icon.setHidden(self.window().height() < scaled(_ICON_ABOVE))
        needed = self._block.sizeHint().height()
        if not self.finds.isHidden():
            needed += theme.GAP_24 + scaled(_FINDS)
        above = max(theme.GAP_24, int((self.viewport().height() - needed) * _ABOVE))
        self._layout.setContentsMargins(theme.GAP_24, above, theme.GAP_24, theme.GAP_24)

    def _ask(self) -> None:
        chip = self.sender()
        if isinstance(chip, TextButton):
            self.question_chosen.emit(chip.property("question"))

    def _update_width(self) -> None:
        for part in (self._block, self.finds):
            part.setMaximumWidth(theme.current().scaled(_COLUMN))
        self.greeting.setMinimumHeight(theme.current().scaled(_GREETING))
        self._place()


class _AppIcon(QWidget):
    """The app's icon."""

    def __init__(self) -> None:
        super().__init__()
        self._renderer = QSvgRenderer(QByteArray((resources_dir() / "icons" / "sotto.svg").read_bytes()))
        self.setFixedSize(72, 72)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._renderer.render(QPainter(self), QRectF(self.rect()))
