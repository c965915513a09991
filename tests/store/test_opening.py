"""Resolving what a user types to a model, and opening models for the engine."""

import json
import shutil
from dataclasses import replace

import pytest

from material import material
from sotto.errors import BrokenModelError, InvalidNameError, ModelNotFoundError, StoreError
from sotto.store.discovery import discover
from sotto.store.opening import open_model, record_of, resolve
from sotto.store.records import Format, Source
from sotto.store.roots import Root
from sotto.store.user_templates import save_user_template
from stores import LLAMA, TOKENIZER, Store, assert_sentence, folder, gguf, repository, safetensors


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "models")
    for fill, name in enumerate(["llama3:8b", "llama3:70b", "Qwen3:latest", "jo/mine:1"]):
        store.model(name, fill=fill)
    return store


@pytest.fixture
def found(store):
    return discover([Root(Source.OLLAMA, store.root, True)])


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("llama3:8b", "llama3:8b"),
        ("LLAMA3:8B", "llama3:8b"),
        ("library/llama3:70b", "llama3:70b"),
        ("registry.ollama.ai/library/llama3:70b", "llama3:70b"),
        ("https://registry.ollama.ai/library/llama3:70b", "llama3:70b"),
        ("qwen3", "Qwen3:latest"),
        ("qw", "Qwen3:latest"),
        ("jo/mine", "jo/mine:1"),
        ("jo/m", "jo/mine:1"),
        ("llama3:8b:local", "llama3:8b"),
    ],
)
def test_a_model_is_found_by_its_name_or_a_unique_prefix(found, target, name):
    assert resolve(target, found).name == name


def test_a_model_is_found_by_a_prefix_of_its_digest(found):
    for record in found.records:
        for text in (record.digest, record.digest[:8], record.digest[:12].upper(), f"sha256:{record.digest}"):
            assert resolve(text, found) == record


def test_a_model_is_found_by_its_name_in_another_place(store, tmp_path):
    shutil.copy(store.path("llama3:8b"), store.path("llama3:copy"))
    found = discover([Root(Source.OLLAMA, store.root, True)])
    assert resolve("llama3:copy", found) == resolve("llama3:8b", found)


@pytest.mark.parametrize(
    ("target", "error", "wrong"),
    [
        ("", InvalidNameError, "is not a model name"),
        ("  ", InvalidNameError, "is not a model name"),
        ("a\0b", InvalidNameError, "is not a model name"),
        ("a b", InvalidNameError, "its model is 'a b'"),
        ("llama3:", InvalidNameError, "its tag is missing"),
        ("\x1b[31mred", InvalidNameError, "'\\x1b[31mred' is not a model name"),
        ("llama3", StoreError, "may mean llama3:70b, llama3:8b; write more of the name"),
        ("lla", StoreError, "may mean llama3:70b, llama3:8b"),
        ("llama3:7b", ModelNotFoundError, "did you mean llama3:70b?"),
        ("zzzzz", ModelNotFoundError, "`sotto list` shows"),
        ("deadbeef", ModelNotFoundError, "No model is called 'deadbeef'"),
        ("llama3:8x:cloud", ModelNotFoundError, "runs on other machines"),
        ("m:local:cloud", InvalidNameError, "not both"),
        ("/nowhere/at/all", BrokenModelError, "/nowhere/at/all is missing"),
        ("./nowhere", BrokenModelError, "nowhere is missing"),
        ("../../../../../../etc/hostname-that-is-not", BrokenModelError, "is missing"),
    ],
)
def test_an_unknown_target_is_refused_with_a_message(found, target, error, wrong):
    with pytest.raises(StoreError) as refused:
        resolve(target, found)
    assert type(refused.value) is error
    assert_sentence(refused.value.message, wrong)


def test_without_a_listing_the_whole_machine_is_searched(home):
    Store(home / ".ollama" / "models").model("here")
    assert resolve("here").source is Source.OLLAMA
    assert resolve("sotto").builtin


def test_a_path_in_the_listing_leads_to_its_record(store, found):
    record = resolve(str(store.path("llama3:8b")), found)
    assert record in found.records


