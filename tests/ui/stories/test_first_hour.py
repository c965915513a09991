"""What a new user meets in the first hour: models that come back, notices where they belong, and what can be undone."""

import json
import threading
import time

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from scripted_loop import record
from sotto.chats.chat_records import Role, Shelf, State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.engine.contract.events import DoneReason
from sotto.ui.markdown import formula_placer
from sotto.ui.settings.data_page import DataPage
from sotto.ui.state.model_state import Phase, Problem
from sotto.ui.toolkit import screens
from sotto.ui.transcript import formula_veil
from sotto.ui.window.window_state import WindowState

LARGE = record("large:70b", size=40 << 30)


def answered(stage, qtbot, question="Hi"):
    """Ask a question, and return the number of the conversation once the answer is saved."""
    stage.window.send(question)
    qtbot.waitUntil(lambda: len(stage.chat_session.turns) % 2 == 0 and not stage.chat_session.busy)
    qtbot.waitUntil(lambda: stage.chat_session.turns[-1].id > 0)
    return stage.chat_session.chat


def load(stage, qtbot, name):
    stage.session.load(stage.session.library.named(name))
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY and stage.session.state.record.name == name)


# The list of models


def test_a_double_click_belongs_to_the_row_that_was_pressed_first(stage, qtbot, loop):
    qtbot.waitUntil(lambda: len(stage.window.sidebar.rows) == 2)
    first, second = stage.window.sidebar.rows
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    # The rows have moved meanwhile, so the second click lands on the next row.
    middle = second.rect().center()
    button = Qt.MouseButton.LeftButton
    event = QMouseEvent(
        QEvent.Type.MouseButtonDblClick, middle, second.mapToGlobal(middle), button, button, Qt.KeyboardModifier(0)
    )
    QApplication.sendEvent(second, event)
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.session.state.record == first.record


def test_no_state_changes_the_height_of_a_row(ready, qtbot, loop):
    rows = ready.window.sidebar.rows
    height = rows[0].height()
    for row in rows:
        row.click()
        assert {each.sizeHint().height() for each in rows} == {height}
    ready.script.fail_load = "config.json is missing."
    ready.session.load(rows[1].record)
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FAILED)
    assert {each.sizeHint().height() for each in rows} == {height}
    rows[1].click()
    assert ready.window.models.card.sentence.text() == "config.json is missing."


# The model in use


@pytest.fixture
def used_last(preferences):
    """Let a large model be the one that was in use last."""
    preferences.change(model=str(LARGE.path))


def test_a_large_model_comes_back_when_the_user_begins_to_write(used_last, stage, qtbot, loop):
    stage.shelf.records.append(LARGE)
    qtbot.waitUntil(lambda: stage.session.state.record is not None)
    assert (stage.session.state.record, stage.session.state.phase) == (LARGE, Phase.FOUND)
    assert stage.script.loads == []
    assert stage.window.chat.header.title.text() == "large:70b"
    qtbot.keyClicks(stage.window.chat.composer.draft, "H")
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert [name for name, *_ in stage.script.loads] == ["large:70b"]


@pytest.fixture
def used_small(preferences):
    """Let a small model be the one that was in use last."""
    preferences.change(model="/models/other:latest")


def test_a_small_model_comes_back_at_once(used_small, stage, qtbot, loop):
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.session.state.record.name == "other:latest"


def test_the_model_that_the_user_loads_is_remembered(ready, qtbot, loop, preferences):
    assert preferences.values.model == "/models/tiny:latest"
    load(ready, qtbot, "other:latest")
    assert preferences.values.model == "/models/other:latest"


def test_a_question_loads_the_model_that_is_not_loaded(ready, qtbot, loop):
    ready.session.eject()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FOUND)
    answered(ready, qtbot)
    assert ready.session.state.phase is Phase.READY
    assert ready.chat_session.turns[-1].text == "Hello there."


def test_the_quick_prompt_loads_the_model_that_is_not_loaded(around, qtbot, loop):
    around.load(qtbot)
    around.session.eject()
    qtbot.waitUntil(lambda: around.session.state.phase is Phase.FOUND)
    around.shell.quick.show()
    around.panel.composer.sent.emit("Quick?")
    session = around.shell.quick.current.session
    qtbot.waitUntil(lambda: bool(session.turns) and session.turns[-1].text == "Hello there.")


