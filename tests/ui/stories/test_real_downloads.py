"""Downloads in the real window, by the real queue, from a registry on loopback that fails as it is told to."""

import itertools
import os
import subprocess
import sys
import time

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
    """A registry with one model of three tensors."""
    with serving(large_model(tmp_path / "registry")) as served:
        yield served


@pytest.fixture
def window(real_window, monkeypatch):
    """The window, whose queue speaks without TLS and has little patience."""

    def open_queue(tell):
        return PullQueue(data_dir() / "models", tell, judge=_refusal, insecure=True, patience=HASTY)

    monkeypatch.setattr("sotto.ui.models.downloads.open_queue", open_queue)
    return real_window(EngineThread())


class Watch:
    """What was to be seen of one download, in order."""

    def __init__(self, window):
        self.window = window
        self.seen = []
        window.models.downloading.downloads.changed.connect(self._look)

    def _look(self, downloads):
        for row in self.window.models.panel.downloads.rows:
            self.seen.append((row.progress, row.status.text(), row.note.text() if row.note.isVisible() else ""))

    @property
    def bytes_never_fell(self):
        done = [progress.done for progress, _, _ in self.seen]
        return all(before <= now for before, now in itertools.pairwise(done))


@pytest.fixture
def watch(window):
    return Watch(window)


def get(qtbot, window, registry):
    """Ask for the model in the way that a person does."""
    card = window.models.downloading.form
    qtbot.mouseClick(window.models.panel.get, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(card.field, name_at(registry))
    qtbot.keyClick(card.field, Qt.Key.Key_Return)
    assert card.isHidden(), card.error.text()


def arrived(qtbot, window, registry):
    """Wait until the list has the model and no download, and check it to the last byte."""
    shown = name_at(registry)
    qtbot.waitUntil(lambda: shown in [row.record.name for row in window.sidebar.rows], timeout=WAIT)
    # The list looks after the disk by itself, and may be the first to know.
    qtbot.waitUntil(lambda: window.models.panel.downloads.rows == [], timeout=WAIT)
    assert_complete(data_dir() / "models", registry)


def row_of(window):
    (row,) = window.models.panel.downloads.rows
    return row


def test_a_model_is_asked_for_and_arrives(qtbot, window, loop, registry, watch):
    # Slow enough that it can be watched.
    registry.pause = 0.1
    get(qtbot, window, registry)
    assert row_of(window).name.text() == "m"
    arrived(qtbot, window, registry)
    assert watch.bytes_never_fell
    assert any(doing.endswith("left") for _, doing, _ in watch.seen)
    assert all(note == "" for _, _, note in watch.seen)
    assert window.chat.notice.title.text().endswith("/m is here")
    # No second row, and nothing is said of a download any more.
    qtbot.wait(400)
    assert window.models.panel.downloads.rows == []


@pytest.mark.parametrize(
    "faults",
    [[drop(0.3), drop(0.3)], [status(403), status(503)], [corrupt]],
    ids=["dropped", "refused", "corrupt"],
)
def test_what_goes_wrong_once_goes_right_by_itself(qtbot, window, loop, registry, watch, faults):
    registry.fail("/blobs/", *faults)
    get(qtbot, window, registry)
    arrived(qtbot, window, registry)
    assert watch.bytes_never_fell


def test_a_stall_is_said_and_forgotten(qtbot, window, loop, registry, watch):
    registry.fail("/blobs/", *([silent(0.5)] * 5))
    registry.pause = 0.005
    get(qtbot, window, registry)
    qtbot.waitUntil(lambda: any(doing == "Stalled" for _, doing, _ in watch.seen), timeout=WAIT)
    (note,) = {note for progress, _, note in watch.seen if progress.state is PullState.STALLED}
    assert note.endswith(".")
    registry.forgive()
    registry.released.set()
    arrived(qtbot, window, registry)
    assert watch.bytes_never_fell
    assert all(bool(note) == (doing in ("Stalled", "Trying again")) for _, doing, note in watch.seen)


def test_a_name_that_nobody_has_fails_in_a_sentence_and_can_be_tried_again(qtbot, window, loop, registry):
    registry.fail("/manifests/", *([status(404)] * 20))
    get(qtbot, window, registry)
    qtbot.waitUntil(lambda: row_of(window).status.text() == "Failed", timeout=WAIT)
    assert "m:latest" in row_of(window).note.text() or "/m" in row_of(window).note.text()
    assert row_of(window).note.text().endswith(".")
    registry.forgive()
    row_of(window).toggle.click()
    arrived(qtbot, window, registry)


def test_it_rests_and_goes_on_where_it_was(qtbot, window, loop, registry, watch):
    registry.pause = 0.05
    get(qtbot, window, registry)
    qtbot.waitUntil(lambda: row_of(window).progress.done > 100_000, timeout=WAIT)
    row_of(window).toggle.click()
    qtbot.waitUntil(lambda: row_of(window).status.text() == "Paused", timeout=2000)
    here, asked = row_of(window).progress.done, len(registry.requests)
    assert here > 0
    qtbot.wait(300)
    assert (row_of(window).progress.done, len(registry.requests)) == (here, asked)
    registry.pause = 0.0
    row_of(window).toggle.click()
    arrived(qtbot, window, registry)
    assert watch.bytes_never_fell
    assert any("range" in one.headers for one in registry.requests[asked:])


def test_what_is_given_up_leaves_nothing(qtbot, window, loop, registry, monkeypatch):
    monkeypatch.setattr("sotto.ui.models.downloads.UNDO_SECONDS", 0.1)
    registry.pause = 0.05
    get(qtbot, window, registry)
    qtbot.waitUntil(lambda: row_of(window).progress.done > 100_000, timeout=WAIT)
    row_of(window).cancel.click()
    assert window.models.panel.downloads.rows == []
    qtbot.waitUntil(lambda: leftovers(data_dir() / "models") == [], timeout=WAIT)
    qtbot.wait(300)
    assert window.models.panel.downloads.rows == []


def test_quitting_takes_less_than_a_second_and_the_next_start_goes_on(
    qtbot, window, loop, registry, preferences, destroyed
):
    registry.pause = 0.05
    get(qtbot, window, registry)
    qtbot.waitUntil(lambda: row_of(window).progress.done > 100_000, timeout=WAIT)
    began = time.monotonic()
    window.models.close()
    assert time.monotonic() - began < 1
    registry.pause = 0.0
    again = Downloads(window.session, preferences)
    again.begin(window.dialogs.tasks)
    qtbot.waitUntil(lambda: [one.state for one in again.all] == [PullState.PAUSED])
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


def test_the_app_ends_in_the_middle_of_a_download_without_a_question(registry, own_home):
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


def test_a_limit_holds_at_once(qtbot, window, loop, registry, preferences):
    preferences.change(download_limit=10_000)
    get(qtbot, window, registry)
    qtbot.wait(1500)
    # Far less than the 800 KB that would be here long ago.
    assert row_of(window).progress.done < 200_000
    preferences.change(download_limit=0)
    arrived(qtbot, window, registry)
