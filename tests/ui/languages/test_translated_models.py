"""The models in another language: the list, the card, the page, the picker, the gauge, downloads, and what is reported.

Every text that `models` marks is seen, or the story fails: so it goes wherever these say something.
"""

import threading
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from adapters import write_adapter
from planned import GB, NEEDS
from scripted_loop import record
from sotto.engine.contract.events import LoadProgress
from sotto.engine.memory.memory_figures import MemoryFigures, ModelFigures
from sotto.errors import InvalidNameError, StoreError
from sotto.store import removal
from sotto.store.disk_use import DiskUse
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.records import Format, Place, Source
from sotto.ui.models import download_controller, model_templates, model_trash
from sotto.ui.models.discovery_summary import SearchedPlace
from sotto.ui.models.model_templates import ModelTemplates
from sotto.ui.models.state_line import state_line
from sotto.ui.preferences.preferences import MODEL_COLUMNS
from sotto.ui.state import memory_estimate
from sotto.ui.state.load_pace import LoadPace
from sotto.ui.state.memory_estimate import Fit, MemorySample
from sotto.ui.state.model_state import ModelState, Phase
from tiny_random import write_model
from translation_reader import Counter, Reader

pytestmark = pytest.mark.slow

COPY = Path("/models/copy")
BUILTIN = record("tiny:0b", source=Source.BUILTIN)
FITS = record(
    "tiny:1b", source=Source.LMSTUDIO, also=(Place("a", Source.HUGGINGFACE, COPY), Place("b", Source.FOLDER, COPY))
)
TIGHT, HUGE, UNKNOWN = record("tiny:2b", source=Source.SOTTO), record("tiny:3b"), record("tiny:4b")
CANNOT = record("tiny:5b", runnable=False, reason="Calm", parameters=None, context_length=None)
ABSENT = record("tiny:6b", present=False)
EMBEDDER = record("tiny:7b", format=Format.GGUF, capabilities=("embedding",))
ABLE = record("tiny:8b", capabilities=("completion", "vision", "tools", "thinking", "embedding"))
RECORDS = [BUILTIN, FITS, TIGHT, HUGE, UNKNOWN, CANNOT, ABSENT, EMBEDDER, ABLE]
SIZES = {TIGHT.name: 9 * GB, HUGE.name: 40 * GB}


@dataclass
class Visit:
    """What the parts of the story share."""

    reader: Reader
    around: object
    qtbot: object
    tasks: object
    folder: Path
    monkeypatch: object

    @property
    def window(self):
        return self.around.shell.window

    @property
    def models(self):
        return self.window.models

    def note(self, *texts):
        for text in texts:
            self.reader.note("models", text)

    def row(self, wanted):
        return next(row for row in self.models.panel.rows if row.record == wanted)

    def load(self, wanted):
        self.around.session.load(wanted)
        self.qtbot.waitUntil(lambda: self.around.session.state_of(wanted).phase is Phase.READY)

    def told(self, title):
        """Wait for a notice with this title, and read it."""
        notice = self.window.panes.pane.notice
        self.qtbot.waitUntil(lambda: notice.title.text() == title)
        self.reader.look(notice)


@pytest.fixture
def visit(reader, shell, around, qtbot, tasks, tmp_path, monkeypatch, same_machine):
    """Return a visit of a machine with 16 GB and a model of each kind, which are still to be found."""
    reader.data |= set("llama safetensors GGUF registry ollama ai example org nowhere".split())
    # What the engine says of a plan stays English.
    plan = memory_estimate.plan
    monkeypatch.setattr(memory_estimate, "plan", lambda *asked: replace(plan(*asked), sentence="Calm"))
    around.shelf.records = []
    needs = {each.name: replace(NEEDS, weight_bytes=SIZES.get(each.name, GB), repacked="Calm") for each in RECORDS}
    around.script.needs = needs | {UNKNOWN.name: replace(NEEDS, layers=None, unknown="Calm")}
    around.script.taken = GB
    return Visit(reader, around, qtbot, tasks, tmp_path, monkeypatch)


def fill(visit):
    """Let the models be found and measured."""
    around, planner = visit.around, visit.models.planner
    around.shelf.records = RECORDS
    around.session.library.rescan()
    visit.qtbot.waitUntil(lambda: all(planner.measured(each) for each in RECORDS if each.runnable))
    visit.qtbot.waitUntil(lambda: planner.projection(HUGE).fit is Fit.NO)
    assert {planner.projection(each).fit for each in RECORDS} == set(Fit)