def test_a_chat_offers_the_model_that_answered_in_it(ready, qtbot, loop):
    chat = answered(ready, qtbot)
    header = ready.window.chat.header
    assert header.switch.isHidden()
    load(ready, qtbot, "other:latest")
    assert header.switch.text() == "Switch to tiny"
    ready.window.current.new_chat()
    assert header.switch.isHidden()
    ready.window.current.open(chat)
    qtbot.waitUntil(header.switch.isVisible)
    header.switch.click()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY and ready.session.state.record.name != "other")
    assert ready.session.state.record.name == "tiny:latest"
    assert header.switch.isHidden()


def test_a_failed_question_does_not_change_the_model_of_a_chat(ready, qtbot, loop, preferences):
    chat = answered(ready, qtbot)
    assert preferences.values.recent_models == ("tiny:latest",)
    load(ready, qtbot, "other:latest")
    ready.script.chunks, ready.script.fail_answer = [], "The prompt is longer than the context."
    ready.window.send("Again")
    qtbot.waitUntil(lambda: ready.window.chat.composer.text == "Again")
    assert ready.chat_session.model == "tiny:latest"
    entries = ready.window.sidebar.chats.model.entries
    qtbot.waitUntil(lambda: [entry.chat.model for entry in entries if entry.chat.id == chat] == ["tiny:latest"])
    assert preferences.values.recent_models == ("tiny:latest",)


def test_a_model_is_chosen_in_the_header(ready, qtbot, loop):
    qtbot.mouseClick(ready.window.chat.header.title, Qt.MouseButton.LeftButton)
    picker = ready.window.models.picker
    assert picker.isVisible()
    # The loaded one comes first.
    assert [row.record.name for row in picker.rows] == ["tiny:latest", "other:latest"]
    qtbot.keyClicks(picker.filter, "oth")
    assert [row.record.name for row in picker.rows if not row.isHidden()] == ["other:latest"]
    qtbot.keyClick(picker.filter, Qt.Key.Key_Return)
    assert picker.isHidden()
    qtbot.waitUntil(lambda: ready.session.state.record.name == "other:latest" and ready.session.state.loaded)
    assert ready.window.focusWidget() is ready.window.chat.composer.draft
    ready.window.choose_model()
    qtbot.keyClicks(picker.filter, "nothing like it")
    assert picker.empty.isVisible()
    qtbot.keyClick(picker.filter, Qt.Key.Key_Escape)
    assert picker.isHidden()
    ready.window.choose_model()
    picker.get.click()
    assert ready.window.finding.page.isVisible()


# Notices


def test_a_problem_of_a_chat_goes_and_comes_back_with_it(ready, qtbot, loop):
    chat, notice = answered(ready, qtbot), ready.window.chat.notice
    ready.chat_session.problem.emit(Problem("No answer", "The prompt is too long."))
    assert notice.isVisible()
    ready.window.current.new_chat()
    assert notice.isHidden()
    ready.window.current.open(chat)
    qtbot.waitUntil(notice.isVisible)
    assert notice.message.text() == "The prompt is too long."
    notice.dismiss.click()
    ready.window.current.new_chat()
    ready.window.current.open(chat)
    qtbot.waitUntil(lambda: ready.chat_session.chat == chat)
    assert notice.isHidden()


def test_a_success_goes_by_itself_and_a_problem_stays(ready, qtbot, loop, monkeypatch):
    monkeypatch.setattr("sotto.ui.transcript.notices._NEWS_SECONDS", 0.05)
    notice = ready.window.chat.notice
    ready.window.notices.show_success("Exported", "Written to chats.json.")
    assert notice.isVisible()
    qtbot.waitUntil(notice.isHidden)
    ready.window.notices.show_problem(Problem("Not saved", "The disk is full."))
    qtbot.wait(150)
    assert notice.isVisible()


# A full context


