"""Files of the disk tier: they are read as they were written, and any damage is found."""

import json
import os
import struct

import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as st

from disk_entries import folder_of, head, path_of, write_entry
from sotto.engine.caches import disk_file
from sotto.engine.caches.disk_file import CHECKSUM, DamagedEntryError, checksum, pack, read_verified
from sotto.engine.caches.disk_format import EntryHead, entry_id, pack_entry, read_entry, read_head
from sotto.engine.caches.disk_shelf import Shelf

SIZES = {"U8": 1, "BF16": 2, "F16": 2, "F32": 4, "U32": 4, "I64": 8}
KEY = folder_of("").name
LIMIT = 1 << 30


@st.composite
def array(draw):
    dtype = draw(st.sampled_from(sorted(SIZES)))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    count = SIZES[dtype]
    for size in shape:
        count *= size
    return dtype, shape, draw(st.binary(min_size=count, max_size=count))


@given(
    tokens=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=30),
    start=st.integers(0, 10**9),
    note=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=100),
    data=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])).filter(lambda n: n[:1] != "." and n[:2] != "__"), array()
    ),
)
def test_what_is_written_is_read(tmp_path_factory, tokens, start, note, data):
    folder = tmp_path_factory.mktemp("entries")
    parent = entry_id("", b"before") if start else ""
    written = EntryHead(start, start + len(tokens), struct.pack(f"<{len(tokens)}I", *tokens), parent, note)
    path = folder / f"{written.id}.safetensors"
    parts = pack_entry(written, KEY, data)
    path.write_bytes(b"".join([*parts, checksum(parts)]))
    found, loaded = read_entry(path, KEY, LIMIT)
    assert found == written
    assert {name: (array.dtype, array.shape, bytes(array.data)) for name, array in loaded.items()} == data
    assert all(array.data.readonly for array in loaded.values())
    whole = path.read_bytes()
    assert all(whole[array.start :].startswith(bytes(array.data)) for array in loaded.values())
    assert read_head(path, KEY) == (written, path.stat().st_size)
    # The safetensors library can read it as well.
    with safetensors.safe_open(path, "numpy") as file:
        assert set(file.keys()) == {*data, ".tokens", CHECKSUM}
        assert file.get_tensor(".tokens").tolist() == tokens


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [0, 1, 100, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 9 << 20])
@pytest.mark.parametrize("pieces", [1, 3])
def test_files_of_many_chunks_are_verified_as_they_were_written(tmp_path, size, pieces):
    content = os.urandom(1 << 20) * (size // (1 << 20) + 1)
    parts = {f"{index}": ("U8", (size,), content[:size]) for index in range(pieces)}
    packed = pack({}, parts)
    path = tmp_path / "file"
    path.write_bytes(b"".join([*packed, checksum(packed)]))
    header, view = read_verified(path, LIMIT)
    info = header.tensors["0"]
    assert view[info.start : info.end] == content[:size]
    # One bit in each chunk, and in the first and the last byte.
    for at in {0, len(view) - 1, *range(8 << 10, len(view), 2 << 20)}:
        with path.open("r+b") as file:
            file.seek(at)
            file.write(bytes([view[at] ^ 0x10]))
        with pytest.raises(DamagedEntryError):
            read_verified(path, LIMIT)
        with path.open("r+b") as file:
            file.seek(at)
            file.write(view[at : at + 1])


def open_shelf(root):
    return Shelf(folder_of(root), LIMIT, 0, 0.0)


def test_every_flipped_byte_is_found_and_the_file_removed(tmp_path):
    first = head([1, 2])
    second = head([3], first)
    whole = write_entry(tmp_path, first).read_bytes()
    after = write_entry(tmp_path, second).read_bytes()
    path = path_of(tmp_path, first)
    for at in range(len(whole)):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << (at % 8)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(flipped)
        path_of(tmp_path, second).write_bytes(after)
        shelf = open_shelf(tmp_path)
        assert shelf.read(first.id) is None
        assert shelf.read(second.id) is None, "its parent is gone"
        assert not path.exists()
        assert not path_of(tmp_path, second).exists()
        shelf.close()
    write_entry(tmp_path, first)
    shelf = open_shelf(tmp_path)
    assert shelf.read(first.id) is not None
    shelf.close()


def test_every_wrong_length_is_found_and_the_file_removed(tmp_path):
    only = head([1, 2])
    whole = write_entry(tmp_path, only).read_bytes()
    path = path_of(tmp_path, only)
    for length in [*range(len(whole)), len(whole) + 1, 2 * len(whole)]:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((whole + whole)[:length])
        shelf = open_shelf(tmp_path)
        assert shelf.read(only.id) is None
        assert not path.exists()
        shelf.close()


def test_damage_after_opening_is_found(tmp_path):
    only = head([1, 2])
    path = write_entry(tmp_path, only)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:40], b"", whole + b"x", bytes(len(whole)), whole[:100] + b"!" + whole[101:]):
        path.write_bytes(whole)
        shelf = open_shelf(tmp_path)
        path.write_bytes(damaged)
        assert shelf.read(only.id) is None
        assert not path.exists()
        shelf.close()
        path.parent.mkdir(exist_ok=True)


