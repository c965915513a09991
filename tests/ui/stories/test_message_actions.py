"""What can be done with the messages of a conversation: in the window, with the mouse, the keyboard and the menu."""

import threading

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.runner.host import THREAD
from sotto.ui.session.engine_hosts import make_host
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.model_state import ChatSettings, Phase
from tiny_random import TEMPLATE, write_model

WAIT = 60_000


def texts(window):
    return [turn.text for turn in window.current.session.turns]


def saved(window):
    """Return whether nothing is under way, and all messages are saved."""
    turns = window.current.session.turns
    return not window.current.session.busy and all(turn.id > 0 and turn.versions for turn in turns)


def ask(window, qtbot, text):
    before = len(window.current.session.turns)
    window.send(text)
    qtbot.waitUntil(lambda: len(window.current.session.turns) == before + 2 and saved(window), timeout=WAIT)


def menu_of(message):
    """Click on the message's button for more, and return the menu that it shows."""
    message.menu_button.click()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def entries(menu):
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def choose(message, text):
    menu = menu_of(message)
    (action,) = [action for action in menu.actions() if action.text() == text]
    assert action.isEnabled()
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    assert not menu.isVisible()


def edit(qtbot, message, text):
    """Edit an answer with the menu and the keyboard."""
    choose(message, "Edit…")
    draft = message.editor.draft
    assert message.window().focusWidget() is draft
    draft.selectAll()
    qtbot.keyClicks(draft, text)
    qtbot.keyClick(draft, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


@pytest.fixture
def window(real_window):
    return real_window(make_host(THREAD))


@pytest.fixture(scope="module")
def second_model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("models") / "second", "plain", TEMPLATE)


