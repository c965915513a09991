"""Chips for attachments: name, size and token count, with buttons to see, remove or shorten them."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from sotto.chats.chat_records import Attachment
from sotto.ui.state import wording
from sotto.ui.state.names import join_facts
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.flow_layout import FlowLayout
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, IconLabel, Label, add_action, popup
from sotto.ui.transcript.picture_button import PictureButton

_NAME_WIDTH = 240
# Sides of the thumbnails of images in a draft, and in a message that was sent.
_DRAFT_PIXELS, _SENT_PIXELS = 40, 132

# Labels of the parts of a document that can be sent, by their names in `AttachmentBar.cut_wanted`.
_PARTS = {
    "whole": QT_TR_NOOP("Whole Document"),
    "beginning": QT_TR_NOOP("Only the Beginning"),
    "end": QT_TR_NOOP("Only the End"),
}


class AttachmentChip(QFrame):
    """One attachment.

    Signals:
        removed: The user removed the attachment.
        opened: The user wants to see the image whole.
        parts_wanted: The user wants a menu of the parts to send, at a position on the screen.
    """

    removed = Signal()
    opened = Signal()
    parts_wanted = Signal(QPoint)

    def __init__(
        self, name: str, line: str, *, image: str = "", removable: bool = False, divisible: bool = False
    ) -> None:
        """Create a chip.

        Args:
            name: File name.
            line: Details below the name.
            image: The digest of an image; empty for a document.
            removable: Whether there is a button to remove it.
            divisible: Whether there is a button to send only a part of it.
        """
        super().__init__()
        self.setObjectName("attachment")
        # The end of a name says what kind of file it is.
        self.name = ElidedLabel(name, where=Qt.TextElideMode.ElideMiddle)
        self.line = Label("", "caption")
        self.show_line(line)
        wanted = self.name.fontMetrics().horizontalAdvance(name) + 2
        self.name.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.name.setMaximumWidth(min(wanted, theme.current().scaled(_NAME_WIDTH)))
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addStretch(1)
        texts.addWidget(self.name)
        texts.addWidget(self.line)
        texts.addStretch(1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(
            theme.margins(theme.GAP_8, theme.GAP_4, theme.GAP_4 if removable else theme.GAP_12, theme.GAP_4)
        )
        layout.setSpacing(0)
        if image:
            self.picture = PictureButton(image, name, _DRAFT_PIXELS)
            self.picture.clicked.connect(self.opened)
            layout.addWidget(self.picture)
        else:
            layout.addWidget(IconLabel("document", "muted"))
        layout.addSpacing(theme.GAP_8)
        layout.addLayout(texts, 1)
        if divisible:
            parts_name = tr("Choose what is sent of {name}").format(name=name)
            self.parts = IconButton("more", parts_name, tip=tr("Choose what is sent"))
            self.parts.clicked.connect(
                lambda: self.parts_wanted.emit(self.parts.mapToGlobal(self.parts.rect().bottomLeft()))
            )
            layout.addWidget(self.parts)
        if removable:
            self.remove = IconButton("close", tr("Remove {name}").format(name=name), tip=tr("Remove"))
            self.remove.clicked.connect(self.removed)
            layout.addWidget(self.remove)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_line(self, line: str) -> None:
        """Replace the details below the name."""
        self.line.setText(line)
        self.setAccessibleName(tr("Attached: {name}, {details}").format(name=self.name.text(), details=line))


class SentAttachments(QWidget):
    """The attachments of a question that was sent.

    Signals:
        image_wanted: The user wants to see an image whole (`Attachment`).
    """

    image_wanted = Signal(object)

    def __init__(self, attachments: Sequence[Attachment]) -> None:
        """Show `attachments`."""
        super().__init__()
        self.pictures: list[PictureButton] = []
        layout = FlowLayout(self, theme.GAP_8, align_end=True)
        for attachment in attachments:
            if attachment.image:
                layout.addWidget(self._picture(attachment))
            else:
                layout.addWidget(AttachmentChip(attachment.name, _attachment_line(attachment)))

    def _picture(self, attachment: Attachment) -> QWidget:
        """Return an image with its name and its token count below it."""
        picture = PictureButton(attachment.image, attachment.name, _SENT_PIXELS)
        picture.clicked.connect(lambda: self.image_wanted.emit(attachment))
        self.pictures.append(picture)
        whole = QWidget()
        layout = QVBoxLayout(whole)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(picture)
        layout.addSpacing(2)
        for line in filter(None, (attachment.name, _tokens(attachment))):
            layout.addWidget(ElidedLabel(line, "caption", where=Qt.TextElideMode.ElideMiddle))
        whole.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        return whole


class AttachmentBar(QWidget):
    """The attachments of a draft and the files that are still being read; hidden if there are none.

    Signals:
        image_wanted: The user wants to see an image whole (`Attachment`).
        remove_wanted: The user wants to remove the attachment at this index.
        stop_wanted: The user wants to stop reading the file at this index among those being read.
        cut_wanted: The user wants to send only a part of the attachment at this index: `whole`, `beginning` or `end`.
    """

    image_wanted = Signal(object)
    remove_wanted = Signal(int)
    stop_wanted = Signal(int)
    cut_wanted = Signal(int, str)

    def __init__(self, *, divisible: bool = True) -> None:
        """Create the bar, hidden; `divisible` is whether only parts of documents can be chosen."""
        super().__init__()
        self._divisible = divisible
        self.setObjectName("attachments")
        self._attachments: Sequence[Attachment] = ()
        self._pending: Sequence[str] = ()
        self._flow = FlowLayout(self, theme.GAP_8)
        self.chips: list[AttachmentChip] = []
        theme.current().changed.connect(self._show)
        self.hide()

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Show the attachments of the draft."""
        before, self._attachments = self._attachments, attachments
        if [(each.name, each.image) for each in before] != [(each.name, each.image) for each in attachments]:
            self._show()
        else:
            for chip, attachment in zip(self.chips, attachments, strict=False):
                chip.show_line(_attachment_line(attachment))

    def show_pending(self, names: Sequence[str]) -> None:
        """Show the names of files that are being read."""
        self._pending = names
        self._show()

    def parts_menu(self, index: int) -> QMenu:
        """Return a menu of the parts that can be sent of the attachment at `index`."""
        menu = QMenu(self)
        for part, text in _PARTS.items():
            add_action(menu, tr(text), partial(self.cut_wanted.emit, index, part))
        return menu

    def _show(self) -> None:
        focused = next((at for at, chip in enumerate(self.chips) if chip.isAncestorOf(self.focusWidget())), None)
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = []
        for index, attachment in enumerate(self._attachments):
            chip = AttachmentChip(
                attachment.name,
                _attachment_line(attachment),
                image=attachment.image,
                removable=True,
                divisible=self._divisible and not attachment.image,
            )
            chip.opened.connect(partial(self.image_wanted.emit, attachment))
            chip.removed.connect(partial(self.remove_wanted.emit, index))
            chip.parts_wanted.connect(partial(self._show_parts, index))
            self._add(chip)
        for index, name in enumerate(self._pending):
            chip = AttachmentChip(name, tr("Reading…"), removable=True)
            chip.removed.connect(partial(self.stop_wanted.emit, index))
            self._add(chip)
        if focused is not None and focused < len(self.chips):
            self.chips[focused].remove.setFocus()
        self.setVisible(bool(self.chips))
        self.updateGeometry()

    def _show_parts(self, index: int, at: QPoint) -> None:
        popup(self.parts_menu(index), at)

    def _add(self, chip: AttachmentChip) -> None:
        self._flow.addWidget(chip)
        self.chips.append(chip)


def _attachment_line(attachment: Attachment) -> str:
    """Return the size of an attachment, the part that is sent, and its token count: `12 KB · 3,400 tokens`."""
    part = _part_line(attachment.begins, attachment.ends, len(attachment.text))
    return join_facts((wording.size(attachment.size), part, _tokens(attachment)))


def _tokens(attachment: Attachment) -> str:
    """Return how many tokens an attachment takes; empty if that is not known."""
    tokens = tr("1 token|{count} tokens", "", attachment.tokens).format(count=wording.count(attachment.tokens))
    return tokens if attachment.tokens else ""


def _part_line(begins: int, ends: int, length: int) -> str:
    """Return which part of a text is sent; empty if it is the whole one."""
    if (begins, ends) == (0, length):
        return ""
    if begins == 0:
        part = tr("first {percent} %")
    else:
        part = tr("last {percent} %") if ends == length else tr("{percent} % of it")
    return part.format(percent=f"{100 * (ends - begins) / length:.0f}")
