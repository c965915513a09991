"""What a person meets in an hour of ordinary use: text sizes, menus, the trash, files and notices."""

import threading
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QToolButton

from scripted_loop import record
from sotto.chats.chat_records import Shelf
from sotto.store.records import Source
from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit.file_dialog import FileDialog
from sotto.ui.toolkit.widgets import IconLabel
from sotto.ui.transcript.answer_message import AnswerMessage
from sotto.ui.transcript.user_message import UserMessage


def answered(stage, qtbot, question="Hi"):
    """Ask a question, and return the number of the conversation once the answer is saved."""
    stage.window.send(question)
    qtbot.waitUntil(lambda: len(stage.chat_session.turns) % 2 == 0 and not stage.chat_session.busy)
    qtbot.waitUntil(lambda: stage.chat_session.turns[-1].id > 0)
    return stage.chat_session.chat


def test_a_short_question_stays_on_one_line_at_every_text_size(ready, qtbot, loop, preferences):
    # At this width, the column is as wide with small text as with text of the usual size.
    ready.window.resize(1120, 760)
    answered(ready, qtbot, "hi there")
    text = ready.window.findChild(UserMessage).text
    usual = text.width()
    preferences.change(zoom=0.7)
    qtbot.waitUntil(lambda: text.width() < usual)
    preferences.change(zoom=1.0)
    qtbot.waitUntil(lambda: text.width() == usual)
    assert text.document().firstBlock().layout().lineCount() == 1


# The list of chats


def test_the_right_button_does_not_select_a_chat_that_is_not_in_view(ready, qtbot, loop):
    first = answered(ready, qtbot, "First")
    ready.window.new_chat()
    second = answered(ready, qtbot, "Second")
    chats = ready.window.sidebar.chats
    qtbot.waitUntil(lambda: chats.model.row_of(chat=first) is not None and chats.model.row_of(chat=second) is not None)
    place = chats.view.visualRect(chats.model.index(chats.model.row_of(chat=first))).center()
    qtbot.mouseClick(chats.view.viewport(), Qt.MouseButton.RightButton, pos=place)
    menu_event = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, place, chats.view.viewport().mapToGlobal(place), Qt.KeyboardModifier(0)
    )
    QApplication.sendEvent(chats.view.viewport(), menu_event)
    menu = QApplication.activePopupWidget()
    assert menu is not None
    assert chats.view.itemDelegate().target == chats.model.row_of(chat=first)
    qtbot.keyClick(menu, Qt.Key.Key_Escape)
    assert chats.view.currentIndex().row() == chats.model.row_of(chat=second) == selected_rows(chats)[0]
    assert chats.view.itemDelegate().target == -1


def selected_rows(chats):
    return [index.row() for index in chats.view.selectedIndexes()]


def test_a_new_chat_is_listed_whatever_was_listed_before(ready, qtbot, loop):
    answered(ready, qtbot, "First")
    chats = ready.window.sidebar.chats
    chats.shelf_wanted.emit(Shelf.TRASH)
    qtbot.waitUntil(lambda: chats.back.isVisible())
    qtbot.mouseClick(ready.window.chat.header.new_chat, Qt.MouseButton.LeftButton)
    second = answered(ready, qtbot, "Second")
    qtbot.waitUntil(lambda: chats.model.row_of(chat=second) is not None)
    assert chats.title.text().strip() == "Chats"
    assert not chats.back.isVisible()


def test_what_was_written_for_a_new_chat_is_there_again_in_the_next_one(ready, qtbot, loop):
    window = ready.window
    first = answered(ready, qtbot, "First")
    new = partial(qtbot.mouseClick, window.chat.header.new_chat, Qt.MouseButton.LeftButton)
    composer = window.chat.composer
    new()
    qtbot.keyClicks(composer.draft, "half a question")
    # Another click leaves it where it is, also from another page.
    window.models.open_page()
    window.new_chat()
    assert composer.text == "half a question"
    assert composer.draft.hasFocus()
    # It waits while other chats are in view, and after one of them was written to.
    window.current.open(first)
    qtbot.waitUntil(lambda: window.current.session.chat == first)
    assert composer.text == ""
    new()
    qtbot.waitUntil(lambda: composer.text == "half a question")
    answered(ready, qtbot, "half a question")
    new()
    qtbot.wait(50)
    assert composer.text == ""


