"""The app around its window: the tray, closing and quitting, other starts, log-outs, and the window's position."""

import json
import os
import subprocess
import sys
import threading

import pytest
from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon

from scripted_loop import record
from sotto.engine.contract.events import LoadProgress
from sotto.ui.app import tray
from sotto.ui.app.tray import TrayAction, TrayEntry
from sotto.ui.platform.single_instance import Show, StartRequest
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.last_model import with_use
from sotto.ui.state.model_state import ModelState, Phase
from sotto.ui.toolkit.screens import clamp
from sotto.ui.window.main_window import MainWindow
from sotto.ui.window.window_state import WindowState


@pytest.fixture
def with_tray(monkeypatch):
    """Simulate a desktop with a tray, which the offscreen platform does not have."""
    available = [True]
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: available[0])
    return available


@pytest.fixture
def late_tray(with_tray):
    """Simulate a desktop that does not have a tray yet."""
    with_tray[0] = False
    return with_tray


@pytest.fixture
def ended(around):
    found = []
    around.shell.ended.connect(lambda: found.append(True))
    return found


# The menu


def test_the_menu_shows_the_models_state_and_leads_everywhere():
    one, two = record("one"), record("library/two:latest")
    state = ModelState(Phase.LOADING, two, LoadProgress("weights", 42, 100))
    rows = tray.menu_entries(state, (one, two), "Ctrl+Alt+Space")
    assert [(row.text, row.action) for row in rows if row.action is not TrayAction.LINE] == [
        ("two · loading 42 %", TrayAction.NOTHING),
        ("one", TrayAction.LOAD),
        ("two", TrayAction.LOAD),
        ("Quick Prompt", TrayAction.QUICK),
        ("New Chat", TrayAction.NEW_CHAT),
        ("Open Sotto", TrayAction.WINDOW),
        ("Quit Sotto", TrayAction.QUIT),
    ]
    assert [row.checked for row in rows if row.action is TrayAction.LOAD] == [False, True]
    assert next(row for row in rows if row.action is TrayAction.QUICK).keys == "Ctrl+Alt+Space"


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        (Phase.FOUND, "one · not loaded"),
        (Phase.LOADING, "one · loading"),
        (Phase.READY, "one · ready"),
        (Phase.GENERATING, "one · answering"),
        (Phase.UNLOADING, "one · ejecting"),
        (Phase.FAILED, "one · could not be loaded"),
    ],
)
def test_every_state_has_a_label(phase, said):
    rows = tray.menu_entries(ModelState(phase, record("one")), ())
    assert rows[0].text == said
    assert (TrayAction.EJECT in [row.action for row in rows]) == (phase in (Phase.READY, Phase.GENERATING))
    assert tray.menu_entries(ModelState(), ())[0].text == "No model"


def test_the_most_recently_used_models_come_first_if_they_still_exist():
    used = {}
    for now, name in enumerate(("a", "b", "c", "a", "d", "e", "f"), 1):
        used = with_use(used, name, now)
    names = Preferences(last_used=used).recent_models
    assert names == ("f", "e", "d", "a", "c", "b")
    models = [record("a"), record("c"), record("f"), record("e", runnable=False)]
    assert [model.name for model in tray.recent_models(models, names)] == ["f", "a", "c"]


