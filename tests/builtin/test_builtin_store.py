"""The store that comes with Sotto: complete, small, and what its manifest says."""

import hashlib
import json
import struct
from pathlib import Path

import pytest

STORE = Path(__file__).parents[2] / "resources" / "store"
MANIFEST = STORE / "manifests" / "registry.ollama.ai" / "library" / "sotto" / "latest"
PREFIX = "application/vnd.ollama.image."


@pytest.fixture(scope="module")
def manifest():
    return json.loads(MANIFEST.read_bytes())


def blob(layer) -> Path:
    return STORE / "blobs" / layer["digest"].replace(":", "-")


def json_layer(manifest, name):
    found = [layer for layer in manifest["layers"] if layer.get("name") == name]
    assert len(found) == 1, name
    return json.loads(blob(found[0]).read_bytes())


def header(path: Path) -> tuple[dict, int]:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), len(content) - 8 - length


def test_the_store_holds_one_manifest_and_its_blobs_only(manifest):
    files = {path for path in STORE.rglob("*") if path.is_file()}
    assert files == {MANIFEST, *(blob(layer) for layer in [*manifest["layers"], manifest["config"]])}


def test_every_blob_has_its_size_and_digest(manifest):
    for layer in [*manifest["layers"], manifest["config"]]:
        content = blob(layer).read_bytes()
        assert len(content) == layer["size"], layer
        assert layer["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}", layer


def test_the_store_is_small():
    assert sum(path.stat().st_size for path in STORE.rglob("*") if path.is_file()) < 12_000_000


def test_the_layers_are_those_of_a_safetensors_model(manifest):
    config = json.loads(blob(manifest["config"]).read_bytes())
    assert config["model_format"] == "safetensors"
    assert config["capabilities"] == ["completion"]
    kinds = {layer["mediaType"].removeprefix(PREFIX) for layer in manifest["layers"]}
    assert kinds == {"tensor", "json", "license", "params"}
    names = {layer["name"] for layer in manifest["layers"] if layer["mediaType"] == PREFIX + "json"}
    assert names == {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"}


def test_every_tensor_blob_is_one_tensor_with_what_its_configuration_asks_for(manifest):
    config = json_layer(manifest, "config.json")
    file_type = json.loads(blob(manifest["config"]).read_bytes())["file_type"]
    names = []
    for layer in manifest["layers"]:
        if layer["mediaType"] != PREFIX + "tensor":
            continue
        entries, data = header(blob(layer))
        metadata = entries.pop("__metadata__", {})
        name = layer["name"]
        names.append(name)
        assert max(entry["data_offsets"][1] for entry in entries.values()) == data
        if len(entries) == 1:
            assert set(entries) == {name}
            assert not metadata
            continue
        assert set(entries) == {name, f"{name}.scale", f"{name}.bias"}
        assert metadata["quant_type"] == file_type
        rows, groups = entries[f"{name}.scale"]["shape"]
        inputs = groups * int(metadata["group_size"])
        assert inputs == (config["intermediate_size"] if "down_proj" in name else config["hidden_size"])
        assert entries[name]["dtype"] == "U32"
        assert entries[name]["shape"] == [rows, inputs * int(file_type.removeprefix("int")) // 32]
    assert len(names) == 2 + 9 * config["num_hidden_layers"]
    assert len(set(names)) == len(names)


def test_the_tokenizer_fits_the_model(manifest):
    config = json_layer(manifest, "config.json")
    tokenizer = json_layer(manifest, "tokenizer.json")
    texts = json_layer(manifest, "tokenizer_config.json")
    ids = dict(tokenizer["model"]["vocab"]) | {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    assert sorted(ids.values()) == list(range(config["vocab_size"]))
    assert ids[texts["eos_token"]] == config["eos_token_id"]
    assert ids[texts["bos_token"]] == config["bos_token_id"]
    generation = json_layer(manifest, "generation_config.json")
    assert generation["eos_token_id"] == config["eos_token_id"]
    assert config["model_type"] == "llama"
    assert config["max_position_embeddings"] == 4096