def test_the_settings_of_a_new_chat_alone_do_not_come_back(ready, qtbot, loop):
    window = ready.window
    answered(ready, qtbot, "First")
    window.new_chat()
    window.current.session.draft.set_choices("Be brief.", {})
    window.current.session.draft.save()
    window.new_chat()
    qtbot.wait(50)
    assert window.current.session.draft.system == ""


def test_one_click_leads_back_from_the_trash(ready, qtbot, loop):
    chat = answered(ready, qtbot, "First")
    chats = ready.window.sidebar.chats
    chats.shelf_wanted.emit(Shelf.ARCHIVED)
    qtbot.waitUntil(lambda: chats.back.isVisible())
    qtbot.mouseClick(chats.back, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: chats.model.row_of(chat=chat) is not None)


# Files


def test_files_are_chosen_at_home_at_first_and_then_where_the_last_one_was(ready, qtbot, loop, monkeypatch, tmp_path):
    monkeypatch.setattr(FileDialog, "_last_folder", "")
    monkeypatch.chdir(tmp_path)
    folder = Path.home() / "Models"
    folder.mkdir()
    model = folder / "model.gguf"
    model.write_bytes(b"GGUF")
    dialog = opened_dialog(ready, qtbot, ready.window.dialogs.choose_model)
    assert (dialog.windowTitle(), dialog.directory().absolutePath()) == ("Open model", str(Path.home()))
    assert dialog.nameFilters()[0] == "Models (*.gguf *.safetensors *.json)"
    dialog.setDirectory(str(folder))
    dialog.selectFile(str(model))
    dialog.accept()
    dialog = opened_dialog(ready, qtbot, ready.window.dialogs.choose_attachments)
    assert dialog.directory().absolutePath() == str(folder)
    dialog.reject()


def test_the_buttons_above_a_list_of_files_show_what_they_do(ready, qtbot, loop):
    dialog = opened_dialog(ready, qtbot, ready.window.dialogs.choose_model)
    button = dialog.findChild(QToolButton, "toParentButton")
    qtbot.waitUntil(lambda: button.isVisible())
    picture = button.grab().toImage()
    colors = {picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}
    assert len(colors) > 5
    dialog.reject()


def opened_dialog(stage, qtbot, open_it):
    open_it()
    (dialog,) = [each for each in stage.window.findChildren(QFileDialog) if each.isVisible()]
    return dialog


