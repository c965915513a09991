"""The small form in which a user names a model to download."""

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
    """A non-modal panel beside the list of models.

    Signals:
        submitted: The user wants to download the model with this name, which is not validated yet.
        closed: The user closed the form.
    """

    submitted = Signal(str)
    closed = Signal()

    def __init__(self) -> None:
        """Create the form, hidden and empty."""
        super().__init__()
        self.setObjectName("getCard")
        self.setAccessibleName("Get a model")
        self.close_button = IconButton("close", "Close")
        self.close_button.clicked.connect(self.closed)
        self.field = EscapableLineEdit("Name of the model", "llama3.2:3b")
        self.field.setObjectName("value")
        self.field.escaped.connect(self.closed)
        self.field.textChanged.connect(self._show_origin)
        self.field.returnPressed.connect(self._submit)
        self.get = TextButton("Get", "primary", "Get the model")
        self.get.clicked.connect(self._submit)
        self.origin = Label("", "caption", wrap=True)
        self.error = Label("", "error", wrap=True)
        self._arrange()
        self._models: tuple[ModelRecord, ...] = ()
        self._anchor: tuple[QWidget, QWidget] | None = None
        # The height of the texts is known only after they have been laid out.
        self._layout_timer = QTimer(self, singleShot=True, interval=0)
        self._layout_timer.timeout.connect(self.place)
        self._show_origin()
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
        """Show the form with the caret in the field."""
        self.show()
        self.raise_()
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.place()

    def show_models(self, records: tuple[ModelRecord, ...]) -> None:
        """Update the models that are on the disk already, which the origin line mentions."""
        self._models = records

    def show_error(self, message: str) -> None:
        """Show why the name was rejected, and return the focus to the field."""
        self._set_error(message)
        self.field.setFocus()
        announce(self.field, message)

    def _set_error(self, message: str) -> None:
        self.error.setText(message)
        self.error.setVisible(bool(message))
        self.origin.setVisible(not message)
        self.field.setAccessibleDescription(message or self.origin.text())

    def _show_origin(self) -> None:
        """Show where the named model would come from. Invalid names are reported only when they are submitted."""
        text = self.field.text().strip()
        self.get.setEnabled(bool(text))
        try:
            line = download_words.origin(parse_name(text), self._models) if text else _HINT
        except InvalidNameError:
            line = _HINT
        self.origin.setText(line)
        self._set_error("")

    def _submit(self) -> None:
        if text := self.field.text().strip():
            self.submitted.emit(text)

    # Geometry

    def set_anchor(self, sidebar: QWidget, foot: QWidget) -> None:
        """Place the form beside `sidebar`, with its lower edge at that of `foot`."""
        self._anchor = sidebar, foot

    def place(self) -> None:
        """Update the position and the size to the room there is."""
        parent = self.parentWidget()
        if parent is None or self.isHidden() or self._anchor is None:
            return
        sidebar, foot = self._anchor
        width = min(theme.current().scaled(_WIDTH), parent.width() - 2 * theme.GAP_8)
        height = min(self._layout.totalHeightForWidth(width), parent.height() - 2 * theme.GAP_8)
        lower = foot.mapTo(parent, QPoint(0, foot.height())).y()
        top = max(theme.GAP_8, min(lower, parent.height() - theme.GAP_8) - height)
        # With large text in a small window the form covers part of the sidebar.
        farthest = parent.width() - width - theme.GAP_8
        left = min(sidebar.geometry().right() + 1 + theme.GAP_8, farthest)
        if self.isRightToLeft():
            left = max(sidebar.geometry().left() - width - theme.GAP_8, theme.GAP_8)
        self.setGeometry(left, top, width, height)

    def event(self, event: QEvent) -> bool:
        """Resize the form when its texts need another height."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._layout_timer.start()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)
