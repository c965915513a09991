"""What is attached, as a person sees it: a chip with a name, how large it is, and how many tokens it costs."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from sotto.chats.chat_records import Attachment
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.flow_layout import FlowLayout
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, IconLabel, Label, add_action, popup

_NAME_WIDTH = 240

# Which part of a document the model is given, by what it is called here.
_PARTS = {
    "whole": "The whole document",
    "beginning": "Only the beginning, as much as fits",
    "end": "Only the end, as much as fits",
}


class AttachmentChip(QFrame):
    """One thing that is attached.

    Signals:
        removed: It is to go along no longer.
        parts_wanted: The person wants to choose which part of it goes along, in a menu at this place.
    """

    removed = Signal()
    parts_wanted = Signal(QPoint)

    def __init__(self, name: str, line: str, *, removable: bool = False, divisible: bool = False) -> None:
        """Show a name, and a line of figures under it."""
        super().__init__()
        self.setObjectName("attachment")
        self.name = ElidedLabel(name)
        self.line = Label("", "caption")
        self.show_line(line)
        wished = self.name.fontMetrics().horizontalAdvance(name) + 2
        self.name.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.name.setMaximumWidth(min(wished, theme.current().scaled(_NAME_WIDTH)))
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addWidget(self.name)
        texts.addWidget(self.line)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.GAP_8, theme.GAP_4, theme.GAP_4 if removable else theme.GAP_12, theme.GAP_4)
        layout.setSpacing(0)
        layout.addWidget(IconLabel("document", "muted"))
        layout.addSpacing(theme.GAP_8)
        layout.addLayout(texts, 1)
        if divisible:
            self.parts = IconButton("more", f"Which part of {name} the model is given", tip="Which part is sent")
            self.parts.clicked.connect(
                lambda: self.parts_wanted.emit(self.parts.mapToGlobal(self.parts.rect().bottomLeft()))
            )
            layout.addWidget(self.parts)
        if removable:
            self.remove = IconButton("close", f"Remove {name}", tip="Remove")
            self.remove.clicked.connect(self.removed)
            layout.addWidget(self.remove)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_line(self, line: str) -> None:
        """Show other figures."""
        self.line.setText(line)
        self.setAccessibleName(f"Attached: {self.name.text()}, {line}")


class SentAttachments(QWidget):
    """What went along with a question."""

    def __init__(self, attachments: Sequence[Attachment]) -> None:
        """Show these."""
        super().__init__()
        layout = FlowLayout(self, theme.GAP_8, align_end=True)
        for one in attachments:
            layout.addWidget(AttachmentChip(one.name, _attachment_line(one)))


class AttachmentBar(QWidget):
    """What goes along with the draft, and what is still being read; hidden where there is neither.

    Signals:
        remove_wanted: The attachment at this place is to go along no longer.
        stop_wanted: The file at this place among those that are being read is not to be attached.
        cut_wanted: The attachment at this place is to go along in part: as this says of `PARTS`.
    """

    remove_wanted = Signal(int)
    stop_wanted = Signal(int)
    cut_wanted = Signal(int, str)

    def __init__(self) -> None:
        """Begin hidden."""
        super().__init__()
        self.setObjectName("attachments")
        self._attachments: Sequence[Attachment] = ()
        self._pending: Sequence[str] = ()
        self._flow = FlowLayout(self, theme.GAP_8)
        self.chips: list[AttachmentChip] = []
        theme.current().changed.connect(self._show)
        self.hide()

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Show what is attached."""
        known, self._attachments = self._attachments, attachments
        if [one.name for one in known] != [one.name for one in attachments]:
            self._show()
        else:
            for chip, one in zip(self.chips, attachments, strict=False):
                chip.show_line(_attachment_line(one))

    def show_pending(self, names: Sequence[str]) -> None:
        """Show what is being read."""
        self._pending = names
        self._show()

    def parts_menu(self, index: int) -> QMenu:
        """Return which parts of an attachment can be chosen."""
        menu = QMenu(self)
        for part, text in _PARTS.items():
            add_action(menu, text, partial(self.cut_wanted.emit, index, part))
        return menu

    def _show(self) -> None:
        focused = next((at for at, chip in enumerate(self.chips) if chip.isAncestorOf(self.focusWidget())), None)
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = []
        for index, one in enumerate(self._attachments):
            chip = AttachmentChip(one.name, _attachment_line(one), removable=True, divisible=True)
            chip.removed.connect(partial(self.remove_wanted.emit, index))
            chip.parts_wanted.connect(partial(self._choose_part, index))
            self._add(chip)
        for index, name in enumerate(self._pending):
            chip = AttachmentChip(name, "Reading…", removable=True)
            chip.removed.connect(partial(self.stop_wanted.emit, index))
            self._add(chip)
        if focused is not None and focused < len(self.chips):
            self.chips[focused].remove.setFocus()
        self.setVisible(bool(self.chips))
        self.updateGeometry()

    def _choose_part(self, index: int, at: QPoint) -> None:
        popup(self.parts_menu(index), at)

    def _add(self, chip: AttachmentChip) -> None:
        self._flow.addWidget(chip)
        self.chips.append(chip)


def _attachment_line(attachment: Attachment) -> str:
    """Return how large an attachment is, and what it costs: `12 KB · 3,400 tokens`."""
    length = len(attachment.text)
    part = "" if attachment.whole else f"{100 * (attachment.ends - attachment.begins) / length:.0f} % "
    if not attachment.whole:
        part += (
            "from the beginning" if attachment.begins == 0 else "at the end" if attachment.ends == length else "of it"
        )
    tokens = f"{wording.count(attachment.tokens)} tokens" if attachment.tokens else ""
    return " · ".join(filter(None, (wording.size(attachment.size), part, tokens)))
