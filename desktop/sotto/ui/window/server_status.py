"""The line at the foot of the sidebar that says whether the local server is on."""

from urllib.parse import urlsplit

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QStyle

from sotto.ui.session.api_switch import ApiState
from sotto.ui.state import wording
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import plain_tip

_DOT = 8


class ServerStatus(QAbstractButton):
    """A dot and a few words, which open the card of the server."""

    def __init__(self) -> None:
        """Show that the server is off."""
        super().__init__()
        self._color = ""
        self._requests = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.current().changed.connect(self.updateGeometry)
        self.show_state(ApiState(), enabled=False, requests=0)

    def show_state(self, state: ApiState, *, enabled: bool, requests: int) -> None:
        """Show the state of the server.

        Args:
            state: Its address, or why it could not start.
            enabled: Whether the user wants it to run.
            requests: How many requests are under way.
        """
        where = state.address
        if not enabled:
            self._color, text = "", tr("Server off")
        elif state.problem:
            self._color, text = "alert", tr("Server could not start")
        elif state.address:
            self._color, text = "good", tr("Server on :{port}").format(port=urlsplit(state.address).port)
        else:
            self._color, text = "", tr("Server starting…")
        under_way = tr("1 request|{count} requests", "", requests).format(count=wording.count(requests))
        self._requests = under_way if requests else ""
        self.setText(text)
        self.setAccessibleName(", ".join(filter(None, (text, self._requests))))
        self.setToolTip(plain_tip(state.problem or where))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a line of small print."""
        return QSize(0, QFontMetrics(theme.current().font(0.88)).height() + 2 * theme.GAP_8)

    def minimumSizeHint(self) -> QSize:
        """Ask for no width, as the text can be shortened."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the dot, the text, and the number of requests at the end."""
        tokens, painter = theme.current().tokens, QPainter(self)
        painter.setPen(QColor(tokens.line))
        painter.drawLine(0, 0, self.width(), 0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        inside = self.rect().adjusted(theme.GAP_8, theme.GAP_4, -theme.GAP_8, -theme.GAP_4)
        if self.underMouse() or self.isDown() or self.hasFocus():
            painter.setPen(QPen(QColor(tokens.accent), 1) if self.hasFocus() else QPen(Qt.PenStyle.NoPen))
            painter.setBrush(QColor(tokens.hover) if self.underMouse() or self.isDown() else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(inside.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        line = inside.adjusted(theme.GAP_8, 0, -theme.GAP_8, 0)
        self._paint_dot(painter, self._mirrored(QRect(line.left(), line.top(), _DOT, line.height())))
        metrics = QFontMetrics(theme.current().font(0.88))
        painter.setFont(theme.current().font(0.88))
        painter.setPen(QColor(tokens.accent_text))
        painter.drawText(line, self._aligned(Qt.AlignmentFlag.AlignRight), self._requests)
        taken = metrics.horizontalAdvance(self._requests) + theme.GAP_8 if self._requests else 0
        room = line.adjusted(_DOT + theme.GAP_8, 0, -taken, 0)
        painter.setPen(QColor(tokens.alert if self._color == "alert" else tokens.muted))
        text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(self._mirrored(room), self._aligned(Qt.AlignmentFlag.AlignLeft), text)

    def _paint_dot(self, painter: QPainter, place: QRect) -> None:
        tokens, middle = theme.current().tokens, QPointF(place.toRectF().center())
        if self._color:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(getattr(tokens, self._color)))
            painter.drawEllipse(middle, _DOT / 2, _DOT / 2)
        else:
            painter.setPen(QPen(QColor(tokens.faint), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(middle, _DOT / 2 - 0.75, _DOT / 2 - 0.75)

    def _mirrored(self, place: QRect) -> QRect:
        return QStyle.visualRect(self.layoutDirection(), self.rect(), place)

    def _aligned(self, side: Qt.AlignmentFlag) -> int:
        return QStyle.visualAlignment(self.layoutDirection(), side).value | Qt.AlignmentFlag.AlignVCenter.value
