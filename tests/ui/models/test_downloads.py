"""Downloads in the window: asking for a model, the rows of pending downloads, and how they end."""

import re
import threading
import time

import pytest
from PySide6.QtCore import Qt, QThread
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from scripted_loop import record
from sotto.store.gguf.gguf_config import _BUILDERS
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.records import Source
from sotto.store.sources.model_names import parse_name
from sotto.ui.models import download_controller, download_form
from sotto.ui.settings.engine_choices import parse_speed
from sotto.ui.settings.folders_page import FoldersPage
from sotto.ui.state.model_state import Phase

NAME = "llama3.2:3b"
TOTAL = 4_100_000_000


def part(state=PullState.DOWNLOADING, done=1_264_000_000, name=NAME, **changes):
    return PullProgress(name, state, done, TOTAL, **changes)


def rows(stage):
    return stage.window.models.panel.downloads.rows


def test_names_are_suggested_while_somebody_types(stage, qtbot, loop):
    own = record("mine", source=Source.SOTTO)
    form = stage.window.models.downloading.form
    stage.shelf.records = [own]
    stage.session.library.rescan()
    qtbot.waitUntil(lambda: own in stage.session.library.models)
    form.open()
    popup = form.field.completer().popup()
    qtbot.keyClicks(form.field, "3.2")
    qtbot.waitUntil(popup.isVisible)
    shown = popup.model()
    assert [shown.index(row, 0).data() for row in range(shown.rowCount())] == ["llama3.2:1b", "llama3.2:3b"]
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    assert form.field.text() == "llama3.2:3b"
    # Nothing is downloaded before it is asked for.
    qtbot.keyClick(popup, Qt.Key.Key_Escape)
    assert popup.isHidden()
    assert rows(stage) == []
    # What was downloaded before can be updated.
    form.field.clear()
    qtbot.keyClicks(form.field, "MIN")
    qtbot.waitUntil(popup.isVisible)
    assert [shown.index(row, 0).data() for row in range(shown.rowCount())] == ["mine"]
    form.close_card()
    popup.hide()


def test_only_families_that_run_here_are_suggested():
    """By the names of their GGUF architectures, as Ollama's library states them."""
    names = {"llama": "llama", "qwen2": "qwen2", "qwen": "qwen3", "gemma": "gemma2", "mistral": "llama", "phi": "phi3"}
    names |= {"granite": "granite", "olmo": "olmo2", "smollm": "llama", "qwen2.": "qwen2"}
    for name in download_form.SUGGESTED:
        family = max((prefix for prefix in names if name.startswith(prefix)), key=len)
        assert names[family] in _BUILDERS
        assert parse_name(name).model == name.partition(":")[0]


@pytest.fixture
def announced(monkeypatch):
    """Return a list that grows with what is announced to screen readers."""
    found = []
    monkeypatch.setattr(download_controller, "announce", lambda about, text: found.append(text))
    return found


@pytest.fixture
def report(stage, qtbot, loop):
    """Begin one download, and return a function that reports progress from the queue and waits until it is shown."""

    def tell(progress):
        # Report from a thread other than the window's, as the real queue does.
        reporter = threading.Thread(target=stage.queue.report, args=(progress,))
        reporter.start()
        reporter.join()
        if progress.state is PullState.DONE:
            qtbot.waitUntil(lambda: progress.name not in [row.progress.name for row in rows(stage)])
        else:
            qtbot.waitUntil(lambda: progress in [row.progress for row in rows(stage)])

    loop.starts.append(lambda: stage.window.models.downloading.downloads.add(NAME))
    return tell


def action(stage, text):
    (found,) = [action for action in stage.window.menus.actions() if action.text() == text]
    return found


# Asking


