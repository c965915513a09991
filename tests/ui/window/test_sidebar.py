"""The sidebar: groups of chats, the memory gauge, and hiding it; and the settings of a chat beside it."""

import json
import time
from datetime import date, timedelta

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from sotto.chats.chat_records import State
from sotto.ui.window import licences
from sotto.ui.window.chat_list_model import GroupRow, group_of

TODAY = date(2026, 3, 20)


@pytest.mark.parametrize(
    ("days", "title"),
    [
        (-1, "Today"),
        (0, "Today"),
        (1, "Yesterday"),
        (2, "Previous 7 days"),
        (7, "Previous 7 days"),
        (8, "March"),
        (20, "February"),
        (79, "December 2025"),
    ],
)
def test_a_day_belongs_to_a_group(days, title):
    assert group_of(TODAY - timedelta(days), TODAY) == title


def test_chats_are_grouped_by_age(ready, qtbot, loop):
    def ask(store):
        for days in (0, 0, 3, 400):
            chat = store.add_chat()
            answer = store.begin_answer(store.ask(chat, f"Asked {days} days ago", None), "tiny:latest")
            store.end_answer(answer, "Yes.", State.COMPLETE)
            store.database.connection.execute(
                "UPDATE chats SET changed = changed - ? WHERE id = ?", (days * 86_400, chat)
            )

    ready.keeper.do(ask, lambda _: ready.window.chat_library.refresh())
    model = ready.window.sidebar.chats.model
    qtbot.waitUntil(lambda: len(model.entries) == 4)
    groups = [row.title for row in model.rows if isinstance(row, GroupRow)]
    assert groups[:2] == ["Today", "Previous 7 days"]
    assert len(groups) == 3
    assert [isinstance(row, GroupRow) for row in model.rows] == [True, False, False, True, False, True, False]
    # Titles of groups are passed over by the arrow keys and cannot be clicked.
    view = ready.window.sidebar.chats.view
    view.setCurrentIndex(model.index(2))
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().row() == 4
    assert model.flags(model.index(0)) == Qt.ItemFlag.NoItemFlags
    # A search has no groups.
    ready.window.sidebar.search.setText("ago")
    qtbot.waitUntil(lambda: len(model.rows) == 4)


