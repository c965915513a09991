"""Conversion of tensor names in files to those of model definitions."""

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlx import nn

from sotto.engine.config.quantization import Declaration
from sotto.engine.weights import tensor_names
from sotto.errors import BrokenModelError

NAMES = (
    "model.layers.0.q.weight",
    "model.layers.0.q.weight.scale",
    "model.layers.0.q.weight.bias",
    "model.layers.0.q.weight.global_scale",
    "model.layers.0.q.bias",
    "model.layers.0.k.weight",
    "model.layers.0.k.bias",
    "model.layers.0.router.scale",
    "model.layers.0.experts.down_proj",
    "model.layers.0.experts.down_proj.scale",
    "model.layers.0.experts.down_proj.bias",
)


class Experts(nn.Module):
    """The attributes of a layer of experts that the loader uses."""

    def __init__(self, rows, columns, count=2):
        super().__init__()
        self.weight = mx.zeros((count, rows, columns))

    @property
    def num_experts(self):
        return self.weight.shape[0]


class Block(nn.Module):
    """A block with experts in a container with a given name."""

    def __init__(self, container="switch_mlp"):
        super().__init__()
        setattr(self, container, nn.Module())
        self[container].gate_proj, self[container].up_proj = Experts(6, 4), Experts(6, 4)
        self[container].down_proj = Experts(4, 6)


class Model(nn.Module):
    """One layer of a definition with experts."""

    def __init__(self, container="switch_mlp"):
        super().__init__()
        self.layers = [nn.Module()]
        self.layers[0].mlp = Block(container)


class TestRenameCompanions:
    @given(st.permutations(NAMES))
    def test_the_order_of_tensors_does_not_matter(self, names):
        assert tensor_names.rename_companions(names) == {
            "model.layers.0.q.weight.scale": "model.layers.0.q.scales",
            "model.layers.0.q.weight.bias": "model.layers.0.q.biases",
            "model.layers.0.q.weight.global_scale": "model.layers.0.q.global_scale",
            "model.layers.0.experts.down_proj": "model.layers.0.experts.down_proj.weight",
            "model.layers.0.experts.down_proj.scale": "model.layers.0.experts.down_proj.scales",
            "model.layers.0.experts.down_proj.bias": "model.layers.0.experts.down_proj.biases",
        }


class TestWanted:
    def test_towers_are_skipped_for_families_that_have_them(self):
        wanted = tensor_names.is_wanted({"model_type": "gemma3"}, "")
        assert wanted("language_model.model.norm.weight")
        assert not wanted("vision_tower.layers.0.weight")
        assert not wanted("model.vision_tower.layers.0.weight")

    def test_nothing_is_skipped_for_other_families(self):
        assert tensor_names.is_wanted({"model_type": "llama"}, "")("vision_tower.layers.0.weight")

    def test_an_included_draft_model_is_skipped(self):
        assert not tensor_names.is_wanted({"model_type": "llama"}, "draft.")("draft.norm.weight")
        assert tensor_names.is_wanted({"model_type": "llama"}, "")("draft.norm.weight")


class TestArrangeExperts:
    def test_stacked_experts_get_the_name_of_their_container(self):
        weights = {"language_model.layers.0.mlp.experts.down_proj.weight": mx.zeros((2, 4, 6))}
        tensor_names.arrange_experts(Model(), weights, {})
        assert list(weights) == ["language_model.layers.0.mlp.switch_mlp.down_proj.weight"]

    def test_names_that_the_model_uses_itself_stay(self):
        weights = {"layers.0.mlp.experts.down_proj.weight": mx.zeros((2, 4, 6))}
        tensor_names.arrange_experts(Model("experts"), weights, {})
        assert list(weights) == ["layers.0.mlp.experts.down_proj.weight"]

    def test_plain_fused_experts_are_left_to_the_definition(self):
        weights = {
            "layers.0.mlp.experts.gate_up_proj": mx.zeros((2, 12, 4)),
            "layers.0.mlp.experts.down_proj": mx.zeros((2, 4, 6)),
        }
        before = dict(weights)
        tensor_names.arrange_experts(Model(), weights, {})
        assert weights == before

    def test_quantized_fused_experts_are_split_with_their_companions(self):
        base, rows = "layers.0.mlp.experts.gate_up_proj", mx.arange(24, dtype=mx.uint32).reshape(2, 12, 1)
        weights = {
            f"{base}.weight": rows,
            f"{base}.scales": rows.astype(mx.float32),
            f"{base}.global_scale": mx.array(2.0),
        }
        declared = {base: Declaration(base, "nvfp4", 16)}
        tensor_names.arrange_experts(Model(), weights, declared)
        up = "layers.0.mlp.switch_mlp.up_proj"
        assert sorted(name.removeprefix("layers.0.mlp.switch_mlp.") for name in weights) == [
            "gate_proj.global_scale", "gate_proj.scales", "gate_proj.weight",
            "up_proj.global_scale", "up_proj.scales", "up_proj.weight",
        ]  # fmt: skip
        assert weights[f"{up}.weight"].tolist() == rows[:, 6:].tolist()
        assert weights[f"{up}.scales"].tolist() == rows[:, 6:].tolist()
        assert declared[up] == declared[base]

    def test_fused_experts_of_another_layout_are_left_alone(self):
        weights = {"layers.0.mlp.experts.gate_up_proj.weight": mx.zeros((2, 4, 12))}
        tensor_names.arrange_experts(Model(), weights, {})
        assert list(weights) == ["layers.0.mlp.experts.gate_up_proj.weight"]

    @staticmethod
    def separate(projection, indices=(0, 1), shape=(6, 1)):
        base = "layers.0.mlp.experts"
        return {
            f"{base}.{index}.{projection}.{part}": mx.full(shape, index)
            for index in indices
            for part in ("weight", "scales")
        }

    def test_separate_quantized_experts_are_stacked_in_order(self):
        weights = self.separate("w1", (1, 0)) | self.separate("w2", (0, 1), (4, 1))
        tensor_names.arrange_experts(Model(), weights, {})
        base = "layers.0.mlp.switch_mlp"
        assert sorted(weights) == sorted(f"{base}.{p}_proj.{x}" for p in ("gate", "down") for x in ("weight", "scales"))
        assert weights[f"{base}.gate_proj.weight"][:, 0, 0].tolist() == [0, 1]

    def test_a_plain_projection_beside_quantized_ones_is_stacked_with_them(self):
        weights = self.separate("w1") | {f"layers.0.mlp.experts.{i}.w2.weight": mx.zeros((4, 6)) for i in range(2)}
        tensor_names.arrange_experts(Model(), weights, {})
        assert "layers.0.mlp.switch_mlp.down_proj.weight" in weights

    def test_separate_plain_experts_are_left_to_the_definition(self):
        weights = {f"layers.0.mlp.experts.{i}.w2.weight": mx.zeros((4, 6)) for i in range(2)}
        before = set(weights)
        tensor_names.arrange_experts(Model(), weights, {})
        assert set(weights) == before

    def test_a_missing_expert_is_an_error(self):
        with pytest.raises(BrokenModelError, match=r"has 1 tensors named like .* says 2 experts"):
            tensor_names.arrange_experts(Model(), self.separate("w1", (1,)), {})

    def test_experts_that_differ_are_an_error(self):
        weights = self.separate("w1", (0,)) | self.separate("w1", (1,), (6, 2))
        with pytest.raises(BrokenModelError, match="differ in shape or quantization"):
            tensor_names.arrange_experts(Model(), weights, {})