def test_paths_may_be_relative_or_begin_at_home(home, tmp_path, monkeypatch, found):
    folder(home / "at-home")
    folder(tmp_path / "here" / "tiny", fill=1)
    monkeypatch.chdir(tmp_path / "here")
    assert resolve("~/at-home", found).path == home / "at-home"
    for target in ("./tiny", "tiny", "../here/tiny", str(tmp_path / "here" / "tiny")):
        assert resolve(target, found).path == tmp_path / "here" / "tiny"


def test_a_name_takes_precedence_over_a_folder_of_that_name(tmp_path, monkeypatch, found):
    folder(tmp_path / "qwen3", fill=9)
    monkeypatch.chdir(tmp_path)
    assert resolve("qwen3", found).source is Source.OLLAMA


def test_every_path_in_a_folder_leads_to_its_model(tmp_path):
    path = folder(tmp_path / "tiny", **{"tokenizer_config.json": {}, "chat_template.jinja": b"x"})
    for inside in ("", "config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"):
        record = record_of(path / inside)
        assert (record.name, record.path, record.source) == ("tiny", path, Source.FOLDER)


def test_a_manifest_and_a_blob_of_a_store_lead_to_their_model(store, found):
    path = store.path("jo/mine:1")
    record = record_of(path)
    assert (record.name, record.path, record.parameters) == ("jo/mine:1", path, 40)
    blob = store.blob_path(json.loads(path.read_bytes())["layers"][0]["digest"])
    assert record_of(blob) == record


def test_a_manifest_elsewhere_finds_its_blobs(home, tmp_path):
    store = Store(home / ".ollama" / "models")
    loose = tmp_path / "my-manifest"
    shutil.copy(store.model("m"), loose)
    record = record_of(loose)
    assert (record.name, record.path, record.runnable) == ("my-manifest", loose, True)
    assert open_model(record).weight_bytes == 144
    shutil.rmtree(store.root / "blobs")
    with pytest.raises(BrokenModelError) as refused:
        record_of(loose)
    assert_sentence(refused.value.message, loose)


def test_a_manifest_may_be_beside_its_blobs(tmp_path):
    store = Store(tmp_path)
    shutil.copy(store.model("m"), tmp_path / "manifest.json.txt")
    assert open_model(record_of(tmp_path / "manifest.json.txt")).weight_bytes == 144


def test_a_folder_below_a_known_root_belongs_to_it(home):
    path = folder(home / ".lmstudio" / "models" / "pub" / "tiny")
    assert record_of(path).source is Source.LMSTUDIO


def test_a_folder_with_one_model_in_it_is_that_model(tmp_path):
    inner = folder(tmp_path / "outer" / "inner")
    assert record_of(tmp_path / "outer").path == inner


@pytest.mark.parametrize("make", ["store", "folders", "cache"])
def test_a_place_with_several_models_is_ambiguous(tmp_path, make):
    for number in range(6):
        if make == "store":
            Store(tmp_path).model(f"m{number}", fill=number)
        elif make == "folders":
            folder(tmp_path / f"m{number}", fill=number)
        else:
            content = safetensors({"w": ("U8", (number + 1,))})
            files = {"config.json": b"{}", "tokenizer.json": TOKENIZER, "model.safetensors": content}
            repository(tmp_path, f"m{number}", files)
    with pytest.raises(StoreError, match="and 2 more; choose one of them") as refused:
        record_of(tmp_path)
    assert_sentence(refused.value.message, tmp_path)


def test_a_gguf_file_of_no_known_architecture_cannot_be_opened(tmp_path):
    path = tmp_path / "tiny.bin"
    path.write_bytes(gguf(tensors={"w": [3]}))
    record = record_of(path)
    assert (record.name, record.format, record.parameters) == ("tiny", Format.GGUF, 3)
    with pytest.raises(StoreError, match="GGUF") as refused:
        open_model(record)
    assert_sentence(refused.value.message)


def test_a_path_that_is_not_a_model_is_reported(tmp_path):
    (tmp_path / "empty").mkdir()
    files = {"note.txt": b"hello", "x.json": b"{}", "y.safetensors": b"", "sheet": b"{}", "nothing": b""}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / f"sha256-{'0' * 64}").write_bytes(b"")
    for path in [*(tmp_path / name for name in files), tmp_path / "empty", *(tmp_path / "blobs").iterdir()]:
        with pytest.raises(StoreError) as refused:
            record_of(path)
        assert_sentence(refused.value.message, path)


