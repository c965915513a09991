import threading

import mlx.core as mx
import pytest
from mlx import nn

from sotto.engine.kernels import cpu_linear, native
from sotto.engine.kernels.cpu_linear import CpuQuantizedEmbedding, CpuQuantizedLinear, adapt_to_cpu

SCHEMES = [
    *((bits, 64, "affine") for bits in (2, 3, 4, 5, 6, 8)),
    (4, 32, "mxfp4"),
    (8, 32, "mxfp8"),
    (4, 16, "nvfp4"),
]


@pytest.fixture(autouse=True)
def without_kernels(monkeypatch):
    native.uninstall()
    monkeypatch.setenv(native.SWITCH, "0")


class Model(nn.Module):
    def __init__(self, bits, group_size, mode, bias=False):
        super().__init__()
        self.embed = nn.Embedding(2048, 768)
        self.linear = nn.Linear(768, 1030, bias=bias)
        nn.quantize(self, group_size=group_size, bits=bits, mode=mode)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_products_equal_those_of_mlx(scheme):
    model = Model(*scheme)
    inputs = [mx.random.normal((1, rows, 768)) for rows in (1, 3, 5, 40)]

    def products():
        for x in inputs:
            yield from (model.linear(x), model.embed.as_linear(x))
        yield model.embed(mx.array([[1, 5]]))

    expected = list(products())
    mx.eval(expected)
    adapt_to_cpu(model)
    assert type(model.linear) is CpuQuantizedLinear
    assert type(model.embed) is CpuQuantizedEmbedding
    found = list(products())
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        assert mx.allclose(ours, theirs, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("rows", [1, 40])
def test_a_bias_is_added_once(rows):
    model = Model(4, 64, "affine", bias=True)
    model.linear.bias = mx.random.normal((1030,))
    x = mx.random.normal((rows, 768))
    expected = model.linear(x)
    mx.eval(expected)
    adapt_to_cpu(model)
    assert mx.allclose(model.linear(x), expected, rtol=1e-4, atol=1e-3)


def test_parts_share_the_memory_of_the_matrix_and_are_not_parameters():
    model = Model(4, 64, "affine")
    mx.eval(model.parameters())
    names = {name for name, _ in nn.utils.tree_flatten(model.parameters())}
    before = mx.get_active_memory()
    adapt_to_cpu(model)
    assert mx.get_active_memory() == before
    assert {name for name, _ in nn.utils.tree_flatten(model.parameters())} == names


def test_large_matrices_are_divided_among_streams_and_small_ones_are_not():
    cores = len(cpu_linear._streams())
    model = Model(4, 64, "affine")
    adapt_to_cpu(model)
    assert len(model.embed._weights) == min(cores, 2048 * 768 // cpu_linear._PART_WEIGHTS)
    small = nn.Linear(64, 64).to_quantized(64, 4)
    holder = nn.Sequential(small)
    adapt_to_cpu(holder)
    assert len(small._weights) == 1


def test_every_thread_has_its_own_streams():
    results = []

    def work():
        model = Model(4, 64, "affine")
        adapt_to_cpu(model)
        results.append(mx.isfinite(model.linear(mx.ones((1, 768)))).all().item())
        mx.clear_streams()

    for _ in range(2):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert results == [True, True]
