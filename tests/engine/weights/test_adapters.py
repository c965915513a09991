"""Models with adapters have the logits that PEFT and mlx-lm compute, in every way in which they are computed here.

The references are made by packaging/references/make_adapters.py.
"""

import json
from dataclasses import replace
from functools import cache

import gguf
import mlx.core as mx
import numpy as np
import pytest

from checkpoints import LLAMA, QWEN3_MOE, folder_source, read_header, source_of, write_tensors
from gguf_writing import random_blocks, write_folder, write_model
from loading import quantized_checkpoint, random_weights
from native_kernels import KERNELS, bits, needs_kernels
from places import ADAPTERS, REFERENCES
from sotto.engine.caches.batch import batch_caches
from sotto.engine.caches.caches import make_caches
from sotto.engine.footprint.model_needs import limits_here, needs_of
from sotto.engine.generation.tape import TapedModel, with_tapes
from sotto.engine.kernels import native
from sotto.engine.kernels.cpu_linear import adapt_to_cpu
from sotto.engine.weights.loader import load
from sotto.store.adapters.adapter_files import open_adapter
from sotto.store.gguf.gguf_source import open_gguf
from sotto.store.opening import record_of

CASES = sorted(path.name for path in ADAPTERS.iterdir())
# A mixture is not recorded on tapes, with or without an adapter.
TAPED = [case for case in CASES if not case.startswith(("mixtral", "qwen3-moe"))]
TOLERANCE = 3e-3
cases = pytest.mark.parametrize("case", CASES)


def source_with(case, base=None):
    """Return the model of a case with its adapter."""
    folder = ADAPTERS / case
    found = base or folder_source(REFERENCES / (folder / "base.txt").read_text().strip())
    return replace(found, adapters=(open_adapter(folder),))


def loaded(source):
    found = load(source, limits=limits_here(), progress=lambda _: None, cancelled=lambda: False)
    adapt_to_cpu(found.model)
    return found


@cache
def adapted(case):
    return loaded(source_with(case))


@cache
def expected(case):
    return mx.load(str(ADAPTERS / case / "expected.safetensors"))


def step_by_step(model, ids, first):
    """Return the logits [T, V] of a prompt of `first` tokens, and then one token after the other."""
    caches = make_caches(model)
    rows = [model(mx.array([ids[:first]]), cache=caches)[0]]
    rows += [model(mx.array([[token]]), cache=caches)[0] for token in ids[first:]]
    return mx.concatenate(rows)


def distance(found, wanted):
    assert found.shape == wanted.shape
    return mx.abs(found.astype(mx.float32) - wanted).max().item()


@cases
def test_the_logits_are_those_of_the_program_that_trained_it(case):
    model, wanted = adapted(case).model, expected(case)
    ids = wanted["ids"].tolist()
    assert distance(model(wanted["ids"][None])[0], wanted["whole"]) < TOLERANCE
    assert distance(step_by_step(model, ids, 20), wanted["whole"]) < TOLERANCE


@needs_kernels
@pytest.mark.parametrize("case", TAPED)
@pytest.mark.parametrize("rows", [1, 3])
def test_a_step_from_a_tape_has_the_same_bits(case, rows):
    found, ids = adapted(case), expected(case)["ids"].tolist()
    plain, taped = ([make_caches(found.model) for _ in range(rows)] for _ in range(2))
    for caches in (*plain, *taped):
        found.model(mx.array([ids[:9]]), cache=caches)
        mx.eval([layer.state for layer in caches])
    model = with_tapes(found.model, found.config, plain[0])
    assert isinstance(model, TapedModel)
    assert model.tape(rows, taped[0]) is not None
    for token in ids[9:14]:
        tokens = mx.array([[token]] * rows)
        together = [each[0] if rows == 1 else batch_caches(each) for each in (plain, taped)]
        wanted = found.model(tokens, cache=together[0])
        assert bits(model(tokens, cache=together[1])) == bits(wanted)
        # Each row is computed as if it were alone.
        assert bits(wanted[:1]) == bits(wanted[-1:])


