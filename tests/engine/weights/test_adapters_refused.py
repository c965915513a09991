"""Adapters that do not fit a model or make no sense are refused in one sentence, before anything is computed."""

import json
from dataclasses import replace

import mlx.core as mx
import pytest

from checkpoints import folder_source
from places import ADAPTERS, REFERENCES
from sotto.engine.footprint.model_needs import limits_here
from sotto.engine.weights.loader import load
from sotto.errors import SottoError
from sotto.store.adapters.adapter_files import open_adapter
from sotto.store.printable import printable_path

PREFIX = "base_model.model.model.layers.0."
Q_A, Q_B = f"{PREFIX}self_attn.q_proj.lora_A.weight", f"{PREFIX}self_attn.q_proj.lora_B.weight"


def refused(tmp_path, case="llama-peft", base="llama", change=lambda tensors: None, **fields):
    """Return the message about an adapter with changed tensors and fields of its configuration."""
    folder = tmp_path / "adapter"
    folder.mkdir()
    name = "adapters.safetensors" if "mlx" in case else "adapter_model.safetensors"
    tensors = mx.load(str(ADAPTERS / case / name))
    change(tensors)
    mx.save_safetensors(str(folder / name), tensors)
    config = json.loads((ADAPTERS / case / "adapter_config.json").read_text()) | fields
    (folder / "adapter_config.json").write_text(json.dumps(config))
    source = replace(folder_source(REFERENCES / base), adapters=(open_adapter(folder),))
    with pytest.raises(SottoError) as caught:
        load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False)
    message = caught.value.message
    assert printable_path(folder) in message
    assert message.endswith(".")
    assert len(message) < 500
    return message


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({Q_A: mx.zeros((4, 33))}, "is for a matrix of 32 x 33, but that of this model is 32 x 32"),
        ({Q_B: mx.zeros((31, 4))}, "is for a matrix of 31 x 32, but that of this model is 32 x 32"),
        ({Q_B: mx.zeros((32, 5))}, "4 x 32 and 32 x 5, do not fit each other"),
        ({Q_A: mx.zeros((32,))}, "32 and 32 x 4, do not fit each other"),
        ({Q_A: mx.zeros((4, 32, 1))}, "do not fit each other"),
        ({Q_A: mx.zeros((0, 32)), Q_B: mx.zeros((32, 0))}, "0 x 32 and 32 x 0, do not fit each other"),
        ({Q_A: mx.zeros((5, 32)), Q_B: mx.zeros((32, 5))}, "has rank 5, but adapter_config.json says 4"),
        ({Q_A: mx.full((4, 32), mx.nan)}, "holds something that is not a finite number"),
        ({Q_B: mx.full((32, 4), mx.inf)}, "holds something that is not a finite number"),
        ({Q_A: mx.zeros((4, 32), mx.int32)}, "holds something that is not a finite number"),
        (
            {name.replace("layers.0", "layers.7"): mx.zeros((4, 4)) for name in (Q_A, Q_B)},
            "changes model.layers.7.self_attn.q_proj, which this model does not have",
        ),
        (
            {
                f"{PREFIX}mlp.experts.3.w1.lora_A.weight": mx.zeros((4, 32)),
                f"{PREFIX}mlp.experts.3.w1.lora_B.weight": mx.zeros((32, 4)),
            },
            "changes model.layers.0.mlp.experts.3.w1, which this model does not have",
        ),
        ({f"{PREFIX}mlp.nothing.weight": mx.zeros((4, 4))}, "changes model.layers.0.mlp.nothing.weight, which"),
        (
            {f"{PREFIX}self_attn.q_proj.lora_magnitude_vector": mx.zeros((32,))},
            "has a length, which only DoRA has",
        ),
    ],
)
def test_tensors_that_do_not_fit(tmp_path, change, sentence):
    assert sentence in refused(tmp_path, change=lambda tensors: tensors.update(change))


def test_half_of_an_addition(tmp_path):
    assert "lacks a part" in refused(tmp_path, change=lambda tensors: tensors.pop(Q_B))


def test_a_rank_beyond_the_matrix(tmp_path):
    def enlarge(tensors):
        tensors |= {Q_A: mx.zeros((90, 32)), Q_B: mx.zeros((32, 90))}

    assert "has rank 90, more than a matrix of 32 x 32 can have" in refused(
        tmp_path, change=enlarge, rank_pattern={"layers.0.self_attn.q_proj": 90}
    )


def test_no_tensors(tmp_path):
    assert "is empty; it should have the tensors of an adapter" in refused(
        tmp_path, change=lambda tensors: tensors.clear()
    )


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"peft_type": "IA3"}, "peft_type is 'IA3'; only LORA can be applied"),
        ({"r": "four"}, "r is 'four'; it should be a number below a million"),
        ({"lora_alpha": None}, "lora_alpha is None; it should be a number below a million"),
        ({"lora_alpha": 1e300}, "lora_alpha is 1e+300; it should be a number below a million"),
        ({"rank_pattern": [1]}, "rank_pattern is a list; it should be an object"),
        ({"rank_pattern": {"(a+)+$": 4}}, "rank_pattern has the expression '(a+)+$'; only names of layers"),
        ({"init_lora_weights": "pissa_niter_16"}, "changes the weights of the model as well"),
        ({"layer_replication": [[0, 2]]}, "layer_replication is set, which cannot be applied"),
        ({"lora_bias": True}, "lora_bias is set, which cannot be applied"),
        ({"use_dora": True}, "lacks a part"),
    ],
)
def test_fields_of_peft(tmp_path, fields, sentence):
    assert sentence in refused(tmp_path, **fields)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"fine_tune_type": "magic"}, "fine_tune_type is 'magic'; lora, dora and full can be applied"),
        ({"lora_parameters": 3}, "lora_parameters is a number; it should be an object with rank and scale"),
        ({"lora_parameters": {"rank": 4, "alpha": 8}}, "scale is None; it should be a number below a million"),
        ({"lora_parameters": {"rank": 8, "scale": 1.0}}, "has rank 4, but adapter_config.json says 8"),
    ],
)
def test_fields_of_mlx_lm(tmp_path, fields, sentence):
    assert sentence in refused(tmp_path, "llama-mlx", **fields)


def test_a_configuration_of_something_else(tmp_path):
    folder = tmp_path / "adapter"
    folder.mkdir()
    mx.save_safetensors(str(folder / "adapters.safetensors"), {"a": mx.zeros((1,))})
    (folder / "adapter_config.json").write_text("{}")
    source = replace(folder_source(REFERENCES / "llama"), adapters=(open_adapter(folder),))
    with pytest.raises(SottoError, match="it should have peft_type, as PEFT writes it, or lora_parameters"):
        load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False)


def test_one_of_two_uses_of_a_shared_matrix(tmp_path):
    assert "one matrix for both its embeddings and its output layer" in refused(
        tmp_path, "llama-peft-saved", base="llama-tied"
    )


def test_dora_for_experts(tmp_path):
    def lengthen(tensors):
        for name in [name for name in tensors if name.endswith(".lora_a")]:
            tensors[name.replace("lora_a", "m")] = mx.ones((4,))

    message = refused(tmp_path, "qwen3-moe-mlx", "qwen3-moe", lengthen, fine_tune_type="dora")
    assert "DoRA" in message or "is for a matrix" in message


def test_joined_experts_of_another_layout(tmp_path):
    def only_experts(tensors):
        kept = {name: array for name, array in tensors.items() if ".experts." in name}
        tensors.clear()
        tensors.update(kept)

    assert "experts of this architecture" in refused(tmp_path, "mixtral-peft", "gpt-oss", only_experts)
