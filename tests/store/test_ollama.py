"""Stores in Ollama's layout: what a row says, and each way in which a model can be broken."""

import os
from dataclasses import replace

import pytest

from material import material
from sotto.store.discovery import discover
from sotto.store.records import Format, Place, Source
from sotto.store.roots import Root
from stores import LLAMA, Store, assert_sentence, gguf, gguf_text, safetensors


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "models")


def listing(store, **options):
    return discover([Root(Source.OLLAMA, store.root, True)], **options)


def only(store):
    found = listing(store)
    assert not found.problems
    (record,) = found.records
    return record


def broken(store, *mentions):
    """Return the one row, which cannot run, and whose reason is the one problem."""
    found = listing(store)
    (record,), (problem,) = found.records, found.problems
    assert (record.runnable, record.reason, record.path) == (False, problem.message, problem.path)
    assert_sentence(record.reason, store.root, *mentions)
    return record


def test_a_row_says_what_its_manifest_and_headers_say(store):
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
    assert (last.format, last.quantization, last.architecture, last.runnable) == (Format.GGUF, "F32", "llama", False)
    assert "GGUF" in last.reason


def test_names_of_one_manifest_are_one_row(store):
    first = store.model("b:1")
    for name in ("a:1", "example.com/x/c:1"):
        store.raw_manifest(name, first.read_bytes())
    record = only(store)
    assert record.name == "a:1"
    assert set(record.also) == {
        Place("b:1", Source.OLLAMA, first),
        Place("example.com/x/c:1", Source.OLLAMA, store.path("example.com/x/c:1")),
    }


def test_rows_are_in_the_order_of_their_names(store):
    for fill, name in enumerate(["b:1", "A:1", "c:1", "a:2", "jo/a:1"]):
        store.model(name, fill=fill)
    assert [record.name for record in listing(store).records] == ["A:1", "a:2", "b:1", "c:1", "jo/a:1"]


def test_gguf_layers_are_listed_and_cannot_run(store):
    content = gguf(
        [("general.architecture", 8, gguf_text("gemma")), ("gemma.context_length", 4, b"\0\1\0\0")], {"w": [7]}
    )
    config = store.config(model_format="gguf", file_type="Q4_K_M", model_family="gemma3", model_type="1.5B")
    store.manifest("g", [store.layer("model", content)], config)
    record = only(store)
    assert (record.format, record.architecture, record.parameters) == (Format.GGUF, "gemma3", 1_500_000_000)
    assert (record.quantization, record.context_length, record.runnable) == ("Q4_K_M", 256, False)
    assert_sentence(record.reason, "GGUF")


def test_without_words_of_its_own_a_gguf_model_is_what_its_file_says(store):
    content = gguf([("general.architecture", 8, gguf_text("gemma")), ("general.file_type", 4, b"\2\0\0\0")], {"w": [7]})
    store.manifest("g", [store.layer("model", content)], store.config(model_format="", file_type="unknown"))
    record = only(store)
    assert (record.architecture, record.parameters, record.quantization) == ("gemma", 7, "Q4_0")


def test_a_model_of_the_cloud_says_where_it_runs(store):
    store.manifest("c:cloud", [], store.config(model_format="", remote_host="https://example.com:443"))
    found = listing(store)
    assert not found.problems
    assert_sentence(found.records[0].reason, "https://example.com:443")
    assert not found.records[0].runnable


def test_what_the_engine_says_of_a_config_is_the_reason(store):
    store.model("a", fill=1)
    store.model("b", fill=2, config=LLAMA | {"model_type": "odd"})
    found = listing(store, judge=lambda config: "Odd models cannot run." if config["model_type"] == "odd" else "")
    assert [(record.name, record.runnable, record.reason) for record in found.records] == [
        ("a:latest", True, ""),
        ("b:latest", False, "Odd models cannot run."),
    ]
    assert not found.problems


def test_a_missing_blob_is_named(store):
    layers = store.layers()
    store.manifest("m", layers)
    path = store.blob_path(layers[0]["digest"])
    path.unlink()
    record = broken(store, path, "is missing")
    assert (record.architecture, record.format) == ("llama", Format.SAFETENSORS)


