"""Models of every architecture as GGUF files: their logits are those of transformers, or of the unconverted model."""

import gguf
import mlx.core as mx
import numpy as np
import pytest

from checkpoints import LLAMA, QWEN3_MOE
from families import FAMILIES
from gguf_writing import HALVES, random_blocks, write_folder, write_model
from loading import INTERLEAVED, PLENTY, TOKENS, load, logits_of, random_weights
from places import REFERENCES
from sotto.engine.architectures import zoo
from sotto.engine.footprint.model_needs import needs_of
from sotto.engine.gguf import repack
from sotto.engine.gguf.kept import BLOCK_SIZE, KEPT
from sotto.engine.kernels import native
from sotto.errors import BrokenModelError
from sotto.store.opening import open_model, record_of

CASES = (
    "deepseek-v3", "gemma2", "gemma3", "glm4", "gpt-oss", "granite", "llama", "llama-linear", "llama-llama3",
    "llama-tied", "llama-yarn", "mixtral", "olmo2", "phi3", "phi3-longrope", "qwen2", "qwen3", "qwen3-moe", "smollm3",
)  # fmt: skip
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}
TOLERANCE = 1e-3
Q = gguf.GGMLQuantizationType


def loaded(path):
    return load(open_model(record_of(path)))


def distance(found, wanted):
    assert found.shape == wanted.shape
    return mx.abs(found.astype(mx.float32) - wanted).max().item()


@pytest.mark.parametrize("case", CASES)
def test_logits_are_those_of_transformers(tmp_path, case):
    expected = mx.load(str(REFERENCES / case / "expected.safetensors"))
    model = loaded(write_folder(tmp_path / "model.gguf", REFERENCES / case)).model
    for ids, wanted in (("ids", "whole"), ("short_ids", "short_whole")):
        assert distance(model(expected[ids][None])[0], expected[wanted]) < TOLERANCE


def test_a_model_as_converted_by_ollama(tmp_path):
    expected = mx.load(str(REFERENCES / "gpt-oss" / "expected.safetensors"))
    path = write_folder(tmp_path / "model.gguf", REFERENCES / "gpt-oss", ollama=True)
    assert b"gptoss.block_count" in path.read_bytes()
    assert distance(loaded(path).model(expected["ids"][None])[0], expected["whole"]) < TOLERANCE


def test_mistral_3_is_loaded_as_a_llama_without_its_vision_model(tmp_path):
    """Ollama's own converter writes an empty type of scaling, and the projector into the same file."""

    def change(writer):
        writer.add_string("mistral3.rope.scaling.type", "")
        writer.add_float32("mistral3.rope.scaling.factor", 0.0)
        writer.add_tensor("v.patch_conv.weight", np.zeros((2, 2), np.float32))

    expected = mx.load(str(REFERENCES / "llama" / "expected.safetensors"))
    path = write_folder(tmp_path / "model.gguf", REFERENCES / "llama", architecture="mistral3", change=change)
    assert distance(loaded(path).model(expected["ids"][None])[0], expected["whole"]) < TOLERANCE
    growing = write_folder(
        tmp_path / "growing.gguf",
        REFERENCES / "llama",
        architecture="mistral3",
        change=lambda writer: writer.add_float32("mistral3.rope.scaling_beta", 0.1),
    )
    with pytest.raises(BrokenModelError, match=r"mistral3\.rope\.scaling\.type is missing; it should be yarn, as"):
        open_model(record_of(growing))


def numpy_of(weights):
    return {name: np.array(array) for name, array in weights.items()}


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("yarn", [{}, YARN, YARN | {"mscale": 0.707, "mscale_all_dim": 0.707}])
@pytest.mark.parametrize("rank", [16, None])
def test_deepseek_2_has_the_logits_of_the_unconverted_model(tmp_path, split, yarn, rank):
    config = FAMILIES["deepseek_v2"] | {"q_lora_rank": rank}
    if yarn:
        config |= {"rope_parameters": yarn}
    weights = random_weights(config)
    model = loaded(write_model(tmp_path / "m.gguf", config, numpy_of(weights), split_latent=split)).model
    tokens = mx.array([[3, 60, 7, 42, 42, 11, 0, 58]])
    twin, _ = zoo.build(config)
    twin.load_weights(list(weights.items()), strict=True)
    assert distance(model(tokens), twin(tokens)) < 1e-4


def dequantize_with_gguf(weights, kind):
    """Return the weights after quantizing and dequantizing, with the gguf package, those that the writer quantizes."""
    values = {}
    for name, array in numpy_of(weights).items():
        fits = array.ndim > 1 and array.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0] == 0
        if fits and not name.endswith(".bias") and "mlp.gate." not in name and "router" not in name:
            array = gguf.quants.dequantize(gguf.quants.quantize(array, kind), kind)
        values[name] = mx.array(array)
    return values


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", [Q.F16, Q.BF16, Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q8_0], ids=lambda kind: kind.name)
@pytest.mark.parametrize("config", [LLAMA, QWEN3_MOE], ids=["llama", "qwen3_moe"])
def test_a_quantized_model_has_the_logits_of_its_dequantized_weights(tmp_path, config, kind):
    weights = random_weights(config)
    model = loaded(write_model(tmp_path / "model.gguf", config, numpy_of(weights), kind))
    wanted = logits_of(config, dequantize_with_gguf(weights, kind))
    found = model.model(TOKENS)
    assert distance(found, wanted) < TOLERANCE * mx.abs(wanted).max().item()
    assert model.weight_bytes < sum(array.nbytes for array in weights.values())


