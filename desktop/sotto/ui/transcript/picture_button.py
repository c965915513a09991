"""A thumbnail of an image that can be pressed to see it whole."""

from PySide6.QtCore import QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton

from sotto.ui.conversation.pictures import thumbnails
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import plain_tip

_RADIUS = 7


class PictureButton(QAbstractButton):
    """A square filled by a thumbnail, which may come later, or by a sign that there is none."""

    def __init__(self, digest: str, name: str, edge: int) -> None:
        """Show an image.

        Args:
            digest: Its digest.
            name: The name of its file.
            edge: The length of a side at the usual size of text, in pixels.
        """
        super().__init__()
        self.digest, self._name, self._edge = digest, name, edge
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        thumbnails.current().ready.connect(self._follow)
        theme.current().changed.connect(self._fit)
        self._describe()
        self._fit()

    @Slot(str)
    def _follow(self, digest: str) -> None:
        if digest == self.digest:
            self._describe()
            self.update()

    @Slot()
    def _fit(self) -> None:
        edge = theme.current().scaled(self._edge)
        self.setFixedSize(QSize(edge, edge))
        self.update()

    def _describe(self) -> None:
        failure = thumbnails.current().failure(self.digest)
        described = failure or tr("Image {name}").format(name=self._name)
        self.setAccessibleName(described)
        self.setAccessibleDescription("" if failure else tr("Shows it whole"))
        self.setToolTip(plain_tip(failure or self._name))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the button on Enter, too."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the middle of the thumbnail as large as the square."""
        tokens = theme.current().tokens
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        outline = QPainterPath()
        outline.addRoundedRect(area, _RADIUS, _RADIUS)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), QColor(tokens.code))
        pixmap = thumbnails.current().pixmap(self.digest)
        if not pixmap.isNull():
            # Downwards in one step, which stays sharp: the thumbnail is at most a few times larger.
            ratio = self.devicePixelRatioF()
            scaled = pixmap.scaled(
                self.size() * ratio,
                Qt.AspectRatioMode.KeepAspectRatioByExpanding,
                Qt.TransformationMode.SmoothTransformation,
            )
            size = scaled.size() / ratio
            target = QRectF(0, 0, size.width(), size.height())
            target.moveCenter(area.center())
            painter.drawPixmap(target, scaled, QRectF(scaled.rect()))
        elif thumbnails.current().failure(self.digest):
            edge = min(self.width() // 2, theme.current().scaled(20))
            sign = icons.icon("alert", tokens.alert, tokens.faint, edge).pixmap(edge, edge)
            painter.drawPixmap((self.width() - edge) // 2, (self.height() - edge) // 2, sign)
        painter.setClipping(False)
        focused = self.hasFocus()
        painter.setPen(
            QPen(QColor(tokens.accent if focused or self.underMouse() else tokens.edge), 2 if focused else 1)
        )
        painter.drawPath(outline)
