"""Model folders as Hugging Face's tools, mlx-lm and LM Studio write them."""

import json
import shutil

import pytest

from material import material
from sotto.store.discovery import discover
from sotto.store.records import Format, Source
from sotto.store.roots import Root
from stores import LLAMA, TOKENIZER, assert_sentence, folder, gguf, gguf_text, safetensors

INDEX = "model.safetensors.index.json"


def listing(path, kind=Source.FOLDER):
    return discover([Root(kind, path, True)])


def only(path, kind=Source.FOLDER):
    found = listing(path, kind)
    assert not found.problems
    (record,) = found.records
    return record


def broken_record(path, *mentions):
    found = listing(path)
    (record,), (problem,) = found.records, found.problems
    assert (record.runnable, record.reason) == (False, problem.message)
    assert_sentence(record.reason, path, *mentions)


def shard(name, fill=0):
    return safetensors({name: ("F32", (2, 2))}, fill=fill)


def index(weights):
    return json.dumps({"metadata": {}, "weight_map": weights}).encode()


def test_a_folder_is_a_model(tmp_path):
    path = folder(tmp_path / "tiny", config=LLAMA | {"torch_dtype": "bfloat16"})
    record = only(path)
    assert (record.name, record.path, record.source) == ("tiny", path, Source.FOLDER)
    assert (record.format, record.architecture, record.parameters) == (Format.SAFETENSORS, "llama", 32)
    assert (record.quantization, record.context_length, record.runnable) == ("F32", 512, True)
    assert record.size == sum(file.stat().st_size for file in path.iterdir())


@pytest.mark.parametrize(("name", "parameters"), [("stories260k", 260_032), ("rwkv7-tiny", 829_888)])
def test_a_real_folder_is_a_model(name, parameters):
    record = only(material(name))
    assert (record.name, record.parameters, record.runnable) == (name, parameters, True)


def test_models_are_found_some_levels_down_and_named_after_their_folders(tmp_path):
    for fill, inside in enumerate(["b", "x/a", "x/y/z/deep", "x/y/z/q/too-deep"]):
        folder(tmp_path / inside, fill=fill)
    folder(tmp_path / "b" / "inner", fill=9)
    assert [record.name for record in listing(tmp_path).records] == ["a", "b", "deep"]


def test_names_in_lm_studios_folder_include_the_publisher(tmp_path):
    folder(tmp_path / "mlx-community" / "tiny-4bit")
    record = only(tmp_path, Source.LMSTUDIO)
    assert (record.name, record.source) == ("mlx-community/tiny-4bit", Source.LMSTUDIO)


def test_shards_are_those_of_the_index(tmp_path):
    names = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    files = dict(zip(names, (shard("a"), shard("b")), strict=True))
    more = {"other.safetensors": shard("c"), INDEX: index({"a": names[0], "b": names[1]}), "model.safetensors": None}
    record = only(folder(tmp_path, **files, **more))
    assert record.parameters == 8


@pytest.mark.parametrize(
    ("weights", "wrong"),
    [
        ({}, "weight_map is an object; it should be a full object"),
        ([], "weight_map is a list"),
        (None, "weight_map is null"),
        ({"a": "../model.safetensors"}, "'../model.safetensors' is not a shard"),
        ({"a": "/etc/passwd"}, "'/etc/passwd' is not a shard"),
        ({"a": "..\\model.safetensors"}, "is not a shard"),
        ({"a": "C:model.safetensors"}, "is not a shard"),
        ({"a": "x\0.safetensors"}, "'x\\x00.safetensors' is not a shard"),
        ({"a": ".safetensors"}, "is not a shard"),
        ({"a": 5}, "'5' is not a shard"),
        ({"a": ["model.safetensors"]}, "is not a shard"),
        ({"a": "config.json"}, "'config.json' is not a shard"),
        ({"a": "gone.safetensors"}, "gone.safetensors of its index is missing"),
        ({"a": "gone.safetensors", "b": "model.safetensors", "c": "x.safetensors"}, "and 1 more files of its index"),
    ],
)
def test_an_index_names_files_of_its_folder_only(tmp_path, weights, wrong):
    broken_record(folder(tmp_path / "m", **{INDEX: index(weights)}), wrong)


