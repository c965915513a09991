"""Hostile stores: everything is listed or refused with a message, nothing outside is read, and nothing hangs."""

import contextlib
import json
import os
import random
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.config.supported_models import refusal
from sotto.errors import StoreError
from sotto.store.discovery import discover
from sotto.store.opening import open_model, record_of, resolve
from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.verify import verify
from stores import (
    LLAMA,
    Store,
    assert_line,
    assert_sentence,
    folder,
    gguf,
    gguf_text,
    repository,
    safetensors,
    with_header,
)
from thoroughness import examples

FUZZ = examples(120)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 1, 2, 64, 1 << 31, 1 << 63, -(1 << 70), 10**400, 0.5, 1e308, float("inf"), float("nan")]),
    st.sampled_from(["", "llama", "..", "../../etc/passwd", "/etc/passwd", "\x00", "\x1b[2J\n", "\u202e", "a" * 5000]),
    st.text(max_size=8),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
CHANGES = st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=6)
KEYS = """
    model_type architectures text_config quantization quantization_config max_position_embeddings torch_dtype dtype
    vision_config audio_config hidden_size num_hidden_layers vocab_size num_attention_heads num_key_value_heads head_dim
    rope_scaling rope_parameters rope_theta layer_types sliding_window n_positions intermediate_size num_experts
    eos_token_id tie_word_embeddings auto_map model_file
    """.split()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder that is reused for each example."""
    return tmp_path_factory.mktemp("hostile")


def fresh(place):
    path = place / "x"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def list_root(root, kind=Source.OLLAMA, judge=refusal):
    """Return the listing of a root, and check that its problems are sentences about it."""
    found = discover([Root(kind, root, True)], judge)
    for problem in found.problems:
        assert_line(problem.message)
        assert str(root) in problem.message, problem.message
    for record in found.records:
        assert record.name.isprintable()
        assert record.architecture.isprintable()
        assert record.quantization.isprintable()
        assert record.runnable == (not record.reason)
        if record.reason:
            assert_line(record.reason)
        assert record.parameters is None or record.parameters >= 0
        with contextlib.suppress(StoreError):
            open_model(record)
        report_of(record)
    return found


def report_of(record):
    try:
        report = verify(record, lambda done, total: None, lambda: False)
    except StoreError as error:
        assert_line(error.message)
    else:
        for problem in report.problems:
            assert_line(problem.message)


def damage(content, changes):
    content = bytearray(content)
    for position, byte in changes:
        content[position % len(content)] = byte
    return bytes(content)


@FUZZ
@given(CHANGES, st.integers(0, 4000))
def test_a_damaged_manifest_does_not_hide_the_others(place, changes, length):
    store = Store(fresh(place))
    store.model("good", fill=1)
    path = store.model("bad", fill=2)
    path.write_bytes(damage(path.read_bytes(), changes)[: length or None])
    found = list_root(store.root)
    assert "good:latest" in [record.name for record in found.records if record.runnable]
    assert len(found.records) == 2


@FUZZ
@given(st.dictionaries(st.sampled_from(["schemaVersion", "config", "layers", "mediaType"]), JSON))
def test_a_manifest_of_any_json_is_listed_or_refused(place, entries):
    store = Store(fresh(place))
    store.model("good")
    store.raw_manifest("bad", json.dumps(entries).encode())
    found = list_root(store.root)
    assert [record.name for record in found.records if record.runnable] == ["good:latest"]


@FUZZ
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(("mediaType", "digest", "size", "name", "from"), JSON)))
def test_a_layer_of_any_json_is_listed_or_refused(place, change):
    store = Store(fresh(place))
    layers = store.layers()
    store.manifest("m", [layers[0] | change, *layers[1:]])
    assert len(list_root(store.root).records) == 1


@FUZZ
@given(st.fixed_dictionaries({}, optional=dict.fromkeys((*KEYS[:8], "draft", "model_format", "capabilities"), JSON)))
def test_a_config_blob_of_any_json_is_listed_or_refused(place, entries):
    store = Store(fresh(place))
    store.model("m", **entries)
    assert len(list_root(store.root).records) == 1


@FUZZ
@given(st.dictionaries(st.sampled_from(KEYS), JSON, min_size=1, max_size=5))
def test_a_config_of_any_json_is_listed_or_refused(place, config):
    path = folder(fresh(place) / "m", config=LLAMA | config)
    assert len(list_root(path, Source.FOLDER).records) == 1


@FUZZ
@given(st.dictionaries(st.text(max_size=6), JSON, max_size=3), st.binary(max_size=16))
def test_a_header_of_any_json_is_listed_or_refused(place, header, data):
    path = folder(fresh(place) / "m", **{"model.safetensors": with_header(header, data)})
    assert len(list_root(path, Source.FOLDER).records) == 1


@FUZZ
@given(
    st.sampled_from(["config.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json", "x.gguf"]),
    st.binary(max_size=200),
    CHANGES,
    st.booleans(),
)
def test_a_folder_with_a_damaged_file_is_listed_or_refused(place, name, content, changes, whole):
    root = fresh(place)
    folder(root / "good", fill=1)
    path = folder(
        root / "bad",
        **{
            "model.safetensors.index.json": {"weight_map": {"model.embed_tokens.weight": "model.safetensors"}},
            "x.gguf": gguf([("general.architecture", 8, gguf_text("llama"))], {"w": [4]}),
        },
    )
    (path / name).write_bytes(content if whole else damage((path / name).read_bytes(), changes))
    found = list_root(root, Source.FOLDER)
    assert "good" in [record.name for record in found.records if record.runnable]


@FUZZ
@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(list(Source)),
)
def test_files_and_folders_of_any_name_are_harmless(place, names, kind):
    root = fresh(place)
    store = Store(root)
    store.model("good", fill=200)
    content = store.model("copied", fill=201).read_bytes()
    for number, name in enumerate(names):
        # Some file systems allow fewer names than Linux's own do.
        with contextlib.suppress(OSError):
            folder(root / name, fill=number)
            path = root / "manifests" / "registry.ollama.ai" / "library" / name / name
            path.parent.mkdir(parents=True)
            path.write_bytes(content)
    found = [record.name for record in list_root(root, kind).records]
    assert "good:latest" in found or kind in (Source.HUGGINGFACE, Source.LMSTUDIO, Source.FOLDER)


@examples(200)
@given(st.one_of(st.text(max_size=40), st.text(alphabet="./~:@\\ab\0\n", max_size=20)))
def test_any_target_is_a_model_or_is_refused_with_a_message(place, target):
    listing = discover([Root(Source.OLLAMA, place / "gone", False)])
    for ask in (lambda: resolve(target, listing), lambda: record_of(place / "gone" / target.lstrip("/~"))):
        try:
            ask()
        except StoreError as error:
            assert_line(error.message)


def test_a_manifest_of_100_mb_is_not_read(tmp_path):
    store = Store(tmp_path)
    store.model("good")
    path = store.raw_manifest("huge", b"")
    with path.open("wb") as file:
        file.truncate(100 << 20)
    found = list_root(store.root)
    (problem,) = found.problems
    assert_sentence(problem.message, path, "is 105 MB, which is too much for a manifest")
    assert [record.name for record in found.records if record.runnable] == ["good:latest"]


def test_200_000_brackets_are_refused_wherever_they_are(tmp_path):
    brackets = b'{"a":' + b"[" * 200_000
    store = Store(tmp_path / "store")
    store.raw_manifest("manifest", brackets)
    store.manifest("config-blob", store.layers(), store.layer("x", brackets))
    store.manifest("config", [*store.layers()[:2], store.layer("json", brackets, "config.json"), store.layers()[3]])
    store.manifest("header", [store.layer("tensor", with_header(brackets)), *store.layers()[1:]])
    found = list_root(store.root)
    assert len(found.records) == len(found.problems) == 4
    assert all("nested more than" in problem.message for problem in found.problems)
    files = ("config.json", "model.safetensors.index.json")
    for name in files:
        folder(tmp_path / "folders" / f"bad-{name}", **{name: brackets})
    found = list_root(tmp_path / "folders", Source.FOLDER)
    assert len(found.problems) == len(files)


@pytest.mark.parametrize("depth", [1, 3, 8])
def test_digests_that_are_paths_are_never_opened(tmp_path, depth, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_bytes(safetensors({"w": ("F32", (2,))}))
    store = Store(tmp_path / "a" / "b" / "store")
    up = "../" * depth
    for number, digest in enumerate(
        [f"sha256:{up}secret", f"sha256-/{secret}", f"sha256:{up.rjust(64, '.')}", str(secret)]
    ):
        entry = {"mediaType": "application/vnd.ollama.image.tensor", "digest": digest, "size": 10, "name": "w"}
        store.manifest(f"m{number}", [entry, *store.layers()[1:]])
    opened = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest, **more: opened.append(str(path)) or real(path, *rest, **more))
    found = list_root(store.root)
    assert not any(record.runnable for record in found.records)
    assert opened
    assert all(path.startswith(str(store.root)) for path in opened)


def test_links_out_of_a_store_are_not_followed(tmp_path, monkeypatch):
    outside, store = tmp_path / "outside", Store(tmp_path / "store")
    outside.mkdir()
    layers = store.layers()
    manifest = store.manifest("blob", layers)
    path = store.blob_path(layers[0]["digest"])
    path.rename(outside / "blob")
    path.symlink_to(outside / "blob")
    (outside / "manifest").write_bytes(manifest.read_bytes())
    store.path("linked").parent.mkdir(parents=True)
    store.path("linked").symlink_to(outside / "manifest")
    (store.root / "manifests" / "registry.ollama.ai" / "evil").symlink_to(outside)
    store.model("good", fill=3)
    opened = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest, **more: opened.append(str(path)) or real(path, *rest, **more))
    found = list_root(store.root)
    assert [record.name for record in found.records if record.runnable] == ["good:latest"]
    assert sum("leads out of" in problem.message for problem in found.problems) == 3
    assert all(os.path.realpath(path).startswith(str(store.root)) for path in opened)


def test_a_link_to_a_blobs_folder_elsewhere_is_not_followed(tmp_path):
    store = Store(tmp_path / "store")
    store.model("m")
    (store.root / "blobs").rename(tmp_path / "elsewhere")
    (store.root / "blobs").symlink_to(tmp_path / "elsewhere")
    (record,) = list_root(store.root).records
    assert_sentence(record.reason, store.root / "blobs", "leads out of")


def test_a_whole_store_may_be_a_link(tmp_path):
    Store(tmp_path / "store").model("m")
    (tmp_path / "link").symlink_to(tmp_path / "store")
    (record,) = list_root(tmp_path / "link").records
    assert record.runnable


def test_circular_links_end(tmp_path):
    store = Store(tmp_path / "store")
    store.model("good")
    manifests = store.root / "manifests"
    (manifests / "registry.ollama.ai" / "loop").symlink_to(manifests)
    (manifests / "registry.ollama.ai" / "library" / "loop").symlink_to(manifests / "registry.ollama.ai")
    (manifests / "again").symlink_to(manifests)
    (manifests / "self").symlink_to("self")
    store.path("tag").parent.mkdir()
    store.path("tag").symlink_to("latest")
    found = list_root(store.root)
    assert "good:latest" in [record.name for record in found.records if record.runnable]
    assert any("leads back to a folder above it" in problem.message for problem in found.problems)
    folder(tmp_path / "folders" / "good")
    (tmp_path / "folders" / "loop").symlink_to(tmp_path / "folders")
    (tmp_path / "folders" / "good-loop").mkdir()
    (tmp_path / "folders" / "good-loop" / "up").symlink_to("..")
    (record,) = list_root(tmp_path / "folders", Source.FOLDER).records
    assert (record.name, record.also) == ("good", ())


def test_pipes_and_folders_in_place_of_files_do_not_block(tmp_path):
    store = Store(tmp_path / "store")
    store.model("good", fill=1)
    os.mkfifo(store.raw_manifest("m:pipe", b"").with_name("pipe2"))
    layers = store.layers(2)
    store.manifest("m:blob", layers)
    path = store.blob_path(layers[0]["digest"])
    path.unlink()
    os.mkfifo(path)
    layers = store.layers(3)
    store.manifest("m:folder", layers)
    path = store.blob_path(layers[1]["digest"])
    path.unlink()
    path.mkdir()
    found = list_root(store.root)
    assert [record.name for record in found.records if record.runnable] == ["good:latest"]
    assert sum("it should be a regular file" in problem.message for problem in found.problems) == 3
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        path = folder(tmp_path / "folders" / f"bad-{name}")
        (path / name).unlink()
        os.mkfifo(path / name)
    assert len(list_root(tmp_path / "folders", Source.FOLDER).problems) == 3
    with pytest.raises(StoreError, match="it should be a regular file"):
        record_of(path / "model.safetensors")


def test_control_characters_in_every_text_stay_out_of_messages(tmp_path):
    evil = "\x1b]0;evil\x07\n\r\u2028\u202e\ud7ff"
    store = Store(tmp_path / "store")
    store.model("family", config=LLAMA | {"model_type": evil, "max_position_embeddings": evil})
    store.model("format", model_format=evil, file_type=evil)
    store.model("file-type", file_type=evil, capabilities=[evil])
    store.manifest("cloud", [], store.config(remote_host=evil))
    store.manifest(
        "gguf",
        [store.layer("model", gguf([("general.architecture", 8, gguf_text(evil))]))],
        store.config(model_format="gguf", model_family=evil),
    )
    store.manifest("header", [store.layer("tensor", with_header({evil: {"dtype": evil}})), *store.layers()[1:]])
    assert len(list_root(store.root).records) == 6
    repository(tmp_path / "hub", f"a--{evil}", {"config.json": b"{", "model.safetensors": b"", evil: b""})
    assert len(list_root(tmp_path / "hub", Source.HUGGINGFACE).problems) == 1


def test_one_model_of_each_kind_of_damage_beside_fifty_intact_ones(tmp_path):
    store = Store(tmp_path)
    generator = random.Random(5)
    for number in range(50):
        store.model(f"good-{number:02}", fill=number)
    content = store.path("good-00").read_bytes()
    for number in range(50):
        cut = content[: generator.randrange(len(content))]
        store.raw_manifest(f"cut-{number:02}", cut)
        store.raw_manifest(f"noise-{number:02}", generator.randbytes(generator.randrange(300)))
    found = list_root(store.root)
    assert [record.name for record in found.records if record.runnable] == [f"good-{n:02}:latest" for n in range(50)]
    assert len(found.problems) == 100
    assert all(str(problem.path) in problem.message for problem in found.problems)