def test_a_broken_model_is_reported_when_it_is_chosen(tmp_path):
    path = folder(tmp_path / "tiny", **{"config.json": b"{"})
    with pytest.raises(BrokenModelError) as refused:
        record_of(path)
    assert_sentence(refused.value.message, path / "config.json")


def test_the_engine_is_asked_about_a_path(tmp_path):
    record = record_of(folder(tmp_path / "tiny"), judge=lambda config: "It cannot.")
    assert (record.runnable, record.reason) == (False, "It cannot.")


def test_an_opened_model_has_everything_that_the_engine_reads(tmp_path):
    store = Store(tmp_path)
    layers = [
        *store.layers(),
        store.layer("json", b'{"eos_token": "</s>"}', "tokenizer_config.json"),
        store.layer("json", b'{"first": 1}', "generation_config.json"),
        store.layer("json", b'{"second": 2}', "generation_config.json"),
        store.layer("json", b'{"unread": 1}', "other.json"),
        store.layer("tensor", safetensors({"draft.w": ("F32", (2,))}), "draft.w"),
        store.layer("json", json.dumps(LLAMA).encode(), "draft/config.json"),
        store.layer("prompt", b"old"),
        store.layer("template", "{{ .Prompt }} é".encode()),
        store.layer("system", b"Be brief."),
        store.layer("params", b'{"temperature": 0.5, "stop": ["x"]}\n'),
    ]
    record = record_of(store.manifest("m", layers, store.config(draft={"tensor_prefix": "draft."})))
    source = open_model(record)
    assert source.record == record
    assert source.config == LLAMA
    assert set(source.json_files) == {
        "config.json", "tokenizer_config.json", "generation_config.json", "draft/config.json"
    }  # fmt: skip
    assert source.json_files["generation_config.json"] == {"first": 1}
    assert source.tokenizer_json == TOKENIZER.decode()
    assert source.params == {"temperature": 0.5, "stop": ["x"]}
    assert (source.system, source.go_template, source.draft_prefix) == ("Be brief.", "{{ .Prompt }} é", "draft.")
    names = {name for file in source.tensor_files for name in file.tensors}
    assert names == {"model.embed_tokens.weight", "model.norm.weight", "draft.w"}
    assert all(file.path == store.blob_path(file.digest) for file in source.tensor_files)


def test_a_folder_is_opened_with_its_templates_for_particular_uses(tmp_path):
    path = folder(tmp_path / "m", **{"chat_template.jinja": b"usual"})
    digests = {record_of(path).digest}
    more = path / "additional_chat_templates"
    more.mkdir()
    for text in ("{{ é }}", "{{ x }}"):
        (more / "tool_use.jinja").write_text(text, encoding="utf-8")
        (more / "README.md").write_text("not this")
        source = open_model(record_of(path))
        assert (source.chat_template, dict(source.more_templates)) == ("usual", {"tool_use": text})
        digests.add(source.record.digest)
    assert len(digests) == 3
    (tmp_path / "elsewhere.jinja").write_text("secret")
    (more / "rag.jinja").symlink_to(tmp_path / "elsewhere.jinja")
    with pytest.raises(BrokenModelError, match=r"rag\.jinja leads out of"):
        record_of(path)
    (more / "rag.jinja").unlink()
    for number in range(16):
        (more / f"{number}.jinja").write_text("x")
    with pytest.raises(BrokenModelError, match="additional_chat_templates has 17 templates; 16 are the most"):
        record_of(path)


def test_a_folder_is_opened_with_its_template(tmp_path):
    files = {"chat_template.jinja": "{{ é }}".encode(), "generation_config.json": {"eos_token_id": 1}, "x.json": b"?"}
    source = open_model(record_of(folder(tmp_path / "m", **files)))
    assert (source.chat_template, source.go_template, dict(source.params)) == ("{{ é }}", "", {})
    assert (source.renderer, source.user_template) == ("", "")
    assert set(source.json_files) == {"config.json", "generation_config.json"}
    assert [file.path.name for file in source.tensor_files] == ["model.safetensors"]


