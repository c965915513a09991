"""GGUF files from the disk to the answer: planning, progress, refusals, and the answers of real files."""

import dataclasses
import json

import gguf
import mlx.core as mx
import numpy as np
import pytest

from checkpoints import LLAMA, Watch
from gguf_writing import write_model
from loading import PLENTY, load, random_weights
from material import material
from sotto.engine.contract.events import Finished
from sotto.engine.contract.requests import GenerateRequest, Message, SamplingOptions
from sotto.engine.engine import Engine
from sotto.engine.footprint.model_needs import needs_of, plan_model
from sotto.engine.kernels import native
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError, CancelledError, UnsupportedModelError
from sotto.store.opening import open_model, record_of, resolve
from sotto.store.printable import format_size
from stores import assert_sentence


def story_model():
    return open_model(record_of(material("ollama-store", "manifests/registry.ollama.ai/library/stories260k/latest")))


def tiny(folder, kind=None, **changes):
    """Write a tiny Llama with random weights and open it."""
    config = LLAMA | changes
    weights = {name: np.array(array) for name, array in random_weights(config).items()}
    path = write_model(folder / "model.gguf", config, weights, *([] if kind is None else [kind]))
    return open_model(record_of(path))


def greedy(model, tokens, count, ends):
    """Return the most probable continuation of `tokens`: at most `count` tokens, up to one of `ends`."""
    from mlx_lm.models.cache import KVCache

    cache, generated, inputs = [KVCache() for _ in model.layers], [], mx.array([tokens])
    while len(generated) < count:
        token = int(mx.argmax(model(inputs, cache=cache)[0, -1]))
        if token in ends:
            break
        generated.append(token)
        inputs = mx.array([[token]])
    return generated


def test_a_real_file_tells_the_expected_stories():
    source = story_model()
    tokenizer, model = Tokenizer.from_source(source), load(source).model
    for story in json.loads(material("stories260k", "expected.json").read_text(encoding="utf-8")):
        prompt = tokenizer.encode(story["prompt"])
        generated = greedy(model, prompt, story["steps"] - len(prompt) + 1, {1, 2})
        assert story["prompt"] + tokenizer.decode(generated) == story["text"]


def test_the_planned_weight_bytes_are_those_of_the_loaded_model(tmp_path):
    for kind in (gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q5_0, gguf.GGMLQuantizationType.F16):
        source = tiny(tmp_path, kind)
        needs = needs_of(source, PLENTY, native.kernels())
        assert not needs.unknown
        assert needs.weight_bytes == load(source).weight_bytes


def quantized_bytes(source):
    """Load a model and return the bytes of its quantized layers."""
    modules = [layer for layer in load(source).model.modules() if "scales" in layer]
    return sum(layer[part].nbytes for layer in modules for part in ("weight", "scales", "biases") if part in layer)


@pytest.mark.parametrize("kernels", [native.kernels(), None], ids=["native", "mlx"])
def test_the_plan_says_how_types_are_held_and_in_how_many_bytes(tmp_path, kernels, monkeypatch):
    if kernels is None:
        monkeypatch.setattr(native, "install", lambda: False)
    assert plan_model(tiny(tmp_path), PLENTY, kernels=kernels).repacked == ""
    source = tiny(tmp_path, gguf.GGMLQuantizationType.Q5_1)
    expected = f"Q5_1 in 8 bits ({format_size(quantized_bytes(source))})"
    assert plan_model(source, PLENTY, kernels=kernels).repacked == expected


@pytest.mark.parametrize("kept", [native.kept_modes(), frozenset()], ids=["native", "mlx"])
def test_the_plan_names_every_type_that_does_not_keep_its_bits(tmp_path, monkeypatch, kept):
    monkeypatch.setattr(native, "kept_modes", lambda: kept)
    path = tmp_path / "model.gguf"
    # The same bytes labelled as Q6_K and Q4_K, whose blocks of 256 elements need rows of 256.
    tiny(tmp_path, gguf.GGMLQuantizationType.Q8_0, hidden_size=256, intermediate_size=256)
    for old, new in ((b"attn_q", 14), (b"ffn_up", 12)):
        raw = path.read_bytes()
        for layer in (0, 1):
            name = b"blk.%d.%s.weight" % (layer, old)
            place = raw.index(name) + len(name) + 4 + 16
            raw = raw[:place] + new.to_bytes(4, "little") + raw[place + 4 :]
        path.write_bytes(raw)
    repacked = plan_model(open_model(record_of(path)), PLENTY, kernels=native.kernels()).repacked
    named = {"Q8_0 in 8 bits": "q8_0", "Q6_K rounded to 8 bits": "q6_k", "Q4_K in 4 bits": "q4_k"}
    wanted = ", ".join(text for text, mode in named.items() if mode not in kept)
    assert ", ".join(part.partition(" (")[0] for part in repacked.split(", ")) == wanted


def test_progress_counts_the_bytes_of_the_file_and_can_be_stopped(tmp_path):
    source, watch = tiny(tmp_path), Watch()
    load(source, watch)
    done = [event.done for event in watch.events]
    assert done == sorted(done)
    assert done[-1] == watch.events[-1].total == source.weight_bytes
    with pytest.raises(CancelledError):
        load(source, Watch(stop_after=2))


