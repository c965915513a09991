"""Records of models in Ollama's layout, and the reasons why a model cannot run."""

from dataclasses import replace

import pytest

from material import material
from ollama_rows import broken, listing, only
from sotto.store.discovery import discover
from sotto.store.records import Format, Place, Source
from sotto.store.roots import Root
from stores import LLAMA, Store, assert_sentence, gguf, gguf_text, safetensors


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "models")


def test_a_record_has_the_facts_of_its_manifest_and_headers(store):
    path = store.model("jo/llama3:8b")
    record = only(store)
    assert (record.name, record.path, record.source) == ("jo/llama3:8b", path, Source.OLLAMA)
    assert (record.format, record.architecture, record.quantization) == (Format.SAFETENSORS, "llama", "F32")
    assert (record.parameters, record.context_length) == (4 * 8 + 8, 512)
    assert record.size == sum(blob.stat().st_size for blob in (store.root / "blobs").iterdir())
    assert (record.runnable, record.reason, record.capabilities) == (True, "", ("completion",))
    assert record.also == ()


def test_a_real_store_is_listed():
    root = material("ollama-store")
    found = discover([Root(Source.OLLAMA, root, True)])
    assert not found.problems
    rows = {record.name: record for record in found.records}
    assert list(rows) == [
        *[f"stories260k-mlx:{tag}" for tag in ("int4", "int8", "latest", "mxfp4", "mxfp8", "nvfp4")],
        "stories260k:latest",
    ]
    for name, record in rows.items():
        if record.format is Format.SAFETENSORS:
            tag = name.rpartition(":")[2]
            assert record.quantization == ("F32" if tag == "latest" else tag)
            assert (record.parameters, record.context_length, record.runnable) == (260_032, 512, True)
    last = rows["stories260k:latest"]
    assert (last.format, last.quantization, last.architecture, last.runnable) == (Format.GGUF, "F32", "llama", True)


def test_several_names_of_one_manifest_are_one_record(store):
    first = store.model("b:1")
    for name in ("a:1", "example.com/x/c:1"):
        store.raw_manifest(name, first.read_bytes())
    record = only(store)
    assert record.name == "a:1"
    assert set(record.also) == {
        Place("b:1", Source.OLLAMA, first),
        Place("example.com/x/c:1", Source.OLLAMA, store.path("example.com/x/c:1")),
    }


def test_records_are_sorted_by_name(store):
    for fill, name in enumerate(["b:1", "A:1", "c:1", "a:2", "jo/a:1"]):
        store.model(name, fill=fill)
    assert [record.name for record in listing(store).records] == ["A:1", "a:2", "b:1", "c:1", "jo/a:1"]


def gguf_model(store, *layers, architecture="gemma3"):
    key = f"{architecture}.context_length"
    content = gguf([("general.architecture", 8, gguf_text(architecture)), (key, 4, b"\0\1\0\0")], {"w": [7]})
    config = store.config(
        model_format="gguf",
        file_type="Q4_K_M",
        model_family=architecture,
        model_type="1.5B",
        capabilities=["completion", "vision"],
    )
    store.manifest("g", [store.layer("model", content), *layers], config)
    return only(store)


def test_gguf_layers_are_records(store):
    record = gguf_model(store)
    assert (record.format, record.architecture, record.parameters) == (Format.GGUF, "gemma3", 1_500_000_000)
    assert (record.quantization, record.context_length, record.runnable) == ("Q4_K_M", 256, True)


def test_a_projector_beside_a_gguf_model_is_ignored(store):
    record = gguf_model(store, store.layer("projector", gguf(tensors={"v": [3]})))
    assert (record.runnable, record.capabilities) == (True, ("completion",))


def test_an_adapter_beside_a_gguf_model_is_added_to_it(store):
    assert gguf_model(store, store.layer("adapter", gguf(tensors={"v": [3]}))).runnable


def test_a_gguf_model_of_another_kind_cannot_run(store):
    record = gguf_model(store, architecture="rwkv6")
    assert not record.runnable
    assert_sentence(record.reason, "'rwkv6' cannot run yet", "llama")


def test_facts_of_a_gguf_model_default_to_those_of_its_file(store):
    content = gguf([("general.architecture", 8, gguf_text("gemma")), ("general.file_type", 4, b"\2\0\0\0")], {"w": [7]})
    store.manifest("g", [store.layer("model", content)], store.config(model_format="", file_type="unknown"))
    record = only(store)
    assert (record.architecture, record.parameters, record.quantization) == ("gemma", 7, "Q4_0")


def test_a_cloud_model_says_where_it_runs(store):
    store.manifest("c:cloud", [], store.config(model_format="", remote_host="https://example.com:443"))
    found = listing(store)
    assert not found.problems
    assert_sentence(found.records[0].reason, "https://example.com:443")
    assert not found.records[0].runnable


