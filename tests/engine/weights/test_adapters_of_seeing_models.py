"""Adapters for models that see: additions to the language model leave the tower, whose layers have the same names."""

import json
from dataclasses import replace

import mlx.core as mx
import pytest

from checkpoints import read_header, source_of, write_tensors
from loading import TOKENS, load
from sotto.engine.weights.fusing import Fusion
from sotto.errors import UnsupportedModelError
from sotto.store.adapters.adapter_files import open_adapter
from tiny_tower import SEEING, seeing_weights, tiny_tower

__all__ = ["tiny_tower"]
pytestmark = pytest.mark.usefixtures("tiny_tower")
TEXT = "language_model.model.layers.0.self_attn.q_proj"
# As wide as the layer of the language model, and with its name from `layers.` on.
SEEN = "vision_tower.layers.0.self_attn.q_proj"


def adapter(folder, *layers):
    """Write an adapter as PEFT does, with additions to some layers."""
    folder.mkdir()
    mx.random.seed(7)
    tensors = {}
    for layer in layers:
        tensors[f"base_model.model.{layer}.lora_A.weight"] = mx.random.normal((4, 64))
        tensors[f"base_model.model.{layer}.lora_B.weight"] = mx.random.normal((64, 4))
    mx.save_safetensors(str(folder / "adapter_model.safetensors"), tensors)
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return open_adapter(folder)


@pytest.fixture
def source(tmp_path):
    write_tensors(tmp_path / "model.safetensors", seeing_weights())
    return source_of([read_header(tmp_path / "model.safetensors")], SEEING)


def test_additions_to_the_language_model_leave_the_tower(source, tmp_path):
    plain, changed = load(source), load(replace(source, adapters=(adapter(tmp_path / "a", TEXT),)))
    assert not mx.allclose(changed.model(TOKENS), plain.model(TOKENS))
    for name in ("q_proj", "out_proj"):
        mine, theirs = (each.tower.vision_tower.layers[0][name].weight for each in (changed, plain))
        assert mx.array_equal(mine, theirs)
    assert changed.vision_note == ""


def test_a_model_whose_tower_an_adapter_changes_sees_nothing(source, tmp_path):
    """What it would see without the change is not what the adapter was trained for."""
    changed = load(replace(source, adapters=(adapter(tmp_path / "a", TEXT, SEEN),)))
    assert changed.tower is changed.reader is None
    assert changed.vision_note == (
        f"Images are not shown to it: its adapter {tmp_path / 'a'} also changes its tower for images, which is not "
        "supported."
    )


def test_fusing_leaves_the_tower(tmp_path):
    fusion = Fusion(adapter(tmp_path / "a", TEXT), SEEING)
    assert fusion.change(f"{SEEN}.weight", (64, 64)) is None
    assert fusion.change(f"model.{SEEN}.weight", (96, 64)) is None
    assert fusion.change(f"{TEXT}.weight", (64, 64)) is not None
    fusion.require_all_used()


def test_a_change_of_the_tower_is_not_fused(tmp_path):
    with pytest.raises(UnsupportedModelError, match=r"changes its tower for images, too, .* cannot be fused"):
        Fusion(adapter(tmp_path / "a", TEXT, SEEN), SEEING)
