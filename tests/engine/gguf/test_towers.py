"""Towers for images in GGUF files: their tensors and configs are those of the checkpoints they were converted from."""

import json
import shutil
from pathlib import Path

import gguf
import mlx.core as mx
import numpy as np
import pytest

from named_numbers import named_numbers
from ollama_towers import ARCHITECTURES, write_as_ollama
from sotto.engine.gguf.conversion import convert
from sotto.engine.gguf.tensor_reading import steps
from sotto.engine.weights.tower_loading import loadable_tower
from sotto.errors import BrokenModelError
from sotto.store.opening import open_model, record_of

CONVERTED = Path(__file__).parents[1] / "vision" / "converted"
CASES = sorted(path.name for path in CONVERTED.iterdir())
# What transformers ties, or its checkpoints call otherwise.
_UNNAMED = ("embed_tokens", "lm_head", "embedding_norm", "language_model.model.norm", "layer_scalar")


def opened(path):
    return open_model(record_of(path))


def arrays_of(source, on_cpu=True):
    found = {}
    for file in source.tensor_files:
        for arrays, _ in steps(convert(file, source.config, on_cpu=on_cpu), lambda arrays, _: mx.eval(arrays)):
            found |= arrays
    return found


def checkpoint_name(name):
    """The name of a tensor in transformers' memory."""
    name = name.replace("vision_tower.vision_model.", "vision_tower.")
    return name.replace("language_model.model.", "language_model.")


def of_tower(name):
    return not name.startswith("language_model.")


def assert_numbers(arrays, names, language_model="language_model."):
    for name in names:
        array = arrays[name]
        wanted = named_numbers(checkpoint_name(name).replace("language_model.", language_model), array.shape)
        assert np.array_equal(np.array(array.astype(mx.float32)), wanted), name


@pytest.mark.parametrize("case", CASES)
def test_the_tensors_of_a_projector_are_those_of_the_checkpoint(case):
    source = opened(CONVERTED / case)
    arrays = arrays_of(source)
    tower = [name for name in arrays if of_tower(name)]
    stored = gguf.GGUFReader(CONVERTED / case / "mmproj.gguf").tensors
    # Copied from the language model, or joined with another.
    left_out = ("img_break", "v.patch_embd.weight.1", *((".attn_k.", ".attn_v.") if "qwen2" in case else ()))
    assert len(tower) == sum(not any(map(tensor.name.count, left_out)) for tensor in stored)
    assert_numbers(arrays, tower)


@pytest.mark.parametrize("case", [case for case in CASES if case not in ("lfm2-vl", "gemma4")])
def test_the_tensors_of_the_language_model_are_those_of_the_checkpoint(case):
    arrays = arrays_of(opened(CONVERTED / case))
    names = [name for name in arrays if not of_tower(name) and not any(map(name.count, _UNNAMED))]
    assert_numbers(arrays, names, "text_model." if case == "idefics3" else "language_model.")


@pytest.mark.parametrize("case", CASES)
def test_the_config_is_that_of_the_checkpoint(case):
    config = opened(CONVERTED / case).config
    written = json.loads((CONVERTED / case / "config.json").read_text(encoding="utf-8"))
    # Idefics 3 and SmolVLM are told apart by nothing; of what files do not state, makers have one value.
    unstated = {"model_type", "window_size", "rope_theta", "text_config", "vision_config", "layer_norm_eps"}
    for ours, theirs in ((config, written), (config["vision_config"], written["vision_config"])):
        wanted = {key: value for key, value in theirs.items() if key in ours and key not in unstated}
        assert {key: ours[key] for key in wanted} == wanted
    assert config["model_type"] == written["model_type"]
    sections = written["text_config"].get("rope_parameters", {}).get("mrope_section")
    assert config["text_config"].get("rope_parameters", {}).get("mrope_section") == sections


@pytest.mark.parametrize("case", CASES)
def test_models_see_with_what_their_files_hold(case):
    found = loadable_tower(opened(CONVERTED / case))
    assert found.note == ""
    assert found.tower is not None
    assert found.reader is not None
    assert found.reader.lay_out(300, 200).rows > 0


