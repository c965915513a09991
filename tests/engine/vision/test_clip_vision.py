"""LLaVA, LLaVA Next, Granite Vision, Pixtral, Mistral 3, Idefics 3 and SmolVLM against transformers, at tiny size.

The references are made by packaging/references/make_vision_clip.py.
"""

import hashlib
import json
import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten
from tokenizers import Tokenizer

from checkpoints import load_folder
from sotto.engine.architectures.image_view import View
from sotto.engine.architectures.towers import stepping
from sotto.engine.architectures.towers.tower import normalised
from sotto.engine.architectures.towers.tower_choice import make_tower
from sotto.engine.caches.caches import make_caches
from sotto.engine.vision.reader_choice import make_reader
from sotto.errors import InvalidRequestError, UnsupportedModelError
from sotto.images.decoded_image import DecodedImage
from tower_features import features_of

REFERENCES = Path(__file__).with_name("references")
CASES = (
    "granite-vision",
    "idefics3",
    "llava",
    "llava-full",
    "llava-next",
    "llava-window",
    "mistral3",
    "mistral3-ministral",
    "pixtral",
    "smolvlm",
)
GEOMETRY = json.loads((REFERENCES / "clip_geometry.json").read_text(encoding="utf-8"))
SHOWN = {"one": (0,), "two": (0, 1), "first": (1,)}
TOLERANCE = 1e-3
# Of the root, for features and logits whose size differs from case to case.
CLOSE = 1e-4

cases = pytest.mark.parametrize("case", CASES)
prompts = pytest.mark.parametrize("prompt", SHOWN)


def settings(case):
    folder = REFERENCES / case
    return [json.loads((folder / name).read_text()) for name in ("config.json", "preprocessor_config.json")]


@cache
def expected(case):
    return mx.load(str(REFERENCES / case / "expected.safetensors"))


@cache
def reader_of(case):
    return make_reader(*settings(case))


@cache
def tower_of(case):
    tower = make_tower(settings(case)[0])
    stored = mx.load(str(REFERENCES / case / "model.safetensors"))
    wanted = tower.sanitize({name: array.astype(mx.float32) for name, array in stored.items()})
    tower.load_weights(list(wanted.items()), strict=True)
    return tower


@cache
def model_of(case):
    return load_folder(REFERENCES / case).model


def image_of(case, number):
    pixels = expected(case)[f"image_{number}"]
    return DecodedImage(pixels.shape[1], pixels.shape[0], bytes(memoryview(mx.contiguous(pixels))))


def tiles_of(case, number):
    reader = reader_of(case)
    return [normalised(tile, reader.normalization) for tile in reader.read(image_of(case, number))]


def layout_of(case, number):
    image = image_of(case, number)
    return reader_of(case).lay_out(image.width, image.height)


@cache
def features(case, number):
    return features_of(tower_of(case), tiles_of(case, number), layout_of(case, number)).rows


def distance(found, wanted):
    """Return the greatest difference, in parts of the greatest value."""
    assert found.shape == wanted.shape
    return (mx.abs(found - wanted).max() / mx.abs(wanted).max()).item()


def shown(case, prompt):
    """Return the tokens of a prompt, its features in their places, and which tokens are those of images."""
    reader, ids = reader_of(case), expected(case)[f"ids_{prompt}"]
    shows = ids == Tokenizer.from_file(str(REFERENCES / case / "tokenizer.json")).token_to_id(reader.slot)
    rows = mx.concatenate([features(case, number) for number in SHOWN[prompt]])
    places = [place for place, is_shown in enumerate(shows.tolist()) if is_shown]
    placed = mx.zeros((len(ids), rows.shape[1]))
    placed[mx.array(places)] = rows
    return mx.where(shows, 0, ids)[None], placed[None], shows[None]


def logits_in_chunks(case, prompt, edges):
    tokens, placed, shows = shown(case, prompt)
    model, found = model_of(case), []
    caches = make_caches(model)
    for start, end in pairwise([0, *edges, tokens.shape[1]]):
        view = View(placed[:, start:end], shows[:, start:end]) if mx.any(shows[:, start:end]).item() else None
        found.append(model(tokens[:, start:end], cache=caches, view=view)[0])
        mx.eval(found[-1], [one.state for one in caches])
    return mx.concatenate(found)


@cases
@pytest.mark.parametrize("number", [0, 1])
def test_images_are_read_as_by_transformers(case, number):
    tiles, wanted = tiles_of(case, number), expected(case)[f"pixels_{number}"]
    assert layout_of(case, number).tiles == tuple((tile.shape[1], tile.shape[0]) for tile in tiles)
    assert mx.abs(mx.stack(tiles) - wanted.transpose(0, 2, 3, 1)).max().item() < TOLERANCE