def test_a_name_is_typed_and_downloaded(stage, qtbot, loop, announced):
    card = stage.window.models.downloading.form
    action(stage, "Get a Model by Name…").trigger()
    assert card.isVisible()
    qtbot.waitUntil(card.field.hasFocus)
    assert not card.get.isEnabled()
    qtbot.keyClicks(card.field, "llama3.2:3b")
    assert card.origin.text() == "From Ollama’s library, at registry.ollama.ai."
    qtbot.keyClick(card.field, Qt.Key.Key_Return)
    assert card.isHidden()
    assert stage.window.chat.composer.draft.hasFocus()
    assert ("add", NAME) in stage.queue.commands
    assert [row.name.text() for row in rows(stage)] == [NAME]
    assert rows(stage)[0].isVisible()
    assert announced == ["llama3.2:3b is being downloaded."]
    assert card.field.text() == ""


@pytest.mark.parametrize("typed", ["two words", "a:", "../../etc/passwd", "x" * 700, "model:tag:tag"])
def test_an_invalid_name_is_refused_under_the_field(stage, qtbot, loop, monkeypatch, typed):
    announced = []
    monkeypatch.setattr(download_form, "announce", lambda about, text: announced.append(text))
    card = stage.window.models.downloading.form
    stage.window.models.downloading.open()
    card.field.setText(typed)
    # No error is shown while typing.
    assert card.error.isHidden()
    card.get.click()
    assert card.isVisible()
    assert card.error.isVisible()
    assert "is not a model name" in card.error.text()
    assert card.origin.isHidden()
    assert card.field.accessibleDescription() == card.error.text()
    assert card.field.hasFocus()
    assert announced == [card.error.text()]
    assert rows(stage) == []
    assert [what for what, _ in stage.queue.commands if what == "add"] == []
    qtbot.keyClick(card.field, Qt.Key.Key_A)
    assert card.error.isHidden()
    qtbot.keyClick(card.field, Qt.Key.Key_Escape)
    assert card.isHidden()


def test_the_focus_goes_back_to_the_button_that_it_came_from(stage, qtbot, loop):
    panel, card = stage.window.models.panel, stage.window.models.downloading.form
    panel.get.setFocus()
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
        stage.window.models.downloading.open()
        assert card.field.hasFocus()
        card.field.setText(NAME)
        qtbot.keyClick(card.field, key)
        assert card.isHidden()
        assert panel.get.hasFocus()


def test_a_shortcut_and_the_palette_open_the_card(stage, qtbot, loop):
    card = stage.window.models.downloading.form
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    held = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_D, held)
    assert card.isVisible()
    card.close_button.click()
    assert card.isHidden()
    stage.window.commands.open()
    palette = stage.window.commands.palette
    palette.field.setText("get a model by name")
    qtbot.waitUntil(lambda: bool(palette.results) and palette.results[0].title == "Get a Model by Name")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    qtbot.waitUntil(card.isVisible)
    # Like other cards, it closes when it loses the focus.
    stage.window.chat.composer.draft.setFocus()
    assert card.isHidden()


def test_a_name_requested_twice_is_downloaded_once(report, stage, loop):
    stage.window.models.downloading.downloads.add("library/llama3.2:3b")
    assert stage.queue.commands.count(("add", NAME)) == 1
    report(part(PullState.PAUSED))
    stage.window.models.downloading.downloads.add(NAME)
    assert stage.queue.commands[-1] == ("resume", NAME)
    assert len(rows(stage)) == 1


# What is shown


def test_a_row_shows_its_progress(report, stage, loop):
    (row,) = rows(stage)
    assert row.status.text() == "Queued"
    assert row.amounts.isHidden()
    report(part(speed=34_300_000.0, seconds_left=128.0))
    assert row.amounts.text() == "1.2 of 4.1 GB"
    assert row.percent.text() == "30 %"
    assert row.status.text() == "34 MB/s · 2 min left"
    assert row.bar.value() == 30
    assert row.note.isHidden()
    assert row.accessibleName() == "llama3.2:3b, Downloading, 1.2 of 4.1 GB, 30 %, 34 MB/s, 2 min left"
    assert row.toggle.accessibleName() == "Pause the download of llama3.2:3b"
    assert row.cancel.accessibleName() == "Cancel the download of llama3.2:3b"