@pytest.mark.slow
def test_a_conversation_is_edited_branched_deleted_and_answered_by_another_model(
    window, second_model, qtbot, loop, tmp_path
):
    session, transcript, notice = window.session, window.chat.transcript, window.chat.notice
    session.settings = ChatSettings(num_predict=24)
    qtbot.waitUntil(lambda: not window.greeting.under_way, timeout=WAIT)
    for question in ("What can you do?", "How do I load a bigger model?"):
        ask(window, qtbot, question)
    chat, (_, answer, *rest) = window.current.session.chat, texts(window)

    # Another text for the first answer is a version; what followed the answer follows the new version, too.
    first = transcript.messages[1]
    assert entries(menu_of(first)) == [
        *("Copy", "Regenerate", "Try Another Model…", "Edit…", "Branch From Here", "Show Markdown"),
        "Delete Question and Answer",
    ]
    QApplication.activePopupWidget().close()
    edit(qtbot, first, "I count sheep.")
    qtbot.waitUntil(lambda: texts(window) == ["What can you do?", "I count sheep.", *rest])
    first = transcript.messages[1]
    assert (first.versions.place.text(), first.status.text(), first.model.text()) == ("2 / 2", "Edited", "sotto")
    # The model is given the new text, and what came before it is not computed again.
    ask(window, qtbot, "And why?")
    figures = window.current.session.turns[-1].figures
    assert figures["cached"] > 0
    assert window.current.session.conversation.messages[1].content == "I count sheep."
    first.versions.older.click()
    qtbot.waitUntil(lambda: texts(window) == ["What can you do?", answer, *rest])
    transcript.messages[1].versions.newer.click()
    qtbot.waitUntil(lambda: texts(window)[1] == "I count sheep.")
    whole = texts(window)
    assert len(whole) == 6

    # The last answer is edited, and continued from there.
    edit(qtbot, transcript.last_message, "Because")
    qtbot.waitUntil(lambda: texts(window)[-1] == "Because")
    transcript.last_message.more.click()
    qtbot.waitUntil(lambda: saved(window) and len(texts(window)[-1]) > 10, timeout=WAIT)
    assert texts(window)[-1].startswith("Because")
    whole = texts(window)

    # A branch is a chat of its own, which goes on from there with a warm cache.
    choose(transcript.messages[1], "Branch From Here")
    qtbot.waitUntil(lambda: texts(window) == whole[:2])
    branch = window.current.session.chat
    titles = window.sidebar.chats.model
    qtbot.waitUntil(
        lambda: [entry.chat.title for entry in titles.entries] == ["Branch of What can you do?", "What can you do?"]
    )
    ask(window, qtbot, "And then?")
    turn = window.current.session.turns[-1]
    assert turn.figures["cached"] > 0
    assert "anew" not in turn.figures

    # The original is as it was; a question in it goes with its answers, and comes back.
    window.current.open(chat)
    qtbot.waitUntil(lambda: texts(window) == whole)
    choose(transcript.messages[0], "Delete Question and Answers")
    qtbot.waitUntil(lambda: texts(window) == whole[2:])
    assert (notice.title.text(), notice.message.text()) == (
        *("Question and 2 answers deleted",),
        "The messages that follow are kept.",
    )
    draft = window.chat.composer.draft
    draft.setFocus()
    qtbot.keyClick(draft, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: texts(window) == whole)
    assert notice.isHidden()

    # Another model, which is not loaded yet, answers the last question; both versions know their model.
    session.library.open(DropContents((second_model,), ()))
    qtbot.waitUntil(lambda: len(session.library.models) == 2 and session.state.loaded, timeout=WAIT)
    builtin = next(record for record in session.library.models if record.builtin)
    session.load(builtin)
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY and session.state.record.builtin, timeout=WAIT)
    qtbot.mouseClick(transcript.last_message.again_with, Qt.MouseButton.LeftButton)
    picker = window.models.picker
    assert [row.record.builtin for row in picker.rows] == [True, False]
    qtbot.mouseClick(picker.rows[1], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: saved(window) and len(window.current.session.turns[-1].versions) == 3, timeout=WAIT)
    assert window.current.session.turns[-1].model == session.state.record.name == picker.rows[1].record.name
    assert transcript.last_message.model.text() == "second"
    transcript.last_message.versions.older.click()
    qtbot.waitUntil(lambda: texts(window) == whole)
    assert transcript.last_message.model.text() == "sotto"
    # The chat offers the model of the version in view.
    qtbot.waitUntil(lambda: window.chat.header.switch.text() == "Switch to sotto")

    # All of it is on the disk: another reader finds the same conversations.
    store = ChatStore(Database(tmp_path / "chats.sqlite3"))
    assert [turn.text for turn in store.branch(chat).turns] == whole
    assert len(store.branch(branch).turns) == 4
    store.database.close()


# Without the engine


def answered(stage, qtbot, *questions):
    for question in questions:
        stage.script.chunks = [f"Answer to {question}."]
        ask(stage.window, qtbot, question)


def load(stage, qtbot, name):
    stage.session.load(stage.session.library.named(name))
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY and stage.session.state.record.name == name)


def test_an_answer_that_fails_leaves_the_earlier_ones(ready, qtbot, loop):
    answered(ready, qtbot, "One", "Two")
    before = ready.chat_session.turns
    ready.script.chunks, ready.script.fail_answer = [], "The engine is busy."
    ready.window.chat.transcript.messages[1].again.click()
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    qtbot.waitUntil(lambda: ready.chat_session.turns == before)
    assert ready.window.chat.notice.message.text() == "The engine is busy."
    assert ready.window.chat.composer.text == ""
    assert len(ready.window.chat.transcript.messages) == 4
    # An edited question that fails becomes a draft, and the old one stays.
    ready.window.chat.transcript.messages[2].edit.click()
    editor = ready.window.chat.transcript.messages[2].editor
    editor.draft.setPlainText("Two, in other words")
    editor.save.click()
    qtbot.waitUntil(lambda: ready.window.chat.composer.text == "Two, in other words")
    qtbot.waitUntil(lambda: ready.chat_session.turns == before)
    reopened = []
    ready.keeper.do(lambda store: store.branch(ready.chat_session.chat).turns, reopened.append)
    qtbot.waitUntil(lambda: bool(reopened))
    assert list(reopened[0]) == before
    assert ready.window.chat.notice.isVisible()


