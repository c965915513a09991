"""Models of Qwen and GLM that see, against transformers, at tiny random size.

The references are made by packaging/references/make_vision_qwen.py.
"""

import json
from functools import cache

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten

from checkpoints import load_folder
from native_kernels import needs_kernels
from places import TESTS
from sotto.engine.architectures.cache_types import FullKVCache
from sotto.engine.architectures.prediction import predicting
from sotto.engine.architectures.towers import patch_layers
from sotto.engine.architectures.towers.tower import normalised
from sotto.engine.architectures.towers.tower_choice import make_tower
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.caches import make_caches
from sotto.engine.generation.tape import with_tapes
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.vision.reader_choice import make_reader
from sotto.errors import InvalidRequestError, UnsupportedModelError
from sotto.images.decoded_image import DecodedImage
from tower_features import features_of
from views import cut, show

REFERENCES = TESTS / "engine" / "vision" / "references"
CASES = ["glm-ocr", "qwen2-5-vl", "qwen2-vl", "qwen3-5", "qwen3-5-moe", "qwen3-vl", "qwen3-vl-moe"]
DEEP = {"qwen3-vl": 2, "qwen3-vl-moe": 1}
TOLERANCE = 1e-3
PROMPTS = range(3)
cases = pytest.mark.parametrize("case", CASES)
LAYOUTS = json.loads((REFERENCES / "patch_merger_layouts.json").read_text(encoding="utf-8"))


@cache
def loaded(case):
    return load_folder(REFERENCES / case)


@cache
def expected(case):
    return mx.load(str(REFERENCES / case / "expected.safetensors"))


def read_json(case, name):
    return json.loads((REFERENCES / case / name).read_text(encoding="utf-8"))


def reader_of(case):
    return make_reader(read_json(case, "config.json"), read_json(case, "preprocessor_config.json"))


def images_of(case, prompt):
    """Return the numbers of a prompt's images, as the names of the expected tensors begin."""
    return [f"{prompt}.{index}" for index in range(read_json(case, "prompts.json")[prompt]["images"])]


def decoded(array):
    height, width, _ = array.shape
    return DecodedImage(width, height, bytes(memoryview(array).cast("B")))


def distance(found, wanted):
    assert found.shape == wanted.shape
    return mx.abs(found.astype(mx.float32) - wanted.astype(mx.float32)).max().item()


@cache
def seen(case, prompt):
    """Return what the tower sees in the images of a prompt."""
    reader, found = reader_of(case), []
    for name in images_of(case, prompt):
        image = decoded(expected(case)[f"{name}.image"])
        layout, (tile,) = reader.lay_out(image.width, image.height), reader.read(image)
        pixels = [normalised(tile, reader.normalization)]
        found.append((features_of(loaded(case).tower, pixels, layout), layout))
    return found


def prompt_in_view(case, prompt):
    """Return the tokens [1, T] of a prompt, and the view of its images."""
    ids, slot = expected(case)[f"{prompt}.ids"].tolist(), read_json(case, "config.json")["image_token_id"]
    return show(ids, slot, seen(case, prompt), multi_axis=True)


def logits_of(case, prompt, sizes, decode=None):
    """Feed a prompt in chunks of these sizes, the last one over and over, without views once the images are over.

    `decode` is called in place of the model from then on.
    """
    model = loaded(case).model
    tokens, view = prompt_in_view(case, prompt)
    caches, length = make_caches(model), tokens.shape[1]
    shift = view.positions[0, -1].item() + 1 - length
    last, rows, done, sizes = max(place for place in range(length) if view.shows[0, place]), [], 0, list(sizes)
    while done < length:
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        chunk = tokens[:, done : done + size]
        if done > last:
            for one in caches:
                if isinstance(one, FullKVCache):
                    one.shift = shift
            rows.append((decode or model)(chunk, cache=caches)[0])
        else:
            rows.append(model(chunk, cache=caches, view=cut(view, done, done + size))[0])
        mx.eval(rows[-1], [one.state for one in caches])
        done += size
    return mx.concatenate(rows)


