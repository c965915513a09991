"""Imported models loaded again, compared with the models that they were made of."""

import hashlib
import json
import subprocess
import sys

import gguf
import mlx.core as mx
import numpy as np
import pytest

from gguf_writing import write_folder
from loading import load
from places import REFERENCES
from sotto.engine.quantizing.importer import discard_import, plan_import, run_import, unfinished_import
from sotto.errors import BrokenModelError, CancelledError, InvalidRequestError, UnsupportedModelError
from sotto.store.opening import open_model, record_of, resolve
from sotto.store.removal import own_store
from sotto.store.verify import verify
from stores import assert_sentence

CASES = sorted(path.name for path in REFERENCES.iterdir())
TOLERANCE = 1e-3
Q = gguf.GGMLQuantizationType


def imported(path, quantize="", name="m", **more):
    run_import(plan_import(path, quantize), name, lambda progress: None, lambda: False, **more)
    record = resolve(f"{name}:latest")
    assert verify(record, lambda done, total: None, lambda: False).problems == ()
    return open_model(record)


def distance(found, wanted):
    return mx.abs(found.astype(mx.float32) - wanted.astype(mx.float32)).max().item()


@pytest.mark.one_in(5)
@pytest.mark.parametrize("case", CASES)
def test_a_family_computes_the_same_after_an_import(family, case):
    expected = mx.load(str(REFERENCES / case / "expected.safetensors"))
    model = load(imported(family(case))).model
    assert distance(model(expected["ids"][None])[0], expected["whole"]) < TOLERANCE


@pytest.mark.one_in(10)
@pytest.mark.parametrize("case", CASES)
def test_a_family_can_be_quantized(family, case):
    expected = mx.load(str(REFERENCES / case / "expected.safetensors"))
    source = imported(family(case), "int8")
    model = load(source).model
    # Rows of tiny models are often too short for a group, so that little is quantized.
    assert distance(model(expected["ids"][None])[0], expected["whole"]) < 0.1 * mx.abs(expected["whole"]).max().item()
    assert source.record.quantization == "int8"