def test_chats_take_the_room_that_the_models_leave(ready, qtbot, loop):
    sections, chats = ready.window.sidebar.sections, ready.window.sidebar.chats
    ready.window.resize(1120, 900)

    def ask(store):
        for number in range(30):
            chat = store.add_chat()
            store.change(chat, title=f"Chat {number}")
            store.ask(chat, "Hi", None)

    ready.keeper.do(ask, lambda _: ready.window.chat_library.refresh())
    qtbot.waitUntil(lambda: len(chats.model.entries) == 30)
    # Two models need little; the chats would fill more than the window.
    qtbot.waitUntil(lambda: chats.height() > 0.6 * sections.height())
    area = ready.window.sidebar.models.area
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)
    assert chats.view.verticalScrollBar().maximum() > 0
    # Where neither fits, each has half of the height.
    ready.shelf.records.extend(record(f"model-{number}:latest") for number in range(20))
    ready.session.library.rescan()
    qtbot.waitUntil(lambda: len(ready.window.sidebar.rows) == 22)
    qtbot.waitUntil(lambda: abs(chats.height() - sections.height() // 2) < 10)


# Notices


def test_what_could_not_be_attached_is_said_in_its_chat_alone(ready, qtbot, loop, tmp_path):
    answered(ready, qtbot, "First")
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    ready.window.composing.attach((picture,))
    notice = ready.window.chat.notice
    qtbot.waitUntil(lambda: notice.isVisible() and notice.title.text() == "Not attached")
    ready.window.new_chat()
    qtbot.waitUntil(lambda: not notice.isVisible())


def test_a_question_has_no_icon_of_a_link_unless_it_is_about_one(ready, qtbot, loop):
    notices, notice = ready.window.notices, ready.window.chat.notice
    notices.show_question("Empty the trash?", "Its chats are deleted for good.", "Empty", lambda: None)
    assert notice.text.icon == "alert"
    ready.window.ask_link("https://example.com/")
    assert notice.text.icon == "link"


def test_a_notice_about_a_chat_stays_there_while_all_models_are_shown(ready, qtbot, loop):
    window, notice = ready.window, ready.window.chat.notice
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: not ready.chat_session.busy and ready.chat_session.turns[-1].id > 0)
    ready.script.fail_answer = "The disk is full."
    ready.window.send("And now?")
    qtbot.waitUntil(lambda: notice.title.text() == "No answer" and notice.isVisible())
    window.models.open_page()
    assert window.panes.pane.notice is not notice
    assert window.panes.pane.notice.isHidden()
    window.panes.show_chat()
    assert notice.isVisible()
    assert notice.message.text() == "The disk is full."
    # What is not about the chat goes along.
    window.notices.show_success("Report copied", "Paste it into your bug report.")
    window.models.open_page()
    assert window.panes.pane.notice.title.text() == "Report copied"


def test_a_notice_of_one_line_is_beside_its_button(ready, qtbot, loop):
    notice = ready.window.chat.notice
    ready.window.notices.show_offer("Question deleted", "", "Undo", lambda: None)
    qtbot.waitUntil(lambda: notice.button.isVisible())
    assert not notice.message.isVisible()

    def middle(widget):
        return widget.mapTo(notice, widget.rect().center()).y()

    qtbot.waitUntil(lambda: abs(middle(notice.title) - middle(notice.button)) <= 1)
    assert abs(middle(notice.findChild(IconLabel)) - middle(notice.button)) <= 1


# Models and presets


def test_the_tip_of_a_model_says_where_it_is(ready, qtbot, loop):
    path = Path.home() / "Models" / "tiny.gguf"
    ready.shelf.records.append(record("tiny", source=Source.FOLDER, path=path))
    ready.session.library.rescan()
    qtbot.waitUntil(lambda: len(ready.window.sidebar.rows) == 3)
    tips = {row.record.name: row.toolTip() for row in ready.window.sidebar.rows}
    assert "~/Models/tiny.gguf" in tips["tiny"]
    assert not any("In " in tip for tip in tips.values())


@pytest.mark.parametrize("transparent", [True, False])
def test_the_picker_has_no_black_corners_where_windows_are_opaque(ready, qtbot, loop, dressed, transparent):
    dressed.set_transparent(transparent)
    qtbot.mouseClick(ready.window.chat.header.title, Qt.MouseButton.LeftButton)
    picker = ready.window.models.picker
    qtbot.waitUntil(picker.isVisible)
    corner = picker.grab().toImage().pixelColor(0, 0)
    picker.close()
    dressed.set_transparent(True)
    assert (corner.alpha() < 128) == transparent


def test_a_preset_is_put_down_again(ready, qtbot, loop):
    choices = ready.window.chat.choices
    ready.window.chat.toggle_choices()
    choices.system.setPlainText("Be brief.")
    assert [action.text() for action in choices.presets.menu().actions() if action.isCheckable()] == []
    ready.window.presets.save("Brief", "Be brief.", {})
    none, brief = [action for action in choices.presets.menu().actions() if action.isCheckable()]
    assert (none.text(), none.isChecked(), brief.isChecked()) == ("None", False, True)
    none.trigger()
    assert choices.system.toPlainText() == ""
    qtbot.waitUntil(lambda: ready.chat_session.draft.system == "")
    assert choices.presets.button.accessibleName() == "Preset: None"


# Answers


def test_the_end_of_an_answer_moves_nothing(ready, qtbot, loop):
    ready.script.hold_answer = threading.Event()
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: ready.window.findChild(AnswerMessage) is not None)
    answer = ready.window.findChild(AnswerMessage)
    qtbot.waitUntil(lambda: answer.body.isVisible() and answer.status.text().startswith("Answering"))

    def below():
        return answer.height() - answer.body.geometry().bottom()

    qtbot.wait(50)
    before = below()
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: answer.again.isVisible())
    qtbot.wait(50)
    assert below() == before


def test_the_header_says_once_that_a_model_is_loading(ready, qtbot, loop):
    # How much there is to read is not known.
    ready.script.hold_load = threading.Event()
    ready.session.load(record("unmeasured:latest", size=0))
    line = ready.window.chat.header.line
    qtbot.waitUntil(lambda: "Loading" in line.text())
    assert line.text().count("Loading") == 1


def test_an_ejected_model_is_not_said_to_load_before_it_does(ready, qtbot, loop):
    window = ready.window
    window.menus.eject.trigger()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FOUND)
    qtbot.keyClicks(window.chat.composer.draft, "Hello")
    assert (window.chat.header.line.text(), ready.session.state.phase) == ("Loads when needed", Phase.FOUND)
    qtbot.keyClick(window.chat.composer.draft, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2 and not ready.chat_session.busy)
