"""Taking over whole files: as a link where that is possible, else as a copy, and with the digest of their bytes."""

import hashlib
import os
import tempfile
from pathlib import Path

import pytest

from sotto.errors import BrokenModelError
from sotto.store.importing.sharing import take_over
from stores import assert_sentence

CONTENT = os.urandom((3 << 20) + 5)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def take(source, target):
    counts = []
    assert take_over(source, target, counts.append) == DIGEST
    assert sum(counts) == len(CONTENT)
    assert target.read_bytes() == CONTENT


def test_a_file_on_the_same_disk_takes_no_more_room(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    free = os.statvfs(tmp_path)
    take(source, tmp_path / "target")
    # A clone has one name only, but shares the bytes.
    linked = source.samefile(tmp_path / "target")
    assert linked or os.statvfs(tmp_path).f_bfree > free.f_bfree - len(CONTENT) // free.f_frsize // 2


def test_a_link_to_a_file_is_followed(tmp_path):
    (tmp_path / "source").write_bytes(CONTENT)
    (tmp_path / "link").symlink_to("source")
    take(tmp_path / "link", tmp_path / "target")
    assert not (tmp_path / "target").is_symlink()


def test_a_file_on_another_disk_is_copied(tmp_path):
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system at /dev/shm")
    with tempfile.NamedTemporaryFile(dir=other) as source:
        source.write(CONTENT)
        source.flush()
        take(Path(source.name), tmp_path / "target")
        assert (tmp_path / "target").stat().st_nlink == 1


def test_a_file_that_changes_meanwhile_is_not_taken_over(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(CONTENT)

    def change(count):
        with source.open("ab") as file:
            file.write(b"more")

    with pytest.raises(BrokenModelError) as raised:
        take_over(source, target, change)
    assert_sentence(raised.value.message, source)
    assert not target.exists()
