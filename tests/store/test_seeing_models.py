"""Models that see, in every layout: they are listed as such, and what their preprocessor needs is read."""

import json

import pytest

from sotto.engine.config.architecture_table import ARCHITECTURES
from sotto.store.discovery import discover
from sotto.store.facts import SEEING
from sotto.store.importing.folder_plan import plan_folder
from sotto.store.opening import open_model, open_texts, record_of
from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.sources.harvest import everything_runs
from stores import TOKENIZER, Store, folder, repository, safetensors

CONFIG = {"model_type": "gemma3", "vision_config": {"patch_size": 14}, "max_position_embeddings": 512}
TEXT = {"language_model.model.embed_tokens.weight": ("F32", (4, 8))}
TOWER = {
    "vision_tower.vision_model.post_layernorm.weight": ("BF16", (8,)),
    "multi_modal_projector.mm_input_projection_weight": ("BF16", (32, 64)),
}
PREPROCESSING = {
    "preprocessor_config.json": {"image_mean": [0.5, 0.5, 0.5]},
    "processor_config.json": {"image_seq_length": 256},
}


def in_folder(path, tensors, config):
    return record_of(folder(path, config=config, **{"model.safetensors": safetensors(tensors)} | PREPROCESSING))


def in_hugging_face(path, tensors, config):
    contents = {"config.json": config} | PREPROCESSING
    files = {name: json.dumps(content).encode() for name, content in contents.items()}
    repository(path, "Org/Sees", files | {"tokenizer.json": TOKENIZER, "model.safetensors": safetensors(tensors)})
    (record,) = discover([Root(Source.HUGGINGFACE, path, True)]).records
    return record


def in_manifest(path, tensors, config, **stated):
    store = Store(path)
    layers = [store.layer("tensor", safetensors({name: kind}), name) for name, kind in tensors.items()]
    for name, content in ({"config.json": config} | PREPROCESSING).items():
        layers.append(store.layer("json", json.dumps(content).encode(), name))
    layers.append(store.layer("json", TOKENIZER, "tokenizer.json"))
    return record_of(store.manifest("sees", layers, store.config(**{"capabilities": None} | stated)))


layouts = pytest.mark.parametrize("layout", [in_folder, in_hugging_face, in_manifest])


@layouts
@pytest.mark.parametrize(
    ("tensors", "config", "sees"),
    [
        (TEXT | TOWER, CONFIG, True),
        (TEXT, CONFIG, False),
        (TEXT | TOWER, CONFIG | {"model_type": "kimi_vl"}, False),
        (TEXT | TOWER, {"model_type": "gemma3"}, False),
    ],
)
def test_what_a_list_says_of_it(layout, tensors, config, sees, tmp_path):
    record = layout(tmp_path / "models", tensors, config)
    assert record.capabilities == (("completion", "vision") if sees else ("completion",))
    refused = config["model_type"] == "kimi_vl"
    assert record.vision_reason == (
        "Images are not shown to it: the towers of kimi_vl models are not supported yet." if refused else ""
    )


@pytest.mark.parametrize(("tensors", "sees"), [(TEXT | TOWER, True), (TEXT, False)])
def test_what_its_manifest_states_is_not_taken_on_trust(tensors, sees, tmp_path):
    record = in_manifest(tmp_path / "models", tensors, CONFIG, capabilities=["completion", "vision", "tools"])
    assert record.capabilities == (("completion", "vision", "tools") if sees else ("completion", "tools"))


@layouts
def test_its_preprocessor_is_read(layout, tmp_path):
    record = layout(tmp_path / "models", TEXT | TOWER, CONFIG)
    for source in (open_model(record), open_texts(record)):
        assert {name: source.json_files[name] for name in PREPROCESSING} == PREPROCESSING


def test_an_import_keeps_its_tower_and_its_preprocessor(tmp_path):
    path = in_folder(tmp_path / "models", TEXT | TOWER, CONFIG).path
    plan = plan_folder(path, "int4", everything_runs)
    blobs = {blob.name: blob for blob in plan.blobs}
    assert blobs.keys() >= TEXT.keys() | TOWER.keys() | PREPROCESSING.keys()
    assert not any(blobs[name].is_computed for name in TOWER)
    assert "vision" in plan.config["capabilities"]
    assert plan.notes == ()


@pytest.mark.parametrize(
    ("change", "unused"),
    [
        ({"model_type": "kimi_vl"}, "images"),
        ({"audio_config": {}}, "sound"),
        ({"model_type": "gemma3n", "audio_config": {}}, "images and sound"),
    ],
)
def test_an_import_says_what_is_not_used(change, unused, tmp_path):
    path = in_folder(tmp_path / "models", TEXT | TOWER, CONFIG | change).path
    assert plan_folder(path, "", everything_runs).notes == (
        f"What it may have for {unused} is imported, too, but Sotto does not use it.",
    )


def test_all_models_whose_towers_are_computed_are_listed_as_such():
    types = {kind for each in ARCHITECTURES if each.sees for kind in (each.name, *each.aliases)}
    assert {kind for kind in types if not kind.endswith("_text")} == SEEING
