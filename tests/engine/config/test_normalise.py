"""Normalisation of configs as transformers 5.23 writes them to the keys that the definitions read."""

import copy
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.config.normalise import normalise, rope_scaling_of, window_of
from sotto.errors import UnsupportedModelError

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
BY_LAYER = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
}
SLIDING, FULL = "sliding_attention", "full_attention"


def test_plain_positions():
    config = normalise({"model_type": "llama", "rope_parameters": {"rope_type": "default", "rope_theta": 2e6}})
    assert config == {"model_type": "llama", "rope_theta": 2e6, "rope_scaling": None}


def test_scaled_positions_keep_every_parameter():
    config = normalise({"model_type": "llama", "rope_parameters": LLAMA3})
    assert config["rope_theta"] == 500000.0
    assert config["rope_scaling"] == {k: v for k, v in LLAMA3.items() if k != "rope_theta"} | {"type": "llama3"}
    assert rope_scaling_of(config) == "llama3"


def test_the_rotated_fraction_of_a_head():
    rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.25}
    assert normalise({"model_type": "stablelm", "rope_parameters": rope})["partial_rotary_factor"] == 0.25


def test_positions_by_type_of_layer():
    config = normalise({"model_type": "gemma3_text", "rope_parameters": BY_LAYER})
    assert (config["rope_theta"], config["rope_local_base_freq"]) == (1000000.0, 10000.0)
    assert config["rope_scaling"]["type"] == "linear"


def test_definitions_that_read_the_new_keys_get_them():
    config = {"model_type": "gemma4_text", "rope_parameters": BY_LAYER}
    assert normalise(config)["rope_parameters"] == BY_LAYER


def test_the_inner_config_of_a_larger_model():
    config = normalise(
        {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "rope_parameters": BY_LAYER}}
    )
    assert config["text_config"]["rope_theta"] == 1000000.0


def test_floats_that_json_cannot_express():
    assert normalise({"model_type": "mamba2", "time_step_limit": [0.0, {"__float__": "Infinity"}]}) == {
        "model_type": "mamba2",
        "time_step_limit": [0.0, math.inf],
    }


def test_heads_that_differ_by_layer():
    config = {"model_type": "gemma4_text", "head_dim": 8, "num_key_value_heads": 2}
    assert "global_head_dim" not in normalise(config)
    same = normalise(config | {"per_layer_config": {}})
    assert (same["global_head_dim"], same["num_global_key_value_heads"]) == (8, 2)
    wider = normalise(config | {"per_layer_config": {"5": {"head_dim": 16, "num_key_value_heads": 1}}})
    assert (wider["global_head_dim"], wider["num_global_key_value_heads"]) == (16, 1)
    with pytest.raises(UnsupportedModelError, match="more than one head_dim"):
        normalise(config | {"per_layer_config": {"1": {"head_dim": 16}, "2": {"head_dim": 32}}})


@pytest.mark.parametrize("key", ["type", "rope_type"])
def test_the_type_of_scaling_is_written_under_both_names(key):
    config = normalise({"model_type": "phi3", "rope_scaling": {key: "su"}, "original_max_position_embeddings": 4096})
    assert config["rope_scaling"] == {
        "type": "longrope",
        "rope_type": "longrope",
        "original_max_position_embeddings": 4096,
    }


def test_default_scaling_is_none():
    assert normalise({"model_type": "llama", "rope_scaling": {"rope_type": "default"}})["rope_scaling"] is None


def test_required_keys_get_their_default():
    assert normalise({"model_type": "apertus", "qk_norm": False}) == {
        "model_type": "apertus",
        "mlp_bias": False,
        "post_norm": False,
        "qk_norm": False,
    }


