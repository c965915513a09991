"""The quick prompt: its panel, and a second conversation beside the window's."""

import threading

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from scripted_loop import record
from sotto.ui.quick import quick_prompt
from sotto.ui.quick.quick_panel import DEFAULT_PLACE, place_panel
from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit import announcements


def ask(around, qtbot, text):
    draft = around.panel.composer.draft
    qtbot.keyClicks(draft, text)
    qtbot.keyClick(draft, Qt.Key.Key_Return)


def done(around):
    return not around.shell.quick.current.session.busy and around.session.state.phase is Phase.READY


def messages_of(session):
    return [(turn.role.value, turn.text) for turn in session.turns]


def on_disk(around, qtbot):
    """Return the messages of all chats once all earlier writes are done."""
    found = []

    def read(store):
        return [[(turn.role.value, turn.text, turn.state.value) for turn in store.branch(chat.id).turns]
                for chat in store.chats()]  # fmt: skip

    around.keeper.do(read, found.append)
    qtbot.waitUntil(lambda: bool(found))
    return found[0]


def test_a_question_is_answered_without_a_window(around, qtbot, loop):
    around.load(qtbot)
    around.shell.quick.show()
    assert around.panel.isVisible()
    ask(around, qtbot, "What is this?")
    qtbot.waitUntil(lambda: done(around))
    assert around.panel.transcript.messages[-1].body.markdown == "Hello there."
    assert around.panel.composer.text == ""
    assert not around.shell.has_window
    assert on_disk(around, qtbot) == [
        [("user", "What is this?", "complete"), ("assistant", "Hello there.", "complete")]
    ]


