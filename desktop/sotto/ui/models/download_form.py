"""The small form in which a user names a model to download."""

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QVBoxLayout

from sotto.errors import InvalidNameError
from sotto.store.records import ModelRecord
from sotto.store.sources.hugging_face_names import parse_wanted
from sotto.ui.models import download_words
from sotto.ui.models.side_card import SideCard
from sotto.ui.state.names import model_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.announcements import announce
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import EscapableLineEdit, IconButton, Label, TextButton

_WIDTH = 348
# Offered while somebody types: well-known models of Ollama's library, of families that run here.
SUGGESTED = (
    *("llama3.2:1b", "llama3.2:3b", "llama3.1:8b", "qwen2.5:0.5b", "qwen2.5:7b", "qwen3:0.6b", "qwen3:4b", "qwen3:8b"),
    *(
        "gemma2:2b",
        "gemma2:9b",
        "mistral:7b",
        "phi3:3.8b",
        "granite3.3:2b",
        "granite3.3:8b",
        "olmo2:7b",
        "smollm2:1.7b",
    ),
)


class DownloadForm(SideCard):
    """A card with a field for the name.

    Signals:
        submitted: The user wants to download the model with this name, which is not validated yet.
    """

    submitted = Signal(str)

    def __init__(self) -> None:
        """Create the form, hidden and empty."""
        super().__init__("getCard", tr("Get a model"), _WIDTH)
        self.close_button = IconButton("close", tr("Close"))
        self.close_button.clicked.connect(self.close_card)
        self.field = EscapableLineEdit(tr("Name of the model"), "llama3.2:3b")
        self.field.setObjectName("value")
        self._names = QStringListModel(SUGGESTED, self)
        completer = QCompleter(self._names, self.field)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.field.setCompleter(completer)
        self.field.escaped.connect(self.close_card)
        self.field.textChanged.connect(self._show_origin)
        self.field.returnPressed.connect(self._submit)
        self.get = TextButton(tr("Get"), "primary", tr("Get the model"))
        self.get.clicked.connect(self._submit)
        self.origin = Label("", "caption", wrap=True)
        self.error = Label("", "error", wrap=True)
        self._hint = tr(
            "The name of a model in Ollama’s library, such as llama3.2:3b, or of one on Hugging Face, such as "
            "mlx-community/Qwen3-0.6B-4bit."
        )
        self._arrange()
        self._models: tuple[ModelRecord, ...] = ()
        self._show_origin()

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addWidget(Label(tr("Get a model"), "strong"), 1)
        top.addWidget(self.close_button)
        line = QHBoxLayout()
        line.setSpacing(theme.GAP_8)
        line.addWidget(self.field, 1)
        line.addWidget(self.get)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_12, theme.GAP_8, theme.GAP_12, theme.GAP_12)
        layout.setSpacing(theme.GAP_8)
        layout.addLayout(top)
        layout.addLayout(line)
        layout.addWidget(self.origin)
        layout.addWidget(self.error)

    def open(self) -> None:
        """Show the form with the caret in the field."""
        self.show_card()
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_models(self, records: tuple[ModelRecord, ...]) -> None:
        """Update the models that are on the disk already, which the origin line mentions, and which can be updated."""
        self._models = records
        downloaded = (model_name(record.name) for record in records if record.own)
        self._names.setStringList(sorted({*SUGGESTED, *downloaded}))

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
            line = download_words.origin(parse_wanted(text), self._models) if text else self._hint
        except InvalidNameError:
            line = self._hint
        self.origin.setText(line)
        self._set_error("")

    def _submit(self) -> None:
        if text := self.field.text().strip():
            suggestions = self.field.completer().popup()
            if suggestions is not None and suggestions.isVisible():
                suggestions.hide()
                # Not every platform gives the focus back to the window by itself.
                self.activateWindow()
            self.submitted.emit(text)
