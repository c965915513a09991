"""Downloads in the real window with the real queue, from a registry on loopback with scripted failures."""

import itertools
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from pulling import HASTY, assert_complete, leftovers, name_at
from registry_server import corrupt, drop, large_model, serving, silent, status
from sotto.paths import data_dir
from sotto.store.pull.progress import PullState
from sotto.store.pull.queue import PullQueue
from sotto.ui.models.downloads import Downloads, _refusal
from sotto.ui.session.engine_thread import EngineThread

WAIT = 20_000


@pytest.fixture
def registry(tmp_path):
    """Yield a registry with one model of three tensors."""
    with serving(large_model(tmp_path / "registry")) as served:
        yield served


@pytest.fixture
def patience():
    """Return the short timeouts of the queue."""
    return HASTY


@pytest.fixture
def window(real_window, monkeypatch, patience):
    """Return the window with a queue that uses no TLS and has short timeouts."""

    def open_queue(tell):
        return PullQueue(data_dir() / "models", tell, judge=_refusal, insecure=True, patience=patience)

    monkeypatch.setattr("sotto.ui.models.downloads.open_queue", open_queue)
    return real_window(EngineThread())


class DownloadRecorder:
    """Records what was shown of one download, in order."""

    def __init__(self, window):
        self.window = window
        self.seen = []
        window.models.downloading.downloads.changed.connect(self._look)

    def _look(self, downloads):
        for row in self.window.models.panel.downloads.rows:
            self.seen.append((row.progress, row.status.text(), row.note.text() if row.note.isVisible() else ""))

    @property
    def bytes_never_decreased(self):
        done = [progress.done for progress, _, _ in self.seen]
        return all(before <= now for before, now in itertools.pairwise(done))


@pytest.fixture
def recorder(window):
    return DownloadRecorder(window)


def request_model(qtbot, window, registry):
    """Request the model in the way that a person does."""
    card = window.models.downloading.form
    window.models.downloading.open()
    qtbot.keyClicks(card.field, name_at(registry))
    qtbot.keyClick(card.field, Qt.Key.Key_Return)
    assert card.isHidden(), card.error.text()


def wait_until_arrived(qtbot, window, registry):
    """Wait until the model is listed and no download is, and check its files to the last byte."""
    shown = name_at(registry)
    qtbot.waitUntil(lambda: shown in [row.record.name for row in window.sidebar.rows], timeout=WAIT)
    # The list watches the disk and may show the model before the download is removed.
    qtbot.waitUntil(lambda: window.models.panel.downloads.rows == [], timeout=WAIT)
    assert_complete(data_dir() / "models", registry)


def row_of(window):
    (row,) = window.models.panel.downloads.rows
    return row


def test_a_model_is_requested_and_arrives(qtbot, window, loop, registry, recorder):
    # Slow the download down so that it can be observed.
    registry.pause = 0.1
    request_model(qtbot, window, registry)
    assert row_of(window).name.text() == "m"
    wait_until_arrived(qtbot, window, registry)
    assert recorder.bytes_never_decreased
    assert any(doing.endswith("left") for _, doing, _ in recorder.seen)
    assert all(note == "" for _, _, note in recorder.seen)
    assert window.chat.notice.title.text().endswith("/m is here")
    # No second row appears, and no download is shown any more.
    qtbot.wait(400)
    assert window.models.panel.downloads.rows == []


@pytest.mark.parametrize(
    "faults",
    [[drop(0.3), drop(0.3)], [status(403), status(503)], [corrupt]],
    ids=["dropped", "refused", "corrupt"],
)
def test_transient_failures_are_retried(qtbot, window, loop, registry, recorder, faults):
    registry.fail("/blobs/", *faults)
    request_model(qtbot, window, registry)
    wait_until_arrived(qtbot, window, registry)
    assert recorder.bytes_never_decreased


# Waits before the retries that are long enough to be shown between two updates of the window.
@pytest.mark.parametrize("patience", [replace(HASTY, first_wait=0.5, longest_wait=0.5)])
def test_a_stall_is_shown_and_cleared(qtbot, window, loop, registry, recorder):
    # What is requested again gets no byte, so that all files stall at the same time until the registry is released.
    registry.fail("/blobs/", *([silent(0.5)] * 3), *([silent(None)] * 40))
    registry.pause = 0.005
    request_model(qtbot, window, registry)
    qtbot.waitUntil(lambda: any(doing == "Stalled" for _, doing, _ in recorder.seen), timeout=WAIT)
    (note,) = {note for progress, _, note in recorder.seen if progress.state is PullState.STALLED}
    assert note.endswith(".")
    registry.forgive()
    registry.released.set()
    wait_until_arrived(qtbot, window, registry)
    assert recorder.bytes_never_decreased
    assert all(bool(note) == (doing in ("Stalled", "Retrying")) for _, doing, note in recorder.seen)


