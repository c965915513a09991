"""Making files of other programs ours: as a clone or link where that is possible, else as a copy, with a digest."""

import hashlib
import os
import resource
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from sotto.errors import BrokenModelError
from sotto.store.upkeep import linking
from sotto.store.upkeep.linking import Sharing, take
from stores import assert_sentence

CONTENT = os.urandom((3 << 20) + 5)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def take_whole(source, target):
    """Make a file ours, and return how."""
    counts = []
    digest, how = take(source, target, counts.append)
    assert digest == DIGEST
    assert sum(counts) == len(CONTENT)
    assert target.read_bytes() == CONTENT
    return how


def test_a_file_on_the_same_disk_takes_no_more_room(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    free = os.statvfs(tmp_path)
    how = take_whole(source, tmp_path / "target")
    assert source.samefile(tmp_path / "target") == (how is Sharing.LINKED)
    # A clone has one name only, but shares the bytes.
    assert how is Sharing.LINKED or os.statvfs(tmp_path).f_bfree > free.f_bfree - len(CONTENT) // free.f_frsize // 2


def test_a_link_to_a_file_is_followed(tmp_path):
    (tmp_path / "source").write_bytes(CONTENT)
    (tmp_path / "link").symlink_to("source")
    take_whole(tmp_path / "link", tmp_path / "target")
    assert not (tmp_path / "target").is_symlink()


def test_a_file_on_another_disk_is_copied(tmp_path):
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system at /dev/shm")
    with tempfile.NamedTemporaryFile(dir=other) as source:
        source.write(CONTENT)
        source.flush()
        assert take_whole(Path(source.name), tmp_path / "target") is Sharing.COPIED
        assert (tmp_path / "target").stat().st_nlink == 1


@pytest.mark.parametrize("linked", [True, False])
def test_a_file_that_changes_meanwhile_is_not_taken(tmp_path, monkeypatch, request, linked):
    if linked:
        monkeypatch.setattr(linking, "_clone", lambda source, target: False)
    else:
        request.getfixturevalue("no_links")
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(CONTENT)

    def change(count):
        with source.open("ab") as file:
            file.write(b"more")

    with pytest.raises(BrokenModelError) as raised:
        take(source, target, change)
    assert_sentence(raised.value.message, source)
    assert not target.exists()


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_only_regular_files_are_taken(tmp_path, kind):
    source = tmp_path / "source"
    if kind == "folder":
        source.mkdir()
    elif kind == "pipe":
        os.mkfifo(source)
    with pytest.raises(BrokenModelError) as raised:
        take(source, tmp_path / "target", lambda count: None)
    assert_sentence(raised.value.message, source)
    assert not (tmp_path / "target").exists()


def test_a_copy_can_be_read_by_all_and_the_mode_of_a_linked_file_stays(tmp_path, monkeypatch, request):
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    source.chmod(0o600)
    take_whole(source, tmp_path / "shared")
    assert source.stat().st_mode & 0o777 == 0o600
    request.getfixturevalue("no_links")
    assert take_whole(source, tmp_path / "copied") is Sharing.COPIED
    assert (tmp_path / "copied").stat().st_mode & 0o777 == 0o644


@contextmanager
def little_room():
    """Let files have 5000 bytes, as if the disk were full then."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("size", [6000, len(CONTENT)])
def test_a_full_disk_is_no_fault_of_the_source(tmp_path, no_links, size):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(CONTENT[:size])
    with little_room(), pytest.raises(OSError, match="File too large"):
        take(source, target, lambda count: None)
    assert not target.exists()