def test_a_chat_says_how_long_ago_it_was_changed_as_time_goes_on(ready, qtbot, loop, monkeypatch):
    ready.window.send("Hi")
    chats = ready.window.sidebar.chats

    def captions():
        return [chats.model.caption(row) for row in chats.model.rows if not isinstance(row, GroupRow)]

    qtbot.waitUntil(lambda: not ready.chat_session.busy and captions() == ["just now · tiny"])
    now = time.time()
    monkeypatch.setattr("sotto.ui.window.chat_list_model.time.time", lambda: now + 300)
    (clock,) = chats.findChildren(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert (clock.isActive(), clock.interval()) == (True, 60_000)
    clock.timeout.emit()
    assert captions() == ["5 min ago · tiny"]


def test_the_gauge_is_one_line_until_it_is_opened(ready, qtbot, loop, preferences):
    gauge = ready.window.sidebar.gauge
    qtbot.waitUntil(lambda: gauge.figures is not None)
    assert not any(legend.isVisible() for legend in gauge.legends)
    gauge.unfold.click()
    assert preferences.values.gauge_open
    qtbot.waitUntil(lambda: any(legend.isVisible() for legend in gauge.legends))
    assert gauge.unfold.accessibleName() == "Hide memory details"
    gauge.unfold.click()
    assert not any(legend.isVisible() for legend in gauge.legends)


def test_the_sidebar_is_hidden_by_a_key_and_comes_back_for_a_search(ready, qtbot, loop, preferences):
    window = ready.window
    width = window.chat.width()
    qtbot.keyClick(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert window.sidebar.isHidden()
    assert preferences.values.sidebar_hidden
    qtbot.waitUntil(lambda: window.chat.width() > width)
    assert QApplication.focusWidget() is window.chat.composer.draft
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert window.sidebar.isVisible()
    assert window.sidebar.search.hasFocus()


@pytest.mark.parametrize(("width", "alone"), [(720, False), (900, True), (1280, False)])
def test_the_settings_of_a_chat_do_not_hide_the_send_button(ready, qtbot, loop, width, alone):
    chat = ready.window.chat
    ready.window.resize(width, 560)
    qtbot.waitUntil(lambda: ready.window.width() == width)
    chat.toggle_choices()
    qtbot.waitUntil(lambda: chat.choices.width() >= chat.choices.sizeHint().width())

    def area(widget):
        return widget.rect().translated(widget.mapTo(chat, widget.rect().topLeft()))

    qtbot.waitUntil(lambda: chat.stack.isHidden() == alone)
    # Alone, they leave nothing empty beside them.
    qtbot.waitUntil(lambda: (chat.choices.width() == chat.width()) == alone)
    for other in (chat.composer, chat.composer.button, chat.header):
        assert not area(chat.choices).intersects(area(other))
    chat.choices.closed.emit()
    qtbot.waitUntil(chat.stack.isVisible)
    assert chat.composer.draft.hasFocus()


def test_the_help_shows_every_page_and_every_shortcut(ready, qtbot, loop):
    window = ready.window
    qtbot.keyClick(window, Qt.Key.Key_Slash, Qt.KeyboardModifier.ControlModifier)
    shown = window.dialogs.help
    text = shown.page.toPlainText()
    assert shown.isVisible()
    assert "Command Palette" in text
    assert "Ctrl+K" in text
    for row in range(shown.list.count()):
        shown.list.setCurrentRow(row)
        assert len(shown.page.toPlainText()) > 300
        # The lines of a page are wrapped in its file, not where they are shown.
        assert "\u2028" not in shown.page.document().toRawText()
        assert shown.page.toPlainText().startswith(shown.list.item(row).text())
    shown.list.setCurrentRow(0)
    shown.page.link_asked.emit("models.md")
    assert shown.list.currentItem().text() == "Models"
    shown.page.link_asked.emit("https://example.com/")
    assert window.chat.notice.title.text() == "Open this link in your browser?"
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert shown.isHidden()


def test_the_licences_name_the_packages_that_sotto_needs(ready, qtbot, loop):
    ready.window.dialogs.show_help("licences")
    text = ready.window.dialogs.help.page.toPlainText()
    for name in ("mlx", "tokenizers", "qasync"):
        assert name in text


def test_a_report_for_a_bug_is_copied(ready, qtbot, loop, own_home):
    kind = type(ready.window.menus.stop)
    (copy,) = (action for action in ready.window.findChildren(kind) if action.text() == "Copy Report")
    copy.trigger()
    qtbot.waitUntil(lambda: ready.window.chat.notice.title.text() == "Report copied")
    text = QApplication.clipboard().text()
    assert text.startswith("Qt ")
    assert "Model tiny:latest (llama, int4)" in text
    # What `sotto doctor --report` prints.
    assert "\nmlx  " in text
    assert "\nDevice  " in text
    assert str(own_home) not in text


def test_the_text_of_a_licence_is_shown_and_left_again(ready, qtbot, loop):
    ready.window.dialogs.show_help("licences")
    shown = ready.window.dialogs.help
    number = next(number for number, part in enumerate(licences.parts()) if part.name.startswith("mlx "))
    shown.page.link_asked.emit(f"licence/{number}")
    assert "Permission is hereby granted, free of charge" in shown.page.toPlainText()
    shown.page.link_asked.emit("licences/list")
    assert "qasync" in shown.page.toPlainText()


def test_a_packed_program_shows_its_bill_of_materials(ready, qtbot, loop, tmp_path, monkeypatch):
    package = tmp_path / "_internal" / "sotto" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.touch()
    (tmp_path / "licences").mkdir()
    (tmp_path / "licences" / "MIT.txt").write_text("Do what you like.")
    component = {
        "type": "library",
        "name": "tokenizers",
        "version": "1",
        "licenses": [{"expression": "Apache-2.0"}],
        "properties": [{"name": "sotto:licence-text", "value": "licences/MIT.txt"}],
        "components": [
            {"type": "library", "name": "ahash", "version": "2", "licenses": [{"expression": "MIT"}]},
            {"type": "file", "name": "_internal/a.so"},
        ],
    }
    (tmp_path / "sbom.cdx.json").write_text(json.dumps({"components": [component]}))
    monkeypatch.setattr("sotto.__file__", str(package))
    licences.parts.cache_clear()
    try:
        ready.window.dialogs.show_help("licences")
        text = ready.window.dialogs.help.page.toPlainText()
        assert "ahash 2 (in tokenizers)" in text
        assert "a.so" not in text
        assert "LGPL" in text
        ready.window.dialogs.help.page.link_asked.emit("licence/0")
        assert "Do what you like." in ready.window.dialogs.help.page.toPlainText()
    finally:
        licences.parts.cache_clear()
