"""The first page that people see: a model's greeting, the models that were found, and how to add more."""

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication

from clipping import assert_unclipped
from scripted_loop import record
from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.ui.models.discovery_summary import SearchedPlace, suggest_size
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.state.model_state import Phase

BUILTIN = record("sotto", source=Source.BUILTIN)
PLACES = (
    SearchedPlace("Ollama", "~/.ollama/models", "", exists=True, models=2),
    SearchedPlace("Hugging Face", "~/hub", "HF_HUB_CACHE", exists=False, models=0),
)


def texts(widget):
    return [widget.itemAt(number).widget().text() for number in range(widget.count())]


def test_found_models_are_counted_with_their_size(stage, loop):
    finds = stage.window.chat.welcome.finds
    finds.show_found([BUILTIN, record("a", size=40 * 10**9), record("b", size=10**9)], PLACES, 16 * 10**9)
    assert finds.headline.text() == "Found 2 models you already have (41.0 GB)"
    assert finds.places.isHidden()
    finds.toggle.click()
    assert not finds.places.isHidden()
    assert texts(finds.grid) == [
        *("Ollama", "~/.ollama/models", "2 models"),
        *("Hugging Face", "~/hub (HF_HUB_CACHE)", "not found"),
    ]


def test_the_page_says_what_to_do_if_nothing_was_found(stage, loop):
    finds = stage.window.chat.welcome.finds
    assert finds.headline.text() == "Looking for models…"
    finds.show_found([BUILTIN], PLACES, 16 * 10**9)
    assert "No other models" in finds.headline.text()
    assert "4-bit models of up to about 14B" in finds.hint.text()
    assert "Drop a model" in finds.hint.text()


@pytest.mark.parametrize(("memory", "billions"), [(8, 3), (16, 14), (32, 32), (64, 70), (4, 1)])
def test_suggestions_by_memory(memory, billions):
    assert f"about {billions}B " in suggest_size(memory * 10**9)
    assert suggest_size(0) == ""


def test_the_page_shows_what_the_session_found(stage, qtbot, loop, tmp_path):
    finds, session = stage.window.chat.welcome.finds, stage.session
    qtbot.waitUntil(lambda: bool(session.library.models))
    assert finds.headline.text() == "Found 2 models you already have (2.2 MB)"
    session.library.roots = (
        Root(Source.OLLAMA, Path("/models"), True, "OLLAMA_MODELS"),
        Root(Source.FOLDER, tmp_path, True),
    )
    session.library.present_roots = frozenset((Path("/models"),))
    stage.window.models.show_summary()
    assert texts(finds.grid) == [
        *("Ollama", "/models (OLLAMA_MODELS)", "2 models"),
        *("Folder", str(tmp_path), "not found"),
    ]


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_every_button_does_something(stage, qtbot, loop, preferences, monkeypatch):
    finds, models = stage.window.chat.welcome.finds, stage.window.models
    qtbot.waitUntil(lambda: not stage.session.library.searching)
    stage.shelf.records = [*stage.shelf.records, record("new")]
    stage.session.library.rescan()
    qtbot.waitUntil(lambda: len(stage.session.library.models) == 3)
    finds.get.click()
    assert stage.window.panes.pane is stage.window.finding.page
    stage.window.panes.show_chat()
    finds.add.click()
    (dialog,) = [widget for widget in QApplication.topLevelWidgets() if widget.windowTitle() == "Add a model folder"]
    dialog.fileSelected.emit("/extra")
    dialog.close()
    assert preferences.values.folders == ("/extra",)
    qtbot.waitUntil(lambda: stage.shelf.folders_asked == ("/extra",))
    models.add_folder("/extra")
    assert preferences.values.folders == ("/extra",)
    models.add_folder("/\udcff")
    assert preferences.values.folders == ("/extra",)
    assert "not UTF-8" in stage.window.chat.notice.message.text()


