"""Actions on models in the list, and models that appear and disappear."""

import shutil
import sys
import time
from itertools import count

import pytest
from PySide6.QtGui import QGuiApplication

from material import material
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.session.model_sources import StoreModels
from sotto.ui.state.model_state import Phase
from stores import Store, fingerprint


@pytest.fixture
def window(real_window, own_home):
    """Return the real window over the real stores of an otherwise empty home with an empty LM Studio folder."""
    (own_home / ".lmstudio" / "models").mkdir(parents=True)
    return real_window(EngineThread())


def names(window):
    return [row.record.name for row in window.sidebar.rows]


def test_new_models_are_listed_and_removed_ones_are_not(qtbot, window, loop, own_home):
    source, folder = material("stories260k"), own_home / ".lmstudio" / "models" / "somebody" / "stories"
    qtbot.waitUntil(lambda: bool(window.session.library.watch.watcher.directories()))
    before = names(window)
    shutil.copytree(source, folder)
    qtbot.waitUntil(lambda: "somebody/stories" in names(window), timeout=10_000)
    qtbot.waitUntil(lambda: str(folder) in window.session.library.watch.watcher.directories())
    shutil.rmtree(folder.parent)
    qtbot.waitUntil(lambda: names(window) == before, timeout=10_000)


def test_a_store_that_is_created_later_is_listed(qtbot, window, loop, own_home):
    watch = window.session.library.watch
    (own_home / ".cache").mkdir(exist_ok=True)
    (own_home / ".local").mkdir(exist_ok=True)
    ollamas = frozenset({own_home / ".ollama"})
    qtbot.waitUntil(lambda: watch.watched.awaited.get(own_home) == ollamas and not watch.settling, timeout=10_000)
    # Other new files in the home folder are ignored.
    with qtbot.waitSignal(watch.watcher.directoryChanged):
        (own_home / "notes.txt").touch()
    assert not watch.settling
    shutil.copytree(material("ollama-store"), own_home / ".ollama" / "models")
    qtbot.waitUntil(lambda: "stories260k:latest" in names(window), timeout=10_000)


def rows(window):
    return {row.record.name: row for row in window.sidebar.rows}


def test_a_folder_on_an_unplugged_disk_is_greyed_and_returns_within_two_seconds(
    qtbot, window, loop, own_home, preferences, tmp_path
):
    disk = tmp_path / "disk"
    shutil.copytree(material("stories260k"), disk / "stories")
    before = fingerprint(disk)
    window.models.add_folder(str(disk))
    assert preferences.values.folders == (str(disk),)
    qtbot.waitUntil(lambda: "stories" in rows(window), timeout=10_000)
    qtbot.waitUntil(lambda: bool(window.session.library.devices))
    disk.rename(tmp_path / "away")
    qtbot.waitUntil(lambda: not rows(window)["stories"].record.present, timeout=10_000)
    row = rows(window)["stories"]
    assert "Disk not connected" in row.accessibleName()
    assert row.reason == "Disk not connected"
    window.session.load(row.record)
    assert "disk that is not connected" in window.chat.notice.message.text()
    row.click()
    assert window.models.card.load.isHidden()
    qtbot.waitUntil(lambda: not window.session.library.searching)
    began = time.monotonic()
    (tmp_path / "away").rename(disk)
    qtbot.waitUntil(lambda: rows(window)["stories"].record.present, timeout=10_000)
    assert time.monotonic() - began <= 2.0
    assert fingerprint(disk) == before


def test_a_disk_that_was_gone_only_during_a_search_is_noticed(
    qtbot, window, loop, own_home, preferences, tmp_path, monkeypatch
):
    disk, away, library = tmp_path / "disk", tmp_path / "away", window.session.library
    shutil.copytree(material("stories260k"), disk / "stories")
    window.models.add_folder(str(disk))
    qtbot.waitUntil(lambda: "stories" in rows(window) and not library.searching and not library.watch.settling)
    search, searches, seen = StoreModels.find, count(), []

    def find(source, folders):
        if next(searches):
            return search(source, folders)
        disk.rename(away)
        try:
            return search(source, folders)
        finally:
            away.rename(disk)

    monkeypatch.setattr(StoreModels, "find", find)
    library.changed.connect(lambda models: seen.extend(each.present for each in models if each.name == "stories"))
    library.rescan()
    qtbot.waitUntil(lambda: seen[-2:] == [False, True])


def test_a_model_is_listed_once_with_all_its_places(qtbot, window, loop, own_home):
    source = material("stories260k")
    for folder in (own_home / ".lmstudio" / "models" / "somebody" / "stories", own_home / "extra" / "stories"):
        shutil.copytree(source, folder)
    window.models.add_folder(str(own_home / "extra"))
    qtbot.waitUntil(lambda: any(row.record.also for row in window.sidebar.rows), timeout=10_000)
    (row,) = [row for row in window.sidebar.rows if not row.record.builtin]
    row.click()
    pills = window.models.card.pills
    assert [pills.itemAt(number).widget().text() for number in range(2)] == ["LM Studio", "Folder"]


def test_two_hundred_models_are_listed_at_once(stage, qtbot, loop, own_home):
    store, panel = Store(own_home / ".ollama" / "models"), stage.window.models.panel
    # Count calls instead of measuring time: the work for each model must not grow with the number of models.
    listing, showing = {}, {}
    for number in range(200):
        store.model(f"m{number}", fill=number)
        if number in (49, 199):
            listed = StoreModels().find(()).records
            count = len(listed)
            listing[count] = calls(lambda: StoreModels().find(()))
            panel.show_models(())
            showing[count] = calls(lambda listed=listed: panel.show_models(listed))
            assert len(panel.rows) == count
    assert listing.keys() == showing.keys() == {51, 201}
    for done, max_calls in ((listing, 2000), (showing, 370)):
        assert (done[201] - done[51]) / 150 <= max_calls
        assert done[51] / 51 <= 1.2 * max_calls


def calls(act):
    """Return the number of function calls, including those to C functions."""
    count = 0

    def count_call(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(count_call)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def actions(menu):
    return {action.text(): action for action in menu.actions()}


def test_the_menu_of_a_model(stage, qtbot, loop):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    record = stage.session.library.models[0]
    menu = actions(stage.window.sidebar.models.menu_of(record))
    assert list(menu) == [
        *("Load", "Details", "Favourite", "Keep Loaded"),
        *("", "Copy Name", "Show Folder", "Verify Files", "Customize…", "Use a Template…"),
        # Its separator has the key of the one above.
        "Keep a Copy…",
    ]
    menu["Copy Name"].trigger()
    assert QGuiApplication.clipboard().text() == record.name
    menu["Load"].trigger()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    menu = actions(stage.window.sidebar.models.menu_of(record))
    assert "Load" not in menu
    notice = stage.window.chat.notice
    menu["Verify Files"].trigger()
    qtbot.waitUntil(lambda: notice.title.text() == "No damage found")
    assert stage.shelf.verified == [record]
    stage.shelf.damage = "blob sha256-1 is damaged."
    menu["Verify Files"].trigger()
    qtbot.waitUntil(lambda: notice.message.text() == "blob sha256-1 is damaged.")
    menu["Eject"].trigger()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.FOUND)


def test_the_files_of_the_built_in_model_are_good(qtbot, window, loop):
    menu = actions(window.sidebar.models.menu_of(window.session.state.record))
    assert "Show Folder" not in menu
    menu["Verify Files"].trigger()
    qtbot.waitUntil(lambda: window.chat.notice.title.text() == "No damage found", timeout=10_000)
