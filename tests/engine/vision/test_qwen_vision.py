"""Models of Qwen and GLM that see, against transformers, at tiny random size.

The references are made by packaging/references/make_vision_qwen.py.
"""

import json
from functools import cache

import mlx.core as mx
import pytest

from checkpoints import load_folder
from places import TESTS
from sotto.engine.architectures.cache_types import FullKVCache
from sotto.engine.architectures.towers.tower import features_of, normalised
from sotto.engine.caches.caches import make_caches
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.engine.vision.reader_choice import make_reader
from sotto.errors import InvalidRequestError, UnsupportedModelError
from sotto.images.decoded_image import DecodedImage
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


def logits_of(case, prompt, sizes):
    """Feed a prompt in chunks of these sizes, the last one over and over, without views once the images are over."""
    model, wanted = loaded(case).model, expected(case)
    ids = wanted[f"{prompt}.ids"].tolist()
    slot = read_json(case, "config.json")["image_token_id"]
    tokens, view = show(ids, slot, seen(case, prompt), multi_axis=True)
    caches = make_caches(model)
    shift = view.positions[0, -1].item() + 1 - len(ids)
    last, rows, done, sizes = max(place for place, one in enumerate(ids) if one == slot), [], 0, list(sizes)
    while done < len(ids):
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        chunk = tokens[:, done : done + size]
        if done > last:
            for one in caches:
                if isinstance(one, FullKVCache):
                    one.shift = shift
            rows.append(model(chunk, cache=caches)[0])
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
    ],
)
def test_settings_of_the_processor_that_make_no_sense_are_refused(change, named):
    with pytest.raises(UnsupportedModelError, match=named):
        make_reader(
            read_json("qwen2-5-vl", "config.json"), {**read_json("qwen2-5-vl", "preprocessor_config.json"), **change}
        )
