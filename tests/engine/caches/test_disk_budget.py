"""Eviction from a full disk tier, compared with a simple model: the least recently used leaf goes first."""

import os
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from disk_entries import FREE, arrays, folder_of, head, matches, path_of, write_entry
from sotto.engine.caches.disk_budget import Budget, Usage, tidy, usage, wipe
from sotto.engine.caches.disk_tier import DiskTier
from thoroughness import examples

KEYS = ("key", "another key")


@st.composite
def forests(draw):
    """Entries of two keys, each with its key, its parent's index or None, its rows, and when it was last used."""
    size = draw(st.integers(1, 12))
    ages = draw(st.permutations(range(size)))
    entries = []
    for index in range(size):
        key = draw(st.sampled_from(KEYS))
        above = [number for number in range(index) if entries[number][0] == key]
        parent = draw(st.sampled_from([None, *above]))
        entries.append((key, parent, draw(st.integers(1, 400)), 1000 + ages[index]))
    return entries


def write_forest(root, forest):
    """Write a forest's entries and return their heads and paths."""
    heads, paths, tokens = [], [], count()
    for key, parent, rows, used in forest:
        heads.append(head([next(tokens)], heads[parent] if parent is not None else None))
        paths.append(write_entry(root, heads[-1], rows, key))
        os.utime(paths[-1], (used, used))
    return heads, paths


def expected(forest, sizes, stays, excess):
    """Return the indices that are kept when `excess` bytes must go."""
    kept = set(range(len(forest)))
    while excess > 0:
        leaves = [index for index in kept - stays if not any(forest[other][1] == index for other in kept)]
        if not leaves:
            break
        oldest = min(leaves, key=lambda index: forest[index][3])
        kept.remove(oldest)
        excess -= sizes[oldest]
    return kept, excess <= 0


@given(forests(), st.data())
@examples(60)
def test_the_oldest_leaves_go_first(tmp_path_factory, forest, data):
    root = tmp_path_factory.mktemp("root")
    heads, paths = write_forest(root, forest)
    sizes = [path.stat().st_size for path in paths]
    own = folder_of(root)
    own.mkdir(exist_ok=True)
    limit = data.draw(st.integers(0, sum(sizes) + 1000))
    needed = data.draw(st.sampled_from([0, 1, 700, 5000]))
    mine = [index for index, (key, *_) in enumerate(forest) if key == "key"]
    parent = data.draw(st.sampled_from([None, *mine]))
    stays, above = set(), parent
    while above is not None:
        stays.add(above)
        above = forest[above][1]
    kept, fits = expected(forest, sizes, stays, sum(sizes) + needed - limit)
    if needed and not fits:
        kept = set(range(len(forest)))
    evicted = []
    budget = Budget(own, limit, 0, evicted.append)
    assert budget.make_room(needed, heads[parent].id if parent is not None else "") == fits
    assert {index for index, path in enumerate(paths) if path.exists()} == kept
    assert sorted(evicted) == sorted(heads[index].id for index in set(mine) - kept)
    assert usage(root) == Usage(sum(sizes[index] for index in kept), len(kept))


@given(forests())
@examples(20)
def test_wiping_and_tidying(tmp_path_factory, forest):
    root = tmp_path_factory.mktemp("root")
    _, paths = write_forest(root, forest)
    tidy(root, folder_of(root))
    assert all(path.exists() for path in paths)
    assert wipe(root)
    assert list(root.iterdir()) == []
    assert wipe(root)
    assert usage(root / "nowhere") == Usage(0, 0)
    assert wipe(root / "nowhere")


def fill(tier, *heads, rows=1000):
    """Put entries one after the other and return whether each was written."""
    for entry_head in heads:
        assert tier.put(entry_head, arrays(entry_head, rows))
        assert tier.flush(30)
    return [result.ok for result in tier.drain()]


def kept(tier):
    return [stored.head for stored in tier.entries()]


def test_a_full_tier_evicts_the_least_recently_used_entries(tmp_path):
    first, second, third, fourth = (head([number]) for number in range(4))
    size = write_entry(tmp_path, first, 1000).stat().st_size
    tier = DiskTier(tmp_path, "key", 3 * size + size // 2, FREE)
    assert fill(tier, first, second, third) == [True] * 3
    assert matches(tier.load(first.id), first, 1000)
    assert fill(tier, fourth) == [True]
    assert kept(tier) == [first, third, fourth]
    assert not tier.has(second.id)
    assert tier.usage().nbytes <= 3 * size + size // 2
    tier.set_budget(2 * size)
    assert len(kept(tier)) == 1
    assert tier.usage().nbytes <= 2 * size
    tier.close()


def test_the_ancestors_of_a_new_entry_are_not_evicted_for_it(tmp_path):
    first = head([1])
    second = head([2], first)
    third = head([3], second)
    size = write_entry(tmp_path, first, 1000).stat().st_size
    other = head([9])
    tier = DiskTier(tmp_path, "key", 2 * size + size // 2, FREE)
    assert fill(tier, first, other) == [True] * 2
    assert fill(tier, second) == [True]
    assert kept(tier) == [first, second], "the other entry was evicted, although it was used later"
    assert fill(tier, third) == [False]
    assert kept(tier) == [first, second]
    tier.close()


def test_nothing_is_evicted_for_an_entry_larger_than_the_budget(tmp_path):
    small, large = head([1]), head([2])
    size = write_entry(tmp_path, small, 1000).stat().st_size
    tier = DiskTier(tmp_path, "key", 2 * size, FREE)
    assert fill(tier, small) == [True]
    assert not tier.put(large, arrays(large, 5000))
    assert kept(tier) == [small]
    tier.close()


def test_opening_with_a_smaller_budget_makes_room_in_other_folders_too(tmp_path):
    old, new = head([1]), head([2])
    size = write_entry(tmp_path, new, 1000).stat().st_size
    os.utime(write_entry(tmp_path, old, 1000, "another key"), (1, 1))
    tier = DiskTier(tmp_path, "key", size + size // 2, FREE)
    tier.close()
    assert not path_of(tmp_path, old, "another key").exists()
    assert path_of(tmp_path, new).exists()
    assert usage(tmp_path).nbytes <= size + size // 2


def test_an_entry_that_cannot_be_read_can_be_evicted(tmp_path):
    damaged = write_entry(tmp_path, head([1]), 1000, "another key")
    own = folder_of(tmp_path)
    own.mkdir()
    content = damaged.read_bytes()
    damaged.write_bytes(b"?" * len(content))
    budget = Budget(own, len(content), 0, lambda _: None)
    assert budget.make_room(1, "")
    assert not damaged.exists()
