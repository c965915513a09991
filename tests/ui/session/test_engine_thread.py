"""Delivery of events to the window, and Qt calls that must not drop references to Python's constants."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted_loop import Script, ScriptedLoop, record
from sotto.engine.contract.answer_parts import Kind, Piece
from sotto.engine.contract.events import Failed, Finished, Loaded, LoadProgress, PrefillProgress, TextChunk
from sotto.engine.contract.logprob_values import LogprobEntry, TokenLogprob
from sotto.engine.contract.requests import CountRequest, GenerateRequest, Message
from sotto.runner.commands import Cancel, CancelLoad, Count, Generate, Load, Measure
from sotto.runner.joining import join_events
from sotto.ui.session.engine_thread import EngineLost, EngineThread, Mailbox

GUARD = """
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QLabel
class Owner(QObject):
    signal = Signal(str)
app = QApplication([]); label = QLabel(); owner = Owner()
for _ in range(20_000): {call}
"""


@pytest.mark.parametrize("call", ["label.setText('a')", "owner.signal.emit('a')"])
def test_qt_calls_keep_none_and_true_alive(call):
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    assert subprocess.run([sys.executable, "-c", GUARD.format(call=call)], env=environment, check=False).returncode == 0


events = st.lists(
    st.one_of(
        st.builds(
            TextChunk, st.sampled_from("ab"), st.text(max_size=4), st.lists(st.integers(0, 9), max_size=3).map(tuple)
        ),
        st.builds(PrefillProgress, st.sampled_from("ab"), st.integers(0, 9), st.just(9), st.just(0)),
        st.builds(LoadProgress, st.sampled_from(["weights", "tokenizer"]), st.integers(0, 9), st.just(9)),
    )
)


def text_and_tokens(some, request):
    chunks = [event for event in some if isinstance(event, TextChunk) and event.request_id == request]
    return "".join(chunk.text for chunk in chunks), [token for chunk in chunks for token in chunk.token_ids]


@given(events)
def test_joining_events_loses_no_text_and_keeps_the_order(sent):
    received = join_events(sent)
    for request in "ab":
        assert text_and_tokens(sent, request) == text_and_tokens(received, request)
    kinds = [(type(event), getattr(event, "request_id", getattr(event, "phase", ""))) for event in sent]
    assert [kind for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] != kind] == [
        (type(event), getattr(event, "request_id", getattr(event, "phase", ""))) for event in received
    ]
    if sent and not isinstance(sent[-1], TextChunk):
        assert received[-1] == sent[-1]


def test_logprobs_of_thoughts_and_text_are_not_joined():
    entries = tuple(LogprobEntry(TokenLogprob(token, b"x", -1.0)) for token in range(3))
    thought, text = (Piece(Kind.THOUGHT, "x"),), (Piece(Kind.TEXT, "x"),)
    sent = [
        TextChunk("a", "x" * (parts is text), (entry.sampled.token_id,), (entry,), parts)
        for entry, parts in zip(entries, (thought, thought, text), strict=True)
    ]
    assert join_events(sent) == [TextChunk("a", "", (0, 1), entries[:2], thought * 2), sent[2]]


def test_a_reader_is_woken_once_until_it_finds_the_mailbox_empty():
    box, chunk = Mailbox(), TextChunk("a", "x", (1,))
    assert [box.put(chunk) for _ in range(3)] == [True, False, False]
    assert box.take() == [TextChunk("a", "xxx", (1, 1, 1))]
    assert not box.put(chunk)
    assert box.take() == [chunk]
    assert box.take() == []
    assert box.put(chunk)


def test_commands_sent_before_the_engine_exists_are_served(qtbot):
    got = []
    thread = EngineThread(make_loop=lambda emit: ScriptedLoop(emit, Script()))
    thread.event_received.connect(got.append)
    thread.send(Load(record()))
    qtbot.waitUntil(lambda: any(isinstance(event, Loaded) for event in got))
    assert thread.close()
    thread.deleteLater()


def test_a_lost_engine_is_restarted_only_by_a_load(qtbot):
    conversation, got, made = (Message("user", "go"),), [], []
    script = Script(crash="It is gone.")

    def make_loop(emit):
        made.append(emit)
        return ScriptedLoop(emit, script)

    thread = EngineThread(make_loop=make_loop)
    thread.event_received.connect(got.append)
    thread.send(Generate(GenerateRequest("1", messages=conversation)))
    qtbot.waitUntil(lambda: any(isinstance(event, EngineLost) for event in got) and not thread.isRunning())

    thread.send(Count(CountRequest("2", conversation, ())))
    thread.send(Measure(record()))
    thread.send(Cancel("1"))
    thread.send(CancelLoad())
    assert not thread.isRunning()
    qtbot.waitUntil(lambda: isinstance(got[-1], Failed) and got[-1].request_id == "2")
    assert len(made) == 1

    thread.send(Load(record()))
    qtbot.waitUntil(lambda: any(isinstance(event, Loaded) for event in got))
    assert len(made) == 2
    assert thread.close()
    thread.deleteLater()


def test_a_fast_stream_arrives_in_few_events(qtbot):
    got, script = [], Script(chunks=["x"] * 5000)
    thread = EngineThread(make_loop=lambda emit: ScriptedLoop(emit, script))
    thread.event_received.connect(got.append)
    thread.send(Generate(GenerateRequest("1", messages=(Message("user", "go"),))))
    qtbot.waitUntil(lambda: any(isinstance(event, Finished) for event in got))
    chunks = [event for event in got if isinstance(event, TextChunk)]
    assert sum(len(chunk.text) for chunk in chunks) == 5000
    assert len(chunks) < 200
    assert thread.close()
    thread.deleteLater()