def test_an_unknown_model_fails_with_a_reason_and_can_be_retried(qtbot, window, loop, registry):
    registry.fail("/manifests/", *([status(404)] * 20))
    request_model(qtbot, window, registry)
    qtbot.waitUntil(lambda: row_of(window).status.text() == "Failed", timeout=WAIT)
    assert "m:latest" in row_of(window).note.text() or "/m" in row_of(window).note.text()
    assert row_of(window).note.text().endswith(".")
    registry.forgive()
    row_of(window).toggle.click()
    wait_until_arrived(qtbot, window, registry)


def test_a_paused_download_resumes_where_it_was(qtbot, window, loop, registry, recorder):
    registry.pause = 0.05
    request_model(qtbot, window, registry)
    qtbot.waitUntil(lambda: row_of(window).progress.done > 100_000, timeout=WAIT)
    row_of(window).toggle.click()
    qtbot.waitUntil(lambda: row_of(window).status.text() == "Paused", timeout=2000)
    received, request_count = row_of(window).progress.done, len(registry.requests)
    assert received > 0
    qtbot.wait(300)
    assert (row_of(window).progress.done, len(registry.requests)) == (received, request_count)
    registry.pause = 0.0
    row_of(window).toggle.click()
    wait_until_arrived(qtbot, window, registry)
    assert recorder.bytes_never_decreased
    assert any("range" in request.headers for request in registry.requests[request_count:])


def test_a_cancelled_download_leaves_nothing(qtbot, window, loop, registry, monkeypatch):
    monkeypatch.setattr("sotto.ui.models.downloads.UNDO_SECONDS", 0.1)
    registry.pause = 0.05
    request_model(qtbot, window, registry)
    qtbot.waitUntil(lambda: row_of(window).progress.done > 100_000, timeout=WAIT)
    row_of(window).cancel.click()
    assert window.models.panel.downloads.rows == []
    qtbot.waitUntil(lambda: leftovers(data_dir() / "models") == [], timeout=WAIT)
    qtbot.wait(300)
    assert window.models.panel.downloads.rows == []


def test_quitting_takes_less_than_a_second_and_the_next_start_resumes(
    qtbot, window, loop, registry, preferences, destroyed
):
    registry.pause = 0.05
    request_model(qtbot, window, registry)
    qtbot.waitUntil(lambda: row_of(window).progress.done > 100_000, timeout=WAIT)
    began = time.monotonic()
    window.models.close()
    assert time.monotonic() - began < 1
    registry.pause = 0.0
    again = Downloads(window.session, preferences)
    again.begin(window.dialogs.tasks)
    qtbot.waitUntil(lambda: [progress.state for progress in again.all] == [PullState.PAUSED])
    (left,) = again.all
    assert left.name == name_at(registry)
    assert 0 < left.done < left.total
    again.resume(left.name)
    qtbot.waitUntil(lambda: again.all == (), timeout=WAIT)
    again.close()
    assert_complete(data_dir() / "models", registry)
    destroyed(again)


APP = """
import sys, time
from PySide6.QtCore import QTimer
import sotto.ui.app.app as app
from sotto.paths import data_dir
from sotto.store.pull.queue import PullQueue
from sotto.ui.models import downloads
downloads.open_queue = lambda tell: PullQueue(data_dir() / "models", tell, insecure=True)
painted = app.show_window
def paint(window):
    painted(window)
    getting = window.models.downloading.downloads
    QTimer.singleShot(100, lambda: getting.add(sys.argv[1]))
    def look():
        if any(one.done > 100_000 for one in getting.all):
            close = getting.close
            def timed():
                began = time.monotonic()
                close()
                print(time.monotonic() - began < 1)
            getting.close = timed
            window.close()
        else:
            QTimer.singleShot(50, look)
    look()
app.show_window = paint
sys.exit(app.run())
"""


def test_the_app_quits_during_a_download_without_asking(registry, own_home):
    registry.pause = 0.05
    done = subprocess.run(
        [sys.executable, "-c", APP, name_at(registry)],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.returncode, done.stderr) == ("True\n", 0, "")
    (left,) = PullQueue(data_dir() / "models", lambda progress: None).unfinished()
    assert (left.name, left.state) == (name_at(registry), PullState.PAUSED)
    assert left.done > 100_000


def test_a_speed_limit_applies_at_once(qtbot, window, loop, registry, preferences):
    preferences.change(download_limit=10_000)
    request_model(qtbot, window, registry)
    qtbot.wait(1500)
    # This is far less than the 800 KB that would have arrived long ago without a limit.
    assert row_of(window).progress.done < 200_000
    preferences.change(download_limit=0)
    wait_until_arrived(qtbot, window, registry)