@pytest.mark.parametrize(
    ("config", "added"),
    [
        (
            {"model_type": "deepseek_v2", "rope_scaling": None},
            {"rope_scaling": {"type": "yarn", "rope_type": "yarn", "factor": 1.0}},
        ),
        ({"model_type": "exaone_moe", "mlp_layer_types": ["dense", "sparse"]}, {"is_moe_layer": [False, True]}),
        (
            {"model_type": "glm_moe_dsa"},
            {"moe_layer_freq": 1, "scoring_func": "sigmoid", "topk_method": "noaux_tc"},
        ),
        (
            {"model_type": "granitemoehybrid", "num_local_experts": 0, "shared_intermediate_size": 16},
            {"intermediate_size": 16, "position_embedding_type": "nope"},
        ),
        ({"model_type": "mellum", "num_local_experts": 4}, {"num_experts": 4}),
        ({"model_type": "minimax_m2", "head_dim": 8}, {"shared_intermediate_size": 0, "rotary_dim": 8}),
        (
            {"model_type": "minimax_m2", "head_dim": 8, "partial_rotary_factor": 0.5},
            {"shared_intermediate_size": 0, "rotary_dim": 4},
        ),
        ({"model_type": "solar_open"}, {"first_k_dense_replace": 0, "partial_rotary_factor": 1.0}),
    ],
)
def test_families_get_the_keys_that_their_definitions_read(config, added):
    assert normalise(config) == {**config, **added}


def test_an_inner_config_gets_the_keys_that_its_definition_reads():
    config = normalise(
        {"model_type": "qwen3_vl_moe", "text_config": {"model_type": "qwen3_vl_moe_text", "num_local_experts": 4}}
    )
    assert config["text_config"]["num_experts"] == 4
    assert config["text_config"]["norm_topk_prob"] is True


@pytest.mark.parametrize(
    ("kind", "inner"),
    [
        ("gemma4_unified", "gemma4_unified_text"),
        ("minimax_m3_vl", "minimax_m3_vl_text"),
        ("qwen3_5_moe", "qwen3_5_moe_text"),
    ],
)
def test_inner_definitions_that_read_the_new_keys_get_them(kind, inner):
    rope = {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25}
    config = normalise({"model_type": kind, "text_config": {"model_type": inner, "rope_parameters": rope}})
    assert config["text_config"]["rope_parameters"] == rope


def test_the_vocabulary_size_is_copied_from_the_inner_config():
    config = {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "vocab_size": 64}}
    assert normalise(config)["vocab_size"] == 64
    assert normalise(config | {"vocab_size": 65})["vocab_size"] == 65


def test_the_attention_factor_becomes_mscale():
    yarn = {"rope_type": "yarn", "factor": math.e, "attention_factor": 1.3}
    assert normalise({"model_type": "olmo3", "rope_scaling": yarn})["rope_scaling"]["mscale"] == pytest.approx(3.0)
    config = normalise({"model_type": "deepseek_v3", "rope_scaling": yarn | {"mscale_all_dim": 1.0}})
    assert "mscale" not in config["rope_scaling"]


def test_multipliers_are_moved_to_where_the_definition_applies_them():
    config = {"model_type": "falcon_h1", "attention_in_multiplier": 1.5, "key_multiplier": 0.25}
    normalised = normalise(config | {"attention_out_multiplier": 0.5})
    # The factor of the attention scores, and that of the values.
    assert normalised["attention_in_multiplier"] ** 2 == pytest.approx(1.5**2 * 0.25)
    assert normalised["attention_out_multiplier"] == pytest.approx(1.5 * 0.5)


def test_types_of_layers_get_the_names_of_the_definition():
    config = {"model_type": "granitemoehybrid", "layer_types": ["linear_attention", "full_attention", "mamba"]}
    assert normalise(config)["layer_types"] == ["mamba", "attention", "mamba"]


def test_renamed_keys():
    rope = {"rope_type": "default", "rope_theta": 5e4, "partial_rotary_factor": 0.25}
    config = normalise({"model_type": "gpt_neox", "rope_parameters": rope})
    assert (config["rotary_pct"], config["rotary_emb_base"]) == (0.25, 5e4)