def with_blocks(weights, kind):
    """Return weights with random blocks of a type in place of matrices, and the values of all."""
    stored, values, size = numpy_of(weights), dict(weights), gguf.GGML_QUANT_SIZES[Q[kind]][0]
    for seed, (name, array) in enumerate(weights.items()):
        if array.ndim >= 2 and "mlp.gate." not in name:
            raw, numbers = random_blocks(kind, array.size // size, seed=seed)
            # Scaled to the usual size of weights.
            factor = 2.0 ** round(np.log2(0.05 / numbers.std()))
            for place in HALVES[kind]:
                halves = (raw[:, place : place + 2].copy().view(np.float16) * np.float16(factor)).astype(np.float16)
                raw[:, place : place + 2] = halves.view(np.uint8).reshape(-1, 2)
            stored[name] = raw.reshape(*array.shape[:-1], -1)
            values[name] = mx.array(gguf.quants.dequantize(stored[name], Q[kind]))
    return stored, values


@pytest.mark.parametrize("config", [LLAMA, QWEN3_MOE], ids=["llama", "qwen3_moe"])
@pytest.mark.parametrize("mode", sorted(native.kept_modes()))
def test_types_that_native_kernels_know_keep_their_bits(tmp_path, config, mode):
    # With small blocks, rows need not have a multiple of 256 elements.
    hidden, inner = (256, 256) if KEPT[mode].size == BLOCK_SIZE else (320, 448)
    config = config | {"hidden_size": hidden, "intermediate_size": inner, "moe_intermediate_size": inner}
    config = config | {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 32}
    stored, values = with_blocks(random_weights(config), mode.upper())
    source = open_model(record_of(write_model(tmp_path / "model.gguf", config, stored, Q[mode.upper()])))
    model, needs = load(source), needs_of(source, PLENTY, native.kernels())
    wanted = logits_of(config, values)
    assert distance(model.model(TOKENS), wanted) < TOLERANCE * mx.abs(wanted).max().item()
    assert not needs.unknown
    assert needs.weight_bytes == model.weight_bytes == sum(array.nbytes for array in stored.values())


def test_rows_that_are_not_a_multiple_of_64_do_not_keep_their_bits(tmp_path):
    config = LLAMA | {"hidden_size": 256, "intermediate_size": 288}
    stored, values = with_blocks(random_weights(config), "IQ4_NL")
    model = loaded(write_model(tmp_path / "model.gguf", config, stored, Q.IQ4_NL))
    wanted = logits_of(config, values)
    assert distance(model.model(TOKENS), wanted) < TOLERANCE * mx.abs(wanted).max().item()
    assert model.model.model.layers[0].mlp.down_proj.mode == "affine"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", [name for name in HALVES if gguf.GGML_QUANT_SIZES[Q[name]][0] == 256])
def test_a_model_of_any_other_type_has_the_logits_of_its_dequantized_weights(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(native, "kept_modes", frozenset)
    config = LLAMA | {"hidden_size": 256, "intermediate_size": 256}
    stored, values = with_blocks(random_weights(config), kind)
    model = loaded(write_model(tmp_path / "model.gguf", config, stored, Q[kind]))
    wanted = logits_of(config, values)
    error = distance(model.model(TOKENS), wanted)
    if repack.layout_of(kind, on_cpu=True).exact:
        assert error < 2e-3 * mx.abs(wanted).max().item()
        return
    eight_bits = {"group_size": 32, "bits": 8}
    rounded = {
        name: mx.dequantize(*mx.quantize(array, **eight_bits), **eight_bits) if array.ndim == 2 else array
        for name, array in values.items()
    }
    assert error < 1.5 * distance(logits_of(config, rounded), wanted)


def test_experts_stay_in_mxfp4(tmp_path):
    config = {key: value for key, value in INTERLEAVED.items() if key != "quantization_config"} | {"rms_norm_eps": 1e-5}
    weights = random_weights(config)
    model = loaded(write_model(tmp_path / "model.gguf", config, numpy_of(interleaved(weights)), Q.MXFP4))
    assert model.model.layers[0].mlp.experts.gate_proj.mode.startswith("mxfp4")
    wanted = logits_of(config, dequantize_with_gguf(weights, Q.MXFP4))
    found = model.model(TOKENS)
    assert distance(found, wanted) < TOLERANCE * mx.abs(wanted).max().item()


def interleaved(weights):
    """Return experts as transformers stores them: transposed, with gate and up interleaved."""
    stored = {}
    for name, array in weights.items():
        stem, part = name.rsplit(".", 1)
        if ".experts." not in name:
            stored[name] = array
        elif stem.endswith("down_proj"):
            stored[stem + ("_bias" if part == "bias" else "")] = array if part == "bias" else array.swapaxes(-1, -2)
        elif stem.endswith("gate_proj"):
            up = weights[name.replace("gate_proj", "up_proj")]
            both = mx.stack([array, up], axis=2 if part == "weight" else -1)
            name = stem.replace("gate_proj", "gate_up_proj")
            if part == "bias":
                stored[f"{name}_bias"] = both.reshape(len(array), -1)
            else:
                stored[name] = both.reshape(len(array), -1, array.shape[-1]).swapaxes(-1, -2)
    return stored