def test_the_engines_judgement_of_a_config_is_the_reason(store):
    store.model("a", fill=1)
    store.model("b", fill=2, config=LLAMA | {"model_type": "odd"})
    found = listing(store, judge=lambda config: "Odd models cannot run." if config["model_type"] == "odd" else "")
    assert [(record.name, record.runnable, record.reason) for record in found.records] == [
        ("a:latest", True, ""),
        ("b:latest", False, "Odd models cannot run."),
    ]
    assert not found.problems


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        ({"model_format": 7}, "model_format is a number; it should be a text"),
        ({"model_format": "onnx\x07"}, "model_format is 'onnx\\x07'; it should be safetensors"),
        ({"model_format": "gguf"}, "model_format is 'gguf'; it should be safetensors"),
        ({"file_type": []}, "file_type is a list"),
        ({"capabilities": "completion"}, "capabilities should be a list of texts"),
        ({"capabilities": [1]}, "capabilities should be a list of texts"),
        ({"draft": "draft."}, "draft is a text; it should be an object"),
        ({"draft": {"tensor_prefix": ""}}, "draft.tensor_prefix should be a text that ends with a dot"),
    ],
)
def test_a_wrong_key_of_the_config_blob_is_named(store, config, wrong):
    store.model("m", **config)
    broken(store, wrong)


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        ({"model_type": 5}, "model_type is a number; it should be a text"),
        ({"architectures": {}}, "architectures is an object"),
        ({"architectures": [None]}, "architectures should be a list of texts"),
        ({"text_config": []}, "text_config is a list"),
        ({"quantization": "int4"}, "quantization is a text"),
        ({"max_position_embeddings": -1}, "max_position_embeddings is -1"),
        ({"max_position_embeddings": 1e300}, "max_position_embeddings is 1e+300"),
        ({"max_position_embeddings": float("nan")}, "max_position_embeddings is nan"),
        ({"max_position_embeddings": "many"}, "max_position_embeddings is a text"),
        ({"max_position_embeddings": 0.5}, "max_position_embeddings is 0.5"),
        ({"max_position_embeddings": 10**4000}, "max_position_embeddings is 1000"),
    ],
)
def test_absurd_values_of_a_config_are_named(store, config, wrong):
    store.model("m", config=LLAMA | config)
    broken(store, wrong, store.root / "blobs")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_required_layer_is_named(store, name):
    path = store.manifest("m", [layer for layer in store.layers() if layer.get("name") != name])
    broken(store, path, f"has no {name}")


def test_a_model_without_weights_is_broken(store):
    path = store.manifest("m", store.layers()[2:])
    broken(store, path, "has no tensors")
    store.manifest("m", [], store.config(model_format="gguf"))
    broken(store, path, "neither tensors nor a GGUF file")


def test_a_damaged_header_is_named(store):
    layer = store.layer("tensor", safetensors({"w": ("F32", (2,))})[:-1], "w")
    store.manifest("m", [layer, *store.layers()[2:]])
    broken(store, store.blob_path(layer["digest"]), "is cut off")


def test_parameters_are_counted_from_one_header_of_each_kind(store):
    tensors = []
    for number in range(30):
        weight = {f"layers.{number}.w.weight": ("U32", (8, 8)), f"layers.{number}.w.weight.scale": ("U8", (8, 2))}
        content = safetensors(weight, {"quant_type": "mxfp4", "group_size": "32"}, fill=number)
        tensors.append(store.layer("tensor", content, f"layers.{number}.w.weight"))
    draft = store.layer("tensor", safetensors({"draft.w": ("F32", (1000,))}), "draft.w")
    store.manifest("m", [*tensors, draft, *store.layers()[2:]], store.config(draft={"architecture": "x"}))
    record = only(store)
    assert (record.parameters, record.quantization) == (30 * 8 * 64, "mxfp4")


def test_a_duplicate_layer_is_counted_once(store):
    layers = store.layers()
    store.manifest("m", [*layers, layers[0]])
    assert only(store).parameters == 40


def test_a_shared_blob_is_read_for_each_model(store):
    store.model("a", file_type="x")
    store.model("b", file_type="y")
    first, second = listing(store).records
    assert replace(first, name=second.name, digest=second.digest, path=second.path, quantization="y") == second


def test_the_model_type_is_derived_from_the_class_when_there_is_none(store):
    config = {"architectures": ["Qwen3ForCausalLM"], "text_config": {"max_position_embeddings": 7}}
    store.manifest("m", [*store.layers(config=config)])
    record = only(store)
    assert (record.architecture, record.context_length) == ("qwen3", 7)
