"""Embeddings by the engine, compared with those of sentence-transformers and with other references."""

import json
import shutil

import mlx.core as mx
import numpy as np
import pytest

from checkpoints import load_folder
from embedding import embed, minilm
from places import EMBEDDINGS, REFERENCES
from sotto.engine.caches.caches import make_caches
from sotto.engine.contract.engine_settings import EngineSettings
from sotto.engine.contract.events import DoneReason, Embedded, Failed, Finished, TextChunk
from sotto.engine.contract.requests import CountRequest, EmbedRequest, GenerateRequest, Message, SamplingOptions
from sotto.engine.engine import Engine
from sotto.engine.footprint.model_needs import limits_here, needs_of
from sotto.engine.kernels import native
from sotto.engine.vectors.hidden_states import body_of
from sotto.errors import BrokenModelError, InvalidRequestError, UnsupportedModelError
from sotto.store.opening import open_model, record_of
from tiny_random import write_model

TEXTS = json.loads((EMBEDDINGS / "texts.json").read_text(encoding="utf-8"))
LONG = " ".join(TEXTS)
# The logits of these models are not just a matrix product of the hidden states.
OTHER_OUTPUTS = {"falcon-h1", "gemma2", "gemma3n", "granite", "granite-hybrid-moe"}
GENERATIVE = sorted({path.name for path in REFERENCES.iterdir()} - OTHER_OUTPUTS - {"gpt-neox"})
TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def wanted():
    return np.array(mx.load(str(EMBEDDINGS / "minilm.safetensors"))["vectors"])


@pytest.fixture(scope="module")
def encoder():
    engine = Engine()
    engine.load(open_model(record_of(minilm())))
    yield engine
    engine.unload()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {kind: write_model(root / kind, kind) for kind in ("plain", "window", "recurrent", "hybrid")}


@pytest.fixture
def engine():
    engine = Engine()
    yield engine
    engine.unload()


@pytest.fixture
def writer(engine, folders):
    engine.load(open_model(record_of(folders["plain"])))
    return engine


def test_vectors_of_minilm_are_those_of_pytorch(encoder, wanted):
    done = embed(encoder, *TEXTS)
    assert np.abs(np.array(done.vectors) - wanted).max() < TOLERANCE


def test_a_text_has_the_same_vector_alone_and_among_others(encoder, wanted):
    for text, vector in zip(TEXTS[:4], wanted, strict=False):
        assert np.abs(np.array(embed(encoder, text).vectors[0]) - vector).max() < TOLERANCE


def test_an_encoder_is_described_as_such(encoder):
    info = encoder.info
    assert (info.architecture, info.writes, info.context_length) == ("bert", False, 256)
    assert record_of(minilm()).capabilities == ("embedding",)


def test_special_tokens_are_counted_and_truncated_tokens_are_not(encoder):
    # As by the tokenizer of transformers: [CLS] hello world [SEP], and 256 tokens of the long text.
    assert embed(encoder, "Hello world").prompt_tokens == 4
    assert embed(encoder, "Hello world", LONG).prompt_tokens == 4 + 256


def test_no_text_gives_no_vector(encoder):
    assert embed(encoder).vectors == ()


def test_a_text_that_is_too_long_is_refused_if_it_may_not_be_truncated(encoder):
    with pytest.raises(InvalidRequestError, match=r"input length exceeds the context length \(\d+ tokens, where 256"):
        embed(encoder, "short", LONG, truncate=False)


def test_fewer_dimensions_are_the_first_ones_normalised_again(encoder, wanted):
    (vector,) = embed(encoder, TEXTS[0], dimensions=10).vectors
    first = wanted[0, :10]
    assert np.allclose(vector, first / np.linalg.norm(first), atol=TOLERANCE)


@pytest.mark.parametrize("dimensions", [0, -1])
def test_dimensions_below_1_are_refused(encoder, dimensions):
    with pytest.raises(InvalidRequestError, match="dimensions is"):
        embed(encoder, "a", dimensions=dimensions)


def test_too_many_dimensions_fail_with_a_sentence(encoder):
    failed = embed(encoder, "a", dimensions=385)
    assert isinstance(failed, Failed)
    assert not failed.bug
    assert failed.message == "dimensions is 385, and the vectors of this model have 384; leave it out."


def test_half_a_character_is_refused(encoder):
    with pytest.raises(InvalidRequestError, match="half of a character"):
        embed(encoder, "\ud83e")


