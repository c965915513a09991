"""Errors that nothing catches: in the running app, which goes on, and in the dialog on its own."""

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialog

from sotto import paths
from sotto.reports import report
from sotto.reports.report import Trouble
from sotto.ui.app.report_dialog import ReportDialog
from sotto.ui.app.uncaught import UncaughtErrors
from sotto.ui.session.engine_thread import EngineLost

APP = """
import asyncio, ctypes, os, sys, threading
from PySide6.QtCore import QEvent, QRunnable, QThread, QThreadPool, QTimer
from PySide6.QtWidgets import QWidget
import sotto.ui.app.app as app

kept = []

def dialogs():
    return [each for each in app.QApplication.topLevelWidgets() if type(each).__name__ == "ReportDialog"]

def when(ready, then):
    def look():
        if ready():
            timer.stop()
            then()
    timer = QTimer(interval=20)
    timer.timeout.connect(look)
    timer.start()
    kept.append(timer)

painted = app.show_window
def paint(window):
    painted(window)
    act(window)
app.show_window = paint
"""

EVERYWHERE = """
class Thread(QThread):
    def run(self):
        raise ValueError("in 'a secret' thread of Qt")

class Runnable(QRunnable):
    def run(self):
        raise ValueError("in a runnable")

class Widget(QWidget):
    def event(self, event):
        if event.type() == QEvent.Type.User:
            raise ValueError("in a virtual function")
        return super().event(event)

def in_slot():
    raise ValueError("in a slot")

def in_pool():
    raise ValueError("in a pool")

def in_thread():
    raise ValueError("in a thread of Python")

def in_callback():
    raise ValueError("in a callback")

async def in_task():
    raise ValueError("in a task")

async def in_forgotten_task():
    raise ValueError("in a forgotten task")

def act(window):
    thread, widget, runnable = Thread(), Widget(), Runnable()
    runnable.setAutoDelete(False)
    kept.extend((thread, widget, runnable))
    thread.start()
    QThreadPool.globalInstance().start(runnable)
    QThreadPool.globalInstance().start(in_pool)
    threading.Thread(target=in_thread).start()
    app.QApplication.postEvent(widget, QEvent(QEvent.Type.User))
    slots = QTimer(interval=5)
    slots.timeout.connect(in_slot)  # again and again
    slots.start()
    kept.append(slots)
    session = window.session
    def begin():
        session.shell = app.QApplication.instance().shell
        session.shell._tasks.start(in_task())
        loop = asyncio.get_event_loop()
        loop.call_soon(in_callback)
        loop.create_task(in_forgotten_task())
        window.send("Who are you?")
    when(lambda: session.state.phase.name == "READY", begin)
    def all_told():
        return len(dialogs()) == 1 and dialogs()[0].report.toPlainText().count("Another error:") >= 8
    def end():
        turns = window.current.session.turns
        print(len(dialogs()), len(turns), bool(turns[-1].text.strip()), flush=True)
        print(dialogs()[0].report.toPlainText())
        dialogs()[0].close()
        # The dialog does not come back for the same error.
        QTimer.singleShot(100, lambda: (print(len(dialogs())), window.close()))
    when(lambda: all_told() and len(window.current.session.turns) > 1 and not window.current.session.busy, end)

sys.exit(app.run())
"""


def run(code: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(home), "SOTTO_ENGINE_HOST": "thread"}
    return subprocess.run(
        [sys.executable, "-c", APP + code], env=environment, capture_output=True, text=True, timeout=120
    )


def test_errors_anywhere_are_shown_in_one_dialog_and_the_answer_goes_on(own_home):
    done = run(EVERYWHERE, own_home)
    assert done.returncode == 0, done.stderr
    first, *text = done.stdout.splitlines()
    assert first == "1 2 True"
    assert text[-1] == "0"
    places = ("slot", "pool", "runnable", "virtual function", "task", "callback", "forgotten task", "thread of Python")
    for place in places:
        assert f"ValueError: in a {place}" in text, place
    assert "ValueError: in … thread of Qt" in text
    assert text.count("Another error:") == len(places), done.stdout
    assert "secret" not in done.stdout + done.stderr + (paths.log_dir() / "sotto.log").read_text()
    assert "This has happened 10 times" in (paths.log_dir() / "sotto.log").read_text()
    assert not report.unseen()


def test_a_fatal_signal_is_reported_at_the_next_start(own_home):
    crash = "def act(window):\n    QTimer.singleShot(0, lambda: ctypes.string_at(0))\nsys.exit(app.run())"
    done = run(crash, own_home)
    assert done.returncode < 0
    assert [path.name.partition("-")[0] for path in paths.log_dir().glob("fatal-*.txt")] == ["fatal"]
    look = """
def act(window):
    def end():
        print(dialogs()[0].report.toPlainText())
        window.close()
    when(dialogs, end)
sys.exit(app.run())
"""
    done = run(look, own_home)
    assert done.returncode == 0, done.stderr
    assert "Segmentation fault" in done.stdout
    assert "string_at" in done.stdout
    assert str(own_home) not in done.stdout
    assert not list(paths.log_dir().glob("fatal-*.txt"))
    assert not report.unseen()


def test_an_error_at_the_start_is_shown_before_there_is_a_window(own_home):
    done = run(
        """
def look():
    print(dialogs()[0].windowTitle(), dialogs()[0].report.toPlainText())
    dialogs()[0].close()
class Broken:
    def __init__(self, *more):
        when(dialogs, look)
        raise RuntimeError("it is broken")
app.Shell = Broken
sys.exit(app.run())
""",
        own_home,
    )
    assert done.returncode == 1
    assert "RuntimeError: it is broken" in done.stdout
    assert not report.unseen()


