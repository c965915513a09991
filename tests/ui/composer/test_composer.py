"""The composer's keys: which widget receives them, and what they do."""

import threading

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtWidgets import QApplication

from sotto.ui.state.model_state import Phase


def answered(stage, qtbot, text):
    stage.window.send(text)
    qtbot.waitUntil(lambda: not stage.chat_session.busy and all(turn.id > 0 for turn in stage.chat_session.turns))


def test_escape_first_leaves_an_edit_and_then_stops_the_answer(ready, qtbot, loop):
    answered(ready, qtbot, "First")
    ready.script.hold_answer = threading.Event()
    ready.window.send("Second")
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.GENERATING and ready.chat_session.turns[-1].text != "")
    question = ready.window.chat.transcript.messages[0]
    question.edit.click()
    qtbot.keyClick(question.editor.draft, Qt.Key.Key_Escape)
    assert not question.editing
    assert ready.chat_session.busy
    # It works from the composer as well.
    question.edit.click()
    ready.window.chat.composer.draft.setFocus()
    qtbot.keyClick(ready.window.chat.composer.draft, Qt.Key.Key_Escape)
    assert not question.editing
    assert ready.chat_session.busy
    qtbot.keyClick(ready.window.chat.composer.draft, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not ready.chat_session.busy)


def test_escape_in_the_find_bar_closes_it_while_an_answer_streams(ready, qtbot, loop):
    ready.script.hold_answer = threading.Event()
    ready.window.send("First")
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.GENERATING)
    ready.window.chat.find_bar.open()
    qtbot.keyClick(ready.window.chat.find_bar.field, Qt.Key.Key_Escape)
    assert ready.window.chat.find_bar.isHidden()
    assert ready.chat_session.busy


def test_typing_anywhere_goes_to_the_draft(ready, qtbot, loop):
    answered(ready, qtbot, "First")
    composer, transcript = ready.window.chat.composer, ready.window.chat.transcript
    for place in (
        transcript,
        transcript.messages[-1].text,
        transcript.messages[-1].copy,
        ready.window.models.panel.rescan,
    ):
        place.setFocus()
        assert not composer.draft.hasFocus()
        qtbot.keyClicks(place, "a")
        assert composer.draft.hasFocus()
    assert composer.text == "aaaa"
    # Shortcuts remain shortcuts, and text typed into other fields stays there.
    ready.window.sidebar.search.setFocus()
    qtbot.keyClicks(ready.window.sidebar.search, "b")
    transcript.setFocus()
    qtbot.keyClick(transcript, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert ready.window.sidebar.search.text() == "b"
    assert composer.text == "aaaa"


def test_pasted_files_are_text_where_nothing_can_be_attached(ready, qtbot, loop, tmp_path):
    answered(ready, qtbot, "First")
    question = ready.window.chat.transcript.messages[0]
    question.edit.click()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    data.setText(str(tmp_path))
    draft = question.editor.draft
    assert draft.canInsertFromMimeData(data)
    draft.insertFromMimeData(data)
    assert str(tmp_path) in draft.toPlainText()


@pytest.mark.parametrize("key", [Qt.Key.Key_Tab, Qt.Key.Key_Backtab])
def test_tab_cycles_through_everything_without_getting_stuck(ready, qtbot, loop, key):
    answered(ready, qtbot, "First")
    window = ready.window
    qtbot.waitUntil(lambda: window.sidebar.chats.view.isVisible() and len(window.sidebar.chats.model.entries) == 1)
    window.chat.composer.draft.setPlainText("half a thought")
    window.chat.composer.draft.setFocus()
    seen = []
    for _ in range(60):
        qtbot.keyClick(QApplication.focusWidget(), key)
        seen.append(QApplication.focusWidget())
        if seen[-1] is window.chat.composer.draft:
            break
    assert seen[-1] is window.chat.composer.draft
    parts = (window.sidebar.search, window.sidebar.chats.view, window.chat.composer.clip, window.chat.composer.button)
    assert [part.accessibleName() for part in parts if part not in seen] == []
    assert any(window.chat.transcript.isAncestorOf(widget) for widget in seen)
    assert window.chat.composer.text == "half a thought"


@pytest.mark.parametrize("zoom", [0.8, 1.0, 1.1, 1.5, 2.0])
def test_a_draft_of_eight_lines_scrolls_at_the_ninth(ready, qtbot, loop, dressed, zoom):
    dressed.set_appearance("light", zoom)
    draft = ready.window.chat.composer.draft
    draft.setPlainText("\n".join("x" * 8))
    assert draft.verticalScrollBar().maximum() == 0
    height = draft.height()
    draft.setPlainText("\n".join("x" * 9))
    assert draft.height() == height
    assert draft.verticalScrollBar().maximum() > 0
