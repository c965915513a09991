"""Chips for attachments: name, size and token count, with buttons to see, remove or shorten them."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal, Slot
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


# The name of what a chip shows, the digest of an image (empty for a document; None while it is read), and how many with
# the same name and digest are before it.
_Key = tuple[str, str | None, int]


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
        self._shown: dict[_Key, AttachmentChip] = {}
        theme.current().changed.connect(self._renew)
        self.hide()

    @property
    def chips(self) -> list[AttachmentChip]:
        """The chips of the attachments, and then those of the files that are being read."""
        return [*self._shown.values()]

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Show the attachments of the draft."""
        self._attachments = attachments
        self._show()

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

    @Slot()
    def _renew(self) -> None:
        self._show(anew=True)

    def _show(self, *, anew: bool = False) -> None:
        """Show a chip for everything; those of what is shown already stay, as one may be pressed or have the focus."""
        focused = next((at for at, chip in enumerate(self.chips) if chip.isAncestorOf(self.focusWidget())), None)
        before, keys = [*self._shown], _keys(self._attachments, self._pending)
        spare = {} if anew else {key: chip for key, chip in self._shown.items() if key in keys}
        gone = [chip for key, chip in self._shown.items() if key not in spare]
        self._shown = {key: spare.get(key) or self._chip(key) for key in keys}
        if anew or before != keys:
            for chip in (*gone, *spare.values()):
                self._flow.removeWidget(chip)
            for chip in gone:
                chip.hide()
                chip.deleteLater()
            for chip in self.chips:
                self._flow.addWidget(chip)
        for chip, attachment in zip(self.chips, self._attachments, strict=False):
            chip.show_line(_attachment_line(attachment))
        if focused is not None and before[focused] not in spare and keys:
            self.chips[_successor(before[focused], focused, keys)].remove.setFocus()
        self.setVisible(bool(keys))
        self.updateGeometry()

    def _chip(self, key: _Key) -> AttachmentChip:
        name, image, _ = key
        divisible = self._divisible and image == ""
        chip = AttachmentChip(name, tr("Reading…"), image=image or "", removable=True, divisible=divisible)
        chip.opened.connect(self._open)
        chip.removed.connect(self._remove)
        chip.parts_wanted.connect(self._show_parts)
        return chip

    @Slot()
    def _open(self) -> None:
        self.image_wanted.emit(self._attachments[self._clicked()])

    @Slot()
    def _remove(self) -> None:
        index, attached = self._clicked(), len(self._attachments)
        if index < attached:
            self.remove_wanted.emit(index)
        else:
            self.stop_wanted.emit(index - attached)

    @Slot(QPoint)
    def _show_parts(self, at: QPoint) -> None:
        popup(self.parts_menu(self._clicked()), at)

    def _clicked(self) -> int:
        """Return the index of the chip whose signal is being handled."""
        return next(index for index, chip in enumerate(self.chips) if chip is self.sender())


def _keys(attachments: Sequence[Attachment], pending: Sequence[str]) -> list[_Key]:
    """Return a key for each attachment and each file that is being read, none of them twice."""
    shown: list[tuple[str, str | None]] = [(each.name, each.image) for each in attachments]
    shown += [(name, None) for name in pending]
    return [(*each, shown[:index].count(each)) for index, each in enumerate(shown)]


def _successor(lost: _Key, index: int, keys: Sequence[_Key]) -> int:
    """Return which chip gets the focus of one that is gone: of the same, of what was read, or in its place."""
    name, image, _ = lost
    if lost in keys:
        return keys.index(lost)
    if image is None:
        read = [at for at, key in enumerate(keys) if key[0] == name and key[1] is not None]
        return read[-1] if read else min(index, len(keys) - 1)
    return min(index, len(keys) - 1)


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