def test_without_an_index_all_parts_must_exist(tmp_path):
    parts = {f"model-0000{number}-of-00003.safetensors": shard(str(number)) for number in (1, 3)}
    path = folder(tmp_path / "m", **parts, **{"model.safetensors": None})
    broken_record(path, "2 of the 3 parts")
    (path / "model-00002-of-00003.safetensors").write_bytes(shard("2"))
    assert only(path).parameters == 12


def test_an_index_without_any_weights_is_an_incomplete_model(tmp_path):
    path = folder(tmp_path / "m", **{"model.safetensors": None, INDEX: index({"a": "model-1.safetensors"})})
    broken_record(path, "model-1.safetensors of its index is missing")


def test_duplicate_weights_are_refused(tmp_path):
    broken_record(folder(tmp_path / "m", **{"model-2.safetensors": shard("b")}), "both model.safetensors and model-2")


def test_weights_of_other_formats_beside_the_model_are_left_out(tmp_path):
    beside = {"consolidated.safetensors": b"x", "adapter_model.safetensors": b"x", "vae.safetensors": b"x"}
    assert only(folder(tmp_path, **beside)).parameters == 32


def test_a_folder_whose_weights_have_other_names_is_a_model(tmp_path):
    path = folder(tmp_path, **{"model.safetensors": None, "weights.safetensors": shard("a")})
    assert only(path).parameters == 4


