"""Puts together what belongs to models in the window: the list, the card, the gauge, and what stands behind them."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from sotto.runner.residents import same
from sotto.store.printable import printable_path
from sotto.store.records import ModelRecord, Source
from sotto.ui.models.discovery_summary import DiscoverySummary, SearchedPlace
from sotto.ui.models.download_controller import DownloadController
from sotto.ui.models.idle_unloader import IdleUnloader
from sotto.ui.models.memory_gauge import MemoryGauge
from sotto.ui.models.memory_planner import MemoryPlanner
from sotto.ui.models.model_card import ModelCard
from sotto.ui.models.model_description import SOURCE_NAMES
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.models.model_panel import ModelPanel
from sotto.ui.models.model_templates import ModelTemplates
from sotto.ui.models.model_trash import ModelTrash
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state import memory_estimate
from sotto.ui.state.model_state import ModelState, Problem
from sotto.ui.state.names import home_path, short_name
from sotto.ui.toolkit.widgets import popup

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import AsyncTasks


class ModelsController(QObject):
    """Connects the widgets that are about models with the session.

    Signals:
        left: The person is done with models; the focus belongs to the conversation.
        offered: What was done, about what, the words for what can be done about it, what does it, and for how many
            seconds.
    """

    left = Signal()
    offered = Signal(str, str, str, object, float)

    def __init__(self, session: Session, preferences: PreferenceStore, parent: QObject | None = None) -> None:
        """Make the list and the card; they belong nowhere yet."""
        super().__init__(parent)
        self._session, self._preferences = session, preferences
        self._flows: AsyncTasks | None = None
        self.book = ModelNotes(preferences, self)
        self.planner = MemoryPlanner(session, self.book, self)
        self.keep_alive = IdleUnloader(session, self.book, preferences, self)
        self.bin = ModelTrash(session, self)
        self.templates = ModelTemplates(session, self)
        self.getting = DownloadController(session, preferences, self)
        self.panel = ModelPanel(self.book, self.planner, self.keep_alive, self.getting.downloads, session.state_of)
        self.card = ModelCard(self.book, self.planner, session.state_of)

    def furnish(self, centre: QWidget, sidebar: QWidget, gauge: MemoryGauge, finds: DiscoverySummary) -> None:
        """Show the card over `centre`, beside `sidebar`, what is planned in `gauge`, and what was found in `finds`."""
        session, panel, card = self._session, self.panel, self.card
        self._centre, self._sidebar, self._gauge, self._finds = centre, sidebar, gauge, finds
        card.setParent(centre)
        card.hide()
        centre.installEventFilter(self)
        self.getting.furnish(centre, sidebar, panel)
        self.getting.load_wanted.connect(self.load)
        self.getting.left.connect(self.left)
        for offering in (self.bin, self.getting):
            offering.offered.connect(self.offered)
        panel.load_wanted.connect(self.load)
        panel.eject_wanted.connect(session.eject)
        panel.stop_wanted.connect(session.stop_load)
        panel.remove_wanted.connect(self.bin.remove)
        panel.template_wanted.connect(lambda record: self.templates.choose(record, centre))
        panel.template_unwanted.connect(self.templates.take_back)
        panel.verify_wanted.connect(session.library.verify)
        panel.rescan_wanted.connect(session.library.rescan)
        panel.details_wanted.connect(self.show_details)
        panel.entered.connect(self._enter_card)
        panel.chosen_changed.connect(self._follow_choice)
        card.load_wanted.connect(self._load_from_card)
        card.eject_wanted.connect(session.eject)
        card.stop_wanted.connect(session.stop_load)
        card.menu_wanted.connect(lambda record, at: popup(panel.menu_of(record), at))
        card.previewed.connect(gauge.show_plan)
        card.closed.connect(self.close_card)
        finds.add_wanted.connect(self.choose_folder)
        finds.rescan_wanted.connect(session.library.rescan)
        session.library.changed.connect(self._show_finds)
        gauge.sample_wanted.connect(self.sample_memory)
        session.library.changed.connect(panel.show_models)
        session.library.changed.connect(card.show_models)
        session.figures_changed.connect(gauge.show_figures)
        session.residents_changed.connect(panel.show_residents)
        session.residents_changed.connect(card.show_state)
        QApplication.instance().focusChanged.connect(self._leave)  # type: ignore[union-attr]
        panel.show_models(session.library.models)

    def begin(self, flows: "AsyncTasks") -> None:
        """Start what needs an event loop."""
        self._flows = flows
        # Another window or panel may have begun before.
        self.panel.show_models(self._session.library.models)
        self._gauge.show_figures(self._session.figures)
        self.planner.begin(flows)
        self.bin.begin(flows)
        self.templates.begin(flows)
        self.getting.begin(flows)
        self.sample_memory()

    def show_state(self, state: ModelState) -> None:
        """Draw the model that the window is about as it stands."""
        self.panel.show_state(state)
        self.card.show_state()
        self._gauge.show_model(short_name(state.record.name) if state.record else "")

    @Slot(object)
    def load(self, record: ModelRecord) -> None:
        """Load a model; where it would fill memory, show the numbers first."""
        state = self._session.state_of(record)
        if record.runnable and self.planner.projection(record).needs_confirmation and not (state.loaded or state.busy):
            self.show_details(record)
            self.card.load.setFocus()
        elif record.present:
            self._session.load(record)
            self.close_card(goes_back=False)

    @Slot(object)
    def show_details(self, record: ModelRecord) -> None:
        """Show the card of a model beside its row."""
        row = next((row for row in self.panel.rows if same(row.record, record)), None)
        if row is None:
            return
        row.setChecked(True)
        self.card.open(record)
        place = row.rect()
        place.moveTopLeft(row.mapTo(self._centre, QPoint(0, 0)))
        self.card.beside(self._sidebar, place)

    @Slot(object)
    def _enter_card(self, record: ModelRecord) -> None:
        """Show the card of a model, and go into it."""
        self.show_details(record)
        self.card.enter()

    def _follow_choice(self, record: ModelRecord) -> None:
        if self.card.isVisible():
            self.show_details(record)

    @Slot(object, object, bool)
    def _load_from_card(self, record: ModelRecord, context: int | None, anyway: bool) -> None:
        self._session.load(record, context, anyway=anyway)
        self.card.hide()
        self.left.emit()

    def close_card(self, *, goes_back: bool = True) -> None:
        """Hide the card; the focus goes back to the row if it was in the card."""
        focused = QApplication.focusWidget()
        within = focused is not None and self.card.isAncestorOf(focused)
        self.card.hide()
        if within and goes_back:
            self.panel.focus_chosen()

    def _leave(self, before: QWidget | None, now: QWidget | None) -> None:
        """Hide the card once the focus is somewhere else in the window."""
        if now is None or self.card.isHidden() or now.window() is not self.card.window():
            return
        if not any(one is now or one.isAncestorOf(now) for one in (self.card, self.panel)):
            self.card.hide()

    def choose_folder(self) -> None:
        """Let the person choose a folder to look for models in, from now on."""
        dialog = QFileDialog(self._centre, "Add a folder of models")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.add_folder)
        dialog.open()

    @Slot(str)
    def add_folder(self, path: str) -> None:
        """Look for models in a folder, too, from now on."""
        folders = self._preferences.values.folders
        try:
            path.encode()
        except UnicodeEncodeError:
            why = f"The name of {printable_path(path)} is not UTF-8, so it cannot be kept; give it another one."
            self._session.problem.emit(Problem("The folder was not added", why))
            return
        if path not in folders:
            self._preferences.change(folders=(*folders, path))

    def _show_finds(self) -> None:
        session = self._session
        places = [
            SearchedPlace(
                SOURCE_NAMES[root.kind],
                home_path(root.path),
                root.variable,
                root.path in session.library.present_roots,
                sum(_lies_in(record, root.path) for record in session.library.models),
            )
            for root in session.library.roots
            if root.kind is not Source.BUILTIN
        ]
        taken = self.planner.memory.sample
        self._finds.show_finds(session.library.models, places, taken.total if taken else 0)

    def close(self) -> None:
        """Let downloads rest until the next start."""
        self.getting.close()

    @Slot()
    def sample_memory(self) -> None:
        """Ask how much memory is in use, off the window's thread."""
        if self._flows is not None:
            self._flows.start(self._sample(self._flows))

    async def _sample(self, flows: "AsyncTasks") -> None:
        try:
            taken: memory_estimate.MemorySample | None = await flows.call(memory_estimate.sample_memory)
        except OSError:
            taken = None
        first = self.planner.memory.sample is None
        self._gauge.show_sample(taken)
        self.planner.show_sample(taken)
        if first:
            self._show_finds()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the card in its place when the window changes its size."""
        if event.type() == QEvent.Type.Resize:
            self.card.place()
        return super().eventFilter(watched, event)


def _lies_in(record: ModelRecord, folder: Path) -> bool:
    return record.present and any(
        path.is_relative_to(folder) for path in (record.path, *(place.path for place in record.also))
    )
