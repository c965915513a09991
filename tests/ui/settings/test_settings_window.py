"""The settings window: choices apply at once, and invalid values are refused in place."""

import json
import socket
import sys
import threading
import urllib.request

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from clipping import assert_unclipped
from disk_entries import head, write_entry
from sotto.engine.contract.engine_settings import disk_root, settings_file
from sotto.ui.platform import login_item
from sotto.ui.platform.global_shortcut import GlobalShortcut
from sotto.ui.session.api_host import ApiHost
from sotto.ui.session.api_switch import ApiSwitch
from sotto.ui.session.model_sources import StoreModels
from sotto.ui.settings.answers_page import AnswersPage
from sotto.ui.settings.api_page import ApiPage
from sotto.ui.settings.appearance_page import AppearancePage
from sotto.ui.settings.engine_choices import EngineChoices
from sotto.ui.settings.engine_page import EnginePage
from sotto.ui.settings.folders_page import FoldersPage
from sotto.ui.settings.memory_page import MemoryPage
from sotto.ui.settings.quick_page import QuickPage
from sotto.ui.toolkit.form_rows import FormRow
from tiny_random import write_model

pytestmark = pytest.mark.slow

KINDS = (QAbstractButton, QAbstractItemView, QAbstractSpinBox, QLineEdit, QPlainTextEdit)


@pytest.fixture
def settings(stage, qtbot, loop):
    """Return a function that opens the settings at a page."""

    def shown(page=""):
        stage.window.dialogs.show_settings(page)
        window = stage.window.dialogs.settings
        if page == "memory":
            qtbot.waitUntil(lambda: window.page(MemoryPage).limit.placeholderText() != "")

        def active():
            # The activation of the main window may still be pending.
            window.activateWindow()
            return window.isActiveWindow()

        qtbot.waitUntil(active)
        return window

    return shown


