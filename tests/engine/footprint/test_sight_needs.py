"""What seeing an image needs is planned before a model is loaded, and as much is taken when it is seen."""

import math
from dataclasses import replace

import mlx.core as mx
import pytest

from checkpoints import read_header, source_of, write_tensors
from loading import PLENTY, load
from sotto.engine.config.tower_names import without_tower
from sotto.engine.footprint.load_planning import Fitting
from sotto.engine.footprint.model_needs import needs_of
from sotto.engine.footprint.sight_needs import sight_points
from sotto.engine.footprint.traced_kernels import traceable
from sotto.engine.kernels import native
from sotto.engine.kernels.cpu_linear import adapt_to_cpu
from sotto.engine.memory.memory_needs import USUAL_IMAGE
from sotto.engine.memory.memory_plan import FULL, Limits, Verdict, plan
from tiny_tower import SEEING, seeing_weights, tiny_tower, tower_weights
from tower_features import features_of

__all__ = ["tiny_tower"]
pytestmark = pytest.mark.usefixtures("tiny_tower")
# Images of 256 x 256 pixels and more are resized to 128 x 128.
SEES = SEEING | {"vision_config": SEEING["vision_config"] | {"image_size": 128, "hidden_size": 128}}


def opened(folder, dtype=mx.float32, config=SEES):
    tensors = {name: array.astype(dtype) for name, array in seeing_weights(config).items()}
    write_tensors(folder / "model.safetensors", tensors)
    return source_of([read_header(folder / "model.safetensors")], config)


def taken(loaded, width, height):
    """Return the peak of seeing an image beside the weights."""
    layout = loaded.reader.lay_out(width, height)
    ((across, down),) = layout.tiles
    tile = mx.random.normal((down, across, 3))
    mx.eval(tile)
    mx.clear_cache()
    before = mx.get_active_memory() - tile.nbytes
    mx.reset_peak_memory()
    features = features_of(loaded.tower, (tile,), layout)
    return mx.get_peak_memory() - before, features.nbytes


@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_as_much_is_taken_as_was_planned(tmp_path, dtype):
    source = opened(tmp_path, dtype)
    needs = needs_of(source, PLENTY, native.kernels())
    loaded = load(source)
    adapt_to_cpu(loaded.tower)
    assert needs.weight_bytes == loaded.weight_bytes
    (point,) = needs.sight
    # On a busy machine MLX is less ahead of what it computes, and frees memory sooner than planned.
    found = [taken(loaded, 2048, 2048) for _ in range(5)]
    peak, features = max(found)
    assert point.features == features
    assert 0.97 * peak <= point.nbytes <= 1.25 * peak


def test_needs_are_remembered_with_those_of_images(tmp_path):
    source = opened(tmp_path)
    assert needs_of(source, PLENTY) == needs_of(source, PLENTY)
    assert needs_of(source, PLENTY).sight


def test_the_settings_of_the_preprocessor_matter(tmp_path):
    source = opened(tmp_path)
    smaller = replace(source, json_files=source.json_files | {"preprocessor_config.json": {"size": 64}})
    assert needs_of(smaller, PLENTY).sight[-1].nbytes < needs_of(source, PLENTY).sight[-1].nbytes / 4


def test_models_without_a_tower_need_what_they_did(tmp_path):
    source = opened(tmp_path)
    blind, seeing = needs_of(without_tower(source), PLENTY), needs_of(source, PLENTY)
    assert blind.sight == ()
    assert blind.work_bytes(64, 32) == blind.text_work_bytes(64, 32) == seeing.text_work_bytes(64, 32)
    tower = sum(array.nbytes for array in tower_weights(SEES).values())
    assert seeing.weight_bytes - blind.weight_bytes == tower
    assert (blind.layers, blind.work) == (seeing.layers, seeing.work)
    made = plan(blind, Limits(2**40, 2**40, "a test"))
    assert made.largest_image is None


class TestPlans:
    @pytest.fixture
    def needs(self, tmp_path):
        # Positions for images of up to 1024 x 1024 pixels: seeing them takes far more than the rest.
        config = SEES | {"vision_config": SEES["vision_config"] | {"image_size": 512}}
        return needs_of(opened(tmp_path, config=config), PLENTY)

    def budget_for(self, needs, pixels):
        beside = max(needs.loading_bytes, needs.cache_bytes(256) + needs.work_bytes(256, 256, pixels))
        return math.ceil((needs.weight_bytes + beside) / FULL) + 1

    def test_the_largest_image_that_fits_is_told(self, needs):
        # The same for larger images, all of them larger than usual ones.
        needs = replace(needs, sight=tuple(replace(each, pixels=each.pixels << 6) for each in needs.sight))
        smallest, largest = needs.sight[0].pixels, needs.sight[-1].pixels
        for pixels in (smallest, largest * 3 // 4):
            made = plan(needs, Limits(self.budget_for(needs, pixels), 2**40, "a test"), 256)
            assert made.largest_image == pytest.approx(pixels, rel=0.01)
            assert Fitting(made.limits, made).largest_image == made.largest_image
            assert Fitting(made.limits, made, anyway=True).largest_image is None

    def test_any_image_fits_into_plenty(self, needs):
        assert plan(needs, PLENTY).largest_image is None

    def test_there_is_room_for_a_usual_image_whenever_the_model_fits(self, needs):
        needed = needs.weight_bytes + needs.cache_bytes(256) + needs.work_bytes(256, 32)
        for budget, verdict in ((needed, Verdict.TIGHT), (needed - 1, Verdict.WILL_NOT_FIT)):
            made = plan(needs, Limits(budget, 2**40, "a test"), 256)
            assert made.verdict is verdict
            assert made.largest_image is None or made.largest_image >= min(USUAL_IMAGE, needs.sight[-1].pixels)

    def test_text_takes_what_is_left_beside_an_image(self, needs):
        text = replace(needs, sight=())
        assert needs.work_bytes(256, 32) > text.work_bytes(256, 32)
        budget = Limits(self.budget_for(text, 0), 2**40, "a test")
        assert plan(text, budget, 256).verdict is Verdict.TIGHT
        assert plan(needs, budget, 256).verdict is Verdict.WILL_NOT_FIT

    def test_images_that_see_both_ways_are_fed_whole(self, needs):
        whole = replace(needs, sight=tuple(replace(each, nbytes=0, features=0, whole=200) for each in needs.sight))
        assert whole.work_bytes(256, 32) == whole.text_work_bytes(256, 200) > whole.text_work_bytes(256, 32)


def test_only_the_first_steps_of_large_images_are_traced(tmp_path, monkeypatch):
    source = opened(tmp_path, config=SEES | {"vision_config": SEES["vision_config"] | {"image_size": 512}})
    loaded = load(source)
    with traceable(None):
        traced = list(sight_points(loaded.tower, loaded.reader))
        monkeypatch.setattr("sotto.engine.footprint.sight_needs._MOST_OPERATIONS", 1)
        guessed = list(sight_points(loaded.tower, loaded.reader))
    assert guessed[0] == traced[0]
    assert [(each.pixels, each.features) for each in guessed] == [(each.pixels, each.features) for each in traced]
    for first, whole in zip(guessed, traced, strict=True):
        assert 0.95 * whole.nbytes <= first.nbytes <= 2 * whole.nbytes
