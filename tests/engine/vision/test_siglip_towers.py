"""The towers and readers of Gemma 3, Gemma 4 and LFM2-VL: their files' layouts, their steps, and what they refuse."""

import json
from pathlib import Path

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten

from pictures import picture
from sotto.engine.architectures.towers import stepping
from sotto.engine.architectures.towers.tower import normalised
from sotto.engine.architectures.towers.tower_choice import make_tower
from sotto.engine.kernels import native, native_products
from sotto.engine.vision.reader_choice import make_reader
from sotto.errors import InvalidRequestError, UnsupportedModelError
from tower_features import features_of

FOLDER = Path(__file__).parent / "references"
CASES = ("gemma3", "gemma4", "gemma4-unified", "lfm2-vl")
cases = pytest.mark.parametrize("case", CASES)


def config_of(case, **changes):
    return json.loads((FOLDER / case / "config.json").read_text(encoding="utf-8")) | changes


def changed(case, part, **changes):
    config = config_of(case)
    return config | {part: config[part] | changes}


def stored(case):
    """Return the tensors of a tower as its file has them."""
    tensors = mx.load(str(FOLDER / case / "model.safetensors"))
    return {name: array for name, array in tensors.items() if "language_model" not in name and "lm_head" not in name}


def filled(case, tensors):
    tower = make_tower(config_of(case))
    tower.load_weights(list(tower.sanitize(tensors).items()), strict=True)
    return tower


def look(case, tower, size=(75, 61)):
    reader = make_reader(
        config_of(case), json.loads((FOLDER / case / "preprocessor_config.json").read_text(encoding="utf-8"))
    )
    tiles = [normalised(tile, reader.normalization) for tile in reader.read(picture(*size))]
    return tiles, reader.lay_out(*size)


@cases
def test_steps_are_as_short_as_the_budget_and_change_nothing(case, monkeypatch):
    tower = filled(case, stored(case))
    tiles, layout = look(case, tower)
    whole = features_of(tower, tiles, layout).rows
    few = sum(1 for _ in tower.steps(tiles, layout))
    monkeypatch.setattr(stepping, "_ON_CPU", 20_000)
    monkeypatch.setattr(stepping, "_ON_GPU", 20_000)
    assert mx.abs(features_of(tower, tiles, layout).rows - whole).max().item() < 1e-5
    many = sum(1 for _ in tower.steps(tiles, layout))
    assert many > few + 10 or case == "gemma4-unified"


@pytest.fixture
def without_kernels():
    """Compute as on a graphics processor: the native kernels always give 32 bits."""
    before = native_products.is_installed()
    native.uninstall()
    yield
    if before:
        native.install()


@cases
@pytest.mark.usefixtures("without_kernels")
def test_towers_compute_in_the_type_in_which_they_are_held(case):
    tower, rounded = filled(case, stored(case)), filled(case, stored(case))
    rounded.apply(lambda array: array.astype(mx.bfloat16))
    tiles, layout = look(case, tower)
    wanted = features_of(tower, tiles, layout).rows
    found = features_of(rounded, tiles, layout).rows
    assert (wanted.dtype, found.dtype) == (mx.float32, mx.bfloat16)
    assert mx.abs(found - wanted).max().item() < 0.1 * mx.abs(wanted).max().item()


@pytest.mark.parametrize("case", ["gemma3", "lfm2-vl"])
@pytest.mark.parametrize("channels_last", [False, True])
def test_towers_of_older_files_and_of_mlx_vlm_are_the_same(case, channels_last):
    older = {}
    for name, array in stored(case).items():
        name = name.removeprefix("model.").replace("vision_tower.", "vision_tower.vision_model.")
        if name.endswith("patch_embedding.weight") and array.ndim == 2:
            array = array.reshape(-1, 4, 4, 3).transpose(0, 3, 1, 2)
        if name.endswith("patch_embedding.weight") and channels_last:
            array = array.transpose(0, 2, 3, 1)
        older[name] = array
    older["vision_tower.vision_model.head.probe"] = mx.zeros((1, 1, 16))
    older["vision_tower.vision_model.embeddings.position_ids"] = mx.arange(4)
    found, wanted = (dict(tree_flatten(filled(case, each).parameters())) for each in (older, stored(case)))
    assert found.keys() == wanted.keys()
    assert all(mx.array_equal(found[name], wanted[name]) for name in wanted)


