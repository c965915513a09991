"""Configurations derived from the values of GGUF files, and the messages that refuse invalid values."""

import gguf
import numpy as np
import pytest

from sotto.errors import BrokenModelError
from sotto.store.gguf.file import read_gguf_file
from sotto.store.gguf.gguf_config import config_of
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.positions import llama3_scaling
from stores import assert_sentence

LLAMA = {
    "block_count": 2,
    "context_length": 512,
    "embedding_length": 64,
    "feed_forward_length": 128,
    "attention.head_count": 4,
    "attention.layer_norm_rms_epsilon": 1e-5,
}
GEMMA = {key: value for key, value in LLAMA.items() if not key.endswith("epsilon")} | {
    "context_length": 131072,
    "attention.key_length": 32,
    "attention.sliding_window": 16,
    "rope.global.freq_base": 500000.0,
    "rope.local.freq_base": 5000.0,
    "final_logit_softcapping": 30.0,
}


def values_of(folder, architecture="llama", values=LLAMA, tensors=()):
    """Return the values of a file with these values, an embedding of 10 tokens, two layers and further tensors."""
    writer = gguf.GGUFWriter(folder / "model.gguf", architecture)
    for key, value in values.items():
        key = f"{architecture}.{key}"
        if isinstance(value, str):
            writer.add_string(key, value)
        elif isinstance(value, list):
            writer.add_array(key, value)
        elif isinstance(value, float):
            writer.add_float32(key, value)
        else:
            writer.add_uint32(key, value)
    arrays = {"token_embd.weight": np.zeros((10, 64)), "blk.0.x": np.zeros(1), "blk.1.x": np.zeros(1), **dict(tensors)}
    for name, array in arrays.items():
        writer.add_tensor(name, np.asarray(array, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Values(read_gguf_file(folder / "model.gguf"))


def test_missing_values_get_defaults(tmp_path):
    assert config_of(values_of(tmp_path)) == {
        "model_type": "llama",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "intermediate_size": 128,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": 16,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "vocab_size": 10,
        "max_position_embeddings": 512,
        "tie_word_embeddings": True,
        "attention_bias": False,
        "mlp_bias": False,
    }


def test_identical_layers_may_be_listed_individually(tmp_path):
    config = config_of(values_of(tmp_path, values=LLAMA | {"attention.head_count_kv": [2, 2]}))
    assert config["num_key_value_heads"] == 2


def test_files_of_gemma_3_made_by_ollama(tmp_path):
    config = config_of(values_of(tmp_path, "gemma3", GEMMA))
    assert (config["model_type"], config["rms_norm_eps"], config["head_dim"]) == ("gemma3_text", 1e-6, 32)
    assert (config["rope_theta"], config["rope_local_base_freq"]) == (500000.0, 5000.0)
    assert config["rope_scaling"] == {"rope_type": "linear", "factor": 8.0}
    small = config_of(values_of(tmp_path, "gemma3", GEMMA | {"context_length": 32768}))
    assert "rope_scaling" not in small


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"block_count": 3}, "llama.block_count is 3; it should be 2"),
        ({"block_count": "x"}, "llama.block_count is 'x'; it should be a whole number"),
        ({"embedding_length": 32}, "llama.embedding_length is 32; it should be 64"),
        ({"attention.head_count": 0}, "llama.attention.head_count is 0"),
        ({"attention.head_count": 65}, "llama.attention.key_length is missing"),
        ({"attention.head_count_kv": [1, 2]}, "the same for all layers"),
        ({"attention.layer_norm_rms_epsilon": -1.0}, "a number from 0 on"),
        ({"attention.layer_norm_rms_epsilon": float("nan")}, "is nan; it should be a number"),
        ({"rope.scaling.type": "longrope"}, "it should be none, linear or yarn"),
        ({"rope.scaling.type": "linear"}, "llama.rope.scaling.factor is missing"),
    ],
)
def test_invalid_values_are_refused(tmp_path, changes, why):
    with pytest.raises(BrokenModelError) as refused:
        config_of(values_of(tmp_path, values=LLAMA | changes))
    assert_sentence(refused.value.message, tmp_path / "model.gguf", why)


@pytest.mark.parametrize("architecture", ["rwkv6", "clip", "t5encoder"])
def test_an_unknown_architecture_is_refused(tmp_path, architecture):
    with pytest.raises(
        BrokenModelError, match=f"'{architecture}' cannot run yet; those of bert, deepseek2, "
    ) as refused:
        config_of(values_of(tmp_path, architecture))
    assert_sentence(refused.value.message, tmp_path / "model.gguf")


def factors_of(factor, low, high, original, dims=64, base=500000.0):
    """Return the factors computed by the formula of Llama 3's own code."""
    found = []
    for index in range(dims // 2):
        wave = 2 * np.pi * base ** (2 * index / dims)
        if wave < original / high:
            found.append(1.0)
        elif wave > original / low:
            found.append(float(factor))
        else:
            smooth = (original / wave - low) / (high - low)
            found.append(float(1 / ((1 - smooth) / factor + smooth)))
    return found


@pytest.mark.parametrize(("factor", "original"), [(8.0, 8192), (32.0, 8192), (4.0, 4096)])
def test_rope_scaling_parameters_are_recovered_from_their_factors(tmp_path, factor, original):
    scaling = llama3_scaling(factors_of(factor, 1.0, 4.0, original), 64, 500000.0, tmp_path)
    assert scaling == {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": original,
    }


@pytest.mark.parametrize(
    "factors", [[1.0] * 31 + [2.0, 8.0], [8.0] * 31 + [1.0], [0.5] * 16 + [2.0] * 16, factors_of(8.0, 1.0, 16.0, 8192)]
)
def test_factors_of_another_kind_are_refused(tmp_path, factors):
    with pytest.raises(BrokenModelError, match=r"rope_freqs\.weight does not stretch positions as Llama 3 does"):
        llama3_scaling(factors, 64, 500000.0, tmp_path)


def test_neutral_factors_are_ignored(tmp_path):
    assert llama3_scaling([1.0] * 32, 64, 500000.0, tmp_path) is None


@pytest.mark.parametrize("array", [np.ones((2, 2)), np.array([1.0, -1.0]), np.array([np.nan])])
def test_factors_that_are_not_numbers_are_refused(tmp_path, array):
    with pytest.raises(BrokenModelError, match=r"rope_freqs\.weight should"):
        config_of(values_of(tmp_path, tensors=[("rope_freqs.weight", array)]))
