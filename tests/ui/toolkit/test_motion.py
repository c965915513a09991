"""Nothing moves on its own when the person prefers reduced motion."""

import threading

import pytest
from PySide6.QtCore import QAbstractAnimation

from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit import motion


@pytest.fixture
def reader(ready, qtbot, loop):
    """Return a function that starts an answer which outgrows the view, as for a person who reads further up."""

    def read():
        ready.script.chunks = ["Line.\n\n"] * 120
        ready.script.hold_answer = threading.Event()
        ready.window.send("Go on")
        transcript = ready.window.chat.transcript
        qtbot.waitUntil(lambda: transcript.verticalScrollBar().maximum() > 400)
        qtbot.waitUntil(transcript.newest.isVisible)
        return transcript

    return read


def running(window):
    return [
        animation
        for animation in window.findChildren(QAbstractAnimation)
        if animation.state() is QAbstractAnimation.State.Running
    ]


def test_the_arc_turns_while_an_answer_streams_out_of_view(reader, ready, qtbot, loop, monkeypatch):
    monkeypatch.setattr(motion, "provider", lambda: False)
    transcript = reader()
    assert transcript.newest.is_turning
    assert len(running(ready.window)) == 1
    before = transcript.newest.degrees
    qtbot.waitUntil(lambda: transcript.newest.degrees != before)
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY)
    assert running(ready.window) == []


def test_with_reduced_motion_the_arc_is_shown_without_turning(reader, ready, qtbot, loop, monkeypatch):
    monkeypatch.setattr(motion, "provider", lambda: True)
    transcript = reader()
    assert running(ready.window) == []
    assert transcript.newest.accessibleName().endswith("answer in progress")
    image = transcript.newest.grab().toImage()
    qtbot.wait(60)
    assert transcript.newest.grab().toImage() == image
    transcript.newest.show_arriving(False)
    assert transcript.newest.grab().toImage() != image
    assert running(ready.window) == []


def test_the_systems_preference_is_read(qapp):
    assert motion.system_reduces_motion() is False  # no setting here asks for reduced motion