@pytest.mark.parametrize("case", ARCHITECTURES)
def test_a_tower_in_the_file_of_its_model_is_that_of_its_projector(tmp_path, case):
    path = write_as_ollama(tmp_path / "model.gguf", CONVERTED / case / "model.gguf", case)
    source, other = opened(path), opened(CONVERTED / case)
    assert source.record.capabilities == ("completion", "vision")
    arrays, wanted = arrays_of(source), arrays_of(other)
    assert arrays.keys() == wanted.keys()
    assert all(mx.array_equal(arrays[name], wanted[name]) for name in arrays)
    assert source.config == other.config
    if case == "qwen3-vl":
        edges = source.json_files["preprocessor_config.json"].pop("size")
        assert edges == {"shortest_edge": 65536, "longest_edge": 16777216}
        assert source.json_files["preprocessor_config.json"] == other.json_files["preprocessor_config.json"]


def test_without_its_projector_a_model_is_its_language_model(tmp_path):
    path = shutil.copy(CONVERTED / "gemma3" / "model.gguf", tmp_path)
    source = opened(Path(path))
    assert (source.config["model_type"], source.record.capabilities) == ("gemma3_text", ("completion",))
    assert "preprocessor_config.json" not in source.json_files


def test_elsewhere_than_on_a_cpu_a_tower_has_one_type():
    source = opened(CONVERTED / "idefics3")
    arrays = arrays_of(source, on_cpu=False)
    assert {array.dtype for name, array in arrays.items() if of_tower(name)} == {mx.float32}


def rewritten(path, folder, change):
    """Write a projector again with changed tensors, by name; None leaves one out."""
    reader = gguf.GGUFReader(path)
    writer = gguf.GGUFWriter(folder / "mmproj.gguf", "clip")
    for name, field in reader.fields.items():
        if not name.startswith(("GGUF.", "general.architecture")):
            kinds = [*field.types, None]
            writer.add_key_value(name, field.contents(), kinds[0], kinds[1])
    for tensor in reader.tensors:
        for name, array, kind in change(tensor.name, tensor.data):
            writer.add_tensor(name, np.ascontiguousarray(array), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    shutil.copy(path.parent / "model.gguf", folder)
    return folder


def test_feed_forward_parts_that_the_first_converter_swapped_are_put_right(tmp_path):
    def swap(name, array):
        names = {"ffn_up": "ffn_down", "ffn_down": "ffn_up"}
        part = next((part for part in names if part in name), "")
        yield name.replace(part, names.get(part, part)), array, None

    source = opened(rewritten(CONVERTED / "gemma3" / "mmproj.gguf", tmp_path, swap))
    arrays = arrays_of(source)
    assert source.config["vision_config"]["intermediate_size"] == 24
    assert_numbers(arrays, filter(of_tower, arrays))


def test_quantized_towers_are_held_in_16_bits(tmp_path):
    def quantize(name, array):
        kind = gguf.GGMLQuantizationType.Q8_0
        if array.ndim == 2 and array.shape[-1] % 32 == 0:
            yield name, gguf.quantize(array, kind), kind
        else:
            yield name, array, None

    source = opened(rewritten(CONVERTED / "mistral3" / "mmproj.gguf", tmp_path, quantize))
    name = "multi_modal_projector.linear_2.weight"
    array = arrays_of(source)[name]
    assert array.dtype == mx.float16
    assert np.allclose(np.array(array.astype(mx.float32)), named_numbers(name, array.shape), atol=0.01)


def test_parts_that_do_not_fit_each_other_are_refused(tmp_path):
    def cut(name, array):
        yield name, array[..., :-1] if name == "v.patch_embd.weight.1" else array, None

    source = opened(rewritten(CONVERTED / "qwen2-5-vl" / "mmproj.gguf", tmp_path, cut))
    with pytest.raises(BrokenModelError, match=r"v\.patch_embd\.weight has the shape .* it should be kernels of four"):
        arrays_of(source)


def test_more_layers_than_there_are_tensors_for_are_refused(tmp_path):
    def drop(name, array):
        if not name.startswith("v.blk.2."):
            yield name, array, None

    folder = rewritten(CONVERTED / "gemma3" / "mmproj.gguf", tmp_path, drop)
    with pytest.raises(BrokenModelError, match=r"clip\.vision\.block_count is 3; it should be at most 2"):
        opened(folder)
