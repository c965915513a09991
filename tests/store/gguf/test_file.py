"""Complete headers of GGUF files: values are read as written, and inconsistent ones are refused with a message."""

import struct

import gguf
import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sotto.errors import BrokenModelError
from sotto.store.gguf.file import read_gguf_file
from stores import assert_sentence, gguf_text
from thoroughness import examples

U8, U32, TEXT, ARRAY, U64 = 0, 4, 8, 9, 10
F32, Q4_0, Q4_K = 0, 2, 12


def build(tensors, values=(), data=4096):
    """Return a file with these tensors (name, shape in GGUF's order, type, offset), values and number of bytes."""
    content = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for key, kind, value in values:
        content += gguf_text(key) + struct.pack("<I", kind) + value
    for name, shape, kind, offset in tensors:
        content += gguf_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
    return content + bytes(-len(content) % 32) + bytes(data)


def refusal(path, content):
    path.write_bytes(content)
    with pytest.raises(BrokenModelError) as refused:
        read_gguf_file(path)
    assert_sentence(refused.value.message, path, "is not a readable GGUF file")
    return refused.value.message


def test_everything_that_the_gguf_package_wrote_is_read(tmp_path):
    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_custom_alignment(64)
    writer.add_uint64("a", 2**40)
    writer.add_int32("b", -7)
    writer.add_float64("c", 0.1)
    writer.add_bool("d", True)
    writer.add_array("e", ["x", "", "é"])
    writer.add_array("f", [1.5, 2.5])
    weights = {"one": np.arange(6, dtype=np.float32).reshape(2, 3), "two": np.ones((4, 64), np.float16)}
    for name, array in weights.items():
        writer.add_tensor(name, array)
    quantization = gguf.GGMLQuantizationType.Q8_0
    writer.add_tensor("three", gguf.quants.quantize(np.ones((2, 64), np.float32), quantization), raw_dtype=quantization)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    file = read_gguf_file(path)
    assert {key: file.values[key] for key in "abcdef"} == {
        "a": 2**40, "b": -7, "c": 0.1, "d": True, "e": ["x", "", "é"], "f": [1.5, 2.5]
    }  # fmt: skip
    reader = gguf.GGUFReader(path)
    assert {tensor.name: (tensor.data_offset, int(tensor.n_bytes)) for tensor in reader.tensors} == {
        name: (tensor.start, tensor.nbytes) for name, tensor in file.tensors.items()
    }
    assert [(tensor.dtype, tensor.shape) for tensor in file.tensors.values()] == [
        ("F32", (2, 3)), ("F16", (4, 64)), ("Q8_0", (2, 64))
    ]  # fmt: skip
    assert file.read(file.tensors["one"]) == weights["one"].tobytes()


@pytest.mark.parametrize(
    ("tensors", "why"),
    [
        ([("w", [8], F32, 0), ("w", [8], F32, 32)], "the tensor 'w' twice"),
        ([("w", [16], F32, 0), ("v", [8], F32, 32)], "tensor 'v' overlaps"),
        ([("w", [8], F32, 4)], "begins at byte 4 of the data, which is not a multiple of 32"),
        ([("w", [1 << 20], F32, 0)], "but the file has only"),
        ([("w", [8], F32, (1 << 64) - 32)], "but the file has only"),
        ([("w", [8], 4, 0)], "is of type 4, which Sotto does not know"),
        ([("w", [], F32, 0)], "has the shape [], which no tensor"),
        ([("w", [0], F32, 0)], "has the shape [0]"),
        ([("w", [1 << 40, 1 << 40], F32, 0)], "which no tensor of a model has"),
        ([("w", [48], Q4_0, 0)], "has rows of 48 elements; in Q4_0 they should be whole blocks of 32"),
        ([("w", [128, 2], Q4_K, 0)], "whole blocks of 256"),
        ([("w", [1] * 9, F32, 0)], "a tensor of 9 dimensions"),
        ([("w\n\x1b", [8], 99, 0)], r"tensor 'w\x0a\x1b' is of type 99"),
    ],
)
def test_inconsistent_tensors_are_refused(tmp_path, tensors, why):
    assert why in refusal(tmp_path / "m.gguf", build(tensors))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (("general.alignment", U32, struct.pack("<I", 0)), "general.alignment is 0"),
        (("general.alignment", U32, struct.pack("<I", 24)), "should be a power of two"),
        (("general.alignment", U32, struct.pack("<I", 1 << 30)), "should be a power of two"),
        (("general.alignment", TEXT, gguf_text("32")), "general.alignment is '32'"),
        (("k", ARRAY, struct.pack("<IQ", ARRAY, 1)), "array of arrays"),
        (("k", ARRAY, struct.pack("<IQ", U8, 1 << 40)), "more in all than any model has"),
        (("k", ARRAY, struct.pack("<IQ", U64, 1 << 20)), "announces more than the file holds"),
        (("k", ARRAY, struct.pack("<IQ", TEXT, 1) + struct.pack("<Q", 1 << 20)), "announces more than the file holds"),
        (("k", TEXT, struct.pack("<Q", 5 << 20)), "announces more than the file holds"),
    ],
)
def test_inconsistent_values_are_refused(tmp_path, value, why):
    assert why in refusal(tmp_path / "m.gguf", build([], [value]))


def test_overlong_texts_are_refused(tmp_path):
    long = struct.pack("<Q", 5 << 20) + bytes(5 << 20)
    assert "is longer than 4 MiB" in refusal(tmp_path / "m.gguf", build([], [("k", TEXT, long)]))
    item = struct.pack("<IQ", TEXT, 1) + struct.pack("<Q", 1 << 17) + bytes(1 << 17)
    assert "in an array" in refusal(tmp_path / "m.gguf", build([], [("k", ARRAY, item)]))


def test_a_duplicate_key_is_refused(tmp_path):
    values = [("k", U32, bytes(4)), ("k", U32, bytes(4))]
    assert "has the key 'k' twice" in refusal(tmp_path / "m.gguf", build([], values))


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=40), max_size=30), block=st.integers(8, 40))
def test_lists_of_texts_are_read_and_skipped_in_blocks(tmp_path, monkeypatch, texts, block):
    monkeypatch.setattr("sotto.store.gguf.reader._BLOCK", block)
    written = struct.pack("<IQ", TEXT, len(texts)) + b"".join(map(gguf_text, texts))
    path = tmp_path / "m.gguf"
    path.write_bytes(build([], [("list", ARRAY, written), ("behind", U32, struct.pack("<I", 7))]))
    assert dict(read_gguf_file(path).values) == {"list": texts, "behind": 7}
    assert dict(read_gguf_file(path, lambda _: False).values) == {"list": None, "behind": 7}
