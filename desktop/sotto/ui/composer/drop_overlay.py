"""What a drop on the window will do, and the veil that says so."""

import re
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sotto.ui.state.drop_contents import DropContents, path_names
from sotto.ui.state.names import join_names, shorten_middle
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.widgets import IconLabel, Label

_OF_MODELS = frozenset((".safetensors", ".gguf"))
# How a manifest, a model's configuration and the index of its weights begin; no more of a file is read.
_NAMES_A_MODEL = re.compile(rb'"(schemaVersion|model_type|architectures|weight_map)"\s*:')
_LOOKED_AT = 4096
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}")
_NAMED = 3


def parted(what: DropContents) -> tuple[DropContents, tuple[Path, ...]]:
    """Return what to load, and the documents to attach."""
    documents = tuple(path for path in what.paths if _is_document(path))
    models = tuple(path for path in what.paths if path not in documents)
    return DropContents(models, what.remote), documents


def _is_document(path: Path) -> bool:
    """Return whether a file is for reading: it is no folder, and nothing that belongs to a model."""
    if path.suffix.lower() in _OF_MODELS or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            beginning = file.read(_LOOKED_AT)
    except OSError:
        return False
    if _NAMES_A_MODEL.search(beginning) or beginning.startswith(b"GGUF"):
        return False
    # A manifest has the name of a tag, which says nothing; a broken one is told as that.
    return not (beginning.lstrip().startswith(b"{") and not _ENDING.fullmatch(path.suffix))


def promise(what: DropContents) -> tuple[str, str]:
    """Return what a drop will do: in a few words, and more exactly."""
    models, documents = parted(what)
    if documents:
        return _promise_to_attach(models, documents)
    if not what.paths:
        return "Not a file on this machine", "Download the model first, then drop its folder here."
    first, *others = what.paths
    if first.is_dir():
        title, line = "Drop to load the model in this folder", first.name
    elif first.suffix == ".safetensors":
        title, line = "Drop to load the model of these weights", f"{first.name}, in the folder {first.parent.name}"
    else:
        title, line = "Drop to load this model", first.name
    return title, f"{line} — and {len(others)} more, of which none is loaded" if others else line


def _promise_to_attach(models: DropContents, documents: tuple[Path, ...]) -> tuple[str, str]:
    from sotto.chats.documents import is_picture

    names = join_names([shorten_middle(path_names([path])) for path in documents[:_NAMED]])
    line = names if len(documents) <= _NAMED else f"{names} — and {len(documents) - _NAMED} more"
    if all(map(is_picture, documents)) and not models.paths:
        return "Pictures cannot be attached", f"{line}: no model that sees can run here yet."
    what = "this file" if len(documents) == 1 else f"{len(documents)} files"
    if models.paths:
        return f"Drop to load a model and attach {what}", f"{path_names(models.paths[:1])}; {line}"
    return f"Drop to attach {what} to your message", line


class DropOverlay(QWidget):
    """Covers the window while something is dragged over it, and says what letting go will do."""

    def __init__(self, parent: QWidget) -> None:
        """Cover `parent` when shown."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._welcome = True
        self.sign = IconLabel("drop", "accent_text", 40)
        self.title = Label("", "title", wrap=True)
        self.line = Label("", "lead", wrap=True)
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.GAP_8)
        layout.addStretch(1)
        layout.addWidget(self.sign, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addSpacing(theme.GAP_8)
        for label in (self.title, self.line):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            layout.addWidget(label)
        layout.addStretch(1)
        self.hide()

    def promise(self, what: DropContents) -> None:
        """Show what dropping `what` will do."""
        title, line = promise(what)
        self._welcome = title.startswith("Drop")
        self.sign.show_icon("drop" if self._welcome else "alert", "accent_text" if self._welcome else "alert")
        self.title.setText(title)
        self.line.setText(line)
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect())
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a veil and a frame."""
        tokens = theme.current().tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(tokens.page)
        veil.setAlphaF(0.97)
        painter.fillRect(self.rect(), veil)
        painter.setPen(QPen(QColor(tokens.accent if self._welcome else tokens.alert), 2, Qt.PenStyle.DashLine))
        inset = theme.GAP_16
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), inset, inset)
