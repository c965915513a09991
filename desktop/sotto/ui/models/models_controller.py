"""Connects the list of models, the model card and the memory gauge of a window with the session."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from sotto.runner.residents import is_same_model
from sotto.store.printable import printable_path
from sotto.store.records import ModelRecord, Source
from sotto.ui.models.customizing.customizing import Customizing
from sotto.ui.models.discovery_summary import DiscoverySummary, SearchedPlace
from sotto.ui.models.download_controller import DownloadController
from sotto.ui.models.idle_unloader import IdleUnloader
from sotto.ui.models.keeping.model_keeper import ModelKeeper
from sotto.ui.models.memory_gauge import MemoryGauge
from sotto.ui.models.memory_planner import MemoryPlanner
from sotto.ui.models.model_card import ModelCard
from sotto.ui.models.model_description import source_name
from sotto.ui.models.model_imports.import_controller import ImportController
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.models.model_panel import ModelPanel
from sotto.ui.models.model_picker import ModelPicker
from sotto.ui.models.model_table import ModelTable
from sotto.ui.models.model_templates import ModelAdapters, ModelTemplates
from sotto.ui.models.model_trash import ModelTrash, trash_menu
from sotto.ui.models.models_page import ModelsPage
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state import memory_estimate
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.model_state import ModelState, Problem
from sotto.ui.state.names import home_path, short_name
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import popup

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks


class ModelsController(QObject):
    """Owns everything in a window that is about models.

    Signals:
        left: The user is done with models; what is in view should take the focus.
        page_wanted: The user wants to see the page of models (`ModelsPage`).
        page_left: The user wants to return from it to the chat.
        finding_wanted: The user wants to find a model to download.
        offered: An action is offered for a while: title, message, label of the action, the action, and for how many
            seconds.
    """

    left = Signal()
    page_wanted = Signal(object)
    page_left = Signal()
    finding_wanted = Signal()
    offered = Signal(str, str, str, object, float)

    def __init__(self, session: Session, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Create the list and the card; `install` puts them into a window."""
        super().__init__(parent)
        self._session, self._preferences = session, preferences
        self._tasks: AsyncTasks | None = None
        self.notes = ModelNotes(preferences, self)
        self.planner = MemoryPlanner(session, self.notes, self)
        self.idle_unloader = IdleUnloader(session, self.notes, preferences, self)
        self.trash = ModelTrash(session, self)
        self.keeper = ModelKeeper(session, self)
        self.templates = ModelTemplates(session, self)
        self.customizing = Customizing(session, self)
        self.adapters = ModelAdapters(session, self)
        self.downloading = DownloadController(session, preferences, self)
        self.importing = ImportController(session, self.planner, self)
        self.panel = ModelPanel(
            self.notes, self.planner, self.idle_unloader, self.downloading.downloads, session.state_of
        )
        self.card = ModelCard(self.notes, self.planner, session.state_of)
        self._picker: ModelPicker | None = None
        # What is done with a model that is chosen from the picker.
        self._choose: Callable[[ModelRecord], None] = self._use

    def install(self, centre: QWidget, sidebar: QWidget, gauge: MemoryGauge, summary: DiscoverySummary) -> None:
        """Show models in a window.

        Args:
            centre: Widget that the card covers in part.
            sidebar: Widget that contains the list.
            gauge: Shows memory, and the plan of the model on the card.
            summary: Shows what was found.
        """
        session, panel, card = self._session, self.panel, self.card
        self._centre, self._sidebar, self._gauge, self._summary = centre, sidebar, gauge, summary
        card.setParent(centre)
        card.hide()
        for widget in (centre, sidebar):
            widget.installEventFilter(self)
        self.downloading.install(centre, sidebar, panel)
        self.downloading.load_wanted.connect(self.load)
        self.downloading.left.connect(self.left)
        self.importing.load_wanted.connect(self.load)
        panel.show_imports(self.importing.make_list())
        self.keeper.install(centre, sidebar, panel.manage)
        self.keeper.load_wanted.connect(self.load)
        self.keeper.left.connect(self.left)
        for offering in (self.trash, self.keeper, self.downloading, self.importing):
            offering.offered.connect(self.offered)
        panel.load_wanted.connect(self.load)
        panel.eject_wanted.connect(session.eject)
        panel.stop_wanted.connect(session.stop_load)
        panel.rename_wanted.connect(self.keeper.rename)
        panel.duplicate_wanted.connect(self.keeper.duplicate)
        panel.keep_wanted.connect(self.keeper.keep)
        panel.remove_wanted.connect(self.trash.remove)
        panel.customize_wanted.connect(lambda record: self.customizing.open(record, centre))
        panel.template_wanted.connect(lambda record: self.templates.choose(record, centre))
        panel.template_unwanted.connect(self.templates.remove)
        panel.verify_wanted.connect(session.library.verify)
        panel.rescan_wanted.connect(session.library.rescan)
        panel.manage_wanted.connect(self.open_page)
        panel.details_wanted.connect(self.show_details)
        panel.entered.connect(self._enter_card)
        panel.selection_changed.connect(self._follow_selection)
        card.load_wanted.connect(self._load_from_card)
        card.eject_wanted.connect(session.eject)
        card.stop_wanted.connect(session.stop_load)
        card.menu_wanted.connect(lambda record, at: popup(panel.menu_of(record), at))
        self._connect_adapters(card)
        card.keep_wanted.connect(self.keeper.keep)
        card.previewed.connect(gauge.show_plan)
        card.closed.connect(self.close_card)
        card.hidden.connect(self._deselect)
        summary.add_wanted.connect(self.choose_folder)
        summary.get_wanted.connect(self.finding_wanted)
        panel.get_wanted.connect(self.finding_wanted)
        session.library.changed.connect(self.show_summary)
        gauge.sample_wanted.connect(self.sample_memory)
        session.library.changed.connect(panel.show_models)
        session.library.changed.connect(card.show_models)
        session.library.changed.connect(self._measure_disk)
        session.figures_changed.connect(gauge.show_figures)
        session.residents_changed.connect(panel.show_residents)
        session.residents_changed.connect(card.show_state)
        QApplication.instance().focusChanged.connect(self._hide_unfocused)  # type: ignore[union-attr]
        panel.show_models(session.library.models)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Start everything that needs an event loop."""
        self._tasks = tasks
        # With another window or panel open, the session has models and figures already.
        self.panel.show_models(self._session.library.models)
        self._gauge.show_figures(self._session.figures)
        self.planner.begin(tasks)
        self.trash.begin(tasks)
        self.keeper.begin(tasks)
        self.templates.begin(tasks)
        self.customizing.begin(tasks)
        self.adapters.begin(tasks)
        self.downloading.begin(tasks)
        self.importing.begin(tasks, self._centre)
        self.sample_memory()

    def show_state(self, state: ModelState) -> None:
        """Show the state of the model in use."""
        self.panel.show_state(state)
        self.card.show_state()
        self._gauge.show_model(short_name(state.record.name) if state.record else "")

    @Slot(object)
    def load(self, record: ModelRecord) -> None:
        """Load a model; if it may not fit into memory, show its card first."""
        state = self._session.state_of(record)
        if record.runnable and self.planner.projection(record).needs_confirmation and not (state.loaded or state.busy):
            self.show_details(record)
            (self.page.card if self._page_in_view else self.card).load.setFocus()
        elif record.present:
            self._session.load(record)
            self.close_card(restore_focus=False)

    @Slot(object)
    def show_details(self, record: ModelRecord) -> None:
        """Show the card of a model beside its row."""
        if self._page_in_view:
            self.page.show_details(record)
            return
        row = next((row for row in self.panel.rows if is_same_model(row.record, record)), None)
        if row is None:
            return
        row.setChecked(True)
        self.card.open(record)
        self._measure_disk()
        area = row.rect()
        area.moveTopLeft(row.mapTo(self._centre, QPoint(0, 0)))
        self.card.set_anchor(self._sidebar, area)

    @Slot(object)
    def _enter_card(self, record: ModelRecord) -> None:
        """Show the card of a model and move the focus into it."""
        self.show_details(record)
        (self.page.card if self._page_in_view else self.card).take_focus()

    def _follow_selection(self, record: ModelRecord) -> None:
        if self.card.isVisible():
            self.show_details(record)

    @Slot(object, object, bool)
    def _load_from_card(self, record: ModelRecord, context: int | None, anyway: bool) -> None:
        self._session.load(record, context, anyway=anyway)
        self.card.hide()
        self.left.emit()

    def close_card(self, *, restore_focus: bool = True) -> None:
        """Hide the card; if it had the focus and `restore_focus` is set, the selected row gets it."""
        focused = QApplication.focusWidget()
        had_focus = focused is not None and self.card.isAncestorOf(focused)
        shown = next((row for row in self.panel.rows if row.isChecked()), None)
        self.card.hide()
        if had_focus and restore_focus and shown is not None:
            shown.setFocus()
            shown.setChecked(True)

    def _hide_unfocused(self, before: QWidget | None, now: QWidget | None) -> None:
        """Hide the card once another widget of the window has the focus."""
        if now is None or self.card.isHidden() or now.window() is not self.card.window():
            return
        if not any(widget is now or widget.isAncestorOf(now) for widget in (self.card, self.panel)):
            self.card.hide()

    # The page

    @cached_property
    def page(self) -> ModelsPage:
        """The page of models, which is created on first use."""
        session = self._session
        model = ModelTable(self.notes, self.planner, session.state_of, self._preferences, self)
        card = ModelCard(self.notes, self.planner, session.state_of)
        page = ModelsPage(model, card, self.downloading.downloads, self._preferences)
        card.load_wanted.connect(lambda record, context, anyway: session.load(record, context, anyway=anyway))
        card.eject_wanted.connect(session.eject)
        card.stop_wanted.connect(session.stop_load)
        self._connect_adapters(card)
        card.keep_wanted.connect(self.keeper.keep)
        card.previewed.connect(self._gauge.show_plan)
        page.trash_wanted.connect(lambda at: popup(trash_menu(self.trash, page), at))
        self.trash.changed.connect(lambda: page.show_trash(len(self.trash.removed)))
        page.show_trash(len(self.trash.removed))
        page.load_wanted.connect(self.load)
        page.menu_wanted.connect(lambda record, at: popup(self.panel.menu_of(record), at))
        page.get_wanted.connect(self.finding_wanted)
        page.show_imports(self.importing.make_list())
        page.import_wanted.connect(self.importing.choose)
        page.rescan_wanted.connect(session.library.rescan)
        page.left.connect(self.page_left)
        page.shown.connect(self._measure_disk)
        page.show_models(session.library.models)
        session.library.changed.connect(page.show_models)
        changes = (session.state_changed, session.residents_changed, self.planner.planned, self._preferences.changed)
        for changed in changes:
            changed.connect(page.refresh)
        return page

    def _connect_adapters(self, card: ModelCard) -> None:
        card.adapter_wanted.connect(lambda record: self.adapters.choose(record, self._centre))
        card.adapter_unwanted.connect(self.adapters.remove)
        self.adapters.changed.connect(card.show_state)
        self.adapters.changed.connect(self.planner.measure_anew)

    def importable(self, contents: DropContents) -> Path | None:
        """Return what a drop on the page of models imports; None elsewhere, and for what cannot be imported."""
        first = next(iter(contents.paths), None)
        if not self._page_in_view or first is None:
            return None
        suffix = first.suffix.lower()
        if suffix == ".safetensors":
            return first.parent
        return first if suffix == ".gguf" or first.is_dir() else None

    @property
    def _page_in_view(self) -> bool:
        return "page" in self.__dict__ and self.page.isVisible()

    @Slot()
    def open_page(self) -> None:
        """Bring the page of models into view, at first with the model in use selected."""
        first, in_use = "page" not in self.__dict__, self._session.state.record
        if first and in_use is not None:
            self.page.table.select(in_use)
        self.page_wanted.emit(self.page)

    @Slot()
    def _measure_disk(self) -> None:
        """Count the disk space of the models on a worker thread, while it can be seen."""
        if self._tasks is not None and (self._page_in_view or self.card.isVisible()):
            self._tasks.start(self._show_disk_use(self._tasks))

    async def _show_disk_use(self, tasks: "AsyncTasks") -> None:
        from sotto.store.disk_use import disk_use

        models = self._session.library.models
        use = await tasks.call(disk_use, models)
        if models == self._session.library.models:
            self.card.show_disk_use(use)
            if self._page_in_view:
                self.page.card.show_disk_use(use)
                self.page.model.show_disk_use(use)
                self.page.show_summary()

    def open_picker(self, below: QWidget, then: Callable[[ModelRecord], None] | None = None) -> None:
        """Let the user choose a model from a list below a widget, and call `then` with it, or else use it."""
        self._choose = then or self._use
        self.picker.open(self._session.library.models, below)

    @property
    def picker(self) -> ModelPicker:
        """The list to choose a model from, which is created on first use."""
        if self._picker is None:
            self._picker = ModelPicker(self.notes, self.planner, self._session.state_of, self._centre)
            self._picker.chosen.connect(lambda record: self._choose(record))
            self._picker.get_wanted.connect(self.finding_wanted)
            self._picker.manage_wanted.connect(self.open_page)
        return self._picker

    def _use(self, record: ModelRecord) -> None:
        self.load(record)
        if self.card.isHidden():
            self.left.emit()

    @Slot()
    def _deselect(self) -> None:
        """Select no model once its card is gone, unless the keyboard is in the list."""
        focus = QApplication.focusWidget()
        if focus is None or not self.panel.isAncestorOf(focus):
            self.panel.clear_selection()

    def choose_folder(self) -> None:
        """Let the user choose a folder that will be searched for models."""
        dialog = FileDialog(self._centre, tr("Add a model folder"))
        dialog.setFileMode(FileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.add_folder)
        dialog.open()

    @Slot(str)
    def add_folder(self, path: str) -> None:
        """Add a folder to those that are searched for models."""
        folders = self._preferences.values.folders
        try:
            path.encode()
        except UnicodeEncodeError:
            message = tr("The name of {folder} is not UTF-8, so it cannot be saved; rename the folder.")
            message = message.format(folder=printable_path(path))
            self._session.problem.emit(Problem(tr("The folder was not added"), message))
            return
        if path not in folders:
            self._preferences.change(folders=(*folders, path))

    def show_summary(self) -> None:
        """Show how many models were found, and where."""
        session = self._session
        if session.library.searching:
            return
        places = [
            SearchedPlace(
                source_name(root.kind),
                home_path(root.path),
                root.variable,
                root.path in session.library.present_roots,
                sum(_is_in(record, root.path) for record in session.library.models),
            )
            for root in session.library.roots
            if root.kind is not Source.BUILTIN
        ]
        sample = self.planner.memory.sample
        self._summary.show_found(session.library.models, places, sample.total if sample else 0)

    def close(self) -> None:
        """Pause all downloads and imports until the next start, and stop what is copied and the making of a model."""
        self.downloading.close()
        self.importing.close()
        self.keeper.close()
        self.customizing.close()

    @Slot()
    def sample_memory(self) -> None:
        """Read the machine's memory on a worker thread."""
        if self._tasks is not None:
            self._tasks.start(self._sample(self._tasks))

    async def _sample(self, tasks: "AsyncTasks") -> None:
        try:
            sample: memory_estimate.MemorySample | None = await tasks.call(memory_estimate.sample_memory)
        except OSError:
            sample = None
        first = self.planner.memory.sample is None
        self._gauge.show_sample(sample)
        self.planner.set_sample(sample)
        if first:
            self.show_summary()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the card when the window is resized, and with the sidebar."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Hide):
            self.card.place()
        return super().eventFilter(watched, event)


def _is_in(record: ModelRecord, folder: Path) -> bool:
    paths = (record.path, *(place.path for place in record.also))
    return record.present and any(path.is_relative_to(folder) for path in paths)