def test_settings_for_all_chats_apply_and_answers_are_announced(around, qtbot, loop, monkeypatch):
    sent = []
    monkeypatch.setattr(announcements.QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(announcements.QAccessible, "updateAccessibility", lambda event: sent.append(event.message()))
    around.load(qtbot)
    around.preferences.change(system="Be brief.", options={"top_k": 3}, follow=False)
    around.shell.quick.show()
    ask(around, qtbot, "What is this?")
    qtbot.waitUntil(lambda: done(around))
    request = around.script.requests[-1]
    assert dict(request.options) == {"top_k": 3}
    assert (request.messages[0].role, request.messages[0].content) == ("system", "Be brief.")
    assert not around.panel.transcript.follows
    assert not around.shell.has_window
    assert sent == ["tiny answers", "Hello there. The answer is complete."]


def test_a_question_during_a_load_waits_for_the_model(around, qtbot, loop):
    around.script.hold_load = threading.Event()
    qtbot.waitUntil(lambda: bool(around.session.library.models))
    around.session.load(around.session.library.models[0])
    around.shell.quick.show()
    ask(around, qtbot, "Now?")
    assert around.shell.quick.current.session.busy
    around.script.hold_load.set()
    qtbot.waitUntil(lambda: done(around))
    assert messages_of(around.shell.quick.current.session)[-1] == ("assistant", "Hello there.")


def test_escape_hides_the_panel_and_the_answer_continues(around, qtbot, loop):
    around.load(qtbot)
    around.script.hold_answer = threading.Event()
    around.shell.quick.show()
    ask(around, qtbot, "Long?")
    qtbot.waitUntil(lambda: around.shell.quick.current.session.answering)
    QTest.keyClick(around.panel.composer.draft, Qt.Key.Key_Escape)
    assert not around.panel.isVisible()
    assert around.shell.quick.current.session.answering
    around.script.hold_answer.set()
    qtbot.waitUntil(lambda: done(around))
    around.shell.quick.show()
    assert around.panel.transcript.messages[-1].body.markdown == "Hello there."
    assert not around.shell.ending


def test_the_panel_hides_only_when_the_focus_leaves_it(around, qtbot, loop):
    window = around.shell.window
    window.show()
    around.shell.quick.show()
    qtbot.waitUntil(around.panel.isActiveWindow)
    # The window lost its focus when the panel appeared, which must not hide the panel.
    QApplication.sendEvent(window, QEvent(QEvent.Type.ActivationChange))
    QTest.qWait(20)
    assert around.panel.isVisible()
    around.panel.more.click()
    QTest.qWait(20)
    assert around.panel.isVisible()
    QApplication.activePopupWidget().close()
    window.activateWindow()
    qtbot.waitUntil(lambda: not around.panel.isVisible())
    assert window.isVisible()


def test_an_answer_in_the_panel_leaves_the_window_unchanged(around, qtbot, loop):
    around.load(qtbot)
    window = around.shell.window
    around.script.hold_answer = threading.Event()
    around.shell.quick.show()
    ask(around, qtbot, "Long?")
    qtbot.waitUntil(lambda: around.shell.quick.current.session.answering)
    assert around.session.state.phase is Phase.GENERATING
    assert window.chat.composer.button.accessibleName() == "Send message"
    assert around.panel.composer.button.accessibleName() == "Stop answering"
    assert not window.menus.stop.isEnabled()
    # Both are answered, here one after the other; the model is at work until the last answer ends.
    assert window.current.session.send("And this?")
    qtbot.waitUntil(lambda: window.current.session.answering)
    assert window.chat.composer.button.accessibleName() == "Stop answering"
    around.panel.composer.button.click()
    qtbot.waitUntil(lambda: not around.shell.quick.current.session.busy)
    assert around.session.state.phase is Phase.GENERATING
    around.script.hold_answer.set()
    qtbot.waitUntil(lambda: around.session.state.phase is Phase.READY)
    assert messages_of(window.current.session) == [("user", "And this?"), ("assistant", "Hello there.")]
    assert len({request.id for request in around.script.requests}) == 2


@pytest.mark.parametrize("held", [False, True])
def test_control_return_opens_the_same_conversation_in_the_window(around, qtbot, loop, held):
    around.load(qtbot)
    around.script.hold_answer = threading.Event() if held else None
    quick = around.shell.quick
    quick.show()
    ask(around, qtbot, "What is this?")
    qtbot.waitUntil(lambda: quick.current.session.answering if held else done(around))
    if held:
        qtbot.waitUntil(
            lambda: around.panel.transcript.answer is not None and not around.panel.transcript.answer.body.isHidden()
        )
    QTest.keyClick(around.panel.composer.draft, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: around.shell.has_window and around.shell.window.isVisible())
    window = around.shell.window
    assert not around.panel.isVisible()
    assert not quick.current.session.turns
    if held:
        assert window.current.session.answering
        assert not quick.current.session.busy
        around.script.hold_answer.set()
    qtbot.waitUntil(lambda: not window.current.session.busy)
    assert messages_of(window.current.session) == [("user", "What is this?"), ("assistant", "Hello there.")]
    shown = window.chat.transcript.messages
    assert (shown[0].text.toPlainText(), shown[1].body.markdown) == ("What is this?", "Hello there.")
    assert on_disk(around, qtbot) == [
        [("user", "What is this?", "complete"), ("assistant", "Hello there.", "complete")]
    ]
    # The conversation continues there.
    qtbot.waitUntil(lambda: all(message.turn_id > 0 for message in window.chat.transcript.messages))
    assert window.current.session.send("More?")
    qtbot.waitUntil(lambda: not window.current.session.busy and around.session.state.phase is Phase.READY)
    assert [len(chat) for chat in on_disk(around, qtbot)] == [4]


def test_a_question_is_saved_before_its_chat_moves_to_the_window(around, qtbot, loop):
    around.load(qtbot)
    quick = around.shell.quick
    quick.show()
    ask(around, qtbot, "At once?")
    quick.panel.app_wanted.emit()
    qtbot.waitUntil(lambda: around.shell.has_window and not around.shell.window.current.session.busy)
    assert messages_of(around.shell.window.current.session) == [("user", "At once?"), ("assistant", "Hello there.")]
    assert len(on_disk(around, qtbot)) == 1


def test_a_draft_moves_to_an_empty_composer(around, qtbot, loop):
    around.load(qtbot)
    around.shell.quick.show()
    qtbot.keyClicks(around.panel.composer.draft, "half a thought")
    around.panel.app_wanted.emit()
    qtbot.waitUntil(lambda: around.shell.has_window and around.shell.window.isVisible())
    assert around.shell.window.chat.composer.text == "half a thought"
    assert around.panel.composer.text == ""


def test_a_chat_is_never_in_view_twice(around, qtbot, loop):
    around.load(qtbot)
    window, quick = around.shell.window, around.shell.quick
    around.script.hold_answer = threading.Event()
    quick.show()
    ask(around, qtbot, "Where?")
    qtbot.waitUntil(lambda: quick.current.session.answering)
    window.current.open(quick.current.session.chat)
    qtbot.waitUntil(lambda: window.current.session.answering)
    assert quick.current.session.chat is None
    around.script.hold_answer.set()
    qtbot.waitUntil(lambda: not window.current.session.busy)
    assert messages_of(window.current.session)[-1] == ("assistant", "Hello there.")


def test_a_chat_moved_to_the_trash_leaves_the_panel(around, qtbot, loop):
    around.load(qtbot)
    window, quick = around.shell.window, around.shell.quick
    listed = []
    window.chat_library.listed.connect(lambda entries, folders: listed.append(entries))
    quick.show()
    ask(around, qtbot, "Away?")
    qtbot.waitUntil(lambda: done(around))
    qtbot.waitUntil(lambda: bool(listed) and bool(listed[-1]))
    window.chat_library.move_to_trash(listed[-1][0].chat)
    qtbot.waitUntil(lambda: quick.current.session.chat is None)
    assert quick.current.session.turns == []


def test_a_new_chat_begins_after_a_while(around, qtbot, loop, monkeypatch):
    around.load(qtbot)
    now = [1000.0]
    monkeypatch.setattr(quick_prompt.time, "time", lambda: now[0])
    quick = around.shell.quick
    quick.show()
    ask(around, qtbot, "One?")
    qtbot.waitUntil(lambda: done(around))
    first = quick.current.session.chat
    quick.hide()
    now[0] += 9 * 60
    quick.show()
    assert quick.current.session.chat == first
    quick.hide()
    now[0] += 10 * 60
    qtbot.keyClicks(around.panel.composer.draft, "typed before")
    quick.show()
    assert quick.current.session.chat is None
    assert around.panel.composer.text == "typed before"
    assert not around.panel.transcript.isVisible()


def test_the_clipboard_is_offered_and_read_only_on_request(around, qtbot, loop, monkeypatch):
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("x" * 1240)
    reads = []
    monkeypatch.setattr(type(clipboard), "text", lambda self: reads.append(1) or "x" * 1240)
    around.shell.quick.show()
    assert around.panel.clipboard.isVisible()
    around.shell.quick.hide()
    assert reads == []
    around.shell.quick.show()
    around.panel.clipboard.click()
    assert reads == [1]
    assert around.panel.composer.text == "x" * 1240
    assert around.panel.composer.hint.text() == "1,240 characters from the clipboard"
    assert clipboard.mimeData().text() == "x" * 1240
    clipboard.clear()
    around.shell.quick.hide()
    around.shell.quick.show()
    assert not around.panel.clipboard.isVisible()


def test_the_model_can_be_switched(around, qtbot, loop):
    around.load(qtbot)
    around.shell.quick.show()
    assert around.panel.model.text() == " tiny"
    around.panel.model.click()
    menu = QApplication.activePopupWidget()
    rows = {action.text(): action for action in menu.actions()}
    assert {name: action.isChecked() for name, action in rows.items()} == {"tiny": True, "other": False}
    rows["other"].trigger()
    menu.close()
    qtbot.waitUntil(
        lambda: around.session.state.phase is Phase.READY and around.session.state.record.name == "other:latest"
    )
    assert around.panel.model.text() == " other"


def test_a_long_name_does_not_widen_the_panel(around, qtbot, loop):
    around.shelf.records[0] = record("an-organization/a-model-with-a-name-that-does-not-end-" + "x" * 200)
    around.session.library.rescan()
    qtbot.waitUntil(lambda: bool(around.session.library.models) and len(around.session.library.models[0].name) > 200)
    around.shell.quick.show()
    width = around.panel.width()
    around.load(qtbot)
    assert around.panel.width() == width


def test_a_missing_model_is_reported_and_the_question_is_kept(around, qtbot, loop):
    qtbot.waitUntil(lambda: bool(around.session.library.models) and not around.session.library.searching)
    around.shell.quick.show()
    ask(around, qtbot, "Anybody?")
    assert around.panel.notice.isVisible()
    assert around.panel.composer.text == "Anybody?"


def test_fifty_toggles_leave_nothing_behind(around, qtbot, loop):
    around.shell.quick.show()
    around.shell.quick.hide()
    before = len(QApplication.topLevelWidgets())
    for _ in range(50):
        around.shell.quick.toggle()
    assert not around.panel.isVisible()
    assert len(QApplication.topLevelWidgets()) == before


def test_the_position_is_remembered_and_can_be_reset(around, qtbot, loop):
    around.shell.quick.show()
    usual = around.panel.geometry().bottomLeft()
    QTest.mousePress(around.panel, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    QTest.mouseMove(around.panel, QPoint(3, 3) + QPoint(0, -100))
    QTest.mouseRelease(around.panel, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    moved = around.panel.geometry().bottomLeft()
    assert moved == usual - QPoint(0, 100)
    around.shell.quick.hide()
    around.shell.quick.show()
    assert (around.panel.geometry().bottomLeft() - moved).manhattanLength() <= 2
    next(action for action in around.panel.actions() if action.text() == "Reset Position").trigger()
    assert around.panel.geometry().bottomLeft() == usual
    assert around.preferences.values.quick_place == ""


@pytest.mark.parametrize("place", [DEFAULT_PLACE, (0, 0), (1, 1), (0.5, 0)])
def test_the_whole_panel_is_on_the_screen(place):
    room = QRect(100, 50, 1280, 800)
    for size in (QSize(620, 110), QSize(620, 500)):
        found = place_panel(size, room, place)
        assert found.size() == size
        assert room.contains(found)
    assert abs(place_panel(QSize(620, 110), room, DEFAULT_PLACE).center().x() - room.center().x()) <= 1


def test_everything_in_the_panel_has_a_name(around, qtbot, loop):
    from PySide6.QtWidgets import QAbstractButton, QPlainTextEdit

    around.shell.quick.show()
    fields = around.panel.findChildren(QAbstractButton) + around.panel.findChildren(QPlainTextEdit)
    assert len(fields) > 5
    assert [field for field in fields if field.isVisible() and not field.accessibleName()] == []


def test_an_image_in_the_clipboard_is_attached_shown_and_sent(around, qtbot, loop):
    around.script.sees = True
    around.load(qtbot)
    image = QImage(40, 30, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    QGuiApplication.clipboard().setImage(image)
    around.shell.quick.show()
    assert around.panel.clipboard.isVisible()
    around.panel.clipboard.click()
    qtbot.waitUntil(
        lambda: (
            [chip.name.text() for chip in around.panel.composer.attachments.chips] == ["Pasted image"]
            and around.shell.quick.current.session.draft.pending == ()
        ),
        timeout=20_000,
    )
    draft = around.panel.composer.draft
    draft.setFocus()
    # The same image once more, by the keyboard.
    qtbot.keyClick(draft, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(around.panel.notice.isVisible, timeout=20_000)
    assert "already attached" in around.panel.notice.message.text()
    ask(around, qtbot, "What is this?")
    qtbot.waitUntil(lambda: done(around) and bool(around.script.requests))
    assert len(around.script.requests[-1].messages[-1].images) == 1
    assert len(around.panel.transcript.messages[0].attachments.pictures) == 1


def test_an_image_of_a_draft_moves_to_the_window(around, qtbot, loop):
    around.script.sees = True
    around.load(qtbot)
    image = QImage(40, 30, QImage.Format.Format_RGB32)
    image.fill(QColor("navy"))
    QGuiApplication.clipboard().setImage(image)
    around.shell.quick.show()
    around.panel.clipboard.click()
    session = around.shell.quick.current.session
    qtbot.waitUntil(lambda: len(session.draft.attachments) == 1, timeout=20_000)
    around.panel.open_app.click()
    draft = around.shell.window.current.session.draft
    assert [each.name for each in draft.attachments] == ["Pasted image"]
    assert session.draft.attachments == ()
    around.keeper.wait(10)
    assert around.keeper.images.data(draft.attachments[0].image)
