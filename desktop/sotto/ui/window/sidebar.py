"""The sidebar: the app's name, search, the conversations, the models, and the memory gauge."""

from PySide6.QtCore import QByteArray, QEvent, QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSplitter,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from sotto.chats.chat_records import Folder, Shelf
from sotto.paths import resources_dir
from sotto.ui.conversation.chat_library import ChatEntry
from sotto.ui.models.memory_gauge import MemoryGauge
from sotto.ui.models.model_panel import ModelPanel
from sotto.ui.models.model_row import ModelRow
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.widgets import Label
from sotto.ui.window.chat_list import ChatList

WIDTH = 288
_BELOW_BRAND = theme.GAP_12


class Sidebar(QFrame):
    """Every conversation, and every model on this machine; scrolled as a whole where even its least has no room.

    Signals:
        searched: This is looked for.
    """

    searched = Signal(str)

    def __init__(self, models: ModelPanel) -> None:
        """Show empty lists, that of models being `models`."""
        super().__init__()
        self.setObjectName("sidebar")
        self.models = models
        self.search = QLineEdit()
        self.search.setObjectName("search")
        self.search.setPlaceholderText("Search chats and models")
        self.search.setAccessibleName("Search chats and models")
        self.search.setClearButtonEnabled(True)
        self.search.setAcceptDrops(False)
        self._glass = self.search.addAction(
            icons.icon("search", theme.current().tokens.muted), QLineEdit.ActionPosition.LeadingPosition
        )
        self.search.textChanged.connect(models.look_for)
        self.search.textChanged.connect(self.searched)
        self.gauge = MemoryGauge()
        self.chats = ChatList()
        # There is room for it once there is a conversation.
        self.chats.hide()
        self._body = QWidget()
        self._body.setObjectName("sidebarBody")
        self._mark, self._name = _Mark(), Label("Sotto", "brand")
        self._column = layout = QVBoxLayout(self._body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._top())
        lists = QSplitter(Qt.Orientation.Vertical)
        lists.setObjectName("lists")
        lists.setChildrenCollapsible(False)
        lists.addWidget(self.chats)
        lists.addWidget(models)
        lists.splitterMoved.connect(self._leave_lists)
        self._lists, self._divides = lists, True
        self.chats.installEventFilter(self)
        lists.installEventFilter(self)
        layout.addWidget(lists, 1)
        layout.addWidget(self.gauge)
        self._body.installEventFilter(self)
        self._area = Scroller(self._body)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self._area)
        theme.current().changed.connect(self._dress)
        self._dress()

    def _top(self) -> QVBoxLayout:
        brand = QHBoxLayout()
        brand.setSpacing(theme.GAP_8)
        brand.addWidget(self._mark)
        brand.addWidget(self._name)
        brand.addStretch(1)
        top = QVBoxLayout()
        top.setContentsMargins(theme.GAP_16, theme.GAP_16, theme.GAP_16, theme.GAP_8)
        top.setSpacing(_BELOW_BRAND)
        top.addLayout(brand)
        top.addWidget(self.search)
        return top

    @property
    def rows(self) -> list[ModelRow]:
        """The rows of models, in order."""
        return self.models.rows

    def show_chats(self, entries: tuple[ChatEntry, ...], folders: tuple[Folder, ...], shelf: Shelf) -> None:
        """Show these conversations; before the first one the models have all the room."""
        searched = bool(self.search.text().strip())
        self.chats.show_entries(entries, shelf, folders=folders, searched=searched)
        if entries or folders or shelf is not Shelf.CURRENT:
            self.chats.show()
        self._divide()

    def _divide(self) -> None:
        """Give the conversations as much room as they need, up to half of it, until a person says otherwise."""
        room = self._lists.height()
        if self._divides and not self.chats.isHidden() and room > 0:
            self.chats.ensurePolished()
            needed = min(self.chats.sizeHint().height(), room // 2)
            self._lists.setSizes([needed, room - needed])

    def _fold(self) -> None:
        """Leave out what has no room beside the lists: the parts of the memory first, then the name of the app."""
        brand = max(self._mark.height(), self._name.sizeHint().height()) + _BELOW_BRAND
        legends = self.gauge.legends_height
        least = self._column.minimumSize().height()
        least -= (0 if self._name.isHidden() else brand) + (legends if self.gauge.whole else 0)
        room = self.height() - least
        for part in (self._mark, self._name):
            part.setVisible(room >= brand)
        self.gauge.show_legends(room >= brand + legends)

    def sizeHint(self) -> QSize:
        """Return the width that the text in force asks for."""
        return QSize(self.maximumWidth(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the width at which nothing is cut off."""
        return QSize(self._body.minimumSizeHint().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See what there is room for."""
        super().resizeEvent(event)
        self._fold()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Divide the room anew when there is more or less of it, as the gauge grows, or the conversations need it."""
        if watched is self._body and event.type() == QEvent.Type.LayoutRequest:
            self._fold()
        wants = watched is self.chats and event.type() == QEvent.Type.LayoutRequest
        if wants or (watched is self._lists and event.type() == QEvent.Type.Resize):
            QTimer.singleShot(0, self, self._divide)
        return super().eventFilter(watched, event)

    def _leave_lists(self) -> None:
        self._divides = False

    def _dress(self) -> None:
        self.setMaximumWidth(max(WIDTH, min(theme.current().scaled(WIDTH), round(1.5 * WIDTH))))
        edge = self.search.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize)
        self._glass.setIcon(icons.icon("search", theme.current().tokens.muted, edge=edge))


class _Mark(QWidget):
    """The app's picture, small."""

    def __init__(self) -> None:
        super().__init__()
        self._renderer = QSvgRenderer(QByteArray((resources_dir() / "icons" / "sotto.svg").read_bytes()))
        self.setFixedSize(26, 26)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._renderer.render(QPainter(self), QRectF(self.rect()).adjusted(-2, -2, 2, 2))