@cases
@pytest.mark.parametrize("prompt", PROMPTS)
def test_pixels_are_those_of_the_processor(case, prompt):
    for name in images_of(case, prompt):
        image = decoded(expected(case)[f"{name}.image"])
        (tile,) = reader_of(case).read(image)
        wanted = expected(case)[f"{name}.tile"]
        assert (tile.height, tile.width, 3) == wanted.shape
        assert tile.pixels == bytes(memoryview(wanted).cast("B"))


@cases
@pytest.mark.parametrize("prompt", PROMPTS)
def test_prompts_are_those_of_the_processor(case, prompt):
    reader = reader_of(case)
    tokens = Tokenizer((REFERENCES / case / "tokenizer.json").read_text(encoding="utf-8"))
    text = read_json(case, "prompts.json")[prompt]["text"]
    for _, layout in seen(case, prompt):
        assert layout.markup.count(reader.slot) == layout.rows == layout.grid[0] * layout.grid[1]
        text = text.replace("<image>", reader.placeholder.replace(reader.mark, layout.markup), 1)
    assert list(tokens.encode(text)) == expected(case)[f"{prompt}.ids"].tolist()


@cases
@pytest.mark.parametrize("prompt", PROMPTS)
def test_features(case, prompt):
    wanted = expected(case)
    for name, (features, layout) in zip(images_of(case, prompt), seen(case, prompt), strict=True):
        assert features.rows.shape[0] == layout.rows
        assert distance(features.rows, wanted[f"{name}.rows"]) < TOLERANCE
        assert len(features.deep) == DEEP.get(case, 0)
        for layer, rows in enumerate(features.deep):
            assert distance(rows, wanted[f"{name}.deep.{layer}"]) < TOLERANCE


@cases
@pytest.mark.parametrize("prompt", PROMPTS)
def test_logits_of_a_whole_prompt(case, prompt):
    wanted = expected(case)[f"{prompt}.logits"]
    assert distance(logits_of(case, prompt, [len(wanted)]), wanted) < TOLERANCE


# Images begin in the first ten tokens, so these borders are inside of them.
@cases
@pytest.mark.parametrize("sizes", [[9, 5, 1], [3, 16, 2], pytest.param([1], marks=pytest.mark.full)])
def test_logits_in_chunks_and_then_token_by_token(case, sizes):
    for prompt in PROMPTS:
        assert distance(logits_of(case, prompt, sizes), expected(case)[f"{prompt}.logits"]) < TOLERANCE


@needs_kernels
@pytest.mark.parametrize("case", ["glm-ocr", "qwen2-5-vl", "qwen2-vl", "qwen3-vl"])
def test_tapes_of_decode_steps_know_that_positions_are_not_lengths(case):
    model, config = loaded(case).model, read_json(case, "config.json")
    taped = with_tapes(model, config, make_caches(model))
    assert taped.tape(1, make_caches(model)) is not None
    for prompt in PROMPTS:
        last = max(place for place, shows in enumerate(prompt_in_view(case, prompt)[1].shows[0].tolist()) if shows)
        found = logits_of(case, prompt, [last + 1, 1], decode=taped)
        assert distance(found, expected(case)[f"{prompt}.logits"]) < TOLERANCE


def test_a_prediction_head_sees_images_in_chunks_as_it_does_at_once():
    config = read_json("qwen3-5", "config.json")
    model, _ = build(config, predicting)
    model.load_weights(list(tree_flatten(loaded("qwen3-5").model.parameters())), strict=False)
    tokens, view = prompt_in_view("qwen3-5", 1)
    guesses = []
    for size in (tokens.shape[1], 7):
        caches = make_caches(model)
        for done in range(0, tokens.shape[1], size):
            logits = model(tokens[:, done : done + size], cache=caches, view=cut(view, done, done + size))
            mx.eval(logits, [one.state for one in caches])
        for one in caches:
            one.shift = view.positions[0, -1].item() + 1 - tokens.shape[1]
        guesses.append(model.predict(mx.array([[7]]), caches[-1].recent[:, -1:], caches[-1])[0])
        # The position of the token that is guessed from matters.
        caches[-1].forget_proposals(tokens.shape[1])
        caches[-1].shift = 0
        unmoved = model.predict(mx.array([[7]]), caches[-1].recent[:, -1:], caches[-1])[0]
        assert distance(unmoved, guesses[-1]) > TOLERANCE
    assert distance(guesses[1], guesses[0]) < TOLERANCE