def test_a_file_that_became_shorter_is_refused(tmp_path):
    source = tiny(tmp_path)
    path = source.tensor_files[0].path
    path.write_bytes(path.read_bytes()[:-4096])
    with pytest.raises(BrokenModelError, match="was changed") as refused:
        load(source)
    assert_sentence(refused.value.message, path)


def test_a_tensor_without_a_layer_is_refused(tmp_path):
    config = LLAMA
    weights = {name: np.array(array) for name, array in random_weights(config).items()}
    path = write_model(tmp_path / "model.gguf", config, weights)
    content = path.read_bytes().replace(b"blk.0.ffn_up.weight", b"blk.0.ffn_op.weight")
    path.write_bytes(content)
    with pytest.raises(UnsupportedModelError, match=r"blk\.0\.ffn_op\.weight"):
        load(open_model(record_of(path)))


def rewritten(folder, config=LLAMA, **values):
    """Write a tiny model with changed values of its architecture, and open it."""

    def change(writer):
        for key, value in values.items():
            writer.kv_data[0].pop(f"{writer.arch}.{key}", None)
            writer.add_bool(f"{writer.arch}.{key}", value) if value is True else writer.add_uint32(
                f"{writer.arch}.{key}", value
            )

    weights = {name: np.array(array) for name, array in random_weights(config).items()}
    return open_model(record_of(write_model(folder / "model.gguf", config, weights, change=change)))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"attention.key_length": 70_000}, "llama.attention.key_length of {} should be between 0 and 65,536."),
        ({"attention.head_count_kv": 1}, "the header of {} calls for"),
        ({"feed_forward_length": 24}, "the header of {} calls for"),
    ],
)
def test_load_errors_use_the_names_of_the_gguf_file(tmp_path, values, why):
    source = rewritten(tmp_path, **values)
    for refuse in (load, lambda source: needs_of(source, PLENTY, native.kernels())):
        with pytest.raises((BrokenModelError, UnsupportedModelError)) as refused:
            refuse(source)
        assert why.format(tmp_path / "model.gguf") in refused.value.message
        assert ".json" not in refused.value.message


def test_errors_about_the_vocabulary_name_the_gguf_file(tmp_path):
    path = tiny(tmp_path).tensor_files[0].path
    source = open_model(record_of(path))
    damaged = dataclasses.replace(source, tokenizer_json=source.tokenizer_json.replace('"BPE"', '"XYZ"'))
    with pytest.raises(BrokenModelError, match=r"^The vocabulary of .*: it cannot be read") as refused:
        Tokenizer.from_source(damaged)
    assert str(path) in refused.value.message


@pytest.fixture
def engine():
    engine = Engine()
    yield engine
    engine.unload()


def answer(engine, source, question):
    engine.load(source)
    request = GenerateRequest(
        "1", messages=(Message("user", question),), sampling=SamplingOptions(temperature=0), num_predict=40
    )
    (finished,) = [event for event in engine.generate(engine.prepare(request)) if isinstance(event, Finished)]
    return finished.text, finished.prompt_tokens, finished.done_reason


def as_gguf(path, source):
    """Write a model as a GGUF file with float32 weights, its vocabulary and its chat template."""
    saved, settings = json.loads(source.tokenizer_json), source.json_files["tokenizer_config.json"]
    vocabulary = saved["model"]["vocab"] | {token["content"]: token["id"] for token in saved["added_tokens"]}
    texts = sorted(vocabulary, key=vocabulary.__getitem__)
    special = {token["id"] for token in saved["added_tokens"]}

    def write(writer, count):
        assert len(texts) == count
        writer.add_tokenizer_model("gpt2")
        # Splits off each digit before it splits words, like the pattern of the built-in model.
        writer.add_tokenizer_pre("smollm")
        writer.add_token_list(texts)
        writer.add_token_types([3 if index in special else 1 for index in range(count)])
        writer.add_token_merges([" ".join(merge) for merge in saved["model"]["merges"]])
        writer.add_bos_token_id(vocabulary[settings["bos_token"]])
        writer.add_eos_token_id(vocabulary[settings["eos_token"]])
        writer.add_add_bos_token(settings["add_bos_token"])
        writer.add_chat_template(settings["chat_template"])

    model = load(source).model
    weights = {}
    for name, layer in model.named_modules():
        if "scales" in layer:
            kind = {"group_size": layer.group_size, "bits": layer.bits}
            found = mx.dequantize(
                layer.weight, *(layer[part].astype(mx.float32) for part in ("scales", "biases")), **kind
            )
        elif "weight" in layer:
            found = layer.weight
        else:
            continue
        weights[f"{name}.weight"] = np.array(found.astype(mx.float32))
    return write_model(path, source.config, weights, vocabulary=write)


def test_the_built_in_model_gives_the_same_answer_as_a_gguf_file(tmp_path, engine):
    original = open_model(resolve("sotto"))
    converted = open_model(record_of(as_gguf(tmp_path / "sotto.gguf", original)))
    for question in ("Hello!", "What is 12 + 30?", "Who are you, and what can you do?"):
        assert answer(engine, converted, question) == answer(engine, original, question)