def test_nothing_about_models_stays_english(visit, qtbot, loop):
    visit.around.shell.open_window()
    read_first_run(visit)
    fill(visit)
    read_rows(visit)
    read_cards(visit)
    read_menus(visit)
    read_loaded_models(visit)
    read_gauge(visit)
    read_page(visit)
    read_picker(visit)
    read_form(visit)
    read_downloads(visit)
    read_templates(visit)
    read_adapters(visit)
    read_folders(visit)
    read_deletions(visit)
    read_keeping(visit)
    assert visit.reader.english == {}
    assert visit.reader.unread("models") == []


def read_first_run(visit):
    finds = visit.window.chat.welcome.finds
    visit.reader.look(visit.window)
    visit.qtbot.waitUntil(lambda: not visit.around.session.library.searching)
    visit.qtbot.waitUntil(lambda: visit.models.planner.memory.sample is not None)
    visit.reader.look(visit.window)
    finds.toggle.click()
    places = [SearchedPlace("Calm", "~/a/b", "", True, count) for count in (0, 1, 2, 5)]
    finds.show_found((FITS, TIGHT), (*places, SearchedPlace("Calm", "~/a/b", "", False, 0)), 0)
    visit.reader.look(finds)
    finds.toggle.click()
    visit.reader.look(finds)


def states(wanted, info):
    """Yield each state of a model."""
    for phase in (Phase.FOUND, Phase.FAILED, Phase.UNLOADING):
        yield ModelState(phase, wanted)
    for progress in (None, *(LoadProgress(phase, 1, 4) for phase in ("weights", "tokenizer", "warm-up"))):
        yield ModelState(Phase.LOADING, wanted, progress, pace=LoadPace(True, 5e6, 100.0))
    yield ModelState(Phase.LOADING, wanted, pace=LoadPace(True, seconds_silent=5))
    for phase in (Phase.READY, Phase.GENERATING):
        yield ModelState(phase, wanted, info=info)


def read_rows(visit):
    panel, notes = visit.models.panel, visit.models.notes
    visit.load(FITS)
    info = visit.around.session.state.info
    visit.reader.look(panel)
    for row in panel.rows:
        for state in states(row.record, info):
            row.show_state(state)
            visit.reader.look(row)
            visit.note(row.line, *row.badges, row.verdict.word if row.verdict is not None else "")
    panel.show_residents()
    notes.mark_favourite(FITS, favourite=True)
    notes.pin(FITS, pinned=True)
    visit.reader.look(panel)
    panel.filter("nowhere")
    visit.reader.look(panel)
    panel.filter("")
    for state in (ModelState(), *states(FITS, info), ModelState(Phase.READY, FITS, info=replace(info, writes=False))):
        visit.note(state_line(state))


def read_cards(visit):
    card, session = visit.models.card, visit.around.session
    session.eject()
    visit.qtbot.waitUntil(lambda: session.state.phase is Phase.FOUND)
    for each in RECORDS:
        visit.models.show_details(each)
        visit.reader.look(card, visit.window.sidebar.gauge)
        visit.models.notes.pin(each, pinned=not visit.models.notes.is_pinned(each))
        visit.reader.look(card)
    assert "⟦Load anyway⟧" in visit.reader.read
    for each in (TIGHT, FITS):
        visit.models.show_details(each)
        card.show_disk_use(DiskUse({each.digest: 5}, 5, {TIGHT.digest: 3}))
        visit.reader.look(card)
    visit.models.show_details(FITS)
    card.slider.setValue(0)
    visit.reader.look(card)
    visit.around.script.fail_load = "Calm"
    session.load(FITS)
    visit.qtbot.waitUntil(lambda: session.state.phase is Phase.FAILED)
    visit.models.show_details(FITS)
    visit.reader.look(card)
    visit.around.script.fail_load = ""
    visit.around.script.hold_load = threading.Event()
    visit.around.script.predicts = True
    session.load(FITS)
    visit.qtbot.waitUntil(lambda: session.state.phase is Phase.LOADING)
    visit.models.show_details(FITS)
    visit.reader.look(card)
    visit.around.script.hold_load.set()
    visit.qtbot.waitUntil(lambda: session.state.phase is Phase.READY)
    visit.reader.look(card)
    visit.models.close_card()


def read_menus(visit):
    panel, monkeypatch = visit.models.panel, visit.monkeypatch
    visit.around.script.room = 2
    visit.load(ABLE)
    assert visit.around.session.state_of(FITS).loaded
    for has_template in (False, True):
        monkeypatch.setattr(ModelTemplates, "has", lambda each, has=has_template: has)
        for each in RECORDS:
            visit.reader.look(menu := panel.menu_of(each))
            menu.deleteLater()
    visit.reader.look(menu := panel.order_menu())
    menu.deleteLater()