@pytest.mark.parametrize(
    ("kind", "types", "pattern"),
    [
        ("gemma3_text", [SLIDING] * 5 + [FULL] + [SLIDING] * 2, 6),
        ("gemma3_text", [FULL] * 3, 1),
        ("cohere2", ([SLIDING] * 3 + [FULL]) * 2, 4),
        ("exaone4", [SLIDING, SLIDING, FULL, SLIDING], "LLGL"),
        ("exaone4", [FULL] * 3, None),
    ],
)
def test_the_pattern_of_alternating_layers(kind, types, pattern):
    assert normalise({"model_type": kind, "layer_types": types})["sliding_window_pattern"] == pattern


@pytest.mark.parametrize("kind", ["gemma3_text", "exaone4", "qwen3_next"])
def test_sliding_windows_in_all_layers_are_refused(kind):
    with pytest.raises(UnsupportedModelError, match=rf"None of its layers attends .* in {kind} models"):
        normalise({"model_type": kind, "layer_types": [SLIDING] * 4})


def test_the_pattern_under_another_key():
    linear = "linear_attention"
    config = normalise({"model_type": "qwen3_next", "layer_types": [linear, linear, FULL] * 2})
    assert config["full_attention_interval"] == 3
    with pytest.raises(UnsupportedModelError, match=r"one layer of every 2 attends"):
        normalise({"model_type": "qwen3_5_text", "layer_types": [linear, FULL, linear, linear]})


def test_a_model_with_fewer_layers_than_its_pattern_is_refused():
    with pytest.raises(UnsupportedModelError, match=r"at least 6, but num_hidden_layers in its config\.json is 4\."):
        normalise({"model_type": "gemma3_text", "num_hidden_layers": 4, "sliding_window_pattern": 6})
    normalise({"model_type": "gemma3_text", "num_hidden_layers": 6, "sliding_window_pattern": 6})


def test_layers_that_do_not_alternate_regularly_are_refused():
    with pytest.raises(UnsupportedModelError, match=r"layer_types are not regular, which cohere2 models should be"):
        normalise({"model_type": "cohere2", "layer_types": [SLIDING, FULL, FULL, SLIDING]})


@pytest.mark.parametrize(
    ("config", "window"),
    [
        ({}, None),
        ({"sliding_window": None}, None),
        ({"sliding_window": 0}, None),
        ({"sliding_window": 128}, 128),
        ({"sliding_window": 128, "use_sliding_window": False}, None),
        ({"sliding_window": 128, "use_sliding_window": True}, 128),
        ({"sliding_window": 128, "max_position_embeddings": 128}, None),
        ({"sliding_window": 128, "max_position_embeddings": 256}, 128),
        ({"sliding_window": 128, "layer_types": [FULL, FULL]}, None),
        ({"sliding_window": 128, "layer_types": [FULL, SLIDING]}, 128),
    ],
)
def test_the_sliding_window_in_use(config, window):
    assert window_of(config) == window


@given(
    st.dictionaries(
        st.sampled_from(["rope_parameters", "rope_scaling", "text_config", "layer_types", "sliding_window"]),
        st.recursive(
            st.none() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["rope_type", "type", "rope_theta", FULL, SLIDING]), inner)
            ),
            max_leaves=6,
        ),
    ),
    st.sampled_from(["llama", "gemma3_text", "gemma4_text", "exaone4", "cohere2", "phi3", "gemma4", "nothing"]),
)
def test_the_given_config_is_not_changed_and_only_known_errors_are_raised(config, kind):
    config["model_type"] = kind
    before = copy.deepcopy(config)
    try:
        first = normalise(config)
    except UnsupportedModelError:
        return
    finally:
        assert config == before
    if "text_config" not in first:
        assert normalise(first) == first
