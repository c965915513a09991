"""A window that shows an image whole."""

from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPixmap,
    QShortcut,
    QWheelEvent,
)
from PySide6.QtWidgets import QDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sotto.chats.chat_records import Attachment
from sotto.ui.conversation.pictures.chat_images import ChatImages
from sotto.ui.state import wording
from sotto.ui.state.names import join_facts
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, Label

_STEP = 1.25
_LARGEST, _SMALLEST = 8.0, 0.05
_SHARE, _LEAST = 0.85, QSize(720, 540)


class PictureViewer(QDialog):
    """Shows an image in the size that fits the window, or in any other.

    Attributes:
        scale: Pixels of the screen per pixel of the image.
        fits: Whether the image follows the size of the window.
        image: The image; a null one until it is decoded.
    """

    def __init__(self, attachment: Attachment, images: ChatImages, parent: QWidget) -> None:
        """Begin to decode an image, which appears when it is there.

        Args:
            attachment: The image.
            images: Decodes it.
            parent: The window to open over.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(attachment.name)
        self._attachment, self._images = attachment, images
        self.image, self.scale, self.fits = QImage(), 1.0, True
        self.line = ElidedLabel(attachment.name, "muted")
        self.zoom_out = IconButton("minus", tr("Zoom out"))
        self.zoom_in = IconButton("plus", tr("Zoom in"))
        self.fit = IconButton("fit", tr("Zoom to fit"))
        self.copy = IconButton("copy", tr("Copy image"))
        self.save = IconButton("drop", tr("Save image as…"))
        self.message = Label(tr("Opening…"), "muted", wrap=True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.canvas = _Canvas()
        self.canvas.setAccessibleName(tr("Image {name}").format(name=attachment.name))
        self.canvas.zoomed.connect(self.zoom)
        self.area = QScrollArea()
        self.area.setObjectName("viewer")
        self.area.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.area.setWidget(self.canvas)
        self.area.hide()
        head = QHBoxLayout()
        head.setSpacing(theme.GAP_4)
        head.addWidget(self.line, 1)
        for button in (self.zoom_out, self.zoom_in, self.fit, self.copy, self.save):
            head.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_12, theme.GAP_8, theme.GAP_12, theme.GAP_12)
        layout.setSpacing(theme.GAP_8)
        layout.addLayout(head)
        layout.addWidget(self.message, 1)
        layout.addWidget(self.area, 1)
        self._connect()
        self._enable(shown=False)
        wanted = (parent.window().size() * _SHARE).expandedTo(_LEAST)
        self.resize(wanted.boundedTo(parent.screen().availableSize() * _SHARE))
        images.decode(attachment.image, attachment.name, self._show_image, self._show_failure, self)

    def _connect(self) -> None:
        self.zoom_out.clicked.connect(lambda: self.zoom(1 / _STEP))
        self.zoom_in.clicked.connect(lambda: self.zoom(_STEP))
        self.fit.clicked.connect(self.zoom_to_fit)
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(self._choose_file)
        keys = (
            (QKeySequence.StandardKey.ZoomIn, self.zoom_in),
            (QKeySequence.StandardKey.ZoomOut, self.zoom_out),
            (QKeySequence("Ctrl+0"), self.fit),
            (QKeySequence.StandardKey.Copy, self.copy),
            (QKeySequence.StandardKey.Save, self.save),
        )
        for key, button in keys:
            QShortcut(QKeySequence(key), self, button.click)

    def zoom(self, factor: float) -> None:
        """Show the image larger or smaller by a factor, around the middle of what is in view."""
        self.fits = False
        self._set_scale(min(_LARGEST, max(min(_SMALLEST, self._fitting), self.scale * factor)))

    @Slot()
    def zoom_to_fit(self) -> None:
        """Show the whole image, in its own size if there is room for that."""
        self.fits = True
        self._set_scale(self._fitting)

    @property
    def _fitting(self) -> float:
        room, size = self.area.maximumViewportSize(), self.image.size()
        if size.isEmpty() or room.isEmpty():
            return 1.0
        ratio = self.devicePixelRatioF()
        return min(1.0 / ratio, room.width() / size.width(), room.height() / size.height())

    def _set_scale(self, scale: float) -> None:
        horizontal, vertical = self.area.horizontalScrollBar(), self.area.verticalScrollBar()
        middle = QPointF(
            (horizontal.value() + self.area.viewport().width() / 2) / max(1, self.canvas.width()),
            (vertical.value() + self.area.viewport().height() / 2) / max(1, self.canvas.height()),
        )
        self.scale = scale
        self.canvas.resize((self.image.size().toSizeF() * scale).toSize().expandedTo(QSize(1, 1)))
        horizontal.setValue(round(middle.x() * self.canvas.width() - self.area.viewport().width() / 2))
        vertical.setValue(round(middle.y() * self.canvas.height() - self.area.viewport().height() / 2))

    def _enable(self, *, shown: bool) -> None:
        for button in (self.zoom_out, self.zoom_in, self.fit, self.copy):
            button.setEnabled(shown)

    def _show_image(self, image: QImage) -> None:
        self.image = image
        size = f"{image.width():,} × {image.height():,}"
        self.line.setText(join_facts((self._attachment.name, size, wording.size(self._attachment.size))))
        self.canvas.pixmap = QPixmap.fromImage(image)
        self.message.hide()
        self.area.show()
        self.area.setFocus()
        self._enable(shown=True)
        self.zoom_to_fit()

    def _show_failure(self, why: str) -> None:
        self.message.setText(why)
        self.message.setAccessibleName(why)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setImage(self.image)
        self.copy.confirm("check", tr("Copied"))

    @Slot()
    def _choose_file(self) -> None:
        dialog = FileDialog(self, tr("Save image as"))
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(Path(self._attachment.name).name)
        dialog.fileSelected.connect(lambda path: self._save(Path(path)))
        dialog.open()

    def _save(self, path: Path) -> None:
        """Write the file of the image as it came."""
        self._images.save(
            self._attachment.image,
            path,
            lambda _: self.save.confirm("check", tr("Saved")),
            lambda why: self.line.setText(why),
            self,
        )

    def resizeEvent(self, event: object) -> None:
        """Keep an image that fits fitting."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        if self.fits and not self.image.isNull():
            self.zoom_to_fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom with plus, minus and zero alone, too."""
        button = {"+": self.zoom_in, "=": self.zoom_in, "-": self.zoom_out, "0": self.fit}.get(event.text())
        if button is not None:
            button.click()
        else:
            super().keyPressEvent(event)


class _Canvas(QWidget):
    """The image itself, as large as it is shown.

    Signals:
        zoomed: The wheel was turned with Ctrl (the factor).

    Attributes:
        pixmap: The image.
    """

    zoomed = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.pixmap = QPixmap()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the part that is in view."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.width() < 2 * self.pixmap.width())
        painter.fillRect(event.rect(), QColor(theme.current().tokens.code))
        if not self.pixmap.isNull():
            target = QRectF(event.rect())
            factor = self.pixmap.width() / self.width()
            source = QRectF(target.topLeft() * factor, target.size() * factor)
            painter.drawPixmap(target, self.pixmap, source)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom if Ctrl is held, and scroll otherwise."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and event.angleDelta().y():
            self.zoomed.emit(_STEP if event.angleDelta().y() > 0 else 1 / _STEP)
            event.accept()
        else:
            super().wheelEvent(event)
