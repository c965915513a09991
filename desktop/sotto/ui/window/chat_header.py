"""The header of a conversation: the model that answers, and buttons for the chat's settings and a new chat."""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout

from sotto.store.records import ModelRecord
from sotto.ui.models.state_line import state_line
from sotto.ui.state.model_state import ModelState
from sotto.ui.state.names import model_name, short_name
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import ElidedLabel, IconButton, TextButton, plain_tip

_CHEVRON = 14


class Header(QFrame):
    """The name and the state of the model, which opens the list of models, and buttons.

    Signals:
        switch_wanted: The user wants to return to the model that answered in this conversation (`ModelRecord`).
    """

    switch_wanted = Signal(object)

    def __init__(self) -> None:
        """Show that no model is in use."""
        super().__init__()
        self.setObjectName("header")
        self._other: ModelRecord | None = None
        self.title = ModelButton()
        self.line = ElidedLabel("", "caption")
        self.switch = TextButton("", "outlined", tr("Switch model"))
        self.switch.clicked.connect(lambda: self.switch_wanted.emit(self._other))
        self.switch.hide()
        self.choices = IconButton("sliders", tr("Chat settings"), role="", color="text")
        self.new_chat = IconButton(
            "new", tr("New chat"), tr("New chat"), role="", color="text", tip=tr("Start a new chat")
        )
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addWidget(self.title, 0, Qt.AlignmentFlag.AlignLeft)
        texts.addWidget(self.line)
        self._layout = layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.margins(theme.GAP_24, theme.GAP_8, theme.GAP_16, theme.GAP_8))
        layout.addLayout(texts, 1)
        layout.addWidget(self.switch)
        layout.addWidget(self.choices)
        layout.addWidget(self.new_chat)
        self.show_state(ModelState())

    def begin_with(self, button: IconButton) -> None:
        """Put a button before the name."""
        self._layout.insertWidget(0, button)

    def show_state(self, state: ModelState) -> None:
        """Show the state of the model in use."""
        self.title.setText(model_name(state.record.name) if state.record else tr("Choose a model"))
        self.line.setText(state_line(state))

    def show_other(self, record: ModelRecord | None) -> None:
        """Offer to return to the model that answered in this conversation; None if it is the one in use."""
        self._other = record
        self.switch.setVisible(record is not None)
        if record is not None:
            self.switch.setText(tr("Switch to {model}").format(model=short_name(record.name)))
            tip = tr("{model} answered last in this chat").format(model=model_name(record.name))
            self.switch.setToolTip(plain_tip(tip))


class ModelButton(QAbstractButton):
    """The name of the model in use with a chevron, shortened if there is no room for all of it."""

    def __init__(self) -> None:
        """Show no name."""
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setToolTip(tr("Choose another model"))
        theme.current().changed.connect(self.updateGeometry)

    def setText(self, text: str) -> None:
        """Set the name of the model."""
        if text != self.text():
            super().setText(text)
            self.setAccessibleName(tr("Model: {name}").format(name=text))
            self.updateGeometry()

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(_font())

    def sizeHint(self) -> QSize:
        """Return the size of the whole name."""
        metrics, edge = self._metrics(), theme.current().scaled(_CHEVRON)
        return QSize(metrics.horizontalAdvance(self.text()) + 2 * theme.GAP_4 + edge + 2, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        """Return the size of the chevron, so that the name gives way to the buttons."""
        return QSize(theme.current().scaled(_CHEVRON) + 2 * theme.GAP_4, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the name and the chevron."""
        tokens, edge = theme.current().tokens, theme.current().scaled(_CHEVRON)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # The ground extends to the left of the text, which stays in line with what is below it.
        if self.underMouse() or self.isDown() or self.hasFocus():
            line = QPen(QColor(tokens.accent), 1) if self.hasFocus() else QPen(Qt.PenStyle.NoPen)
            painter.setPen(line)
            painter.setBrush(QColor(tokens.hover) if self.underMouse() or self.isDown() else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setFont(_font())
        painter.setPen(QColor(tokens.text))
        room = QRect(0, 0, self.width() - edge - theme.GAP_4, self.height())
        text = self._metrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room.width())
        end = self._metrics().horizontalAdvance(text) + theme.GAP_4
        place = QRectF(QPointF(end, (self.height() - edge) / 2), QPointF(end + edge, (self.height() + edge) / 2))
        if self.isRightToLeft():
            room.moveRight(self.width())
            place.moveRight(self.width() - place.left())
        side = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute, text)
        icons.paint(painter, "down", tokens.muted, place)


def _font() -> QFont:
    return theme.current().font(1.0, QFont.Weight.DemiBold)