@pytest.mark.parametrize(
    ("files", "wrong"),
    [
        ({"config.json": b"{"}, "config.json is not JSON"),
        ({"config.json": b"[]"}, "config.json holds a list"),
        ({"tokenizer.json": None}, "has no tokenizer.json"),
        ({"model.safetensors": b""}, "model.safetensors is only 0 bytes"),
        (
            {"model.safetensors": b"version https://git-lfs.github.com/spec/v1\n"},
            "model.safetensors announces a header",
        ),
        ({"model.safetensors": shard("a")[:-1]}, "model.safetensors is cut off"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, files, wrong):
    broken_record(folder(tmp_path / "m", **files), wrong)


def test_folders_without_weights_or_configuration_are_not_models(tmp_path):
    folder(tmp_path / "a", **{"model.safetensors": None})
    folder(tmp_path / "b", **{"config.json": None})
    (tmp_path / "empty").mkdir()
    (tmp_path / ".hidden").mkdir()
    found = listing(tmp_path)
    assert (found.records, found.problems) == ((), ())


def test_copies_are_one_record_and_other_weights_another(tmp_path):
    path = folder(tmp_path / "a")
    shutil.copytree(path, tmp_path / "b")
    folder(tmp_path / "c", fill=1)
    folder(tmp_path / "d", config=LLAMA | {"rope_theta": 1.0})
    rows = {record.name: [place.name for place in record.also] for record in listing(tmp_path).records}
    assert rows == {"a": ["b"], "c": [], "d": []}


def test_changing_any_file_that_affects_answers_makes_another_model(tmp_path):
    path = folder(tmp_path)
    digests = {only(path).digest}
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja"):
        (path / name).write_bytes(TOKENIZER + b" ")
        digests.add(only(path).digest)
    assert len(digests) == 5
    (path / "README.md").write_bytes(b"read me")
    assert only(path).digest in digests


def test_large_weights_are_compared_by_some_blocks(tmp_path):
    content = bytearray(safetensors({"w": ("U8", (1 << 18,))}))
    digests = set()
    for position in (None, -1, len(content) // 2 + 100):
        if position is not None:
            content[position] ^= 1
        digests.add(only(folder(tmp_path, **{"model.safetensors": bytes(content)})).digest)
    assert len(digests) == 3


def test_gguf_files_are_records(tmp_path):
    content = gguf([("general.architecture", 8, gguf_text("llama"))], {"w": [8, 8]})
    path = tmp_path / "pub" / "model"
    path.mkdir(parents=True)
    (path / "tiny-Q4.gguf").write_bytes(content)
    (path / "mmproj-F16.gguf").write_bytes(content)
    record = only(tmp_path, Source.LMSTUDIO)
    assert (record.name, record.format, record.parameters) == ("pub/model", Format.GGUF, 64)
    assert (record.path, record.runnable, record.reason) == (path / "tiny-Q4.gguf", True, "")
    (path / "tiny-Q8.GGUF").write_bytes(content + b"more")
    assert [record.name for record in listing(tmp_path, Source.LMSTUDIO).records] == [
        "pub/model:tiny-Q4",
        "pub/model:tiny-Q8",
    ]


def test_gguf_files_directly_in_a_folder_of_models_have_their_own_names(tmp_path):
    (tmp_path / "tiny-Q4.gguf").write_bytes(gguf(tensors={"w": [8]}))
    assert only(tmp_path).name == "tiny-Q4"
    (tmp_path / "other.gguf").write_bytes(gguf(tensors={"w": [16]}))
    assert [record.name for record in listing(tmp_path).records] == ["other", "tiny-Q4"]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([("general.architecture", 8, gguf_text("rwkv6"))], "'rwkv6' cannot run yet"),
        ([("general.architecture", 8, gguf_text("llama")), ("general.type", 8, gguf_text("adapter"))], "(adapter)"),
        ([], "'' cannot run yet"),
    ],
)
def test_gguf_files_that_cannot_run_have_a_reason(tmp_path, values, why):
    (tmp_path / "other.gguf").write_bytes(gguf(values, {"w": [8]}))
    record = only(tmp_path)
    assert not record.runnable
    assert_sentence(record.reason, why, "GGUF")


def test_parts_of_a_gguf_file_are_one_record(tmp_path):
    for number in (1, 2, 3):
        (tmp_path / f"big-0000{number}-of-00003.gguf").write_bytes(gguf(tensors={"w": [number]}))
    record = only(tmp_path)
    assert (record.parameters, record.size) == (None, 3 * len(gguf(tensors={"w": [1]})))
    (tmp_path / "big-00002-of-00003.gguf").unlink()
    broken_record(tmp_path, "one of 3 files of a model, of which big-00002-of-00003.gguf is missing")


def test_control_characters_of_a_folder_are_shown_escaped(tmp_path):
    record = only(folder(tmp_path / "a\n\x1b[31m\u202eb"))
    assert record.name == "a\\x0a\\x1b[31m\\u202eb"
    folder(tmp_path / "a\n\x1b[31m\u202eb", **{"config.json": b"{"})
    found = listing(tmp_path)
    assert_sentence(found.problems[0].message, tmp_path, "a\\x0a\\x1b[31m\\u202eb/config.json")


def test_a_folder_with_too_many_files_is_a_problem(tmp_path, monkeypatch):
    monkeypatch.setattr("sotto.store.sources.plain_folders._MAX_FILES", 5)
    folder(tmp_path / "a")
    crowded = folder(tmp_path / "b", fill=1, **{f"{number}.txt": b"" for number in range(5)})
    found = listing(tmp_path)
    assert [record.name for record in found.records] == ["a"]
    assert_sentence(found.problems[0].message, crowded, "8 files")


def test_too_many_folders_are_a_problem(tmp_path, monkeypatch):
    monkeypatch.setattr("sotto.store.discovery._MAX_FOLDERS", 10)
    folder(tmp_path / "0")
    for number in range(1, 20):
        (tmp_path / str(number)).mkdir()
    found = listing(tmp_path)
    assert [record.name for record in found.records] == ["0"]
    assert_sentence(found.problems[0].message, tmp_path, "more than 10 folders")
