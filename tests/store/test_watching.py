import os

import pytest

from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.watching import WatchedFolders, watched_folders


def roots(*paths):
    return [Root(Source.FOLDER, path, False) for path in paths]


def test_folders_with_names_are_watched_and_those_with_weights_are_not(tmp_path):
    for path in ("manifests/registry/library/qwen", "blobs/deep", "models--a--b/snapshots/1", "models--a--b/blobs"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "file").write_text("")
    found = [path.relative_to(tmp_path).as_posix() for path in watched_folders(roots(tmp_path)).folders]
    assert found[0] == "."
    assert set(found) == {
        *(".", "manifests", "manifests/registry", "manifests/registry/library", "manifests/registry/library/qwen"),
        *("models--a--b", "models--a--b/snapshots", "models--a--b/snapshots/1"),
    }


def test_for_a_missing_root_only_the_folder_above_is_watched(tmp_path):
    (tmp_path / "beside" / "deep").mkdir(parents=True)
    assert watched_folders(roots(tmp_path / "models")) == WatchedFolders((tmp_path,))


def test_a_missing_root_in_the_home_is_awaited_in_its_parents(tmp_path, home):
    first, second = home / ".one" / "models", home / ".cache" / "other" / "hub"
    assert watched_folders(roots(first, second, tmp_path / "no" / "home")) == WatchedFolders(
        (), {home: frozenset({home / ".one", home / ".cache"})}
    )
    second.parent.parent.mkdir()
    assert watched_folders(roots(first, second)).awaited == {
        home: frozenset({home / ".one"}),
        home / ".cache": frozenset({home / ".cache" / "other"}),
    }
    # For a missing root directly in the home folder, the whole home folder is watched.
    assert watched_folders(roots(first, home / "models")) == WatchedFolders((home,), {})


def test_watched_folders_are_limited_and_links_are_not_followed(tmp_path):
    for number in range(1200):
        (tmp_path / str(number)).mkdir()
    assert len(watched_folders(roots(tmp_path)).folders) == 1000
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "up").symlink_to(tmp_path)
    assert watched_folders(roots(tmp_path / "links")).folders == (tmp_path / "links",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_unreadable_folders_are_left_out(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    assert watched_folders(roots(tmp_path)).folders == (tmp_path,)
