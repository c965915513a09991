"""The conversion of a GGUF file gives the planned tensors, on a CPU and on a GPU."""

import dataclasses

import gguf
import mlx.core as mx
import numpy as np
import pytest

from checkpoints import LLAMA, QWEN3_MOE
from gguf_writing import write_model
from loading import random_weights
from sotto.engine.gguf.conversion import convert, describe_repacking
from sotto.engine.gguf.gguf_names import place_of
from sotto.engine.gguf.tensor_reading import steps
from sotto.engine.weights import weights
from sotto.errors import BrokenModelError
from sotto.store.opening import open_model, record_of

Q = gguf.GGMLQuantizationType
NAMES = {"F32": mx.float32, "F16": mx.float16, "BF16": mx.bfloat16, "U32": mx.uint32, "U8": mx.uint8}


def source(folder, kind=Q.F32, config=LLAMA):
    stored = {name: np.array(array) for name, array in random_weights(config).items()}
    return open_model(record_of(write_model(folder / "model.gguf", config, stored, kind)))


def read(file):
    found, total = {}, 0
    for tensors, nbytes in steps(file, weights.evaluate):
        found |= tensors
        total += nbytes
    return found, total


@pytest.mark.parametrize("on_cpu", [True, False])
@pytest.mark.parametrize("kind", [Q.F32, Q.F16, Q.BF16, Q.Q4_1, Q.Q5_0, Q.Q8_0, Q.MXFP4], ids=lambda kind: kind.name)
def test_the_tensors_read_are_the_planned_ones(tmp_path, kind, on_cpu):
    opened = source(tmp_path, kind, QWEN3_MOE)
    (whole,) = opened.tensor_files
    file = convert(whole, opened.config, on_cpu=on_cpu)
    found, total = read(file)
    assert {name: (array.shape, array.dtype) for name, array in found.items()} == {
        name: (tensor.shape, NAMES[tensor.dtype]) for name, tensor in file.tensors.items()
    }
    assert sum(array.nbytes for array in found.values()) == file.nbytes
    assert total == file.read_bytes == whole.nbytes


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(Q.F32, mx.float32), (Q.F16, mx.float16), (Q.BF16, mx.bfloat16), (Q.Q8_0, mx.bfloat16)],
    ids=lambda kind: getattr(kind, "name", None),
)
def test_on_a_gpu_all_tensors_have_one_type(tmp_path, kind, dtype):
    opened = source(tmp_path, kind, QWEN3_MOE)
    found, _ = read(convert(opened.tensor_files[0], opened.config, on_cpu=False))
    assert {array.dtype for array in found.values()} - {mx.uint32} == {dtype}


def test_on_a_cpu_unquantized_tensors_keep_their_types(tmp_path):
    opened = source(tmp_path, Q.F16)
    found, _ = read(convert(opened.tensor_files[0], opened.config, on_cpu=True))
    assert {array.dtype for name, array in found.items() if "norm" in name} == {mx.float32}
    assert {array.dtype for name, array in found.items() if "norm" not in name} == {mx.float16}


def test_the_size_of_slices_makes_no_difference(tmp_path, monkeypatch):
    from sotto.engine.gguf import tensor_reading

    opened = source(tmp_path, Q.Q4_0)
    file = convert(opened.tensor_files[0], opened.config, on_cpu=True)
    whole, _ = read(file)
    monkeypatch.setattr(tensor_reading, "_SLICE_ELEMENTS", 96)
    sliced, _ = read(file)
    assert all(mx.array_equal(sliced[name], array) for name, array in whole.items())


def test_two_tensors_for_one_place_are_refused(tmp_path):
    opened = source(tmp_path)
    path = opened.tensor_files[0].path
    path.write_bytes(path.read_bytes().replace(b"blk.1.attn_k.weight", b"blk.0.attn_k.weight"))
    with pytest.raises(BrokenModelError, match="twice"):
        open_model(record_of(path))
    path.write_bytes(path.read_bytes().replace(b"blk.0.attn_k.weight", b"blk.1.attn_k.weight", 1))
    (whole,) = opened.tensor_files
    twin = {"blk.0.attn_out.weight": whole.tensors["blk.0.attn_output.weight"], **whole.tensors}
    with pytest.raises(BrokenModelError, match=r"two of its tensors are model\.layers\.0\.self_attn\.o_proj\.weight"):
        convert(dataclasses.replace(whole, tensors=twin), opened.config, on_cpu=True)


@pytest.mark.parametrize("name", ["v.blk.0.attn_q.weight", "mm.input_projection.weight", "rope_freqs.weight"])
def test_vision_tensors_and_rope_factors_are_ignored(name):
    assert place_of(name, {"model_type": "gemma3_text"}) is None


@pytest.mark.parametrize(
    "name", ["blk.0.attn_x.weight", "blk.x.attn_q.weight", "model.norm", "blk.0.ffn_gate.0.weight"]
)
def test_unknown_names_stay_as_they_are(name):
    assert place_of(name, {"model_type": "llama", "num_hidden_layers": 1}).name == name


def test_layers_after_those_that_are_counted_are_ignored():
    config = {"model_type": "glm4_moe", "num_hidden_layers": 2}
    assert place_of("blk.1.ffn_norm.weight", config) is not None
    assert place_of("blk.2.nextn.eh_proj.weight", config) is None


def test_the_description_of_an_unquantized_model_is_empty(tmp_path):
    opened = source(tmp_path)
    assert describe_repacking(opened.tensor_files) == ""
    assert describe_repacking([convert(opened.tensor_files[0], opened.config, on_cpu=True)]) == ""
