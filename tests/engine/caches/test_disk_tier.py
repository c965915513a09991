"""The disk tier as its callers use it, with real files."""

import logging
import os
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disk_entries import FREE, arrays, folder_of, head, matches, names, path_of, start_child, write_entry
from sotto.engine.caches.disk_budget import Usage, usage
from sotto.engine.caches.disk_tier import Bounds, DiskTier
from thoroughness import examples

MUCH = 1 << 30


@pytest.fixture
def tier_at():
    opened = []

    def make(root, key="key", budget=MUCH, bounds=FREE, **more):
        opened.append(DiskTier(root, key, budget, bounds, **more))
        return opened[-1]

    yield make
    for tier in opened:
        tier.close()


def put(tier, *heads, rows=3):
    """Put entries, wait until they are written, and return the results."""
    for entry_head in heads:
        assert tier.put(entry_head, arrays(entry_head, rows))
    assert tier.flush(30)
    return tier.drain()


def known(tier):
    return [stored.head for stored in tier.entries()]


def chain(*tokens):
    """Return heads, each of which continues the previous one."""
    heads = [head(tokens[0])]
    for ids in tokens[1:]:
        heads.append(head(ids, heads[-1]))
    return heads


def test_entries_outlive_the_tier(tmp_path, tier_at):
    heads = chain([1, 2], [3], [4, 5, 6])
    tier = tier_at(tmp_path)
    results = put(tier, *heads)
    assert [(result.id, result.ok, result.message) for result in results] == [(head.id, True, "") for head in heads]
    for _ in range(2):
        assert known(tier) == heads
        assert all(tier.has(head.id) and matches(tier.load(head.id), head) for head in heads)
        assert tier.load("0" * 32) is None
        assert not tier.has("0" * 32)
        tier.close()
        assert (known(tier), tier.load(heads[0].id), tier.has(heads[0].id)) == ([], None, False)
        assert not tier.put(heads[0], arrays(heads[0]))
        tier = tier_at(tmp_path)


def test_only_the_user_may_read_entries(tmp_path, tier_at):
    only = head([1])
    put(tier_at(tmp_path / "root"), only)
    assert path_of(tmp_path / "root", only).stat().st_mode & 0o777 == 0o600
    assert folder_of(tmp_path / "root").stat().st_mode & 0o777 == 0o700


def test_another_key_sees_nothing(tmp_path, tier_at):
    only = head([1])
    put(tier_at(tmp_path), only)
    other = tier_at(tmp_path, "another key")
    assert (known(other), other.load(only.id), other.has(only.id)) == ([], None, False)
    assert other.usage().entries == 1


def test_buffers_are_only_freed_on_the_thread_that_drains_them(tmp_path, tier_at):
    freed_on = []

    class Buffer(bytearray):
        def __del__(self):
            freed_on.append(threading.current_thread())

    ready = threading.Event()
    tier = tier_at(tmp_path, notify=ready.set)
    for number in range(5):
        assert tier.put(head([number]), {"a": ("U8", (1 << 20,), Buffer(1 << 20))})
    assert ready.wait(30)
    assert tier.flush(30)
    assert freed_on == []
    assert len(tier.drain()) == 5
    assert freed_on == [threading.main_thread()] * 5
    assert tier.drain() == []


def test_buffers_of_failed_writes_are_only_freed_on_the_thread_that_drains_them(tmp_path, tier_at, monkeypatch):
    freed_on = []

    class Buffer(bytearray):
        def __del__(self):
            freed_on.append(threading.current_thread())

    def full(file):
        raise OSError(28, "No space left on device")

    tier = tier_at(tmp_path)
    assert tier.flush(30)
    monkeypatch.setattr(os, "fsync", full)
    assert tier.put(head([1]), {"a": ("U8", (10,), Buffer(10))})
    assert tier.flush(30)
    assert freed_on == []
    assert [result.ok for result in tier.drain()] == [False]
    assert freed_on == [threading.main_thread()]


