"""The bar over a block of code: its language, a switch for wrapping lines, and a button to copy it."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sotto.ui.markdown.code_lexer import language_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton

RADIUS = 8.0


class CodeHeader(QWidget):
    """A bar over a block of code that stays in view as long as any of the code is.

    Signals:
        copy_wanted: The person wants to copy the code.
        wrap_wanted: The person switched the wrapping of long lines on or off.
    """

    copy_wanted = Signal()
    wrap_wanted = Signal(bool)

    def __init__(self, parent: QWidget, language: str, wrapped: bool) -> None:
        """Create a bar in `parent` for code in `language`."""
        super().__init__(parent)
        self.setObjectName("codeHeader")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._stuck = False
        name = language_name(language)
        self.setAccessibleName(tr("Code in {language}").format(language=name) if name else tr("Code"))
        self.language = ElidedLabel(name or tr("Code"), "caption")
        self.wrap = IconButton("wrap", tr("Wrap lines"), tip=tr("Wrap long lines"))
        self.wrap.setCheckable(True)
        self.wrap.setChecked(wrapped)
        self.copy = IconButton("copy", tr("Copy code"), tr("Copy"))
        self.wrap.toggled.connect(self.wrap_wanted)
        self.copy.clicked.connect(self.copy_wanted)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.margins(theme.GAP_12, 0, theme.GAP_8, 0))
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.language, 1)
        layout.addWidget(self.wrap)
        layout.addWidget(self.copy)

    def confirm(self) -> None:
        """Show for a moment that the code was copied."""
        self.copy.confirm("check", tr("Copied"))

    def stand(self, area: QRectF, stuck: bool) -> None:
        """Move to `area`; `stuck` means that the bar covers lines of its own code there."""
        self.setGeometry(area.toAlignedRect())
        if stuck != self._stuck:
            self._stuck = stuck
            self.update()
        self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw an opaque background and a line below."""
        tokens = theme.current().tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        path = QPainterPath()
        if self._stuck:
            painter.fillRect(self.rect(), QColor(tokens.page))
        path.moveTo(area.left(), area.bottom() + 1)
        path.lineTo(area.left(), area.top() + RADIUS)
        path.quadTo(area.left(), area.top(), area.left() + RADIUS, area.top())
        path.lineTo(area.right() - RADIUS, area.top())
        path.quadTo(area.right(), area.top(), area.right(), area.top() + RADIUS)
        path.lineTo(area.right(), area.bottom() + 1)
        painter.setPen(QPen(QColor(tokens.line), 1))
        painter.setBrush(QColor(tokens.code))
        painter.drawPath(path)
        painter.drawLine(area.bottomLeft(), area.bottomRight())