@cases
def test_a_model_without_a_description_of_its_tower_sees_nothing(case):
    config = config_of(case, vision_config=None)
    for make in (make_tower, lambda config: make_reader(config, {})):
        with pytest.raises(UnsupportedModelError, match=r"no vision_config"):
            make(config)


@pytest.mark.parametrize(
    ("case", "config", "named"),
    [
        ("gemma3", changed("gemma3", "vision_config", hidden_size=17), "hidden_size"),
        ("gemma3", changed("gemma3", "vision_config", num_hidden_layers=10**9), "num_hidden_layers"),
        ("gemma3", changed("gemma3", "vision_config", num_channels=1), "num_channels"),
        ("gemma3", changed("gemma3", "vision_config", layer_norm_eps="small"), "layer_norm_eps"),
        ("gemma3", config_of("gemma3", mm_tokens_per_image=15), "mm_tokens_per_image"),
        ("gemma3", config_of("gemma3", mm_tokens_per_image=25), "mm_tokens_per_image"),
        ("gemma4", changed("gemma4", "vision_config", head_dim=6), "heads"),
        ("gemma4", changed("gemma4", "vision_config", rope_parameters={"rope_type": "yarn"}), "yarn"),
        ("gemma4-unified", changed("gemma4-unified", "vision_config", output_proj_dims=8), "output_proj_dims"),
        ("lfm2-vl", changed("lfm2-vl", "vision_config", num_patches=35), "num_patches"),
        ("lfm2-vl", config_of("lfm2-vl", downsample_factor=0), "downsample_factor"),
    ],
)
def test_towers_that_cannot_be_computed_are_refused(case, config, named):
    with pytest.raises(UnsupportedModelError, match=named):
        make_tower(config)


@pytest.mark.parametrize(
    ("case", "preprocessor", "named"),
    [
        ("gemma3", {"do_pan_and_scan": True}, "do_pan_and_scan"),
        ("gemma3", {"size": {"height": 16, "width": 16}}, "32 x 32"),
        ("gemma3", {"do_rescale": False}, "1 / 255"),
        ("gemma3", {"rescale_factor": 0.5}, "1 / 255"),
        ("gemma3", {"image_std": [0.5, 0, 0.5]}, "image_std"),
        ("gemma3", {"image_mean": [0.5, 0.5]}, "image_mean"),
        ("gemma3", {"resample": 9}, "resample"),
        ("gemma4", {"max_soft_tokens": 100}, "max_soft_tokens"),
        ("gemma4", {"patch_size": 16}, "patch_size"),
        ("gemma4", {"do_resize": False}, "do_resize"),
        ("lfm2-vl", {"encoder_patch_size": 16}, "encoder_patch_size"),
        ("lfm2-vl", {"tile_size": 30}, "tile_size"),
        ("lfm2-vl", {"min_tiles": 5, "max_tiles": 4}, "minimum"),
        ("lfm2-vl", {"max_tiles": 10**6}, "max_tiles"),
    ],
)
def test_preprocessing_that_is_not_done_is_refused(case, preprocessor, named):
    with pytest.raises(UnsupportedModelError, match=named):
        make_reader(config_of(case), preprocessor)


def test_the_longest_images_have_no_more_tokens_than_the_budget():
    reader = make_reader(config_of("gemma4"), {})
    for size in ((1, 65_535), (65_535, 1), (65_535, 65_535), (1, 1)):
        assert 1 <= reader.lay_out(*size).rows <= 280


def test_images_that_lfm2_cannot_see_within_its_budget_are_refused():
    reader = make_reader({"model_type": "lfm2_vl", "vision_config": {}}, {})
    for size in ((1, 1), (65_535, 65_535), (512, 1), (3000, 200)):
        layout = reader.lay_out(*size)
        tokens = [width * height // 32**2 for width, height in layout.tiles]
        assert (sum(tokens), max(tokens) <= 256) == (layout.rows, True)
    for size in ((1, 65_535), (65_535, 1), (1, 1900)):
        with pytest.raises(InvalidRequestError, match="too long and narrow"):
            reader.lay_out(*size)
