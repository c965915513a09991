"""Models with random weights in the shapes of real models, as folders that both Sotto and mlx-lm can read."""

import json
import math
import random
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten, tree_map_with_path

from sotto.engine.architectures.zoo import build

GROUP_SIZE = 64
# The formats of weights: the bits of quantized ones, or None for bfloat16.
WEIGHTS: Mapping[str, int | None] = {"4bit": 4, "8bit": 8, "bf16": None}
_COMMON = {
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 16384,
    "tie_word_embeddings": True,
    "attention_bias": False,
    "hidden_act": "silu",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "torch_dtype": "bfloat16",
}


def _shape(model_type: str, vocabulary: int, layers: int, width: int, inner: int, heads: tuple[int, int, int], **more):
    """Return a config; `heads` has the number of query heads, the number of key-value heads and their size."""
    name = {"llama": "LlamaForCausalLM", "qwen3": "Qwen3ForCausalLM"}[model_type]
    return {
        "architectures": [name],
        "model_type": model_type,
        "vocab_size": vocabulary,
        "num_hidden_layers": layers,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_attention_heads": heads[0],
        "num_key_value_heads": heads[1],
        "head_dim": heads[2],
        "rope_theta": 10000.0,
        **_COMMON,
        **more,
    }


SHAPES: Mapping[str, Mapping[str, Any]] = {
    "smollm2-135m": _shape("llama", 49152, 30, 576, 1536, (9, 3, 64), rope_theta=100000.0),
    "qwen3-0.6b": _shape("qwen3", 151936, 28, 1024, 3072, (16, 8, 128), rope_theta=1e6, rms_norm_eps=1e-6),
    "llama-3.2-1b": _shape("llama", 128256, 16, 2048, 8192, (32, 8, 64), rope_theta=500000.0),
}
# The vocabulary is small, so that the draft model is as much cheaper as it would be for a much larger model.
_PAIR = _shape("llama", 8192, 24, 1024, 4096, (16, 8, 64))
_DRAFT_LAYERS = 2


@dataclass(frozen=True)
class BenchmarkModel:
    """A model on disk: the name of its shape, the format of its weights, and its folder."""

    shape: str
    weights: str
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.shape}-{self.weights}"

    @property
    def config(self) -> Mapping[str, Any]:
        return _PAIR if self.shape == "pair" else SHAPES[self.shape]


class Models:
    """Creates models in one folder when they are first requested."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, shape: str, weights: str) -> BenchmarkModel:
        """Return a model in the checkpoint's type, bfloat16, with its matrices quantized or not."""
        model = BenchmarkModel(shape, weights, self.folder / f"{shape}-{weights}")
        if not model.folder.exists():
            _write(model.folder, *_config_and_weights(model))
        return model

    def pair(self) -> tuple[BenchmarkModel, BenchmarkModel]:
        """Return a 4-bit model, and its first layers as its draft model.

        The output of random weights is easy to guess, so the two agree more often than most trained pairs.
        """
        large = BenchmarkModel("pair", "4bit", self.folder / "pair-4bit")
        small = BenchmarkModel("pair", "4bit", self.folder / "pair-4bit-draft")
        if not small.folder.exists():
            config, weights = _config_and_weights(large)
            _write(large.folder, config, weights)
            first = {name: weight for name, weight in weights.items() if _layer_of(name) < _DRAFT_LAYERS}
            _write(small.folder, config | {"num_hidden_layers": _DRAFT_LAYERS}, first)
        return large, small


def _layer_of(name: str) -> int:
    """Return the number of the layer that a parameter belongs to, or -1."""
    _, found, rest = name.partition("layers.")
    return int(rest.split(".")[0]) if found else -1


def _config_and_weights(model: BenchmarkModel) -> tuple[dict[str, Any], dict[str, mx.array]]:
    """Return the config of a model and its weights, which are still lazy."""
    config = dict(model.config)
    bits = WEIGHTS[model.weights]
    network, _ = build(config)
    if bits is not None:
        # This is lazy and never evaluated: it only replaces the matrices with parameters of the quantized layout.
        nn.quantize(network, group_size=GROUP_SIZE, bits=bits)
        config["quantization"] = config["quantization_config"] = {"group_size": GROUP_SIZE, "bits": bits}
    mx.random.seed(0)
    spread = 1 / math.sqrt(config["hidden_size"])
    network.update(tree_map_with_path(lambda name, weight: _random(name, weight, spread, bits), network.parameters()))
    return config, dict(tree_flatten(network.parameters()))


def _write(folder: Path, config: Mapping[str, Any], weights: dict[str, mx.array]) -> None:
    folder.mkdir(parents=True)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    mx.clear_cache()
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "add_bos_token": False,
        "chat_template": "{% for message in messages %}{{ message.content }} {% endfor %}",
    }
    tokenizer = _tokenizer(config["vocab_size"])
    for name, content in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", tokenizer_config)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def _random(name: str, weight: mx.array, spread: float, bits: int | None) -> mx.array:
    """Return a random replacement for a parameter, such that all entries of matrices are within `spread` of 0."""
    if weight.dtype == mx.uint32:
        return mx.random.randint(0, 1 << 32, weight.shape, mx.uint32)
    if name.endswith("scales"):
        return mx.full(weight.shape, 2 * spread / ((1 << (bits or 0)) - 1), mx.bfloat16)
    if name.endswith("biases"):
        return mx.full(weight.shape, -spread, mx.bfloat16)
    if weight.ndim == 1:
        return mx.ones(weight.shape, mx.bfloat16)
    # Random signs and mantissas with one exponent take a sixth of the time of random numbers of this type.
    drawn = mx.random.randint(0, 1 << 32, (*weight.shape[:-1], weight.shape[-1] // 2), mx.uint32).view(mx.uint16)
    exponent = 126 + math.floor(math.log2(spread))
    return ((drawn & 0x807F) | (exponent << 7)).view(mx.bfloat16)


def _tokenizer(vocabulary: int) -> dict[str, object]:
    """Return a byte-level tokenizer with single characters, the only tokens that texts become, and random words."""
    chance = random.Random(0)
    words: dict[str, int] = {"<unk>": 0, "<s>": 1, "</s>": 2}
    for letter in ["\u0120", *map(chr, range(33, 127))]:
        words[letter] = len(words)
    while len(words) < vocabulary:
        word = "\u0120" + "".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 9)))
        words.setdefault(word, len(words))
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": index, "content": text, "special": True, **flags} for text, index in list(words.items())[:3]
        ],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {"type": "BPE", "vocab": words, "merges": [], "unk_token": None},
    }
