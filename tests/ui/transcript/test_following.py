"""What the transcript keeps in view when its own size changes."""

import pytest

from sotto.chats.chat_records import Role, State, Turn
from sotto.ui.transcript.transcript import Transcript

TURNS = [
    Turn(1, None, Role.USER, "Where is it evening? " * 90, State.COMPLETE, 0.0),
    Turn(2, 1, Role.ASSISTANT, "By the sea.", State.COMPLETE, 0.0),
]


@pytest.fixture
def transcript(qtbot, dressed):
    made = Transcript()
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show()
    made.show_turns(TURNS)
    qtbot.waitUntil(lambda: made.settled)
    return made


def at_end(transcript):
    bar = transcript.verticalScrollBar()
    return bar.maximum() > 0 and bar.value() == bar.maximum()


def test_the_end_stays_in_view_when_the_view_is_too_small_for_a_moment(transcript, qtbot):
    assert at_end(transcript)
    # As when a window is made smaller and its other parts find their sizes one after the other.
    for height in (40, 200):
        transcript.resize(700, height)
    assert at_end(transcript)
    qtbot.waitUntil(lambda: transcript.settled)
    assert at_end(transcript)
    assert transcript.following
    assert transcript.newest.isHidden()


def test_the_beginning_of_an_answer_stays_in_view_when_there_is_no_room_for_all_of_it(transcript, qtbot):
    transcript.resize(700, 60)
    qtbot.waitUntil(lambda: not transcript.following)
    answer = transcript.last_message
    assert 0 <= answer.mapTo(transcript.viewport(), answer.rect().topLeft()).y() < 40
