"""What is dropped on the window, and what a drop will do."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

from PySide6.QtCore import QMimeData, QRectF, Qt, QUrl
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sotto.ui import theme
from sotto.ui.parts import Label, Picture


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a drop holds.

    Attributes:
        paths: Files and folders of this machine.
        elsewhere: Addresses of things that are not on this machine.
    """

    paths: tuple[Path, ...]
    elsewhere: tuple[str, ...]


def path_of(url: QUrl) -> Path | None:
    """Return the file or folder that `url` means, or None if it is not on this machine.

    `QUrl.toLocalFile` replaces bytes that are no UTF-8; the path is taken from the encoded address instead.
    """
    if not url.isLocalFile():
        return None
    if os.name != "posix":
        return Path(url.toLocalFile())
    encoded = bytes(url.toEncoded(QUrl.ComponentFormattingOption.FullyEncoded).data())
    address = encoded.decode("ascii").removeprefix("file://")
    return Path(os.fsdecode(unquote_to_bytes(address[address.index("/") :])))


def dropped(data: QMimeData) -> Dropped:
    """Return what `data` holds."""
    paths, elsewhere = [], []
    for url in data.urls():
        path = path_of(url)
        if path is None:
            elsewhere.append(url.toDisplayString())
        else:
            paths.append(path)
    return Dropped(tuple(paths), tuple(elsewhere))


def promise(what: Dropped) -> tuple[str, str]:
    """Return what a drop will do: in a few words, and more exactly."""
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


class DropOverlay(QWidget):
    """Covers the window while something is dragged over it, and says what letting go will do."""

    def __init__(self, parent: QWidget) -> None:
        """Cover `parent` when shown."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._welcome = True
        self.sign = Picture("drop", "accent_text", 40)
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

    def promise(self, what: Dropped) -> None:
        """Show what dropping `what` will do."""
        title, line = promise(what)
        self._welcome = bool(what.paths)
        self.sign.show_icon("drop" if what.paths else "alert", "accent_text" if what.paths else "alert")
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


def described(paths: Sequence[Path]) -> str:
    """Return the names of paths as far as they can be shown."""
    return ", ".join(os.fsencode(path.name).decode("utf-8", "replace") for path in paths)