def test_experts_are_stacked_whether_transposed_or_not():
    path = REFERENCES / "qwen3-vl-moe" / "model.safetensors"
    weights = {name: array for name, array in mx.load(str(path)).items() if "visual" not in name}
    transposed = {name: array.swapaxes(1, 2) if ".experts." in name else array for name, array in weights.items()}
    model = loaded("qwen3-vl-moe").model
    one, other = model.sanitize(dict(weights)), model.sanitize(transposed)
    assert one.keys() == other.keys() == dict(tree_flatten(model.parameters())).keys()
    assert all(mx.array_equal(one[name], other[name]) for name in one)


# Little enough for a few windows, for one, and for a few patches.
@pytest.mark.parametrize("budget", [1 << 18, 1 << 16, 1 << 14])
@pytest.mark.parametrize("case", ["glm-ocr", "qwen2-5-vl", "qwen3-vl"])
def test_features_do_not_depend_on_the_division_into_steps(case, budget, monkeypatch):
    reader, tower = reader_of(case), loaded(case).tower
    image = decoded(expected(case)["2.0.image"])
    (tile,) = reader.read(image)
    layout = reader.lay_out(image.width, image.height)
    whole = len(list(tower.steps([normalised(tile, reader.normalization)], layout)))
    monkeypatch.setattr(patch_layers, "_ON_CPU", budget)
    monkeypatch.setattr(patch_layers, "_ON_GPU", budget)
    assert len(list(tower.steps([normalised(tile, reader.normalization)], layout))) > whole
    features = features_of(tower, [normalised(tile, reader.normalization)], layout)
    assert distance(features.rows, expected(case)["2.0.rows"]) < TOLERANCE


@pytest.mark.parametrize("case", ["qwen2-5-vl", "qwen2-vl"])
def test_flat_configs_of_the_first_releases_mean_the_same(case, tmp_path):
    config = read_json(case, "config.json")
    text = config.pop("text_config")
    rope = text.pop("rope_parameters")
    scaling = {"type": "mrope", "mrope_section": rope["mrope_section"]}
    flat = {**text, **config, "rope_theta": rope["rope_theta"], "rope_scaling": scaling}
    (tmp_path / "config.json").write_text(json.dumps(flat), encoding="utf-8")
    (tmp_path / "model.safetensors").symlink_to(REFERENCES / case / "model.safetensors")
    found = load_folder(tmp_path)
    tokens, view = prompt_in_view(case, 0)
    logits = found.model(tokens, cache=make_caches(found.model), view=view)[0]
    assert found.tower is not None
    assert distance(logits, expected(case)["0.logits"]) < TOLERANCE


@cases
def test_a_text_alone_needs_no_view(case):
    model, ids = loaded(case).model, mx.array([[7, 8, 9, 10, 11, 12]])
    whole = model(ids, cache=make_caches(model))
    _, view = show(ids[0].tolist(), -1, [])
    assert distance(model(ids, cache=make_caches(model), view=view), whole) < 1e-5
    assert distance(model(ids), whole) < 1e-4


@pytest.mark.parametrize("case", LAYOUTS, ids=lambda case: case["model_type"])
def test_sizes_are_those_of_the_original_processors(case):
    reader = make_reader({"model_type": case["model_type"], "vision_config": {}}, case["preprocessor"])
    usual = make_reader({"model_type": case["model_type"], "vision_config": {}}, {})
    for size, grid in zip(case["sizes"], case["grids"], strict=True):
        layout = reader.lay_out(*size)
        assert layout.grid == tuple(grid), size
        assert usual.lay_out(*size) == layout


