"""Where a model is asked for by its name, to be downloaded."""

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from sotto.errors import InvalidNameError
from sotto.store.records import ModelRecord
from sotto.store.sources.model_names import parse_name
from sotto.ui.models import download_words
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.announcements import announce
from sotto.ui.toolkit.widgets import EscapableLineEdit, IconButton, Label, TextButton

_WIDTH = 348
_HINT = "The name of a model in a registry, for example llama3.2:3b or someone/model."


class DownloadForm(QFrame):
    """A small panel beside the list that keeps nobody from anything else.

    Signals:
        wanted: A model of this name should be downloaded; what is typed may be none.
        closed: The panel is to go away.
    """

    wanted = Signal(str)
    closed = Signal()

    def __init__(self) -> None:
        """Begin hidden, with nothing typed."""
        super().__init__()
        self.setObjectName("getCard")
        self.setAccessibleName("Get a model")
        self.close_button = IconButton("close", "Close")
        self.close_button.clicked.connect(self.closed)
        self.field = EscapableLineEdit("Name of the model", "llama3.2:3b")
        self.field.setObjectName("value")
        self.field.left.connect(self.closed)
        self.field.textChanged.connect(self._look)
        self.field.returnPressed.connect(self._get)
        self.get = TextButton("Get", "primary", "Get the model")
        self.get.clicked.connect(self._get)
        self.origin = Label("", "caption", wrap=True)
        self.error = Label("", "error", wrap=True)
        self._arrange()
        self._models: tuple[ModelRecord, ...] = ()
        self._beside: tuple[QWidget, QWidget] | None = None
        # What the texts need is known once they have been laid out.
        self._settled = QTimer(self, singleShot=True, interval=0)
        self._settled.timeout.connect(self.place)
        self._look()
        self.hide()

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addWidget(Label("Get a model", "strong"), 1)
        top.addWidget(self.close_button)
        line = QHBoxLayout()
        line.setSpacing(theme.GAP_8)
        line.addWidget(self.field, 1)
        line.addWidget(self.get)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(theme.GAP_12, theme.GAP_8, theme.GAP_12, theme.GAP_12)
        self._layout.setSpacing(theme.GAP_8)
        self._layout.addLayout(top)
        self._layout.addLayout(line)
        self._layout.addWidget(self.origin)
        self._layout.addWidget(self.error)

    def open(self) -> None:
        """Come into view, for a name to be typed."""
        self.show()
        self.raise_()
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.place()

    def show_models(self, records: tuple[ModelRecord, ...]) -> None:
        """Take note of the models that are here already."""
        self._models = records

    def refuse(self, why: str) -> None:
        """Say why what was typed cannot be had, and let it be put right."""
        self._say(why)
        self.field.setFocus()
        announce(self.field, why)

    def _say(self, why: str) -> None:
        self.error.setText(why)
        self.error.setVisible(bool(why))
        self.origin.setVisible(not why)
        self.field.setAccessibleDescription(why or self.origin.text())

    def _look(self) -> None:
        """Say from where what is typed would come; that it is no name is not said before it is meant."""
        text = self.field.text().strip()
        self.get.setEnabled(bool(text))
        try:
            said = download_words.origin(parse_name(text), self._models) if text else _HINT
        except InvalidNameError:
            said = _HINT
        self.origin.setText(said)
        self._say("")

    def _get(self) -> None:
        if text := self.field.text().strip():
            self.wanted.emit(text)

    # Where it stands

    def beside(self, sidebar: QWidget, foot: QWidget) -> None:
        """Stand beside the sidebar from now on, above the lower edge of `foot` in it."""
        self._beside = sidebar, foot

    def place(self) -> None:
        """Take the place and the size that there is room for."""
        parent = self.parentWidget()
        if parent is None or self.isHidden() or self._beside is None:
            return
        sidebar, foot = self._beside
        width = min(theme.current().scaled(_WIDTH), parent.width() - 2 * theme.GAP_8)
        height = min(self._layout.totalHeightForWidth(width), parent.height() - 2 * theme.GAP_8)
        lower = foot.mapTo(parent, QPoint(0, foot.height())).y()
        top = max(theme.GAP_8, min(lower, parent.height() - theme.GAP_8) - height)
        # Large text in a small window takes some of the sidebar's place.
        farthest = parent.width() - width - theme.GAP_8
        left = min(sidebar.geometry().right() + 1 + theme.GAP_8, farthest)
        if self.isRightToLeft():
            left = max(sidebar.geometry().left() - width - theme.GAP_8, theme.GAP_8)
        self.setGeometry(left, top, width, height)

    def event(self, event: QEvent) -> bool:
        """Take the size that the texts need whenever that changes."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._settled.start()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go away with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)
