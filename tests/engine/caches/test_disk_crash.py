"""Killed writers and full disks: they leave complete entries or none, and no other files."""

import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from disk_entries import FREE, arrays, folder_of, head, matches, names, path_of, start_child
from sotto.engine.caches.disk_tier import DiskTier

MUCH = 1 << 30
ROWS = 1 << 18


def reopen(root):
    """Open what a killed process left, check that all of it is intact, and return the heads."""
    tier = DiskTier(root, "key", MUCH, FREE)
    heads = [stored.head for stored in tier.entries()]
    for entry_head in heads:
        assert matches(tier.load(entry_head.id), entry_head, ROWS)
    tier.close()
    assert names(root) == sorted(f"{entry_head.id}.safetensors" for entry_head in heads)
    return heads


ENDLESS = """
root, parent, number = pathlib.Path(sys.argv[1]), None, int(sys.argv[2])
tier = DiskTier(root, "key", 1 << 40, FREE)
while True:
    number += 1
    parent = head([number], parent)
    while not tier.put(parent, arrays(parent, 1 << 18)):
        pass
    tier.flush()
    tier.drain()
    print(number, flush=True)
"""


def test_a_writer_that_is_killed_again_and_again(tmp_path):
    left_over, written = 0, 0
    # At least eight times, and until one was killed in the middle of a file, which depends on the machine's load.
    for number in range(80):
        if left_over and number >= 8:
            break
        with start_child(ENDLESS, tmp_path, 1000 * number) as writer:
            for _ in range(1 + number % 3):
                writer.stdout.readline()
            try:
                writer.wait(0.004 * (number % 8))
            except subprocess.TimeoutExpired:
                writer.kill()
            assert writer.wait() == -signal.SIGKILL
        left_over += any(name.endswith(".partial") for name in names(tmp_path))
        heads = reopen(tmp_path)
        assert len(heads) > written
        written = len(heads)
    assert left_over, "none was killed in the middle of a file"


# Dies right before or after the given call of a function, counting calls once the first entry is written.
AT_CALL = """
root, where, when, count = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
first = head([1]); second = head([2], first)
tier = DiskTier(root, "key", 1 << 40, dataclasses.replace(FREE, index_delay=3600.0))
tier.put(first, arrays(first, 1 << 18)); tier.flush(); tier.drain()
module = pathlib.Path if where == "replace" else os
real, calls = getattr(module, where), []
def dies(*args, **kwargs):
    calls.append(0)
    if len(calls) == count and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*args, **kwargs)
    if len(calls) == count:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(module, where, dies)
tier.put(second, arrays(second, 1 << 18)); tier.flush()
"""


@pytest.mark.parametrize(
    ("where", "when", "count", "whole"),
    [
        ("open", "before", 1, False),
        ("open", "after", 1, False),
        ("write", "after", 1, False),
        ("write", "after", 3, False),
        ("write", "before", 6, False),
        ("fsync", "before", 1, False),
        ("fsync", "after", 1, False),
        ("replace", "before", 1, False),
        ("replace", "after", 1, True),
        ("fsync", "before", 2, True),
    ],
)
def test_a_writer_that_is_killed_at_each_step(tmp_path, where, when, count, whole):
    with start_child(AT_CALL, tmp_path, where, when, count) as writer:
        assert writer.wait() == -signal.SIGKILL
    first = head([1])
    assert reopen(tmp_path) == ([first, head([2], first)] if whole else [first])


# Stops in the middle of its file until it gets a line of input.
STOPS = """
real, calls = os.write, []
def stops(file, data):
    calls.append(0)
    if len(calls) == 2:
        print("writing", flush=True); sys.stdin.readline()
    return real(file, data)
os.write = stops
only = head([1])
tier = DiskTier(pathlib.Path(sys.argv[1]), "key", 1 << 40, FREE)
tier.put(only, arrays(only, 1 << 18)); tier.flush(); print([done.ok for done in tier.drain()], flush=True)
tier.close()
"""


