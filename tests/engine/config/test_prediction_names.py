from dataclasses import replace

import pytest

from checkpoints import folder_source
from places import REFERENCES
from sotto.engine.config.prediction_names import as_used, has_head, naming, without_head

QWEN = {"model_type": "qwen3_5", "text_config": {"model_type": "qwen3_5_text", "num_hidden_layers": 4}}
DEEPSEEK = {"model_type": "deepseek_v3", "num_hidden_layers": 61, "num_nextn_predict_layers": 1}
HEAD = ("fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm", "layers.0.input_layernorm")


@pytest.mark.parametrize(
    ("config", "name", "expected"),
    [
        (QWEN, "mtp.fc.weight", "mtp.fc.weight"),
        (QWEN, "model.mtp.layers.0.mlp.up_proj.weight", "mtp.layers.0.mlp.up_proj.weight"),
        (QWEN, "language_model.mtp.norm.weight", "mtp.norm.weight"),
        (QWEN, "mtp.fc.weight.scale", "mtp.fc.weight.scale"),
        (QWEN, "mtp.layers.1.mlp.up_proj.weight", ""),
        (QWEN, "model.language_model.layers.3.mlp.up_proj.weight", None),
        (DEEPSEEK, "model.layers.61.eh_proj.weight", "mtp.fc.weight"),
        (DEEPSEEK, "model.layers.61.eh_proj", "mtp.fc"),
        (DEEPSEEK, "model.layers.61.enorm.weight", "mtp.pre_fc_norm_embedding.weight"),
        (DEEPSEEK, "model.layers.61.hnorm.weight", "mtp.pre_fc_norm_hidden.weight"),
        (DEEPSEEK, "model.layers.61.shared_head.norm.weight", "mtp.norm.weight"),
        (DEEPSEEK, "model.layers.61.shared_head.head.weight", ""),
        (DEEPSEEK, "model.layers.61.embed_tokens.weight", ""),
        (DEEPSEEK, "model.layers.61.self_attn.o_proj.weight", "mtp.layers.0.self_attn.o_proj.weight"),
        (DEEPSEEK, "model.layers.62.eh_proj.weight", ""),
        (DEEPSEEK, "model.layers.60.self_attn.o_proj.weight", None),
        (DEEPSEEK, "model.norm.weight", None),
        ({"model_type": "llama", "num_hidden_layers": 2}, "mtp.fc.weight", None),
        ({"model_type": "llama", "num_hidden_layers": 2}, "model.layers.2.eh_proj.weight", None),
        ({"model_type": "deepseek_v3"}, "model.layers.61.eh_proj.weight", None),
    ],
)
def test_names(config, name, expected):
    assert naming(config)(name) == expected


def test_a_head_is_complete_or_is_none():
    names = [f"mtp.{part}.weight" for part in HEAD]
    assert has_head(QWEN, names)
    assert not any(has_head(QWEN, [name for name in names if name != missing]) for missing in names)
    assert not has_head(DEEPSEEK, names)


class TestAsUsed:
    @pytest.fixture
    def source(self):
        return folder_source(REFERENCES / "deepseek-v3-mtp")

    def has(self, source):
        return has_head(source.config, (name for file in source.tensor_files for name in file.tensors))

    def test_a_head_is_used_unless_it_is_switched_off(self, source):
        assert self.has(source)
        assert as_used(source, None, prediction=True) == (source, None)
        used, _ = as_used(source, None, prediction=False)
        assert not self.has(used)
        assert used == without_head(source)
        assert used.weight_bytes < source.weight_bytes

    def test_neither_beside_a_draft_model_nor_in_one(self, source):
        other = replace(source, record=replace(source.record, name="other"))
        used, draft = as_used(source, other, prediction=True)
        assert not self.has(used)
        assert not self.has(draft)
        assert draft.record.name == "other"
