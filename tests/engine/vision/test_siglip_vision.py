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
from generating import PLENTY, add, drain, task
from pictures import picture
from sotto.engine.architectures.image_view import View
from sotto.engine.architectures.towers.tower import Features, normalised
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.generation.chunk_sizing import ChunkSize, ChunkSizing
from sotto.engine.generation.looking import Vision
from sotto.engine.generation.scheduler import Scheduler
from sotto.engine.vision.image_reader import ImageLayout, ReadImage
from sotto.engine.vision.prompt_images import PromptImage
from sotto.engine.vision.reader_choice import make_reader
from sotto.images.decoded_image import DecodedImage
from tower_features import features_of
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
def images_of(case: str, number: int) -> list[ReadImage]:
    """Return the images of a prompt with the pixels that transformers computes."""
    reader, found, at = reader_of(case), [], 0
    pixels = prompt_of(case, number).pixels
    for size in prompt_of(case, number).sizes:
        layout, tiles = reader.lay_out(*size), []
        for width, height in layout.tiles:
            tiles.append(tile_of(case, pixels[at : at + width * height * 3], width, height))
            at += width * height * 3
        found.append(ReadImage(layout, tuple(tiles), f"{case} {size}"))
    assert at == pixels.size
    return found


def tile_of(case: str, stored: mx.array, width: int, height: int) -> DecodedImage:
    """Return a piece from bytes in the order of the processor's tensors: pixels, or patches of pixels."""
    if patch := {"gemma3": 0, "gemma4-unified": 12}.get(case, 4):
        patches = stored.reshape(height // patch, width // patch, patch, patch, 3)
        stored = patches.transpose(0, 2, 1, 3, 4).reshape(-1)
    return DecodedImage(width, height, bytes(memoryview(mx.contiguous(stored))))


@cache
def seen(case: str, number: int) -> list[tuple[Features, ImageLayout]]:
    """Return the features of a prompt's images with their layouts."""
    found = []
    for image in images_of(case, number):
        tiles = [normalised(tile, reader_of(case).normalization) for tile in image.tiles]
        found.append((features_of(loaded(case).tower, tiles, image.layout), image.layout))
    return found


def slot_of(case: str) -> int:
    return Tokenizer.from_file(str(FOLDER / case / "tokenizer.json")).token_to_id(reader_of(case).slot)


def prompt_in_view(case: str, number: int) -> tuple[mx.array, View]:
    return show(prompt_of(case, number).ids, slot_of(case), seen(case, number), both_ways=reader_of(case).both_ways)


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
    reader = reader_of(case)
    for size, image in zip(prompt_of(case, number).sizes, images_of(case, number), strict=True):
        tiles = reader.read(picture(*size))
        assert [(tile.width, tile.height) for tile in tiles] == list(image.layout.tiles)
        for found, wanted in zip(tiles, image.tiles, strict=True):
            pairs = zip(found.pixels, wanted.pixels, strict=True)
            assert max(abs(one - other) for one, other in pairs) <= (1 if case in ROUGHLY else 0)


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


class Engine:
    """The engine's own way with images, from pseudo-tokens to logits.

    Attributes:
        looks: How often the tower has begun to look at an image.
    """

    def __init__(self, case: str) -> None:
        self._case, self._model = case, loaded(case).model
        self._prefix = PrefixCache(lambda: make_caches(self._model), PLENTY)
        self._vision = Vision(self, reader_of(case), lambda: PLENTY, lambda *_: None)
        self.looks = 0

    def steps(self, tiles, layout):
        self.looks += 1
        return loaded(self._case).tower.steps(tiles, layout)

    def answer(self, number: int, length: int) -> mx.array:
        """Answer the first `length` tokens of a prompt with the others, and return the logits for each of them."""
        images = tuple(PromptImage.of(image) for image in images_of(self._case, number))
        rows, slot = iter([token for image in images for token in image.tokens]), slot_of(self._case)
        ids = [next(rows) if token == slot else token for token in prompt_of(self._case, number).ids]
        forced = Forced([*ids[length:], 2])
        sizing = ChunkSizing(ChunkSize(largest=24))
        running = Scheduler(self._model, self._prefix, sizing, vision=self._vision)
        add(running, task(ids[:length], len(ids) - length + 1, sampler=forced, images=images))
        assert list(drain(running)[-1].token_ids) == [*ids[length:], 2]
        return mx.stack(forced.rows)


class Forced:
    """Draws given tokens, and keeps the logits."""

    def __init__(self, tokens: list[int]) -> None:
        self._tokens, self.rows = iter(tokens), []

    def sample(self, logits):
        self.rows.append(logits[0])
        return mx.array([next(self._tokens)])

    def fork(self):
        return self


@cases
def test_the_engine_answers_as_transformers_does_also_when_it_knows_the_images(case):
    engine = Engine(case)
    for number, looks in ((0, 1), (1, 3), (0, 3), (1, 3)):
        wanted = prompt_of(case, number).logits
        length = len(wanted) - 4
        assert distance(engine.answer(number, length), wanted[length - 1 :]) < TOLERANCE
        assert engine.looks == looks
