import mlx.core as mx
import pytest

from sotto.engine.footprint.graph import kernel, order, trace
from sotto.engine.footprint.graph_memory import peak, stepwise_peak
from sotto.engine.footprint.task_sizes import CPU, Pace, pace_of
from sotto.engine.kernels import device

N = 512
BYTES = 4 * N * N


def measured(function, *lasting):
    """Return the peak bytes, without the inputs, while a function's outputs are computed."""
    mx.eval(lasting)
    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(function(*lasting))
    return mx.get_peak_memory() - before


def predicted(function, *lasting):
    return peak(trace(lambda *arrays: list(function(*arrays)), [], list(lasting)))


def square(seed):
    return mx.random.normal((N, N), key=mx.random.key(seed))


def chain(count):
    def function(x, w):
        for _ in range(count):
            x = x @ w
        return [x]

    return function


ONE = {
    "a product": lambda x, w: [x @ w],
    "of transposed matrices": lambda x, w: [x.T @ w.T],
    "of cut matrices": lambda x, w: [mx.concatenate([x, w], axis=1)[:, :N] @ w],
    "of heads": lambda x, w: [x.reshape(N, 8, 64).swapaxes(0, 1) @ w.reshape(8, 64, N)],
    "a sum over one of its inputs": lambda x, w: [(x + w) + w],
    "of what others need": lambda x, w: [x + w, (x + w) * 2],
    "softmax": lambda x, w: [mx.softmax(x @ w, axis=-1)],
    "softmax of what stays": lambda x, w: [mx.softmax(x, axis=-1)],
    "a copy by reshaping": lambda x, w: [x.T.reshape(-1)],
    "a type": lambda x, w: [(x + w).astype(mx.float16)],
    "a choice": lambda x, w: [mx.where(x > 0, x, w)],
    "rows": lambda x, w: [x[mx.arange(100)]],
    "joined": lambda x, w: [mx.concatenate([x, w, x])],
    "a norm": lambda x, w: [mx.fast.rms_norm(x, w[0], 1e-5)],
    "attention": lambda x, w: [
        mx.fast.scaled_dot_product_attention(
            *(a.reshape(1, N, 8, 64).swapaxes(1, 2) for a in (x, w, w)), scale=1.0, mask="causal"
        )
    ],
    "unpacked": lambda x, w: [mx.dequantize(*mx.quantize(w, group_size=64, bits=4), group_size=64, bits=4)],
    "a depthwise convolution": lambda x, w: [mx.conv1d(x[None], mx.ones((N, 4, 1)), groups=N)],
}


@pytest.fixture(autouse=True)
def plain():
    """Compute with MLX alone, even if other tests have installed kernels."""
    from sotto.engine.footprint.traced_kernels import traceable

    with traceable(None):
        yield


def test_functions_that_a_graphics_processor_compiles_are_listed(monkeypatch):
    monkeypatch.setattr(device, "device", lambda: "metal")
    monkeypatch.delenv("MLX_DISABLE_COMPILE", raising=False)
    compiled = mx.compile(lambda x: mx.exp(x) * 2 + x)
    mx.enable_compile()
    try:
        # The compiled function does not depend on an input, so that it would be traced as one operation.
        graph = trace(lambda x: [x + compiled(mx.ones((N, N)))], [], [mx.zeros((N, N))])
        assert "Exp" in [operation.name for operation in graph.operations]
        with pytest.raises(ValueError, match="Compiled"):
            mx.export_function(lambda _: None, lambda x: [x + compiled(mx.ones((N, N)))], mx.zeros((N, N)))
    finally:
        mx.disable_compile()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", sorted(ONE))
def test_the_memory_of_single_operations_is_predicted(name):
    x, w = square(1), square(2)
    # An unused buffer may or may not be freed before the next one is allocated, so the largest peak counts.
    most = max(measured(ONE[name], x, w) for _ in range(3))
    assert predicted(ONE[name], x, w) == pytest.approx(most, rel=0.03, abs=20_000)


@pytest.mark.parametrize("mode", ["mxfp4", "nvfp4", "mxfp8"])
def test_the_memory_of_dequantizing_other_types_is_predicted(mode):
    packed = mx.quantize(square(3), mode=mode)

    def unpack(*parts):
        return [mx.dequantize(*parts, mode=mode, dtype=mx.float32)]

    assert predicted(unpack, *packed) == pytest.approx(measured(unpack, *packed), rel=0.1)


def test_operations_are_in_flight_as_far_as_mlx_dispatches_ahead():
    x, w = square(1), square(2) / N
    for count in (1, 20, 50):
        assert predicted(chain(count), x, w) == count * BYTES
    # A product takes two steps, and slightly more than 110 steps may be dispatched ahead.
    assert 55 * BYTES <= predicted(chain(200), x, w) <= 60 * BYTES
    assert measured(chain(200), x, w) == pytest.approx(predicted(chain(200), x, w), rel=0.1)


