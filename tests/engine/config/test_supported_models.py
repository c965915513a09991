"""What is refused by its config alone, and that saying so needs no MLX."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.config.architecture_table import ARCHITECTURES, UNKNOWN, architecture
from sotto.engine.config.supported_models import refusal

LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 128}


def test_judging_a_config_imports_no_mlx():
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
def test_what_cannot_run_is_told_in_a_sentence(config, expected):
    said = refusal(config)
    assert expected in said
    assert said.endswith(".")
    assert said.isprintable()


@pytest.mark.parametrize("name", ["../llama", "os", "cache", "base", "mlx_lm.convert", "llama.__init__", "ssm", "mla"])
def test_a_model_type_chooses_no_module_but_an_architecture(name):
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
def test_model_types_that_another_definition_computes(kind, name):
    assert architecture({"model_type": kind}).name == name


def test_one_model_type_is_told_apart_by_its_architecture():
    config = {"model_type": "bailing_hybrid", "architectures": ["BailingMoeV3ForCausalLM"]}
    assert architecture(config).name == "bailing_moe_v3"
    assert architecture({"model_type": "bailing_hybrid"}).name == "bailing_hybrid"


@pytest.mark.skipif(sys.platform == "darwin", reason="Metal has its kernels")
def test_what_needs_metal_is_refused_elsewhere():
    assert "only on Apple silicon" in refusal({"model_type": "bitnet"})


def test_every_model_type_stands_in_the_table_once():
    kinds = [kind for one in ARCHITECTURES for kind in (one.name, *one.aliases)]
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
    st.sampled_from([one.name for one in ARCHITECTURES]) | json_values,
)
def test_whatever_a_config_holds_there_is_an_answer(config, kind):
    said = refusal(config | {"model_type": kind})
    assert said == "" or (said.endswith(".") and said.isprintable())
