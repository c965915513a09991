"""The real window over the real engine with the built-in model; nothing is scripted here."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtTest import QTest

from drags import data_of, drop_on, enter
from pdfs import pdf
from sotto.paths import resources_dir
from sotto.runner.host import PROCESS, THREAD
from sotto.store.opening import record_of
from sotto.store.user_templates import save_user_template
from sotto.ui.session.engine_hosts import make_host
from sotto.ui.state.model_state import ChatSettings, Phase

pytestmark = pytest.mark.slow

WAIT = 30_000


class Viewer:
    """Looks at the answer at each tick of a timer on the window's thread, and collects how long it was."""

    def __init__(self, window):
        self.lengths = set()
        self._transcript = window.chat.transcript
        self._timer = QTimer(window, timerType=Qt.TimerType.PreciseTimer, interval=16)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _look(self):
        if self._transcript.answer is not None:
            self.lengths.add(len(self._transcript.answer.body.markdown))


in_both_hosts = pytest.mark.parametrize("window", [THREAD, PROCESS], indirect=True)


@pytest.fixture(params=[THREAD, pytest.param(PROCESS, marks=pytest.mark.full)])
def window(request, real_window):
    """Return the window, with the built-in model and its greeting."""
    return real_window(make_host(request.param))


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
    drop_on(window, data)


@in_both_hosts
def test_load_ask_stream_stop_drop_and_ask_again(qtbot, window, manifest, loop):
    session, current, transcript = window.session, window.current, window.chat.transcript
    assert session.state.record.builtin
    qtbot.waitUntil(lambda: not window.greeting.under_way and window.greeting.text != "", timeout=WAIT)
    assert window.chat.welcome.greeting.text() == window.greeting.text
    assert window.greeting.text != "I’m the small model that comes with Sotto."

    # Ask, by a click on an example question.
    qtbot.mouseClick(window.chat.welcome.chips[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: done(window), timeout=WAIT)
    assert len(current.session.conversation.messages[-1].content) > 10
    assert " tok/s" in transcript.last_message.status.text()

    # Stream 1,000 tokens; the window stays responsive.
    session.settings = ChatSettings(num_predict=1000, ignore_eos=True)
    viewer = Viewer(window)
    type_and_send(qtbot, window, "Tell me a story")
    qtbot.waitUntil(lambda: done(window), timeout=120_000)
    status = transcript.last_message.status
    assert status.text().endswith(" tok/s · reached the length limit")
    line = status.accessibleName()
    assert line.startswith("1,000 tokens")
    assert "cached" in line
    assert "reached the length limit" in line
    # In a blocked window nobody would see it grow; a benchmark measures how late the ticks are.
    assert len(viewer.lengths) > 5

    # Stop.
    type_and_send(qtbot, window, "And another")
    qtbot.waitUntil(lambda: len(transcript.answer.body.markdown) > 20, timeout=WAIT)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: done(window), timeout=WAIT)
    assert "stopped" in transcript.last_message.status.text()
    kept = len(current.session.conversation.messages)

    # Eject, then drop the manifest.
    session.eject()
    qtbot.waitUntil(lambda: session.state.phase is Phase.FOUND, timeout=WAIT)
    drop(window, manifest)
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY, timeout=WAIT)
    assert len(current.session.conversation.messages) == kept

    # Ask again in a new chat: after 2,000 tokens the answer could be anything, or empty.
    current.new_chat()
    session.settings = ChatSettings()
    type_and_send(qtbot, window, "What can you do?")
    qtbot.waitUntil(lambda: done(window), timeout=WAIT)
    assert [message.role for message in current.session.conversation.messages] == ["user", "assistant"]
    assert "Sotto" in current.session.conversation.messages[-1].content


def test_a_long_answer_is_followed_until_it_outgrows_the_view(qtbot, window, loop):
    transcript, bar = window.chat.transcript, window.chat.transcript.verticalScrollBar()
    window.session.settings = ChatSettings(num_predict=1200, ignore_eos=True)
    type_and_send(qtbot, window, "Tell me a story")
    assert transcript.following
    qtbot.waitUntil(lambda: not transcript.following, timeout=WAIT)
    place = bar.value()
    qtbot.waitUntil(lambda: done(window), timeout=120_000)
    assert bar.value() == place < bar.maximum()
    transcript.newest.click()
    assert bar.value() == bar.maximum()


@in_both_hosts
def test_stop_while_the_prompt_is_read(qtbot, window, loop):
    type_and_send(qtbot, window, "What is a token?")
    window.current.session.stop()
    qtbot.waitUntil(lambda: done(window), timeout=WAIT)
    (question,) = window.current.session.conversation.messages
    assert question.content == "What is a token?"
    assert window.chat.transcript.last_message.status.text() == "Stopped before the answer started"


def test_the_models_own_options_are_shown_as_defaults(qtbot, window, loop):
    choices = window.chat.choices
    assert (choices.fields["num_predict"].text(), choices.origins["num_predict"].text()) == ("256", "from the model")
    window.session.eject()
    qtbot.waitUntil(lambda: choices.origins["num_predict"].text() == "default", timeout=WAIT)


