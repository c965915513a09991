"""Weights with an adapter fused into them compute what PEFT and mlx-lm compute with the adapter beside them."""

import mlx.core as mx
import pytest

from checkpoints import folder_source, read_header, source_of, write_tensors
from places import ADAPTERS, REFERENCES
from sotto.engine.footprint.model_needs import limits_here
from sotto.engine.weights.fusing import Fusion
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


@pytest.mark.parametrize("case", FUSED)
def test_the_logits_are_the_same(tmp_path, case):
    config, tensors = stored(case)
    fusion = Fusion(open_adapter(ADAPTERS / case), config)
    write_tensors(tmp_path / "model.safetensors", {name: fusion.fused(name, tensors[name]) for name in tensors})
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
    norm = tensors["model.norm.weight"]
    assert fusion.fused("model.norm.weight", norm) is norm


def test_what_cannot_be_fused_is_refused(tmp_path):
    config, _ = stored("llama-peft")
    fusion = Fusion(open_adapter(ADAPTERS / "llama-peft"), config)
    name = "model.layers.0.mlp.up_proj.weight"
    with pytest.raises(
        BrokenModelError, match=r"is 48 x 32, but that of this model is 48 x 33; it is made for another"
    ):
        fusion.fused(name, mx.zeros((48, 33)))
    with pytest.raises(UnsupportedModelError, match=r"up_proj\.weight is quantized already; an adapter can only be"):
        fusion.fused(name, mx.zeros((48, 4), mx.uint32))
    with pytest.raises(BrokenModelError, match=r"it changes layers\.0\.mlp\.down_proj, which cannot be added"):
        fusion.require_all_used()


def test_an_addition_to_one_use_of_a_shared_matrix_is_refused():
    config, tensors = stored("llama-tied-peft")
    fusion = Fusion(open_adapter(ADAPTERS / "llama-tied-peft"), config)
    with pytest.raises(UnsupportedModelError, match="does not count in the output layer, which shares this matrix"):
        fusion.fused("model.embed_tokens.weight", tensors["model.embed_tokens.weight"])
