"""Loading models together with their vision towers."""

import mlx.core as mx
import pytest
from mlx import nn
from mlx.utils import tree_flatten

from checkpoints import LLAMA, Watch, metadata_of, quantize, read_header, source_of, write_blob, write_tensors
from loading import PLENTY, assert_same, load, logits_of, random_weights
from sotto.engine.config.prediction_names import as_used
from sotto.engine.config.tower_names import without_tower
from sotto.engine.footprint.model_needs import needs_of
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.weights import weights
from sotto.errors import BrokenModelError, CancelledError
from tiny_tower import SEEING, seeing_weights, tiny_tower, tower_weights
from tower_features import features_of

__all__ = ["tiny_tower"]
pytestmark = pytest.mark.usefixtures("tiny_tower")
MATRICES = ("_proj.weight", "linear_1.weight", "position_embedding.weight")


def opened(folder, tensors, config=SEEING, json_files=None):
    write_tensors(folder / "model.safetensors", tensors)
    source = source_of([read_header(folder / "model.safetensors")], config)
    source.json_files.update(json_files or {})
    return source


def features(tower, reader, size=16):
    """Return what a tower sees in a picture of noise."""
    mx.random.seed(3)
    return features_of(tower, (mx.random.normal((size, size, 3)),), reader.lay_out(size, size)).rows


def expected(arrays):
    from tiny_tower import make_reader, make_tower

    tower = make_tower(SEEING)
    tower.load_weights(list(arrays.items()), strict=True)
    return features(tower, make_reader(SEEING, {}))


def close(found, wanted, tolerance=1e-4):
    return mx.abs(found.astype(mx.float32) - wanted).max().item() < tolerance


def in_bfloat16(arrays):
    return {name: array.astype(mx.bfloat16) for name, array in arrays.items()}


def in_torch_layout(arrays):
    return {name: array.moveaxis(-1, 1) if array.ndim == 4 else array for name, array in arrays.items()}


@pytest.mark.parametrize("prefix", ["", "model."])
def test_a_tower_is_loaded_beside_its_model(prefix, tmp_path):
    own, tower = random_weights(SEEING), tower_weights()
    stored = {f"{prefix}{name}": array for name, array in in_torch_layout(tower).items()}
    stored["vision_tower.position_ids"] = mx.zeros((64,), mx.int32)
    watch = Watch()
    loaded = load(opened(tmp_path, own | stored), watch)
    assert_same(loaded.model, logits_of(SEEING, own))
    assert close(features(loaded.tower, loaded.reader), expected(tower))
    assert loaded.weight_bytes == sum(array.nbytes for array in (own | tower).values())
    assert watch.events[-1].done == watch.events[-1].total
    assert loaded.vision_note == ""


def test_a_text_only_conversion_does_not_see(tmp_path):
    loaded = load(opened(tmp_path, random_weights(SEEING)))
    assert loaded.tower is loaded.reader is None
    assert loaded.vision_note == ""


def test_a_model_of_a_type_that_does_not_see(tmp_path):
    loaded = load(opened(tmp_path, random_weights(LLAMA), LLAMA))
    assert loaded.tower is loaded.reader is None


def test_16_bit_weights_are_held_as_those_of_the_model(tmp_path):
    tower = tower_weights()
    source = opened(tmp_path, in_bfloat16(random_weights(SEEING) | tower))
    rounded = {name: array.astype(mx.bfloat16).astype(mx.float32) for name, array in tower.items()}
    for limits in (PLENTY, Limits(source.weight_bytes + 1, 2**40, "a test")):
        loaded = load(source, limits=limits)
        found = features(loaded.tower, loaded.reader)
        assert found.dtype == mx.float32
        assert close(found, expected(rounded), 1e-3)
        assert loaded.tower.vision_tower.post_layernorm.weight.dtype == mx.float32
        kernel = loaded.tower.vision_tower.patch_embedding.weight
        assert kernel.dtype == (mx.float32 if limits is PLENTY else mx.bfloat16)


def test_quantized_towers_of_mlx_community(tmp_path):
    tower, stored, rounded = tower_weights(), {}, {}
    for name, array in tower.items():
        if name.endswith(MATRICES):
            base, (words, scales, biases) = name.removesuffix(".weight"), mx.quantize(array, group_size=32, bits=4)
            stored |= {name: words, f"{base}.scales": scales, f"{base}.biases": biases}
            rounded[name] = mx.dequantize(words, scales, biases, group_size=32, bits=4)
        else:
            stored[name] = rounded[name] = array
    config = SEEING | {
        "quantization": {"group_size": 64, "bits": 4, "vision_tower.layers.0.q_proj": {"group_size": 32, "bits": 4}}
    }
    loaded = load(opened(tmp_path, random_weights(SEEING) | stored, config))
    assert isinstance(loaded.tower.vision_tower.layers[0].q_proj, nn.QuantizedLinear)
    assert close(features(loaded.tower, loaded.reader), expected(rounded), 1e-3)