def test_a_model_that_cannot_be_loaded_shows_the_reason(qtbot, window, loop, tmp_path):
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
    # The loaded model stays loaded.
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


@in_both_hosts
def test_memory_is_freed_after_eject(qtbot, window, loop):
    gauge = window.sidebar.gauge
    qtbot.waitUntil(lambda: gauge.figures is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: "Prompt cache" in gauge.accessibleName(), timeout=WAIT)
    window.sidebar.rows[0].eject.click()
    qtbot.waitUntil(lambda: "Prompt cache" not in gauge.accessibleName(), timeout=WAIT)


@in_both_hosts
def test_the_gauge_agrees_with_the_engines_count(qtbot, window, loop, tmp_path):
    composer, meter = window.chat.composer, window.composing.meter
    notes, report = tmp_path / "notes.md", tmp_path / "report.pdf"
    notes.write_text("# Rice\n\n" + "Ten minutes, and five more with the lid on.\n" * 20)
    report.write_bytes(pdf("Rain fell on Monday.", "On Tuesday it did not."))
    # Check the first question, and the second one, which has an answer before it.
    for paths, text in (((notes, report), "What is in these?"), ((), "And what does 4-bit mean?")):
        window.composing.attach(paths)
        composer.draft.setPlainText(text)
        qtbot.waitUntil(lambda: len(window.current.session.draft.attachments) == len(paths), timeout=WAIT)  # noqa: B023
        qtbot.waitUntil(lambda: meter.fresh and not meter.waiting and meter.use is not None, timeout=WAIT)
        estimated, sizes = meter.use.tokens, [file.tokens for file in window.current.session.draft.attachments]
        assert meter.use.limit == window.session.state.info.context_length
        assert all(sizes)
        assert sum(sizes) < estimated
        qtbot.keyClick(composer.draft, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: done(window) and "prompt" in window.current.session.turns[-1].figures, timeout=WAIT)
        counted = window.current.session.turns[-1].figures["prompt"]
        assert abs(estimated - counted) <= 0.02 * counted


def test_cached_prompts_are_not_read_again_or_the_reason_is_shown(qtbot, window, loop):
    current = window.current

    def ask(act):
        act()
        qtbot.waitUntil(lambda: done(window) and all(turn.id > 0 for turn in current.session.turns), timeout=WAIT)
        return current.session.turns[-1].figures

    first = ask(lambda: window.send("How do I load a bigger model? " * 8))
    second = ask(lambda: window.send("What is a token?"))
    # The whole first turn is cached, except for the tokens at its end.
    assert second["cached"] >= 0.9 * (first["prompt"] + first["tokens"])
    assert f"({second['cached']:,} cached)" in window.chat.transcript.last_message.status.accessibleName()
    assert "anew" not in second
    seen = []
    current.session.prefilled.connect(lambda event, why: seen.append((event.done, event.cached, why)))
    edited = ask(
        lambda: current.session.edit(current.session.turns[0].id, "Tell me something about quantization. " * 8)
    )
    assert edited["cached"] < 0.5 * edited["prompt"]
    assert edited["anew"] == "an earlier message was changed"
    line = window.chat.transcript.last_message.status.accessibleName()
    assert "cached: an earlier message was changed" in line
    assert {why for _, _, why in seen} == {edited["anew"]}
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[0][0] >= seen[0][1]


def test_the_context_can_be_raised_and_the_gauge_follows(qtbot, window, loop):
    session, composer = window.session, window.chat.composer
    longest = session.state.record.context_length
    session.reload(longest // 4)
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY, timeout=WAIT)
    assert session.state.info.context_length == longest // 4
    composer.draft.setPlainText("one two three " * (longest // 8))
    qtbot.waitUntil(composer.panel.isVisible, timeout=WAIT)
    (button,) = [button for button in composer.panel.buttons if button.text().startswith("Raise the context to")]
    button.click()
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY, timeout=WAIT)
    assert session.state.info.context_length > longest // 4
    qtbot.waitUntil(lambda: composer.gauge.text.endswith(f"/ {session.state.info.context_length:,}"), timeout=WAIT)
    # A context longer than the model's own is reduced, and the window says so.
    session.reload(2 * longest)
    qtbot.waitUntil(window.chat.notice.isVisible, timeout=WAIT)
    assert window.chat.notice.title.text() == "The context is shorter than requested"
    assert f"{longest:,}" in window.chat.notice.message.text()


@pytest.fixture
def poet_digest(manifest):
    """Give the built-in model a template that ignores the question; yield the model's digest."""
    digest = record_of(manifest).digest
    save_user_template(digest, "You are a poet.")
    yield digest
    save_user_template(digest, "")


@pytest.fixture
def poet(poet_digest, real_window):
    return real_window(make_host(THREAD))


def test_a_template_that_ignores_the_question_is_reported(qtbot, poet, poet_digest, loop):
    assert poet.session.state.record.digest == poet_digest
    notice = poet.chat.notice
    assert notice.title.text() == "The chat template ignores questions"
    assert "The template you gave makes the same prompt whatever is asked" in notice.message.text()
    assert "makes the same prompt" not in poet.chat.header.line.text()