def test_the_qt_menu_is_filled_from_the_rows(qapp):
    menu, done = QMenu(), []
    menu.triggered.connect(lambda action: done.append(action.data()))
    rows = (
        TrayEntry("a & b", TrayAction.NOTHING),
        TrayEntry("", TrayAction.LINE),
        TrayEntry("Quit Sotto", TrayAction.QUIT, keys="Ctrl+Q"),
    )
    tray.fill_menu(menu, rows, tray.escape)
    words, line, leave = menu.actions()
    assert (words.isEnabled(), line.isSeparator(), leave.isEnabled()) == (False, True, True)
    assert (words.text(), leave.text()) == ("a && b", "Quit Sotto\tCtrl+Q")
    # Only a label changes: the actions are kept, and still do the same.
    tray.fill_menu(menu, (TrayEntry("b", TrayAction.NOTHING), *rows[1:]), tray.escape)
    assert menu.actions() == [words, line, leave]
    assert words.text() == "b"
    leave.trigger()
    assert done == [rows[2]]
    # A different model in the same position gets a new action.
    tray.fill_menu(menu, [TrayEntry("one", TrayAction.LOAD, record("one"), checked=True)], tray.escape)
    (action,) = menu.actions()
    assert (action.text(), action.isCheckable(), action.isChecked()) == ("one", True, True)
    tray.fill_menu(menu, [TrayEntry("two", TrayAction.LOAD, record("two"))], tray.escape)
    (two,) = menu.actions()
    assert (two.text(), two.isCheckable(), two.isChecked()) == ("two", True, False)
    two.trigger()
    assert done[1].model == record("two")


def test_the_template_icon_is_black(qapp):
    icon = tray.template_icon()
    assert icon.isMask()
    image = icon.pixmap(QSize(44, 44)).toImage()
    colors = {(image.pixelColor(x, y).rgb() & 0xFFFFFF) for x in range(44) for y in range(44)
              if image.pixelColor(x, y).alpha()}  # fmt: skip
    assert colors == {0}
    assert isinstance(icon, QIcon)


def test_a_panel_that_does_not_tint_icons_gets_a_coloured_one(qapp, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    icon = tray.tray_icon()
    assert not icon.isMask()
    assert not icon.pixmap(QSize(22, 22)).isNull()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert tray.tray_icon().isMask()


def test_a_model_that_was_never_asked_can_be_loaded_again_from_the_menu(around, qtbot, loop):
    around.load(qtbot)
    around.session.eject()
    qtbot.waitUntil(lambda: not around.session.state.loaded)
    (row,) = [row for row in around.shell.tray_entries() if row.action is TrayAction.LOAD]
    assert (row.text, row.checked) == ("tiny", False)


def test_the_rows_do_what_they_say(around, qtbot, loop, ended):
    around.load(qtbot)
    shell = around.shell
    shell.tray.chosen.emit(TrayEntry("", TrayAction.LOAD, around.session.library.models[1]))
    qtbot.waitUntil(
        lambda: around.session.state.phase is Phase.READY and around.session.state.record.name == "other:latest"
    )
    around.session.record_use("tiny:latest")
    around.session.record_use("other:latest")
    assert [row.text for row in shell.tray_entries() if row.action is TrayAction.LOAD] == ["other", "tiny"]
    shell.tray.chosen.emit(TrayEntry("", TrayAction.EJECT))
    qtbot.waitUntil(lambda: around.session.state.phase is Phase.FOUND)
    shell.tray.chosen.emit(TrayEntry("", TrayAction.QUICK))
    assert shell.quick.visible
    assert not shell.has_window
    shell.tray.chosen.emit(TrayEntry("", TrayAction.WINDOW))
    assert shell.window.isVisible()
    before = shell.window.current.session
    shell.tray.chosen.emit(TrayEntry("", TrayAction.NEW_CHAT))
    assert shell.window.current.session is not before
    # What was written for a new one stays.
    shell.window.current.session.draft.set_text("a draft")
    shell.tray.chosen.emit(TrayEntry("", TrayAction.NEW_CHAT))
    assert shell.window.current.session.draft.text == "a draft"
    shell.tray.chosen.emit(TrayEntry("", TrayAction.QUIT))
    assert ended == [True]


# Closing and quitting


def test_without_a_tray_closing_the_window_ends_the_app(around, qtbot, loop, ended):
    around.shell.open_window()
    around.shell.window.close()
    assert ended == [True]


def test_with_a_tray_closing_hides_the_window_and_says_so_once(around, qtbot, loop, ended, with_tray, monkeypatch):
    shown = []
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", lambda: True)
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda self, *words: shown.append(words[0]))
    around.shell.tray.try_to_show()
    for _ in range(2):
        around.shell.open_window()
        assert around.shell.window.isVisible()
        around.shell.window.close()
        assert not around.shell.window.isVisible()
    assert ended == []
    assert shown == ["Sotto keeps running when its window is closed"]
    # Quit really quits.
    around.shell.open_window()
    leave = next(action for action in around.shell.window.menus.actions() if action.text() == "Quit Sotto")
    leave.trigger()
    assert ended == [True]


