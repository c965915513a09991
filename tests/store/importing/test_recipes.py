"""Recipes of quantization, and the type that each tensor of an architecture gets."""

import pytest

from sotto.errors import InvalidRequestError
from sotto.store.importing.policy import takes_more, type_of
from sotto.store.importing.recipes import parse_recipe
from stores import assert_sentence

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 30}
GEMMA4 = {"architectures": ["Gemma4ForConditionalGeneration"], "text_config": {"num_hidden_layers": 30}}
GEMMA4_MOE = {**GEMMA4, "text_config": {"num_hidden_layers": 30, "num_experts": 8}}
QWEN35 = {"model_type": "qwen3_5", "num_hidden_layers": 30}
COHERE = {"architectures": ["Cohere2MoeForCausalLM"], "num_hidden_layers": 30}
GLIMMER = {"architectures": ["MuseGlimmerForConditionalGeneration"], "num_hidden_layers": 30}
LAGUNA = {"architectures": ["LagunaForCausalLM"], "num_hidden_layers": 40, "mlp_only_layers": [0]}
NEMOTRON = {"architectures": ["NemotronHForCausalLM"], "num_hidden_layers": 30}


def kind(quantize, name, shape=(256, 256), config=LLAMA, dtype="BF16"):
    _, recipe = parse_recipe(quantize)
    return type_of(name, dtype, shape, recipe, config)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("int4", "int4"), ("Q4", "int4"), ("FP8", "int8"), (" nvfp4 ", "nvfp4"), ("mixed_3_6", "mixed_3_6"),
        ("int4, lm_head=Q8,layers.0.=source", "int4,lm_head=int8,layers.0.=source"),
    ],
)  # fmt: skip
def test_recipes_have_one_normal_form(text, name):
    assert parse_recipe(text)[0] == name
    assert parse_recipe(name) == parse_recipe(text)


def test_no_recipe_is_none():
    assert parse_recipe("  ") is None


@pytest.mark.parametrize(
    "text", ["int7", "mixed_5_6", "int4,lm_head", "int4,lm_head=int9", "int4,=int8", "q4_K_M", "\x1b[2J"]
)
def test_other_recipes_are_refused(text):
    with pytest.raises(InvalidRequestError) as raised:
        parse_recipe(text)
    assert_sentence(raised.value.message, "int4")


def test_the_layers_that_get_more_bits():
    assert [layer for layer in range(30) if takes_more(layer, 30)] == [
        0,
        1,
        2,
        5,
        8,
        11,
        14,
        17,
        20,
        23,
        26,
        27,
        28,
        29,
    ]


@pytest.mark.parametrize(
    ("quantize", "name", "shape", "wanted"),
    [
        ("int4", "model.layers.3.self_attn.q_proj.weight", (256, 256), "int4"),
        ("int4", "model.layers.3.self_attn.k_proj.weight", (256, 256), "int8"),
        ("mxfp4", "model.layers.3.self_attn.v_proj.weight", (256, 256), "mxfp8"),
        ("nvfp4", "model.layers.3.mlp.down_proj.weight", (256, 256), "mxfp8"),
        ("nvfp4", "model.layers.3.mlp.down_proj.weight", (256, 48), "nvfp4"),
        ("int4", "model.layers.3.mlp.down_proj.weight", (256, 172), ""),
        ("int8", "model.layers.3.mlp.down_proj.weight", (256, 256), "int8"),
        ("mxfp4", "lm_head.weight", (256, 256), "mxfp8"),
        ("int4", "lm_head.weight", (256, 100), ""),
        ("int4", "model.embed_tokens.weight", (256, 256), ""),
        ("int4", "model.layers.3.input_layernorm.weight", (256,), ""),
        ("int4", "model.layers.3.self_attn.q_proj.bias", (256, 256), ""),
        ("int4", "model.layers.3.mlp.gate.weight", (256, 256), ""),
        ("int4", "model.layers.3.mlp.shared_expert_gate.weight", (256, 256), ""),
        ("int4", "model.layers.3.mlp.up_proj.weight", (4, 64), ""),
        ("int4", "model.vision_tower.layers.3.mlp.fc1.weight", (256, 256), ""),
        ("int4", "model.visual.blocks.3.attn.qkv.weight", (256, 256), ""),
        ("int4", "multi_modal_projector.linear_1.weight", (256, 256), ""),
        ("int4", "model.connector.modality_projection.proj.weight", (256, 256), ""),
        ("mixed_4_8", "model.embed_vision.embedding_projection.weight", (256, 256), ""),
        ("mixed_4_8", "multi_modal_projector.linear_1.weight", (256, 256), ""),
        ("int4,multi_modal_projector=int8", "multi_modal_projector.linear_1.weight", (256, 256), "int8"),
        ("int4", "model.layers.3.mlp.experts.down_proj.weight", (8, 256, 256), "int8"),
        ("nvfp4", "model.layers.3.mlp.experts.down_proj.weight", (8, 256, 256), "nvfp4"),
        ("nvfp4", "model.layers.3.mlp.experts.gate_up_proj", (8, 256, 256), "nvfp4"),
        ("nvfp4", "model.layers.3.conv1d.weight", (256, 1, 256), ""),
        ("mixed_4_6", "model.layers.3.mlp.down_proj.weight", (256, 256), "int4"),
        ("mixed_4_6", "model.layers.5.mlp.down_proj.weight", (256, 256), "int6"),
        ("mixed_3_4", "model.layers.0.self_attn.v_proj.weight", (256, 256), "int4"),
        ("mixed_3_4", "model.layers.0.self_attn.k_proj.weight", (256, 256), "int3"),
        ("mixed_2_6", "lm_head.weight", (256, 256), "int6"),
        ("mixed_2_6", "model.embed_tokens.weight", (256, 256), "int2"),
        ("mixed_4_8", "model.embed_tokens.weight", (256, 256), "int8"),
        ("mixed_4_8", "model.layers.3.mlp.gate.weight", (256, 256), ""),
        ("mixed_4_8", "model.norm.weight", (2048,), ""),
        ("int4,lm_head=source", "lm_head.weight", (256, 256), ""),
        ("int4,embed_tokens=int8", "model.embed_tokens.weight", (256, 256), "int8"),
        ("int4,layers=int8,layers.3.=int6", "model.layers.3.self_attn.q_proj.weight", (256, 256), "int6"),
        ("int4,layers=int8", "model.layers.3.input_layernorm.weight", (256,), ""),
    ],
)  # fmt: skip
def test_types_of_most_architectures(quantize, name, shape, wanted):
    assert kind(quantize, name, shape) == wanted


