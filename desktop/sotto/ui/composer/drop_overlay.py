"""The overlay that says what dropping files on the window will do."""

import re
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sotto.ui.state.drop_contents import DropContents, path_names
from sotto.ui.state.names import join_names, shorten_middle
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconLabel, Label

_MODEL_SUFFIXES = frozenset((".safetensors", ".gguf"))
# Keys at the start of a manifest, of a model's configuration and of the index of its weights.
_MODEL_KEYS = re.compile(rb'"(schemaVersion|model_type|architectures|weight_map)"\s*:')
_SNIFFED_BYTES = 4096
_FILE_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}")
# Documents that are named in the overlay; the others are counted.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class SplitDrop:
    """What a drop consists of.

    Attributes:
        models: Models to load.
        documents: Documents to attach.
        exports: Files and folders with chats to import.
    """

    models: DropContents
    documents: tuple[Path, ...]
    exports: tuple[Path, ...]


def split_drop(dropped: DropContents) -> SplitDrop:
    """Split a drop by what its files are."""
    from sotto.chats.imports.sniffing import may_hold_chats

    exports = tuple(path for path in dropped.paths if may_hold_chats(path))
    documents = tuple(path for path in dropped.paths if path not in exports and _is_document(path))
    models = tuple(path for path in dropped.paths if path not in (*exports, *documents))
    return SplitDrop(DropContents(models, dropped.remote), documents, exports)


def _is_document(path: Path) -> bool:
    """Return whether a path is a document: a file that does not belong to a model."""
    if path.suffix.lower() in _MODEL_SUFFIXES or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            beginning = file.read(_SNIFFED_BYTES)
    except OSError:
        return False
    if _MODEL_KEYS.search(beginning) or beginning.startswith(b"GGUF"):
        return False
    # The name of an Ollama manifest is a tag without a file suffix. One whose keys were not found is damaged, and is
    # reported as such when it is loaded.
    return not (beginning.lstrip().startswith(b"{") and not _FILE_SUFFIX.fullmatch(path.suffix))


def accepts_drop(dropped: DropContents) -> bool:
    """Return whether a drop contains anything that can be loaded or attached."""
    split = split_drop(dropped)
    return bool(split.exports or split.models.paths or split.documents)


def describe_drop(dropped: DropContents) -> tuple[str, str]:
    """Return the title and the details of what a drop will do."""
    split = split_drop(dropped)
    if split.exports:
        return tr("Drop to import chats"), _named(split.exports)
    if split.documents:
        return _describe_attaching(split.models, split.documents)
    if not dropped.paths:
        return tr("Not a file on this computer"), tr("Download the model first, then drop its folder here.")
    first, *others = dropped.paths
    if first.is_dir():
        title, line = tr("Drop to load the model in this folder"), first.name
    elif first.suffix == ".safetensors":
        title = tr("Drop to load the model with these weights")
        line = tr("{name}, in the folder {folder}").format(name=first.name, folder=first.parent.name)
    else:
        title, line = tr("Drop to load this model"), first.name
    if others:
        more = tr("{name} — and {count} more, which will not be loaded", "", len(others))
        line = more.format(name=line, count=len(others))
    return title, line


def _describe_attaching(models: DropContents, documents: tuple[Path, ...]) -> tuple[str, str]:
    line, count = _named(documents), len(documents)
    if models.paths:
        title = tr("Drop to load a model and attach this file|Drop to load a model and attach {count} files", "", count)
        return title.format(count=count), f"{path_names(models.paths[:1])}; {line}"
    title = tr("Drop to attach this file to your message|Drop to attach {count} files to your message", "", count)
    return title.format(count=count), line


def _named(paths: tuple[Path, ...]) -> str:
    names = join_names([shorten_middle(path_names([path])) for path in paths[:_NAMED]])
    more = len(paths) - _NAMED
    return tr("{names} — and {count} more", "", more).format(names=names, count=more) if more > 0 else names


class DropOverlay(QWidget):
    """Covers the window while files are dragged over it."""

    def __init__(self, parent: QWidget) -> None:
        """Create the overlay over `parent`, hidden."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._accepts = True
        self.icon = IconLabel("drop", "accent_text", 40)
        self.title = Label("", "title", wrap=True)
        self.line = Label("", "lead", wrap=True)
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.GAP_8)
        layout.addStretch(1)
        layout.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addSpacing(theme.GAP_8)
        for label in (self.title, self.line):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            layout.addWidget(label)
        layout.addStretch(1)
        self.hide()

    def show_drop(self, dropped: DropContents, imported: Path | None = None) -> None:
        """Show what dropping these files will do.

        Args:
            dropped: The files.
            imported: The folder or file that will be imported; None if something else will be done.
        """
        title, line = describe_drop(dropped)
        if imported is not None:
            title, line = tr("Drop to import this model"), path_names([imported])
        self._cover(title, line, accepts=accepts_drop(dropped))

    def show_image(self) -> None:
        """Show that dropping attaches an image."""
        self._cover(tr("Drop to attach this image to your message"), "", accepts=True)

    def _cover(self, title: str, line: str, *, accepts: bool) -> None:
        self._accepts = accepts
        self.icon.show_icon("drop" if accepts else "alert", "accent_text" if accepts else "alert")
        self.title.setText(title)
        self.line.setText(line)
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect())
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a translucent cover and a dashed frame."""
        tokens = theme.current().tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        cover = QColor(tokens.page)
        cover.setAlphaF(0.97)
        painter.fillRect(self.rect(), cover)
        painter.setPen(QPen(QColor(tokens.accent if self._accepts else tokens.alert), 2, Qt.PenStyle.DashLine))
        inset = theme.GAP_16
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), inset, inset)