def test_a_file_that_is_being_read_is_attached_after_the_window_is_closed(around, qtbot, loop, with_tray, tmp_path):
    notes = tmp_path / "notes.md"
    notes.write_text("Ten minutes.")
    window = around.shell.window
    around.shell.open_window()
    qtbot.waitUntil(lambda: around.shell.tray.is_visible)
    window.composing.attach((notes,))
    window.close()
    qtbot.waitUntil(lambda: [file.name for file in window.current.session.draft.attachments] == ["notes.md"])
    assert not window.isVisible()


def test_the_window_says_it_where_the_tray_cannot_show_messages(around, qtbot, loop, ended, with_tray, monkeypatch):
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", lambda: False)
    around.shell.open_window()
    around.shell.window.close()
    around.shell.open_window()
    assert "open or quit it from the tray" in around.shell.window.chat.notice.message.text()
    assert ended == []


def test_a_late_tray_is_used_and_a_lost_one_is_not_relied_on(late_tray, around, qtbot, loop, ended):
    assert not around.shell.tray.is_visible
    assert around.shell.tray.retry_timer.isActive()
    late_tray[0] = True
    around.shell.tray.retry_timer.timeout.emit()
    assert around.shell.tray.is_visible
    assert not around.shell.tray.retry_timer.isActive()
    late_tray[0] = False
    around.shell.open_window()
    around.shell.window.close()
    assert ended == [True]