@cases
@prompts
def test_images_stand_in_prompts_as_with_transformers(case, prompt):
    reader = reader_of(case)
    text = json.loads((REFERENCES / case / "prompts.json").read_text(encoding="utf-8"))[prompt]
    for number in SHOWN[prompt]:
        layout = layout_of(case, number)
        assert layout.markup.count(reader.slot) == layout.rows
        # What was put in may be the mark again, so it is kept out of sight until all are replaced.
        text = text.replace(reader.mark, layout.markup.replace(reader.mark, "\0"), 1)
    tokenizer = Tokenizer.from_file(str(REFERENCES / case / "tokenizer.json"))
    assert tokenizer.encode(text.replace("\0", reader.mark)).ids == expected(case)[f"ids_{prompt}"].tolist()


@cases
@pytest.mark.parametrize("number", [0, 1])
def test_features_are_those_of_transformers(case, number):
    assert distance(features(case, number), expected(case)[f"features_{number}"]) < CLOSE


@cases
@prompts
def test_logits_are_those_of_transformers(case, prompt):
    tokens, placed, shows = shown(case, prompt)
    logits = model_of(case)(tokens, view=View(placed, shows))[0]
    assert distance(logits, expected(case)[f"logits_{prompt}"]) < CLOSE


@cases
def test_chunks_may_end_within_an_image_and_steps_follow_it(case):
    wanted = expected(case)["logits_two"]
    last = len(wanted)
    for edges in ([3, 7, 8, 20], [last // 2, last - 3, last - 2, last - 1], [last - 1]):
        assert distance(logits_in_chunks(case, "two", edges), wanted) < CLOSE


@cases
def test_a_text_alone_is_computed_as_without_a_tower(case):
    tokens = expected(case)["ids_one"][:3][None]
    nothing = View(mx.zeros((1, 3, 32)), mx.zeros((1, 3), mx.bool_))
    assert mx.array_equal(model_of(case)(tokens), model_of(case)(tokens, view=nothing))


def test_an_output_layer_that_is_stored_is_used_whatever_the_config_says(tmp_path):
    folder = shutil.copytree(REFERENCES / "mistral3-ministral", tmp_path / "model")
    config = json.loads((folder / "config.json").read_text()) | {"tie_word_embeddings": True}
    (folder / "config.json").write_text(json.dumps(config))
    tokens = expected("mistral3-ministral")["ids_one"][:3][None]
    assert mx.array_equal(load_folder(folder).model(tokens), model_of("mistral3-ministral")(tokens))


@cases
def test_large_images_are_computed_in_steps(case, monkeypatch):
    steps = list(_steps(case))
    monkeypatch.setattr(stepping, "_ON_CPU", 20_000)
    monkeypatch.setattr(stepping, "_ON_GPU", 20_000)
    short = list(_steps(case))
    assert len(short) > len(steps) + 3
    assert distance(short[-1], steps[-1]) < CLOSE


def _steps(case):
    work = tower_of(case).steps(tiles_of(case, 0), layout_of(case, 0))
    while True:
        try:
            yield next(work)
        except StopIteration as end:
            yield end.value.rows
            return


@pytest.mark.parametrize(
    ("case", "old", "new"),
    [
        ("llava", "vision_tower.", "vision_tower.vision_model."),
        ("llava-next", "vision_tower.", "model.vision_tower.vision_model."),
        ("llava-next", "image_newline", "model.image_newline"),
        ("mistral3", "vision_tower.", "model.vision_tower."),
        ("pixtral", "vision_tower.", "vision_tower.vision_model."),
        ("smolvlm", "model.", ""),
    ],
)
def test_weights_may_have_the_names_of_other_releases(case, old, new):
    stored = mx.load(str(REFERENCES / case / "model.safetensors"))
    found = tower_of(case).sanitize(
        {new + name.removeprefix(old) if name.startswith(old) else name: array for name, array in stored.items()}
    )
    assert found.keys() == tower_of(case).sanitize(stored).keys()


@pytest.mark.parametrize("case", ["llava", "mistral3", "smolvlm"])
@pytest.mark.parametrize("body", ["model.language_model.", "language_model.", "language_model.model.", "text_model."])
@pytest.mark.parametrize("head", ["lm_head.", "language_model.lm_head."])
def test_the_text_model_may_have_the_names_of_other_releases(case, body, head):
    model = model_of(case)
    names = [name.removeprefix("language_model.") for name, _ in tree_flatten(model.parameters())]
    written = [head + name[8:] if name.startswith("lm_head.") else body + name[6:] for name in names]
    assert model.sanitize({name: mx.zeros(1) for name in written}).keys() == {
        f"language_model.{name}" for name in names
    }


@pytest.mark.parametrize("case", ["llava", "granite-vision", "mistral3", "smolvlm"])
def test_activations_have_the_type_of_the_weights(case):
    tower = make_tower(settings(case)[0])
    weights = tower.sanitize(mx.load(str(REFERENCES / case / "model.safetensors")))
    tower.load_weights(list(weights.items()), strict=True)
    found = features_of(tower, tiles_of(case, 0), layout_of(case, 0)).rows
    assert found.dtype == mx.bfloat16
    assert distance(found.astype(mx.float32), features(case, 0)) < 0.1


@cases
def test_kernels_may_be_in_the_layout_of_mlx(case):
    stored = mx.load(str(REFERENCES / case / "model.safetensors"))
    turned = {name: array.transpose(0, 2, 3, 1) if array.ndim == 4 else array for name, array in stored.items()}
    found, wanted = tower_of(case).sanitize(turned), tower_of(case).sanitize(stored)
    assert all(mx.array_equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("name", GEOMETRY)
def test_images_of_many_sizes_take_the_same_places_as_with_transformers(name):
    reader = make_reader(GEOMETRY[name]["config"], GEOMETRY[name]["preprocessor"])
    for width, height, (tiles, _, tall, wide), digest in GEOMETRY[name]["layouts"]:
        layout = reader.lay_out(width, height)
        assert (len(layout.tiles), layout.tiles[0]) == (tiles, (wide, tall)), (width, height)
        assert hashlib.sha256(layout.markup.encode()).hexdigest() == digest, (width, height)


@pytest.mark.parametrize("name", GEOMETRY)
def test_the_usual_settings_are_those_of_the_family(name):
    written, usual = (make_reader(GEOMETRY[name]["config"], kept) for kept in (GEOMETRY[name]["preprocessor"], {}))
    assert written == usual


@pytest.mark.parametrize("name", GEOMETRY)
def test_images_that_are_too_narrow_are_refused(name):
    reader = make_reader(GEOMETRY[name]["config"], GEOMETRY[name]["preprocessor"])
    with pytest.raises(InvalidRequestError, match="An image of 9000 x 3 pixels is too narrow"):
        reader.lay_out(9000, 3)


@pytest.mark.parametrize(
    ("name", "preprocessor", "message"),
    [
        ("llava-1.5", {"size": {"shortest_edge": 0}}, "size.shortest_edge"),
        ("llava-1.5", {"crop_size": {"height": 224, "width": 224}}, "brought to 224 x 224 pixels"),
        ("llava-1.5", {"do_center_crop": False}, "size in the settings for images should have height and width"),
        ("llava-1.5", {"size": {"longest_edge": 336}}, "should have height and width, or shortest_edge"),
        ("llava-1.5", {"image_mean": [1, 2]}, "image_mean"),
        ("llava-1.5", {"rescale_factor": 1}, "something other than 1 / 255"),
        ("llava-1.5", {"resample": 9}, "resample"),
        ("llava-1.5", {"do_resize": False}, "do_resize"),
        ("llava-next", {"image_grid_pinpoints": [[336, 336]]}, "image_grid_pinpoints"),
        ("llava-next", {"size": {"height": 336, "width": 224}}, "size"),
        ("pixtral", {"size": {"longest_edge": 10**9}}, "size.longest_edge"),
        ("pixtral", {"size": {"longest_edge": 8192}}, "262,144 tokens"),
        ("pixtral", {"size": {"shortest_edge": 8}}, "longest_edge"),
        ("mistral-small", {"do_center_crop": True}, "do_center_crop"),
        ("smolvlm", {"max_image_size": {"longest_edge": 500}}, "Tiles of 500 x 500 pixels"),
        ("smolvlm", {"size": {"longest_edge": 8000}}, "longest_edge"),
    ],
)
def test_settings_that_no_reader_follows_are_refused(name, preprocessor, message):
    with pytest.raises(UnsupportedModelError, match=message):
        make_reader(GEOMETRY[name]["config"], preprocessor)


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("llava-1.5", {"model_type": "vit"}, "vit"),
        ("llava-1.5", {"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ("llava-1.5", {"hidden_size": 1000}, "hidden_size"),
        ("pixtral", {"hidden_size": 1000}, "hidden_size"),
        ("smolvlm", {"num_channels": 4}, "num_channels"),
    ],
)
def test_towers_that_no_definition_computes_are_refused(name, changed, message):
    config = GEOMETRY[name]["config"]
    with pytest.raises(UnsupportedModelError, match=message):
        make_tower({**config, "vision_config": {**config["vision_config"], **changed}})


def test_strategies_that_no_tower_follows_are_refused():
    with pytest.raises(UnsupportedModelError, match="vision_feature_select_strategy"):
        make_reader({**GEOMETRY["llava-1.5"]["config"], "vision_feature_select_strategy": "some"}, {})


def test_layers_that_a_tower_does_not_have_are_refused():
    with pytest.raises(UnsupportedModelError, match="vision_feature_layer"):
        make_tower({**GEOMETRY["llava-1.5"]["config"], "vision_feature_layer": -30})
