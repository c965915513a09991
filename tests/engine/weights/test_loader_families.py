"""Quantized experts of families that name, number and fuse them differently."""

import re

import mlx.core as mx
import pytest

from checkpoints import LLAMA, metadata_of, quantize, source_of, write_blob
from loading import assert_same, load, logits_of, random_weights
from sotto.errors import UnsupportedModelError

EXPERT = re.compile(r"switch_(mlp|glu)\.(?P<projection>\w+)\.weight$")
MIXTRAL = LLAMA | {
    "model_type": "mixtral",
    "architectures": ["MixtralForCausalLM"],
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "intermediate_size": 64,
}
NEMOTRON = LLAMA | {
    "model_type": "nemotron_h",
    "architectures": ["NemotronHForCausalLM"],
    "attention_bias": False,
    "mamba_num_heads": 4,
    "mamba_head_dim": 16,
    "mamba_proj_bias": False,
    "ssm_state_size": 16,
    "conv_kernel": 4,
    "n_groups": 2,
    "mlp_bias": False,
    "layer_norm_epsilon": 1e-5,
    "use_bias": False,
    "use_conv_bias": True,
    "hybrid_override_pattern": ["M", "E", "*", "-"],
    "num_hidden_layers": 4,
    "head_dim": 16,
    "moe_intermediate_size": 64,
    "moe_shared_expert_intermediate_size": 64,
    "n_group": 1,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "norm_topk_prob": True,
    "routed_scaling_factor": 1.0,
}
GEMMA4 = {
    "model_type": "gemma4",
    "architectures": ["Gemma4ForConditionalGeneration"],
    "vocab_size": 160,
    "text_config": {
        "model_type": "gemma4_text",
        "hidden_size": 64,
        "num_hidden_layers": 4,
        "intermediate_size": 128,
        "num_attention_heads": 4,
        "head_dim": 16,
        "global_head_dim": 32,
        "num_key_value_heads": 2,
        "num_kv_shared_layers": 0,
        "hidden_size_per_layer_input": 0,
        "vocab_size": 160,
        "vocab_size_per_layer_input": 160,
        "sliding_window": 16,
        "enable_moe_block": True,
        "num_experts": 4,
        "top_k_experts": 2,
        "moe_intermediate_size": 64,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "tie_word_embeddings": True,
        "use_double_wide_mlp": False,
    },
}


@pytest.mark.parametrize("kind", ["int4", "mxfp8", "nvfp4"])
@pytest.mark.parametrize(
    ("config", "projections"),
    [
        (MIXTRAL, {"gate_proj": "w1", "down_proj": "w2", "up_proj": "w3"}),
        (NEMOTRON, {"fc1": "up_proj", "fc2": "down_proj"}),
    ],
    ids=["mixtral", "nemotron_h"],
)
def test_experts_stored_separately(tmp_path, config, projections, kind):
    weights = random_weights(config)
    expected, files = dict(weights), []
    for name, weight in weights.items():
        if not (match := EXPERT.search(name)):
            files.append(write_blob(tmp_path, {name: weight}))
            continue
        pieces = []
        for index, expert in enumerate(weight):
            raw = f"{name[: match.start()]}experts.{index}.{projections[match['projection']]}.weight"
            tensors, piece = quantize(raw, expert, kind)
            files.append(write_blob(tmp_path, tensors, metadata_of(kind)))
            pieces.append(piece)
        expected[name] = mx.stack(pieces)
    assert_same(load(source_of(files, config)).model, logits_of(config, expected))


class TestGemma4:
    @staticmethod
    def checkpoint(folder, kind):
        weights = random_weights(GEMMA4)
        expected, files = dict(weights), []
        for name, weight in weights.items():
            raw = name.replace("language_model.model.", "model.language_model.")
            if not EXPERT.search(name):
                files.append(write_blob(folder, {raw: weight}))
            elif "up_proj" not in name:
                raw = raw.replace("experts.switch_glu", "experts").removesuffix(".weight")
                up = name.replace("gate_proj", "up_proj")
                fused = mx.concatenate([weight, weights[up]], axis=-2) if up != name else weight
                tensors, whole = quantize(raw.replace("gate_proj", "gate_up_proj"), fused, kind)
                files.append(write_blob(folder, tensors, metadata_of(kind)))
                if up != name:
                    expected[name], expected[up] = mx.split(whole, 2, axis=-2)
                else:
                    expected[name] = whole
        return files, expected

    @pytest.mark.parametrize("kind", ["int4", "mxfp8", "nvfp4"])
    def test_fused_experts_beside_towers(self, tmp_path, kind):
        files, expected = self.checkpoint(tmp_path, kind)
        for name in ("model.vision_tower.encoder.weight", "model.embed_audio.projection.weight"):
            files.append(write_blob(tmp_path, {name: mx.zeros((3,))}))
        assert_same(load(source_of(files, GEMMA4)).model, logits_of(GEMMA4, expected))

    def test_an_unknown_tower_is_refused(self, tmp_path):
        files, _ = self.checkpoint(tmp_path, "int4")
        files.append(write_blob(tmp_path, {"model.smell_tower.nose.weight": mx.zeros((3,))}))
        with pytest.raises(UnsupportedModelError, match=r"hold .*smell_tower\.nose\.weight, which"):
            load(source_of(files, GEMMA4))