def test_everything_is_reached_by_tab(stage, qtbot, loop):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.shelf.records = [BUILTIN]
    stage.session.library.rescan()
    qtbot.waitUntil(lambda: stage.session.library.models == (BUILTIN,))
    stage.session.load(BUILTIN)
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    window, reached = stage.window, set()
    window.chat.composer.draft.setFocus()
    for _ in range(60):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.add(QApplication.focusWidget())
    wanted = {
        *window.chat.welcome.findChildren(QAbstractButton),
        *window.models.panel.findChildren(QAbstractButton),
        window.sidebar.search,
        window.chat.composer.draft,
    }
    assert {widget for widget in wanted if widget.isVisible()} <= reached


@pytest.fixture
def first_window(real_window):
    """Return the window, and the moves on its first page since it was painted first."""
    window = real_window(EngineThread())
    page = window.chat.welcome
    return window, Moves(page, [page.title, page.greeting, *page.chips, page.finds])


def test_nothing_moves_while_the_first_model_loads(first_window, qtbot, loop):
    """The window is painted before anything is known: then models are found, one loads, and it greets."""
    window, moves = first_window
    page = window.chat.welcome
    qtbot.waitUntil(lambda: page.finds.isVisible() and "models" in page.finds.headline.text())
    qtbot.waitUntil(lambda: page.greeting.text() == window.greeting.text != "")
    qtbot.wait(50)
    assert page.title.text() == "Ask about Sotto"
    assert moves.seen == {}
    window.resize(window.width(), window.height() + 100)
    qtbot.waitUntil(lambda: page.title in moves.seen)


def test_a_model_that_cannot_be_loaded_is_not_offered_for_questions(ready, qtbot, loop):
    page = ready.window.chat.welcome
    assert page.title.text() == "Ask tiny"
    assert page.chips[0].isVisible()
    ready.script.fail_load = "config.json is missing."
    ready.session.load(ready.session.library.models[1])
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FAILED)
    assert page.title.text() == "Welcome to Sotto"
    assert not any(chip.isVisible() for chip in page.chips)


def test_nothing_moves_while_the_page_finds_room_for_what_was_found(stage, qtbot, loop):
    page = stage.window.chat.welcome
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    moves = Moves(page, [page.title, page.greeting, page.finds])
    page.repaint()
    height = page.finds.height()
    page.finds.show_found([BUILTIN], PLACES, 16 * 10**9)
    # The page may be painted between any two of the events in which its parts find their sizes.
    part = page.finds
    while part is not page:
        QCoreApplication.sendPostedEvents(part, QEvent.Type.LayoutRequest)
        page.repaint()
        part = part.parentWidget()
    qtbot.waitUntil(lambda: page.finds.height() > height)
    page.repaint()
    assert moves.seen == {}


class Moves(QObject):
    """Records where widgets were on a page, once they have been painted, before they moved."""

    def __init__(self, page, widgets):
        super().__init__(page)
        self.page, self.painted, self.seen = page, {}, {}
        for widget in widgets:
            widget.installEventFilter(self)

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            top = watched.mapTo(self.page, QPoint()).y()
            if self.painted.setdefault(watched, top) != top:
                self.seen[watched] = (self.painted[watched], top)
        return False


def test_found_models_are_shown_before_the_first_chat_only(ready, qtbot, loop):
    window, library = ready.window, ready.window.chat_library
    finds = window.chat.welcome.finds
    qtbot.waitUntil(finds.isVisible)
    window.send("Hello")
    qtbot.waitUntil(lambda: ready.chat_session.turns[-1].id > 0 and not ready.chat_session.busy)
    window.current.new_chat()
    qtbot.waitUntil(lambda: window.chat.welcome.isVisible() and not finds.isVisible())
    # Neither a search without hits nor the trash makes it the first chat again.
    library.search("nothing of the kind")
    qtbot.waitUntil(lambda: len(window.sidebar.chats.model.rows) == 0)
    assert not finds.isVisible()
    library.erase_all()
    qtbot.waitUntil(finds.isVisible)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [(720, 480), (1120, 760), (1600, 1000)])
@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_nothing_is_cut_off(stage, qtbot, loop, dressed, size, zoom):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    dressed.set_appearance("light", zoom)
    stage.window.resize(*size)
    stage.window.chat.welcome.finds.show_found([BUILTIN], PLACES, 16 * 10**9)
    qtbot.waitUntil(lambda: assert_unclipped(stage.window.chat.welcome))
