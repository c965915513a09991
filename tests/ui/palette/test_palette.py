"""The command palette, which finds chats, models and every menu action."""

import threading
import time
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from scripted_loop import record
from sotto.ui.palette import palette as palette_module
from sotto.ui.palette.command_finder import MAX_RESULTS, Kind
from sotto.ui.state.model_state import Phase


@pytest.fixture
def palette(stage, qtbot, loop):
    """Return a function that opens the palette by its shortcut."""

    def shown():
        qtbot.waitUntil(lambda: bool(stage.session.library.models) and QApplication.focusWidget() is not None)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
        found = stage.window.commands.palette
        assert found.isVisible()
        assert found.field.hasFocus()
        return found

    return shown


def titles(palette):
    return [command.title for command in palette.results]


def test_the_shortcut_opens_it_from_the_draft_and_escape_returns_there(palette, stage, qtbot, loop):
    draft = stage.window.chat.composer.draft
    draft.setPlainText("half a thought")
    draft.moveCursor(draft.textCursor().MoveOperation.Start)
    shown = palette()
    assert draft.toPlainText() == "half a thought"
    qtbot.keyClick(shown.field, Qt.Key.Key_Escape)
    assert shown.isHidden()
    assert draft.hasFocus()


def test_escape_closes_it_without_stopping_the_answer(ready, palette, qtbot, loop):
    ready.script.hold_answer = threading.Event()
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.GENERATING)
    shown = palette()
    QTest.keyClick(shown.field, Qt.Key.Key_Escape)
    assert shown.isHidden()
    assert ready.session.state.phase is Phase.GENERATING


def test_every_menu_action_is_offered_with_its_shortcut(palette, stage, loop):
    shown = palette()
    offered = {command.title: command for command in shown.finder.commands if command.kind is Kind.ACTION}
    for action in stage.window.menus.actions():
        title = action.text().removesuffix("…").replace("&", "")
        if action.isEnabled() and title != "Command Palette":
            assert offered[title].shortcut == action.shortcut().toString(action.shortcut().SequenceFormat.NativeText)
    assert "Eject Model" not in offered  # no model is loaded


def test_actions_are_remembered_by_names_that_no_language_changes(palette, stage, loop):
    shown = palette()
    actions = {command.title: command.key for command in shown.finder.commands if command.kind is Kind.ACTION}
    assert actions["Rescan Models"] == "action:rescan_models"
    assert actions["Export All as JSON"] == "action:export_all_chats-JSON"
    assert actions["Larger Text"] == "action:larger"
    names = [action.objectName() for action in stage.window.menus.actions()]
    assert all(names)
    assert len(set(names)) == len(names)


def test_a_model_is_loaded_and_comes_first_the_next_time(palette, stage, qtbot, loop):
    stage.shelf.records = [*stage.shelf.records, record("big:8b", runnable=False, reason="No.")]
    stage.shelf.records.append(record("someone/else:latest"))
    stage.window.models.panel.rescan.click()
    qtbot.waitUntil(lambda: len(stage.session.library.models) == 4)
    shown = palette()
    qtbot.keyClicks(shown.field, "othr")
    assert titles(shown)[0] == "other"
    shown.field.setText("someone")
    assert titles(shown) == ["else"]
    shown.field.setText("othr")
    qtbot.keyClick(shown.field, Qt.Key.Key_Return)
    assert shown.isHidden()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.session.state.record.name == "other:latest"
    palette()
    assert shown.results[0].title == "other"
    assert shown.current == shown.results[0]
    assert "big:8b" not in titles(shown)