def test_the_bytes_that_may_wait_include_those_not_yet_drained(tmp_path, tier_at):
    first, second = head([1]), head([2])
    tier = tier_at(tmp_path, bounds=replace(FREE, queue=12_000))
    assert tier.put(first, arrays(first, 1000))
    assert not tier.put(second, arrays(second, 1000))
    assert tier.flush(30)
    assert not tier.put(second, arrays(second, 1000))
    assert [result.id for result in tier.drain()] == [first.id]
    assert put(tier, second, rows=1000)[0].ok
    assert known(tier) == [first, second]


def test_an_entry_on_disk_is_only_written_again_on_request(tmp_path, tier_at):
    only = head([1])
    tier = tier_at(tmp_path)
    put(tier, only)
    path = path_of(tmp_path, only)
    before = path.stat()
    assert put(tier, only)[0].ok
    after = path.stat()
    assert after.st_ino == before.st_ino
    assert after.st_mtime_ns > before.st_mtime_ns, "it is marked as used"
    noted = replace_note(only, "with states")
    assert tier.put(noted, arrays(noted, 5), replace=True)
    assert tier.flush(30)
    assert tier.drain()[0].ok
    assert matches(tier.load(only.id), noted, 5)
    assert known(tier) == [noted]
    tier.close()
    assert known(tier_at(tmp_path)) == [noted]


def replace_note(of, note):
    return type(of)(of.start, of.end, of.tokens, of.parent, note)


def test_reading_marks_an_entry_as_used(tmp_path, tier_at):
    only = head([1])
    tier = tier_at(tmp_path)
    put(tier, only)
    os.utime(path_of(tmp_path, only), (1, 1))
    assert tier.load(only.id) is not None
    assert path_of(tmp_path, only).stat().st_mtime > 10**9


def test_discarding_an_entry_discards_its_descendants(tmp_path, tier_at):
    heads = chain([1], [2], [3])
    other = head([9], heads[0])
    tier = tier_at(tmp_path)
    put(tier, *heads, other)
    tier.discard([heads[1].id, "0" * 32])
    assert known(tier) == [heads[0], other]
    assert names(tmp_path) == sorted(f"{kept.id}.safetensors" for kept in (heads[0], other))


def test_the_descendants_of_a_vanished_entry_are_removed(tmp_path, tier_at):
    heads = chain([1], [2], [3])
    tier = tier_at(tmp_path)
    put(tier, *heads)
    path_of(tmp_path, heads[1]).unlink()
    assert tier.load(heads[1].id) is None
    assert known(tier) == heads[:1]
    assert names(tmp_path) == [f"{heads[0].id}.safetensors"]


def test_an_entry_that_cannot_be_read_stays_but_is_not_used(tmp_path, tier_at, monkeypatch, caplog):
    only = head([1])
    tier = tier_at(tmp_path)
    put(tier, only)

    def broken(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "preadv", broken)
    assert tier.load(only.id) is None
    monkeypatch.undo()
    assert not tier.has(only.id)
    assert str(path_of(tmp_path, only)) in caplog.text
    tier.close()
    assert matches(tier_at(tmp_path).load(only.id), only)


def test_entries_without_a_parent_are_removed_when_the_folder_is_opened(tmp_path, tier_at):
    heads = chain([1], [2], [3])
    for entry_head in heads:
        write_entry(tmp_path, entry_head)
    path_of(tmp_path, heads[1]).unlink()
    assert known(tier_at(tmp_path)) == heads[:1]
    assert names(tmp_path) == [f"{heads[0].id}.safetensors"]


def test_entries_may_be_put_before_their_parents(tmp_path, tier_at):
    heads = chain([1], [2], [3])
    tier = tier_at(tmp_path)
    assert all(result.ok for result in put(tier, *reversed(heads)))
    # A second tier that opens the folder now keeps entries without parents, which the first may be about to put.
    second = head([7], head([6]))
    put(tier, second)
    assert known(tier_at(tmp_path)) == heads
    assert tier.has(second.id)
    assert path_of(tmp_path, second).exists()