def test_consumed_inputs_count_until_they_are_read():
    def update(cache, new):
        cache = cache * 1
        cache[:1] = new
        return [cache]

    lasting = trace(update, [], [square(1), square(2)[:1]])
    consumed = trace(update, [square(1)], [square(2)[:1]])
    assert peak(lasting) == pytest.approx(BYTES, rel=0.01)
    assert peak(consumed) == pytest.approx(BYTES, rel=0.01)
    grown = trace(lambda cache: [mx.concatenate([cache, cache])], [square(1)], [])
    assert peak(grown) == 3 * BYTES


def test_nothing_is_computed():
    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    assert peak(trace(chain(300), [], [mx.zeros((100_000, 100_000)), mx.zeros((100_000, 100_000))])) > 10**12
    assert mx.get_peak_memory() - before < 10_000


def test_operations_run_after_their_inputs():
    def function(x):
        halves = mx.split(x @ x, 2)
        return [halves[0] @ x, mx.exp(halves[1]) + x[:1]]

    graph = trace(function, [], [mx.zeros((8, 8))])
    done = {name for names in graph.shapes for name in [names]} - {
        name for operation in graph.operations for name in operation.outputs
    }
    ordered = order(graph)
    assert len(ordered) == len(graph.operations)
    for operation in ordered:
        assert done.issuperset(operation.inputs)
        done |= set(operation.outputs)


def test_a_kernel_is_one_operation_that_holds_all_its_inputs():
    def function(x, w):
        return [kernel(mx.broadcast_to(x[:, :1], (N, 2 * N)), x + 1, w + 1)]

    graph = trace(function, [], [square(1), square(2)])
    assert [operation.name for operation in order(graph)].count("Kernel") == 1
    assert len(order(graph)) == 4  # two sums, the number 1 that they share, and the kernel
    assert peak(graph) == 4 * BYTES


class TestPace:
    """How far other devices run ahead, as described by what MLX says of them."""

    @pytest.mark.parametrize(
        ("kind", "architecture", "environment", "pace"),
        [
            ("cpu", "x86_64", {}, CPU),
            ("metal", "applegpu_g13g", {}, Pace(41, 41 << 20)),
            ("metal", "applegpu_g16s", {}, Pace(51, 51 << 20)),
            ("metal", "applegpu_unknown", {}, Pace(41, 41 << 20)),
            ("cuda", "sm_90", {}, Pace(101, 1001 << 20)),
            ("cuda", "sm_89", {}, Pace(21, 101 << 20)),
            ("cuda", "sm_89", {"MLX_MAX_OPS_PER_BUFFER": "7", "MLX_MAX_MB_PER_BUFFER": "9"}, Pace(8, 10 << 20)),
        ],
    )
    def test_devices(self, kind, architecture, environment, pace):
        assert pace_of(kind, {"architecture": architecture}, environment) == pace

    def test_as_many_products_are_in_memory_as_are_under_way(self):
        graph = trace(chain(300), [], [mx.zeros((N, N)), mx.zeros((N, N))])
        # Ten tasks are waited for, and the next one has begun; each product holds the one before, and has an output.
        assert peak(graph, Pace(5)) == (11 * 5 + 1) * BYTES
        assert peak(graph, Pace(20)) == (11 * 20 + 1) * BYTES
        # Two inputs for each product.
        assert peak(graph, Pace(20, elements=2 * N * N)) == (11 * 1 + 1) * BYTES
        assert peak(graph, Pace(1000)) == 300 * BYTES

    def test_views_take_no_step(self):
        def function(x, w):
            for _ in range(300):
                x = (x @ w).T
            return [x]

        graph = trace(function, [], [mx.zeros((N, N)), mx.zeros((N, N))])
        assert peak(graph, Pace(5)) == (11 * 5 + 1) * BYTES


def test_outputs_that_are_computed_one_after_the_other():
    """Each is wide, but only one at a time is there, unlike those that are computed together."""
    x, w = square(0), square(1)

    def parts(x, w):
        for index in range(8):
            yield mx.concatenate([x + index] * 8, axis=1).sum(axis=1)
        yield x @ w

    mx.eval(x, w)
    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    for part in parts(x, w):
        mx.eval(part)
    taken = mx.get_peak_memory() - before
    graph = trace(lambda *arrays: list(parts(*arrays)), [], [x, w])
    assert stepwise_peak(graph, 1) == pytest.approx(taken, rel=0.02)
    assert peak(graph) > 2 * taken
