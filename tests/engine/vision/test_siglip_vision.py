"""Gemma 3, Gemma 4 and LFM2-VL against transformers, at tiny random size: pixels, prompts, features and logits.

The references are made by packaging/references/make_vision_siglip.py.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from tokenizers import Tokenizer

from checkpoints import load_folder
from pictures import picture
from sotto.engine.architectures.towers.tower import features_of, normalised
from sotto.engine.caches.caches import make_caches
from sotto.engine.vision.reader_choice import make_reader
from views import cut, show

FOLDER = Path(__file__).parent / "references"
CASES = ("gemma3", "gemma4", "gemma4-both-ways", "gemma4-unified", "lfm2-vl")
# transformers resizes images for these with torchvision alone, which rounds some values to the next.
ROUGHLY = ("lfm2-vl",)
TOLERANCE = 1e-3
cases = pytest.mark.parametrize("case", CASES)
prompts = pytest.mark.parametrize("number", [0, 1])


@dataclass
class Prompt:
    """A prompt with its images, and what transformers makes of it."""

    text: str
    written: str
    sizes: list[list[int]]
    ids: list[int]
    logits: mx.array
    features: mx.array
    pixels: mx.array


@cache
def config(case: str) -> dict[str, Any]:
    return json.loads((FOLDER / case / "config.json").read_text(encoding="utf-8"))


@cache
def reader_of(case: str):
    preprocessor = json.loads((FOLDER / case / "preprocessor_config.json").read_text(encoding="utf-8"))
    return make_reader(config(case), preprocessor)


@cache
def prompt_of(case: str, number: int) -> Prompt:
    told = json.loads((FOLDER / case / "expected.json").read_text(encoding="utf-8"))[number]
    arrays = mx.load(str(FOLDER / case / "expected.safetensors"))
    found = {name: arrays[f"{number}.{name}"] for name in ("logits", "features", "pixels")}
    return Prompt(told["prompt"], told["text"], told["sizes"], arrays[f"{number}.ids"].tolist(), **found)


@cache
def loaded(case: str):
    return load_folder(FOLDER / case)


@cache
def seen(case: str, number: int):
    """Return the features of a prompt's images with their layouts, from the pixels that transformers computes."""
    reader, found, at = reader_of(case), [], 0
    pixels = prompt_of(case, number).pixels
    for size in prompt_of(case, number).sizes:
        layout, tiles = reader.lay_out(*size), []
        for width, height in layout.tiles:
            tiles.append(tile_of(case, pixels[at : at + width * height * 3], width, height))
            at += width * height * 3
        found.append((features_of(loaded(case).tower, tiles, layout), layout))
    assert at == pixels.size
    return found


def tile_of(case: str, stored: mx.array, width: int, height: int) -> mx.array:
    """Return a piece [H, W, 3], normalised, from bytes in the order of the processor's tensors."""
    patch = {"gemma3": 0, "gemma4-unified": 12}.get(case, 4)
    if patch:
        shape = (height // patch, width // patch, patch, patch, 3)
        stored = stored.reshape(shape).transpose(0, 2, 1, 3, 4).reshape(height, width, 3)
    scale = reader_of(case).normalization
    return (stored.reshape(height, width, 3) / 255 - mx.array(scale.mean)) / mx.array(scale.std)


def prompt_in_view(case: str, number: int):
    prompt, reader = prompt_of(case, number), reader_of(case)
    slot = Tokenizer.from_file(str(FOLDER / case / "tokenizer.json")).token_to_id(reader.slot)
    return show(prompt.ids, slot, seen(case, number), both_ways=reader.both_ways)


def in_chunks(case: str, number: int, borders: list[int]) -> mx.array:
    """Feed a prompt in chunks with these borders, then token by token, and return all logits [T, V]."""
    tokens, view = prompt_in_view(case, number)
    model, rows, start = loaded(case).model, [], 0
    caches = make_caches(model)
    for border in borders:
        rows.append(model(tokens[:, start:border], cache=caches, view=cut(view, start, border))[0])
        mx.eval(rows[-1], [one.state for one in caches])
        start = border
    for place in range(start, tokens.shape[1]):
        assert not view.shows[0, place].item()
        rows.append(model(tokens[:, place : place + 1], cache=caches)[0])
    return mx.concatenate(rows)


def distance(found: mx.array, wanted: mx.array) -> float:
    assert found.shape == wanted.shape
    return mx.abs(found - wanted).max().item()


@cases
@prompts
def test_pixels_are_those_of_transformers(case, number):
    prompt, reader = prompt_of(case, number), reader_of(case)
    at, steps = 0, 0
    for width, height in prompt.sizes:
        tiles = reader.read(picture(width, height))
        assert [(tile.width, tile.height) for tile in tiles] == list(reader.lay_out(width, height).tiles)
        for tile in tiles:
            wanted = tile_of(case, prompt.pixels[at : at + len(tile.pixels)], tile.width, tile.height)
            at += len(tile.pixels)
            different = mx.abs(normalised(tile, reader.normalization) - wanted) * 255 * reader.normalization.std[0]
            steps = max(steps, round(different.max().item(), 2))
    assert steps <= (1 if case in ROUGHLY else TOLERANCE)


@cases
@prompts
def test_prompts_are_written_out_as_by_transformers(case, number):
    prompt, reader = prompt_of(case, number), reader_of(case)
    before, *after = prompt.text.split(reader.mark)
    layouts = [reader.lay_out(*size) for size in prompt.sizes]
    assert before + "".join(layout.markup + text for layout, text in zip(layouts, after, strict=True)) == prompt.written
    assert [layout.markup.count(reader.slot) for layout in layouts] == [layout.rows for layout in layouts]


@pytest.mark.parametrize("case", [case for case in CASES if case != "gemma3"])
def test_the_original_settings_give_images_as_many_tokens_as_transformers_does(case):
    kind = config(case)["model_type"]
    reader = make_reader({"model_type": kind, "vision_config": {}, "text_config": {}}, {})
    told = json.loads((FOLDER / case / "layouts.json").read_text(encoding="utf-8"))
    assert len(told) > 10
    assert [[width, height, reader.lay_out(width, height).rows] for width, height, _ in told] == told


@cases
@prompts
def test_features_are_those_of_transformers(case, number):
    found = mx.concatenate([features.rows for features, _ in seen(case, number)])
    assert distance(found, prompt_of(case, number).features) < TOLERANCE


@cases
@prompts
def test_logits_are_those_of_transformers_without_caches(case, number):
    tokens, view = prompt_in_view(case, number)
    assert distance(loaded(case).model(tokens, view=view)[0], prompt_of(case, number).logits) < TOLERANCE


@cases
@prompts
def test_logits_are_those_of_transformers_in_one_chunk_and_steps(case, number):
    _, view = prompt_in_view(case, number)
    last = max(place for place, shows in enumerate(view.shows[0].tolist()) if shows) + 1
    assert len(prompt_of(case, number).ids) > last + 3
    assert distance(in_chunks(case, number, [last]), prompt_of(case, number).logits) < TOLERANCE


@cases
def test_logits_are_those_of_transformers_in_chunks(case):
    _, view = prompt_in_view(case, 1)
    shown = [place for place, shows in enumerate(view.shows[0].tolist()) if shows]
    if reader_of(case).both_ways:
        # Between the images, and within the text before the second.
        (_, end), (start, last) = view.together
        borders = [end, start - 3, last + 2]
    else:
        borders = [7, 8, *range(20, shown[-1], 13), shown[-1] + 1]
    assert distance(in_chunks(case, 1, borders), prompt_of(case, 1).logits) < TOLERANCE
