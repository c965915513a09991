"""The sidebar: the search field, the conversations, the models, the memory gauge, and the state of the server."""

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
from sotto.ui.toolkit.widgets import EscapableLineEdit, Label
from sotto.ui.window.chat_list import ChatList
from sotto.ui.window.server_status import ServerStatus

WIDTH = 288
_BELOW_BRAND = theme.GAP_12


class Sidebar(QFrame):
    """The lists of conversations and models; it scrolls as a whole if the window is too low for them.

    Signals:
        searched: The text in the search field has changed.
        left: The user is done with the search; the conversation should take the focus.
    """

    searched = Signal(str)
    left = Signal()

    def __init__(self, models: ModelPanel) -> None:
        """Show empty lists; `models` is the list of models."""
        super().__init__()
        self.setObjectName("sidebar")
        self.models = models
        self.search = EscapableLineEdit("Search chats and models")
        self.search.setObjectName("search")
        self.search.setClearButtonEnabled(True)
        self.search.escaped.connect(self._leave_search)
        self._search_icon = self.search.addAction(
            icons.icon("search", theme.current().tokens.muted), QLineEdit.ActionPosition.LeadingPosition
        )
        self.search.textChanged.connect(models.filter)
        self.search.textChanged.connect(self.searched)
        self.gauge = MemoryGauge()
        self.server = ServerStatus()
        self.chats = ChatList()
        # Shown with the first conversation.
        self.chats.hide()
        self._body = QWidget()
        self._body.setObjectName("sidebarBody")
        self._logo, self.name = _Logo(), Label("Sotto", "brand")
        self._column = layout = QVBoxLayout(self._body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._top())
        lists = QSplitter(Qt.Orientation.Vertical)
        lists.setObjectName("lists")
        lists.setChildrenCollapsible(False)
        lists.addWidget(self.chats)
        lists.addWidget(models)
        lists.splitterMoved.connect(self._keep_division)
        self._lists, self._auto_divide = lists, True
        self.chats.installEventFilter(self)
        lists.installEventFilter(self)
        layout.addWidget(lists, 1)
        layout.addWidget(self.gauge)
        layout.addWidget(self.server)
        self._body.installEventFilter(self)
        self.area = Scroller(self._body)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.area)
        theme.current().changed.connect(self._apply_theme)
        self._apply_theme()

    def _top(self) -> QVBoxLayout:
        brand = QHBoxLayout()
        brand.setSpacing(theme.GAP_8)
        brand.addWidget(self._logo)
        brand.addWidget(self.name)
        brand.addStretch(1)
        top = QVBoxLayout()
        top.setContentsMargins(theme.GAP_16, theme.GAP_16, theme.GAP_16, theme.GAP_8)
        top.setSpacing(_BELOW_BRAND)
        top.addLayout(brand)
        top.addWidget(self.search)
        return top

    @property
    def rows(self) -> list[ModelRow]:
        """The rows of the list of models, in order."""
        return self.models.rows

    def show_chats(self, entries: tuple[ChatEntry, ...], folders: tuple[Folder, ...], shelf: Shelf) -> None:
        """List conversations; before the first one, the models have all the space."""
        searched = bool(self.search.text().strip())
        self.chats.show_entries(entries, shelf, folders=folders, searched=searched)
        if entries or folders or shelf is not Shelf.CURRENT:
            self.chats.show()
        self._divide()

    def _leave_search(self) -> None:
        """Clear the search, or leave it if it is empty."""
        if self.search.text():
            self.search.clear()
        else:
            self.left.emit()

    def _divide(self) -> None:
        """Give the conversations the height they need, up to half of it, until the user moves the splitter."""
        room = self._lists.height()
        if self._auto_divide and not self.chats.isHidden() and room > 0:
            self.chats.ensurePolished()
            needed = min(self.chats.sizeHint().height(), room // 2)
            self._lists.setSizes([needed, room - needed])

    def _hide_unfitting(self) -> None:
        """Hide what does not fit beside the lists: first the gauge's legends, then the name of the app."""
        brand = max(self._logo.height(), self.name.sizeHint().height()) + _BELOW_BRAND
        legends = self.gauge.legends_height
        least = self._column.minimumSize().height()
        least -= (0 if self.name.isHidden() else brand) + (legends if self.gauge.expanded else 0)
        room = self.height() - least
        for part in (self._logo, self.name):
            part.setVisible(room >= brand)
        self.gauge.show_legends(room >= brand + legends)

    def sizeHint(self) -> QSize:
        """Return the width for the current text size."""
        return QSize(self.maximumWidth(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the width below which text would be cut off."""
        return QSize(self._body.minimumSizeHint().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide or show what fits the new height."""
        super().resizeEvent(event)
        self._hide_unfitting()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Divide the space again when its height changes or the conversations need another height."""
        if watched is self._body and event.type() == QEvent.Type.LayoutRequest:
            self._hide_unfitting()
        wants = watched is self.chats and event.type() == QEvent.Type.LayoutRequest
        if wants or (watched is self._lists and event.type() == QEvent.Type.Resize):
            QTimer.singleShot(0, self, self._divide)
        return super().eventFilter(watched, event)

    def _keep_division(self) -> None:
        self._auto_divide = False

    def _apply_theme(self) -> None:
        self.setMaximumWidth(max(WIDTH, min(theme.current().scaled(WIDTH), round(1.5 * WIDTH))))
        edge = self.search.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize)
        self._search_icon.setIcon(icons.icon("search", theme.current().tokens.muted, edge=edge))


class _Logo(QWidget):
    """The app's icon, small."""

    def __init__(self) -> None:
        super().__init__()
        self._renderer = QSvgRenderer(QByteArray((resources_dir() / "icons" / "sotto.svg").read_bytes()))
        self.setFixedSize(26, 26)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._renderer.render(QPainter(self), QRectF(self.rect()).adjusted(-2, -2, 2, 2))