def read_loaded_models(visit):
    """Read what the row of the loaded model says, which is also said of one that is unloaded when it is idle."""
    row, notes = visit.row(ABLE), visit.models.notes
    visit.around.preferences.change(keep_alive_minutes=5)
    for pinned in (True, False):
        notes.pin(ABLE, pinned=pinned)
        visit.reader.look(row)
    assert "⟦Unloads in ⟧" in row.accessibleDescription()
    visit.around.preferences.change(keep_alive_minutes=0)


def read_gauge(visit):
    gauge = visit.window.sidebar.gauge
    gauge.sample_timer.stop()
    for opened in (True, False):
        gauge.set_open(opened)
        visit.reader.look(gauge)
    for sample in (
        MemorySample(100, 60),
        MemorySample(100, 22),
        MemorySample(100, 9),
        MemorySample(100, 9, shortage=2),
        None,
    ):
        gauge.show_sample(sample)
        visit.reader.look(gauge)
    two = (ModelFigures("1", 3, 0, 0), ModelFigures("2", 1, 0, 0))
    for models in (two, two[:1]):
        gauge.show_model("")
        gauge.show_figures(MemoryFigures(4, 0, 4, 0, 4, 3, models=models))
        visit.reader.look(gauge)


def read_page(visit):
    visit.models.open_page()
    page, table = visit.models.page, visit.models.page.model
    visit.qtbot.waitUntil(lambda: "⟦ on disk⟧" in page.summary.text())
    visit.reader.look(page)
    for state in states(FITS, visit.around.session.state.info):
        with visit.monkeypatch.context() as patched:
            patched.setattr(table, "_state_of", lambda each, state=state: replace(state, record=each))
            table.refresh()
        visit.reader.look(page.table)
    table.refresh()
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        for number in range(len(MODEL_COLUMNS)):
            page.table.sortByColumn(number, order)
            role = Qt.ItemDataRole.AccessibleTextRole
            visit.note(table.headerData(number, Qt.Orientation.Horizontal, role))
    visit.reader.look(page.order_menu())
    page.filter.setText(FITS.name)
    visit.reader.look(page)
    page.filter.setText("nowhere")
    visit.reader.look(page)
    page.filter.clear()
    page.show_models(())
    visit.reader.look(page)
    page.show_models(visit.around.session.library.models)
    page.left.emit()


def read_picker(visit):
    visit.models.open_picker(visit.window.chat.header)
    picker = visit.models.picker
    visit.reader.look(picker)
    picker.filter.setText("nowhere")
    visit.reader.look(picker)
    picker.hide()


def read_form(visit):
    form = visit.models.downloading.form
    form.open()
    for name in ("", "llama", FITS.name, "example.org/1/tiny", "hf.co/1/tiny"):
        form.field.setText(name)
        visit.reader.look(form)
    form.close_card()
    with visit.monkeypatch.context() as patched:
        patched.setattr(visit.models.downloading.downloads, "add", refuse_name)
        visit.models.downloading.get("no/name at all")
    visit.told("⟦The model was not downloaded⟧")


def read_downloads(visit):
    downloads = visit.models.downloading.downloads
    visit.monkeypatch.setattr(download_controller, "announce", lambda about, text: visit.note(text))

    def report(progress):
        visit.around.queue.report(progress)
        visit.qtbot.waitUntil(lambda: progress in downloads.all)
        visit.reader.look(visit.window)

    for name in (TIGHT.name, "tiny:9b"):
        downloads.add(name)
        for state in PullState:
            if state is not PullState.DONE:
                report(PullProgress(name, state, GB, 4 * GB))
        for left in (100.0, 1e6):
            report(PullProgress(name, PullState.DOWNLOADING, GB, 4 * GB, 5e6, left, "Calm"))
    downloads.cancel(TIGHT.name)
    visit.told("⟦The download of ⟧tiny:2b⟦ was cancelled⟧")
    visit.around.queue.report(PullProgress("tiny:9b", PullState.DONE, GB, GB))
    visit.told("tiny:9b⟦ is here⟧")
    downloads.add("tiny:9b")
    visit.around.queue.report(PullProgress("tiny:9b", PullState.DONE, GB, GB, unchanged=True))
    visit.told("tiny:9b⟦ is up to date⟧")
    visit.monkeypatch.setattr(visit.around.queue, "unfinished", refuse)
    downloads.begin(visit.tasks)
    visit.told("⟦Earlier downloads could not be read⟧")


def refuse(*arguments):
    raise StoreError("Calm")