def test_arrow_keys_select_and_an_action_applies_where_the_cursor_was(palette, stage, qtbot, loop):
    draft = stage.window.chat.composer.draft
    draft.setPlainText("word")
    shown = palette()
    qtbot.keyClicks(shown.field, "e")
    assert len(shown.results) > 2
    qtbot.keyClick(shown.field, Qt.Key.Key_Up)
    assert shown.current == shown.results[-1]
    qtbot.keyClick(shown.field, Qt.Key.Key_Down)
    qtbot.keyClick(shown.field, Qt.Key.Key_Down)
    assert shown.current == shown.results[1]
    shown.field.setText("select all")
    qtbot.keyClick(shown.field, Qt.Key.Key_Return)
    assert draft.textCursor().selectedText() == "word"
    palette()
    shown.field.setText("nothing like this at all")
    assert shown.results == ()
    qtbot.keyClick(shown.field, Qt.Key.Key_Return)
    assert shown.isVisible()


def test_a_chat_is_opened_by_its_title(ready, palette, qtbot, loop):
    for question in ("Boats and names", "Bread and butter"):
        ready.window.current.new_chat()
        ready.window.send(question)
        qtbot.waitUntil(lambda: not ready.chat_session.busy and ready.chat_session.turns[-1].id > 0)
    ready.window.current.new_chat()
    shown = palette()
    qtbot.waitUntil(lambda: "Boats and names" in titles(shown))
    qtbot.keyClicks(shown.field, "boats")
    qtbot.mouseClick(
        shown.list.viewport(),
        Qt.MouseButton.LeftButton,
        pos=shown.list.visualRect(shown.list.model().index(0)).center(),
    )
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2)
    assert ready.chat_session.turns[0].text == "Boats and names"


def test_the_selected_command_is_announced_to_screen_readers(palette, qtbot, loop, monkeypatch):
    announced = []
    monkeypatch.setattr(palette_module, "announce", lambda about, text: announced.append(text))
    shown = palette()
    qtbot.keyClicks(shown.field, "new chat")
    qtbot.waitUntil(lambda: announced[-1:] == ["New Chat, Menu, File, Ctrl+N"])
    entry = QAccessible.queryAccessibleInterface(shown.list).child(0)
    assert entry.text(QAccessible.Text.Name) == "New Chat, Menu, File, Ctrl+N"


def test_many_models_and_chats_do_not_block_the_window(palette, stage, qtbot, loop, tmp_path):
    stage.shelf.records = [record(f"model-{n}:latest") for n in range(200)]
    stage.window.models.panel.rescan.click()
    qtbot.waitUntil(lambda: len(stage.session.library.models) == 200)

    def fill(store):
        with store.database.writing():
            store.database.connection.executemany(
                "INSERT INTO chats (title, created, changed) VALUES (?, ?, ?)",
                [(f"Chat about thing {n}", n, n) for n in range(5000)],
            )

    done = []
    stage.keeper.do(fill, done.append)
    qtbot.waitUntil(lambda: bool(done))
    ticks = []
    beat = QTimer(stage.window, timerType=Qt.TimerType.PreciseTimer, interval=16)
    # The time that this thread works: a busy machine may let it wait.
    beat.timeout.connect(lambda: ticks.append(time.thread_time()))
    beat.start()
    shown = palette()
    qtbot.waitUntil(lambda: len(shown.finder.commands) > 5200)
    for letter in "thing 4711":
        qtbot.keyClick(shown.field, letter)
        qtbot.wait(20)
    qtbot.waitUntil(lambda: titles(shown)[:1] == ["Chat about thing 4711"])
    beat.stop()
    gaps = sorted(after - before for before, after in pairwise(ticks))
    assert gaps[-1] <= 0.15
    assert len(shown.results) <= MAX_RESULTS


def test_the_palette_offers_the_current_models(palette, stage, qtbot, loop):
    shown = palette()
    shown.dismiss()
    assert shown.isHidden()
    stage.shelf.records = [record("fresh:1b")]
    stage.window.models.panel.rescan.click()
    qtbot.waitUntil(lambda: len(stage.session.library.models) == 1)
    palette()
    assert "fresh:1b" in titles(shown)
    assert "tiny" not in titles(shown)