def test_an_answer_of_a_model_that_cannot_be_loaded_leaves_the_earlier_one(ready, qtbot, loop):
    answered(ready, qtbot, "One")
    before = ready.chat_session.turns
    ready.script.fail_load = "config.json is missing."
    ready.window.chat.transcript.last_message.again_with.click()
    ready.window.models.picker.rows[1].click()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FAILED and not ready.chat_session.busy)
    assert ready.chat_session.turns == before
    assert [message.turn_id for message in ready.window.chat.transcript.messages] == [turn.id for turn in before]


def test_a_deletion_is_undone_while_an_answer_is_written(ready, qtbot, loop):
    answered(ready, qtbot, "One", "Two", "Three")
    choose(ready.window.chat.transcript.messages[2], "Delete Question and Answer")
    qtbot.waitUntil(lambda: texts(ready.window)[::2] == ["One", "Three"])
    ready.script.hold_answer = threading.Event()
    ready.window.send("Four")
    qtbot.waitUntil(lambda: ready.chat_session.answering)
    assert not [action for action in menu_of(ready.window.chat.transcript.messages[0]).actions() if action.isEnabled()
                and action.text() in ("Delete Question and Answer", "Edit…")]  # fmt: skip
    QApplication.activePopupWidget().close()
    ready.window.undo()
    assert texts(ready.window)[::2] == ["One", "Three", "Four"]
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: texts(ready.window)[::2] == ["One", "Two", "Three", "Four"] and saved(ready.window))


def test_a_deletion_is_undone_from_another_chat(ready, qtbot, loop):
    answered(ready, qtbot, "One", "Two")
    chat = ready.chat_session.chat
    ready.window.chat.transcript.messages[0].menu_button.setFocus()
    choose(ready.window.chat.transcript.messages[0], "Delete Question and Answer")
    qtbot.waitUntil(lambda: texts(ready.window)[::2] == ["Two"])
    assert ready.window.focusWidget() is ready.window.chat.transcript
    ready.window.current.new_chat()
    qtbot.waitUntil(lambda: ready.window.sessions.find(chat) is None)
    ready.window.undo()
    ready.window.current.open(chat)
    qtbot.waitUntil(lambda: texts(ready.window)[::2] == ["One", "Two"])


def test_the_last_exchange_of_a_chat_is_deleted(ready, qtbot, loop):
    answered(ready, qtbot, "One")
    choose(ready.window.chat.transcript.messages[1], "Delete Question and Answer")
    qtbot.waitUntil(lambda: ready.window.chat.stack.currentWidget() is ready.window.chat.welcome)
    assert ready.window.chat.notice.title.text() == "Question and answer deleted"
    ready.window.chat.notice.button.click()
    qtbot.waitUntil(lambda: len(ready.window.chat.transcript.messages) == 2)
    assert ready.window.chat.stack.currentWidget() is ready.window.chat.transcript


def test_a_question_without_an_answer_can_be_answered(ready, qtbot, loop):
    answered(ready, qtbot, "One")
    choose(ready.window.chat.transcript.messages[0], "Branch From Here")
    qtbot.waitUntil(lambda: texts(ready.window) == ["One"])
    (question,) = ready.window.chat.transcript.messages
    assert question.again.isVisible()
    assert "Delete Question" in entries(menu_of(question))
    QApplication.activePopupWidget().close()
    ready.script.chunks = ["At last."]
    question.again.click()
    qtbot.waitUntil(lambda: saved(ready.window) and texts(ready.window) == ["One", "At last."])
    assert question.again.isHidden()