def test_foreign_files_are_removed_and_foreign_folders_left_alone(tmp_path, tier_at, caplog):
    folder = folder_of(tmp_path)
    folder.mkdir()
    for name in ("notes.txt", ".hidden", "x.safetensors", "0" * 32, "0" * 31 + "G.safetensors", "a.1.2.partial"):
        (folder / name).write_bytes(b"?")
    (folder / "inside").mkdir()
    (folder / "inside" / "file").write_bytes(b"?")
    (tmp_path / "beside.txt").write_bytes(b"?")
    (tmp_path / "not a key").mkdir()
    (tmp_path / "not a key" / "file").write_bytes(b"?")
    tier = tier_at(tmp_path)
    assert names(tmp_path) == ["inside"]
    assert "notes.txt" in caplog.text
    assert tier.flush(30)
    tier.wipe()
    assert (folder / "inside" / "file").exists()
    assert (tmp_path / "beside.txt").exists()
    assert (tmp_path / "not a key" / "file").exists()


def test_leftovers_in_other_folders_are_removed(tmp_path, tier_at):
    only = head([1])
    kept = write_entry(tmp_path, only, key="second")
    leftover = kept.with_name("a.1.2.partial")
    leftover.write_bytes(b"?")
    empty = folder_of(tmp_path, "third")
    empty.mkdir()
    (empty / "a.1.2.partial").write_bytes(b"?")
    tier = tier_at(tmp_path)
    tier.close()
    assert (kept.exists(), leftover.exists(), empty.exists()) == (True, False, False)
    assert not folder_of(tmp_path).exists(), "a folder without entries goes with its tier"


def test_the_index_is_used_but_not_needed(tmp_path, tier_at, monkeypatch):
    heads = chain([1], [2, 3], [4])
    tier = tier_at(tmp_path)
    put(tier, *heads)
    tier.close()
    index = folder_of(tmp_path) / "index"
    whole = index.read_bytes()

    def reopen():
        """Return whether all entries are found, and how many files had to be opened for that."""
        tier = tier_at(tmp_path)
        found, read = known(tier), opened.copy()
        tier.close()
        opened.clear()
        return found == heads, len(read)

    opened = []
    from sotto.engine.caches import disk_folder

    real = disk_folder.read_head
    monkeypatch.setattr(disk_folder, "read_head", lambda *args: opened.append(args) or real(*args))
    assert reopen() == (True, 0)
    index.unlink()
    assert reopen() == (True, 3)
    assert reopen() == (True, 0), "the index was written again"
    for at in range(0, len(whole), 7):
        index.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert reopen() == (True, 3)
    index.write_bytes(whole[:-1])
    assert reopen() == (True, 3)
    # An index without the last entry, and one with an entry that is no longer there.
    tier = tier_at(tmp_path)
    more = head([5], heads[-1])
    put(tier, more)
    tier.close()
    heads.append(more)
    full = index.read_bytes()
    index.write_bytes(whole)
    assert reopen() == (True, 1)
    index.write_bytes(full)
    path_of(tmp_path, heads.pop()).unlink()
    assert reopen() == (True, 0)


def test_the_index_is_written_after_a_while(tmp_path, tier_at):
    tier = tier_at(tmp_path)
    put(tier, head([1]))
    index = folder_of(tmp_path) / "index"
    for _ in range(600):
        if index.exists():
            break
        threading.Event().wait(0.05)
    assert index.exists()


def test_a_budget_of_zero_keeps_nothing(tmp_path, tier_at):
    root = tmp_path / "root"
    tier = tier_at(root, budget=0)
    only = head([1])
    assert not tier.active
    assert not tier.put(only, arrays(only))
    assert (tier.load(only.id), tier.entries(), tier.drain(), tier.has(only.id)) == (None, [], [], False)
    assert tier.usage() == Usage(0, 0)
    assert tier.flush()
    assert not root.exists()
    tier.set_budget(MUCH)
    assert tier.active
    assert put(tier, only)[0].ok
    tier.set_budget(0)
    assert (tier.active, tier.load(only.id), tier.usage()) == (False, None, Usage(0, 0))
    assert not tier.put(only, arrays(only))
    tier.set_budget(MUCH)
    assert put(tier, only)[0].ok
    tier.close()
    assert usage(root).entries == 1
    tier_at(root, budget=0)
    assert usage(root) == Usage(0, 0)


