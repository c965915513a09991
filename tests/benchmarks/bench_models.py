"""Models with random weights in the shapes of real models: folders, which mlx-lm reads as well, and GGUF files."""

import json
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from gguf_models import write_gguf
from mlx import nn
from mlx.utils import tree_flatten, tree_map_with_path
from shapes import PAIR, SHAPES
from vocabulary import TEMPLATE, tokenizer_of

from sotto.engine.architectures.zoo import build

_DRAFT_LAYERS = 2
_POOL_WORDS = 8 << 20


@dataclass(frozen=True)
class Format:
    """A format of weights.

    Attributes:
        quantization: How matrices are quantized in a folder, as MLX's parameters; None for bfloat16.
        gguf: The type in GGUF files with as many bits for a weight.
    """

    quantization: Mapping[str, Any] | None
    gguf: str


# The formats of weights in folders.
WEIGHTS: Mapping[str, Format] = {
    "4bit": Format({"group_size": 64, "bits": 4}, "Q4_0"),
    "8bit": Format({"group_size": 64, "bits": 8}, "Q8_0"),
    "bf16": Format(None, "BF16"),
    "4bit-g32": Format({"group_size": 32, "bits": 4}, "Q4_0"),
    "mxfp4": Format({"group_size": 32, "bits": 4, "mode": "mxfp4"}, "MXFP4"),
}
# The types of GGUF files that both programs read.
GGUF_WEIGHTS = ("Q4_0", "Q4_1", "Q4_K_M", "Q6_K", "Q8_0", "IQ4_XS")


@dataclass(frozen=True)
class BenchmarkModel:
    """A model on disk: the name of its shape, the format of its weights, and its folder or GGUF file."""

    shape: str
    weights: str
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.shape}-{self.weights}"

    @property
    def config(self) -> Mapping[str, Any]:
        return PAIR if self.shape == "pair" else SHAPES[self.shape]

    @property
    def gguf_type(self) -> str:
        """Return the type of the weights in its own GGUF file, or in that of a peer."""
        return WEIGHTS[self.weights].gguf if self.weights in WEIGHTS else self.weights


class Models:
    """Creates models in one folder when they are first requested."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, shape: str, weights: str) -> BenchmarkModel:
        """Return a folder with a model in the checkpoint's type, bfloat16, with its matrices quantized or not."""
        return self.make(self.planned(shape, weights))

    def gguf(self, shape: str, weights: str) -> BenchmarkModel:
        """Return a model in a GGUF file, with weights of a type such as `Q4_0`."""
        return self.make(self.planned(shape, weights, gguf=True))

    def planned(self, shape: str, weights: str, *, gguf: bool = False) -> BenchmarkModel:
        """Return a model that may not be there yet."""
        return BenchmarkModel(shape, weights, self.folder / f"{shape}-{weights}{'.gguf' * gguf}")

    def make(self, model: BenchmarkModel) -> BenchmarkModel:
        """Create a model unless it is there, and return it."""
        if not model.folder.exists():
            if model.folder.suffix == ".gguf":
                write_gguf(model.folder, model.config, model.weights)
            else:
                _write(model.folder, *_config_and_weights(model))
        return model

    def pair(self, shape: str = "pair", layers: int = _DRAFT_LAYERS) -> tuple[BenchmarkModel, BenchmarkModel]:
        """Return a 4-bit model, and its first layers as its draft model.

        The output of random weights is easy to guess, so the two agree more often than most trained pairs.
        """
        large = BenchmarkModel(shape, "4bit", self.folder / f"{shape}-4bit")
        small = BenchmarkModel(shape, "4bit", self.folder / f"{shape}-4bit-draft")
        if not small.folder.exists():
            config, weights = _config_and_weights(large)
            if not large.folder.exists():
                _write(large.folder, config, weights)
            first = {name: weight for name, weight in weights.items() if _layer_of(name) < layers}
            _write(small.folder, config | {"num_hidden_layers": layers}, first)
        return large, small

    def remove(self, model: BenchmarkModel) -> None:
        """Delete a model, so that there is room for the next one."""
        if model.folder.is_dir():
            shutil.rmtree(model.folder)
        else:
            model.folder.unlink(missing_ok=True)