@cases
def test_images_that_are_too_narrow_are_refused(case):
    with pytest.raises(InvalidRequestError, match="3 x 900 pixels"):
        reader_of(case).lay_out(3, 900)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"do_resize": False}, "do_resize"),
        ({"patch_size": 5}, "patch_size"),
        ({"merge_size": "2"}, "merge_size"),
        ({"size": {"longest_edge": -1}}, "longest_edge"),
        ({"size": {"longest_edge": 1 << 40}}, "longest_edge"),
        ({"min_pixels": 4000, "max_pixels": 3000}, "4,000"),
        ({"image_mean": [0.5, 0.5]}, "image_mean"),
        ({"image_std": [0.5, 0, 0.5]}, "image_std"),
        ({"resample": 6}, "resample"),
        ({"rescale_factor": 1}, "1 / 255"),
    ],
)
def test_settings_of_the_processor_that_make_no_sense_are_refused(change, named):
    with pytest.raises(UnsupportedModelError, match=named):
        make_reader(
            read_json("qwen2-5-vl", "config.json"), {**read_json("qwen2-5-vl", "preprocessor_config.json"), **change}
        )


@pytest.mark.parametrize(
    ("case", "change", "named"),
    [
        ("qwen2-5-vl", {"patch_size": 0}, "patch_size"),
        ("qwen2-5-vl", {"spatial_merge_size": 1000}, "spatial_merge_size"),
        ("qwen2-5-vl", {"temporal_patch_size": True}, "temporal_patch_size"),
        ("qwen2-5-vl", {"depth": 1 << 30}, "depth"),
        ("qwen2-5-vl", {"hidden_size": "16"}, "hidden_size"),
        ("qwen2-5-vl", {"num_heads": 3}, "num_heads"),
        ("qwen2-5-vl", {"in_chans": 4}, "in_chans"),
        ("qwen2-5-vl", {"hidden_act": "relu"}, "hidden_act"),
        ("qwen2-5-vl", {"fullatt_block_indexes": "all"}, "fullatt_block_indexes"),
        ("qwen2-vl", {"hidden_act": "relu"}, "quick_gelu"),
        ("qwen3-vl", {"deepstack_visual_indexes": [0.5]}, "deepstack_visual_indexes"),
        ("qwen3-vl", {"num_position_embeddings": -1}, "num_position_embeddings"),
        ("glm-ocr", {"hidden_act": "gelu"}, "silu"),
    ],
)
def test_towers_that_are_described_as_none_can_be_are_refused(case, change, named):
    config = read_json(case, "config.json")
    with pytest.raises(UnsupportedModelError, match=named):
        make_tower({**config, "vision_config": {**config["vision_config"], **change}})


@cases
def test_activations_have_the_type_of_the_weights(case):
    tower = make_tower(read_json(case, "config.json"))
    weights = mx.load(str(REFERENCES / case / "model.safetensors"))
    own = tower.sanitize({name: array for name, array in weights.items() if "visual." in name})
    tower.load_weights([(name, array.astype(mx.bfloat16)) for name, array in own.items()])
    image, reader = decoded(expected(case)["0.0.image"]), reader_of(case)
    pixels = [normalised(tile, reader.normalization) for tile in reader.read(image)]
    features = features_of(tower, pixels, reader.lay_out(image.width, image.height))
    assert {array.dtype for array in features.arrays} == {mx.bfloat16}
    assert distance(features.rows, expected(case)["0.0.rows"]) < 0.3


@cases
def test_models_of_the_same_type_without_a_tower_do_not_see(case):
    config = {key: value for key, value in read_json(case, "config.json").items() if key != "vision_config"}
    assert make_tower(config) is None
    assert make_reader(config, {}) is None


@cases
def test_weights_have_the_same_places_by_the_names_and_in_the_layout_of_mlx(case):
    tower = make_tower(read_json(case, "config.json"))
    path = REFERENCES / case / "model.safetensors"
    weights = {name: array for name, array in mx.load(str(path)).items() if "visual." in name}
    others = {
        "vision_tower." + name.partition("visual.")[2]: mx.moveaxis(array, 1, -1) if array.ndim > 3 else array
        for name, array in weights.items()
    }
    arranged = tower.sanitize(weights)
    shapes = {name: array.shape for name, array in tree_flatten(tower.parameters())}
    assert {name: array.shape for name, array in arranged.items()} == shapes
    assert all(mx.array_equal(array, arranged[name]) for name, array in tower.sanitize(others).items())
