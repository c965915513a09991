"""The sidebar: the search field, the conversations, the models, the memory gauge, and the state of the server."""

from PySide6.QtCore import QByteArray, QEvent, QObject, QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
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
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import EscapableLineEdit, IconButton, Label
from sotto.ui.window.chat_list import ChatList
from sotto.ui.window.server_status import ServerStatus
from sotto.ui.window.sidebar_sections import SidebarSections

WIDTH = 288
_BELOW_BRAND = theme.GAP_12


class Sidebar(QFrame):
    """The lists of conversations and models; it scrolls as a whole if the window is too low for them.

    Signals:
        searched: The text in the search field has changed.
        left: The user is done with the search; what is beside the sidebar should take the focus.
    """

    searched = Signal(str)
    left = Signal()

    def __init__(self, models: ModelPanel, preferences: PreferenceStore) -> None:
        """Show empty lists.

        Args:
            models: The list of models.
            preferences: Say which parts are folded, and store it.
        """
        super().__init__()
        self.setObjectName("sidebar")
        self.models = models
        self.search = EscapableLineEdit(tr("Search chats and models"))
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
        self.hide_button = IconButton("sidebar", tr("Hide sidebar"))
        self._column = layout = QVBoxLayout(self._body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._top())
        self.sections = SidebarSections(self.chats, models, preferences)
        self.search.textChanged.connect(lambda text: self.sections.show_searching(bool(text.strip())))
        layout.addWidget(self.sections, 1)
        layout.addStretch(0)
        layout.addWidget(self.gauge)
        layout.addWidget(self.server)
        self.gauge.opened.connect(lambda opened: preferences.change(gauge_open=opened))
        preferences.changed.connect(lambda values: self.gauge.set_open(values.gauge_open))
        self.gauge.set_open(preferences.values.gauge_open)
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
        brand.addWidget(self.hide_button)
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
        self.sections.divide()

    def _leave_search(self) -> None:
        """Clear the search, or leave it if it is empty."""
        if self.search.text():
            self.search.clear()
        else:
            self.left.emit()

    def _hide_unfitting(self) -> None:
        """Hide what does not fit beside the lists: first the gauge's legends, then the name of the app."""
        parts = (self._logo, self.name, self.hide_button)
        brand = max(self._logo.height(), *(part.sizeHint().height() for part in parts)) + _BELOW_BRAND
        legends = self.gauge.legends_height
        least = self._column.minimumSize().height()
        least -= (0 if self.name.isHidden() else brand) + (legends if self.gauge.expanded else 0)
        room = self.height() - least
        for part in parts:
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
        """Hide or show what fits when the parts need another height."""
        if watched is self._body and event.type() == QEvent.Type.LayoutRequest:
            self._hide_unfitting()
        return super().eventFilter(watched, event)

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