def test_quitting_from_the_panel_and_from_the_system(around, qtbot, loop, ended, qapp):
    around.shell.quick.show()
    qtbot.waitUntil(around.panel.isActiveWindow)
    QTest.keyClick(around.panel.composer.draft, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert ended == [True]
    qapp.shell = around.shell
    QApplication.sendEvent(qapp, QEvent(QEvent.Type.Quit))
    qapp.shell = None
    assert ended == [True, True]


def test_a_click_on_the_apps_icon_brings_the_window_back(around, qtbot, loop):
    around.shell.reopen()
    assert not around.shell.has_window  # the system activates an app that it has just started
    around.shell.started_at -= 10
    around.shell.quick.show()
    around.shell.reopen()
    assert not around.shell.has_window
    around.shell.quick.hide()
    around.shell.reopen()
    assert around.shell.window.isVisible()


# Other starts


def test_the_request_of_another_start_is_carried_out(around, qtbot, loop, tmp_path):
    shell, path = around.shell, tmp_path / "model"
    around.shelf.at = {path: record("given", path=path)}
    shell.carry_out(StartRequest(Show.NOTHING, (path,)))
    qtbot.waitUntil(lambda: around.session.state.phase is Phase.READY)
    assert around.session.state.record.name == "given"
    assert not shell.has_window
    shell.carry_out(StartRequest(Show.TOGGLE))
    assert shell.quick.visible
    shell.carry_out(StartRequest(Show.QUICK))
    assert shell.quick.visible
    shell.carry_out(StartRequest(Show.TOGGLE))
    assert not shell.quick.visible
    assert not shell.has_window
    shell.carry_out(StartRequest())
    assert shell.window.isVisible()
    shell.window.showMinimized()
    shell.carry_out(StartRequest(Show.QUICK))
    assert shell.window.isMinimized()
    shell.carry_out(StartRequest(token="proof"))
    assert not shell.window.isMinimized()
    assert os.environ.pop("XDG_ACTIVATION_TOKEN") == "proof"


def test_a_window_that_is_made_later_shows_the_current_state(around, qtbot, loop):
    around.load(qtbot)
    qtbot.waitUntil(lambda: around.session.figures is not None)
    window = around.shell.window
    assert [row.record.name for row in window.sidebar.rows] == ["tiny:latest", "other:latest"]
    assert window.chat.composer.button.accessibleName() == "Send message"
    assert window.chat.header.title.text() == "tiny"


BACKGROUND = """
import socket, sys
import psutil
def refuse(*args, **kwargs):
    raise AssertionError("a connection")
socket.socket.connect = refuse
socket.create_connection = refuse
from PySide6.QtCore import QTimer
import sotto.ui.app.app as app
from sotto.ui.platform.single_instance import Show, StartRequest
from sotto.ui.state.model_state import Phase
live = app.run_event_loop
def lived(application, shell, thread, *rest):
    def look():
        if shell.session.state.phase is not Phase.READY:
            return
        print(sorted(type(w).__name__ for w in application.topLevelWidgets() if w.isVisible()), flush=True)
        print(psutil.Process().net_connections("inet"), flush=True)
        timer.stop()
        shell.quit()
    timer = QTimer(shell, interval=50)
    timer.timeout.connect(look)
    timer.start()
    return live(application, shell, thread, *rest)
app.run_event_loop = lived
sys.exit(app.run(StartRequest(Show.NOTHING)))
"""


def test_in_the_background_there_is_no_window_no_connection_and_no_login_item(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", BACKGROUND],
        env={name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        | {"HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("[]\n[]", "", 0)
    assert [path.name for path in tmp_path.glob(".config/*") if path.name != "Sotto"] == []
    assert not (tmp_path / "Library").exists()


# The window's position


SCREENS = [QRect(0, 0, 1920, 1080), QRect(1920, 0, 1280, 1024)]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (QRect(100, 100, 1000, 700), QRect(100, 100, 1000, 700)),
        (QRect(5000, 5000, 1000, 700), QRect(920, 380, 1000, 700)),
        (QRect(2000, 100, 1000, 700), QRect(2000, 100, 1000, 700)),
        (QRect(-300, -50, 1000, 700), QRect(0, 0, 1000, 700)),
        (QRect(0, 0, 9000, 9000), QRect(0, 0, 1920, 1080)),
        (QRect(10, 10, 5, 5), QRect(10, 10, 720, 480)),
    ],
)
def test_a_window_is_placed_on_an_existing_screen(wanted, found):
    assert clamp(wanted, SCREENS, QSize(720, 480)) == found


def ask(around, qtbot, text):
    assert around.shell.window.current.session.send(text)
    qtbot.waitUntil(lambda: not around.shell.window.current.session.busy and around.session.state.phase is Phase.READY)


def test_the_place_of_the_window_is_saved_soon_after_a_move(around, qtbot, loop):
    shell, window, preferences = around.shell, around.shell.window, around.preferences
    shell.open_window()
    before = preferences.values.window
    window.setGeometry(40, 50, 800, 560)
    qtbot.waitUntil(lambda: preferences.values.window != before)
    assert preferences.values.window == window.saveGeometry().toBase64().toStdString()


def test_the_window_is_restored_as_it_was(around, qtbot, loop, tasks, destroyed):
    around.load(qtbot)
    shell, window = around.shell, around.shell.window
    around.script.chunks = ["A long answer.\n\n"] * 60
    shell.open_window()
    window.setGeometry(20, 30, 760, 520)
    for question in ("One?", "Two?", "Three?"):
        ask(around, qtbot, question)
    qtbot.waitUntil(lambda: all(turn.id > 0 for turn in window.current.session.turns))
    reading = (window.current.session.turns[3].id, 100)
    window.chat.transcript.go_to(reading[0], offset=reading[1])
    QTest.qWait(100)
    assert window.chat.transcript.reading_position() == reading
    geometry, chat = window.geometry(), window.current.session.chat
    shell.save()
    values = around.preferences.values
    assert (values.chat, values.message, values.scroll) == (chat, *reading)

    # As after a restart: another window over the saved preferences and chats.
    kept = PreferenceStore(around.preferences.path)
    assert kept.values == values
    again = MainWindow(around.session, around.keeper, kept)
    state = WindowState(again, around.keeper)
    state.restore_geometry()
    again.begin(tasks)
    state.open_chat(fresh=False)
    again.show()
    qtbot.waitUntil(lambda: again.current.session.chat == chat and len(again.current.session.turns) == 6)
    qtbot.waitUntil(lambda: again.chat.transcript.reading_position() == reading)
    QTest.qWait(100)
    assert again.chat.transcript.reading_position() == reading
    assert again.geometry() == geometry
    again.hide()
    again.sessions.close()
    kept.close()
    destroyed(again, kept)


def test_a_request_for_a_new_chat_overrides_the_one_that_was_in_view(around, qtbot, loop):
    around.load(qtbot)
    kept = []
    around.keeper.do(lambda store: store.ask(store.add_chat(), "Before?", None), kept.append)
    qtbot.waitUntil(lambda: bool(kept))
    around.preferences.change(chat=1)
    around.shell.carry_out(StartRequest(Show.NEW_CHAT))
    done = []
    around.keeper.do(lambda store: None, done.append)
    qtbot.waitUntil(lambda: bool(done))
    assert around.shell.window.isVisible()
    assert around.shell.window.current.session.chat is None


def test_quitting_before_the_chat_is_in_view_does_not_forget_it(around, qtbot, loop):
    kept = []
    around.keeper.do(lambda store: store.ask(store.add_chat(), "Before?", None), kept.append)
    qtbot.waitUntil(lambda: bool(kept))
    around.preferences.change(chat=1, message=1, scroll=7)
    around.shell.open_window()
    around.shell.save()
    assert around.preferences.values.chat == 1
    qtbot.waitUntil(
        lambda: around.shell.window.current.session.chat == 1 and bool(around.shell.window.current.session.turns)
    )
    around.shell.window.current.new_chat()
    around.shell.save()
    assert around.preferences.values.chat == 0


@pytest.mark.parametrize("window", ["", "AAAA", "nonsense!", "é"])
def test_an_invalid_saved_position_does_not_prevent_the_start(around, qtbot, loop, window):
    around.preferences.change(window=window, chat=99, message=5)
    around.shell.open_window()
    QTest.qWait(50)
    assert around.shell.window.isVisible()
    assert around.shell.window.current.session.chat is None


def test_a_log_out_saves_everything_without_asking(around, qtbot, loop):
    around.load(qtbot)
    around.script.hold_answer = threading.Event()
    shell = around.shell
    shell.open_window()
    assert shell.window.current.session.send("Under way?")
    qtbot.waitUntil(lambda: shell.window.current.session.answering)
    shell.window.current.session.draft.set_text("not sent")

    class Manager:
        hint = None

        def setRestartHint(self, hint):
            self.hint = hint

    manager = Manager()
    shell.save_session(manager)
    assert manager.hint is not None
    file = around.keeper.path
    import sqlite3

    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        drafts = connection.execute("SELECT draft FROM chats").fetchall()
    connection.close()
    assert ("not sent",) in drafts
    assert json.loads(around.preferences.path.read_text())["chat"] == shell.window.current.session.chat
    # The session may also continue, where the log-out was cancelled.
    around.script.hold_answer.set()
    qtbot.waitUntil(lambda: not shell.window.current.session.busy)


@pytest.mark.parametrize(("crashed", "kind"), [(True, "thread"), (False, "thread"), (True, "process")])
def test_after_a_crash_a_separate_process_is_offered(around, qtbot, loop, monkeypatch, crashed, kind):
    monkeypatch.setattr("sotto.ui.session.engine_hosts.crashed_last_time", lambda: crashed)
    around.preferences.change(engine_host=kind)
    around.shell.open_window()
    notice = around.shell.window.chat.notice
    around.load(qtbot)
    if not crashed or kind == "process":
        assert notice.isHidden()
        return
    # Loading a model does not dismiss it.
    assert notice.title.text() == "Sotto closed unexpectedly"
    notice.button.click()
    assert around.preferences.values.engine_host == "process"
    assert notice.isHidden()