def forged(header, body=b"", length=None):
    """Return a file with this header, right or wrong, and a correct checksum."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    front = struct.pack("<Q", len(text) if length is None else length) + text + body
    return front + checksum([memoryview(front)])


def metadata(**changes):
    correct = {"format": "sotto-prefix", "version": "1", "key": KEY, "parent": "", "start": "0", "note": ""}
    return {name: value for name, value in {**correct, **changes}.items() if value is not None}


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def entry(tokens=8, more=None, **changes):
    tensors = {
        "__metadata__": metadata(**changes),
        ".tokens": tensor("U32", [tokens // 4], 0, tokens),
        **(more or {}),
        ".checksum": tensor("U8", [32], tokens, tokens + 32),
    }
    return {name: value for name, value in tensors.items() if value is not None}


TOKENS = struct.pack("<2I", 1, 2)
FORGED = {
    "right": forged(entry(), TOKENS),
    "other key": forged(entry(key="0" * 32), TOKENS),
    "other version": forged(entry(version="2"), TOKENS),
    "other format": forged(entry(format="sotto-prefix-index"), TOKENS),
    "more metadata": forged(entry(unknown="x"), TOKENS),
    "no metadata": forged(entry(more={"__metadata__": None}), TOKENS),
    "a note of many lines": forged(entry(note="a\nb"), TOKENS),
    "a note without end": forged(entry(note="a" * 101), TOKENS),
    "starts without a parent": forged(entry(start="3"), TOKENS),
    "a parent before the start": forged(entry(parent="0" * 32), TOKENS),
    "a parent that is a path": forged(entry(parent="../../etc/passwd", start="3"), TOKENS),
    "a start that is not a number": forged(entry(start="0x0"), TOKENS),
    "a start of too many digits": forged(entry(start="1" * 5000), TOKENS),
    "other tokens": forged(entry(), struct.pack("<2I", 1, 3)),
    "no tokens": forged(entry(tokens=0), b""),
    "no tensor of tokens": forged(entry(tokens=0, more={".tokens": None}), b""),
    "tokens of another type": forged(entry(more={".tokens": tensor("F32", [2], 0, 8)}), TOKENS),
    "tokens of another shape": forged(entry(more={".tokens": tensor("U32", [1, 2], 0, 8)}), TOKENS),
    "an array that overlaps": forged(entry(more={"a": tensor("U8", [4], 4, 8)}), TOKENS),
    "an array that is too large": forged(entry(more={"a": tensor("U8", [1 << 60], 8, 8 + (1 << 60))}), TOKENS),
    "a checksum that is not the end": forged(
        {
            "__metadata__": metadata(),
            ".tokens": tensor("U32", [2], 0, 8),
            ".checksum": tensor("U8", [32], 8, 40),
            "a": tensor("U8", [32], 40, 72),
        },
        TOKENS + bytes(32),
    ),
    "a header that goes on for ever": forged(entry(), TOKENS, length=1 << 62),
    "a header of all memory": forged(entry(), TOKENS, length=(1 << 64) - 1),
    "no JSON": forged(b"{" * 1000),
    "deep JSON": forged(b"[" * 100_000 + b"]" * 100_000),
    "a list": forged(b"[]"),
    "nothing": forged(b""),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGED)
def test_a_correct_checksum_alone_is_not_enough(tmp_path, what, caplog):
    path = path_of(tmp_path, head([1, 2]))
    path.parent.mkdir()
    path.write_bytes(FORGED[what])
    shelf = open_shelf(tmp_path)
    found = shelf.read(path.stem)
    shelf.close()
    assert (found is not None) == path.exists() == (what == "right")
    lines = [record.getMessage() for record in caplog.records]
    assert [str(path) in line for line in lines] == ([] if what == "right" else [True])


def test_an_entry_under_another_name_or_in_another_folder_is_removed(tmp_path):
    first, second = head([1, 2]), head([1, 2], head([5]))
    whole = write_entry(tmp_path, first).read_bytes()
    for path in (path_of(tmp_path, second), path_of(tmp_path, first, "another key")):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(whole)
        shelf = Shelf(path.parent, LIMIT, 0, 0.0)
        assert path.stem not in [stored.head.id for stored in shelf.entries()]
        assert not path.exists()
        shelf.close()


@pytest.mark.parametrize("start", ["2", "4"])
def test_an_entry_that_does_not_start_where_its_parent_ends_is_removed(tmp_path, start):
    parent = head([1, 2, 3])
    write_entry(tmp_path, parent)
    id = entry_id(parent.id, TOKENS)  # noqa: A001
    path = folder_of(tmp_path) / f"{id}.safetensors"
    path.write_bytes(forged(entry(parent=parent.id, start=start), TOKENS))
    shelf = open_shelf(tmp_path)
    assert [stored.head for stored in shelf.entries()] == [parent]
    assert not path.exists()
    # The same for a file that is replaced after the folder was opened.
    path.write_bytes(forged(entry(parent=parent.id, start="3"), TOKENS))
    shelf.close()
    shelf = open_shelf(tmp_path)
    path.write_bytes(forged(entry(parent=parent.id, start=start), TOKENS))
    assert shelf.read(id) is None
    assert not path.exists()
    shelf.close()


def test_only_regular_files_are_opened(tmp_path):
    only = head([1, 2])
    path = path_of(tmp_path, only)
    whole = write_entry(tmp_path, only).read_bytes()
    outside = tmp_path / "outside"
    outside.write_bytes(whole)
    for make in (os.mkfifo, lambda link: link.symlink_to(outside), lambda link: link.symlink_to("/dev/zero")):
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        make(path)
        shelf = open_shelf(tmp_path)
        assert shelf.read(only.id) is None
        assert not os.path.lexists(path)
        shelf.close()
    assert outside.read_bytes() == whole
    path.parent.mkdir(exist_ok=True)
    path.mkdir()
    shelf = open_shelf(tmp_path)
    assert (shelf.read(only.id), path.is_dir()) == (None, True)
    shelf.close()


def test_a_file_that_shrinks_while_it_is_read_is_damaged(tmp_path, monkeypatch):
    path = write_entry(tmp_path, head([1, 2]), rows=4 << 20)
    read = os.preadv

    def shrinking(file, buffers, at):
        os.truncate(path, 5 << 20)
        return read(file, buffers, at)

    monkeypatch.setattr(disk_file.os, "preadv", shrinking)
    with pytest.raises(DamagedEntryError, match="became shorter"):
        read_verified(path, LIMIT)


@pytest.mark.parametrize(
    "data",
    [
        {"a": ("F32", (2,), bytes(7))},
        {"a": ("F4", (2,), bytes(1))},
        {"a": ("F32", (2,), b"")},
        {".tokens": ("U32", (1,), bytes(4))},
        {".checksum": ("U8", (32,), bytes(32))},
        {"__metadata__": ("U8", (1,), b"x")},
        {f"{index}" * 60: ("U8", (1,), b"x") for index in range(10_000, 50_000)},
    ],
    ids=range(7),
)
def test_arrays_with_wrong_sizes_types_or_names_are_refused(data):
    with pytest.raises(ValueError):
        pack_entry(head([1]), KEY, data)


def test_arrays_can_be_any_contiguous_buffers(tmp_path):
    of = head([1])
    view = memoryview(bytearray(range(48))).cast("f", (3, 4))
    parts = pack_entry(of, KEY, {"a": ("F32", (3, 4), view), "none": ("F16", (0, 5), memoryview(b""))})
    path = tmp_path / f"{of.id}.safetensors"
    path.write_bytes(b"".join([*parts, checksum(parts)]))
    _, loaded = read_entry(path, KEY, LIMIT)
    assert bytes(loaded["a"][2]) == bytes(range(48))
    assert loaded["none"][:2] == ("F16", (0, 5))
    with pytest.raises(TypeError):
        pack_entry(of, KEY, {"a": ("U8", (24,), memoryview(bytearray(48))[::2])})


@pytest.mark.parametrize(
    ("start", "end", "tokens", "parent"),
    [
        (0, 0, b"", ""),
        (0, 1, b"123", ""),
        (1, 2, b"1234", ""),
        (0, 1, b"1234", "0" * 32),
        (1, 2, b"1234", "../x"),
        (2, 1, b"", "0" * 32),
        (-1, 0, b"1234", ""),
    ],
)
def test_heads_that_contradict_themselves_are_refused(start, end, tokens, parent):
    with pytest.raises(ValueError):
        EntryHead(start, end, tokens, parent)


def test_different_conversations_have_different_ids():
    first, second = head([1]), head([2])
    ids = {head(ids, parent).id for ids in ([1], [2], [1, 2], [2, 1]) for parent in (None, first, second)}
    assert len(ids) == 12
    assert head([1, 2], first).id == head([1, 2], head([1])).id


def test_entries_are_read_into_the_same_memory_one_after_the_other(tmp_path):
    held = bytearray(1 << 14)
    first, second = (head([number]) for number in (1, 2))
    for of, size in ((first, 5000), (second, 3000)):
        parts = pack_entry(of, KEY, {"a": ("U8", (size,), bytes([of.tokens[0]]) * size)})
        (tmp_path / f"{of.id}.safetensors").write_bytes(b"".join([*parts, checksum(parts)]))
    _, before = read_entry(tmp_path / f"{first.id}.safetensors", KEY, LIMIT, lambda size: memoryview(held)[:size])
    assert bytes(before["a"].data) == b"\1" * 5000
    _, after = read_entry(tmp_path / f"{second.id}.safetensors", KEY, LIMIT, lambda size: memoryview(held)[:size])
    assert bytes(after["a"].data) == b"\2" * 3000
    assert b"\2" in bytes(before["a"].data), "the second entry was read into other memory"