def test_continuing_in_a_full_context_offers_room_and_keeps_the_statistics(ready, qtbot, loop):
    ready.script.cut_short, ready.script.prompt_tokens = True, 4095
    answered(ready, qtbot, "word " * 800)
    last = ready.window.chat.transcript.last_message
    qtbot.waitUntil(lambda: ready.chat_session.turns[-1].figures.get("prompt") == 4095)
    figures = last.status.accessibleName()
    requests = len(ready.script.requests)
    panel = ready.window.chat.composer.panel
    meter = ready.window.composing.meter
    # The conversation has been counted together with its answer.
    qtbot.waitUntil(lambda: meter.fresh and meter.use is not None and meter.use.tight and meter.use.last < 100)
    assert panel.isHidden()
    last.more.click()
    assert len(ready.script.requests) == requests
    assert QApplication.focusWidget() is panel.buttons[0]
    assert panel.buttons[0].text() == "Drop oldest messages"
    assert ready.window.chat.notice.isHidden()
    assert ready.window.chat.transcript.last_message.status.accessibleName() == figures
    panel.buttons[0].click()
    last.more.click()
    qtbot.waitUntil(lambda: len(ready.script.requests) == requests + 1)


def test_a_continuation_that_fails_leaves_the_answer_as_it_was(ready, qtbot, loop):
    ready.script.cut_short = True
    answered(ready, qtbot)
    last = ready.window.chat.transcript.last_message
    figures = last.status.accessibleName()
    assert "2.0 tok/s" in figures
    ready.script.chunks, ready.script.fail_answer = [], "The engine is busy."
    last.more.click()
    notice = ready.window.chat.notice
    qtbot.waitUntil(notice.isVisible)
    turn = ready.chat_session.turns[-1]
    assert (turn.text, turn.state, turn.figures["reason"]) == ("Hello there.", State.COMPLETE, DoneReason.LENGTH)
    assert ready.window.chat.transcript.last_message.status.accessibleName() == figures


# Messages while an answer is written


def test_a_message_written_during_an_answer_is_sent_after_it(ready, qtbot, loop):
    ready.script.hold_answer = threading.Event()
    ready.window.send("First")
    qtbot.waitUntil(lambda: ready.chat_session.answering)
    composer = ready.window.chat.composer
    qtbot.keyClicks(composer.draft, "Second")
    qtbot.keyClick(composer.draft, Qt.Key.Key_Return)
    assert composer.hint.text() == "Sends after this answer"
    assert composer.text == "Second"
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 4 and not ready.chat_session.busy)
    assert [turn.text for turn in ready.chat_session.turns][::2] == ["First", "Second"]
    assert composer.text == ""
    assert composer.hint.text() != "Sends after this answer"


def test_a_queued_message_stays_a_draft_if_the_answer_is_stopped(ready, qtbot, loop):
    ready.script.hold_answer = threading.Event()
    ready.window.send("First")
    qtbot.waitUntil(lambda: ready.chat_session.answering)
    composer = ready.window.chat.composer
    qtbot.keyClicks(composer.draft, "Second")
    qtbot.keyClick(composer.draft, Qt.Key.Key_Return)
    qtbot.keyClick(composer.draft, Qt.Key.Key_Escape)
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    qtbot.wait(50)
    assert len(ready.chat_session.turns) == 2
    assert composer.text == "Second"
    assert not ready.chat_session.queued