@needs_kernels
@pytest.mark.parametrize("case", TAPED)
def test_several_tokens_at_once_have_the_bits_of_single_steps(case):
    found, ids = adapted(case), expected(case)["ids"].tolist()
    plain, taped = (make_caches(found.model) for _ in range(2))
    for caches in (plain, taped):
        found.model(mx.array([ids[:9]]), cache=caches)
        mx.eval([layer.state for layer in caches])
    model = with_tapes(found.model, found.config, plain)
    for start, count in ((9, 2), (11, 5), (16, KERNELS.few_rows())):
        tokens = ids[start : start + count]
        single = mx.concatenate([found.model(mx.array([[token]]), cache=plain) for token in tokens], axis=1)
        assert bits(model(mx.array([tokens]), cache=taped)) == bits(single)


@cases
def test_its_memory_is_planned(case):
    needs = needs_of(source_with(case), limits_here(), native.kernels())
    assert needs.unknown == ""
    assert needs.weight_bytes == adapted(case).weight_bytes


def quantized(folder, base, kind):
    """Return a model with quantized layers, and one with the same numbers in float32."""
    stored = mx.load(str(REFERENCES / base / "model.safetensors"))
    config = dict(folder_source(REFERENCES / base).config)
    packed, plain = {}, {}
    for name, weight in stored.items():
        if weight.ndim != 2 or weight.shape[-1] % 32 or "norm" in name:
            packed[name] = plain[name] = weight
            continue
        stem = name.removesuffix(".weight")
        parts = mx.quantize(weight, group_size=32, bits=kind)
        packed |= {f"{stem}.{part}": array for part, array in zip(("weight", "scales", "biases"), parts, strict=True)}
        plain[name] = mx.dequantize(*parts, group_size=32, bits=kind)
    sources = []
    for label, tensors in (("packed", packed), ("plain", plain)):
        (folder / label).mkdir()
        write_tensors(folder / label / "model.safetensors", tensors)
        sources.append(source_of([read_header(folder / label / "model.safetensors")], config))
    return sources


# mlx-lm replaces no matrices of quantized models.
@pytest.mark.parametrize("case", [case for case in TAPED if case != "llama-mlx-full"])
@pytest.mark.parametrize("kind", [4, 8])
def test_a_quantized_model_is_changed_like_its_unpacked_numbers(tmp_path, case, kind):
    packed, plain = quantized(tmp_path, (ADAPTERS / case / "base.txt").read_text().strip(), kind)
    ids = expected(case)["ids"].tolist()
    models = [loaded(source_with(case, source)).model for source in (packed, plain)]
    found, wanted = (step_by_step(model, ids, 20) for model in models)
    assert mx.abs(wanted).max().item() > 1
    assert distance(found, wanted) < TOLERANCE


@pytest.mark.parametrize("kind", ["int4", "mxfp4"])
def test_quantized_experts_are_changed_like_their_unpacked_numbers(tmp_path, kind):
    weights = random_weights(QWEN3_MOE)
    files, unpacked = quantized_checkpoint(tmp_path / "blobs", weights, kind)
    (tmp_path / "plain").mkdir()
    write_tensors(tmp_path / "plain" / "model.safetensors", unpacked)
    plain = source_of([read_header(tmp_path / "plain" / "model.safetensors")], QWEN3_MOE)
    trained = {}
    for name, weight in weights.items():
        layer = name.removesuffix(".weight")
        if weight.ndim == 3:
            trained[f"{layer}.lora_a"] = 0.2 * mx.random.normal((weight.shape[0], 4, weight.shape[2]))
            trained[f"{layer}.lora_b"] = 0.2 * mx.random.normal((weight.shape[0], weight.shape[1], 4))
    assert trained
    mx.save_safetensors(str(tmp_path / "adapters.safetensors"), trained)
    said = {"lora_parameters": {"rank": 4, "scale": 1.0, "dropout": 0.0}}
    (tmp_path / "adapter_config.json").write_text(json.dumps(said))
    adapters = (open_adapter(tmp_path / "adapters.safetensors"),)
    ids = mx.arange(30)[None]
    found, wanted, without = (
        loaded(source).model(ids)
        for source in (
            replace(source_of(files, QWEN3_MOE), adapters=adapters),
            replace(plain, adapters=adapters),
            plain,
        )
    )
    scale = mx.abs(wanted).max().item()
    assert mx.abs(wanted - without).max().item() > 0.01 * scale
    assert distance(found, wanted) < 1e-3 * scale


