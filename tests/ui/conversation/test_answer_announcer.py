"""What a screen reader hears of an answer."""

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


class Hearing:
    """What was announced, and when, on a clock that the test turns."""

    def __init__(self):
        self.now = 100.0
        self.said = []
        self.talk, self.about = Conversation(), QObject()
        self.announcer = AnswerAnnouncer(self.about, self.hear, lambda: self.now)
        self.announcer.bind(self.talk)

    def hear(self, about, text):
        assert about is self.about
        self.said.append((self.now, text))

    def end(self, state=State.COMPLETE, text=""):
        self.talk.answer_ended.emit(Turn(1, None, Role.ASSISTANT, text, state, 0.0))

    @property
    def texts(self):
        return [text for _, text in self.said]


@pytest.fixture
def hearing(qapp):
    return Hearing()


def test_a_wanted_tool_is_named_and_nothing_of_json_is_read_out(hearing):
    hearing.talk.answer_awaited.emit("tiny", "Reading prompt…")
    hearing.now += PAUSE
    call = Call("find", {"what": "x"})
    hearing.talk.answer_grew.emit((*pieces("I look. "), Piece(Kind.TOOL, ends=True, call=call), *pieces("Done")))
    hearing.end()
    held = Turn(1, None, Role.ASSISTANT, "", State.STREAMING, 0.0, figures={"format": "json"})
    for signal, first in (
        (hearing.talk.answer_begun, lambda: hearing.talk.answer_awaited.emit("tiny", "Reading prompt…")),
        (hearing.talk.answer_resumed, lambda: None),
    ):
        first()
        signal.emit(held)
        hearing.now += PAUSE
        hearing.talk.answer_grew.emit(pieces('{"a": "One is said. Two is too. "}'))
        hearing.end(text="{}")
    assert hearing.texts == [
        "tiny answers",
        "I look. Wants to use find.",
        "Done The answer is complete.",
        "tiny answers",
        "(code) The answer is complete.",
        "The answer continues",
        "(code) The answer is complete.",
    ]


def test_the_beginning_sentences_now_and_then_and_the_end(hearing):
    hearing.talk.answer_awaited.emit("tiny", "Reading prompt…")
    for word in "One is said. Two is too. Three waits for its end. Four. Five is cut".split():
        hearing.now += 0.5
        hearing.talk.answer_grew.emit(pieces(f"{word} "))
    hearing.now += 0.1
    hearing.end()
    assert hearing.texts == [
        "tiny answers",
        "One is said.",
        "Two is too.",
        "Three waits for its end. Four.",
        "Five is cut The answer is complete.",
    ]
    times = [when for when, _ in hearing.said[:-1]]
    assert all(later - earlier >= PAUSE for earlier, later in pairwise(times))


@given(st.lists(st.tuples(st.text("ab. !\n`", max_size=8), st.floats(0, 3)), max_size=40))
def test_never_more_often_than_that_and_nothing_is_said_twice(qapp, chunks):
    hearing = Hearing()
    hearing.talk.answer_awaited.emit("m", "")
    for text, pause in chunks:
        hearing.now += pause
        hearing.talk.answer_grew.emit(pieces(text))
    hearing.end()
    times = [when for when, _ in hearing.said[:-1]]
    assert all(later - earlier >= PAUSE for earlier, later in pairwise(times))
    told = " ".join(hearing.texts[1:]).removesuffix("The answer is complete.")
    said = "".join(text for text, _ in chunks)
    if "`" not in said:
        assert told.split() == said.split()


def test_how_it_ended_is_said(hearing):
    for state, ended in ((State.STOPPED, "The answer was stopped."), (State.FAILED, "The answer broke off.")):
        hearing.talk.answer_awaited.emit("m", "")
        hearing.end(state)
        assert hearing.texts[-1] == ended
    hearing.talk.answer_awaited.emit("m", "")
    hearing.talk.retracted.emit("Hi")
    assert "draft again" in hearing.texts[-1]
    count = len(hearing.said)
    hearing.talk.answer_grew.emit(pieces("Late. "))
    hearing.end()
    assert len(hearing.said) == count


def test_marks_and_code_are_not_read_out():
    text = "# Title\n\n- **Bold** and `code`, see [here](https://x.y).\n\n```python\nprint(1). Two.\n```\n\nDone."
    assert speakable(text) == "Title Bold and code, see here. (code) Done."


def test_no_sentence_is_taken_from_code_that_is_not_whole(hearing):
    hearing.talk.answer_awaited.emit("m", "")
    hearing.now += 5
    hearing.talk.answer_grew.emit(pieces("Look. ```\nx. y. z. "))
    hearing.now += 5
    hearing.talk.answer_grew.emit(pieces("more. "))
    assert hearing.texts[1:] == ["Look."]


def test_a_real_conversation_goes_through_the_one_sending_function(ready, qtbot, loop, monkeypatch):
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


def test_nobody_is_told_where_nobody_listens(qapp, monkeypatch):
    monkeypatch.setattr(announcements.QAccessible, "updateAccessibility", lambda event: pytest.fail("sent"))
    announce(QObject(), "Hello")
