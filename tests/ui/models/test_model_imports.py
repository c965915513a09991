"""Importing in the window: the sheet, what it predicts, the rows of imports, and how they end."""

import json
import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest

from drags import data_of, drop_on, enter
from sotto.store.records import Source
from sotto.ui.models.model_imports import running_imports
from sotto.ui.models.model_imports.import_job import ImportJob, JobState
from sotto.ui.models.model_imports.import_list import ImportList
from sotto.ui.models.model_imports.import_sheet import ImportSheet, suggested_name
from sotto.ui.session.engine_thread import EngineThread
from tiny_random import write_model


@pytest.fixture
def window(real_window):
    return real_window(EngineThread())


@pytest.fixture
def folder(tmp_path):
    return write_model(tmp_path / "Tiny Model", "plain")


def open_sheet(window, qtbot, folder):
    """Drop a folder on the page of models, and return the sheet once it knows the size."""
    window.models.open_page()
    qtbot.waitUntil(window.models.page.isVisible)
    drop_on(window, data_of(QUrl.fromLocalFile(str(folder))))
    (sheet,) = [sheet for sheet in window.findChildren(ImportSheet) if sheet.isVisible()]
    qtbot.waitUntil(lambda: "on the disk" in sheet.outcome.text() or sheet.outcome.property("role") == "error")
    return sheet


def rows(window):
    return window.models.panel.findChild(ImportList).rows


def own_names(window):
    return [record.name for record in window.session.library.models if record.source is Source.SOTTO]


@pytest.mark.parametrize(
    ("path", "quantization", "name"),
    [
        ("/a/Qwen3-0.6B", "", "qwen3-0.6b"),
        ("/a/Qwen3-0.6B", "int4", "qwen3-0.6b:int4"),
        ("/a/SmolLM2-135M-Instruct.Q4_1.gguf", "", "smollm2-135m-instruct.q4_1"),
        ("/a/Mein Modell (neu)", "int8", "mein-modell-neu:int8"),
        ("/a/模型", "", "model"),
    ],
)
def test_names_are_suggested(path, quantization, name):
    assert suggested_name(Path(path), quantization) == name


def test_a_dropped_folder_is_quantized_imported_and_measured(window, qtbot, loop, folder):
    offers = []
    window.models.offered.connect(lambda *offer: offers.append(offer))
    window.models.open_page()
    qtbot.waitUntil(window.models.page.isVisible)
    assert enter(window, data_of(QUrl.fromLocalFile(str(folder))))
    assert window.overlay.title.text() == "Drop to import this model"
    sheet = open_sheet(window, qtbot, folder)
    assert window.overlay.isHidden()
    assert sheet.windowModality() is Qt.WindowModality.WindowModal
    qtbot.waitUntil(sheet.field.hasFocus)
    assert sheet.field.text() == "tiny-model"
    assert not sheet.measure.isEnabled()
    plain = sheet._size
    sheet.choose("mxfp4")
    qtbot.waitUntil(lambda: 0 < sheet._size < plain)
    assert sheet.field.text() == "tiny-model:mxfp4"
    sheet.measure.setChecked(True)
    QTest.keyClick(sheet, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(offers), timeout=60_000)
    assert own_names(window) == [] or own_names(window) == ["tiny-model:mxfp4"]
    qtbot.waitUntil(lambda: own_names(window) == ["tiny-model:mxfp4"])
    title, message, label, act, _ = offers[0]
    assert (title, label) == ("tiny-model:mxfp4 is here", "Load")
    assert "KL divergence" in message
    assert rows(window) == []
    act()
    qtbot.waitUntil(lambda: window.session.state.record.name == "tiny-model:mxfp4" and window.session.state.loaded)


def test_what_cannot_be_imported_is_said_in_the_sheet(window, qtbot, loop, folder, tmp_path):
    (folder / "model.safetensors").unlink()
    sheet = open_sheet(window, qtbot, folder)
    assert sheet.outcome.property("role") == "error"
    assert not sheet.accept_button.isEnabled()
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    assert sheet.isHidden()


def test_names_that_are_taken_or_invalid_are_refused(window, qtbot, loop, folder):
    sheet = open_sheet(window, qtbot, folder)
    assert sheet.accept_button.isEnabled()
    for text in ("a b", ""):
        sheet.field.setText(text)
        assert not sheet.accept_button.isEnabled()
    sheet.field.setText("mine")
    sheet.accept_button.click()
    qtbot.waitUntil(lambda: own_names(window) == ["mine:latest"], timeout=60_000)
    again = open_sheet(window, qtbot, folder)
    again.field.setText("mine")
    assert again.error.text() == "There is a model mine already; choose another name."
    assert not again.accept_button.isEnabled()
    again.reject()


def test_a_folder_can_be_used_where_it_is(window, qtbot, loop, folder):
    sheet = open_sheet(window, qtbot, folder)
    sheet.in_place.click()
    qtbot.waitUntil(lambda: window.session.state.record.path == folder and window.session.state.loaded)
    assert own_names(window) == []


def test_imports_are_stopped_resumed_and_cancelled(window, qtbot, loop, folder, monkeypatch, own_home):
    """A thread that is told to stop at once leaves an import that can be resumed."""
    imports = window.models.importing.imports
    real = running_imports._work

    def stopped(job, run, report):
        run.stop.set()
        real(job, run, report)

    monkeypatch.setattr(running_imports, "_work", stopped)
    imports.start(ImportJob("tiny", folder, "mxfp8"))
    qtbot.waitUntil(lambda: [row.job.state for row in rows(window)] == [JobState.PAUSED])
    (row,) = rows(window)
    assert row.isVisible()
    assert row.status.text().startswith("Paused")
    assert row.accessibleName().startswith("tiny, Paused")
    # As the next start would find it.
    (staging,) = own_home.rglob("staging")
    (note,) = staging.rglob("source")
    assert json.loads(note.read_text())["quantization"] == "mxfp8"
    (found,) = running_imports._unfinished()
    assert (found.name, found.source, found.quantization) == ("tiny:latest", folder, "mxfp8")
    assert found.state is JobState.PAUSED
    monkeypatch.setattr(running_imports, "_work", real)
    row.toggle.click()
    qtbot.waitUntil(lambda: own_names(window) == ["tiny:latest"], timeout=60_000)
    assert rows(window) == []
    monkeypatch.setattr(running_imports, "_work", stopped)
    imports.start(ImportJob("other", folder, "mxfp8"))
    qtbot.waitUntil(lambda: [row.job.state for row in rows(window)] == [JobState.PAUSED])
    rows(window)[0].cancel.click()
    assert rows(window) == []
    # Unlike `rglob`, this goes on if a folder vanishes meanwhile.
    qtbot.waitUntil(lambda: not any("source" in files for _, _, files in os.walk(staging)))


def test_a_failed_import_says_why(window, qtbot, loop, folder):
    (folder / "config.json").write_text("{}")
    window.models.importing.imports.start(ImportJob("tiny", folder))
    qtbot.waitUntil(lambda: [row.job.state for row in rows(window)] == [JobState.FAILED])
    (row,) = rows(window)
    assert row.note.text()
    assert row.toggle.accessibleName() == "Resume the import of tiny"
