"""Models that an adapter was fused into while they were imported compute what they compute with it beside them."""

import json
from dataclasses import replace

import gguf
import mlx.core as mx
import pytest

from adapters import write_adapter
from gguf_writing import write_folder
from loading import load, random_weights
from places import ADAPTERS, REFERENCES
from sotto.engine.quantizing.importer import plan_import, run_import, unfinished_import
from sotto.engine.weights.fusing import Fusion
from sotto.errors import BrokenModelError, CancelledError, InvalidRequestError
from sotto.store.adapters.adapter_files import open_adapter
from sotto.store.importing.import_plan import Computed
from sotto.store.importing.unfinished import unfinished_imports
from sotto.store.opening import open_model, resolve
from sotto.store.removal import own_store
from sotto.store.verify import verify
from stores import assert_sentence

# The bound within which adapters that are loaded beside a model agree with PEFT and mlx-lm.
BOUND = 4e-3
FUSED = [
    "gemma3-peft", "llama-mlx", "llama-mlx-full", "llama-peft-saved", "llama-tied-mlx", "qwen3-mlx-dora",
    "qwen3-moe-mlx", "qwen3-peft-dora",
]  # fmt: skip


def imported(path, quantize="", adapter=None, name="m"):
    run_import(plan_import(path, quantize, adapter), name, lambda progress: None, lambda: False)
    record = resolve(f"{name}:latest")
    assert verify(record, lambda done, total: None, lambda: False).problems == ()
    return open_model(record)


def tensors_of(source):
    return {
        name: array
        for file in source.tensor_files
        for name, array in mx.load(str(file.path), format="safetensors").items()
    }


def wide(family, dtype=mx.bfloat16, layers=4):
    """Return the folder of a llama with rows long enough for groups, and its weights."""
    folder = family("llama")
    config = json.loads((folder / "config.json").read_text()) | {
        "hidden_size": 128, "intermediate_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 32, "num_hidden_layers": layers,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    weights = {name: array.astype(dtype) for name, array in random_weights(config).items()}
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    return folder, weights


def fused(folder, adapter, weights):
    """Return weights with an adapter, each computed at once."""
    fusion = Fusion(open_adapter(adapter), json.loads((folder / "config.json").read_text()))
    return {
        name: fusion.fused(name, array) if fusion.change(name, array.shape) else array
        for name, array in weights.items()
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", FUSED)
def test_the_logits_are_those_with_the_adapter_beside_it(family, case):
    folder = family((ADAPTERS / case / "base.txt").read_text().strip())
    source = imported(folder, adapter=ADAPTERS / case)
    assert source.adapters == ()
    wanted = mx.load(str(ADAPTERS / case / "expected.safetensors"))
    found = load(source).model(wanted["ids"][None])[0]
    assert mx.abs(found - wanted["whole"]).max().item() < BOUND
    beside = replace(imported(folder, name="plain"), adapters=(open_adapter(ADAPTERS / case),))
    assert mx.abs(found - load(beside).model(wanted["ids"][None])[0]).max().item() < BOUND


def test_only_what_the_adapter_changes_is_computed(family, tmp_path):
    folder, weights = wide(family)
    adapter = write_adapter(tmp_path / "adapter", folder)
    wanted = fused(folder, adapter, weights)
    changed = {name for name, array in wanted.items() if not mx.array_equal(array, weights[name]).item()}
    plan = plan_import(folder, "", adapter)
    computed = {blob.name for blob in plan.blobs if any(isinstance(piece, Computed) for piece in blob.pieces)}
    assert computed == changed
    assert len(changed) == 4 * 3
    found = tensors_of(imported(folder, adapter=adapter))
    assert found.keys() == wanted.keys()
    assert all(mx.array_equal(found[name], wanted[name]).item() for name in wanted)


def test_fused_tensors_are_quantized_as_any_others(family, tmp_path):
    folder, weights = wide(family)
    adapter = write_adapter(tmp_path / "adapter", folder)
    found = tensors_of(imported(folder, "int8", adapter))
    name = "model.layers.0.mlp.up_proj.weight"
    packed, scales, biases = mx.quantize(fused(folder, adapter, weights)[name], group_size=64, bits=8)
    assert mx.array_equal(found[name], packed).item()
    assert mx.array_equal(found[f"{name}.scale"], scales).item()
    assert mx.array_equal(found[f"{name}.bias"], biases).item()


def test_a_gguf_file_is_fused_while_it_is_quantized_anew(tmp_path):
    path = write_folder(tmp_path / "model.gguf", REFERENCES / "llama", gguf.GGMLQuantizationType.F32)
    source = imported(path, "int8", ADAPTERS / "llama-mlx")
    wanted = mx.load(str(ADAPTERS / "llama-mlx" / "expected.safetensors"))
    found = load(source).model(wanted["ids"][None])[0]
    assert mx.abs(found - wanted["whole"]).max().item() < 0.1 * mx.abs(wanted["whole"]).max().item()
    with pytest.raises(InvalidRequestError) as raised:
        plan_import(path, "", ADAPTERS / "llama-mlx")
    assert_sentence(raised.value.message, path, "quantized anew")


def test_an_adapter_that_does_not_fit_is_refused_before_anything_is_written(family):
    folder, _ = wide(family)
    with pytest.raises(BrokenModelError) as raised:
        plan_import(folder, "", ADAPTERS / "llama-mlx")
    assert_sentence(raised.value.message, ADAPTERS / "llama-mlx", "made for another model")
    with pytest.raises(BrokenModelError) as raised:
        plan_import(folder, "", folder)
    assert_sentence(raised.value.message, folder, "holds no adapter")
    assert not own_store().exists()


def test_a_quantized_model_is_refused(family):
    folder, weights = wide(family)
    name = "model.layers.0.mlp.up_proj"
    packed, scales, biases = mx.quantize(weights.pop(f"{name}.weight"))
    weights |= {f"{name}.weight": packed, f"{name}.scales": scales, f"{name}.biases": biases}
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    with pytest.raises(InvalidRequestError) as raised:
        plan_import(folder, "", ADAPTERS / "llama-mlx")
    assert_sentence(raised.value.message, folder, "quantized already", "adapter")


def test_an_import_goes_on_only_with_the_same_adapter(family, tmp_path):
    # So many tensors that some are still to be written when a quarter is, however seldom this process runs.
    folder, weights = wide(family, layers=24)
    adapter = write_adapter(tmp_path / "adapter", folder)

    def stopped(adapter):
        plan = plan_import(folder, "mxfp4", adapter)
        with pytest.raises(CancelledError):
            run_import(plan, "m", lambda report: None, lambda: (unfinished_import("m") or 0) > plan.size // 4)

    stopped(adapter)
    (unfinished,) = unfinished_imports(own_store())
    assert (unfinished.source, unfinished.adapter) == (folder, adapter)
    assert unfinished_import("m") > 0
    later = []
    plan = plan_import(folder, "mxfp4", adapter)
    run_import(plan, "m", later.append, lambda: False)
    assert len({report.tensor for report in later}) < len(plan.blobs)
    whole = tensors_of(open_model(resolve("m:latest")))

    write_adapter(adapter, folder, seed=1)
    found = tensors_of(imported(folder, "mxfp4", adapter, "n"))
    name = "model.layers.0.mlp.up_proj.weight"
    assert not mx.array_equal(found[name], whole[name]).item()
    assert mx.array_equal(
        found[name], mx.quantize(fused(folder, adapter, weights)[name], group_size=32, bits=4, mode="mxfp4")[0]
    ).item()
