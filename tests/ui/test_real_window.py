"""The real window over the real engine and the built-in model: nothing is scripted here."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtTest import QTest

from drags import data_of, enter, let_go
from sotto.paths import resources_dir
from sotto.ui.chat_keeper import ChatKeeper
from sotto.ui.hosts import PROCESS, THREAD, make_host
from sotto.ui.session import Session
from sotto.ui.states import ChatSettings, Phase
from sotto.ui.window import MainWindow

WAIT = 30_000


class HeartBeat:
    """Counts the turns that the window's own thread gets."""

    def __init__(self, parent):
        self.ticks = 0
        self._timer = QTimer(parent, timerType=Qt.TimerType.PreciseTimer, interval=16)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self):
        self.ticks += 1


@pytest.fixture(params=[THREAD, PROCESS])
def window(request, qtbot, loop, flows, dressed, destroyed, preferences, tmp_path):
    """The window, greeting with the built-in model."""
    thread = make_host(request.param)
    session = Session(thread)
    keeper = ChatKeeper(tmp_path / "chats.sqlite3")
    shown = MainWindow(session, keeper, preferences)
    qtbot.addWidget(shown)
    shown.show()

    def begin():
        shown.begin(flows)
        qtbot.waitUntil(lambda: shown.session.state.phase is Phase.READY, timeout=WAIT)

    loop.starts.append(begin)
    yield shown
    shown.hide()
    shown.dialogue.close()
    assert thread.close()
    keeper.close()
    destroyed(shown, session, thread, keeper)


@pytest.fixture
def manifest():
    return resources_dir() / "store" / "manifests" / "registry.ollama.ai" / "library" / "sotto" / "latest"


def type_and_send(qtbot, window, text):
    draft = window.chat.composer.draft
    qtbot.keyClicks(draft, text)
    qtbot.keyClick(draft, Qt.Key.Key_Return)
    assert draft.toPlainText() == ""


def done(window):
    return window.session.state.phase is Phase.READY and window.chat.transcript.answer is None


def drop(window, path):
    data = data_of(QUrl.fromEncoded(b"file://" + os.fsencode(path)) if isinstance(path, Path) else QUrl(path))
    assert enter(window, data)
    let_go(window, data)


def test_load_ask_stream_stop_drop_and_ask_again(qtbot, window, manifest, loop):
    session, dialogue, transcript = window.session, window.dialogue, window.chat.transcript
    assert session.state.record.builtin
    unsaid = window.chat.welcome.greeting.text()
    qtbot.waitUntil(lambda: not dialogue.greeting.under_way and dialogue.greeting.text != "", timeout=WAIT)
    assert window.chat.welcome.greeting.text() == dialogue.greeting.text != unsaid

    # Ask, by a click on an example question.
    qtbot.mouseClick(window.chat.welcome.chips[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: done(window), timeout=WAIT)
    assert len(dialogue.conversation.messages[-1].content) > 10
    assert " tok/s" in transcript._last().status.text()

    # Stream 2,000 tokens; the window stays alive.
    session.settings = ChatSettings(num_predict=2000, ignore_eos=True)
    beat = HeartBeat(window)
    type_and_send(qtbot, window, "Tell me a story")
    qtbot.waitUntil(lambda: done(window), timeout=120_000)
    line = transcript._last().status.text()
    assert line.startswith("2,000 tokens")
    assert "cached" in line
    assert "reached the length limit" in line
    # A blocked window would tick once; how late the ticks are is measured by a benchmark.
    assert beat.ticks > 20

    # Stop.
    type_and_send(qtbot, window, "And another")
    qtbot.waitUntil(lambda: len(transcript.answer.body.markdown) > 20, timeout=WAIT)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: done(window), timeout=WAIT)
    assert "stopped" in transcript._last().status.text()
    kept = len(dialogue.conversation.messages)

    # Eject, then drop the manifest.
    session.eject()
    qtbot.waitUntil(lambda: session.state.phase is Phase.FOUND, timeout=WAIT)
    drop(window, manifest)
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY, timeout=WAIT)
    assert len(dialogue.conversation.messages) == kept

    # Ask again, without the 2,000 tokens in sight: after them any answer is possible, and none.
    dialogue.new_chat()
    session.settings = ChatSettings()
    type_and_send(qtbot, window, "What can you do?")
    qtbot.waitUntil(lambda: done(window), timeout=WAIT)
    assert [message.role for message in dialogue.conversation.messages] == ["user", "assistant"]
    assert "Sotto" in dialogue.conversation.messages[-1].content


def test_stop_while_the_prompt_is_read(qtbot, window, loop):
    type_and_send(qtbot, window, "What is a token?")
    window.dialogue.stop()
    qtbot.waitUntil(lambda: done(window), timeout=WAIT)
    assert window.dialogue.conversation.messages[0].content == "What is a token?"


def test_what_cannot_be_loaded_says_why_in_place(qtbot, window, loop, tmp_path):
    notice = window.chat.notice
    broken, empty = tmp_path / "latest", tmp_path / "empty"
    broken.write_text("{")
    empty.mkdir()
    strange = tmp_path / os.fsdecode(b"caf\xe9")
    strange.mkdir()
    for path in (broken, empty, strange, tmp_path / "gone", "https://example.org/model"):
        notice.hide()
        drop(window, path)
        qtbot.waitUntil(notice.isVisible, timeout=WAIT)
        assert notice.title.text()
        assert len(notice.message.text()) > 10
    # What was loaded stays loaded.
    assert window.session.state.phase is Phase.READY


def test_a_dropped_folder_and_its_weights_load(qtbot, window, loop, tmp_path):
    from material import material

    folder = material("stories260k")
    for path in (folder, next(folder.glob("*.safetensors"))):
        window.session.eject()
        qtbot.waitUntil(lambda: window.session.state.phase is Phase.FOUND, timeout=WAIT)
        drop(window, path)
        qtbot.waitUntil(lambda: window.session.state.phase in (Phase.READY, Phase.FAILED), timeout=WAIT)
        assert window.session.state.phase is Phase.READY, window.session.state.reason
        assert window.session.state.record.path == folder


def test_memory_comes_back_after_eject(qtbot, window, loop):
    gauge = window.sidebar.gauge
    qtbot.waitUntil(lambda: gauge._figures is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: "this model" in gauge.accessibleName(), timeout=WAIT)
    window.sidebar.rows[0].eject.click()
    qtbot.waitUntil(lambda: "this model" not in gauge.accessibleName(), timeout=WAIT)