def test_missing_blobs_are_counted(store):
    layers = store.layers()
    path = store.manifest("m", layers)
    for layer in layers[:2]:
        store.blob_path(layer["digest"]).unlink()
    broken(store, "2 of the 5 files", path, store.blob_path(layers[0]["digest"]))


@pytest.mark.parametrize("which", range(4))
def test_a_blob_of_another_size_is_named(store, which):
    layers = store.layers()
    store.manifest("m", layers)
    path = store.blob_path(layers[which]["digest"])
    path.write_bytes(path.read_bytes() + b" ")
    broken(store, path, f"has {layers[which]['size'] + 1} bytes where its manifest says {layers[which]['size']}")


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


def test_blobs_with_a_colon_or_capitals_are_recognised(store):
    layers = store.layers()
    store.manifest("m", layers)
    for layer, rename in zip(layers, (str.lower, str.upper), strict=False):
        path = store.blob_path(layer["digest"])
        digest = layer["digest"].removeprefix("sha256:")
        path.rename(path.with_name(f"sha256:{digest}" if rename is str.lower else f"sha256-{digest.upper()}"))
    assert only(store).runnable


def test_only_files_four_levels_deep_are_manifests(store):
    content = store.model("m").read_bytes()
    manifests = store.root / "manifests"
    (manifests / "latest").write_bytes(content)
    (manifests / "registry.ollama.ai" / "library" / "deep").write_bytes(content)
    deeper = manifests / "registry.ollama.ai" / "library" / "m" / "folder"
    deeper.mkdir()
    (deeper / "latest").write_bytes(content)
    assert only(store).name == "m:latest"


@pytest.mark.parametrize("name", [".DS_Store", "latest~", "-x", "a b", "tag\n\x1b[2J", "x" * 81, "täg"])
def test_other_files_beside_manifests_are_problems_and_nothing_more(store, name):
    path = store.model("m")
    path.with_name(name).write_bytes(b"Bud1")
    found = listing(store)
    assert [record.name for record in found.records] == ["m:latest"]
    (problem,) = found.problems
    assert_sentence(problem.message, path.parent, "is no valid tag")


def test_folders_with_names_that_cannot_be_are_problems(store):
    store.model("m")
    bad = store.root / "manifests" / "registry.ollama.ai" / "a.b"
    (bad / "model").mkdir(parents=True)
    found = listing(store)
    assert len(found.records) == 1
    assert_sentence(found.problems[0].message, bad, "is no valid namespace")


def test_other_files_among_the_blobs_do_not_matter(store):
    store.model("m")
    for name in ("sha256-123-partial", "sha256-x.tmp", ".DS_Store", "sha256-" + "0" * 64):
        (store.root / "blobs" / name).write_bytes(b"x")
    assert only(store).runnable


def test_an_empty_store_has_nothing_to_say(store, tmp_path):
    assert listing(store).records == ()
    (tmp_path / "bare").mkdir()
    found = discover([Root(Source.OLLAMA, tmp_path / "bare", True)])
    assert (found.records, found.problems) == ((), ())


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


def test_a_layer_that_is_listed_twice_counts_once_as_weights(store):
    layers = store.layers()
    store.manifest("m", [*layers, layers[0]])
    assert only(store).parameters == 40


def test_a_shared_blob_is_read_for_each_model(store):
    store.model("a", file_type="x")
    store.model("b", file_type="y")
    first, second = listing(store).records
    assert replace(first, name=second.name, digest=second.digest, path=second.path, quantization="y") == second


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_manifest_that_may_not_be_read_is_named(store):
    path = store.model("m")
    path.chmod(0)
    broken(store, path, "may not be read by you")


def test_the_model_type_is_derived_from_the_class_when_there_is_none(store):
    config = {"architectures": ["Qwen3ForCausalLM"], "text_config": {"max_position_embeddings": 7}}
    store.manifest("m", [*store.layers(config=config)])
    record = only(store)
    assert (record.architecture, record.context_length) == ("qwen3", 7)