def controls(window):
    """Return the controls of the page in view, and the list of pages."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if isinstance(widget, KINDS)
        and widget.isVisible()
        and not isinstance(widget.parent(), QAbstractSpinBox | QLineEdit | QAbstractItemView)
        and not widget.objectName().startswith("qt_")
    ]


def type_into(qtbot, field, text):
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def row_of(control):
    while not isinstance(control, FormRow):
        control = control.parentWidget()
    return control


def engine_choices():
    return json.loads(settings_file().read_text()) if settings_file().exists() else {}


def test_the_menu_opens_one_window_that_is_not_modal(stage, qtbot, loop):
    (action,) = [action for action in stage.window.menus.actions() if action.text() == "Settings…"]
    assert action.shortcut().toString() == "Ctrl+,"
    assert action.menuRole() is QAction.MenuRole.PreferencesRole
    action.trigger()
    window = stage.window.dialogs.settings
    assert window.isVisible()
    assert not window.isModal()
    window.list.setCurrentRow(2)
    action.trigger()
    assert stage.window.dialogs.settings is window
    assert window.list.currentRow() == 2
    qtbot.keyClick(window.list, Qt.Key.Key_Escape)
    assert window.isHidden()


def test_the_appearance_changes_at_once(settings, stage, dressed, qtbot, loop):
    page = settings("appearance").page(AppearancePage)
    qtbot.mouseClick(page.look.buttons["dark"], Qt.MouseButton.LeftButton)
    assert (stage.window.preferences.values.appearance, dressed.tokens.dark) == ("dark", True)
    type_into(qtbot, page.zoom, "150")
    assert dressed.zoom == 1.5
    page.larger.click()
    assert stage.window.preferences.values.zoom == 1.6
    type_into(qtbot, page.zoom, "900")
    assert row_of(page.zoom).error.text() == "Text size must be a whole number from 70 to 250, not '900'."
    assert stage.window.preferences.values.zoom == 1.6
    stage.window.preferences.change(zoom=1.0)
    assert page.zoom.text() == "100 %"


def test_the_language_is_chosen_for_the_next_start(settings, stage, qtbot, loop):
    page = settings("appearance").page(AppearancePage)
    assert page.language.text() == "System ▾"
    actions = {action.text(): action for action in page.language.menu().actions()}
    assert next(iter(actions)) == "System"
    assert actions["System"].isChecked()
    actions["English"].trigger()
    assert stage.window.preferences.values.language == "en"
    assert page.language.text() == "English ▾"
    assert page.language.accessibleName() == "Language: English"
    # A translation that is no longer there.
    stage.window.preferences.change(language="nl")
    assert page.language.text() == "nl ▾"


def test_settings_for_all_chats_apply_unless_a_chat_overrides_them(ready, settings, qtbot, loop):
    page = settings("answers").page(AnswersPage)
    type_into(qtbot, page.fields["temperature"], "0,3")
    type_into(qtbot, page.fields["top_k"], "7")
    page.system.setPlainText("Be brief.")
    type_into(qtbot, page.context, "2048")
    qtbot.waitUntil(lambda: ready.session.settings.system == "Be brief.")
    assert ready.session.settings.num_ctx == 2048
    ready.window.chat.choices.fields["top_k"].setValue(9)
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    (request,) = ready.script.requests
    assert dict(request.options) == {"temperature": 0.3, "top_k": 9}
    assert (request.messages[0].role, request.messages[0].content) == ("system", "Be brief.")
    ready.chat_session.draft.set_choices("My own.", {})
    ready.window.send("Again")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert [message.content for message in ready.script.requests[1].messages if message.role == "system"] == ["My own."]
    page.fields["temperature"].clear_number()
    assert ready.session.settings.options == {"top_k": 7}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("temperature", "hot", "Temperature must be a number from 0.00 to 5.00, not 'hot'."),
        ("top_p", "1.5", "Top-p must be a number from 0.00 to 1.00, not '1.5'."),
        ("top_k", "2.5", "Top-k must be a whole number from 0 to 1,000, not '2.5'."),
        ("seed", "-1", "Seed must be a whole number from 0 to 2,147,483,647, not '-1'."),
    ],
)
def test_an_invalid_number_is_refused_in_place(settings, stage, qtbot, loop, name, text, why):
    field = settings("answers").page(AnswersPage).fields[name]
    type_into(qtbot, field, text)
    row = row_of(field)
    assert row.error.isVisible()
    assert row.error.text() == why
    assert field.text() == "Default"
    assert stage.window.preferences.values.options == {}
    field.stepUp()
    assert row.error.isHidden()
    assert name in stage.window.preferences.values.options


def test_an_overlong_system_prompt_is_refused_and_stays_editable(settings, stage, qtbot, loop):
    page = settings("answers").page(AnswersPage)
    page.system.setPlainText("x" * 20_001)
    qtbot.waitUntil(lambda: row_of(page.system).error.isVisible())
    assert "20,000 characters; this one has 20,001" in row_of(page.system).error.text()
    assert stage.window.preferences.values.system == ""
    page.system.setPlainText("x" * 20_000)
    stage.window.dialogs.settings.close()
    assert len(stage.window.preferences.values.system) == 20_000


def test_limits_are_saved_and_invalid_ones_refused(settings, qtbot, loop):
    page = settings("memory").page(MemoryPage)
    type_into(qtbot, page.limit, "2 GB")
    qtbot.waitUntil(lambda: engine_choices() == {"memory_limit": 2 * 10**9})
    qtbot.waitUntil(lambda: page.limit.text() == "2.0 GB")
    for text, why in (
        ("much", "A size is a number followed by K, M, G or T"),
        ("1 MB", "The limit must be from 256 MB to the"),
        ("900 TB", "that this machine has, not 900 TB."),
    ):
        type_into(qtbot, page.limit, text)
        assert page.limit_row.error.isVisible()
        assert why in page.limit_row.error.text()
        assert page.limit.accessibleDescription() == page.limit_row.error.text()
    type_into(qtbot, page.disk, "0")
    qtbot.waitUntil(lambda: engine_choices() == {"memory_limit": 2 * 10**9, "disk_budget": 0})
    page.bits.buttons[8].click()
    qtbot.waitUntil(lambda: engine_choices().get("kv_bits") == 8)
    type_into(qtbot, page.limit, " ")
    qtbot.waitUntil(lambda: "memory_limit" not in engine_choices())


def test_prediction_heads_can_be_switched_off(settings, qtbot, loop):
    page = settings("memory").page(MemoryPage)
    qtbot.waitUntil(page.prediction.isChecked)
    page.prediction.click()
    qtbot.waitUntil(lambda: engine_choices() == {"prediction": False})
    page.refresh()
    qtbot.waitUntil(lambda: not page.prediction.isChecked())
    page.prediction.click()
    qtbot.waitUntil(lambda: engine_choices() == {})


def test_a_file_that_cannot_be_written_is_reported_in_place(settings, qtbot, loop):
    page = settings("memory").page(MemoryPage)
    settings_file().parent.parent.mkdir(parents=True, exist_ok=True)
    settings_file().parent.write_text("in the way")
    type_into(qtbot, page.disk, "1 GB")
    qtbot.waitUntil(lambda: "cannot be written" in page.failure.text())


def test_the_stored_prefixes_are_shown_and_wiped(settings, qtbot, loop):
    write_entry(disk_root(), head(range(1000)), rows=500_000)
    page = settings("memory").page(MemoryPage)
    qtbot.waitUntil(lambda: "4.0 MB in 1 entry" in page.kept.hint.text())
    page.wipe.click()
    qtbot.waitUntil(lambda: page.kept.hint.text() == "Nothing")
    assert not page.wipe.isEnabled()
    assert list(disk_root().rglob("*.safetensors")) == []


def folder_rows(page):
    layouts = [group.layout() for group in (page.own_group, page.default_group)]
    rows = [layout.itemAt(place).widget() for layout in layouts for place in range(layout.count())]
    return {row.title.text(): row for row in rows if isinstance(row, FormRow)}


def state_of(row):
    return next(label.text() for label in row.control.findChildren(QLabel))


@pytest.fixture
def model_folder(tmp_path):
    write_model(tmp_path / "shelf" / "deep" / "plain", "plain")
    return tmp_path / "shelf"


def test_folders_are_added_counted_and_removed(settings, stage, qtbot, loop, model_folder, tmp_path):
    stage.session.library.source = StoreModels()
    page = settings("folders").page(FoldersPage)
    qtbot.waitUntil(lambda: "Built in" in folder_rows(page))
    stage.session.library.rescan()
    qtbot.waitUntil(lambda: state_of(folder_rows(page)["Built in"]) == "1 model")
    assert state_of(folder_rows(page)["Hugging Face"]) == "Not found"
    assert "None yet" in folder_rows(page)
    before = {path: path.stat().st_mtime_ns for path in model_folder.rglob("*")}
    page.folders.add(model_folder)
    qtbot.waitUntil(lambda: "shelf" in folder_rows(page) and state_of(folder_rows(page)["shelf"]) == "1 model")
    assert "plain" in {model.name for model in stage.session.library.models}
    assert stage.window.preferences.values.folders == (str(model_folder),)
    for wrong, why in (
        (model_folder, "is already searched."),
        (tmp_path / "gone", "is not a folder that can be read"),
        (next(model_folder.rglob("config.json")), "is not a folder that can be read"),
    ):
        page.folders.add(wrong)
        qtbot.waitUntil(lambda why=why: why in page.refusal.text())
        assert page.refusal.isVisible()
    model_folder.rename(tmp_path / "elsewhere")
    settings("folders").page(FoldersPage).refresh()
    qtbot.waitUntil(lambda: state_of(folder_rows(page)["shelf"]) == "Not found")
    (tmp_path / "elsewhere").rename(model_folder)
    (remove,) = folder_rows(page)["shelf"].findChildren(QAbstractButton)
    assert remove.accessibleName() == "Remove folder shelf"
    remove.click()
    qtbot.waitUntil(lambda: "shelf" not in folder_rows(page))
    qtbot.waitUntil(lambda: "plain" not in {model.name for model in stage.session.library.models})
    assert {path: path.stat().st_mtime_ns for path in model_folder.rglob("*")} == before


def test_the_folder_dialog_does_not_block_the_window(settings, stage, qtbot, loop, model_folder):
    page = settings("folders").page(FoldersPage)
    page.add_button.click()
    (dialog,) = page.window().findChildren(QFileDialog)
    dialog.fileSelected.emit(str(model_folder))
    qtbot.waitUntil(lambda: stage.window.preferences.values.folders == (str(model_folder),))
    dialog.close()


@pytest.fixture
def switch(stage, loop):
    """Yield the API switch, which does not listen yet."""
    made = ApiSwitch(ApiHost(stage.session), stage.window.preferences)
    stage.window.dialogs.api = made
    loop.starts.append(made.begin)
    yield made
    made.close()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def test_the_api_listens_as_chosen(switch, settings, stage, qtbot, loop):
    page = settings("programs").page(ApiPage)
    port = free_port()
    assert page.state.hint.text() == "Off: no program can connect."
    type_into(qtbot, page.port, str(port))
    type_into(qtbot, page.origins, "http://localhost:*")
    page.enabled.click()
    qtbot.waitUntil(lambda: page.state.hint.text() == f"Listening at http://127.0.0.1:{port}")
    page.copy_address.click()
    address = QApplication.clipboard().text()
    from_a_page = urllib.request.Request(f"{address}/api/version", headers={"Origin": "http://localhost:3000"})
    with urllib.request.urlopen(from_a_page, timeout=10) as answer:
        assert answer.headers["Access-Control-Allow-Origin"] == "http://localhost:3000"
    # Programs on other machines need a key; the page says so, and the button generates one.
    type_into(qtbot, page.host, "0.0.0.0")
    qtbot.waitUntil(lambda: "key" in page.state.error.text())
    assert page.enabled.accessibleDescription() == page.state.error.text()
    assert page.copy_address.isHidden()
    page.make_key.click()
    qtbot.waitUntil(lambda: page.state.hint.text() == f"Listening at http://0.0.0.0:{port}")
    assert page.state.error.isHidden()
    assert len(stage.window.preferences.values.api_key) > 20
    page.copy_key.click()
    assert QApplication.clipboard().text() == stage.window.preferences.values.api_key
    page.enabled.click()
    qtbot.waitUntil(lambda: page.state.hint.text() == "Off: no program can connect.")
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/api/version", timeout=10)


def test_a_port_in_use_is_reported_in_place(switch, settings, qtbot, loop):
    page = settings("programs").page(ApiPage)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        type_into(qtbot, page.port, str(taken.getsockname()[1]))
        page.enabled.click()
        qtbot.waitUntil(lambda: str(taken.getsockname()[1]) in page.state.error.text())


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("host", "my machine", "An address is a name or number of this machine, such as 127.0.0.1, not 'my machine'."),
        ("port", "70000", "Port must be a whole number from 1 to 65,535, not '70000'."),
        (
            "origins",
            "a page",
            "'a page' is not an origin; it should look like https://example.com or http://localhost:*, or * for every "
            "page.",
        ),
        ("key", "two words", "A key can have up to 1,000 ASCII letters, digits and symbols, without spaces."),
    ],
)
def test_an_invalid_address_is_refused(settings, stage, qtbot, loop, name, text, why):
    page = settings("programs").page(ApiPage)
    before = stage.window.preferences.values
    type_into(qtbot, getattr(page, name), text)
    assert row_of(getattr(page, name)).error.text() == why
    assert stage.window.preferences.values == before


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is limited elsewhere")
def test_the_memory_of_an_isolated_engine_can_be_limited(settings, qtbot, loop, monkeypatch):
    monkeypatch.setenv("SOTTO_ENGINE_MEMORY", "3G")
    page = settings("engine").page(EnginePage)
    qtbot.waitUntil(lambda: page.memory_bytes > 0)
    type_into(qtbot, page.memory, "2 GB")
    qtbot.waitUntil(lambda: engine_choices() == {"process_memory": 2 * 10**9})
    qtbot.waitUntil(lambda: page.memory.text() == "2.0 GB")
    type_into(qtbot, page.memory, "1 MB")
    assert "The limit must be from 256 MB to the" in page.memory_row.error.text()
    type_into(qtbot, page.memory, " ")
    qtbot.waitUntil(lambda: engine_choices() == {})
    assert [label.text() for label in page.findChildren(QLabel) if "SOTTO_ENGINE_MEMORY is set to 3G" in label.text()]


def test_the_engine_moves_at_the_next_start(settings, stage, qtbot, loop, tasks, monkeypatch):
    page = settings("engine").page(EnginePage)
    assert "In the app’s process" in page.row.hint.text()
    page.host.buttons["process"].click()
    assert stage.window.preferences.values.engine_host == "process"
    assert "In its own process" in page.row.hint.text()
    assert [label.text() for label in page.findChildren(QLabel) if "after restart" in label.text()]
    monkeypatch.setenv("SOTTO_ENGINE_HOST", "thread")
    forced = EnginePage(stage.window.preferences, EngineChoices(tasks))
    assert [
        label.text() for label in forced.findChildren(QLabel) if "SOTTO_ENGINE_HOST is set to thread" in label.text()
    ]
    forced.deleteLater()


@pytest.fixture
def shortcut(stage, loop):
    """Return the global shortcut, which is not available on this platform."""
    made = GlobalShortcut(stage.window)
    stage.window.dialogs.shortcut = made
    stage.window.preferences.changed.connect(lambda values: made.set_keys(values.quick_shortcut))
    return made


def test_the_quick_prompts_keys_are_recorded_and_a_failure_is_shown(shortcut, settings, stage, qtbot, loop):
    page = settings("quick").page(QuickPage)
    assert page.keys_row.hint.text() == "Click to record"
    page.keys.setFocus()
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space, keys)
    qtbot.waitUntil(lambda: stage.window.preferences.values.quick_shortcut == "Ctrl+Alt+Space")
    assert page.keys_row.error.text() == shortcut.problem != ""
    stage.window.preferences.change(quick_shortcut="")
    assert page.keys.keySequence().isEmpty()
    assert page.keys_row.error.isHidden()


def test_the_time_until_a_new_quick_chat_is_set_in_minutes(settings, stage, qtbot, loop):
    page = settings("quick").page(QuickPage)
    assert page.fresh.text() == "10 min"
    type_into(qtbot, page.fresh, "30")
    assert stage.window.preferences.values.quick_fresh_minutes == 30
    type_into(qtbot, page.fresh, "never")
    assert "must be a whole number from 0 to 10,080, not 'never'." in row_of(page.fresh).error.text()
    assert stage.window.preferences.values.quick_fresh_minutes == 30


def test_launch_at_login_reflects_the_system(settings, stage, qtbot, loop):
    page = settings("quick").page(QuickPage)
    assert not page.login.isChecked()
    page.login.click()
    qtbot.waitUntil(login_item.enabled)
    login_item.path().unlink()
    page.refresh()
    qtbot.waitUntil(lambda: not page.login.isChecked())
    login_item.path().parent.rmdir()
    login_item.path().parent.write_text("in the way")
    page.login.click()
    qtbot.waitUntil(lambda: "cannot be changed" in page.login_row.error.text())
    assert not page.login.isChecked()


def test_an_error_is_not_erased_by_an_earlier_choice_that_ends_later(settings, stage, qtbot, loop, monkeypatch):
    page = settings("quick").page(QuickPage)
    qtbot.waitUntil(lambda: not stage.window.dialogs.tasks.running)
    late, asked = threading.Event(), []

    def enabled():
        asked.append(None)
        if len(asked) == 1:
            late.wait(10)
        return False

    monkeypatch.setattr(login_item, "enabled", enabled)
    page.login.setChecked(True)
    qtbot.waitUntil(lambda: bool(asked))
    login_item.path().unlink()
    login_item.path().parent.rmdir()
    login_item.path().parent.write_text("in the way")
    page._start_set_login(True)
    qtbot.waitUntil(lambda: "cannot be changed" in page.login_row.error.text())
    late.set()
    qtbot.waitUntil(lambda: not stage.window.dialogs.tasks.running)
    assert "cannot be changed" in page.login_row.error.text()


def test_a_late_answer_about_the_system_changes_nothing(settings, stage, qtbot, loop, monkeypatch):
    page = settings("quick").page(QuickPage)
    qtbot.wait(20)
    late, asked = threading.Event(), []

    def enabled():
        asked.append(None)
        if len(asked) > 1:
            return True
        late.wait(10)
        return False

    monkeypatch.setattr(login_item, "enabled", enabled)
    page.refresh()
    qtbot.waitUntil(lambda: len(asked) == 1)
    page.refresh()
    qtbot.waitUntil(page.login.isChecked)
    late.set()
    qtbot.wait(50)
    assert page.login.isChecked()


def test_every_control_has_a_name_and_is_reached_by_tab(settings, qtbot, loop):
    window = settings("answers")
    for name in window.names:
        settings(name)
        if name == "memory":
            window.page(MemoryPage).wipe.setEnabled(True)
        window.list.setFocus()
        wanted = [
            control
            for control in controls(window)
            if control.isEnabled() and control.focusPolicy() & Qt.FocusPolicy.TabFocus
        ]
        assert len(wanted) > 1
        assert [control for control in controls(window) if not control.accessibleName()] == []
        reached = []
        for _ in range(3 * len(wanted)):
            reached.append(QApplication.focusWidget())
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        # Tab reaches only one button of an exclusive group; the arrow keys reach the others.
        groups = {
            id(control.group()): control
            for control in wanted
            if isinstance(control, QAbstractButton) and control.group() is not None
        }
        missed = [
            control
            for control in wanted
            if control not in reached and getattr(control, "group", lambda: None)() is None
        ]
        assert missed == []
        assert all(any(control in reached for control in group.group().buttons()) for group in groups.values())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("page", ["folders", "answers", "memory", "engine", "quick", "programs", "appearance"])
def test_text_of_twice_the_size_is_not_clipped(settings, dressed, qtbot, loop, page):
    dressed.set_appearance("light", 2.0)
    window = settings(page)
    window.resize(window.minimumSize())
    qtbot.waitUntil(lambda: assert_unclipped(window))
    shown = window.stack.currentWidget()
    assert shown.widget().width() <= shown.viewport().width()


def test_the_idle_time_of_models_is_set_in_minutes(settings, stage, qtbot, loop):
    page = settings("memory").page(MemoryPage)
    assert page.idle.number == 0
    page.idle.setFocus()
    page.idle.clear()
    QTest.keyClicks(page.idle, "30")
    QTest.keyClick(page.idle, Qt.Key.Key_Return)
    assert stage.window.preferences.values.keep_alive_minutes == 30
    stage.window.preferences.change(keep_alive_minutes=5)
    assert page.idle.number == 5