def _layer_of(name: str) -> int:
    """Return the number of the layer that a parameter belongs to, or -1."""
    _, found, rest = name.partition("layers.")
    return int(rest.split(".")[0]) if found else -1


def _config_and_weights(model: BenchmarkModel) -> tuple[dict[str, Any], dict[str, mx.array]]:
    """Return the config of a model and its weights."""
    config = dict(model.config)
    quantization = WEIGHTS[model.weights].quantization
    network, _ = build(config)
    if config["tie_word_embeddings"]:
        # A definition may have an output layer of its own until it is given a file that has none.
        network.pop("lm_head", None)
    if quantization is not None:
        # This is lazy and never evaluated: it only replaces the matrices with parameters of the quantized layout.
        nn.quantize(network, **quantization, class_predicate=_is_quantized)
        config["quantization"] = config["quantization_config"] = dict(quantization)
    source = _RandomWeights(1 / math.sqrt(config["hidden_size"]), quantization)
    network.update(tree_map_with_path(source.like, network.parameters()))
    return config, dict(tree_flatten(network.parameters()))


def _is_quantized(name: str, module: nn.Module) -> bool:
    # The choice of experts is not quantized, as in GGUF files.
    return hasattr(module, "to_quantized") and not name.endswith(("mlp.gate", "mlp.router"))


def _write(folder: Path, config: Mapping[str, Any], weights: dict[str, mx.array]) -> None:
    folder.mkdir(parents=True)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    mx.clear_cache()
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "add_bos_token": False,
        "chat_template": TEMPLATE,
    }
    tokenizer = tokenizer_of(config["vocab_size"])
    for name, content in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", tokenizer_config)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


class _RandomWeights:
    """A source of random parameters, such that all entries of matrices are within a spread of 0.

    The same few megabytes of random words are repeated, which takes a tenth of the time of new ones.
    """

    def __init__(self, spread: float, quantization: Mapping[str, Any] | None) -> None:
        self._spread = spread
        self._quantization = quantization or {}
        self._pool = np.random.default_rng(0).integers(0, 1 << 32, _POOL_WORDS, np.uint32)
        self._exponent = 126 + math.floor(math.log2(spread))
        self._plain = ((self._pool.view(np.uint16) & 0x807F) | (self._exponent << 7)).view(np.uint32)
        self._position = 0

    def like(self, name: str, weight: mx.array) -> mx.array:
        """Return a random replacement for a parameter."""
        if weight.dtype == mx.uint32:
            return self._drawn(self._pool, weight.shape)
        if name.endswith("scales"):
            if self._quantization.get("mode") == "mxfp4":
                # The largest of the numbers of 4 bits is 6.
                return mx.full(weight.shape, 127 + math.floor(math.log2(self._spread / 6)), mx.uint8)
            step = 2 * self._spread / ((1 << self._quantization["bits"]) - 1)
            return mx.full(weight.shape, step, mx.bfloat16)
        if name.endswith("biases"):
            return mx.full(weight.shape, -self._spread, mx.bfloat16)
        if weight.ndim == 1:
            return mx.ones(weight.shape, mx.bfloat16)
        # Random signs and mantissas with one exponent.
        return self._drawn(self._plain, (weight.size // 2,)).view(mx.bfloat16).reshape(weight.shape)

    def _drawn(self, pool: np.ndarray, shape: tuple[int, ...]) -> mx.array:
        count = math.prod(shape)
        # Another beginning for each parameter, so that layers differ.
        self._position = (self._position + 1_000_003) % (len(pool) // 2)
        rest = pool[self._position :]
        return mx.array((rest[:count] if count <= len(rest) else np.resize(rest, count)).reshape(shape))
