"""Weights with an adapter fused into them compute what PEFT and mlx-lm compute with the adapter beside them."""

import json

import mlx.core as mx
import pytest

from checkpoints import folder_source, read_header, source_of, write_tensors
from places import ADAPTERS, REFERENCES
from sotto.engine.footprint.model_needs import limits_here
from sotto.engine.weights.fusing import Change, Fusion
from sotto.engine.weights.loader import load
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.adapters.adapter_files import open_adapter

FUSED = [
    "gemma3-mlx", "gemma3-peft", "llama-mlx", "llama-mlx-full", "llama-peft", "llama-peft-patterns",
    "llama-peft-saved", "llama-tied-mlx", "qwen3-mlx-dora", "qwen3-moe-mlx", "qwen3-peft-dora",
]  # fmt: skip


def stored(case):
    base = (ADAPTERS / case / "base.txt").read_text().strip()
    return folder_source(REFERENCES / base).config, mx.load(str(REFERENCES / base / "model.safetensors"))


def in_pieces(fusion, name, tensor):
    """Return a tensor with an addition that was made to a few rows at a time."""
    rows = tensor.reshape(-1, tensor.shape[-1])
    pieces = [fusion.fused(name, rows[start : start + 7], start) for start in range(0, rows.shape[0], 7)]
    return mx.concatenate(pieces).reshape(tensor.shape)


@pytest.mark.parametrize("case", FUSED)
def test_the_logits_are_the_same(tmp_path, case):
    config, tensors = stored(case)
    fusion = Fusion(open_adapter(ADAPTERS / case), config)
    held = mx.load(str(open_adapter(ADAPTERS / case).tensor_file.path))
    for name, tensor in tensors.items():
        change = fusion.change(name, tensor.shape)
        if change:
            tensors[name] = held[change.replacement] if change.replacement else in_pieces(fusion, name, tensor)
    write_tensors(tmp_path / "model.safetensors", tensors)
    fusion.require_all_used()
    source = source_of([read_header(tmp_path / "model.safetensors")], config)
    model = load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False).model
    wanted = mx.load(str(ADAPTERS / case / "expected.safetensors"))
    assert mx.abs(model(wanted["ids"][None])[0] - wanted["whole"]).max().item() < 4e-3


def test_the_type_of_a_tensor_stays(tmp_path):
    config, tensors = stored("llama-mlx")
    fusion = Fusion(open_adapter(ADAPTERS / "llama-mlx"), config)
    name = "model.layers.0.mlp.up_proj.weight"
    half = tensors[name].astype(mx.bfloat16)
    fused = fusion.fused(name, half)
    assert fused.dtype == mx.bfloat16
    assert not mx.array_equal(fused, half)
    assert fusion.change("model.norm.weight", tensors["model.norm.weight"].shape) is None


def test_rows_of_a_stack_of_matrices_get_their_own_addition(tmp_path):
    shape = {"switch_mlp.lora_a": (3, 2, 8), "switch_mlp.lora_b": (3, 5, 2)}
    prefix, name = "model.layers.0.mlp.switch_mlp.up_proj", "model.layers.0.mlp.switch_mlp.up_proj.weight"
    mx.random.seed(1)
    matrices = {part[-6:]: mx.random.normal(size) for part, size in shape.items()}
    mx.save_safetensors(
        str(tmp_path / "adapters.safetensors"), {f"{prefix}.{part}": array for part, array in matrices.items()}
    )
    config = {"num_layers": -1, "lora_parameters": {"rank": 2, "scale": 2.0, "dropout": 0.0}}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    base, _ = stored("qwen3-moe-mlx")
    fusion = Fusion(open_adapter(tmp_path), base)
    assert fusion.change(name, (3, 5, 8)) == Change()
    found = in_pieces(fusion, name, mx.zeros((3, 5, 8)))
    assert mx.allclose(found, 2 * matrices["lora_b"] @ matrices["lora_a"], atol=1e-5).item()
    with pytest.raises(BrokenModelError, match="is 3 x 5 x 8, but that of this model is 4 x 5 x 8"):
        fusion.change(name, (4, 5, 8))


def test_what_cannot_be_fused_is_refused(tmp_path):
    config, _ = stored("llama-peft")
    fusion = Fusion(open_adapter(ADAPTERS / "llama-peft"), config)
    name = "model.layers.0.mlp.up_proj.weight"
    with pytest.raises(
        BrokenModelError, match=r"is 48 x 32, but that of this model is 48 x 33; it is made for another"
    ):
        fusion.change(name, (48, 33))
    with pytest.raises(BrokenModelError, match=r"it changes layers\.0\.mlp\.down_proj, which cannot be added"):
        fusion.require_all_used()


def test_an_addition_to_one_use_of_a_shared_matrix_is_refused():
    config, tensors = stored("llama-tied-peft")
    fusion = Fusion(open_adapter(ADAPTERS / "llama-tied-peft"), config)
    with pytest.raises(UnsupportedModelError, match="does not count in the output layer, which shares this matrix"):
        fusion.change("model.embed_tokens.weight", tensors["model.embed_tokens.weight"].shape)