def test_an_error_is_cleared_as_soon_as_it_is_over(report, stage, loop):
    (row,) = rows(stage)
    why = "Nothing has come for 15 s; trying again."
    report(part(PullState.STALLED, note=why))
    assert (row.status.text(), row.note.text()) == ("Stalled", why)
    assert row.note.isVisible()
    assert row.status.property("role") == "warn"
    assert "Stalled" in row.accessibleName()
    assert why.removesuffix(".") in row.accessibleName()
    report(part())
    assert row.note.isHidden()
    assert row.status.property("role") == "caption"
    assert "15 s" not in row.accessibleName()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("state", "tip", "asks"),
    [
        (PullState.WAITING, "Pause", "pause"),
        (PullState.CHECKING, "Pause", "pause"),
        (PullState.DOWNLOADING, "Pause", "pause"),
        (PullState.STALLED, "Pause", "pause"),
        (PullState.RETRYING, "Pause", "pause"),
        (PullState.VERIFYING, "Pause", "pause"),
        (PullState.PAUSED, "Resume", "resume"),
        (PullState.FAILED, "Try again", "resume"),
    ],
)
def test_one_button_pauses_and_resumes(report, stage, qtbot, loop, state, tip, asks):
    (row,) = rows(stage)
    report(part(state, done=7))
    assert row.toggle.toolTip() == tip
    assert f"the download of {NAME}" in row.toggle.accessibleName()
    row.toggle.setFocus()
    qtbot.keyClick(row.toggle, Qt.Key.Key_Space)
    assert stage.queue.commands[-1] == (asks, NAME)


def test_progress_reaches_the_windows_thread_a_few_times_a_second(stage, qtbot, loop):
    downloads = stage.window.models.downloading.downloads
    downloads.add(NAME)
    drawn = []
    downloads.changed.connect(lambda all_of_them: drawn.append((QThread.currentThread(), all_of_them[0].done)))

    def report_progress():
        for done in range(1, 2001):
            stage.queue.report(part(done=done))
            time.sleep(0.0005)

    began = time.monotonic()
    reporter = threading.Thread(target=report_progress)
    reporter.start()
    qtbot.waitUntil(lambda: bool(drawn) and drawn[-1][1] == 2000)
    took = time.monotonic() - began
    reporter.join()
    assert {thread for thread, _ in drawn} == {stage.window.thread()}
    assert len(drawn) <= 2 + 5 * took
    assert [done for _, done in drawn] == sorted(done for _, done in drawn)


def test_a_download_of_an_earlier_run_is_listed_as_paused(stage, qtbot, loop, announced):
    stage.queue.left = (part(PullState.PAUSED), part(PullState.PAUSED, name="other:1b"))
    stage.window.models.downloading.downloads.begin(stage.window.dialogs.tasks)
    qtbot.waitUntil(lambda: [row.progress.name for row in rows(stage)] == [NAME, "other:1b"])
    assert rows(stage)[0].status.text() == "Paused"
    assert announced == []
    rows(stage)[1].toggle.click()
    assert stage.queue.commands[-1] == ("resume", "other:1b")


def test_a_search_hides_no_download(report, stage, qtbot, loop):
    search = stage.window.sidebar.search
    search.setFocus()
    search.setText("mistral")
    assert rows(stage)[0].isVisible()
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert search.text() == ""
    assert QApplication.focusWidget() is search
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is stage.window.chat.composer.draft


# How it ends


def test_a_finished_download_is_replaced_by_its_model(report, stage, qtbot, loop, announced):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    report(part(PullState.VERIFYING, done=TOTAL))
    stage.shelf.records.append(record(NAME, source=Source.SOTTO))
    report(part(PullState.DONE, done=TOTAL))
    qtbot.waitUntil(lambda: NAME in [row.record.name for row in stage.window.sidebar.rows])
    assert not stage.window.models.panel.downloads.isVisible()
    assert announced[-1] == "llama3.2:3b is here. 4.1 GB were downloaded and checked."
    notice = stage.window.chat.notice
    assert notice.title.text() == "llama3.2:3b is here"
    assert notice.button.text() == "Load"
    notice.button.click()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY and stage.session.state.record.name == NAME)


