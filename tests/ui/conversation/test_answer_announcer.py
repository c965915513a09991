"""Announcements of an answer to screen readers."""

import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject, Signal

from sotto.chats.chat_records import Role, State, Turn
from sotto.engine.contract.answer_parts import Kind, Piece
from sotto.engine.contract.answer_parts import ToolCall as Call
from sotto.ui.conversation.answer_announcer import PAUSE, AnswerAnnouncer
from sotto.ui.toolkit import announcements
from sotto.ui.toolkit.announcements import announce, speakable


def pieces(text):
    return (Piece(Kind.TEXT, text),)


class Conversation(QObject):
    """The signals of a conversation in which nothing is under way."""

    answering = awaiting = False

    answer_awaited = Signal(str, str)
    answer_begun = Signal(object)
    answer_resumed = Signal(object)
    answer_grew = Signal(object)
    answer_ended = Signal(object)
    retracted = Signal(str)
    branch_changed = Signal(object)


class AnnouncementLog:
    """Records what was announced, and when, with a clock that the test advances."""

    def __init__(self):
        self.now = 100.0
        self.announced = []
        self.conversation, self.about = Conversation(), QObject()
        self.announcer = AnswerAnnouncer(self.about, self.record, lambda: self.now)
        self.announcer.bind(self.conversation)

    def record(self, about, text):
        assert about is self.about
        self.announced.append((self.now, text))

    def end(self, state=State.COMPLETE, text=""):
        self.conversation.answer_ended.emit(Turn(1, None, Role.ASSISTANT, text, state, 0.0))

    @property
    def texts(self):
        return [text for _, text in self.announced]


@pytest.fixture
def log(qapp):
    return AnnouncementLog()


def test_a_tool_call_is_named_and_json_is_not_read_out(log):
    log.conversation.answer_awaited.emit("tiny", "Reading prompt…")
    log.now += PAUSE
    call = Call("find", {"what": "x"})
    log.conversation.answer_grew.emit((*pieces("I look. "), Piece(Kind.TOOL, ends=True, call=call), *pieces("Done")))
    log.end()
    held = Turn(1, None, Role.ASSISTANT, "", State.STREAMING, 0.0, figures={"format": "json"})
    for signal, first in (
        (log.conversation.answer_begun, lambda: log.conversation.answer_awaited.emit("tiny", "Reading prompt…")),
        (log.conversation.answer_resumed, lambda: None),
    ):
        first()
        signal.emit(held)
        log.now += PAUSE
        log.conversation.answer_grew.emit(pieces('{"a": "One is said. Two is too. "}'))
        log.end(text="{}")
    assert log.texts == [
        "tiny answers",
        "I look. Wants to use find.",
        "Done The answer is complete.",
        "tiny answers",
        "(code) The answer is complete.",
        "The answer continues",
        "(code) The answer is complete.",
    ]


def test_the_beginning_some_sentences_and_the_end_are_announced(log):
    log.conversation.answer_awaited.emit("tiny", "Reading prompt…")
    for word in "One is said. Two is too. Three waits for its end. Four. Five is cut".split():
        log.now += 0.5
        log.conversation.answer_grew.emit(pieces(f"{word} "))
    log.now += 0.1
    log.end()
    assert log.texts == [
        "tiny answers",
        "One is said.",
        "Two is too.",
        "Three waits for its end. Four.",
        "Five is cut The answer is complete.",
    ]
    times = [when for when, _ in log.announced[:-1]]
    assert all(later - earlier >= PAUSE for earlier, later in pairwise(times))


def test_sentences_of_languages_without_spaces_are_announced(log):
    log.conversation.answer_awaited.emit("tiny", "")
    for part in ("今日は。", "「はい。」元気", "です！"):
        log.now += PAUSE
        log.conversation.answer_grew.emit(pieces(part))
    assert log.texts == ["tiny answers", "今日は。", "「はい。」", "元気です！"]


@given(st.lists(st.tuples(st.text("ab. !\n`", max_size=8), st.floats(0, 3)), max_size=40))
def test_announcements_are_spaced_and_repeat_nothing(qapp, chunks):
    log = AnnouncementLog()
    log.conversation.answer_awaited.emit("m", "")
    for text, pause in chunks:
        log.now += pause
        log.conversation.answer_grew.emit(pieces(text))
    log.end()
    times = [when for when, _ in log.announced[:-1]]
    assert all(later - earlier >= PAUSE for earlier, later in pairwise(times))
    spoken = " ".join(log.texts[1:]).removesuffix("The answer is complete.")
    written = "".join(text for text, _ in chunks)
    if "`" not in written:
        assert spoken.split() == written.split()


def test_the_way_an_answer_ended_is_announced(log):
    for state, ended in ((State.STOPPED, "The answer was stopped."), (State.FAILED, "The answer was interrupted.")):
        log.conversation.answer_awaited.emit("m", "")
        log.end(state)
        assert log.texts[-1] == ended
    log.conversation.answer_awaited.emit("m", "")
    log.conversation.retracted.emit("Hi")
    assert "back in the composer" in log.texts[-1]
    count = len(log.announced)
    log.conversation.answer_grew.emit(pieces("Late. "))
    log.end()
    assert len(log.announced) == count


def test_marks_and_code_are_not_read_out():
    text = "# Title\n\n- **Bold** and `code`, see [here](https://x.y).\n\n```python\nprint(1). Two.\n```\n\nDone."
    assert speakable(text) == "Title Bold and code, see here. (code) Done."


def test_no_sentence_is_announced_from_unfinished_code(log):
    log.conversation.answer_awaited.emit("m", "")
    log.now += 5
    log.conversation.answer_grew.emit(pieces("Look. ```\nx. y. z. "))
    log.now += 5
    log.conversation.answer_grew.emit(pieces("more. "))
    assert log.texts[1:] == ["Look."]


def test_announcements_of_a_real_conversation_are_sent_to_qt(ready, qtbot, loop, monkeypatch):
    sent = []
    monkeypatch.setattr(announcements.QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(announcements.QAccessible, "updateAccessibility", lambda event: sent.append(event.message()))
    ready.script.chunks = ["Hello ", "there. ", "And more"]
    ready.script.hold_answer = threading.Event()
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: sent == ["tiny answers"])
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert sent == ["tiny answers", "Hello there. And more The answer is complete."]


def test_nothing_is_sent_when_no_screen_reader_is_active(qapp, monkeypatch):
    monkeypatch.setattr(announcements.QAccessible, "updateAccessibility", lambda event: pytest.fail("sent"))
    announce(QObject(), "Hello")
