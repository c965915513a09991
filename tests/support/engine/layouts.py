"""Devices, models and options for tests of layer placement."""

from hypothesis import strategies as st

from sotto.engine.footprint.placement import Device, Host, LayerSize, Needs, Options

PLENTY = Host(free=10**9, total=10**9)
NO_OVERHEAD = Options(overhead=0)


def needs(sizes, output=0, **more):
    return Needs(tuple(LayerSize(size) for size in sizes), LayerSize(output), **more)


def card(name, free, **more):
    return Device(name, "cuda", free, **more)


@st.composite
def devices(draw):
    count = draw(st.integers(0, 4))
    return [
        Device(
            f"d{index}",
            draw(st.sampled_from(["cuda", "metal"])),
            draw(st.integers(0, 400)),
            draw(st.integers(0, 2)),
            draw(st.booleans()),
            draw(st.integers(0, 30)),
        )
        for index in range(count)
    ]


models = st.builds(
    lambda layers, output, inputs, graph: Needs(tuple(layers), output, inputs, graph),
    st.lists(st.builds(LayerSize, st.integers(0, 60), st.integers(0, 30)), max_size=12),
    st.builds(LayerSize, st.integers(0, 90)),
    st.integers(0, 50),
    st.integers(0, 50),
)
choices = st.builds(Options, st.none() | st.integers(0, 14), st.booleans(), st.just(False), st.integers(0, 20))


def bytes_by_device(layout, model):
    return {span.device: sum(model.sizes[span.start : span.end]) for span in layout.spans}