def test_wiping_removes_everything_and_the_tier_still_works(tmp_path, tier_at):
    first, second, third = head([1]), head([2]), head([3])
    other = tier_at(tmp_path, "another key")
    put(other, first)
    tier = tier_at(tmp_path)
    put(tier, first)
    write_entry(tmp_path, third, key="of no one")
    assert tier.usage().entries == 3
    # One large entry is being written and another waits.
    assert tier.put(second, arrays(second, 8 << 20))
    assert tier.put(third, arrays(third, 1 << 20))
    assert tier.wipe()
    assert tier.flush(30)
    assert {result.id for result in tier.drain()} == {second.id, third.id}
    assert (known(tier), tier.load(first.id), other.load(first.id)) == ([], None, None)
    assert tier.usage().entries == 0
    assert names(tmp_path) == []
    assert put(tier, first)[0].ok
    assert matches(tier.load(first.id), first)


def test_wiping_right_before_an_entry_is_renamed(tmp_path, tier_at, monkeypatch):
    tier, only = tier_at(tmp_path), head([1])
    assert tier.flush(30)
    real, written, wiped = os.fsync, threading.Event(), threading.Event()

    def wait_for_wipe(file):
        written.set()
        assert wiped.wait(30)
        real(file)

    monkeypatch.setattr(os, "fsync", wait_for_wipe)
    assert tier.put(only, arrays(only))
    assert written.wait(30)
    assert tier.wipe()
    wiped.set()
    assert tier.flush(30)
    assert [done.ok for done in tier.drain()] == [False]
    assert (known(tier), names(tmp_path)) == ([], [])
    monkeypatch.undo()
    assert put(tier, only)[0].ok


def test_closing_writes_what_is_queued_within_the_timeout(tmp_path, tier_at):
    heads = chain([1], [2], [3])
    tier = tier_at(tmp_path)
    for entry_head in heads:
        assert tier.put(entry_head, arrays(entry_head, 1 << 20))
    tier.close()
    assert [result.ok for result in tier.drain()] == [True] * 3
    late = chain([7], [8])
    tier = tier_at(tmp_path)
    for entry_head in late:
        assert tier.put(entry_head, arrays(entry_head, 16 << 20))
    tier.close(timeout=0)
    tier.close()
    results = tier.drain()
    assert [result.id for result in results] == [entry_head.id for entry_head in late]
    assert not results[1].ok
    assert results[1].message
    tier = tier_at(tmp_path)
    written = late[: sum(result.ok for result in results)]
    assert known(tier) == [heads[0], *written, *heads[1:]] or known(tier) == heads
    assert not any(name.endswith(".partial") for name in names(tmp_path))


@pytest.mark.parametrize("place", ["a file", "a file/below", "locked"])
def test_an_unusable_folder_makes_the_tier_inactive(tmp_path, tier_at, place, caplog):
    (tmp_path / "a file").write_bytes(b"")
    if place == "locked":
        root = tmp_path / "root"
        folder_of(root).mkdir(parents=True)
        (folder_of(root) / "lock").mkdir()
    else:
        root = tmp_path / place
    tier = tier_at(root)
    assert not tier.active
    assert not tier.put(head([1]), arrays(head([1])))
    assert str(root) in caplog.text
    assert tier.flush()


