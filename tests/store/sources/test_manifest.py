"""Manifests: what is read from them, and errors that name the invalid key."""

import copy
import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from material import material
from sotto.errors import BrokenModelError
from sotto.store.sources.manifest import Layer, parse_digest, parse_manifest
from stores import PREFIX, assert_line, assert_sentence
from thoroughness import examples

FILE = Path("/store/manifests/registry.ollama.ai/library/m/latest")
HEX = "0123456789abcdef" * 4
GOOD = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
    "config": {
        "mediaType": "application/vnd.docker.container.image.v1+json",
        "digest": f"sha256:{HEX}",
        "size": 402,
    },
    "layers": [
        {"mediaType": PREFIX + "tensor", "digest": f"sha256:{'1' * 64}", "size": 10, "name": "a.weight"},
        {"mediaType": PREFIX + "json", "digest": f"sha256-{'2' * 64}", "size": 20, "name": "config.json"},
        {"mediaType": PREFIX + "json", "digest": f"sha256:{'A' * 64}", "size": 30, "name": "config.json"},
        {"mediaType": PREFIX + "params", "digest": f"sha256:{'1' * 64}", "size": 10, "from": "other", "new": [1]},
    ],
}
MISSING = object()


def parse(entries):
    return parse_manifest(json.dumps(entries).encode(), FILE)


def test_a_manifest_has_layers_and_the_digest_of_its_bytes():
    data = json.dumps(GOOD).encode() + b"\n"
    manifest = parse_manifest(data, FILE)
    assert manifest.digest == hashlib.sha256(data).hexdigest()
    assert manifest.path == FILE
    assert manifest.layers[0] == Layer("tensor", "1" * 64, 10, "a.weight")
    assert [layer.kind for layer in manifest.layers] == ["tensor", "json", "json", "params"]
    assert manifest.size == 402 + 10 + 20 + 30 + 10
    assert manifest.json_layer("config.json").digest == "2" * 64
    assert manifest.json_layer("tokenizer.json") is None
    assert [layer.size for layer in manifest.of_kind("json")] == [20, 30]
    assert set(manifest.blobs) == {HEX, "1" * 64, "2" * 64, "a" * 64}


@pytest.mark.parametrize("text", [f"sha256:{HEX}", f"sha256-{HEX}", f"sha256:{HEX.upper()}"])
def test_a_digest_may_have_a_colon_or_dash_and_capitals(text):
    assert parse_digest(text) == HEX


@pytest.mark.parametrize(
    "text",
    [
        "", HEX, f"sha256:{HEX}\n", f" sha256:{HEX}", f"sha256:{HEX}0", f"sha256:{HEX[:-1]}", f"SHA256:{HEX}",
        f"sha512:{HEX}", f"sha256:../{HEX}", f"sha256:{HEX[:-3]}/..", f"sha256/{HEX}", f"sha256:{'g' * 64}",
        f"sha256:{'٣' * 64}", f"sha256:{HEX}\0", f"sha256:{'../' * 21}x",
    ],
)  # fmt: skip
def test_nothing_else_is_a_digest(text):
    assert parse_digest(text) is None


@pytest.mark.parametrize(
    ("where", "value", "wrong"),
    [
        (["schemaVersion"], 1, "schemaVersion is 1; it should be 2"),
        (["schemaVersion"], True, "schemaVersion is"),
        (["schemaVersion"], "2", "schemaVersion is a text"),
        (["schemaVersion"], MISSING, "schemaVersion is null"),
        (["config"], MISSING, "config is null; it should be an object"),
        (["config"], "sha256", "config is a text"),
        (["config", "digest"], MISSING, "config.digest is null"),
        (["layers"], MISSING, "layers is null; it should be a list"),
        (["layers"], {}, "layers is an object"),
        (["layers", 1], 7, "layers[1] is a number"),
        (["layers", 1], None, "layers[1] is null"),
        (["layers", 0, "mediaType"], MISSING, "layers[0].mediaType is null; it should be a text"),
        (["layers", 0, "mediaType"], [1], "layers[0].mediaType is a list"),
        (
            ["layers", 2, "digest"],
            "sha256:../../../../etc/passwd",
            "layers[2].digest is 'sha256:../../../../etc/passwd'",
        ),
        (["layers", 2, "digest"], "\u001b[2J", "layers[2].digest is '\\x1b[2J'; it should be sha256:"),
        (["layers", 2, "digest"], 5, "layers[2].digest is a number"),
        (["layers", 0, "size"], -1, "layers[0].size is -1"),
        (["layers", 0, "size"], 1.5, "layers[0].size is 1.5"),
        (["layers", 0, "size"], 1 << 63, "layers[0].size is 9223372036854775808"),
        (["layers", 0, "size"], 10**4000, "layers[0].size is 1000"),
        (["layers", 0, "size"], "10", "layers[0].size is a text"),
        (["layers", 0, "size"], True, "layers[0].size is true or false"),
        (["layers", 0, "size"], MISSING, "layers[0].size is null"),
        (["layers", 0, "name"], 3, "layers[0].name is a number"),
        (["layers", 0, "name"], {}, "layers[0].name is an object"),
    ],
)
def test_a_wrong_key_is_named(where, value, wrong):
    entries = copy.deepcopy(GOOD)
    inner = entries
    for key in where[:-1]:
        inner = inner[key]
    if value is MISSING:
        del inner[where[-1]]
    else:
        inner[where[-1]] = value
    with pytest.raises(BrokenModelError) as refused:
        parse(entries)
    assert_sentence(refused.value.message, FILE, wrong)


def test_a_manifest_without_layers_is_well_formed():
    assert parse(GOOD | {"layers": []}).size == 402


def test_the_manifests_of_a_real_store_are_read():
    paths = [path for path in material("ollama-store", "manifests").rglob("*") if path.is_file()]
    assert len(paths) == 7
    for path in paths:
        manifest = parse_manifest(path.read_bytes(), path)
        assert manifest.layers
        assert manifest.size == sum(entry["size"] for entry in json.loads(path.read_bytes())["layers"]) + (
            manifest.config.size
        )


def _flip(data, changes):
    content = bytearray(data)
    for position, byte in changes:
        content[position % len(content)] = byte
    return bytes(content)


@examples(300)
@given(
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), max_size=6),
    st.integers(0, len(json.dumps(GOOD))),
    st.booleans(),
)
def test_a_damaged_manifest_is_read_or_refused_with_a_message(changes, length, cut):
    data = _flip(json.dumps(GOOD).encode(), changes)
    data = data[:length] if cut else data
    try:
        manifest = parse_manifest(data, FILE)
    except BrokenModelError as error:
        assert_line(error.message, FILE)
    else:
        assert all(len(layer.digest) == 64 and layer.size >= 0 for layer in manifest.layers)