def test_buttons_of_a_message_appear_without_moving_anything(ready, qtbot, loop):
    answered(ready, qtbot, "First")
    answered(ready, qtbot, "Second")
    first, last = (ready.window.chat.transcript.messages[index] for index in (1, 3))
    assert last.actions_shown.shown
    assert not first.actions_shown.shown
    place, height = first.copy.geometry(), first.height()
    first.copy.setFocus(Qt.FocusReason.TabFocusReason)
    assert first.actions_shown.shown
    assert (first.copy.geometry(), first.height()) == (place, height)
    ready.window.chat.composer.draft.setFocus()
    assert not first.actions_shown.shown
    # A press reaches a button that is not drawn.
    qtbot.mouseClick(first.copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "Hello there."


# The trash, and all data


def trashed(stage, qtbot):
    """Put an answered conversation into the trash, and return its number."""
    chat, chats = answered(stage, qtbot), stage.window.sidebar.chats
    qtbot.waitUntil(lambda: bool(chats.model.entries))
    stage.window.chat_library.move_to_trash(chats.model.entries[0].chat)
    qtbot.waitUntil(lambda: not chats.model.entries)
    return chat


def test_moving_to_the_trash_is_undone_by_a_key(ready, qtbot, loop):
    trashed(ready, qtbot)
    draft, chats = ready.window.chat.composer.draft, ready.window.sidebar.chats
    draft.setFocus()
    qtbot.keyClick(draft, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: [entry.chat.title for entry in chats.model.entries] == ["Hi"])
    assert ready.window.chat.notice.isHidden()
    # There is nothing more to undo.
    qtbot.keyClick(draft, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not ready.window.undo()


def test_the_key_undoes_what_was_typed_first(ready, qtbot, loop):
    trashed(ready, qtbot)
    draft = ready.window.chat.composer.draft
    qtbot.keyClicks(draft, "abc")
    qtbot.keyClick(draft, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert draft.toPlainText() == ""
    assert not ready.window.sidebar.chats.model.entries


def test_a_chat_in_the_trash_is_deleted_for_good(ready, qtbot, loop):
    trashed(ready, qtbot)
    chats, notice = ready.window.sidebar.chats, ready.window.chat.notice
    chats.shelf_wanted.emit(Shelf.TRASH)
    qtbot.waitUntil(lambda: bool(chats.model.entries))
    (entry,) = chats.model.entries
    chats.erase_wanted.emit(entry.chat)
    assert (notice.title.text(), notice.message.text()) == ("Delete “Hi” for good?", "This cannot be undone.")
    notice.button.click()
    qtbot.waitUntil(lambda: not chats.model.entries)
    counted = []
    ready.keeper.do(lambda store: len(store.chats()), counted.append)
    qtbot.waitUntil(lambda: counted == [0])


def test_the_trash_is_emptied(ready, qtbot, loop):
    trashed(ready, qtbot)
    chats, notice = ready.window.sidebar.chats, ready.window.chat.notice
    assert chats.empty_trash.isHidden()
    chats.shelf_wanted.emit(Shelf.TRASH)
    qtbot.waitUntil(chats.empty_trash.isVisible)
    chats.empty_trash.click()
    assert notice.title.text() == "Empty the trash?"
    notice.button.click()
    qtbot.waitUntil(lambda: not chats.model.entries)
    assert chats.empty_trash.isHidden()


def test_all_data_is_deleted_after_a_second_click(ready, qtbot, loop, preferences, own_home):
    answered(ready, qtbot)
    ready.window.presets.save("Short", "Be brief.", {})
    preferences.change(zoom=1.1, keep_alive_minutes=20)
    ready.window.dialogs.show_settings("data")
    page = ready.window.dialogs.settings.page(DataPage)
    qtbot.waitUntil(page.chats.isEnabled)
    assert page.chats_row.hint.text().startswith("1 chat · ")
    assert "frees" in page.everything_row.hint.text()
    page.everything.click()
    assert page.everything.text() == "Delete everything?"
    assert preferences.values.zoom == 1.1
    page.everything.click()
    qtbot.waitUntil(lambda: not page.chats.isEnabled())
    assert ready.chat_session.turns == []
    qtbot.waitUntil(lambda: not ready.window.sidebar.chats.model.entries)
    assert (preferences.values.zoom, preferences.values.keep_alive_minutes) == (1.0, 0)
    assert ready.window.presets.with_name("Short") is None
    preferences.close()
    assert set(json.loads(preferences.path.read_text())) <= {"window"}
    assert page.failure.text() == ""


def test_a_deletion_is_not_confirmed_by_a_click_much_later(ready, qtbot, loop, monkeypatch, own_home):
    answered(ready, qtbot)
    ready.window.dialogs.show_settings("data")
    page = ready.window.dialogs.settings.page(DataPage)
    qtbot.waitUntil(page.chats.isEnabled)
    page.chats.timer.setInterval(50)
    page.chats.click()
    qtbot.waitUntil(lambda: page.chats.text() == "Delete")
    page.chats.click()
    assert page.chats.asking
    assert len(ready.chat_session.turns) == 2


# After a crash


def test_after_a_crash_the_interrupted_chat_opens(qtbot, loop, around):
    interrupted = []

    def leave_an_answer(store):
        for question in ("First", "Second", "Third"):
            chat = store.add_chat()
            answer = store.begin_answer(store.ask(chat, question, None), "tiny:latest")
            if question == "Second":
                store.grow(answer, "Half of it")
                interrupted.append(chat)
            else:
                store.end_answer(answer, "Done.", State.COMPLETE)

    around.keeper.do(leave_an_answer, lambda _: None)
    qtbot.waitUntil(lambda: bool(interrupted))
    # As if the app had been killed and started again.
    around.keeper.do(lambda store: store.__init__(store.database))
    around.shell.open_window()
    window = around.shell.window
    qtbot.waitUntil(lambda: window.current.session.chat == interrupted[0])
    assert [(turn.role, turn.state) for turn in window.current.session.turns] == [
        (Role.USER, State.COMPLETE),
        (Role.ASSISTANT, State.INTERRUPTED),
    ]


def test_the_chat_in_view_is_known_after_a_crash(ready, qtbot, loop, preferences):
    state = WindowState(ready.window, ready.keeper)
    state.open_chat(fresh=True)
    chat = answered(ready, qtbot)
    qtbot.waitUntil(lambda: preferences.values.chat == chat)
    ready.window.current.new_chat()
    assert preferences.values.chat == 0


def test_an_interrupted_answer_is_found_once(tmp_path):
    database = Database(tmp_path / "chats.sqlite3")
    store = ChatStore(database)
    assert store.interrupted is None
    chat = store.add_chat()
    store.begin_answer(store.ask(chat, "Hi", None), "tiny")
    assert ChatStore(database).interrupted == chat
    assert ChatStore(database).interrupted is None
    database.close()


# Formulas


def test_no_latex_flashes_when_a_chat_is_opened(ready, qtbot, loop, monkeypatch):
    formula = r"Then $\frac{a}{b}$ and" + "\n\n" + r"\begin{align} a &= b \\ c &= d \end{align}"
    ready.script.chunks = [formula]
    chat = answered(ready, qtbot)
    message = ready.window.chat.transcript.last_message
    qtbot.waitUntil(lambda: not message.text.awaits_formulas)
    ready.window.current.new_chat()
    formula_placer.painter().done.clear()
    drawn, slow = formula_placer.picture_of, []

    def draw_slowly(order):
        slow.append(order)
        time.sleep(0.1)
        return drawn(order)

    monkeypatch.setattr(formula_placer, "picture_of", draw_slowly)
    # On a busy machine the pictures are put in late, and two can take longer than an app lets people wait.
    monkeypatch.setattr(formula_placer, "_PAUSE_MS", 300)
    monkeypatch.setattr(formula_veil, "LONGEST_SECONDS", 30.0)
    transcript, seen = ready.window.chat.transcript, []
    ready.window.current.open(chat)

    def opened():
        message = transcript.last_message
        if message is not None and message.texts and transcript.viewport().updatesEnabled():
            seen.append(message.text.toPlainText())
        return bool(seen)

    qtbot.waitUntil(opened)
    assert len(slow) == 2
    assert "frac" not in seen[0]
    assert "begin" not in seen[0]
    top = transcript.last_message.y()
    qtbot.wait(100)
    assert transcript.last_message.y() == top


# The screen


@pytest.mark.parametrize(
    ("screen", "size"),
    [
        (QRect(0, 0, 960, 540), QSize(952, 500)),
        (QRect(0, 0, 640, 400), QSize(632, 360)),
        (QRect(0, 0, 1920, 1080), QSize(1120, 760)),
    ],
)
def test_the_first_window_fits_the_screen(ready, loop, monkeypatch, screen, size):
    class Screen:
        def availableGeometry(self):
            return screen

    monkeypatch.setattr(screens.QGuiApplication, "screens", lambda: [Screen()])
    monkeypatch.setattr(screens.QGuiApplication, "primaryScreen", lambda: Screen())
    window = ready.window
    window.resize(1120, 760)
    WindowState(window, ready.keeper).restore_geometry()
    assert screen.contains(window.geometry())
    assert window.size() == size


def test_a_window_comes_back_when_its_screen_goes_away(ready, loop, monkeypatch, qapp):
    WindowState(ready.window, ready.keeper)
    ready.window.setGeometry(QRect(QPoint(2500, 100), QSize(720, 480)))
    qapp.screenRemoved.emit(qapp.primaryScreen())
    assert qapp.primaryScreen().availableGeometry().contains(ready.window.geometry())
