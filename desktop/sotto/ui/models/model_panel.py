"""The list of models in the sidebar: those that run, and those that cannot run here."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, QSignalBlocker, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QActionGroup, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from sotto.runner.residents import same
from sotto.store.records import ModelRecord
from sotto.ui.models.download_list import DownloadList
from sotto.ui.models.downloads import Downloads
from sotto.ui.models.idle_unloader import IdleUnloader
from sotto.ui.models.memory_planner import MemoryPlanner
from sotto.ui.models.model_description import prediction_line
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.models.model_row import ModelRow, least_height
from sotto.ui.models.model_templates import ModelTemplates
from sotto.ui.state.model_state import ModelState
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.widgets import IconButton, Label, add_action, popup

_ORDERS = {"used": "Recently Used", "name": "Name", "size": "Size", "fit": "Fit"}

_MANY = 20


class ModelPanel(QWidget):
    """A row for each model, a way to sort them, and one to look for them again.

    Signals:
        load_wanted: A record should be loaded.
        eject_wanted: A loaded model should leave memory.
        stop_wanted: The load of a model should stop.
        verify_wanted: The files of a record should be checked.
        remove_wanted: A record should be deleted.
        details_wanted: More about a record is asked for.
        entered: The same, with the keyboard: the focus goes along.
        chosen_changed: Another row is chosen; its record.
        rescan_wanted: The stores should be read again.
        template_wanted: A file with a template for a record is to be chosen.
        template_unwanted: A record should go back to its own template.
        get_wanted: A model should be downloaded.
    """

    load_wanted = Signal(object)
    eject_wanted = Signal(object)
    stop_wanted = Signal(object)
    verify_wanted = Signal(object)
    remove_wanted = Signal(object)
    details_wanted = Signal(object)
    entered = Signal(object)
    chosen_changed = Signal(object)
    rescan_wanted = Signal()
    template_wanted = Signal(object)
    template_unwanted = Signal(object)
    get_wanted = Signal()

    def __init__(
        self,
        book: ModelNotes,
        planner: MemoryPlanner,
        keep_alive: IdleUnloader,
        downloads: Downloads,
        state_of: Callable[[ModelRecord], ModelState],
    ) -> None:
        """Show `downloads` and no models, in the order of `book`, with what `planner` and `keep_alive` say of each.

        Args:
            book: What a person keeps about models.
            planner: Tells how each would lie in memory.
            keep_alive: Tells how long the one in use stays there.
            downloads: Models on their way.
            state_of: Tells how each stands.
        """
        super().__init__()
        self._state_of = state_of
        self._book, self._planner, self._keep_alive = book, planner, keep_alive
        self._records: tuple[ModelRecord, ...] = ()
        self._state = ModelState()
        self._wanted = ""
        self.rows: list[ModelRow] = []
        self.rescan = IconButton("refresh", "Rescan models", tip="Look for models again")
        self.rescan.clicked.connect(self.rescan_wanted)
        self.sort = IconButton("sort", "Sort models")
        self.sort.clicked.connect(self._show_orders)
        self.get = IconButton("drop", "Get a model", "Get a model…", tip="Download a model by its name")
        self.get.clicked.connect(self.get_wanted)
        self.downloads = DownloadList(downloads)
        self.downloads.arranged.connect(self._order_tabs)
        self.downloads.emptied.connect(self.get.setFocus)
        self._empty = Label("", "caption", wrap=True)
        self._other_title = Label("Cannot run here", "section")
        self._ready, self._others = QVBoxLayout(), QVBoxLayout()
        self.setObjectName("models")
        self._body = self._rows_body()
        self._area = _Area(self._body)
        self._area.setAccessibleName("Models")
        theme.current().changed.connect(self._area.updateGeometry)
        title = QHBoxLayout()
        title.setContentsMargins(theme.GAP_16, theme.GAP_4, theme.GAP_8, 0)
        title.setSpacing(0)
        title.addWidget(Label("Models", "section"))
        title.addStretch(1)
        title.addWidget(self.sort)
        title.addWidget(self.rescan)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(title)
        layout.addSpacing(theme.GAP_4)
        layout.addWidget(self._area, 1)
        layout.addWidget(self._foot())
        book.changed.connect(self._rearrange)
        planner.planned.connect(self._show_fits)
        keep_alive.changed.connect(self._show_notes)

    def _foot(self) -> QWidget:
        foot = QFrame()
        foot.setObjectName("foot")
        layout = QHBoxLayout(foot)
        layout.setContentsMargins(theme.GAP_8, theme.GAP_4, theme.GAP_8, theme.GAP_4)
        layout.addWidget(self.get)
        layout.addStretch(1)
        return foot

    def _rows_body(self) -> QWidget:
        body = QWidget()
        body.setObjectName("listBody")
        for rows in (self._ready, self._others):
            rows.setSpacing(2)
        self._other_title.setContentsMargins(theme.GAP_8, theme.GAP_16, 0, theme.GAP_4)
        self._empty.setContentsMargins(theme.GAP_8, theme.GAP_8, theme.GAP_8, 0)
        layout = QVBoxLayout(body)
        layout.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, theme.GAP_8)
        layout.setSpacing(theme.GAP_4)
        layout.addWidget(self.downloads)
        layout.addLayout(self._ready)
        layout.addWidget(self._empty)
        layout.addWidget(self._other_title)
        layout.addLayout(self._others)
        layout.addStretch(1)
        return body

    def show_models(self, records: Sequence[ModelRecord]) -> None:
        """Show these models, those that run first; a chosen row stays chosen."""
        self._records = tuple(records)
        self.downloads.show_models(self._records)
        known = {row.record: row for row in self.rows}
        chosen, focused = self.chosen, next((row.record for row in self.rows if row.hasFocus()), None)
        wanted = self._book.ordered(self._records, lambda record: self._planner.projection(record).fit)
        wanted.sort(key=lambda record: not record.runnable)
        # Rows that are shown one by one have each of them measured again every time.
        many = sum(record not in known for record in wanted) > _MANY
        if many:
            self._body.hide()
        for row in self.rows:
            # Not `takeAt`: an item that lives on keeps its row from telling the next one of another height.
            for layout in (self._ready, self._others):
                layout.removeWidget(row)
        self.rows = [known.pop(record) if record in known else self._row(record) for record in wanted]
        for row in known.values():
            row.hide()
            row.deleteLater()
        for row in self.rows:
            (self._ready if row.record.runnable else self._others).addWidget(row)
            self._mark(row)
            row.show_state(self._state_of(row.record))
            with QSignalBlocker(row):
                row.setChecked(chosen is not None and same(row.record, chosen))
            if focused is not None and same(row.record, focused):
                row.setFocus()
        self._order_tabs()
        self.look_for(self._wanted)
        if many:
            self._body.show()

    def _order_tabs(self) -> None:
        """Let Tab go through the buttons of downloads, and then through the models."""
        buttons = [button for row in self.downloads.rows for button in (row.toggle, row.cancel)]
        chain = [self.rescan, *buttons, *self.rows]
        for before, after in itertools.pairwise(chain):
            self.setTabOrder(before, after)

    def _row(self, record: ModelRecord) -> ModelRow:
        row = ModelRow(record)
        row.load_wanted.connect(self.load_wanted)
        row.eject_wanted.connect(lambda: self.eject_wanted.emit(row.record))
        row.stop_wanted.connect(lambda: self.stop_wanted.emit(row.record))
        row.details_wanted.connect(self.details_wanted)
        row.entered.connect(self.entered)
        row.menu_wanted.connect(self._show_menu)
        row.step.connect(self._step)
        row.toggled.connect(self._choose)
        return row

    def _mark(self, row: ModelRow) -> None:
        looked = self._planner.measured(row.record) is not None
        row.show_fit(self._planner.projection(row.record).fit if looked else None)
        self._note(row)
        row.show_marks(favourite=self._book.is_favourite(row.record), pinned=self._book.is_pinned(row.record))

    def _note(self, row: ModelRow) -> None:
        lines: tuple[str, ...] = ()
        if self._is_used(row.record):
            prediction = prediction_line(self._planner.predicted(row.record), self._state.actual)
            lines = (prediction, self._keep_alive.line)
        row.show_note("\n".join(filter(None, lines)))

    def _is_used(self, record: ModelRecord) -> bool:
        return self._state.record is not None and same(self._state.record, record)

    def _show_notes(self) -> None:
        for row in self.rows:
            self._note(row)

    def _rearrange(self) -> None:
        self.show_models(self._records)

    def _show_fits(self) -> None:
        if self._book.order == "fit":
            self.show_models(self._records)
        else:
            for row in self.rows:
                self._mark(row)

    def show_state(self, state: ModelState) -> None:
        """Draw the model that the window is about as it stands."""
        new = state.record is not None and (self._state.record is None or not same(self._state.record, state.record))
        self._state = state
        for row in self.rows:
            row.show_state(self._state_of(row.record))
            self._note(row)
            if new and self._is_used(row.record):
                row.setChecked(True)
                self.bring_into_view(row)

    def show_residents(self) -> None:
        """Draw each model as it stands now."""
        for row in self.rows:
            row.show_state(self._state_of(row.record))

    def look_for(self, text: str) -> None:
        """Show only the models in whose rows every word of `text` occurs."""
        self._wanted = text
        self.downloads.look_for(text)
        for row in self.rows:
            row.setVisible(row.matches(text))
        shown = [row for row in self.rows if row.matches(text)]
        self._other_title.setVisible(any(not row.record.runnable for row in shown))
        if text and not shown:
            self._empty.setText(f"No model is called “{text}”.")
        elif not text and all(row.record.builtin for row in self.rows):
            self._empty.setText(
                "Models that Ollama, Hugging Face tools or LM Studio have downloaded appear here. "
                "Get one by its name below, or drop one on this window."
            )
        else:
            self._empty.setText("")
        self._empty.setVisible(bool(self._empty.text()))

    @property
    def chosen(self) -> ModelRecord | None:
        """The record of the selected row."""
        return next((row.record for row in self.rows if row.isChecked()), None)

    def focus_chosen(self) -> None:
        """Put the focus on the selected row, or else on the first one that is shown."""
        shown = [row for row in self.rows if not row.isHidden()]
        for row in sorted(shown, key=lambda row: not row.isChecked())[:1]:
            row.setFocus(Qt.FocusReason.ShortcutFocusReason)
            row.setChecked(True)

    def bring_into_view(self, row: QWidget) -> None:
        """Scroll as far as a row needs."""
        self._area.ensureWidgetVisible(row)

    def menu_of(self, record: ModelRecord) -> QMenu:
        """Return what can be done with a model."""
        menu = QMenu(self)
        loaded, used = self._state_of(record).loaded, self._is_used(record)
        if loaded:
            add_action(menu, "Eject", lambda: self.eject_wanted.emit(record))
        if loaded and not used:
            add_action(menu, "Use", lambda: self.load_wanted.emit(record))
        elif not loaded and record.runnable and record.present:
            add_action(menu, "Load", lambda: self.load_wanted.emit(record))
        add_action(menu, "Details", lambda: self.details_wanted.emit(record))
        self._add_marks(menu, record)
        menu.addSeparator()
        add_action(menu, "Copy Name", lambda: QGuiApplication.clipboard().setText(record.name))
        if not record.present:
            return menu
        if not record.builtin:
            folder = record.path if record.path.is_dir() else record.path.parent
            add_action(menu, "Show Folder", lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))))
        add_action(menu, "Verify Files", lambda: self.verify_wanted.emit(record))
        if record.runnable:
            add_action(menu, "Use a Template…", lambda: self.template_wanted.emit(record))
            if ModelTemplates.has(record):
                add_action(menu, "Use Its Own Template", lambda: self.template_unwanted.emit(record))
        if record.own:
            menu.addSeparator()
            add_action(menu, "Delete", lambda: self.remove_wanted.emit(record))
        return menu

    def _add_marks(self, menu: QMenu, record: ModelRecord) -> None:
        favourite, pinned = self._book.is_favourite(record), self._book.is_pinned(record)
        for text, marked, mark in (
            ("Favourite", favourite, lambda: self._book.mark_favourite(record, favourite=not favourite)),
            ("Keep Loaded", pinned, lambda: self._book.pin(record, pinned=not pinned)),
        ):
            action = add_action(menu, text, mark)
            action.setCheckable(True)
            action.setChecked(marked)

    def _show_menu(self, record: ModelRecord, at: QPoint) -> None:
        popup(self.menu_of(record), at)

    def order_menu(self) -> QMenu:
        """Return what models can be sorted by."""
        menu = QMenu(self)
        group = QActionGroup(menu)
        for order, text in _ORDERS.items():
            action = add_action(menu, text, partial(self._book.sort_by, order))
            action.setCheckable(True)
            action.setChecked(order == self._book.order)
            group.addAction(action)
        return menu

    def _show_orders(self) -> None:
        popup(self.order_menu(), self.sort.mapToGlobal(self.sort.rect().bottomLeft()))

    def _choose(self, checked: bool) -> None:
        chosen = self.sender()
        if checked and isinstance(chosen, ModelRow):
            for row in self.rows:
                if row is not chosen:
                    row.setChecked(False)
            self.chosen_changed.emit(chosen.record)

    def _step(self, by: int) -> None:
        shown = [row for row in self.rows if not row.isHidden()]
        sender = self.sender()
        place = shown.index(sender) + by if isinstance(sender, ModelRow) and sender in shown else -1
        if 0 <= place < len(shown):
            shown[place].setFocus(Qt.FocusReason.TabFocusReason)
            shown[place].setChecked(True)
            self.bring_into_view(shown[place])


class _Area(Scroller):
    """Scrolls the rows."""

    def minimumSizeHint(self) -> QSize:
        """Take one row at least."""
        return super().minimumSizeHint().expandedTo(QSize(0, least_height()))
