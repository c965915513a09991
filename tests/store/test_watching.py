import os

import pytest

from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.watching import WatchedFolders, watched_folders


def roots(*paths):
    return [Root(Source.FOLDER, path, False) for path in paths]


def test_folders_of_names_are_watched_and_those_of_weights_are_not(tmp_path):
    for path in ("manifests/registry/library/qwen", "blobs/deep", "models--a--b/snapshots/1", "models--a--b/blobs"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "file").write_text("")
    found = [path.relative_to(tmp_path).as_posix() for path in watched_folders(roots(tmp_path)).folders]
    assert found[0] == "."
    assert set(found) == {
        *(".", "manifests", "manifests/registry", "manifests/registry/library", "manifests/registry/library/qwen"),
        *("models--a--b", "models--a--b/snapshots", "models--a--b/snapshots/1"),
    }


def test_for_what_is_not_there_the_folder_above_is_watched_and_none_beside_it(tmp_path):
    (tmp_path / "beside" / "deep").mkdir(parents=True)
    assert watched_folders(roots(tmp_path / "models")) == WatchedFolders((tmp_path,))


def test_what_is_not_there_is_awaited_where_its_path_goes_on_in_the_home(tmp_path, home):
    one, other = home / ".one" / "models", home / ".cache" / "other" / "hub"
    assert watched_folders(roots(one, other, tmp_path / "no" / "home")) == WatchedFolders(
        (), {home: frozenset({home / ".one", home / ".cache"})}
    )
    other.parent.parent.mkdir()
    assert watched_folders(roots(one, other)).awaited == {
        home: frozenset({home / ".one"}),
        home / ".cache": frozenset({home / ".cache" / "other"}),
    }
    # The home folder itself changes for other reasons.
    assert watched_folders(roots(one, home / "models")) == WatchedFolders((home,), {})


def test_there_are_not_too_many_and_none_behind_a_link(tmp_path):
    for number in range(1200):
        (tmp_path / str(number)).mkdir()
    assert len(watched_folders(roots(tmp_path)).folders) == 1000
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "up").symlink_to(tmp_path)
    assert watched_folders(roots(tmp_path / "links")).folders == (tmp_path / "links",)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to this user")
def test_what_cannot_be_seen_is_left_out(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    assert watched_folders(roots(tmp_path)).folders == (tmp_path,)
