"""Native kernels put the bytes of GGUF blocks in the order that MLX's own operations put them in."""

import gguf
import mlx.core as mx
import numpy as np
import pytest

from checkpoints import LLAMA
from gguf_writing import random_blocks, write_model
from loading import random_weights
from sotto.engine.gguf.conversion import Recipe, convert
from sotto.engine.gguf.gguf_names import Order, Place
from sotto.engine.gguf.kept import BLOCK_SIZE, KEPT, split
from sotto.engine.gguf.regrouping import can_regroup, regroup
from sotto.engine.gguf.repack import Layout
from sotto.engine.gguf.tensor_reading import steps
from sotto.engine.kernels import native
from sotto.store.opening import open_model, record_of
from sotto.store.records import TensorInfo

TYPES = gguf.GGMLQuantizationType
pytestmark = pytest.mark.skipif(native.kernels() is None, reason="this machine has no native kernels")


def evaluate(arrays, _name):
    mx.eval(arrays)


def read(file, kernels):
    found = {}
    for tensors, _ in steps(file, evaluate, kernels):
        found |= tensors
    return found


@pytest.mark.parametrize("kind", [TYPES.Q4_0, TYPES.Q4_1, TYPES.Q8_0, TYPES.MXFP4, TYPES.F16, TYPES.BF16, None])
def test_the_tensors_of_a_file_have_the_bytes_that_mlx_gives_them(tmp_path, kind):
    weights = {name: np.array(array) for name, array in random_weights(LLAMA).items()}
    path = write_model(tmp_path / "model.gguf", LLAMA, weights, *([] if kind is None else [kind]))
    source = open_model(record_of(path))
    (file,) = (convert(file, source.config, on_cpu=True) for file in source.tensor_files)
    assert any(can_regroup(recipe) and recipe.place.order for recipe in file.recipes)
    mine, expected = read(file, native.kernels()), read(file, None)
    assert mine.keys() == expected.keys() == file.tensors.keys()
    for name, array in expected.items():
        assert mine[name].dtype == array.dtype
        assert mine[name].shape == array.shape
        assert bytes(memoryview(mx.view(mine[name], mx.uint8))) == bytes(memoryview(mx.view(array, mx.uint8))), name


@pytest.mark.parametrize("heads", [0, 3])
@pytest.mark.parametrize("kind", KEPT)
def test_blocks_that_keep_their_bits_are_only_taken_apart(kind, heads):
    rows, columns = 24, 2 * BLOCK_SIZE
    raw, _ = random_blocks(kind.upper(), rows * columns // KEPT[kind].size)
    part = TensorInfo(kind.upper(), (rows, columns), 0, raw.size)
    recipe = Recipe(
        Place("a.weight", Order(heads, 2) if heads else None), (part,), Layout(KEPT[kind].bits, kind), mx.float16
    )
    assert can_regroup(recipe)
    *_, (found, _) = regroup(native.kernels(), recipe, memoryview(raw.tobytes()))
    assert list(found) == [name for name, _ in recipe.outputs()]
    halves = rows if heads == 0 else rows // heads // 2
    order = np.arange(rows).reshape(-1, halves, 2).swapaxes(1, 2).reshape(-1) if heads else np.arange(rows)
    for array, expected in zip(found.values(), split(KEPT[kind], mx.array(raw)), strict=True):
        wanted = np.array(expected).reshape(rows, -1)[order]
        assert array.dtype == expected.dtype
        np.testing.assert_array_equal(np.array(array), wanted)


def test_scales_are_negated_as_numbers_of_16_bits():
    halves = np.arange(1 << 16, dtype=np.uint16)
    for power in (3, 7):
        regrouping = native.kernels().Regrouping(len(halves), 2, [[("negated", 0, 2, power)]], 1, 0)
        regrouping.add(halves.view(np.uint8))
        (found,) = regrouping.outputs()
        numbers = halves.view(np.float16)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = (-(2.0**power) * numbers.astype(np.float32)).astype(np.float16)
        np.testing.assert_array_equal(np.array(found).view(np.float16).reshape(-1), expected)


def test_blocks_that_do_not_fit_are_refused():
    kernels = native.kernels()
    with pytest.raises(ValueError, match="beyond its block"):
        kernels.Regrouping(4, 18, [[("none", 4, 16, 0)]], 1, 0)
    with pytest.raises(ValueError, match="no change"):
        kernels.Regrouping(4, 18, [[("turned", 0, 2, 0)]], 1, 0)
    regrouping = kernels.Regrouping(4, 18, [[("none", 0, 2, 0)]], 1, 0)
    with pytest.raises(RuntimeError, match="missing"):
        regrouping.outputs()
    with pytest.raises(ValueError, match="next blocks"):
        regrouping.add(np.zeros(5 * 18, np.uint8))
