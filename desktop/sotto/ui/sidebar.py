"""The sidebar: the app's name, search, the conversations, the models, and the memory gauge."""

from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QPoint, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QScrollArea,
    QSplitter,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from sotto.chats.records import Folder, Shelf
from sotto.paths import resources_dir
from sotto.runner.host import same
from sotto.store.records import ModelRecord
from sotto.ui import icons, theme
from sotto.ui.chat_list import ChatList
from sotto.ui.chat_shelf import Entry
from sotto.ui.gauge import MemoryGauge
from sotto.ui.model_row import ModelRow
from sotto.ui.parts import IconButton, Label, add_action, popup
from sotto.ui.states import ModelState

WIDTH = 288


class Sidebar(QFrame):
    """Every conversation, and every model on this machine.

    Signals:
        searched: This is looked for.
        load_wanted: A record should be loaded.
        eject_wanted: The loaded model should leave memory.
        stop_wanted: The load should stop.
        verify_wanted: The files of a record should be checked.
        rescan_wanted: The stores should be read again.
    """

    searched = Signal(str)
    load_wanted = Signal(object)
    eject_wanted = Signal()
    stop_wanted = Signal()
    verify_wanted = Signal(object)
    rescan_wanted = Signal()

    def __init__(self) -> None:
        """Show an empty list."""
        super().__init__()
        self.setObjectName("sidebar")
        self._state = ModelState()
        self.rows: list[ModelRow] = []
        self.search = QLineEdit()
        self.search.setObjectName("search")
        self.search.setPlaceholderText("Search chats and models")
        self.search.setAccessibleName("Search chats and models")
        self.search.setClearButtonEnabled(True)
        self.search.setAcceptDrops(False)
        self._glass = self.search.addAction(
            icons.icon("search", theme.current().tokens.muted), QLineEdit.ActionPosition.LeadingPosition
        )
        self.search.textChanged.connect(self._filter)
        self.search.textChanged.connect(self.searched)
        self.rescan = IconButton("refresh", "Rescan models", "Rescan", tip="Look for models again")
        self.rescan.clicked.connect(self.rescan_wanted)
        self.gauge = MemoryGauge()
        self.chats = ChatList()
        # There is room for it once there is a conversation.
        self.chats.hide()
        self._empty = Label("", "caption", wrap=True)
        self._ready_title = Label("Models", "section")
        self._other_title = Label("Cannot run here", "section")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._top())
        lists = QSplitter(Qt.Orientation.Vertical)
        lists.setObjectName("lists")
        lists.setChildrenCollapsible(False)
        lists.addWidget(self.chats)
        lists.addWidget(self._list())
        lists.splitterMoved.connect(self._leave_lists)
        self._lists, self._divides = lists, True
        layout.addWidget(lists, 1)
        layout.addWidget(self.gauge)
        theme.current().changed.connect(self._dress)
        self._dress()
        self.show_models(())

    def _top(self) -> QVBoxLayout:
        brand = QHBoxLayout()
        brand.setSpacing(theme.GAP_8)
        brand.addWidget(_Mark())
        brand.addWidget(Label("Sotto", "brand"))
        brand.addStretch(1)
        top = QVBoxLayout()
        top.setContentsMargins(theme.GAP_16, theme.GAP_16, theme.GAP_16, theme.GAP_8)
        top.setSpacing(theme.GAP_12)
        top.addLayout(brand)
        top.addWidget(self.search)
        return top

    def _list(self) -> QScrollArea:
        body = QWidget()
        body.setObjectName("listBody")
        title = QHBoxLayout()
        title.setContentsMargins(theme.GAP_8, theme.GAP_4, 0, 0)
        title.addWidget(self._ready_title)
        title.addStretch(1)
        title.addWidget(self.rescan)
        self._ready, self._others = QVBoxLayout(), QVBoxLayout()
        for rows in (self._ready, self._others):
            rows.setSpacing(2)
        self._other_title.setContentsMargins(theme.GAP_8, theme.GAP_16, 0, theme.GAP_4)
        self._empty.setContentsMargins(theme.GAP_8, theme.GAP_8, theme.GAP_8, 0)
        layout = QVBoxLayout(body)
        layout.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, theme.GAP_8)
        layout.setSpacing(theme.GAP_4)
        layout.addLayout(title)
        layout.addLayout(self._ready)
        layout.addWidget(self._empty)
        layout.addWidget(self._other_title)
        layout.addLayout(self._others)
        layout.addStretch(1)
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setAccessibleName("Models")
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidget(body)
        return self._area

    def show_models(self, records: Sequence[ModelRecord]) -> None:
        """Show these models, those that run first; a chosen row stays chosen."""
        chosen = self.chosen
        for row in self.rows:
            row.hide()
            row.deleteLater()
        self.rows = []
        for runnable, layout in ((True, self._ready), (False, self._others)):
            for record in records:
                if record.runnable == runnable:
                    layout.addWidget(self._row(record))
        for row in self.rows:
            row.show_state(self._state)
            row.setChecked(chosen is not None and same(row.record, chosen))
        self._filter()

    def _row(self, record: ModelRecord) -> ModelRow:
        row = ModelRow(record)
        row.load_wanted.connect(self.load_wanted)
        row.eject_wanted.connect(self.eject_wanted)
        row.stop_wanted.connect(self.stop_wanted)
        row.menu_wanted.connect(self._show_menu)
        row.step.connect(self._step)
        row.toggled.connect(self._choose)
        self.rows.append(row)
        return row

    def show_chats(self, entries: tuple[Entry, ...], folders: tuple[Folder, ...], shelf: Shelf) -> None:
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

    def _leave_lists(self) -> None:
        self._divides = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Divide the room anew."""
        super().resizeEvent(event)
        self._divide()

    def show_state(self, state: ModelState) -> None:
        """Draw the model that the window is about as it stands."""
        new = state.record is not None and (self._state.record is None or not same(self._state.record, state.record))
        self._state = state
        for row in self.rows:
            row.show_state(state)
            if new and state.record is not None and same(row.record, state.record):
                row.setChecked(True)
                self._area.ensureWidgetVisible(row)

    def menu_of(self, record: ModelRecord) -> QMenu:
        """Return what can be done with a model."""
        menu = QMenu(self)
        mine = self._state.record is not None and same(self._state.record, record)
        if mine and self._state.loaded:
            add_action(menu, "Eject", self.eject_wanted.emit)
        elif record.runnable:
            add_action(menu, "Load", lambda: self.load_wanted.emit(record))
        add_action(menu, "Copy Name", lambda: QGuiApplication.clipboard().setText(record.name))
        if not record.builtin:
            folder = record.path if record.path.is_dir() else record.path.parent
            add_action(menu, "Show Folder", lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))))
        add_action(menu, "Verify Files", lambda: self.verify_wanted.emit(record))
        return menu

    def _show_menu(self, record: ModelRecord, at: QPoint) -> None:
        popup(self.menu_of(record), at)

    @property
    def chosen(self) -> ModelRecord | None:
        """The record of the selected row."""
        return next((row.record for row in self.rows if row.isChecked()), None)

    def _choose(self, checked: bool) -> None:
        chosen = self.sender()
        if checked:
            for row in self.rows:
                if row is not chosen:
                    row.setChecked(False)

    def _step(self, by: int) -> None:
        shown = [row for row in self.rows if not row.isHidden()]
        sender = self.sender()
        place = shown.index(sender) + by if isinstance(sender, ModelRow) and sender in shown else -1
        if 0 <= place < len(shown):
            shown[place].setFocus(Qt.FocusReason.TabFocusReason)
            shown[place].setChecked(True)
            self._area.ensureWidgetVisible(shown[place])

    def _filter(self) -> None:
        text = self.search.text()
        for row in self.rows:
            row.setVisible(row.matches(text))
        shown = [row for row in self.rows if row.matches(text)]
        self._other_title.setVisible(any(not row.record.runnable for row in shown))
        if text and not shown:
            self._empty.setText(f"No model is called “{text}”.")
        elif not text and all(row.record.builtin for row in self.rows):
            self._empty.setText(
                "Models that Ollama, Hugging Face tools or LM Studio have downloaded appear here. "
                "Or drop a model on this window."
            )
        else:
            self._empty.setText("")
        self._empty.setVisible(bool(self._empty.text()))

    def _dress(self) -> None:
        self.setFixedWidth(max(WIDTH, min(theme.current().scaled(WIDTH), round(1.5 * WIDTH))))
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
