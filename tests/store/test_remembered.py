"""Models on an absent disk are still listed, and become present again with it."""

import os

import pytest

from sotto.store import discovery, remembered
from sotto.store.discovery import discover
from sotto.store.records import Source
from sotto.store.remembered import with_absent_models
from sotto.store.roots import Root, default_roots, may_disappear, root_devices
from stores import Store, fingerprint


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setattr(remembered.paths, "cache_dir", lambda: tmp_path / "cache")


@pytest.fixture
def disk(tmp_path):
    store = Store(tmp_path / "disk")
    store.model("one")
    store.model("two", fill=1)
    return tmp_path / "disk"


def presence_by_name(*roots):
    return {record.name: record.present for record in with_absent_models(discover(roots)).records}


def test_models_of_an_absent_disk_are_kept_and_come_back(disk, tmp_path):
    root = Root(Source.OLLAMA, disk, True)
    present = with_absent_models(discover([root])).records
    assert {record.name: record.present for record in present} == {"one:latest": True, "two:latest": True}
    disk.rename(tmp_path / "away")
    absent = with_absent_models(discover([root])).records
    assert {record.name: record.present for record in absent} == {"one:latest": False, "two:latest": False}
    assert [(record.digest, record.size, record.format, record.path) for record in absent] == [
        (record.digest, record.size, record.format, record.path) for record in present
    ]
    assert presence_by_name(root) == {"one:latest": False, "two:latest": False}
    (tmp_path / "away").rename(disk)
    assert presence_by_name(root) == {"one:latest": True, "two:latest": True}


def test_an_absent_default_folder_is_forgotten(disk, tmp_path):
    root = Root(Source.OLLAMA, disk, False)
    assert len(presence_by_name(root)) == 2
    disk.rename(tmp_path / "away")
    assert presence_by_name(root) == {}
    assert not may_disappear(root)


def test_a_link_to_an_absent_disk_is_remembered(disk, tmp_path):
    link = tmp_path / "models"
    link.symlink_to(disk)
    root = Root(Source.OLLAMA, link, False)
    assert may_disappear(root)
    assert len(presence_by_name(root)) == 2
    disk.rename(tmp_path / "away")
    assert set(presence_by_name(root).values()) == {False}


def test_an_empty_mount_point_is_not_an_empty_disk(disk, monkeypatch):
    root = Root(Source.FOLDER, disk, True)
    assert set(presence_by_name(root).values()) == {True}
    inside = {path: path.rename(disk.parent / path.name) for path in list(disk.iterdir())}
    monkeypatch.setattr(discovery, "device_of", lambda path: 4711)
    assert set(presence_by_name(root).values()) == {False}
    monkeypatch.undo()
    assert len(inside) == 2


def test_deleted_models_are_not_absent(disk):
    root = Root(Source.FOLDER, disk, True)
    assert len(presence_by_name(root)) == 2
    for path in (disk / "manifests").rglob("latest"):
        path.unlink()
    assert presence_by_name(root) == {}


def test_a_model_with_a_copy_elsewhere_is_present(disk, tmp_path):
    copy = Store(tmp_path / "copy")
    copy.model("one")
    roots = (Root(Source.OLLAMA, disk, True), Root(Source.OLLAMA, copy.root, True))
    assert len(presence_by_name(*roots)) == 2
    disk.rename(tmp_path / "away")
    assert presence_by_name(*roots) == {"one:latest": True, "two:latest": False}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1, "folders": {"/x": {"device": -1, "records": []}}}'])
def test_a_damaged_cache_file_is_ignored(disk, text):
    remembered.cache_file().parent.mkdir()
    remembered.cache_file().write_text(text)
    assert len(presence_by_name(Root(Source.OLLAMA, disk, True))) == 2


def test_nothing_is_written_where_models_are(disk, tmp_path):
    before = fingerprint(disk)
    presence_by_name(Root(Source.FOLDER, disk, True))
    assert fingerprint(disk) == before


def test_a_change_of_presence_is_detected(disk, tmp_path):
    roots = [Root(Source.OLLAMA, disk, True), Root(Source.OLLAMA, tmp_path / "never", False)]
    before = root_devices(roots)
    assert before == root_devices(roots) == discover(roots).devices
    disk.rename(tmp_path / "away")
    assert root_devices(roots) == discover(roots).devices == {disk: 0} != before
    assert root_devices(roots[1:]) == discover(roots[1:]).devices == {}


def test_a_link_may_vanish_while_models_are_listed(disk, tmp_path):
    link = tmp_path / "models"
    link.symlink_to(disk)
    listing = discover([Root(Source.OLLAMA, link, False)])
    link.unlink()
    assert len(with_absent_models(listing).records) == 2


def test_chosen_folders_are_searched_last(tmp_path, home):
    roots = default_roots({"HOME": str(home), "SOTTO_FOLDERS": "/a" + os.pathsep + "/b"}, ["/c", "/a"])
    assert [str(root.path) for root in roots[-3:]] == ["/a", "/b", "/c"]
    assert [root.variable for root in roots[-3:]] == ["SOTTO_FOLDERS", "SOTTO_FOLDERS", ""]
    assert all(root.missing_is_error for root in roots[-3:])
