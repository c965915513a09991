"""Making a model of one's own in the real window, with the mouse and the keyboard."""

import shutil

import pytest
from PySide6.QtCore import QPoint, Qt

from sotto.runner.catalogue import find
from sotto.store.opening import open_texts
from sotto.store.removal import own_store
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.state.model_state import Phase


@pytest.fixture
def window(real_window):
    yield real_window(EngineThread())
    shutil.rmtree(own_store(), ignore_errors=True)


def opened(window, qtbot):
    """Choose Customize… in the menu of the built-in model, and wait for the sheet with its preview."""
    record = window.models.panel.rows[0].record
    menu = window.models.panel.menu_of(record)
    next(action for action in menu.actions() if action.text() == "Customize…").trigger()
    customizing = window.models.customizing
    qtbot.waitUntil(lambda: customizing.sheet is not None and bool(customizing.sheet.form.preview.toPlainText()))
    return customizing.sheet


def test_a_model_is_made_with_the_keyboard_and_answers(window, qtbot, loop):
    sheet = opened(window, qtbot)
    assert sheet.isVisible()
    assert sheet.focusWidget() is sheet.form.name
    assert sheet.form.name.text() == "my-sotto"
    qtbot.keyClicks(sheet.form.name, "bob")
    assert sheet.form.name.text() == "bob"
    # Tab goes from field to field in the order of reading.
    qtbot.keyClick(sheet.form.name, Qt.Key.Key_Tab)
    assert sheet.focusWidget() is sheet.form.system
    sheet.form.system.selectAll()
    qtbot.keyClicks(sheet.form.system, "You are Bob.")
    qtbot.keyClick(sheet.form.system, Qt.Key.Key_Tab)
    assert sheet.focusWidget() is sheet.form.fields["temperature"]
    qtbot.keyClicks(sheet.focusWidget(), "0")
    # The built-in model knows no system prompts.
    qtbot.waitUntil(lambda: sheet.form.preview_note.text() == "The template leaves the system prompt out.")
    assert "What is the capital of France?" in sheet.form.preview.toPlainText()
    qtbot.keyClick(sheet, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.models.customizing.sheet is None)
    assert window.chat.notice.title.text() == "bob was created"
    session = window.session
    qtbot.waitUntil(lambda: any(record.name == "bob:latest" for record in session.library.models))
    source = open_texts(find("bob"))
    assert (source.system, source.params["temperature"], source.params["num_predict"]) == ("You are Bob.", 0, 256)
    record = next(record for record in session.library.models if record.name == "bob:latest")
    window.models.load(record)
    qtbot.waitUntil(lambda: session.state.phase is Phase.READY and session.state.record.name == "bob:latest")
    assert session.state.info.system == "You are Bob."


def test_a_template_is_changed_with_its_rendering_beside_it(window, qtbot, loop):
    sheet = opened(window, qtbot)
    form = sheet.form
    before = form.preview.toPlainText()
    assert not form.template.isVisible()
    qtbot.mouseClick(form.unfold, Qt.MouseButton.LeftButton)
    assert form.template.isVisible()
    assert "messages" in form.template.toPlainText()
    form.template.selectAll()
    qtbot.keyClicks(form.template, "{{ if .Prompt }}")
    qtbot.waitUntil(lambda: "a block has no {{ end }}" in form.preview_error.text())
    # The last rendering that worked stays until there is another.
    assert form.preview.toPlainText() == before
    form.system.setPlainText("Be kind.")
    form.template.setPlainText("{{ range .Messages }}[{{ .Role }}] {{ .Content }}\n{{ end }}")
    qtbot.waitUntil(lambda: form.preview.toPlainText().endswith("[user] What is the capital of France?\n"))
    assert form.preview.toPlainText().startswith("[system] Be kind.\n[user] ")
    assert not form.preview_error.text()
    assert not form.preview_note.isVisible()
    qtbot.mouseClick(sheet.make, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.models.customizing.sheet is None)
    assert open_texts(find("my-sotto")).chosen_template.startswith("{{ range .Messages }}")


def test_names_are_checked_while_they_are_typed(window, qtbot, loop):
    sheet = opened(window, qtbot)
    form = sheet.form
    assert not form.name_note.isVisible()
    qtbot.keyClicks(form.name, "a/")
    assert "its model is missing" in form.name_note.text()
    assert not sheet.make.isEnabled()
    form.name.clear()
    assert not sheet.make.isEnabled()
    qtbot.keyClicks(form.name, "twice")
    assert sheet.make.isEnabled()
    qtbot.keyClick(sheet, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.models.customizing._names == {"twice:latest"})
    sheet = opened(window, qtbot)
    sheet.form.name.setText("twice")
    assert sheet.form.name_note.text() == "There is one of this name; it will be replaced."
    assert sheet.make.isEnabled()
    qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.models.customizing.sheet is None)


def test_an_option_that_is_wrong_is_refused_in_the_form(window, qtbot, loop):
    form = opened(window, qtbot).form
    field = form.fields["top_p"]
    field.setFocus()
    qtbot.keyClicks(field, "7")
    qtbot.keyClick(field, Qt.Key.Key_Tab)
    assert form.refusal.text().startswith("Top-p must be a number from 0")
    form.stop.setPlainText("END\n\nSTOP")
    assert form.params == {"stop": ["END", "STOP"]}
    qtbot.mouseClick(window.models.customizing.sheet.cancel, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    qtbot.waitUntil(lambda: window.models.customizing.sheet is None)
    assert not own_store().exists()


def test_what_fails_is_said_in_the_sheet_which_stays_open(window, qtbot, loop, monkeypatch):
    sheet = opened(window, qtbot)
    # A file where the store should be.
    own_store().parent.mkdir(parents=True, exist_ok=True)
    own_store().write_text("no folder")
    qtbot.mouseClick(sheet.make, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(sheet.error.text()))
    assert "cannot be written" in sheet.error.text()
    assert sheet.make.isEnabled()
    assert sheet.form.isEnabled()
    own_store().unlink()
    qtbot.mouseClick(sheet.make, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.models.customizing.sheet is None)