def test_an_encoder_refuses_to_chat_and_can_count(encoder):
    with pytest.raises(InvalidRequestError, match="writes no text, it makes embeddings only"):
        encoder.prepare(GenerateRequest("g", (Message("user", "Hi"),)))
    assert encoder.count(CountRequest("c", (Message("user", "Hi"),))).tokens > 0


def test_a_cancelled_request_ends_as_cancelled(encoder):
    end = embed(encoder, *TEXTS, cancelled=lambda: True)
    assert isinstance(end, Finished)
    assert end.done_reason is DoneReason.CANCELLED
    assert encoder.running == 0


def test_a_request_that_was_prepared_for_another_model_is_refused(encoder, writer):
    with pytest.raises(InvalidRequestError, match="not loaded any more"):
        writer.embed(encoder.prepare_texts(EmbedRequest("e", ("a",))))


def test_without_a_model_nothing_is_prepared(engine):
    with pytest.raises(InvalidRequestError, match="No model is loaded"):
        engine.prepare_texts(EmbedRequest("e", ("a",)))


def test_a_shorter_requested_context_is_used(engine):
    assert engine.load(open_model(record_of(minilm())), num_ctx=16).context_length == 16
    assert embed(engine, LONG).prompt_tokens == 16


def changed(tmp_path, **files):
    """Return a copy of MiniLM with some files changed; `__` in their names stands for `/`."""
    folder = tmp_path / "model"
    folder.mkdir()
    for path in minilm().iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)
    (folder / "1_Pooling").mkdir()
    shutil.copy(minilm() / "1_Pooling" / "config.json", folder / "1_Pooling" / "config.json")
    for name, content in files.items():
        path = folder / (name.replace("__", "/") + ".json")
        path.write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_pooling_and_normalising_follow_the_files(engine, tmp_path, wanted):
    steps = [("", "Transformer"), ("1_Pooling", "Pooling")]
    listed = [
        {"idx": index, "name": str(index), "path": path, "type": f"st.{kind}"}
        for index, (path, kind) in enumerate(steps)
    ]
    folder = changed(tmp_path, modules=listed, **{"1_Pooling__config": {"pooling_mode": "cls"}})
    plain = record_of(minilm())
    record = record_of(folder)
    assert record.digest != plain.digest
    engine.load(open_model(record))
    (vector,) = embed(engine, TEXTS[0]).vectors
    assert np.linalg.norm(vector) > 1.1
    assert np.dot(vector, wanted[0]) / np.linalg.norm(vector) < 0.99
    (normalised,) = embed(engine, TEXTS[0], normalise=True).vectors
    assert np.allclose(normalised, np.array(vector) / np.linalg.norm(vector), atol=1e-6)


def test_an_encoder_takes_no_draft_model(engine, tmp_path):
    other = open_model(record_of(changed(tmp_path, **{"1_Pooling__config": {"pooling_mode": "cls"}})))
    with pytest.raises(UnsupportedModelError, match="nothing to draft"):
        engine.load(open_model(record_of(minilm())), draft=other)


def test_weights_that_give_nan_fail_with_a_sentence(engine, tmp_path):
    folder = changed(tmp_path)
    tensors = mx.load(str(folder / "model.safetensors"))
    tensors["embeddings.word_embeddings.weight"] = tensors["embeddings.word_embeddings.weight"] * mx.nan
    mx.save_safetensors(str(folder / "model.safetensors"), tensors)
    engine.load(open_model(record_of(folder)))
    failed = embed(engine, "a")
    assert isinstance(failed, Failed)
    assert "its weights may be damaged" in failed.message


@pytest.mark.parametrize("case", GENERATIVE)
def test_hidden_states_of_generative_models_give_the_logits_of_transformers(case):
    """Multiply hidden states by the output layer in the file, and compare with the logits of the reference."""
    loaded = load_folder(REFERENCES / case)
    tensors = mx.load(str(REFERENCES / case / "model.safetensors"))
    truth = mx.load(str(REFERENCES / case / "expected.safetensors"))
    hidden = body_of(loaded.model, loaded.config)(truth["short_ids"][None], cache=make_caches(loaded.model))[0]
    names = ("lm_head.weight", "model.embed_tokens.weight", "backbone.embeddings.weight")
    scores = hidden @ next(tensors[name] for name in names if name in tensors).T
    assert mx.abs(scores - truth["short_whole"]).max().item() < 1e-3


