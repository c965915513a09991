"""A family of models that see, for tests of what all families share: one block of attention over patches."""

import sys
from dataclasses import dataclass, replace
from types import ModuleType

import mlx.core as mx
import pytest
from mlx import nn
from mlx.utils import tree_flatten

from checkpoints import LLAMA
from loading import random_weights
from sotto.engine.architectures.towers.tower import Features
from sotto.engine.config import architecture_table
from sotto.engine.vision.image_reader import ImageLayout, Normalization
from sotto.errors import UnsupportedModelError

PATCH = 4
SEEING = {
    "model_type": "mistral3",
    "architectures": ["Mistral3ForConditionalGeneration"],
    "text_config": LLAMA,
    "vision_config": {"model_type": "tiny", "hidden_size": 64, "image_size": 32, "patch_size": PATCH},
}


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q_proj, self.k_proj = nn.Linear(width, width), nn.Linear(width, width)
        self.v_proj, self.out_proj = nn.Linear(width, width), nn.Linear(width, width)

    def __call__(self, x):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        seen = mx.softmax(q @ k.T / q.shape[-1] ** 0.5, axis=-1) @ v
        return x + self.out_proj(seen)


class VisionModel(nn.Module):
    def __init__(self, width, places):
        super().__init__()
        self.patch_embedding = nn.Conv2d(3, width, PATCH, PATCH)
        self.position_embedding = nn.Embedding(places, width)
        self.layers = [Attention(width), Attention(width)]
        self.post_layernorm = nn.LayerNorm(width)


class Projector(nn.Module):
    def __init__(self, width, dims):
        super().__init__()
        self.linear_1 = nn.Linear(width, dims)


class TinyTower(nn.Module):
    def __init__(self, vision, dims):
        super().__init__()
        width, places = vision["hidden_size"], (vision["image_size"] // vision["patch_size"]) ** 2
        self.vision_tower = VisionModel(width, places)
        self.multi_modal_projector = Projector(width, dims)
        self.image_newline = mx.zeros((dims,))

    def steps(self, tiles, layout):
        (pixels,) = tiles
        tower = self.vision_tower
        x = tower.patch_embedding(pixels[None])[0].reshape(-1, tower.post_layernorm.weight.shape[0])
        x = x + tower.position_embedding(mx.arange(len(x)))
        for layer in tower.layers:
            x = layer(x)
            yield x
        rows = self.multi_modal_projector.linear_1(tower.post_layernorm(x))
        return Features(mx.concatenate([rows, self.image_newline[None]]))

    def sanitize(self, weights):
        weights = {name.removeprefix("model."): array for name, array in weights.items()}
        name = "vision_tower.patch_embedding.weight"
        # PyTorch's layout has the channels second.
        if name in weights and weights[name].shape[1] == 3:
            weights[name] = weights[name].moveaxis(1, -1)
        return {name: array for name, array in weights.items() if not name.endswith(".position_ids")}


@dataclass(frozen=True)
class TinyReader:
    """Divides an image, resized to a multiple of the size of patches, into patches; a token for each, and one more."""

    most: int
    placeholder = mark = "<image>"
    slot = "<patch>"
    both_ways = multi_axis = False
    normalization = Normalization((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))

    def lay_out(self, width, height):
        columns, rows = (max(1, min(side, self.most) // PATCH) for side in (width, height))
        count = rows * columns + 1
        return ImageLayout(self.slot * count, count, (rows, columns), ((columns * PATCH, rows * PATCH),))

    def read(self, image):
        raise NotImplementedError


def make_tower(config):
    if config["vision_config"].get("model_type") == "other":
        raise UnsupportedModelError("Its tower is 'other' (vision_config); it should be 'tiny'.")
    return TinyTower(config["vision_config"], config["text_config"]["hidden_size"])


def make_reader(config, preprocessor):
    return TinyReader(preprocessor.get("size", config["vision_config"]["image_size"]))


@pytest.fixture
def tiny_tower(monkeypatch):
    """Have models of the type `mistral3` see with the tower above."""
    reads, sees = ModuleType("tiny_images"), ModuleType("tiny_tower")
    reads.make_reader, sees.make_tower = make_reader, make_tower
    monkeypatch.setitem(sys.modules, "sotto.engine.vision.tiny_images", reads)
    monkeypatch.setitem(sys.modules, "sotto.engine.architectures.towers.tiny_tower", sees)
    known = architecture_table._BY_TYPE
    monkeypatch.setitem(known, "mistral3", replace(known["mistral3"], sees="tiny"))


def tower_weights(config=SEEING, seed=1):
    """Return random weights of the tower, by the names of its parameters."""
    mx.random.seed(seed)
    return {name: mx.random.normal(array.shape) * 0.1 for name, array in tree_flatten(make_tower(config).parameters())}


def seeing_weights(config=SEEING):
    """Return random weights of a model with its tower."""
    return random_weights(config) | tower_weights(config)