def test_a_large_model_is_confirmed_before_it_answers(ready, qtbot, loop, monkeypatch):
    answered(ready, qtbot, "One")
    planner, card = ready.window.models.planner, ready.window.models.card
    fits = planner.projection(ready.session.library.models[1])
    asked = type(
        "Asked", (), {"needs_confirmation": True, "fit": fits.fit, "__getattr__": lambda _, name: getattr(fits, name)}
    )
    monkeypatch.setattr(planner, "projection", lambda record: asked())
    ready.window.chat.transcript.last_message.again_with.click()
    ready.window.models.picker.rows[1].click()
    assert card.isVisible()
    assert not ready.chat_session.busy
    card.load_wanted.emit(ready.session.library.models[1], None, True)
    qtbot.waitUntil(lambda: saved(ready.window) and ready.chat_session.turns[-1].model == "other:latest")


def test_the_markdown_of_a_message_is_shown_and_copied(ready, qtbot, loop):
    ready.script.chunks = ["<think>\nHm.\n</think>\n\n# Title\n\nSome **bold** text.\n\n```python\nx = 1\n```"]
    ask(ready.window, qtbot, "Go *on*\nplease")
    question, answer = ready.window.chat.transcript.messages
    rendered = answer.text.toPlainText()
    assert "**" not in rendered
    choose(answer, "Show Markdown")
    assert answer.text.toPlainText() == "# Title\n\nSome **bold** text.\n\n```python\nx = 1\n```"
    assert not answer.text.headers
    (shown,) = [action for action in menu_of(answer).actions() if action.text() == "Show Markdown"]
    assert shown.isChecked()
    QApplication.activePopupWidget().close()
    # It can be selected and found, and stays when colours change.
    answer.text.selectAll()
    assert answer.text.textCursor().selectedText().startswith("# Title")
    ready.window.preferences.change(zoom=1.2)
    assert answer.text.toPlainText().startswith("# Title")
    choose(answer, "Show Markdown")
    assert answer.text.toPlainText() == rendered
    choose(question, "Show Markdown")
    assert question.text.toPlainText() == "Go *on*\nplease"
    choose(question, "Show Markdown")
    assert question.text.toPlainText() == "Go on\nplease"
    choose(question, "Copy")
    assert QApplication.clipboard().text() == "Go *on*\nplease"
    choose(answer, "Edit…")
    assert answer.editor.draft.toPlainText() == "# Title\n\nSome **bold** text.\n\n```python\nx = 1\n```"
    answer.editor.draft.setPlainText("Shorter.")
    # Enter begins a line in an answer.
    qtbot.keyClick(answer.editor.draft, Qt.Key.Key_Return)
    assert answer.editing
    answer.editor.save.click()
    qtbot.waitUntil(lambda: texts(ready.window)[1].endswith("Shorter."))
    assert texts(ready.window)[1].startswith("<think>\nHm.\n</think>")
    answer = ready.window.chat.transcript.messages[1]
    # An answer can be continued from a text that was edited.
    assert answer.more.isVisible()
    choose(answer, "Edit…")
    qtbot.keyClick(answer.editor.draft, Qt.Key.Key_Escape)
    assert not answer.editing
    assert answer.body.isVisible()


def test_no_edit_is_lost_if_it_cannot_be_made(ready, qtbot, loop):
    answered(ready, qtbot, "One")
    question, answer = ready.window.chat.transcript.messages
    choose(answer, "Edit…")
    question.edit.click()
    ready.script.hold_answer = threading.Event()
    ready.window.send("Two")
    qtbot.waitUntil(lambda: ready.chat_session.answering)
    for message in (question, answer):
        message.editor.draft.setPlainText("Something else")
        message.editor.save.click()
        assert message.editor.draft.toPlainText() == "Something else"
        assert message.editor.note.text() == "Wait for the end of the answer"
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: saved(ready.window))
    # Nothing is asked as long as no model can be.
    ready.session.eject()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FOUND)
    for each in ready.session.library.models:
        ready.shelf.records.remove(each)
    ready.session.library.rescan()
    qtbot.waitUntil(lambda: not ready.session.library.models)
    answer.editor.save.click()
    qtbot.waitUntil(lambda: texts(ready.window)[1] == "Something else")
    assert question in ready.window.chat.transcript.messages
    assert question.editing


