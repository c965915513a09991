"""Encoders as GGUF files: their vectors are those of PyTorch, and they are planned and refused like other models."""

import json
import shutil

import gguf
import mlx.core as mx
import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from checkpoints import LLAMA, load_folder
from embedding import embed, minilm
from gguf_encoders import of_minilm, write_encoder
from gguf_writing import write_model
from loading import PLENTY, load, random_weights
from places import CONVERTED, EMBEDDINGS
from sotto.engine.caches.caches import make_caches
from sotto.engine.contract.events import Embedded
from sotto.engine.contract.requests import GenerateRequest, Message
from sotto.engine.engine import Engine
from sotto.engine.footprint.model_needs import needs_of, plan_here
from sotto.engine.kernels import native
from sotto.engine.vectors.hidden_states import batch_tokens, body_of
from sotto.errors import BrokenModelError, InvalidRequestError, SottoError, UnsupportedModelError
from sotto.store.gguf.file import read_gguf_file
from sotto.store.opening import open_model, record_of
from stores import assert_sentence
from thoroughness import examples

TEXTS = json.loads((EMBEDDINGS / "texts.json").read_text(encoding="utf-8"))
FAMILIES = ("bert", "jina-v3", "nomic-bert", "roberta")
TOLERANCE = 1e-4
Q = gguf.GGMLQuantizationType


