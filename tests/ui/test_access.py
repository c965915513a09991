"""What a screen reader reads, and what other languages, directions and sizes of text do to the window.

The trees under `tests/_reference` were read and approved; SOTTO_WRITE_REFERENCES=1 writes them anew.
"""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from sotto.ui.states import Phase
from window_checks import clipped, nameless, stretch, tree_of

REFERENCES = Path(__file__).resolve().parents[1] / "_reference"
SIZES = {"compact": (720, 480), "medium": (1120, 760), "wide": (1600, 1000)}


@pytest.fixture
def right_to_left(qapp):
    """The direction of Arabic and Hebrew, put back afterwards."""
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def settled(stage):
    return stage.session.state.phase is Phase.READY and stage.window.chat.transcript.answer is None


def compare(widget, name):
    """Compare a tree with the one that was approved."""
    path, found = REFERENCES / f"{name}.txt", tree_of(widget)
    if os.environ.get("SOTTO_WRITE_REFERENCES"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8"), f"{path.name} is another one: read it, then approve it"


def answered(stage, qtbot):
    stage.script.chunks = ["Use `code` and [a link](https://x.y).\n\n```python\nprint(1)\n```\n"]
    stage.window.send("How do I load a bigger model, and what does 4-bit mean?")
    qtbot.waitUntil(lambda: settled(stage))


@pytest.mark.parametrize("size", SIZES)
def test_what_a_screen_reader_reads(ready, qtbot, loop, size):
    ready.window.resize(*SIZES[size])
    compare(ready.window, f"ready-{size}")


def test_what_a_screen_reader_reads_of_a_conversation(ready, qtbot, loop):
    ready.script.chunks = ["Use `code` and [a link](https://x.y).\n\n```python\nprint(1)\n```\n"]
    ready.window.send("How do I load a bigger model?")
    qtbot.waitUntil(lambda: settled(ready) and ready.dialogue.turns[-1].id > 0)
    qtbot.waitUntil(lambda: ready.window.chat.transcript.messages[-1].again.isVisible())
    compare(ready.window.chat.transcript, "conversation")


@pytest.mark.parametrize("zoom", [1.0, 2.0])
@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_longer_words_have_room(ready, qtbot, loop, preferences, right_to_left, direction, zoom):
    QApplication.setLayoutDirection(direction)
    preferences.change(zoom=zoom)
    ready.window.send("How do I load a bigger model, and what does 4-bit mean?")
    qtbot.waitUntil(lambda: settled(ready) and ready.dialogue.turns[-1].id > 0)
    ready.window.chat.toggle_choices()
    stretch(ready.window)
    qtbot.wait(500)
    print(clipped(ready.window))
    qtbot.waitUntil(lambda: clipped(ready.window) == [])
    assert nameless(ready.window) == []


def test_the_window_is_mirrored_where_text_runs_from_right_to_left(ready, qtbot, loop, right_to_left):
    ready.window.resize(1120, 760)
    qtbot.waitUntil(lambda: ready.window.sidebar.x() > ready.window.chat.x())
    ready.window.send("שלום, مرحبا")
    qtbot.waitUntil(lambda: settled(ready))
    question, answer = ready.window.chat.transcript.messages
    bubble = question.text.mapTo(question, question.text.rect().center()).x()
    # A person speaks at the left then, and the answer begins at the right.
    assert bubble < question.width() / 2
    assert answer.x() >= 0