def test_an_error_at_the_end_is_kept_for_the_next_start(own_home):
    done = run(
        """
def broken(*more):
    raise RuntimeError("it does not stop")
app.Shell.hide = broken
def act(window):
    window.chat.composer.draft.setPlainText("A draft")
    QTimer.singleShot(300, window.quit_wanted.emit)
sys.exit(app.run())
""",
        own_home,
    )
    assert done.returncode == 1
    (path,) = report.unseen()
    assert "RuntimeError: it does not stop" in path.read_text()
    # What comes after the error is done.
    with closing(sqlite3.connect(paths.data_dir() / "chats.sqlite3")) as database:
        assert "A draft" in "\n".join(database.iterdump())


@pytest.fixture
def uncaught(qapp, own_home, destroyed):
    made = UncaughtErrors()
    yield made
    if made.dialog is not None:
        made.dialog.close()
    destroyed(made)


def error(text: str) -> Exception:
    try:
        raise ValueError(text)
    except ValueError as raised:
        return raised


def take(uncaught, raised):
    uncaught.take(type(raised), raised, raised.__traceback__)


def test_the_report_is_copied_and_has_no_home(uncaught, qtbot, own_home, monkeypatch):
    monkeypatch.setenv("USER", "marmaduke")
    take(uncaught, error(f"no file {own_home}/chats and no marmaduke"))
    qtbot.waitUntil(lambda: uncaught.dialog is not None)
    uncaught.dialog.copy_button.click()
    text = QApplication.clipboard().text()
    assert "ValueError: no file ~/chats and no <user>" in text
    assert str(own_home) not in text
    (path,) = paths.log_dir().glob("report-*.txt")
    assert path.read_text() == text
    assert path.stat().st_mode & 0o077 == 0


def test_it_can_be_used_in_front_of_a_modal_dialog(uncaught, qtbot):
    modal = QDialog()
    qtbot.addWidget(modal)
    modal.setModal(True)
    modal.show()
    take(uncaught, error("an error"))
    qtbot.waitUntil(lambda: uncaught.dialog is not None)
    assert not uncaught.dialog.windowIcon().isNull()
    assert QApplication.activeModalWidget() is uncaught.dialog
    uncaught.dialog.close_button.click()
    assert QApplication.activeModalWidget() is modal


def test_few_dialogs_are_shown_and_all_reports_are_kept_for_a_while(uncaught, qtbot):
    titles = []
    for number in range(14):
        uncaught._take(Trouble(f"{number}", f"trace {number}"))
        uncaught._take(Trouble(f"{number}", f"trace {number}"))
        qtbot.wait(5)
        if uncaught.dialog is not None:
            titles.append(uncaught.dialog.report.toPlainText().partition("trace ")[2].split()[0])
            uncaught.dialog.close()
    assert titles == ["0", "1", "2"]
    kept = sorted(paths.log_dir().glob("report-*.txt"))
    assert len(kept) == 10
    assert "trace 13" in kept[-1].read_text()


def test_an_error_while_reporting_does_not_loop(uncaught, qtbot, monkeypatch, capsys):
    calls = []

    def broken(*more):
        calls.append(more)
        raise RuntimeError("no report")

    monkeypatch.setattr("sotto.reports.report.compose", broken)
    monkeypatch.setattr(sys, "excepthook", uncaught.take)
    QTimer.singleShot(0, lambda: take(uncaught, error("a first error")))
    qtbot.wait(50)
    assert len(calls) == 1
    assert "a first error" in capsys.readouterr().err


def test_an_error_in_the_dialog_does_not_open_another(uncaught, qtbot, monkeypatch):
    def broken(self, *more):
        raise RuntimeError("no dialog")

    monkeypatch.setattr(sys, "excepthook", uncaught.take)
    monkeypatch.setattr(ReportDialog, "__init__", broken)
    take(uncaught, error("a first error"))
    qtbot.wait(50)
    assert sorted(key.split()[0] for key in uncaught._counts) == ["RuntimeError", "ValueError"]
    assert max(uncaught._counts.values()) <= 2


def test_a_full_disk_is_no_reason_to_fail(uncaught, qtbot, monkeypatch):
    def full(text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sotto.reports.report.write", full)
    take(uncaught, error("an error"))
    qtbot.waitUntil(lambda: uncaught.dialog is not None)
    assert "an error" in uncaught.dialog.report.toPlainText()


def test_errors_of_the_engine_are_shown_unless_a_process_ended(uncaught, qtbot):
    uncaught.take_of_engine(EngineLost("The process ended.", "words"))
    uncaught.take_of_engine(EngineLost("It failed.", "details", Trouble("key", "engine/loop.py:7 run\nKeyError")))
    qtbot.waitUntil(lambda: uncaught.dialog is not None)
    assert "engine/loop.py:7 run\nKeyError" in uncaught.dialog.report.toPlainText()


def test_reports_of_threads_are_all_written(uncaught, qtbot):
    threads = [
        threading.Thread(target=uncaught._take, args=(Trouble(f"{number}", f"trace {number}"),)) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    qtbot.waitUntil(
        lambda: uncaught.dialog is not None and uncaught.dialog.report.toPlainText().count("Another error:") == 7
    )
    assert len(list(paths.log_dir().glob("report-*.txt"))) == 8