def test_towers_in_layers_of_ollama(tmp_path):
    """Each tensor is a blob; a tower is usually not quantized, but its layers may be."""
    files, rounded = [], {}
    for name, array in (random_weights(SEEING) | tower_weights()).items():
        if name.endswith("out_proj.weight"):
            tensors, rounded[name] = quantize(f"model.{name}", array, "int8")
            files.append(write_blob(tmp_path, tensors, metadata_of("int8")))
        else:
            files.append(write_blob(tmp_path, {f"model.{name}" if "vision_tower" in name else name: array}))
    loaded = load(source_of(files, SEEING))
    assert close(features(loaded.tower, loaded.reader), expected(tower_weights() | rounded), 1e-3)


@pytest.mark.parametrize(
    ("json_files", "most"),
    [
        ({}, 32),
        ({"preprocessor_config.json": {"size": 16}}, 16),
        ({"processor_config.json": {"image_processor": {"size": 8}}, "preprocessor_config.json": {"size": 16}}, 8),
        ({"processor_config.json": {"processor_class": "Any"}, "preprocessor_config.json": {"size": 16}}, 16),
        ({"processor_config.json": {"image_processor": "hostile"}}, 32),
    ],
)
def test_the_reader_reads_the_settings_of_the_preprocessor(json_files, most, tmp_path):
    assert load(opened(tmp_path, seeing_weights(), json_files=json_files)).reader.most == most


class TestRefusals:
    @pytest.fixture
    def stored(self):
        return seeing_weights()

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            (
                lambda stored: stored.pop("vision_tower.layers.1.q_proj.weight"),
                "the weights lack vision_tower.layers.1.q_proj.weight, which config.json calls for.",
            ),
            (
                lambda stored: stored.update({"vision_tower.layers.2.q_proj.weight": mx.zeros((64, 64))}),
                "the weights hold vision_tower.layers.2.q_proj.weight, which the definition of this architecture has "
                "no place for.",
            ),
            (
                lambda stored: stored.update(image_newline=mx.zeros((65,))),
                "image_newline is 65, but config.json calls for 64.",
            ),
            (
                lambda stored: stored.update({"vision_tower.patch_embedding.weight": mx.zeros((64,))}),
                "the weights are not laid out as the definition of this architecture expects: ",
            ),
            (
                lambda stored: stored.update({"vision_tower.layers.0.q_proj.weight": mx.zeros((64, 64), mx.int32)}),
                "vision_tower.layers.0.q_proj.weight is stored as int32 without scales; it should be a floating-point "
                "type or come with scales.",
            ),
        ],
    )
    def test_a_tower_whose_tensors_do_not_fit_leaves_the_model_its_text(self, tmp_path, stored, change, why):
        change(stored)
        source = opened(tmp_path, stored)
        loaded = load(source)
        assert loaded.tower is loaded.reader is None
        assert loaded.vision_note.startswith(f"Images are not shown to it: {why}")
        own = random_weights(SEEING)
        assert_same(loaded.model, logits_of(SEEING, own))
        assert loaded.weight_bytes == sum(array.nbytes for array in own.values())
        assert needs_of(source, PLENTY).weight_bytes == loaded.weight_bytes

    def test_a_tower_that_cannot_be_computed_leaves_the_model_its_text(self, tmp_path, stored):
        config = SEEING | {"vision_config": SEEING["vision_config"] | {"model_type": "other"}}
        loaded = load(opened(tmp_path, stored, config))
        assert loaded.tower is loaded.reader is None
        assert loaded.vision_note == "Its tower is 'other' (vision_config); it should be 'tiny'."
        assert loaded.weight_bytes == sum(array.nbytes for array in random_weights(SEEING).values())

    def test_a_config_that_describes_no_tower(self, tmp_path, stored):
        config = SEEING | {"vision_config": {"hidden_size": 64}}
        note = load(opened(tmp_path, stored, config)).vision_note
        assert note == "Its config.json does not describe a vision tower that can be built: 'image_size' is missing."

    def test_nothing_is_held_after_loading_was_stopped(self, tmp_path, stored):
        source = opened(tmp_path, stored)
        before = mx.get_active_memory()
        with pytest.raises(CancelledError) as stopped:
            load(source, Watch(stop_after=2))
        assert mx.get_active_memory() < before + source.weight_bytes / 50
        del stopped

    def test_nothing_is_held_while_a_sentence_is_shown(self, tmp_path, stored):
        del stored[next(name for name in stored if name.endswith("self_attn.q_proj.weight"))]
        source = opened(tmp_path, stored)
        before = mx.get_active_memory()
        with pytest.raises(BrokenModelError) as refused:
            load(source)
        assert mx.get_active_memory() < before + source.weight_bytes / 50
        del refused


def test_draft_models_are_loaded_without_their_towers(tmp_path):
    source = opened(tmp_path, seeing_weights())
    model, draft = as_used(source, source, prediction=True)
    assert weights.of_tower(model)
    assert weights.of_tower(draft) == ()
    loaded = load(without_tower(source))
    assert loaded.tower is None
    assert {name for name, _ in tree_flatten(loaded.model.parameters())} == random_weights(SEEING).keys()
