"""The list of requests to the local server: its Qt model, and the delegate that draws its rows."""

import time
from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from sotto.api.request_log import RequestRecord, Stage
from sotto.ui.state import wording
from sotto.ui.state.names import join_facts, short_name
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import plain_tip

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
OUTCOME, DETAILS = ROW + 1, ROW + 2
_SHOWN_ROWS = 5
_STAGES = {
    Stage.WORKING: QT_TR_NOOP("Working"),
    Stage.QUEUED: QT_TR_NOOP("Queued"),
    Stage.READING: QT_TR_NOOP("Reading"),
    Stage.WRITING: QT_TR_NOOP("Writing"),
}


class RequestModel(QAbstractListModel):
    """The rows of the list: a request each, first those that are under way.

    Attributes:
        rows: The requests.
    """

    def __init__(self) -> None:
        """Begin without rows."""
        super().__init__()
        self.rows: list[RequestRecord] = []
        # What is said about the rows, which is not translated again for each paint.
        self._texts: dict[int, tuple[str, str]] = {}

    def show_requests(self, requests: Sequence[RequestRecord]) -> None:
        """Replace the requests; the view keeps its place among those that remain."""
        texts = _texts(requests)
        self._texts |= texts
        ended = {request.number: request.ended for request in self.rows}
        # A request that has ended moves to the others that have; the order of the rest does not change.
        kept = {request.number for request in requests if ended.get(request.number) == request.ended}
        for row in reversed(range(len(self.rows))):
            if self.rows[row].number not in kept:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self.rows[row]
                self.endRemoveRows()
        for row, request in enumerate(requests):
            if request.number in kept:
                self.rows[row] = request
            else:
                self.beginInsertRows(QModelIndex(), row, row)
                self.rows.insert(row, request)
                self.endInsertRows()
        self._texts = texts
        self._redraw(len(self.rows))

    def show_time(self) -> None:
        """Update how long the requests under way have taken."""
        under_way = [request for request in self.rows if not request.ended]
        self._texts |= _texts(under_way)
        self._redraw(len(under_way))

    def _redraw(self, count: int) -> None:
        if count:
            self.dataChanged.emit(self.index(0), self.index(count - 1))

    def row_of(self, number: int) -> int | None:
        """Return the row of a request; None if it is not listed."""
        return next((row for row, request in enumerate(self.rows) if request.number == number), None)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a request, its first line, its outcome, its details, its tip or its accessible text."""
        request = self.rows[index.row()]
        ended, more = self._texts[request.number]
        if role == ROW:
            return request
        if role == OUTCOME:
            return ended
        if role == DETAILS:
            return more
        if role == Qt.ItemDataRole.DisplayRole:
            return title(request)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{title(request)}\n{ended}\n{more}")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{title(request)}, {ended}, {more}"
        return None


def _texts(requests: Sequence[RequestRecord]) -> dict[int, tuple[str, str]]:
    """Return the outcomes and details of requests by their numbers."""
    return {request.number: (outcome(request), details(request)) for request in requests}


def title(request: RequestRecord) -> str:
    """Return the first line of a row: method and path."""
    return f"{request.method} {request.path}"


def outcome(request: RequestRecord) -> str:
    """Return what a request is doing, or how it ended."""
    if not request.ended:
        return tr(_STAGES[request.stage])
    if request.cancelled:
        return tr("Cancelled")
    known = request.status in HTTPStatus.__members__.values()
    return f"{request.status} {HTTPStatus(request.status).phrase}" if known else str(request.status)


def details(request: RequestRecord) -> str:
    """Return the second line of a row: when it arrived, how long it took, its tokens and its model."""
    taken = request.seconds if request.ended else time.monotonic() - request.began
    parts = [
        f"{datetime.fromtimestamp(request.arrived):%H:%M:%S}",
        wording.seconds(round(taken * 1e9)) if request.ended else wording.duration(taken),
        _tokens(request),
        short_name(request.model) if request.model else "",
    ]
    return join_facts(parts)


def _tokens(request: RequestRecord) -> str:
    read, written = request.prompt_tokens, request.answer_tokens
    if written:
        text = tr("{read} → 1 token|{read} → {written} tokens", "", written)
        return text.format(read=wording.count(read), written=wording.count(written))
    return tr("1 token|{count} tokens", "", read).format(count=wording.count(read)) if read else ""


class RequestDelegate(QStyledItemDelegate):
    """Draws a row: method and path with the outcome at the end, and below them the details."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a row."""
        request, appearance = index.data(ROW), theme.current()
        tokens = appearance.tokens
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(tokens.accent))
            painter.drawRoundedRect(option.rect.toRectF().adjusted(0.5, 1.5, -0.5, -1.5), 7, 7)
        first, small = appearance.font(), appearance.font(0.88)
        inside = option.rect.adjusted(theme.GAP_8, theme.GAP_4 + 2, -theme.GAP_8, 0)
        line = QRect(inside.left(), inside.top(), inside.width(), QFontMetrics(first).height())
        end = index.data(OUTCOME)
        room = line.width() - QFontMetrics(small).horizontalAdvance(end) - theme.GAP_12
        middle = Qt.AlignmentFlag.AlignVCenter.value
        far = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignRight).value
        near = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeft).value
        painter.setFont(first)
        painter.setPen(QColor(tokens.text))
        painter.drawText(line, near | middle, _elided(title(request), QFontMetrics(first), room))
        painter.setFont(small)
        painter.setPen(QColor(_outcome_color(request)))
        painter.drawText(line, far | middle, end)
        below = QRect(line.left(), line.bottom() + 2, line.width(), QFontMetrics(small).height())
        painter.setPen(QColor(tokens.muted))
        painter.drawText(below, near | middle, _elided(index.data(DETAILS), QFontMetrics(small), line.width()))
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of two lines."""
        return QSize(0, row_height())


def row_height() -> int:
    """Return the height of a row in pixels."""
    appearance = theme.current()
    lines = QFontMetrics(appearance.font()).height() + QFontMetrics(appearance.font(0.88)).height()
    return lines + 2 * theme.GAP_4 + 4


def _elided(text: str, metrics: QFontMetrics, room: int) -> str:
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)


def _outcome_color(request: RequestRecord) -> str:
    tokens = theme.current().tokens
    if not request.ended:
        return tokens.accent_text
    failed = request.status >= HTTPStatus.BAD_REQUEST and not request.cancelled
    return tokens.alert if failed else tokens.muted


class RequestList(QListView):
    """The list; only its current row is marked, as nothing can be done with a request."""

    def __init__(self) -> None:
        """Create an empty list."""
        super().__init__()
        self.setObjectName("requests")
        self.setAccessibleName(tr("Requests"))
        self.rows = RequestModel()
        self.setModel(self.rows)
        self.setItemDelegate(RequestDelegate(self))
        self.setSelectionMode(QListView.SelectionMode.NoSelection)
        # Hundreds of rows are laid out several times a second.
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QListView.Shape.NoFrame)

    def show_requests(self, requests: Sequence[RequestRecord]) -> None:
        """Replace the requests; the current row stays with its request."""
        current = self.currentIndex().data(ROW)
        self.rows.show_requests(requests)
        row = self.rows.row_of(current.number) if current is not None else None
        if row is not None:
            self.setCurrentIndex(self.rows.index(row))

    def sizeHint(self) -> QSize:
        """Return the height of a few rows."""
        return QSize(super().sizeHint().width(), _SHOWN_ROWS * row_height())

    def minimumSizeHint(self) -> QSize:
        """Return the height of one row."""
        return QSize(0, row_height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave letters to the composer."""
        if event.text().isprintable() and event.text().strip():
            event.ignore()
        else:
            super().keyPressEvent(event)
