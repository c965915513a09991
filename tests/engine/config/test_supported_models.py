"""Models that are refused by their config alone, for which MLX need not be imported."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.config.architecture_table import ARCHITECTURES, UNKNOWN, architecture
from sotto.engine.config.supported_models import refusal

LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 128}


def test_checking_a_config_does_not_import_mlx():
    modules = "sotto.engine.config.normalise, sotto.engine.config.supported_models"
    code = f"import sys, {modules}; sys.exit(any('mlx' in m for m in sys.modules))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_plain_model_is_not_refused():
    assert refusal(LLAMA) == ""


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, "has no model_type"),
        ({"model_type": 3}, "should be a short text"),
        ({"model_type": "a\nb"}, "should be a short text"),
        ({"model_type": ""}, "should be a short text"),
        ({"model_type": "x" * 65}, "should be a short text"),
        ({"model_type": "nobody_made_this"}, "no definition for models of type 'nobody_made_this'"),
        ({"model_type": "olmo"}, "OLMo 2 and 3 run"),
        ({"model_type": "dbrx"}, "dbrx models cannot run"),
        ({"model_type": "gpt_bigcode"}, "gpt_bigcode models cannot run"),
        ({"model_type": "plamo"}, "plamo models cannot run"),
        ({"model_type": "muse_spark"}, "muse_spark models cannot run"),
        (LLAMA | {"quantization_config": {"quant_method": "gptq"}}, "quantized by 'gptq'"),
        (LLAMA | {"num_hidden_layers": 10**9}, "num_hidden_layers in its config.json should be between 0 and 4,096."),
        (LLAMA | {"vocab_size": -1}, "vocab_size in its config.json should be between"),
        (LLAMA | {"hidden_size": "64"}, "hidden_size in its config.json should be a whole number."),
        (LLAMA | {"hidden_size": True}, "hidden_size in its config.json should be a whole number."),
        (
            LLAMA | {"layer_types": ["full_attention"]},
            "layer_types in its config.json has 1 entries; it should have one",
        ),
        (LLAMA | {"sliding_window": -16}, "sliding_window in its config.json should be between 0 and 2,147,483,647."),
        (LLAMA | {"sliding_window": 2**32}, "sliding_window in its config.json should be between 0 and 2,147,483,647."),
        (LLAMA | {"text_config": {"sliding_window": -1}}, "text_config.sliding_window in its config.json"),
        (LLAMA | {"text_config": {"num_experts": 10**7}}, "text_config.num_experts in its config.json"),
    ],
)
def test_models_that_cannot_run_are_refused_in_a_sentence(config, expected):
    sentence = refusal(config)
    assert expected in sentence
    assert sentence.endswith(".")
    assert sentence.isprintable()


@pytest.mark.parametrize("name", ["../llama", "os", "cache", "base", "mlx_lm.convert", "llama.__init__", "ssm", "mla"])
def test_a_model_type_only_selects_known_architectures(name):
    assert architecture({"model_type": name}) is UNKNOWN
    assert refusal({"model_type": name})


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("mistral", "mistral"),
        ("xverse", "llama"),
        ("kimi_k2", "deepseek_v3"),
        ("qwen3_5_text", "qwen3_5"),
        ("lfm2_vl", "lfm2-vl"),
        ("youtu", "youtu_llm"),
    ],
)
def test_aliases_of_model_types(kind, name):
    assert architecture({"model_type": kind}).name == name


def test_architectures_with_the_same_model_type_are_told_apart_by_their_class():
    config = {"model_type": "bailing_hybrid", "architectures": ["BailingMoeV3ForCausalLM"]}
    assert architecture(config).name == "bailing_moe_v3"
    assert architecture({"model_type": "bailing_hybrid"}).name == "bailing_hybrid"


@pytest.mark.skipif(sys.platform == "darwin", reason="Metal has its kernels")
def test_models_that_need_metal_are_refused_elsewhere():
    assert "only on Apple silicon" in refusal({"model_type": "bitnet"})


def test_every_model_type_is_in_the_table_once():
    kinds = [kind for entry in ARCHITECTURES for kind in (entry.name, *entry.aliases)]
    assert sorted(kinds) == sorted(set(kinds))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(
            """
            architectures attention_chunk_size hidden_act key_multiplier mamba_rms_norm no_rope_layers
            quantization_config rope_parameters rope_scaling text_config vocab_size
            """.split()
        ),
        json_values,
    ),
    st.sampled_from([entry.name for entry in ARCHITECTURES]) | json_values,
)
def test_any_config_is_accepted_or_refused_in_a_sentence(config, kind):
    sentence = refusal(config | {"model_type": kind})
    assert sentence == "" or (sentence.endswith(".") and sentence.isprintable())
