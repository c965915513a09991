"""The engine in a separate process under the real window, and the marker that records a crash of one in the app."""

import os
import signal
import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from scripted_loop import record
from sotto.engine.contract.events import (
    DoneReason,
    Failed,
    Finished,
    Loaded,
    LoadProgress,
    ModelInfo,
    PrefillProgress,
    TextChunk,
    Unloaded,
)
from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.errors import InvalidRequestError
from sotto.runner.commands import Load
from sotto.runner.host import PROCESS, THREAD
from sotto.ui.session import engine_hosts
from sotto.ui.session.engine_hosts import CrashMarker, crashed_last_time, make_host
from sotto.ui.session.engine_thread import EngineLost, EngineThread
from sotto.ui.state.model_state import ChatSettings, Phase

pytestmark = pytest.mark.slow

WAIT = 30_000


@pytest.fixture
def window(real_window):
    """Return the window over an engine process, with the built-in model loaded."""
    return real_window(make_host(PROCESS))


def child_of(window):
    return window.session.host.loop.pid


def ask(qtbot, window, text):
    draft = window.chat.composer.draft
    qtbot.keyClicks(draft, text)
    qtbot.keyClick(draft, Qt.Key.Key_Return)


def lost(window):
    return window.session.state.phase is Phase.FAILED and not window.session.host.isRunning()


def test_a_process_killed_while_answering_is_reported_and_restarted(qtbot, window, loop):
    session, transcript, notice = window.session, window.chat.transcript, window.chat.notice
    session.settings = ChatSettings(num_predict=3000, ignore_eos=True)
    ask(qtbot, window, "Tell me a story")
    qtbot.waitUntil(lambda: bool(transcript.answer) and len(transcript.answer.body.markdown) > 20, timeout=WAIT)
    os.kill(child_of(window), signal.SIGKILL)
    qtbot.waitUntil(lambda: lost(window), timeout=WAIT)

    # There is one notice, and the conversation is still there.
    assert notice.isVisible()
    assert notice.title.text() == "The engine stopped"
    assert notice.message.text().startswith("The engine's process was ended by SIGKILL (Killed)")
    kept = window.current.session.conversation.messages
    assert [message.role for message in kept] == ["user", "assistant"]
    assert len(kept[-1].content) > 10

    # Restart loads the same model in another process, which answers.
    session.settings = ChatSettings()
    notice.button.click()
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY, timeout=WAIT)
    assert session.state.record.builtin
    ask(qtbot, window, "What can you do?")
    qtbot.waitUntil(
        lambda: session.state.phase is Phase.READY and len(window.current.session.conversation.messages) == 4,
        timeout=WAIT,
    )


def test_a_process_that_dies_while_idle_is_noticed(qtbot, window, loop):
    qtbot.waitUntil(lambda: not window.greeting.under_way, timeout=WAIT)
    os.kill(child_of(window), signal.SIGSEGV)
    qtbot.waitUntil(lambda: lost(window), timeout=WAIT)
    assert "SIGSEGV" in window.chat.notice.message.text()
    window.chat.notice.button.click()
    qtbot.waitUntil(lambda: window.session.state.phase is Phase.READY, timeout=WAIT)


def test_a_process_killed_while_loading_is_reported_and_restarted(qtbot, window, loop):
    session, notice = window.session, window.chat.notice
    session.eject()
    qtbot.waitUntil(lambda: session.state.phase is Phase.FOUND, timeout=WAIT)
    session.load(session.state.record)
    qtbot.waitUntil(lambda: child_of(window) is not None, timeout=WAIT)
    os.kill(child_of(window), signal.SIGKILL)
    qtbot.waitUntil(lambda: lost(window), timeout=WAIT)
    assert notice.isVisible()
    assert "SIGKILL" in notice.message.text()
    notice.button.click()
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY, timeout=WAIT)
    assert not notice.isVisible()


def test_a_load_retried_at_once_after_its_process_was_lost_succeeds(qtbot, window, loop):
    session, problems = window.session, []

    def retry_once(problem):
        problems.append(problem.title)
        if len(problems) == 1:
            session.retry()

    session.eject()
    qtbot.waitUntil(lambda: session.state.phase is Phase.FOUND, timeout=WAIT)
    session.load(session.state.record)
    qtbot.waitUntil(lambda: child_of(window) is not None, timeout=WAIT)
    session.problem.connect(retry_once)
    os.kill(child_of(window), signal.SIGKILL)
    qtbot.waitUntil(lambda: bool(problems) and session.state.phase is Phase.READY, timeout=WAIT)
    assert problems == ["The engine stopped"]


def test_ejecting_ends_the_process(qtbot, window, loop):
    process = child_of(window)
    window.session.eject()
    qtbot.waitUntil(lambda: window.session.state.phase is Phase.FOUND, timeout=WAIT)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    window.session.load(window.session.state.record)
    qtbot.waitUntil(lambda: window.session.state.phase is Phase.READY, timeout=WAIT)
    assert child_of(window) != process


