"""Models that cannot be loaded correctly are refused in a sentence."""

import mlx.core as mx
import pytest

from checkpoints import (
    LLAMA,
    QWEN3_MOE,
    quantize,
    read_header,
    source_of,
    write_tensors,
)
from loading import (
    LATENT,
    assert_same,
    load,
    logits_of,
    random_weights,
)
from sotto.engine.memory.memory_plan import Limits
from sotto.errors import BrokenModelError, UnsupportedModelError


class TestRefusals:
    @pytest.fixture
    def weights(self):
        return random_weights(LLAMA)

    @staticmethod
    def load(folder, weights, config=LLAMA, metadata=None, **keywords):
        write_tensors(folder / "model.safetensors", weights, metadata)
        return load(source_of([read_header(folder / "model.safetensors")], config, **keywords))

    def test_tensors_that_no_layer_uses_are_named(self, tmp_path, weights):
        extra = {f"model.layers.0.mlp.extra{index}.weight": mx.zeros((2,)) for index in range(5)}
        with pytest.raises(UnsupportedModelError, match=r"extra0.*extra1.*extra2\.weight and 2 more tensors, which"):
            self.load(tmp_path, weights | extra)

    def test_an_unknown_quantization_method_is_named(self, tmp_path, weights):
        config = LLAMA | {"quantization_config": {"quant_method": "novel", "bits": 4}}
        weights["model.layers.0.mlp.up_proj.qweight"] = weights.pop("model.layers.0.mlp.up_proj.weight")
        with pytest.raises(UnsupportedModelError, match=r"quantized with 'novel'.* hold .*up_proj\.qweight, which"):
            self.load(tmp_path, weights, config)

    def test_a_missing_tensor_is_named(self, tmp_path, weights):
        del weights["model.layers.1.mlp.up_proj.weight"]
        with pytest.raises(BrokenModelError, match=r"lack model\.layers\.1\.mlp\.up_proj\.weight, which config"):
            self.load(tmp_path, weights)

    def test_missing_experts_are_named(self, tmp_path):
        weights = random_weights(QWEN3_MOE)
        stacked = weights.pop("model.layers.0.mlp.switch_mlp.up_proj.weight")
        weights["model.layers.0.mlp.experts.0.up_proj.weight"] = stacked[0]
        with pytest.raises(UnsupportedModelError, match=r"not laid out as .*: '.*experts\.1\.up_proj.*' is missing"):
            self.load(tmp_path, weights, QWEN3_MOE)

    def test_a_shape_that_contradicts_the_config(self, tmp_path, weights):
        weights["model.norm.weight"] = mx.ones((65,))
        with pytest.raises(BrokenModelError, match=r"model\.norm\.weight is 65, but config\.json calls for 64"):
            self.load(tmp_path, weights)

    def test_packed_words_without_scales(self, tmp_path, weights):
        name = "model.layers.0.mlp.up_proj.weight"
        weights[name] = mx.zeros(weights[name].shape, mx.uint32)
        with pytest.raises(UnsupportedModelError, match=r"up_proj\.weight is stored as uint32 without scales"):
            self.load(tmp_path, weights)

    def test_metadata_that_contradicts_the_shape(self, tmp_path, weights):
        name = "model.layers.0.mlp.up_proj.weight"
        tensors, _ = quantize(name, weights.pop(name), "int4")
        with pytest.raises(BrokenModelError, match=rf"The file of {name} says .* int8 in groups of 32, but .* int4"):
            self.load(tmp_path, weights | tensors, metadata={"quant_type": "int8", "group_size": "32"})

    def test_metadata_that_contradicts_a_matrix_that_is_split(self, tmp_path):
        weights = random_weights(LATENT)
        name = "model.layers.0.self_attn.kv_b_proj.weight"
        tensors, _ = quantize(name, mx.zeros((256, 64)), "int4")
        with pytest.raises(BrokenModelError, match=f"The file of {name} says"):
            self.load(tmp_path, weights | tensors, LATENT, {"quant_type": "int8", "group_size": "32"})

    def test_a_tensor_under_two_names(self, tmp_path, weights):
        name = "model.layers.0.mlp.up_proj.weight"
        tensors, _ = quantize(name, weights.pop(name), "int4")
        scales = {name.replace("weight", "scales"): mx.zeros((2,))}
        with pytest.raises(BrokenModelError, match="under two names"):
            self.load(tmp_path, weights | tensors | scales)

    def test_weights_larger_than_the_memory_of_the_machine(self, tmp_path, weights):
        write_tensors(tmp_path / "model.safetensors", weights)
        source = source_of([read_header(tmp_path / "model.safetensors")], LLAMA)
        with pytest.raises(UnsupportedModelError, match=r"The weights take 0\.0 GB and there are only 0\.0 GB"):
            load(source, limits=Limits(1000, 1000, "a test"))

    def test_a_draft_is_not_loaded(self, tmp_path, weights):
        drafts = {f"draft.{name}": mx.zeros((2,)) for name in weights}
        loaded = self.load(tmp_path, weights | drafts, draft_prefix="draft.")
        assert_same(loaded.model, logits_of(LLAMA, weights))

    def test_an_architecture_that_cannot_run_is_refused_before_anything_is_read(self, tmp_path, weights):
        with pytest.raises(UnsupportedModelError):
            self.load(tmp_path, weights, LLAMA | {"model_type": "no_such_thing", "architectures": ["NoSuchThing"]})