class TestGguf:
    """GGUF models with PEFT's adapters, and adapters as llama.cpp's converter writes them, for any model."""

    @pytest.mark.parametrize("case", ["llama-peft", "qwen3-moe-peft", "gemma3-mlx"])
    def test_a_gguf_model_takes_the_adapters_of_its_original(self, tmp_path, case):
        base = (ADAPTERS / case / "base.txt").read_text().strip()
        path = write_folder(tmp_path / "m.gguf", REFERENCES / base)
        found = loaded(source_with(case, open_gguf(record_of(path), [path]))).model(expected(case)["ids"][None])[0]
        assert distance(found, expected(case)["whole"]) < TOLERANCE

    @pytest.mark.parametrize("kind", ["Q8_0", "Q4_K", "Q6_K", "IQ4_XS", "IQ4_NL"])
    def test_new_lengths_are_those_of_the_unpacked_blocks(self, tmp_path, kind):
        config = LLAMA | {"hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 1}
        weights, stored, number = random_weights(config), {}, 0
        for name, weight in weights.items():
            stored[name] = np.array(weight)
            if weight.ndim == 2:
                size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]][0]
                raw, values = random_blocks(kind, weight.size // size, spread=0.001, seed=(number := number + 1))
                stored[name] = raw.reshape(weight.shape[0], -1)
                weights[name] = mx.array(values).reshape(weight.shape)
        path = write_model(tmp_path / "m.gguf", config, stored, gguf.GGMLQuantizationType[kind])
        (tmp_path / "plain").mkdir()
        write_tensors(tmp_path / "plain" / "model.safetensors", weights)
        trained = {}
        for layer in ("self_attn.q_proj", "mlp.down_proj"):
            rows = weights[f"model.layers.0.{layer}.weight"]
            trained[f"model.layers.0.{layer}.lora_a"] = 0.1 * mx.random.normal((256, 4))
            trained[f"model.layers.0.{layer}.lora_b"] = 0.1 * mx.random.normal((4, 256))
            trained[f"model.layers.0.{layer}.m"] = 1.2 * mx.linalg.norm(rows, axis=1)
        mx.save_safetensors(str(tmp_path / "adapters.safetensors"), trained)
        parameters = {"rank": 4, "scale": 2.0, "dropout": 0.0}
        said = {"fine_tune_type": "dora", "num_layers": 1, "lora_parameters": parameters}
        (tmp_path / "adapter_config.json").write_text(json.dumps(said))
        plain = source_of([read_header(tmp_path / "plain" / "model.safetensors")], config)
        adapters = (open_adapter(tmp_path / "adapters.safetensors"),)
        found, wanted = (
            loaded(replace(source, adapters=adapters)).model(mx.arange(40)[None])
            for source in (open_gguf(record_of(path), [path]), plain)
        )
        scale = mx.abs(wanted).max().item()
        assert mx.abs(wanted - loaded(plain).model(mx.arange(40)[None])).max().item() > 0.01 * scale
        assert distance(found, wanted) < 1e-3 * scale

    @pytest.mark.parametrize("on_gguf", [True, False])
    def test_a_gguf_adapter_is_peft_s(self, tmp_path, on_gguf):
        wanted = expected("llama-peft")
        base = folder_source(REFERENCES / "llama")
        adapter = write_gguf_adapter(tmp_path / "a.gguf", ADAPTERS / "llama-peft", base.config)
        if on_gguf:
            path = write_folder(tmp_path / "m.gguf", REFERENCES / "llama")
            base = open_gguf(record_of(path), [path])
        found = loaded(replace(base, adapters=(open_adapter(adapter),)))
        assert distance(found.model(wanted["ids"][None])[0], wanted["whole"]) < TOLERANCE


def write_gguf_adapter(path, folder, config):
    """Write an adapter of PEFT for a llama as llama.cpp's `convert_lora_to_gguf.py` does, and return its path."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 10.0)
    for name, array in mx.load(str(folder / "adapter_model.safetensors")).items():
        layer, part, _ = name.removeprefix("base_model.model.").rsplit(".", 2)
        heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}.get(layer.rpartition(".")[2])
        if heads and part == "lora_B":
            array = array.reshape(config[heads], 2, -1, array.shape[1]).swapaxes(1, 2).reshape(array.shape)
        writer.add_tensor(f"{names.get_name(layer)}.weight.{part.lower()}", np.array(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
