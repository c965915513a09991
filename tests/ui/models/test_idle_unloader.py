"""Models that are unloaded when idle, models that stay loaded, and models that are deleted."""

import os
import threading
import time

import pytest

from scripted_loop import record
from sotto.store.records import Source
from sotto.ui.models import model_trash
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.state.model_state import Phase
from stores import Store


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock(ready, loop, preferences):
    made, keep = Clock(), ready.window.models.idle_unloader

    def begin():
        keep.now = made
        keep.idle_since = 0.0
        preferences.change(keep_alive_minutes=5)

    loop.starts.append(begin)
    return made


def test_an_idle_model_is_unloaded_when_its_time_is_up(ready, qtbot, loop, clock):
    keep, row = ready.window.models.idle_unloader, ready.window.sidebar.rows[0]
    assert row.accessibleDescription().endswith("Unloads in 5 min if idle")
    clock.time = 299.0
    keep.check()
    assert ready.session.state.phase is Phase.READY
    assert "in 1 s" in row.accessibleDescription()
    clock.time = 300.0
    keep.check()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FOUND)


def test_an_answer_restarts_the_timer(ready, qtbot, loop, clock):
    clock.time = 200.0
    ready.script.hold_answer = threading.Event()
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.GENERATING)
    assert ready.window.models.idle_unloader.seconds_left is None
    clock.time = 1000.0
    ready.window.models.idle_unloader.check()
    assert ready.session.state.phase is Phase.GENERATING
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY)
    assert ready.window.models.idle_unloader.seconds_left == 300.0


def test_pinned_models_stay_and_so_does_every_model_without_a_time_limit(ready, qtbot, loop, clock, preferences):
    keep, book = ready.window.models.idle_unloader, ready.window.models.notes
    book.pin(record(), pinned=True)
    clock.time = 9999.0
    keep.check()
    assert (keep.seconds_left, keep.line) == (None, "Stays loaded")
    assert "stays loaded" in ready.window.sidebar.rows[0].accessibleName()
    preferences.change(keep_alive_minutes=0)
    book.pin(record(), pinned=False)
    keep.check()
    assert (keep.seconds_left, keep.line) == (None, "")
    assert ready.session.state.phase is Phase.READY


def test_a_question_reloads_a_model_that_was_unloaded_when_idle(ready, qtbot, loop, clock):
    clock.time = 300.0
    ready.window.models.idle_unloader.check()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FOUND)
    ready.window.send("Are you there?")
    qtbot.waitUntil(lambda: len(ready.script.requests) == 1 and not ready.chat_session.busy)
    assert ready.session.state.record == record()


@pytest.fixture
def window_and_store(real_window, own_home, monkeypatch):
    """Return the real window, with two models in Sotto's own store, and that store."""
    monkeypatch.setattr(model_trash, "UNDO_SECONDS", 0.6)
    from sotto.paths import data_dir

    store = Store(data_dir() / "models")
    store.model("one")
    store.model("two", fill=1)
    return real_window(EngineThread()), store


def names(window):
    return {row.record.name for row in window.sidebar.rows}


def contents(store):
    return {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file() and path.name != "lock"}


def delete(window, name):
    (row,) = [row for row in window.sidebar.rows if row.record.name == name]
    actions = {action.text(): action for action in window.models.panel.menu_of(row.record).actions()}
    actions["Delete"].trigger()


def test_a_deleted_model_can_be_restored(window_and_store, qtbot, loop):
    window, store = window_and_store
    before = contents(store)
    delete(window, "one:latest")
    qtbot.waitUntil(lambda: "one:latest" not in names(window))
    assert window.chat.notice.title.text() == "one was deleted"
    window.chat.notice.button.click()
    qtbot.waitUntil(lambda: "one:latest" in names(window))
    qtbot.wait(800)
    assert contents(store) == before


def test_a_deleted_model_is_erased_after_an_hour(window_and_store, qtbot, loop):
    window, store = window_and_store
    blobs, trash = len(list((store.root / "blobs").iterdir())), window.models.trash
    delete(window, "one:latest")
    qtbot.waitUntil(lambda: [removed.name for removed in trash.removed] == ["one:latest"])
    trash._prune_now()
    qtbot.wait(100)
    assert len(list((store.root / "blobs").iterdir())) == blobs
    os.utime(trash.removed[0].folder, (0, time.time() - 3700))
    trash._prune_now()
    qtbot.waitUntil(lambda: not trash.removed)
    assert len(list((store.root / "blobs").iterdir())) < blobs
    assert names(window) >= {"two:latest"}


def test_only_models_in_the_own_store_can_be_deleted(ready, loop):
    panel = ready.window.models.panel
    for model, offered in (
        (record("a", source=Source.SOTTO), True),
        (record("b", source=Source.OLLAMA), False),
        (record("c", source=Source.BUILTIN), False),
        (record("d", source=Source.FOLDER), False),
    ):
        texts = [action.text() for action in panel.menu_of(model).actions()]
        assert ("Delete" in texts) is offered, model.name
