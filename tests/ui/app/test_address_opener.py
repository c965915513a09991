"""Sotto's own addresses in the window: what they show, and what they leave to the user."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from scripted_loop import record
from sotto.ui.conversation.chat_phase import Phase as ChatPhase
from sotto.ui.platform.single_instance import Show, StartRequest
from sotto.ui.state.model_state import Phase


@pytest.fixture
def opened(around, qtbot, loop):
    """Return a function that opens an address as a later start asks for, and waits until that has been done."""

    def open_address(address):
        around.shell.carry_out(StartRequest(address=address))
        qtbot.waitUntil(lambda: not around.shell._address and around.shell.window.isVisible())

    return open_address


def notice(window):
    return window.panes.pane.notice.text


def test_a_question_is_filled_in_and_not_sent(around, opened, qtbot, loop):
    around.load(qtbot)
    opened("sotto://ask?text=Hello+there%0Ayou")
    window = around.shell.window
    assert window.chat.composer.text == "Hello there\nyou"
    assert window.current.session.draft.text == "Hello there\nyou"
    qtbot.wait(50)
    assert not window.current.session.turns
    assert window.current.session.phase is ChatPhase.IDLE


def test_a_question_leaves_a_draft_and_a_chat_alone(around, opened, qtbot, loop):
    around.load(qtbot)
    around.shell.show(Show.WINDOW)
    window = around.shell.window
    window.chat.composer.draft.setPlainText("my own words")
    opened("sotto://ask?text=their%0Awords")
    assert window.chat.composer.text == "my own words"
    assert notice(window).title == "Add this text to your draft?"
    assert notice(window).message == "their words"
    window.panes.pane.notice.button.click()
    assert window.chat.composer.text == "my own words\n\ntheir\nwords"
    window.send(window.chat.composer.text)
    qtbot.waitUntil(lambda: window.current.session.phase is ChatPhase.IDLE and len(window.current.session.turns) == 2)
    answered = window.current.session
    window.chat.composer.draft.setPlainText("a draft of this chat")
    opened("sotto://ask?text=again")
    assert window.current.session is not answered
    assert len(answered.turns) == 2
    assert window.chat.composer.text == "again"
    window.current.open(answered.chat)
    qtbot.waitUntil(lambda: window.chat.composer.text == "a draft of this chat")


def test_the_page_of_a_model_is_shown_and_nothing_is_loaded(around, opened, qtbot, loop):
    opened("sotto://model/other")
    page = around.shell.window.models.page
    qtbot.waitUntil(page.isVisible)
    assert page.table.current.name == "other:latest"
    assert around.session.state.phase is not Phase.LOADING
    assert around.session.state.record is None
    assert "add" not in dict(around.queue.commands)


def test_a_model_that_is_not_here_is_offered_and_not_downloaded(around, opened, qtbot, loop):
    opened("sotto://model/someone/new:1b")
    form = around.shell.window.models.downloading.form
    qtbot.waitUntil(form.isVisible)
    assert form.field.text() == "someone/new:1b"
    qtbot.wait(50)
    assert "add" not in dict(around.queue.commands)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("sotto://model/../../etc/passwd", "is not a model name"),
        ("sotto://run?command=ls", "Sotto opens sotto://model/NAME"),
        ("sotto://chat/77", "There is no chat with the number 77."),
        ("sotto://ask?text=%E2%80%AE", "cannot be seen"),
    ],
)
def test_anything_else_gets_one_sentence(around, opened, qtbot, loop, address, said):
    opened(address)
    window = around.shell.window
    qtbot.waitUntil(lambda: notice(window) is not None and notice(window).title == "Address not opened")
    assert said in notice(window).message
    assert not window.chat.composer.text


def test_a_chat_is_opened_by_its_number(around, opened, qtbot, loop):
    kept = []
    around.keeper.do(lambda store: store.keep_draft(None, "to be continued"), kept.append)
    qtbot.waitUntil(lambda: bool(kept))
    around.shell.open_window()
    chats = []
    around.keeper.do(lambda store: store.chat(kept[0]), chats.append)
    qtbot.waitUntil(lambda: bool(chats))
    menu = around.shell.window.sidebar.chats.chat_menu(chats[0])
    next(action for action in menu.actions() if action.text() == "Copy Link").trigger()
    around.shell.window.new_chat()
    opened(QApplication.clipboard().text())
    qtbot.waitUntil(lambda: around.shell.window.current.session.chat == kept[0])
    around.keeper.do(lambda store: store.throw_away(kept))
    opened(f"sotto://chat/{kept[0]}")
    qtbot.waitUntil(lambda: notice(around.shell.window) is not None)
    assert "There is no chat" in notice(around.shell.window).message


def test_the_first_start_opens_an_address_after_what_was_there_before(around, qtbot, loop, tasks):
    kept = []
    around.keeper.do(lambda store: store.keep_draft(None, "an older draft"), kept.append)
    qtbot.waitUntil(lambda: bool(kept))
    shell = around.shell
    shell.begin(tasks, StartRequest(address="sotto://ask?text=new"))
    shell.open_window()
    qtbot.waitUntil(lambda: notice(shell.window) is not None)
    assert notice(shell.window).message == "new"
    assert shell.window.chat.composer.text == "an older draft"


def test_the_system_may_ask_before_there_is_a_window(around, qtbot, loop, qapp):
    around.shelf.records.append(record("third"))
    QApplication.sendEvent(qapp, QFileOpenEvent(QUrl("sotto://ask?text=early%20%26%20late")))
    qapp.serve(around.shell)
    qtbot.waitUntil(lambda: around.shell.has_window and around.shell.window.chat.composer.text == "early & late")
    QApplication.sendEvent(qapp, QFileOpenEvent(QUrl("sotto://model/third")))
    qtbot.waitUntil(
        lambda: "page" in around.shell.window.models.__dict__ and around.shell.window.models.page.isVisible()
    )
    assert around.shell.window.models.page.table.current.name == "third"
    assert around.shelf.opened == []
    qapp.shell = None