def test_a_base_model_that_was_saved_by_itself_can_be_loaded(tmp_path):
    folder = shutil.copytree(REFERENCES / "llama-tied", tmp_path / "model")
    tensors = mx.load(str(folder / "model.safetensors"))
    mx.eval(tensors)
    alone = {name.removeprefix("model."): array for name, array in tensors.items()}
    assert alone.keys().isdisjoint(tensors)
    mx.save_safetensors(str(folder / "model.safetensors"), alone)
    truth = mx.load(str(folder / "expected.safetensors"))
    logits = load_folder(folder).model(truth["short_ids"][None])[0]
    assert mx.abs(logits - truth["short_whole"]).max().item() < 1e-3


def test_a_model_that_does_not_return_hidden_states_is_refused():
    loaded = load_folder(REFERENCES / "gpt-neox")
    with pytest.raises(UnsupportedModelError, match="Embeddings by gpt_neox models are not supported"):
        body_of(loaded.model, loaded.config)(mx.array([[1, 2]]), cache=make_caches(loaded.model))


@pytest.mark.parametrize("kind", ["plain", "window", "recurrent", "hybrid"])
def test_a_generative_model_averages_hidden_states_in_chunks_as_at_once(engine, folders, kind):
    engine.load(open_model(record_of(folders[kind])))
    text = "The quick brown fox jumps over the lazy dog. " * 5
    done = embed(engine, text, "fox")
    loaded = load_folder(folders[kind])
    # The vocabulary has one token per printable ASCII character, in order, beginning with the space.
    for given, vector in zip((text, "fox"), done.vectors, strict=True):
        tokens = mx.array([[ord(char) - 32 for char in given]])
        hidden = np.array(body_of(loaded.model, loaded.config)(tokens, cache=make_caches(loaded.model))[0].mean(axis=0))
        assert np.allclose(vector, hidden / np.linalg.norm(hidden), atol=1e-4)
    assert done.prompt_tokens == len(text) + 3


@pytest.mark.parametrize("kind", ["plain", "window", "hybrid"])
def test_caches_of_texts_are_counted_and_cached_prefixes_make_room_for_them(folders, kind):
    source = open_model(record_of(folders[kind]))
    needs = needs_of(source, limits_here(), native.kernels())
    text = "word " * 60  # 300 tokens, in three chunks
    engine = Engine(EngineSettings(prefix_budget=needs.cache_bytes(300) + 1))
    engine.load(source)
    try:
        list(engine.generate(engine.prepare(GenerateRequest("g", prompt="word " * 50, num_predict=4))))
        kept = engine.memory()
        assert (kept.cache > 0, kept.live) == (True, 0)
        stopped = False
        engine.embed(engine.prepare_texts(EmbedRequest("e", (text,))), lambda: stopped)
        engine.step()
        during = engine.memory()
        assert needs.cache_bytes(128) <= during.live <= needs.cache_bytes(300)
        assert during.cache <= during.budget
        stopped = True
        assert engine.step()
        assert engine.memory().live == 0
        embed(engine, text)
        assert engine.memory().live == 0
    finally:
        engine.unload()


def test_an_empty_text_is_refused_if_no_special_tokens_are_added(writer):
    with pytest.raises(InvalidRequestError, match="An input is empty"):
        embed(writer, "")


def test_a_token_that_the_model_lacks_is_refused(folders, tmp_path, engine):
    folder = shutil.copytree(folders["plain"], tmp_path / "model")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["\u0120"] = 500
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    engine.load(open_model(record_of(folder)))
    with pytest.raises(BrokenModelError, match="into token 500"):
        embed(engine, " ")


def test_an_answer_and_embeddings_take_turns(writer):
    writer.embed(writer.prepare_texts(EmbedRequest("e", ("long " * 50,) * 10)))
    writer.start(
        writer.prepare(GenerateRequest("g", prompt="Hi", num_predict=12, sampling=SamplingOptions(temperature=0)))
    )
    kinds = []
    while writer.running:
        kinds += [type(event) for event in writer.step()]
    # The answer of 12 tokens ends long before the 20 steps of the texts.
    assert kinds.index(Finished) < kinds.index(Embedded)
    assert kinds.count(TextChunk) >= 10


def test_an_answer_is_the_same_with_and_without_embeddings_beside_it(writer):
    request = GenerateRequest("g", prompt="Hi there", num_predict=20, sampling=SamplingOptions(temperature=0))
    alone = list(writer.generate(writer.prepare(request)))[-1]
    writer.embed(writer.prepare_texts(EmbedRequest("e", ("long " * 50,) * 3)))
    beside = [event for event in writer.generate(writer.prepare(request)) if isinstance(event, Finished)]
    assert beside[0].token_ids == alone.token_ids