def test_a_disk_that_fails_is_left_alone_for_a_while(tmp_path, tier_at, monkeypatch, caplog):
    first, second, third = head([1]), head([2]), head([3])
    caplog.set_level(logging.WARNING)
    tier = tier_at(tmp_path, bounds=replace(FREE, pause=3600.0))
    put(tier, first)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert tier.put(second, arrays(second))
    assert tier.put(third, arrays(third)) in (True, False)
    assert tier.flush(30)
    monkeypatch.undo()
    results = tier.drain()
    assert not any(result.ok for result in results)
    assert "No space left on device" in results[0].message
    assert str(path_of(tmp_path, second)) in results[0].message
    assert names(tmp_path) == [f"{first.id}.safetensors"]
    assert not tier.put(second, arrays(second))
    assert matches(tier.load(first.id), first), "reading goes on"
    assert sum("cannot be written" in record.getMessage() for record in caplog.records) == 1


def test_the_reserve_on_the_disk_stays_free(tmp_path, tier_at):
    tier = tier_at(tmp_path, bounds=Bounds(reserve=1 << 60))
    results = put(tier, head([1]))
    assert [(result.ok, "no room" in result.message) for result in results] == [(False, True)]
    assert tier.usage().entries == 0
    assert tier.put(head([1]), arrays(head([1]))), "a lack of room does not count as a failed write"


def test_two_processes_share_a_folder(tmp_path, tier_at):
    first, second, third = chain([1], [2], [3])
    tier = tier_at(tmp_path)
    put(tier, first)
    other = start_child(
        "first = head([1]); second = head([2], first)\n"
        "tier = DiskTier(pathlib.Path(sys.argv[1]), 'key', 1 << 30, FREE)\n"
        "print(matches(tier.load(first.id), first), flush=True)\n"
        "tier.put(second, arrays(second)); tier.flush(); print([done.ok for done in tier.drain()], flush=True)\n"
        "sys.stdin.readline(); tier.close(); print('closed', flush=True)",
        tmp_path,
    )
    with other:
        assert other.stdout.readline() == "True\n"
        assert other.stdout.readline() == "[True]\n"
        inode = path_of(tmp_path, second).stat().st_ino
        # This tier does not know the other's entry, but does not write it again.
        assert all(result.ok for result in put(tier, second, third))
        assert path_of(tmp_path, second).stat().st_ino == inode
        assert known(tier) == [first, second, third]
        assert matches(tier.load(second.id), second)
        other.stdin.write("\n")
        other.stdin.flush()
        assert other.stdout.readline() == "closed\n"
    assert tier.usage().entries == 3
    tier.close()
    assert known(tier_at(tmp_path)) == [first, second, third]


@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "put", "load", "discard", "reopen"]), st.integers(0, 30)),
        max_size=25,
    )
)
@examples(25)
def test_the_tier_knows_its_entries_after_any_steps(tmp_path_factory, steps):
    """Compare the tier with a set of heads. Entries are nodes of a binary tree, so that they share prefixes."""
    root = tmp_path_factory.mktemp("root")

    def node(number):
        return head([number % 2, number], node((number - 1) // 2) if number > 2 else None)

    def under(number):
        return [other for other in range(31) if number in ancestry(other)]

    def ancestry(number):
        return [number, *(ancestry((number - 1) // 2) if number > 2 else [])]

    present = set()
    tier = DiskTier(root, "key", MUCH, FREE)
    for step, number in steps:
        if step == "put":
            assert put(tier, node(number))[0].ok
            present.add(number)
        elif step == "load":
            found = tier.load(node(number).id)
            assert (found is not None) == (number in present)
            assert found is None or matches(found, node(number))
        elif step == "discard" and number in present:
            tier.discard([node(number).id])
            # Descendants stay if an entry between is missing, because the tier cannot know that they are descendants.
            present -= {
                other for other in under(number) if set(ancestry(other)[: ancestry(other).index(number)]) <= present
            }
        elif step == "reopen":
            tier.close()
            tier = DiskTier(root, "key", MUCH, FREE)
            present = {number for number in present if set(ancestry(number)) <= present}
        assert {stored.head.id for stored in tier.entries()} == {node(number).id for number in present}
    tier.close()
    assert usage(root).entries == len(present)