def test_an_opened_model_has_its_renderer_and_the_users_template(tmp_path, monkeypatch):
    monkeypatch.setattr("sotto.paths.config_dir", lambda: tmp_path / "config")
    store = Store(tmp_path / "models")
    record = record_of(store.manifest("m", store.layers(), store.config(renderer="qwen3.5")))
    assert (open_model(record).renderer, open_model(record).user_template) == ("qwen3.5", "")
    save_user_template(record.digest, "{{ .Prompt }}")
    assert open_model(record).user_template == "{{ .Prompt }}"
    other = record_of(folder(tmp_path / "m"))
    save_user_template(other.digest, "{{ messages }}")
    assert open_model(other).user_template == "{{ messages }}"
    wrong = record_of(store.manifest("w", store.layers(), store.config(renderer=["x"])))
    with pytest.raises(BrokenModelError, match=r"renderer is .*; it should be a name\.$"):
        open_model(wrong)


def test_every_model_of_the_real_store_can_be_opened():
    found = discover([Root(Source.OLLAMA, material("ollama-store"), True)])
    sources = {record.name: open_model(record) for record in found.records if record.runnable}
    assert len(sources) == 7
    for name, source in sources.items():
        names = [tensor for file in source.tensor_files for tensor in file.tensors]
        assert len(names) == len(set(names))
        assert len(source.tensor_files) == (1 if source.record.format is Format.GGUF else 47)
        assert len(names) >= 47
        assert source.config["model_type"] == "llama", name
        assert json.loads(source.tokenizer_json)["model"]["type"] == "BPE"


def test_a_model_changed_since_its_listing_is_not_opened(store, found):
    record = resolve("llama3:8b", found)
    shutil.copy(store.path("llama3:70b"), store.path("llama3:8b"))
    with pytest.raises(BrokenModelError, match="is another model now") as refused:
        open_model(record)
    assert_sentence(refused.value.message, record.path)


def test_a_model_deleted_since_its_listing_is_reported(store, found, tmp_path):
    record = resolve("llama3:8b", found)
    shutil.rmtree(store.root / "manifests")
    with pytest.raises(BrokenModelError) as refused:
        open_model(record)
    assert_sentence(refused.value.message, record.path, "is missing")
    with pytest.raises(BrokenModelError):
        open_model(replace(record, path=tmp_path / "models"))


@pytest.mark.parametrize(
    ("files", "wrong"),
    [
        ({"generation_config.json": b"[]"}, "generation_config.json holds a list"),
        ({"tokenizer_config.json": b'{"a":'}, "tokenizer_config.json is not JSON"),
        ({"tokenizer.json": b"\xff"}, "tokenizer.json is not UTF-8 at byte 0"),
        ({"tokenizer.json": b" \n"}, "tokenizer.json is empty"),
        ({"chat_template.jinja": b"\xc3("}, "chat_template.jinja is not UTF-8"),
        ({"chat_template.jinja": b" " * (4 << 20) + b"x"}, "which is too much for a template or prompt"),
    ],
)
def test_files_that_only_the_engine_needs_are_checked_when_opened(tmp_path, files, wrong):
    record = record_of(folder(tmp_path / "m", **files))
    with pytest.raises(BrokenModelError) as refused:
        open_model(record)
    assert_sentence(refused.value.message, tmp_path, wrong)


def test_a_duplicate_tensor_is_reported(tmp_path):
    store = Store(tmp_path)
    twice = store.layer("tensor", safetensors({"model.norm.weight": ("F32", (1,))}), "again")
    record = record_of(store.manifest("m", [*store.layers(), twice]))
    with pytest.raises(BrokenModelError, match="it should be in one") as refused:
        open_model(record)
    assert_sentence(refused.value.message, "model.norm.weight", store.blob_path(twice["digest"]))


def test_an_index_that_names_the_wrong_file_is_reported(tmp_path):
    shards = {f"model-0000{number}-of-00002.safetensors": number for number in (1, 2)}
    files = {name: safetensors({f"w{number}": ("F32", (1,))}) for name, number in shards.items()}
    weights = {"w1": "model-00001-of-00002.safetensors", "w2": "model-00001-of-00002.safetensors"}
    index = {"model.safetensors.index.json": {"weight_map": weights | {"x": "model-00002-of-00002.safetensors"}}}
    record = record_of(folder(tmp_path / "m", **{"model.safetensors": None}, **files, **index))
    with pytest.raises(BrokenModelError, match="tensor w2 is not in model-00001-of-00002") as refused:
        open_model(record)
    assert_sentence(refused.value.message, tmp_path / "m")