def test_what_a_living_process_is_writing_is_left_to_it(tmp_path):
    with start_child(STOPS, tmp_path) as writer:
        assert writer.stdout.readline() == "writing\n"
        for root in ("key", "another key"):
            tier = DiskTier(tmp_path, root, MUCH, FREE)
            assert tier.entries() == []
            tier.close()
        assert [name.endswith(".partial") for name in names(tmp_path)] == [True]
        writer.stdin.write("\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "[True]\n"
        assert writer.wait() == 0
    assert reopen(tmp_path) == [head([1])]


def test_what_a_killed_process_was_writing_is_removed_by_a_tier_of_another_key(tmp_path):
    with start_child(STOPS, tmp_path) as writer:
        assert writer.stdout.readline() == "writing\n"
        writer.kill()
    DiskTier(tmp_path, "another key", MUCH, FREE).close()
    assert not folder_of(tmp_path).exists()


def test_wiping_meanwhile_ends_what_another_process_is_writing(tmp_path):
    with start_child(STOPS, tmp_path) as writer:
        assert writer.stdout.readline() == "writing\n"
        tier = DiskTier(tmp_path, "key", MUCH, FREE)
        assert tier.wipe()
        writer.stdin.write("\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "[False]\n"
        assert writer.wait() == 0
        assert tier.usage().entries == 0
        tier.close()
    assert not folder_of(tmp_path).exists()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 8 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs an administrator")
    yield folder
    # Lazily, because one of its files may still be open after a failure.
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_fills_up_while_an_entry_is_written(small_disk):
    # The negative reserve keeps the tier from noticing in advance that there is no room.
    tier = DiskTier(small_disk, "key", MUCH, replace(FREE, reserve=-MUCH))
    first = head([1])
    second, third = head([2], first), head([3])
    assert tier.put(first, arrays(first, ROWS))
    assert tier.put(second, arrays(second, 8 * ROWS))
    assert tier.flush(30)
    results = tier.drain()
    assert [result.ok for result in results] == [True, False]
    assert results[1].message == f"{path_of(small_disk, second)} cannot be written: No space left on device."
    assert names(small_disk) == [f"{first.id}.safetensors"]
    assert matches(tier.load(first.id), first, ROWS)
    # There is room again, because the unfinished file was removed.
    assert tier.put(third, arrays(third, ROWS))
    tier.close()
    assert [result.ok for result in tier.drain()] == [True]


def test_a_disk_that_others_fill_gets_room_from_old_entries(small_disk):
    tier = DiskTier(small_disk, "key", MUCH, replace(FREE, reserve=1 << 20))
    heads = [head([number]) for number in range(6)]
    for entry_head in heads[:5]:
        assert tier.put(entry_head, arrays(entry_head, ROWS // 2))
        assert tier.flush(30)
    assert all(result.ok for result in tier.drain())
    Path(small_disk, "others").write_bytes(bytes(2 << 20))
    assert tier.put(heads[5], arrays(heads[5], ROWS // 2))
    tier.flush(30)
    assert all(result.ok for result in tier.drain())
    kept = [stored.head for stored in tier.entries()]
    assert kept == heads[6 - len(kept) :]
    assert os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize >= 1 << 20
    tier.close()


def test_a_folder_that_is_removed_meanwhile_is_created_again(tmp_path):
    first = head([1])
    second = head([2], first)
    tier = DiskTier(tmp_path / "root", "key", MUCH, FREE)
    assert tier.put(first, arrays(first))
    assert tier.flush(30)
    shutil.rmtree(tmp_path / "root")
    assert tier.load(first.id) is None
    for entry_head in (second, first):
        assert tier.put(entry_head, arrays(entry_head))
    assert tier.flush(30)
    assert [result.ok for result in tier.drain()] == [True] * 3
    assert matches(tier.load(first.id), first)
    tier.close()
    tier = DiskTier(tmp_path / "root", "key", MUCH, FREE)
    assert [stored.head for stored in tier.entries()] == [first, second]
    tier.close()


def test_an_entry_beyond_the_limit_on_file_sizes_is_not_written(tmp_path):
    code = """
import resource
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
first = head([1]); second = head([2])
tier = DiskTier(pathlib.Path(sys.argv[1]), "key", 1 << 40, FREE)
for each, rows in ((first, 1 << 18), (second, 1 << 20)):
    print(tier.put(each, arrays(each, rows)), tier.flush(30), [done.ok for done in tier.drain()])
print(matches(tier.load(first.id), first, 1 << 18))
tier.close()
"""
    with start_child(code, tmp_path) as writer:
        output, _ = writer.communicate()
    assert output.splitlines() == ["True True [True]", "True True [False]", "True"]
    assert names(tmp_path) == [f"{head([1]).id}.safetensors"]