@pytest.fixture(scope="module")
def wanted():
    return np.array(mx.load(str(EMBEDDINGS / "minilm.safetensors"))["vectors"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("minilm")


@pytest.fixture(scope="module")
def opened(folder):
    """Return a function that opens MiniLM in a type, and writes the file only once."""

    def of(kind):
        path = folder / f"minilm-{kind.name}.gguf"
        if not path.exists():
            # As in its own files, texts are truncated to 256 tokens.
            write_encoder(path, minilm(), kind, vocabulary=of_minilm, change=lambda w: set_context_length(w, 256))
        return open_model(record_of(path))

    return of


def set_context_length(writer, length):
    writer.kv_data[0].pop(f"{writer.arch}.context_length")
    writer.add_context_length(length)


@pytest.fixture
def engine():
    engine = Engine()
    yield engine
    engine.unload()


def test_vectors_of_minilm_are_those_of_pytorch(engine, opened, wanted):
    source = opened(Q.F32)
    info = engine.load(source)
    assert (info.architecture, info.writes, info.context_length) == ("bert", False, 256)
    assert source.record.capabilities == ("embedding",)
    assert source.tokenizer_json  # derived from the GGUF file
    done = embed(engine, *TEXTS)
    assert np.abs(np.array(done.vectors) - wanted).max() < TOLERANCE
    # [CLS] hello world [SEP]
    assert embed(engine, "Hello world").prompt_tokens == 4
    with pytest.raises(InvalidRequestError, match="writes no text, it makes embeddings only"):
        engine.prepare(GenerateRequest("g", (Message("user", "Hi"),)))


def write_sentence_model(path, case, longest):
    """Write a folder with the encoder of a reference, the tokenizer of MiniLM, and the longest text in tokens."""
    shutil.copytree(minilm(), path, ignore=shutil.ignore_patterns("config.json", "model.safetensors"))
    for name in ("config.json", "model.safetensors"):
        shutil.copy(EMBEDDINGS / case / name, path / name)
    (path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": longest} if longest else {}))
    return path


@pytest.mark.parametrize(
    ("write", "taken"),
    [
        (lambda path: write_sentence_model(path, "bert", 16), 16),
        (lambda path: write_sentence_model(path, "bert", None), 24),
        # RoBERTa's positions start after the id of its padding token.
        (lambda path: write_sentence_model(path, "roberta", 512), 22),
        (lambda path: write_sentence_model(path, "nomic-bert", 16), 16),
        (lambda path: write_encoder(path, EMBEDDINGS / "bert", change=lambda w: set_context_length(w, 16)), 16),
        (lambda path: write_encoder(path, EMBEDDINGS / "nomic-bert", change=lambda w: set_context_length(w, 16)), 16),
    ],
    ids=["bert", "bert of all positions", "roberta", "nomic", "bert as GGUF", "nomic as GGUF"],
)
def test_records_and_plans_have_the_longest_text_of_the_loaded_encoder(engine, tmp_path, write, taken):
    source = open_model(record_of(write(tmp_path / "model.gguf")))
    plan = plan_here(source)
    assert engine.load(source).context_length == taken
    assert (source.record.context_length, plan.context, plan.largest_context) == (taken, taken, taken)


def test_vectors_of_quantized_weights_are_nearly_the_same_and_their_memory_is_planned(engine, opened, wanted):
    source = opened(Q.Q8_0)
    needs = needs_of(source, PLENTY, native.kernels())
    assert (needs.unknown, needs.layers) == ("", ())
    assert needs.repacked.partition(" (")[0] == ("" if "q8_0" in native.kept_modes() else "Q8_0 in 8 bits")
    assert engine.load(source).weight_bytes == needs.weight_bytes
    found = np.array(embed(engine, *TEXTS).vectors)
    assert (found * wanted).sum(axis=1).min() > 1 - 1e-2


def test_the_working_memory_planned_for_quantized_weights_is_enough_and_not_far_off(opened, monkeypatch):
    source = opened(Q.Q8_0)
    needs = needs_of(source, PLENTY, native.kernels())
    model = load(source).model
    tokens = mx.zeros((batch_tokens() // 256, 256), dtype=mx.int32)
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(model(tokens, tokens == 0))
    taken = mx.get_peak_memory() - before
    assert 0.7 * needs.work_bytes(256, 256) <= taken <= 1.1 * needs.work_bytes(256, 256)
    # Without native kernels, matrices are unpacked for each product.
    monkeypatch.setattr(native, "kept_modes", frozenset)
    assert needs_of(source, PLENTY, None).unknown == ""


@pytest.mark.parametrize("case", FAMILIES)
def test_hidden_states_are_those_of_transformers(tmp_path, case):
    truth = mx.load(str(EMBEDDINGS / case / "expected.safetensors"))
    model = load(open_model(record_of(write_encoder(tmp_path / "model.gguf", EMBEDDINGS / case)))).model
    lengths = truth["lengths"].tolist()
    mask = mx.arange(truth["ids"].shape[1])[None] < mx.array(lengths)[:, None]
    hidden = model(truth["ids"], mask)
    for row, length in enumerate(lengths):
        assert mx.abs(hidden[row, :length] - truth["hidden"][row, :length]).max().item() < TOLERANCE


def test_hidden_states_of_modernbert_as_llama_cpp_converts_it_are_those_of_transformers():
    truth = mx.load(str(EMBEDDINGS / "modernbert" / "expected.safetensors"))
    source = open_model(record_of(CONVERTED / "modernbert.gguf"))
    model = load(source).model
    for row, length in enumerate(truth["lengths"].tolist()):
        hidden = model(truth["ids"][row : row + 1, :length])[0]
        assert mx.abs(hidden - truth["hidden"][row, :length]).max().item() < TOLERANCE
    assert source.record.capabilities == ("embedding",)
    assert needs_of(source, PLENTY, native.kernels()).unknown == ""


def changed(**values):
    """Return a function that changes keys of the architecture before a file is written; None removes a key."""

    def change(writer):
        for key, value in values.items():
            key = f"{writer.arch}.{key.replace('__', '.')}"
            writer.kv_data[0].pop(key, None)
            if isinstance(value, bool):
                writer.add_bool(key, value)
            elif isinstance(value, int):
                writer.add_uint32(key, value)
            elif isinstance(value, str):
                writer.add_string(key, value)

    return change


def bert(folder, **values):
    return write_encoder(folder / "model.gguf", EMBEDDINGS / "bert", change=changed(**values))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"pooling_type": 4}, "holds a model that ranks texts (bert.pooling_type is 4), which cannot run"),
        ({"pooling_type": 9}, "bert.pooling_type is 9; it should be a number from 0 to 3"),
        ({"attention__causal": True}, "bert.attention.causal is True; it should be false"),
        ({"attention__layer_norm_epsilon": None}, "bert.attention.layer_norm_epsilon is missing"),
        ({"embedding_length": 64}, "bert.embedding_length is 64; it should be 32"),
        ({"block_count": 3}, "bert.block_count is 3; it should be 2"),
        ({"context_length": 0}, "bert.context_length is 0"),
    ],
)
def test_meaningless_values_are_refused(tmp_path, values, why):
    path = bert(tmp_path, **values)
    with pytest.raises(BrokenModelError) as refused:
        open_model(record_of(path))
    assert_sentence(refused.value.message, path, why)


def test_the_message_about_a_model_that_cannot_be_built_names_the_file(engine, tmp_path):
    path = bert(tmp_path, attention__head_count=5)
    with pytest.raises(UnsupportedModelError) as refused:
        engine.load(open_model(record_of(path)))
    why = "The header of {} does not describe a bert model that can be built: "
    assert refused.value.message == why.format(path) + "hidden_size 32 is not a multiple of 5 heads."


def test_a_decoder_without_causal_attention_is_refused(tmp_path):
    weights = {name: np.array(array) for name, array in random_weights(LLAMA).items()}
    path = write_model(tmp_path / "model.gguf", LLAMA, weights, change=changed(attention__causal=False))
    with pytest.raises(BrokenModelError, match=r"llama\.attention\.causal is False; it should be true"):
        open_model(record_of(path))


def unit(vector):
    return np.array(vector) / np.linalg.norm(vector)


@pytest.mark.parametrize(("pooling", "place"), [(0, None), (1, None), (2, 0), (3, -1)])
def test_pooling_is_that_of_the_file(engine, tmp_path, pooling, place):
    engine.load(open_model(record_of(bert(tmp_path, pooling_type=pooling))))
    (vector,) = embed(engine, "a b", normalise=False).vectors
    # [CLS] a b [SEP] of the plain vocabulary.
    hidden = np.array(load_folder(EMBEDDINGS / "bert").model(mx.array([[2, 5, 6, 3]])))[0]
    assert np.allclose(vector, unit(hidden.mean(axis=0) if place is None else hidden[place]), atol=1e-5)


def test_texts_are_truncated_to_the_length_in_the_file_even_if_there_are_more_positions(engine, tmp_path):
    assert engine.load(open_model(record_of(bert(tmp_path, context_length=8)))).context_length == 8
    assert embed(engine, "a b c d e f g h i").prompt_tokens == 8


def write_characters(writer, count):
    """Write a vocabulary of single characters, from the exclamation mark on."""
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([chr(33 + index) for index in range(count)])


def test_a_decoder_makes_its_vector_from_the_last_token(engine, tmp_path):
    """Uses the keys that the files of Qwen3's embedding models have."""
    weights = {name: np.array(array) for name, array in random_weights(LLAMA).items()}
    change = changed(pooling_type=3)
    path = write_model(tmp_path / "model.gguf", LLAMA, weights, vocabulary=write_characters, change=change)
    record = record_of(path)
    assert record.capabilities == ("embedding",)
    engine.load(open_model(record))
    (vector,) = embed(engine, "&(").vectors
    loaded = load(open_model(record))
    hidden = body_of(loaded.model, loaded.config)(mx.array([[5, 7]]), cache=make_caches(loaded.model))[0, -1]
    assert np.allclose(vector, unit(hidden), atol=1e-5)


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_files_are_refused_in_a_sentence_or_make_vectors(engine, tmp_path, damage):
    path = bert(tmp_path)
    content = bytearray(path.read_bytes())
    header = min(tensor.start for tensor in read_gguf_file(path).tensors.values())
    for place, byte in damage:
        content[int(place * (header - 1))] = byte
    path.write_bytes(content)
    message = ""
    try:
        engine.load(open_model(record_of(path)))
        end = embed(engine, "a b c")
        assert isinstance(end, Embedded) or not end.bug
    except SottoError as error:
        message = error.message
    assert not message or (message.isprintable() and message.endswith((".", "?", ")")))
