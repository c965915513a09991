"""The page of models: a table of all of them in place of the chat, with the card of the selected one beside it."""

from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QActionGroup, QIcon, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QMenu, QStyle, QVBoxLayout, QWidget

from sotto.store.records import ModelRecord
from sotto.ui.models.download_list import DownloadList
from sotto.ui.models.downloads import Downloads
from sotto.ui.models.model_card import ModelCard
from sotto.ui.models.model_table import NUMBERS, ModelTable
from sotto.ui.models.model_table_view import ModelTableView
from sotto.ui.preferences.preferences import MODEL_COLUMNS, PreferenceStore
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.pane import Pane
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import EscapableLineEdit, IconButton, Label, TextButton, add_action, popup

_CARD_WIDTH, _FILTER_WIDTH = 300, 320
# Downloads take up at most this part of the height, as a divisor.
_DOWNLOADS_PART = 3
# Changes within this time are shown together.
_DELAY_MS = 30


class ModelsPage(Pane):
    """Shows a table, the card of the selected model where there is room or on demand, and the downloads.

    Signals:
        left: The user wants to return to the chat.
        load_wanted: The user wants to load a model (`ModelRecord`).
        menu_wanted: The user wants the menu of a model (`ModelRecord`), at a position on the screen.
        get_wanted: The user wants to download a model.
        trash_wanted: The user wants to see the deleted models in a menu, at a position on the screen.
        import_wanted: The user wants to import a model (the button, for a menu below it).
        rescan_wanted: The user wants all stores to be searched again.
        shown: The page has come into view.
    """

    left = Signal()
    load_wanted = Signal(object)
    menu_wanted = Signal(object, QPoint)
    get_wanted = Signal()
    trash_wanted = Signal(QPoint)
    import_wanted = Signal(object)
    rescan_wanted = Signal()
    shown = Signal()

    def __init__(self, model: ModelTable, card: ModelCard, downloads: Downloads, preferences: PreferenceStore) -> None:
        """Create the page, hidden.

        Args:
            model: The models.
            card: The card to show beside them.
            downloads: The unfinished downloads.
            preferences: Say whether the card is shown, and store it.
        """
        super().__init__()
        self.setObjectName("modelsPage")
        self.setAccessibleName(tr("Models"))
        self.model, self.card, self._preferences = model, card, preferences
        # Whether the card is shown in place of the table, because there is no room for both.
        self._alone = False
        self.back = IconButton("left", tr("Back to the chat"), tr("Back"), role="", color="text")
        self.back.clicked.connect(self.left)
        tip = tr("Find a model to download")
        self.get = IconButton("drop", tr("Get a model"), tr("Get a model…"), role="", color="text", tip=tip)
        self.get.clicked.connect(self.get_wanted)
        tip = tr("Import a folder or a GGUF file into Sotto’s own store")
        self.importing = IconButton("folder", tr("Import a model"), tr("Import…"), role="", color="text", tip=tip)
        self.importing.clicked.connect(lambda: self.import_wanted.emit(self.importing))
        self._imports = QVBoxLayout()
        self.filter = EscapableLineEdit(tr("Filter models"))
        self.filter.setObjectName("search")
        self.filter.setClearButtonEnabled(True)
        self._search_icon = self.filter.addAction(QIcon(), QLineEdit.ActionPosition.LeadingPosition)
        self.filter.textChanged.connect(model.filter)
        self.filter.escaped.connect(self.step_back)
        self.filter.returnPressed.connect(self.take_focus)
        self.filter.installEventFilter(self)
        self.sort = IconButton("sort", tr("Sort models"))
        self.sort.clicked.connect(self._show_orders)
        self.rescan = IconButton("refresh", tr("Rescan models"))
        self.rescan.clicked.connect(self.rescan_wanted)
        self.details = IconButton("card", tr("Details of the selected model"))
        self.details.setCheckable(True)
        self.details.clicked.connect(lambda: self._show_card(self.details.isChecked()))
        self.downloads = DownloadList(downloads)
        self.downloads.arranged.connect(self._place_downloads)
        self.downloads.installEventFilter(self)
        self._downloads_area = Scroller(self.downloads)
        self.table = ModelTableView(model)
        self.table.load_wanted.connect(self.load_wanted)
        self.table.menu_wanted.connect(self.menu_wanted)
        self.table.details_wanted.connect(self.enter_details)
        self.table.typed.connect(self._type)
        self.table.selected.connect(self._place)
        self.empty = Label("", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.summary = Label("", "caption")
        self.trash = TextButton("")
        self.trash.clicked.connect(lambda: self.trash_wanted.emit(self.trash.mapToGlobal(QPoint(0, 0))))
        model.arranged.connect(self._place)
        card.setProperty("docked", True)
        card.closed.connect(self._close_card)
        card.menu_wanted.connect(self.menu_wanted)
        self._timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._timer.timeout.connect(model.refresh)
        self._arrange()
        theme.current().changed.connect(self._apply_theme)
        self._apply_theme()
        self.hide()

    def _arrange(self) -> None:
        header = QFrame()
        header.setObjectName("header")
        top = QHBoxLayout(header)
        top.setContentsMargins(theme.GAP_16, theme.GAP_8, theme.GAP_16, theme.GAP_8)
        top.addWidget(self.sidebar_button)
        top.addWidget(self.back)
        top.addWidget(Label(tr("Models"), "heading"))
        top.addStretch(1)
        top.addWidget(self.get)
        tools = QHBoxLayout()
        tools.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_8)
        tools.addWidget(self.filter, 1000)
        tools.addStretch(1)
        tools.addWidget(self.importing)
        for button in (self.sort, self.rescan, self.details):
            tools.addWidget(button)
        inset = QVBoxLayout()
        inset.setContentsMargins(theme.GAP_16, 0, theme.GAP_16, 0)
        inset.addLayout(self._imports)
        inset.addWidget(self._downloads_area)
        inset.addWidget(self.table, 1)
        inset.addWidget(self.empty, 1)
        foot = QFrame()
        foot.setObjectName("foot")
        line = QHBoxLayout(foot)
        line.setContentsMargins(theme.GAP_24, theme.GAP_8, theme.GAP_24, theme.GAP_8)
        line.addWidget(self.summary)
        line.addStretch(1)
        line.addWidget(self.trash)
        self._list = QFrame()
        self._list.setObjectName("modelsList")
        column = QVBoxLayout(self._list)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(tools)
        column.addLayout(inset, 1)
        column.addWidget(foot)
        self._lay_out(header, self._list, self.card)

    def _apply_theme(self) -> None:
        edge = self.filter.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize)
        self._search_icon.setIcon(icons.icon("search", theme.current().tokens.muted, edge=edge))
        self.filter.setMaximumWidth(max(_FILTER_WIDTH, theme.current().scaled(_FILTER_WIDTH)))
        self._place()

    # Contents

    @Slot()
    def refresh(self) -> None:
        """Show what is known now, soon, if the page is in view."""
        if self.isVisible():
            self.card.show_state()
            self._timer.start()

    @Slot(object)
    def show_models(self, records: tuple[ModelRecord, ...]) -> None:
        """Replace the models."""
        self.model.show_models(records)
        self.downloads.show_models(records)
        self.card.show_models(records)

    def show_imports(self, imports: QWidget) -> None:
        """Show a list of imports above the downloads."""
        self._imports.addWidget(imports)

    def show_summary(self) -> None:
        """Show the number of models and their disk space."""
        self.summary.setText(self.model.summary)

    def show_trash(self, count: int) -> None:
        """Show how many models were deleted and can be brought back."""
        text = tr("1 deleted model…|{count} deleted models…", "", count).format(count=count)
        self.trash.setText(text)
        self.trash.setAccessibleName(text)
        self.trash.setVisible(count > 0)

    def show_details(self, record: ModelRecord) -> None:
        """Select a model and show its card; a filter that hides it is cleared."""
        if self.model.row_of(record) is None:
            self.filter.clear()
        self.table.select(record)
        self._show_card(True)

    def enter_details(self, record: ModelRecord) -> None:
        """Move the focus to the card of a model."""
        self.show_details(record)
        self.card.take_focus()

    # Card

    @property
    def _has_room(self) -> bool:
        """Whether there is room for the card beside the table."""
        return self.width() - self._card_width >= self.table.least_width + 2 * theme.GAP_16

    @property
    def _card_width(self) -> int:
        return max(_CARD_WIDTH, theme.current().scaled(_CARD_WIDTH))

    def _show_card(self, shown: bool) -> None:
        self._alone = shown and not self._has_room
        if self._has_room:
            self._preferences.change(models_card=shown)
        self._place()

    @Slot()
    def _close_card(self) -> None:
        """Hide the card, and return the focus to the table."""
        self._show_card(False)
        self.take_focus()

    @Slot()
    def _place(self) -> None:
        """Show the card, the downloads and the table where there is room for them."""
        record, beside = self.table.current, self._has_room
        self._alone = self._alone and not beside and record is not None
        shown = record is not None and (self._alone or (beside and self._preferences.values.models_card))
        self._list.setHidden(self._alone)
        self.card.setFixedWidth(self.width() if self._alone else self._card_width)
        self.details.setChecked(shown)
        self.details.setEnabled(record is not None)
        if shown and record is not None and self.isVisible():
            self.card.open(record)
        else:
            self.card.setHidden(not shown)
        rows, filtered = bool(self.model.records), self.filter.text()
        self.table.setVisible(rows)
        if not rows:
            none = tr("No model is called “{text}”.").format(text=filtered) if filtered else tr("No models yet.")
            self.empty.setText(none)
        self.empty.setVisible(not rows)
        self.show_summary()
        self._place_downloads()

    @Slot()
    def _place_downloads(self) -> None:
        """Give the downloads the height that they need, up to a part of the page's."""
        self._downloads_area.setVisible(bool(self.downloads.rows))
        width, layout = self._downloads_area.viewport().width(), self.downloads.layout()
        assert layout is not None
        needed = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
        self._downloads_area.setFixedHeight(min(needed, self.height() // _DOWNLOADS_PART))

    # Focus and keys

    def take_focus(self) -> None:
        """Focus the table, or the filter if no model matches it."""
        (self.table if self.model.records else self.filter).setFocus()

    def step_back(self) -> bool:
        """Close the card if it is in place of the table, clear the filter, or leave the page."""
        if self._alone:
            self._close_card()
        elif self.filter.text():
            self.filter.clear()
        else:
            self.left.emit()
        return True

    def _type(self, text: str) -> None:
        self.filter.setFocus()
        self.filter.insert(text)

    def order_menu(self) -> QMenu:
        """Return a menu of the columns to sort by, and of the two directions."""
        menu, header = QMenu(self), self.table.horizontalHeader()
        column, descending = self.model.order
        titles = self.model.titles
        # Title, column, whether descending, and whether that is the order now.
        by_column = [(titles[name], name, name in NUMBERS, name == column) for name in MODEL_COLUMNS]
        by_way = [
            (text, column, way, way is descending) for text, way in ((tr("Ascending"), False), (tr("Descending"), True))
        ]
        for entries in (by_column, by_way):
            group = QActionGroup(menu)
            for text, name, way, chosen in entries:
                order = Qt.SortOrder.DescendingOrder if way else Qt.SortOrder.AscendingOrder
                action = add_action(menu, text, partial(header.setSortIndicator, MODEL_COLUMNS.index(name), order))
                action.setCheckable(True)
                action.setChecked(chosen)
                group.addAction(action)
            menu.addSeparator()
        return menu

    def _show_orders(self) -> None:
        popup(self.order_menu(), self.sort.mapToGlobal(self.sort.rect().bottomLeft()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move from the filter to the table with the arrow key, and follow the height of the downloads."""
        if watched is self.downloads and event.type() == QEvent.Type.LayoutRequest:
            QTimer.singleShot(0, self, self._place_downloads)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Down:
            self.take_focus()
            return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the card where there is room for it."""
        super().resizeEvent(event)
        self._place()

    def showEvent(self, event: QShowEvent) -> None:
        """Show what has changed meanwhile."""
        super().showEvent(event)
        self.model.refresh()
        self._place()
        self.shown.emit()
