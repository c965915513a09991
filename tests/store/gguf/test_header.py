"""Headers of GGUF files: the facts that a list shows, and sizes, which are never trusted beyond the end of the file."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from material import material
from sotto.errors import BrokenModelError
from sotto.store.gguf.header import is_gguf, parameters_of_label, read_gguf
from stores import assert_sentence, gguf, gguf_text
from thoroughness import examples

U32, I32, TEXT, ARRAY, U64, F32 = 4, 5, 8, 9, 10, 6
LLAMA = [
    ("general.architecture", TEXT, gguf_text("llama")),
    ("general.type", TEXT, gguf_text("model")),
    ("general.file_type", U32, struct.pack("<I", 15)),
    ("llama.context_length", U32, struct.pack("<I", 8192)),
    ("llama.rope.freq_base", F32, struct.pack("<f", 1e4)),
    ("tokenizer.chat_template", TEXT, gguf_text("x" * 3000)),
    ("tokenizer.ggml.token_type", ARRAY, struct.pack("<IQ3i", I32, 3, 1, 2, 3)),
    ("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQ", TEXT, 2) + gguf_text("a") + gguf_text("bc")),
]
WEIGHTS = {"token_embd.weight": (8, 100), "blk.0.attn_q.weight": (8, 8), "norm": (8,)}


def vocabulary(count):
    return ("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQ", TEXT, count) + gguf_text("t") * count)


def write(tmp_path, content):
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    return path


def refusal(path):
    with pytest.raises(BrokenModelError) as refused:
        read_gguf(path)
    assert_sentence(refused.value.message, path, "is not a readable GGUF file")
    return refused.value.message


def test_a_header_provides_the_facts_in_the_list(tmp_path):
    header = read_gguf(write(tmp_path, gguf(LLAMA, WEIGHTS)))
    assert (header.kind, header.architecture, header.quantization) == ("model", "llama", "Q4_K_M")
    assert (header.parameters, header.context_length) == (800 + 64 + 8, 8192)


def test_a_real_file_is_read():
    blobs = material("ollama-store", "blobs")
    (path,) = [path for path in blobs.iterdir() if is_gguf(path)]
    header = read_gguf(path)
    assert (header.architecture, header.parameters, header.quantization) == ("llama", 260_032, "F32")


def test_an_empty_header_provides_no_facts(tmp_path):
    header = read_gguf(write(tmp_path, gguf()))
    assert (header.kind, header.architecture, header.parameters, header.quantization, header.context_length) == (
        "", "", None, "", None
    )  # fmt: skip


@pytest.mark.parametrize("key", ["general.size_label", "general.parameter_count"])
def test_a_long_vocabulary_is_skipped_if_its_size_is_stated(tmp_path, key):
    stated = (key, TEXT, gguf_text("8.0B")) if key.endswith("label") else (key, U64, struct.pack("<Q", 8 * 10**9))
    assert read_gguf(write(tmp_path, gguf([*LLAMA[:4], stated, vocabulary(5000)], {"w": (8, 1 << 20)}))).parameters == (
        8 * 10**9 if key.endswith("label") else 8 << 20
    )


@pytest.mark.parametrize(
    ("label", "number"),
    [("8.0B", 8 * 10**9), ("260K", 260_000), ("8x7B", 56 * 10**9), ("1.5t", 15 * 10**11), ("large", None), ("", None)],
)
def test_a_size_label_is_parsed(label, number):
    assert parameters_of_label(label) == number


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ([("k", ARRAY, struct.pack("<IQ", ARRAY, 1))], "array of arrays"),
        ([("k", 13, b"")], "type 13, which GGUF does not have"),
        ([("k", ARRAY, struct.pack("<IQ", 99, 1))], "type 99"),
        ([("k", TEXT, struct.pack("<Q", 1 << 63))], "announces more than the file holds"),
        ([("k", ARRAY, struct.pack("<IQ", U64, 1 << 61))], "announces more than the file holds"),
        ([("k", ARRAY, struct.pack("<IQ", TEXT, (1 << 64) - 1))], "more in all than any vocabulary has"),
        ([("k", ARRAY, struct.pack("<IQ", TEXT, 1 << 20))], "announces more than the file holds"),
        ([("k" * 70_000, U32, bytes(4))], "a key that is too long"),
        ([("k", ARRAY, struct.pack("<IQ", TEXT, 1) + struct.pack("<Q", 1 << 62))], "more than the file holds"),
    ],
)
def test_an_inconsistent_header_is_refused(tmp_path, values, wrong):
    assert wrong in refusal(write(tmp_path, gguf(values)))


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", "announces more than the file holds"),
        (b"GGU", "announces more than the file holds"),
        (b"GGML" + bytes(20), "does not begin with GGUF"),
        (gguf(version=1), "its version is 1"),
        (gguf(version=50331648), "its version is 50331648"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 40, 0), "more than any model has"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, (1 << 64) - 1), "more than any model has"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 0), "announces more than the file holds"),
        (gguf(tensors={"w": [1] * 9}), "a tensor of 9 dimensions"),
        (gguf(tensors={"w": [1 << 40, 1 << 40]}), "more elements than any memory holds"),
        (gguf(tensors={"w" * 70_000: [1]}), "a tensor name that is too long"),
    ],
)
def test_an_invalid_header_is_refused(tmp_path, content, wrong):
    assert wrong in refusal(write(tmp_path, content))


@pytest.mark.parametrize(
    ("key", "kind", "value"),
    [
        ("general.architecture", U32, bytes(4)),
        ("general.architecture", TEXT, gguf_text("\x1b[31m\n\u202e")),
        ("general.file_type", TEXT, gguf_text("Q4")),
        ("general.file_type", I32, struct.pack("<i", -1)),
        ("general.parameter_count", 11, struct.pack("<q", -(1 << 60))),
        ("llama.context_length", F32, struct.pack("<f", float("nan"))),
        ("llama.context_length", U64, struct.pack("<Q", 1 << 60)),
        ("llama.context_length", 7, b"\1"),
        ("general.size_label", TEXT, gguf_text("9" * 500)),
    ],
)
def test_absurd_values_are_left_out(tmp_path, key, kind, value):
    header = read_gguf(write(tmp_path, gguf([LLAMA[0], (key, kind, value), vocabulary(5000)])))
    assert header.architecture.isprintable()
    assert (header.parameters, header.quantization, header.context_length) == (None, "", None)


def test_a_gguf_file_is_recognised_by_its_name_or_its_first_bytes(tmp_path):
    assert is_gguf(write(tmp_path, b""))
    blob = tmp_path / "blob"
    blob.write_bytes(gguf())
    assert is_gguf(blob)
    blob.write_bytes(b"{}")
    assert not is_gguf(blob)


def test_a_truncated_file_is_refused_wherever_it_is_cut(tmp_path):
    content = gguf(LLAMA, WEIGHTS)
    for length in range(0, len(content), 7):
        refusal(write(tmp_path, content[:length]))


@examples(300)
@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_damaged_header_is_read_or_refused(tmp_path_factory, changes):
    content = bytearray(gguf([LLAMA[index] for index in (0, 1, 2, 3, 4, 6, 7)], WEIGHTS))
    for position, byte in changes:
        content[position % len(content)] = byte
    path = write(tmp_path_factory.getbasetemp(), bytes(content))
    try:
        header = read_gguf(path)
    except BrokenModelError as error:
        assert_sentence(error.message, path)
    else:
        assert header.parameters is None or header.parameters > 0
        assert header.architecture.isprintable()
