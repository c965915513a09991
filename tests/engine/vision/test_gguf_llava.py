"""LLaVA as GGUF with the projectors of the first converter: features are those of the checkpoint."""

import json
import random
from pathlib import Path

import mlx.core as mx
import pytest

from llava_projectors import write_llava
from loading import load
from sotto.engine.architectures.towers.tower import normalised
from sotto.engine.config.tower_names import without_tower
from sotto.engine.quantizing.gguf_tensors import plan_quantized
from sotto.images.decoded_image import DecodedImage
from sotto.store.opening import open_model, record_of
from tower_features import features_of

REFERENCES = Path(__file__).parent / "references"


def opened(path):
    return open_model(record_of(path))


def seen(loaded, reader, image):
    layout = reader.lay_out(image.width, image.height)
    tiles = [normalised(tile, reader.normalization) for tile in reader.read(image)]
    return layout, features_of(loaded.tower, tiles, layout).rows


@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
@pytest.mark.parametrize("case", ["llava", "llava-next", "granite-vision"])
def test_features_are_those_of_the_checkpoint(tmp_path, case, named):
    written = json.loads((REFERENCES / case / "config.json").read_text(encoding="utf-8"))
    folder = write_llava(tmp_path, written, REFERENCES / case / "model.safetensors", named=named)
    source = opened(folder)
    assert source.record.capabilities == ("completion", "vision")
    ours, theirs = load(source), load(opened(REFERENCES / case))
    image = DecodedImage(37, 21, random.Random(1).randbytes(37 * 21 * 3))
    (layout, rows), (_, wanted) = (seen(loaded, theirs.reader, image) for loaded in (ours, theirs))
    assert mx.allclose(rows, wanted, atol=1e-5)
    tokens = mx.array([[1, 5, 7, 9]])
    assert mx.allclose(ours.model(tokens), theirs.model(tokens), atol=1e-4)
    # In one picture all of a square image is seen, whatever its margins are.
    assert ours.reader.lay_out(37, 21).rows == layout.rows


def test_a_tower_of_an_unknown_form_leaves_a_model_that_answers_to_text(tmp_path):
    written = json.loads((REFERENCES / "llava" / "config.json").read_text(encoding="utf-8"))
    folder = write_llava(tmp_path, written, REFERENCES / "llava" / "model.safetensors", without="mm.2.bias")
    loaded = load(opened(folder))
    assert loaded.tower is None
    assert "shown to it: the weights lack multi_modal_projector.linear_2.bias, which" in loaded.vision_note
    assert loaded.model(mx.array([[1, 5]])).shape[1] == 2


def test_a_draft_model_has_no_use_for_its_tower(tmp_path):
    written = json.loads((REFERENCES / "llava" / "config.json").read_text(encoding="utf-8"))
    source = opened(write_llava(tmp_path, written, REFERENCES / "llava" / "model.safetensors"))
    assert [file.path.name for file in without_tower(source).tensor_files] == ["model.gguf"]


def test_quantizing_anew_says_that_the_tower_is_left_out(tmp_path):
    written = json.loads((REFERENCES / "llava" / "config.json").read_text(encoding="utf-8"))
    folder = write_llava(tmp_path, written, REFERENCES / "llava" / "model.safetensors")
    notes = plan_quantized(folder / "model.gguf", "int8").notes
    assert any("tower for images is left out" in note for note in notes)
