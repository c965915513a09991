"""Models that see, imported and made from others: they see what the originals see."""

import json

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten

from loading import load
from places import VISION_REFERENCES
from sotto.engine.quantizing.importer import plan_import, run_import
from sotto.runner.model_making import create_model
from sotto.store.creating.modelfile import parse_modelfile
from sotto.store.opening import open_model, record_of, resolve
from sotto.store.verify import verify
from thoroughness import some

CASES = ("gemma3", "lfm2-vl", "llava-next", "mistral3", "qwen2-5-vl", "qwen3-vl", "smolvlm")


def assert_same_sight(found, original):
    """Compare the towers of two loaded models to the bit, and what reads images for them."""
    mine, theirs = (dict(tree_flatten(each.tower.parameters())) for each in (found, original))
    assert mine.keys() == theirs.keys()
    assert all(mx.array_equal(mine[name], theirs[name]) for name in mine)
    assert found.reader.lay_out(200, 300) == original.reader.lay_out(200, 300)
    assert found.reader.normalization == original.reader.normalization


def whole(name):
    """Return a model of the own store, all of whose files are as they were written."""
    record = resolve(name)
    assert verify(record, lambda done, total: None, lambda: False).problems == ()
    return open_model(record)


@pytest.mark.parametrize("case", some(CASES, 3))
@pytest.mark.parametrize("quantize", ["", "int8"])
def test_an_import_sees_what_the_original_sees(case, quantize):
    original = record_of(VISION_REFERENCES / case)
    assert "vision" in original.capabilities
    run_import(plan_import(original.path, quantize), "m", lambda progress: None, lambda: False)
    source = whole("m:latest")
    assert "vision" in source.record.capabilities
    assert_same_sight(load(source), load(open_model(original)))


def test_a_model_made_from_one_that_sees_sees_as_well():
    path = VISION_REFERENCES / "gemma3"
    run_import(plan_import(path), "m", lambda progress: None, lambda: False)
    create_model("made", parse_modelfile("FROM m\nSYSTEM You see."), lambda status: None)
    made = whole("made:latest")
    assert "vision" in made.record.capabilities
    assert_same_sight(load(made), load(open_model(record_of(path))))


def test_a_manifest_lists_the_preprocessor():
    run_import(plan_import(VISION_REFERENCES / "gemma3"), "m", lambda progress: None, lambda: False)
    layers = json.loads(resolve("m:latest").path.read_bytes())["layers"]
    assert {"preprocessor_config.json", "config.json"} <= {layer.get("name") for layer in layers}
