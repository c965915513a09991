"""Headers of safetensors files: valid ones are read completely, and each inconsistency is refused with a message."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from material import material
from sotto.errors import BrokenModelError
from sotto.store.records import TensorInfo
from sotto.store.safetensors_header import HEADER_LIMIT, read_header
from stores import SIZES, assert_line, assert_sentence, safetensors, with_header
from thoroughness import examples

# The outcomes named in the index of the malformed files, and our messages for them.
OUTCOMES = {
    "MetadataIncompleteBuffer": ("bytes after its last tensor", "is cut off"),
    "HeaderTooLarge": ("announces a header of", "is the most"),
    "HeaderTooSmall": ("is only 0 bytes long",),
    "InvalidHeaderLength": ("but the whole file has only 8",),
    "InvalidHeader": ("is not UTF-8",),
    "InvalidHeaderDeserialization": ("is not JSON",),
    "TensorInvalidInfo": ("by its shape and dtype",),
    "ValidationOverflow": ("more elements than any memory holds",),
}


def entry(dtype="F32", shape=(2,), offsets=(0, 8), **others):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets} | others


def refusal(path, content):
    path.write_bytes(content)
    with pytest.raises(BrokenModelError) as refused:
        read_header(path)
    assert_line(refused.value.message, path)
    return refused.value.message


def test_every_malformed_file_has_the_outcome_of_its_index():
    folder = material("safetensors-malformed")
    cases = json.loads((folder / "index.json").read_bytes())
    assert len(cases) == 16
    for case in cases:
        path = folder / case["file"]
        if case["expect"] == "ok":
            read_header(path)
            continue
        with pytest.raises(BrokenModelError) as refused:
            read_header(path)
        assert_sentence(refused.value.message, path)
        assert any(text in refused.value.message for text in OUTCOMES[case["expect"]]), refused.value.message


def test_files_by_other_writers_are_read():
    paths = sorted(material("safetensors-malformed").glob("swift-*"))
    assert [len(tensor.shape) for path in paths for tensor in read_header(path).tensors.values()] == [1, 2, 3, 4]


def test_a_header_gives_each_tensor_its_bytes(tmp_path):
    path = tmp_path / "file"
    content = safetensors({"b": ("F32", (2, 3)), "a": ("BF16", (5,)), "empty": ("U8", (0, 7))}, {"quant_type": "int4"})
    path.write_bytes(content)
    file = read_header(path, "f" * 64)
    start = 8 + struct.unpack("<Q", content[:8])[0]
    assert file.tensors == {
        "b": TensorInfo("F32", (2, 3), start, start + 24),
        "a": TensorInfo("BF16", (5,), start + 24, start + 34),
        "empty": TensorInfo("U8", (0, 7), start + 34, start + 34),
    }
    assert list(file.tensors) == ["b", "a", "empty"]
    assert file.metadata == {"quant_type": "int4"}
    assert (file.path, file.digest, file.nbytes) == (path, "f" * 64, 34)


@pytest.mark.parametrize("padding", [b"", b" ", b" " * 13, b"\n\t "])
def test_data_may_begin_at_any_byte(tmp_path, padding):
    path = tmp_path / "file"
    header = json.dumps({"w": entry()}).encode() + padding
    path.write_bytes(with_header(header, bytes(8)))
    assert read_header(path).tensors["w"].start == 8 + len(header)


def test_a_long_header_is_read_completely(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(safetensors({f"layers.{number}.weight": ("F32", (1, 2)) for number in range(2000)}))
    assert len(read_header(path).tensors) == 2000


def test_types_smaller_than_a_byte_fill_whole_bytes(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(with_header({"w": entry("F4", (4,), (0, 2))}, bytes(2)))
    assert read_header(path).tensors["w"].nbytes == 2
    assert "takes 1.5 bytes" in refusal(path, with_header({"w": entry("F4", (3,), (0, 2))}, bytes(2)))


@pytest.mark.parametrize(
    ("header", "wrong"),
    [
        ([], "holds a list; it should be a JSON object"),
        ({"w": None}, "tensor w is described by null"),
        ({"w": [1, 2]}, "tensor w is described by a list"),
        ({"w": {}}, "dtype null"),
        ({"w": entry("F33")}, "dtype 'F33', which safetensors does not have"),
        ({"w": entry("\x1b]0;")}, "dtype '\\x1b]0;'"),
        ({"w": entry(7)}, "dtype a number"),
        ({"w": entry(shape=None)}, "a shape that is a list"),
        ({"w": entry(shape="2")}, "a shape that is a list"),
        ({"w": entry(shape=[1] * 33)}, "at most 32 numbers"),
        ({"w": entry(shape=[-2])}, "not a whole number from 0 on"),
        ({"w": entry(shape=[2.0])}, "not a whole number from 0 on"),
        ({"w": entry(shape=[True, 2])}, "not a whole number from 0 on"),
        ({"w": entry(shape=["2"])}, "not a whole number from 0 on"),
        ({"w": entry(shape=[1 << 62, 1 << 62])}, "more elements than any memory holds"),
        ({"w": entry(shape=[0, 1 << 62, 1 << 62], offsets=[0, 0])}, "more elements than any memory holds"),
        ({"w": entry(shape=[10**400])}, "more elements than any memory holds"),
        ({"w": entry(offsets=[0])}, "data_offsets of two whole numbers"),
        ({"w": entry(offsets=None)}, "data_offsets of two whole numbers"),
        ({"w": entry(offsets=[0, 8, 16])}, "data_offsets of two whole numbers"),
        ({"w": entry(offsets=[0, 8.0])}, "data_offsets of two whole numbers"),
        ({"w": entry(offsets=[False, 8])}, "data_offsets of two whole numbers"),
        ({"w": entry(offsets=[-8, 0])}, "run backwards, begin before the data"),
        ({"w": entry(offsets=[8, 0])}, "run backwards"),
        ({"w": entry(offsets=[1 << 63, (1 << 63) + 8])}, "end beyond any file"),
        ({"w": entry(offsets=[0, 4])}, "takes 8 bytes by its shape and dtype, but 4"),
        ({"w": entry(offsets=[8, 16])}, "leaves 8 unused bytes before it"),
        ({"w": entry(shape=[4], offsets=[0, 16])}, "is cut off: its tensors end at byte"),
        ({"a": entry(), "b": entry()}, "tensor b overlaps the one before it"),
        ({"a": entry(), "b": entry(shape=[1], offsets=[4, 8])}, "tensor b overlaps"),
        ({"w": entry(shape=[1], offsets=[0, 4])}, "has 4 bytes after its last tensor; there should be none"),
        ({}, "has 8 bytes after its last tensor"),
        ({"__metadata__": [], "w": entry()}, "__metadata__ should map texts to texts"),
        ({"__metadata__": {"a": 1}, "w": entry()}, "__metadata__ should map texts to texts"),
        ({"evil\n\x00\u202ename": entry("F33")}, "tensor evil\\x0a\\x00\\u202ename has dtype"),
        ({"n" * 100_000: entry("F33")}, "tensor nnn"),
        (b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":1}', "'w' is there twice"),
        (b'{"w":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}', "NaN is not a JSON number"),
        (b'{"w":' + b"[" * 200_000, "nested more than"),
        (b'{"w":', "is not JSON"),
    ],
)
def test_an_inconsistent_header_is_refused(tmp_path, header, wrong):
    path = tmp_path / "evil.safetensors"
    assert_sentence(refusal(path, with_header(header, bytes(8))), path, wrong)


def test_metadata_may_be_absent_or_null(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(with_header({"__metadata__": None, "w": entry()}, bytes(8)))
    assert read_header(path).metadata == {}


@pytest.mark.parametrize("length", [HEADER_LIMIT + 1, 1 << 40, (1 << 64) - 1])
def test_an_overlong_header_is_not_read(tmp_path, length):
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", length))
        file.truncate(HEADER_LIMIT + 100)
    with pytest.raises(BrokenModelError, match="announces a header of") as refused:
        read_header(path)
    assert_sentence(refused.value.message, path)


@examples(60)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda name: name != "__metadata__"),
        st.tuples(st.sampled_from(sorted(SIZES)), st.lists(st.integers(0, 4), max_size=3)),
        min_size=1,
        max_size=5,
    ),
    st.data(),
)
def test_a_file_of_another_length_is_refused(tmp_path_factory, tensors, data):
    content = safetensors(tensors)
    path = tmp_path_factory.getbasetemp() / "drawn"
    path.write_bytes(content)
    file = read_header(path)
    assert {name: (tensor.dtype, list(tensor.shape)) for name, tensor in file.tensors.items()} == {
        name: (dtype, list(shape)) for name, (dtype, shape) in tensors.items()
    }
    assert file.nbytes == len(content) - min(tensor.start for tensor in file.tensors.values())
    refusal(path, content[: data.draw(st.integers(0, len(content) - 1))])
    refusal(path, content + bytes(data.draw(st.integers(1, 9))))


@examples(300)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_damaged_header_is_read_or_refused_and_never_points_outside(tmp_path_factory, changes):
    content = bytearray(safetensors({"w": ("F32", (2, 2)), "x.scale": ("U8", (3,))}, {"group_size": "64"}))
    for position, byte in changes:
        content[position % len(content)] = byte
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(content)
    try:
        file = read_header(path)
    except BrokenModelError as error:
        assert_line(error.message, path)
        return
    for tensor in file.tensors.values():
        assert 8 <= tensor.start <= tensor.end <= len(content)