def test_only_floats_are_quantized():
    assert kind("int4", "model.layers.3.mlp.experts.gate_up_proj_scales", (8, 256, 256), dtype="U8") == ""


@pytest.mark.parametrize(
    ("config", "quantize", "name", "wanted"),
    [
        (GEMMA4, "int4", "model.language_model.embed_tokens.weight", "int8"),
        (GEMMA4, "int4", "model.language_model.embed_tokens_per_layer.weight", ""),
        (GEMMA4, "nvfp4", "model.layers.5.self_attn.v_proj.weight", "mxfp8"),
        (GEMMA4, "nvfp4", "model.layers.3.self_attn.v_proj.weight", "nvfp4"),
        (GEMMA4, "nvfp4", "model.layers.5.self_attn.k_proj.weight", "nvfp4"),
        (GEMMA4_MOE, "nvfp4", "model.layers.3.self_attn.v_proj.weight", "mxfp8"),
        (GEMMA4_MOE, "nvfp4", "model.layers.5.self_attn.k_proj.weight", "mxfp8"),
        (GEMMA4, "mxfp8", "model.layers.3.self_attn.v_proj.weight", "mxfp8"),
        (QWEN35, "int4", "model.layers.3.linear_attn.in_proj_a.weight", ""),
        (QWEN35, "int4", "model.layers.3.linear_attn.in_proj_qkv.weight", "int4"),
        (COHERE, "int4", "model.embed_tokens.weight", "int8"),
        (COHERE, "int4", "model.layers.5.mlp.experts.down_proj.weight", "int8"),
        (COHERE, "int4", "model.layers.3.self_attn.k_proj.weight", "int4"),
        (GLIMMER, "mxfp4", "model.layers.3.self_attn.o_proj.weight", "mxfp8"),
        (GLIMMER, "mxfp4", "model.layers.3.mlp.gate_proj.weight", "mxfp4"),
        (GLIMMER, "mxfp4", "model.layers.5.mlp.gate_proj.weight", "mxfp8"),
        (GLIMMER, "mxfp4", "vision_tower.layers.5.mlp.gate_proj.weight", ""),
        (LAGUNA, "int4", "model.layers.3.self_attn.k_proj.weight", "int8"),
        (LAGUNA, "nvfp4", "model.embed_tokens.weight", "mxfp8"),
        (LAGUNA, "nvfp4", "model.layers.3.self_attn.k_proj.weight", "nvfp4"),
        (LAGUNA, "mxfp8", "model.layers.3.self_attn.k_proj.weight", ""),
        (LAGUNA, "nvfp4", "model.layers.0.mlp.up_proj.weight", "nvfp4"),
        (LAGUNA, "nvfp4", "model.layers.3.mlp.experts.down_proj.weight", "nvfp4"),
        (LAGUNA, "mxfp8", "model.layers.3.mlp.experts.down_proj.weight", ""),
        (LAGUNA, "mxfp8", "model.layers.5.mlp.experts.down_proj.weight", "mxfp8"),
        (LAGUNA, "nvfp4", "model.layers.7.mlp.shared_expert.down_proj.weight", "mxfp8"),
        (LAGUNA, "nvfp4", "model.layers.19.mlp.shared_expert.down_proj.weight", ""),
        (LAGUNA, "nvfp4", "model.layers.19.mlp.shared_expert.up_proj.weight", "nvfp4"),
        (LAGUNA, "nvfp4", "model.layers.3.mlp.gate.weight", ""),
        (NEMOTRON, "nvfp4", "backbone.embeddings.weight", "mxfp8"),
        (NEMOTRON, "nvfp4", "backbone.layers.3.mixer.q_proj.weight", "mxfp8"),
        (NEMOTRON, "nvfp4", "backbone.layers.3.mixer.out_proj.weight", "nvfp4"),
        (NEMOTRON, "nvfp4", "backbone.layers.5.mixer.out_proj.weight", "mxfp8"),
        (NEMOTRON, "nvfp4", "backbone.layers.5.mixer.gate.weight", ""),
    ],
)  # fmt: skip
def test_types_of_architectures_with_rules_of_their_own(config, quantize, name, wanted):
    shape = (8, 256, 256) if ".experts." in name else (256, 256)
    assert kind(quantize, name, shape, config) == wanted