def test_a_failure_gives_its_reason_once_and_can_be_retried(report, stage, loop, announced):
    why = "registry.ollama.ai has no model llama3.2:3b; look for its name there."
    report(part(PullState.FAILED, done=0, note=why))
    report(part(PullState.FAILED, done=1, note=why))
    (row,) = rows(stage)
    assert (row.status.text(), row.note.text()) == ("Failed", why)
    assert row.status.property("role") == "alert"
    assert announced[1:] == [f"llama3.2:3b could not be downloaded. {why}"]
    report(part(PullState.CHECKING, done=1))
    assert row.note.isHidden()


def test_an_existing_model_is_updated_and_not_downloaded(report, stage, qtbot, loop):
    stage.shelf.records.append(record(NAME, source=Source.SOTTO))
    stage.session.library.rescan()
    qtbot.waitUntil(lambda: NAME in [row.record.name for row in stage.window.sidebar.rows])
    report(part())
    (row,) = rows(stage)
    assert row.status.text() == "Updating"
    assert "ownloading" not in row.accessibleName()


def test_partial_files_are_deleted_some_time_after_a_cancel_unless_undone(report, stage, qtbot, loop, monkeypatch):
    monkeypatch.setattr("sotto.ui.models.downloads.UNDO_SECONDS", 0.2)
    report(part())
    rows(stage)[0].cancel.click()
    assert rows(stage) == []
    assert stage.queue.commands[-1] == ("pause", NAME)
    notice = stage.window.chat.notice
    assert notice.message.text() == "The 1.3 GB downloaded so far will be deleted in a moment."
    # Later reports from the queue do not bring the row back.
    stage.queue.report(part(PullState.PAUSED))
    notice.button.click()
    assert stage.queue.commands[-1] == ("resume", NAME)
    assert [row.progress.name for row in rows(stage)] == [NAME]
    qtbot.wait(300)
    assert ("cancel", NAME) not in stage.queue.commands
    rows(stage)[0].cancel.click()
    qtbot.waitUntil(lambda: stage.queue.commands[-1] == ("cancel", NAME))
    assert rows(stage) == []


def test_a_download_that_finishes_before_it_is_deleted_stays(report, stage, qtbot, loop):
    report(part(PullState.VERIFYING, done=TOTAL))
    rows(stage)[0].cancel.click()
    stage.queue.report(part(PullState.DONE, done=TOTAL))
    qtbot.waitUntil(lambda: stage.window.chat.notice.title.text() == "llama3.2:3b is here")
    stage.window.models.downloading.downloads.close()
    assert ("cancel", NAME) not in stage.queue.commands


def test_a_cancelled_download_can_be_requested_again(report, stage, loop):
    report(part(PullState.PAUSED))
    rows(stage)[0].cancel.click()
    stage.window.models.downloading.downloads.add(NAME)
    assert [row.progress.name for row in rows(stage)] == [NAME]
    assert stage.queue.commands[-1] == ("resume", NAME)


def test_files_that_cannot_be_deleted_are_reported(report, stage, loop):
    rows(stage)[0].cancel.click()
    assert rows(stage) == []
    why = "/models/staging cannot be written: make it writable."
    report(part(PullState.FAILED, done=0, note=why))
    assert rows(stage)[0].note.text() == why


def test_a_cancel_is_immediate_before_anything_was_downloaded(report, stage, qtbot, loop):
    rows(stage)[0].cancel.click()
    assert stage.queue.commands[-1] == ("cancel", NAME)
    assert stage.window.chat.notice.isHidden()
    stage.queue.report(part(PullState.CHECKING, done=0))
    qtbot.wait(300)
    assert rows(stage) == []


