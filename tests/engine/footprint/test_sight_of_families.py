"""What is planned for images of the towers of families, beside what they take."""

from itertools import islice

import mlx.core as mx
import pytest

from sotto.engine.architectures.towers.tower_choice import make_tower
from sotto.engine.footprint.sight_needs import largest_layout, sight_points
from sotto.engine.footprint.traced_kernels import traceable
from sotto.engine.kernels import native
from sotto.engine.vision.reader_choice import make_reader
from tower_features import features_of

TEXT = {"hidden_size": 256, "num_hidden_layers": 2}
# What is left out is as these families usually have it; sizes are those of a small image.
PREPROCESSING = {
    "mistral3": {"size": {"longest_edge": 448}},
    "llava_next": {
        "size": {"shortest_edge": 336},
        "crop_size": {"height": 336, "width": 336},
        "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672]],
    },
}
# How many sizes of images are tried: images in ten tiles are larger.
POINTS = {"lfm2_vl": 4}
REAL = {
    "gemma3": {
        "mm_tokens_per_image": 256,
        "vision_config": {
            "hidden_size": 512,
            "intermediate_size": 2048,
            "num_attention_heads": 8,
            "num_hidden_layers": 2,
            "image_size": 448,
            "patch_size": 14,
        },
    },
    "mistral3": {
        "vision_config": {
            "model_type": "pixtral",
            "hidden_size": 512,
            "intermediate_size": 2048,
            "num_attention_heads": 8,
            "num_hidden_layers": 2,
            "image_size": 448,
            "patch_size": 14,
        }
    },
    "qwen2_5_vl": {
        "vision_config": {
            "hidden_size": 512,
            "intermediate_size": 2048,
            "num_heads": 8,
            "depth": 2,
            "patch_size": 14,
            "out_hidden_size": 256,
            "fullatt_block_indexes": [1],
        }
    },
    "lfm2_vl": {
        "text_config": {"hidden_size": 2048, "num_hidden_layers": 2},
        "vision_config": {
            "model_type": "siglip2_vision_model",
            "hidden_size": 256,
            "intermediate_size": 512,
            "num_attention_heads": 8,
            "num_hidden_layers": 2,
            "num_patches": 256,
            "patch_size": 16,
        },
    },
    "llava_next": {
        "image_token_index": 5,
        "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672]],
        "vision_config": {
            "model_type": "clip_vision_model",
            "hidden_size": 512,
            "intermediate_size": 2048,
            "num_attention_heads": 8,
            "num_hidden_layers": 2,
            "image_size": 336,
            "patch_size": 14,
        },
    },
}


@pytest.mark.parametrize(("kind", "traced"), [*((kind, "whole") for kind in REAL), ("lfm2_vl", "beginning")])
def test_the_towers_of_families_take_as_much_as_was_planned(kind, traced, monkeypatch):
    if traced == "beginning":
        monkeypatch.setattr("sotto.engine.footprint.sight_needs._MOST_OPERATIONS", 200)
        monkeypatch.setattr("sotto.engine.footprint.sight_needs._MOST_OF_LARGE", 200)
    config = {"model_type": kind, "text_config": TEXT} | REAL[kind]
    tower, reader = make_tower(config), make_reader(config, PREPROCESSING.get(kind, {}))
    native.install()
    mx.eval(tower.parameters())
    with traceable(native.kernels()):
        point = list(islice(sight_points(tower, reader), POINTS.get(kind, 2)))[-1]
    layout = largest_layout(reader, point.pixels)
    tiles = [mx.random.normal((height, width, 3)) for width, height in layout.tiles]
    mx.eval(tiles)
    mx.clear_cache()
    before = mx.get_active_memory() - sum(tile.nbytes for tile in tiles)
    mx.reset_peak_memory()
    features = features_of(tower, tiles, layout)
    taken = mx.get_peak_memory() - before
    assert point.features == features.nbytes
    assert 0.93 * taken <= point.nbytes <= (1.35 if traced == "whole" else 2) * taken, (point.nbytes / taken, taken)