def refuse_name(*arguments):
    raise InvalidNameError("Calm")


def read_templates(visit):
    templates, session = visit.models.templates, visit.around.session
    (file := visit.folder / "a.txt").write_text("{{ .Prompt }}", encoding="utf-8")
    templates.assign(ABLE, file)
    visit.told("⟦Template set⟧")
    visit.qtbot.waitUntil(lambda: session.state.phase is Phase.READY)
    templates.remove(ABLE)
    visit.told("⟦Template reset⟧")
    templates.assign(HUGE, file)
    visit.told("⟦Template set⟧")
    templates.remove(HUGE)
    visit.told("⟦Template reset⟧")
    visit.monkeypatch.setattr(model_templates, "read_template_file", refuse)
    templates.assign(HUGE, file)
    visit.told("tiny:3b⟦ keeps its template⟧")


def read_adapters(visit):
    adapters, session = visit.models.adapters, visit.around.session
    write_adapter(folder := visit.folder / "llama", write_model(visit.folder / "tiny", "plain"))
    card = visit.models.page.card if visit.models.page.isVisible() else visit.models.card
    for model in (ABLE, HUGE):
        adapters.assign(model, folder)
        visit.told("⟦Adapter added⟧")
        visit.qtbot.waitUntil(lambda: not session.loading)
        visit.models.show_details(model)
        visit.reader.look(card)
        adapters.remove(model)
        visit.told("⟦Adapter removed⟧")
        visit.qtbot.waitUntil(lambda: not session.loading)
    visit.monkeypatch.setattr(model_templates, "open_adapter", refuse)
    adapters.assign(HUGE, folder)
    visit.told("tiny:3b⟦ keeps its adapter⟧")


def read_folders(visit):
    visit.models.choose_folder()
    visit.models.templates.choose(HUGE, visit.window)
    visit.models.adapters.choose(HUGE, visit.window)
    for dialog in visit.window.findChildren(QFileDialog):
        visit.reader.look(dialog)
        dialog.close()
    visit.models.add_folder("/models/\udcff")
    visit.told("⟦The folder was not added⟧")


def read_keeping(visit):
    keeper = visit.models.keeper
    for ask, each in ((keeper.rename, TIGHT), (keeper.duplicate, TIGHT), (keeper.keep, FITS)):
        ask(each)
        visit.reader.look(keeper.form)
    keeper.form.show_running(True)
    visit.reader.look(keeper.form)
    keeper.form.close_card()
    keeper._offer_undo(TIGHT.places[0], "other:1b")
    visit.told("tiny:2b⟦ was renamed⟧")


def read_deletions(visit):
    trash, notice = visit.models.trash, visit.window.panes.pane.notice
    visit.monkeypatch.setattr(removal, "remove", refuse)
    trash.remove(HUGE)
    visit.told("tiny:3b⟦ was not deleted⟧")
    removed = removal.RemovedModel(HUGE.name, visit.folder, (), 0.0)
    visit.monkeypatch.setattr(removal, "remove", lambda each: removed)
    visit.monkeypatch.setattr(removal, "restore", refuse)
    trash.remove(HUGE)
    visit.told("tiny:3b⟦ was deleted⟧")
    notice.button.click()
    visit.told("tiny:3b⟦ could not be restored⟧")
    visit.monkeypatch.setattr(removal, "empty_trash", refuse)
    trash.empty()
    visit.told("⟦The trash of models could not be emptied⟧")
    trash.removed = (removed,)
    visit.reader.look(model_trash.trash_menu(trash, visit.window))
    visit.models.page.show_trash(2)


def test_nothing_is_translated_while_models_are_painted_or_filtered(ready, qtbot, loop, qapp, destroyed):
    """Texts in the list and the table are looked up when a model changes, as there may be many models."""
    window, panel = ready.window, ready.window.models.panel
    window.models.open_page()
    page = window.models.page
    qtbot.waitUntil(lambda: "on disk" in page.summary.text())
    window.models.show_details(ready.session.library.models[0])
    window.models.open_picker(window.chat.header)
    counter = Counter(qapp)
    qapp.installTranslator(counter)
    for change in (page.model.refresh, lambda: page.filter.setText("tiny"), page.filter.clear):
        change()
        counter.asked.clear()
        window.grab()
        window.models.picker.grab()
        assert counter.asked == []
    panel.filter("tiny")
    window.models.picker.filter.setText("other")
    assert counter.asked == []
    # It counts.
    panel.filter("nowhere")
    assert counter.asked == ["No model is called “{text}”."]
    qapp.removeTranslator(counter)
    destroyed(counter)