def test_a_hanging_process_does_not_block_the_window(qtbot, window, loop, monkeypatch):
    monkeypatch.setattr("sotto.runner.isolated.process._UNLOAD_SECONDS", 0.3)
    window.session.settings = ChatSettings(num_predict=3000, ignore_eos=True)
    ask(qtbot, window, "Tell me a story")
    transcript = window.chat.transcript
    qtbot.waitUntil(lambda: bool(transcript.answer) and len(transcript.answer.body.markdown) > 20, timeout=WAIT)
    os.kill(child_of(window), signal.SIGSTOP)
    QTest.qWait(100)
    window.session.eject()
    qtbot.waitUntil(lambda: window.session.state.phase is Phase.FOUND, timeout=WAIT)
    assert len(window.current.session.conversation.messages[-1].content) > 10


def test_a_command_right_after_the_engine_was_lost_is_served(qtbot):
    got = []

    class Broken:
        def __init__(self, emit):
            pass

        def run(self):
            raise RuntimeError("boom")

    class Whole(Broken):
        def __init__(self, emit):
            self.emit = emit

        def send(self, command):
            self.emit(Unloaded())

        def run(self):
            pass

    made = iter([Broken, Whole])
    thread = EngineThread(make_loop=lambda emit: next(made)(emit))
    # The thread has not ended yet when this event is delivered.
    thread.event_received.connect(
        lambda event: thread.send(Load(record())) if isinstance(event, EngineLost) else got.append(event)
    )
    thread.start()
    qtbot.waitUntil(lambda: got == [Unloaded()])
    assert thread.close()
    thread.deleteLater()


@pytest.mark.parametrize(("said", "kind"), [("", THREAD), ("thread", PROCESS), ("process", THREAD)])
def test_the_environment_variable_overrides_the_preference(monkeypatch, said, kind, qapp):
    monkeypatch.setenv("SOTTO_ENGINE_HOST", said)
    thread = make_host(kind)
    expected = said or kind
    assert thread.make_loop is (engine_hosts.process_loop if expected == PROCESS else engine_hosts.marked_loop)
    thread.deleteLater()


def test_an_unknown_kind_of_host_is_refused(monkeypatch):
    with pytest.raises(InvalidRequestError, match="must be thread or process, not 'cloud'"):
        make_host("cloud")


INFO = ModelInfo("d", "n", "a", 1, 2, None, "float32", "cpu", True, 3)
FIGURES = MemoryFigures(1, 1, 1, 1, 1)


def finished(name):
    return Finished(name, "", (), DoneReason.STOP, 1, 0, 1, 1, 1)


def test_the_marker_exists_exactly_while_something_is_computed(tmp_path):
    path, passed = tmp_path / "state" / "computing", []
    marking = CrashMarker(passed.append, path)
    steps = [
        (FIGURES, False),
        (LoadProgress("weights", 0, 1), True),
        (LoadProgress("weights", 1, 1), True),
        (Loaded(INFO), False),
        (PrefillProgress("a", 0, 1, 0), True),
        (TextChunk("b", "x", (1,)), True),
        (FIGURES, True),
        (finished("a"), True),
        (Failed("b", "no"), False),
        (Failed("c", "no"), False),
        (LoadProgress("weights", 0, 1), True),
        (Failed("", "no"), False),
        (Unloaded(), False),
    ]
    for event, there in steps:
        marking(event)
        assert path.exists() is there, event
    assert passed == [event for event, _ in steps]


def test_a_folder_that_cannot_be_written_is_only_logged(tmp_path, caplog):
    (tmp_path / "state").write_text("a file")
    passed = []
    CrashMarker(passed.append, tmp_path / "state" / "computing")(PrefillProgress("a", 0, 1, 0))
    assert len(passed) == 1
    assert "cannot be changed" in caplog.text


RUN = """
import os, signal, sys
from PySide6.QtCore import QCoreApplication
from sotto.engine.contract.requests import *
from sotto.runner.catalogue import find
from sotto.runner.commands import Generate, Load
from sotto.ui.session.engine_hosts import crashed_last_time, make_host
moment = sys.argv[1]
print(crashed_last_time(), flush=True)
app = QCoreApplication([])
thread = make_host("thread")
def heard(event):
    if type(event).__name__ == moment:
        if moment == "TextChunk":
            os.kill(os.getpid(), signal.SIGSEGV)
        app.quit()
thread.event_received.connect(heard)
thread.send(Load(find("sotto")))
request = GenerateRequest("a", prompt="Once", ignore_eos=True, num_predict=3000 if moment == "TextChunk" else 5)
thread.send(Generate(request))
app.exec()
if moment == "Finished":
    os._exit(1)
thread.close()
"""


def test_a_crash_while_the_engine_computes_is_detected_at_the_next_start(own_home):
    def run(moment):
        line = [sys.executable, "-c", RUN, moment]
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)

    assert run("Loaded").stdout == "False\n"
    crashed = run("TextChunk")
    assert (crashed.stdout, crashed.returncode) == ("False\n", -signal.SIGSEGV), crashed.stderr
    assert run("Finished").stdout == "True\n"
    # The engine was not computing when that run ended.
    assert run("Loaded").stdout == "False\n"


def test_a_marker_of_a_running_app_is_not_a_crash(monkeypatch, tmp_path):
    path = tmp_path / "computing"
    monkeypatch.setattr(engine_hosts, "mark_path", lambda: path)
    gone = subprocess.Popen(["true"])
    gone.wait()
    for written, crashed in ((str(os.getppid()), False), (str(os.getpid()), False), (str(gone.pid), True), ("?", True)):
        path.write_text(written)
        crashed_last_time.cache_clear()
        assert crashed_last_time() is crashed
    crashed_last_time.cache_clear()