def wide(family, case="llama", **changes):
    """Return a folder of a family with rows long enough for groups, and random weights."""
    from loading import random_weights

    folder = family(case)
    config = json.loads((folder / "config.json").read_text()) | {
        "hidden_size": 128, "intermediate_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 32, "num_hidden_layers": 8, **changes,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    weights = {name: array.astype(mx.bfloat16) for name, array in random_weights(config).items()}
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    return folder


@pytest.mark.parametrize("recipe", ["int4", "mxfp8", "mixed_2_6", "mixed_4_8", "int5,lm_head=source"])
def test_all_types_can_be_loaded(family, recipe):
    source = imported(wide(family), recipe)
    assert source.record.quantization == recipe
    assert source.record.runnable
    assert source.record.parameters == load_parameters(source)
    load(source)


def load_parameters(source):
    """Return how many weights the definition of a model has."""
    from mlx.utils import tree_flatten

    from sotto.engine.architectures import zoo

    model, _ = zoo.build(source.config)
    return sum(array.size for _, array in tree_flatten(model.parameters()))


CONVERT = """
import sys
import mlx.core as mx
from mlx_lm.convert import mixed_quant_predicate_builder
from mlx_lm.utils import load_model, quantize_model
from pathlib import Path
model, config = load_model(Path(sys.argv[1]), lazy=True)
recipe, bits = sys.argv[3], int(sys.argv[4] or 0)
chosen = mixed_quant_predicate_builder(recipe, model) if recipe else None
model, config = quantize_model(model, config, 64, bits or 4, quant_predicate=chosen)
from mlx.utils import tree_flatten
mx.save_safetensors(sys.argv[2], dict(tree_flatten(model.parameters())))
"""


@pytest.mark.parametrize(
    "recipe",
    ["mixed_4_6", *(pytest.param(name, marks=pytest.mark.full) for name in ("mixed_2_6", "mixed_3_4", "mixed_3_6"))],
)
def test_mixed_recipes_give_the_bits_of_mlx_lm(family, tmp_path, recipe):
    folder = wide(family, tie_word_embeddings=False)
    target = tmp_path / "theirs.safetensors"
    subprocess.run(
        [sys.executable, "-c", CONVERT, str(folder), str(target), recipe, ""], check=True, capture_output=True
    )
    theirs = mx.load(str(target))
    ours = {}
    for file in imported(folder, recipe).tensor_files:
        for name, array in mx.load(str(file.path), format="safetensors").items():
            base = name.replace(".weight.scale", ".scales").replace(".weight.bias", ".biases")
            ours[base] = array
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert mx.array_equal(array, theirs[name]).item(), name


def test_a_gguf_file_stays_one_and_is_not_copied(family):
    path = write_folder(family("llama").parent / "model.gguf", REFERENCES / "llama", Q.F16)
    path.chmod(0o600)
    source = imported(path)
    (file,) = source.tensor_files
    assert file.path.read_bytes() == path.read_bytes()
    assert file.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert file.path.stat().st_nlink == 2 or file.path.stat().st_blocks
    assert path.stat().st_mode & 0o777 == 0o600
    manifest = json.loads(source.record.path.read_bytes())
    assert [(layer["mediaType"], "name" in layer) for layer in manifest["layers"]] == [
        ("application/vnd.ollama.image.model", False)
    ]
    config = json.loads((own_store() / "blobs" / manifest["config"]["digest"].replace(":", "-")).read_bytes())
    assert config == {
        "model_format": "gguf",
        "model_family": "llama",
        "model_families": ["llama"],
        "model_type": f"{source.record.parameters / 1000:.0f}K",
        "file_type": config["file_type"],
        "architecture": "amd64",
        "os": "linux",
    }
    expected = mx.load(str(REFERENCES / "llama" / "expected.safetensors"))
    assert distance(load(source).model(expected["ids"][None])[0], expected["whole"]) < 0.05


def split(path, target, tensors):
    """Write a GGUF file anew, in parts of a few tensors."""
    reader = gguf.GGUFReader(path)
    writer = gguf.GGUFWriter(target, "llama", split_max_tensors=tensors)
    for name, field in reader.fields.items():
        if not name.startswith(("GGUF.", "general.architecture")):
            kind = field.types[0]
            sub = field.types[-1] if kind is gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(name, field.contents(), kind, sub_type=sub)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, np.array(tensor.data), raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return sorted(target.parent.glob(f"{target.stem}-*-of-*.gguf"))


def test_the_parts_of_a_split_file_are_joined(tmp_path):
    path = write_folder(tmp_path / "whole.gguf", REFERENCES / "llama", Q.Q8_0)
    parts = split(path, tmp_path / "model.gguf", 7)
    assert len(parts) > 2
    joined = imported(parts[1])
    expected = mx.load(str(REFERENCES / "llama" / "expected.safetensors"))
    whole = load(open_model(record_of(path))).model(expected["ids"][None])
    assert mx.array_equal(load(joined).model(expected["ids"][None]), whole).item()
    theirs = gguf.GGUFReader(joined.tensor_files[0].path)
    assert {name for name in theirs.fields if name.startswith("split.")} == set()
    quantized = imported(parts[0], "int8", "q")
    assert distance(load(quantized).model(expected["ids"][None]), whole) < 0.05 * mx.abs(whole).max().item()
    parts[2].unlink()
    with pytest.raises(BrokenModelError) as raised:
        plan_import(parts[0])
    assert_sentence(raised.value.message, parts[0])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "case",
    ["deepseek-v3", "gemma2", "gemma3", "glm4", "gpt-oss", "llama", "llama-llama3", "mixtral", "phi3", "qwen3-moe"],
)
def test_a_gguf_file_can_be_quantized_anew(tmp_path, case):
    path = write_folder(tmp_path / "model.gguf", REFERENCES / case, Q.F32)
    expected = mx.load(str(REFERENCES / case / "expected.safetensors"))
    source = imported(path, "int8")
    assert {"config.json", "tokenizer_config.json"} <= source.json_files.keys()
    found = load(source).model(expected["ids"][None])[0]
    assert distance(found, expected["whole"]) < 0.1 * mx.abs(expected["whole"]).max().item()


def test_what_cannot_be_imported_says_why(family, tmp_path):
    folder = family("llama")
    with pytest.raises(InvalidRequestError):
        plan_import(folder, "int7")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "strange"}))
    with pytest.raises(UnsupportedModelError) as raised:
        plan_import(folder)
    assert_sentence(raised.value.message, "strange")
    (tmp_path / "note.txt").write_text("hello")
    for path in (tmp_path / "note.txt", tmp_path / "missing"):
        with pytest.raises(Exception, match="GGUF") as refused:
            plan_import(path)
        assert_sentence(refused.value.message, path)


def test_a_stopped_import_computes_nothing_twice(family):
    # So many tensors that some are still to be written when a quarter is, however seldom this process runs.
    folder = wide(family, num_hidden_layers=24)
    plan = plan_import(folder, "mxfp4")
    with pytest.raises(CancelledError):
        run_import(plan, "m", lambda report: None, lambda: (unfinished_import("m") or 0) > plan.size // 4)
    finished = unfinished_import("m")
    assert 0 < finished < plan.size
    later = []
    run_import(plan, "m", later.append, lambda: False)
    begun = {report.tensor for report in later}
    assert len(begun) < len(plan.blobs)
    assert unfinished_import("m") is None
    assert resolve("m:latest").quantization == "mxfp4"


def test_an_import_can_be_discarded(family):
    reports = []
    with pytest.raises(CancelledError):
        run_import(plan_import(wide(family), "mxfp4"), "m", reports.append, lambda: len(reports) > 40)
    discard_import("m")
    assert [path.name for path in own_store().rglob("*") if path.is_file()] == ["lock"]
