"""The list of models in the sidebar: runnable ones first, then those that cannot run here."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, QSignalBlocker, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QActionGroup, QDesktopServices, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord, is_adoptable
from sotto.ui.models.customizing.customizing import Customizing
from sotto.ui.models.download_list import DownloadList
from sotto.ui.models.downloads import Downloads
from sotto.ui.models.idle_unloader import IdleUnloader
from sotto.ui.models.memory_planner import MemoryPlanner
from sotto.ui.models.model_description import prediction_line
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.models.model_row import ModelRow, minimum_row_height
from sotto.ui.models.model_templates import ModelTemplates
from sotto.ui.state.model_state import ModelState
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.flow_layout import FlowLayout
from sotto.ui.toolkit.scroller import Scroller
from sotto.ui.toolkit.section_title import SectionTitle
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr
from sotto.ui.toolkit.widgets import IconButton, Label, add_action, popup

_ORDERS = {
    "used": QT_TR_NOOP("Recently Used"),
    "name": QT_TR_NOOP("Name"),
    "size": QT_TR_NOOP("Size"),
    "fit": QT_TR_NOOP("Fit"),
}

# With more new rows than this, the list is hidden while they are added.
_MANY = 20


class ModelPanel(QWidget):
    """One row per model, the downloads, and buttons to sort the models, rescan the stores and get a model.

    Signals:
        load_wanted: The user wants to load a model; like the following signals it carries the `ModelRecord`.
        eject_wanted: The user wants to unload a model.
        stop_wanted: The user wants to stop loading a model.
        verify_wanted: The user wants to check a model's files.
        rename_wanted: The user wants to rename a model.
        duplicate_wanted: The user wants to give a model a second name.
        keep_wanted: The user wants to keep a copy of another program's model.
        remove_wanted: The user wants to delete a model.
        details_wanted: The user wants to see a model's card.
        entered: The user wants to move the focus to a model's card.
        selection_changed: Another row was selected.
        customize_wanted: The user wants to make a model of their own from a model.
        template_wanted: The user wants to choose a template file for a model.
        template_unwanted: The user wants to return to a model's own template.
        rescan_wanted: The user wants to search all stores again; no argument.
        get_wanted: The user wants to download a model; no argument.
        manage_wanted: The user wants to see the page of models; no argument.
    """

    load_wanted = Signal(object)
    eject_wanted = Signal(object)
    stop_wanted = Signal(object)
    verify_wanted = Signal(object)
    rename_wanted = Signal(object)
    duplicate_wanted = Signal(object)
    keep_wanted = Signal(object)
    remove_wanted = Signal(object)
    details_wanted = Signal(object)
    entered = Signal(object)
    selection_changed = Signal(object)
    rescan_wanted = Signal()
    customize_wanted = Signal(object)
    template_wanted = Signal(object)
    template_unwanted = Signal(object)
    get_wanted = Signal()
    manage_wanted = Signal()

    def __init__(
        self,
        notes: ModelNotes,
        planner: MemoryPlanner,
        idle_unloader: IdleUnloader,
        downloads: Downloads,
        state_of: Callable[[ModelRecord], ModelState],
    ) -> None:
        """Create the panel, without models.

        Args:
            notes: The user's choices about models, including their order.
            planner: Plans how each model would fit into memory.
            idle_unloader: Knows how long the model in use stays loaded.
            downloads: The unfinished downloads.
            state_of: Returns the state of a model.
        """
        super().__init__()
        self._state_of = state_of
        self._notes, self._planner, self._idle_unloader = notes, planner, idle_unloader
        self._records: tuple[ModelRecord, ...] = ()
        self._state = ModelState()
        self._filter = ""
        # The model of the row on which a mouse button was pressed last.
        self._pressed: ModelRecord | None = None
        self.rows: list[ModelRow] = []
        self.rescan = IconButton("refresh", tr("Rescan models"))
        self.rescan.clicked.connect(self.rescan_wanted)
        self.sort = IconButton("sort", tr("Sort models"))
        self.sort.clicked.connect(self._show_orders)
        self.get = IconButton("drop", tr("Get a model"), tr("Get a model…"), tip=tr("Find a model to download"))
        self.get.clicked.connect(self.get_wanted)
        self.manage = IconButton("table", tr("Manage models"), tr("Manage…"), tip=tr("Show all models on a page"))
        self.manage.clicked.connect(self.manage_wanted)
        self._imports = QVBoxLayout()
        self.downloads = DownloadList(downloads)
        self.downloads.arranged.connect(self._set_tab_order)
        self.downloads.emptied.connect(self.get.setFocus)
        self.empty = Label("", "caption", wrap=True)
        self._other_title = Label(tr("Cannot run here"), "section")
        self._ready, self._others = QVBoxLayout(), QVBoxLayout()
        self.setObjectName("models")
        self._body = self._make_body()
        self.area = _Area(self._body)
        self.area.setAccessibleName(tr("Models"))
        theme.current().changed.connect(self.area.updateGeometry)
        self.title = SectionTitle(tr("Models"))
        self._foot = self._make_foot()
        self._arrange()
        notes.changed.connect(self._rearrange)
        planner.planned.connect(self._show_fits)
        idle_unloader.changed.connect(self._update_notes)

    def _arrange(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(theme.GAP_8, theme.GAP_4, theme.GAP_8, theme.GAP_4)
        top.setSpacing(0)
        top.addWidget(self.title)
        top.addStretch(1)
        top.addWidget(self.sort)
        top.addWidget(self.rescan)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self.area, 1)
        layout.addWidget(self._foot)

    @property
    def whole_height(self) -> int:
        """The height at which nothing has to be scrolled."""
        return self.minimumSizeHint().height() - self.area.minimumSizeHint().height() + self._body.sizeHint().height()

    def set_folded(self, folded: bool) -> None:
        """Show the title alone, or the list below it, too."""
        self.title.set_folded(folded)
        for part in (self.sort, self.rescan, self.area, self._foot):
            part.setHidden(folded)

    def _make_foot(self) -> QWidget:
        foot = _Foot()
        foot.setObjectName("foot")
        layout = FlowLayout(foot)
        layout.setContentsMargins(theme.GAP_8, theme.GAP_4, theme.GAP_8, theme.GAP_4)
        layout.addWidget(self.get)
        layout.addWidget(self.manage)
        return foot

    def _make_body(self) -> QWidget:
        body = QWidget()
        body.setObjectName("listBody")
        for rows in (self._ready, self._others):
            rows.setSpacing(2)
        self._other_title.setContentsMargins(theme.margins(theme.GAP_8, theme.GAP_16, 0, theme.GAP_4))
        self.empty.setContentsMargins(theme.GAP_8, theme.GAP_8, theme.GAP_8, 0)
        layout = QVBoxLayout(body)
        layout.setContentsMargins(theme.GAP_8, 0, theme.GAP_8, theme.GAP_8)
        layout.setSpacing(theme.GAP_4)
        layout.addLayout(self._imports)
        layout.addWidget(self.downloads)
        layout.addLayout(self._ready)
        layout.addWidget(self.empty)
        layout.addWidget(self._other_title)
        layout.addLayout(self._others)
        layout.addStretch(1)
        return body

    def show_imports(self, imports: QWidget) -> None:
        """Show a list of imports above the downloads."""
        self._imports.addWidget(imports)

    def show_models(self, records: Sequence[ModelRecord]) -> None:
        """Show `records`, runnable ones first; selection and focus are kept."""
        self._records = tuple(records)
        self.downloads.show_models(self._records)
        known = {row.record: row for row in self.rows}
        selected, focused = self.selected, next((row.record for row in self.rows if row.hasFocus()), None)
        ordered = self._notes.sort(self._records, lambda record: self._planner.projection(record).fit)
        ordered.sort(key=lambda record: not record.runnable)
        # While the list is visible, each added row has all others measured again.
        many = sum(record not in known for record in ordered) > _MANY
        if many:
            self._body.hide()
        for row in self.rows:
            # WORKAROUND: not `takeAt`, whose QWidgetItem lives on and keeps the row from reporting a new height to the
            # next item. Check with the next PySide6.
            for layout in (self._ready, self._others):
                layout.removeWidget(row)
        self.rows = [known.pop(record) if record in known else self._make_row(record) for record in ordered]
        for row in known.values():
            row.hide()
            row.deleteLater()
        for row in self.rows:
            (self._ready if row.record.runnable else self._others).addWidget(row)
            self._update_row(row)
            row.show_state(self._state_of(row.record))
            with QSignalBlocker(row):
                row.setChecked(selected is not None and is_same_model(row.record, selected))
            if focused is not None and is_same_model(row.record, focused):
                row.setFocus()
        self._set_tab_order()
        self.filter(self._filter)
        if many:
            self._body.show()

    def _set_tab_order(self) -> None:
        """Let Tab visit the buttons of the downloads, then the models."""
        buttons = [button for row in self.downloads.rows for button in (row.toggle, row.cancel)]
        chain = [self.rescan, *buttons, *self.rows]
        for before, after in itertools.pairwise(chain):
            self.setTabOrder(before, after)

    def _make_row(self, record: ModelRecord) -> ModelRow:
        row = ModelRow(record)
        row.load_wanted.connect(self.load_wanted)
        row.pressed.connect(partial(self._remember_press, row))
        row.double_clicked.connect(self._load_pressed)
        row.eject_wanted.connect(lambda: self.eject_wanted.emit(row.record))
        row.stop_wanted.connect(lambda: self.stop_wanted.emit(row.record))
        row.details_wanted.connect(self.details_wanted)
        row.entered.connect(self.entered)
        row.menu_wanted.connect(self._show_menu)
        row.step.connect(self._step)
        row.toggled.connect(self._select)
        return row

    def _update_row(self, row: ModelRow) -> None:
        measured = self._planner.measured(row.record) is not None
        row.show_fit(self._planner.projection(row.record).fit if measured else None)
        self._update_note(row)
        row.show_marks(favourite=self._notes.is_favourite(row.record), pinned=self._notes.is_pinned(row.record))

    def _update_note(self, row: ModelRow) -> None:
        lines: tuple[str, ...] = ()
        if self._is_in_use(row.record):
            prediction = prediction_line(self._planner.predicted(row.record), self._state.actual)
            lines = (prediction, self._idle_unloader.line)
        row.show_note("\n".join(filter(None, lines)))

    def _is_in_use(self, record: ModelRecord) -> bool:
        return self._state.record is not None and is_same_model(self._state.record, record)

    def _update_notes(self) -> None:
        for row in self.rows:
            self._update_note(row)

    def _rearrange(self) -> None:
        self.show_models(self._records)

    def _show_fits(self) -> None:
        if self._notes.order == "fit":
            self.show_models(self._records)
        else:
            for row in self.rows:
                self._update_row(row)

    def show_state(self, state: ModelState) -> None:
        """Show the state of the model in use."""
        self._state = state
        for row in self.rows:
            row.show_state(self._state_of(row.record))
            self._update_note(row)

    def show_residents(self) -> None:
        """Show the states of all models."""
        for row in self.rows:
            row.show_state(self._state_of(row.record))

    def filter(self, text: str) -> None:
        """Show only the models whose rows contain every word of `text`; downloads are always shown."""
        self._filter = text
        for row in self.rows:
            row.setVisible(row.matches(text))
        shown = [row for row in self.rows if row.matches(text)]
        self._other_title.setVisible(any(not row.record.runnable for row in shown))
        if text and not shown:
            self.empty.setText(tr("No model is called “{text}”.").format(text=text))
        elif not text and all(row.record.builtin for row in self.rows):
            self.empty.setText(tr("Other models appear here. Get one below, or drop one on this window."))
        else:
            self.empty.setText("")
        self.empty.setVisible(bool(self.empty.text()))

    @property
    def selected(self) -> ModelRecord | None:
        """The record of the selected row."""
        return next((row.record for row in self.rows if row.isChecked()), None)

    def clear_selection(self) -> None:
        """Select no model."""
        for row in self.rows:
            row.setChecked(False)

    def focus_selected(self) -> None:
        """Focus the selected row, or else select and focus the first visible one."""
        shown = [row for row in self.rows if not row.isHidden()]
        for row in sorted(shown, key=lambda row: not row.isChecked())[:1]:
            row.setFocus(Qt.FocusReason.ShortcutFocusReason)
            row.setChecked(True)

    def bring_into_view(self, row: QWidget) -> None:
        """Scroll until `row` is visible."""
        self.area.ensureWidgetVisible(row)

    def menu_of(self, record: ModelRecord) -> QMenu:
        """Return a menu of the actions for a model."""
        menu = QMenu(self)
        loaded, in_use = self._state_of(record).loaded, self._is_in_use(record)
        if loaded:
            add_action(menu, tr("Eject"), lambda: self.eject_wanted.emit(record))
        if loaded and not in_use:
            add_action(menu, tr("Use"), lambda: self.load_wanted.emit(record))
        elif not loaded and record.runnable and record.present:
            add_action(menu, tr("Load"), lambda: self.load_wanted.emit(record))
        add_action(menu, tr("Details"), lambda: self.details_wanted.emit(record))
        self._add_marks(menu, record)
        menu.addSeparator()
        add_action(menu, tr("Copy Name"), lambda: QGuiApplication.clipboard().setText(record.name))
        if not record.present:
            return menu
        if not record.builtin:
            folder = record.path if record.path.is_dir() else record.path.parent
            add_action(menu, tr("Show Folder"), lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))))
        add_action(menu, tr("Verify Files"), lambda: self.verify_wanted.emit(record))
        if Customizing.can(record):
            add_action(menu, tr("Customize…"), lambda: self.customize_wanted.emit(record))
        if record.runnable:
            add_action(menu, tr("Use a Template…"), lambda: self.template_wanted.emit(record))
            if ModelTemplates.has(record):
                add_action(menu, tr("Use the Model’s Template"), lambda: self.template_unwanted.emit(record))
        if record.own:
            menu.addSeparator()
            add_action(menu, tr("Rename…"), lambda: self.rename_wanted.emit(record))
            add_action(menu, tr("Duplicate…"), lambda: self.duplicate_wanted.emit(record))
            add_action(menu, tr("Delete"), lambda: self.remove_wanted.emit(record))
        elif is_adoptable(record):
            menu.addSeparator()
            add_action(menu, tr("Keep a Copy…"), lambda: self.keep_wanted.emit(record))
        return menu

    def _add_marks(self, menu: QMenu, record: ModelRecord) -> None:
        favourite, pinned = self._notes.is_favourite(record), self._notes.is_pinned(record)
        for text, marked, mark in (
            (tr("Favourite"), favourite, lambda: self._notes.mark_favourite(record, favourite=not favourite)),
            (tr("Keep Loaded"), pinned, lambda: self._notes.pin(record, pinned=not pinned)),
        ):
            action = add_action(menu, text, mark)
            action.setCheckable(True)
            action.setChecked(marked)

    def _show_menu(self, record: ModelRecord, at: QPoint) -> None:
        popup(self.menu_of(record), at)

    def order_menu(self) -> QMenu:
        """Return a menu of the sort orders."""
        menu = QMenu(self)
        group = QActionGroup(menu)
        for order, text in _ORDERS.items():
            action = add_action(menu, tr(text), partial(self._notes.sort_by, order))
            action.setCheckable(True)
            action.setChecked(order == self._notes.order)
            group.addAction(action)
        return menu

    def _show_orders(self) -> None:
        popup(self.order_menu(), self.sort.mapToGlobal(self.sort.rect().bottomLeft()))

    def _remember_press(self, row: ModelRow) -> None:
        self._pressed = row.record

    def _load_pressed(self) -> None:
        """Load the model of the row that was clicked first, even if the rows have moved between the two clicks."""
        if self._pressed is not None:
            self.load_wanted.emit(self._pressed)

    def _select(self, checked: bool) -> None:
        selected = self.sender()
        if checked and isinstance(selected, ModelRow):
            for row in self.rows:
                if row is not selected:
                    row.setChecked(False)
            self.selection_changed.emit(selected.record)

    def _step(self, by: int) -> None:
        shown = [row for row in self.rows if not row.isHidden()]
        sender = self.sender()
        index = shown.index(sender) + by if isinstance(sender, ModelRow) and sender in shown else -1
        if 0 <= index < len(shown):
            shown[index].setFocus(Qt.FocusReason.TabFocusReason)
            shown[index].setChecked(True)
            self.bring_into_view(shown[index])


class _Area(Scroller):
    """Scrolls the rows, and is at least as tall as one of them."""

    def minimumSizeHint(self) -> QSize:
        """Ask for the height of one row."""
        return super().minimumSizeHint().expandedTo(QSize(0, minimum_row_height()))


class _Foot(QFrame):
    """Asks for the height of all its lines, as layouts of scroll areas and splitters do not ask for it themselves."""

    def minimumSizeHint(self) -> QSize:
        """Return the height that the buttons need at the current width."""
        return QSize(super().minimumSizeHint().width(), self.heightForWidth(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for another height if the buttons need one."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()