def test_the_focus_moves_on_from_a_row_that_disappears(report, stage, qtbot, loop):
    stage.window.models.downloading.downloads.add("other:1b")
    first, second = rows(stage)
    first.cancel.setFocus()
    qtbot.keyClick(first.cancel, Qt.Key.Key_Space)
    assert second.toggle.hasFocus()
    second.cancel.setFocus()
    qtbot.keyClick(second.cancel, Qt.Key.Key_Space)
    assert stage.window.models.panel.get.hasFocus()


def test_tab_goes_through_downloads_and_then_through_models(report, stage, qtbot, loop):
    qtbot.waitUntil(lambda: len(stage.window.sidebar.rows) == 2)
    stage.window.models.downloading.downloads.add("other:1b")
    panel = stage.window.models.panel
    first, second = rows(stage)
    panel.rescan.setFocus()
    for wanted in (first.toggle, first.cancel, second.toggle, second.cancel, *panel.rows):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is wanted
    reached = set()
    for _ in range(60):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.add(QApplication.focusWidget())
    assert {panel.get, panel.sort, stage.window.chat.composer.draft} <= reached


# Speed


def test_a_speed_limit_applies_at_once(stage, qtbot, loop):
    qtbot.waitUntil(lambda: stage.queue.commands == [("limit", None)])
    stage.window.dialogs.show_settings("folders")
    page = stage.window.dialogs.settings.page(FoldersPage)
    page.speed.setText("5 MB/s")
    page.speed.editingFinished.emit()
    assert stage.window.preferences.values.download_limit == 5_000_000
    assert stage.queue.commands[-1] == ("limit", 5_000_000)
    assert page.speed.text() == "5.0 MB/s"
    page.speed.setText("soon")
    page.speed.editingFinished.emit()
    assert stage.window.preferences.values.download_limit == 5_000_000
    page.speed.setText("")
    page.speed.editingFinished.emit()
    assert stage.queue.commands[-1] == ("limit", None)


def test_the_speed_limit_applies_from_the_start(stage, preferences, loop):
    preferences.change(download_limit=1_000_000)
    stage.window.models.downloading.downloads.add(NAME)
    assert ("limit", 1_000_000) in stage.queue.commands


@pytest.mark.parametrize(("typed", "meant"), [("", 0), ("0", 0), ("5M", 5_000_000), ("1,5 MB/s", 1_500_000)])
def test_typed_speeds_are_parsed(typed, meant):
    assert parse_speed(typed) == meant


@pytest.mark.parametrize("typed", ["5", "fast", "-1M", "9 PB"])
def test_an_invalid_speed_is_refused(stage, loop, typed):
    stage.window.dialogs.show_settings("folders")
    page = stage.window.dialogs.settings.page(FoldersPage)
    refused = []
    page.speed.refused.connect(refused.append)
    page.speed.setText(typed)
    page.speed.editingFinished.emit()
    assert len(refused) == 1
    assert re.fullmatch(r"(A|The) speed .*\.", refused[0])
    assert stage.window.preferences.values.download_limit == 0


# Closing the window and ending the app


def test_downloads_continue_when_the_window_is_closed_and_the_tray_reports_them(around, qtbot, loop, monkeypatch):
    messages = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", lambda: True)
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda self, *words: messages.append(words[:2]))
    around.shell.tray.try_to_show()
    around.shell.open_window()
    around.shell.window.models.downloading.downloads.add(NAME)
    around.shell.window.close()
    assert ("close", None) not in around.queue.commands
    around.queue.report(part(PullState.DONE, done=TOTAL))
    qtbot.waitUntil(lambda: messages[-1] == ("llama3.2:3b is here", "4.1 GB were downloaded and checked."))


def test_quitting_closes_the_queue_and_deletes_cancelled_downloads(around, qtbot, loop):
    around.shell.open_window()
    downloads = around.shell.window.models.downloading.downloads
    downloads.add(NAME)
    around.queue.report(part())
    qtbot.waitUntil(lambda: downloads.all[0].done > 0)
    downloads.cancel(NAME)
    around.shell.close()
    assert around.queue.commands[-2:] == [("cancel", NAME), ("close", None)]
    around.queue.report(part())
    qtbot.wait(50)
    assert downloads.all == ()