def test_the_menu_opens_with_the_right_mouse_button_and_the_menu_key(ready, qtbot, loop):
    ready.script.chunks = ["See [this](https://example.org/a)."]
    ask(ready.window, qtbot, "One")
    answer = ready.window.chat.transcript.last_message

    def open_menu(reason, place):
        target = answer.text.viewport()
        QApplication.sendEvent(target, QContextMenuEvent(reason, place, target.mapToGlobal(place)))
        menu = QApplication.activePopupWidget()
        found = entries(menu)
        menu.close()
        return found

    link = next(QPoint(x, 8) for x in range(0, 200, 2) if answer.text.anchorAt(QPoint(x, 8)))
    assert open_menu(QContextMenuEvent.Reason.Mouse, link)[:2] == ["Copy Link", "Copy"]
    answer.text.selectAll()
    assert open_menu(QContextMenuEvent.Reason.Mouse, QPoint(1, 1))[:2] == ["Copy Selection", "Copy"]
    assert answer.text.textCursor().hasSelection()
    assert "Branch From Here" in open_menu(QContextMenuEvent.Reason.Keyboard, QPoint(1, 1))
    # While a menu is open, the buttons of an older message stay in view.
    answered(ready, qtbot, "Two")
    older = ready.window.chat.transcript.messages[1]
    assert not older.actions_shown.shown
    place = older.menu_button.geometry()
    menu = menu_of(older)
    assert older.actions_shown.shown
    assert older.menu_button.geometry() == place
    menu.close()
    qtbot.waitUntil(lambda: not older.actions_shown.shown)


def test_the_quick_prompt_offers_what_it_can_do(around, qtbot, loop):
    around.load(qtbot)
    around.shell.quick.show()
    around.panel.composer.sent.emit("Quick?")
    session = around.shell.quick.current.session
    qtbot.waitUntil(lambda: len(session.turns) == 2 and not session.busy and session.turns[-1].id > 0)
    answer = around.panel.transcript.last_message
    assert answer.again_with.isHidden()
    assert entries(menu_of(answer)) == ["Copy", "Regenerate", "Edit…", "Show Markdown"]
    QApplication.activePopupWidget().close()


def test_another_version_stays_under_the_pointer(ready, qtbot, loop):
    ready.script.chunks = ["line\n\n" * 30]
    ask(ready.window, qtbot, "One")
    for question in ("Two", "Three"):
        ready.script.chunks = ["text\n\n" * 20]
        ask(ready.window, qtbot, question)
    transcript = ready.window.chat.transcript
    transcript.stop_following()
    transcript.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: transcript.settled)
    edit(qtbot, transcript.messages[1], "Short.")
    qtbot.waitUntil(lambda: texts(ready.window)[1] == "Short.")
    answer = transcript.messages[1]
    qtbot.waitUntil(lambda: transcript.settled)
    place = answer.versions.mapTo(transcript, QPoint(0, 0))
    answer.versions.older.setFocus(Qt.FocusReason.TabFocusReason)
    kept = transcript.messages[0]
    answer.versions.older.click()
    qtbot.waitUntil(lambda: texts(ready.window)[1].startswith("line"))
    qtbot.waitUntil(lambda: transcript.settled)
    # The messages before it are the same widgets.
    assert transcript.messages[0] is kept
    moved = transcript.messages[1].versions.mapTo(transcript, QPoint(0, 0))
    assert abs(moved.y() - place.y()) <= 1
    # The keyboard stays at the switch.
    assert ready.window.focusWidget() is transcript.messages[1].versions.newer
