"""Which layers of a model go on which device: a pure function of what is known about both.

The layers are those of the model in order, followed by the output layer. Graphics devices are filled from the last
layer backwards, because the output layer gains most; the remaining layers stay on the processor. `layout` proposes a
layout; `sotto.engine.footprint.layout_search` tries the proposals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sotto.errors import EngineError

_PRECISION = 1e-6
_FORCED_FACTOR = 1000.0
_MIB = 2**20
_OVERHEAD = {"metal": 512 * _MIB, "cuda": 457 * _MIB}


@dataclass(frozen=True, slots=True)
class LayerSize:
    """Bytes of one layer.

    Attributes:
        weights: Bytes of its weights.
        cache: Bytes of its cache at the requested context length.
    """

    weights: int
    cache: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of weights and cache together."""
        return self.weights + self.cache


@dataclass(frozen=True, slots=True)
class Device:
    """A graphics device that can hold layers.

    Attributes:
        name: Unique among the devices.
        kind: `metal` or `cuda`; a layout never mixes kinds. The processor does not count as a device.
        free: Bytes that may be used.
        speed: Speed class; the highest gets layers first.
        integrated: Whether it shares the machine's memory.
        graph: Bytes that computation needs on it, as far as known.
    """

    name: str
    kind: str
    free: int
    speed: int = 0
    integrated: bool = False
    graph: int = 0


@dataclass(frozen=True, slots=True)
class Needs:
    """What has to be placed.

    Attributes:
        layers: The model's layers in order.
        output: The output layer, placed as if it were one more layer after the last.
        input_weights: Bytes that always stay on the processor.
        processor_graph: Bytes that computation needs on the processor.
    """

    layers: tuple[LayerSize, ...]
    output: LayerSize
    input_weights: int = 0
    processor_graph: int = 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of each layer, the output layer last."""
        return (*(layer.nbytes for layer in self.layers), self.output.nbytes)


@dataclass(frozen=True, slots=True)
class Options:
    """How to place layers.

    Attributes:
        count: Put exactly this many layers on devices, however much memory is free; None for as many as fit.
        spread: Use all devices instead of as few as possible.
        require_full: Fail unless all layers (or `count` of them) fit on devices.
        overhead: Bytes to leave free on each device; None for what a device of its kind is known to need for itself.
    """

    count: int | None = None
    spread: bool = False
    require_full: bool = False
    overhead: int | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """The memory of the machine itself, in bytes.

    Attributes:
        free: Bytes that may be used.
        total: All installed memory.
        swap: Free swap space, where the system uses it.
        macos: Whether this is a Mac, whose graphics processor must never be asked for more memory than is installed.
    """

    free: int
    total: int
    swap: int = 0
    macos: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """Layers from `start` up to but not including `end` on a device; the output layer counts as one after the last."""

    device: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Which layers go on which device, in the order of the layers; layers in no span stay on the processor."""

    spans: tuple[Span, ...] = ()

    @property
    def count(self) -> int:
        """The number of layers on devices."""
        return sum(span.end - span.start for span in self.spans)


def layout(
    devices: Sequence[Device], needs: Needs, host: Host, options: Options | None = None, back_off: float = 0.0
) -> Layout:
    """Return the layout that puts most layers on devices.

    Args:
        devices: The devices that can hold layers.
        needs: What has to be placed.
        host: The machine's own memory.
        options: How to place layers; None for as many as fit, on as few devices as possible.
        back_off: Fraction of the free memory to leave unused, 0 to 1.

    Raises:
        EngineError: The resulting layout must not be used; the message says why.
    """
    options = options or Options()
    best = Layout()
    for kind in sorted({device.kind for device in devices}):
        room = {device.name: _usable(device, options, back_off) for device in devices if device.kind == kind}
        group = sorted(
            (device for device in devices if device.kind == kind),
            key=lambda device: (device.integrated, -room[device.name], device.name),
        )
        found = _assign(group, room, needs, options)
        if found.count > best.count:
            best = found
    return _verify(best, devices, needs, host, options)


def _usable(device: Device, options: Options, back_off: float) -> int:
    overhead = _OVERHEAD.get(device.kind, 0) if options.overhead is None else options.overhead
    return max(0, device.free - int(device.free * back_off) - overhead - device.graph)


def _assign(group: Sequence[Device], room: Mapping[str, int], needs: Needs, options: Options) -> Layout:
    """Return a layout on devices of one kind: on as few as hold everything, or else on all of them."""
    sizes = needs.sizes
    best = Layout()
    # The output layer is often the largest: if it does not fit, the others still may.
    for end in (len(sizes), len(sizes) - 1):
        wanted = end if options.count is None else min(options.count, end)
        fewest = len(group) if options.spread else 1
        for count in range(fewest, len(group) + 1):
            found = _balance(group[:count], room, sizes[:end], wanted, options)
            if found.count > best.count:
                best = found
            if best.count >= wanted:
                return best
    return best


def _balance(
    group: Sequence[Device], room: Mapping[str, int], sizes: Sequence[int], wanted: int, options: Options
) -> Layout:
    """Return the layout with the most layers that fills devices of the same speed class about equally."""
    spans: list[Span] = []
    end = len(sizes)
    left = wanted
    for speed in sorted({device.speed for device in group}, reverse=True):
        alike = [device for device in group if device.speed == speed]
        low, high = 0.0, 1.0 if options.count is None else _FORCED_FACTOR
        most = sum(_fill(alike, room, sizes[:end], left, high).values())
        while high - low > _PRECISION:
            middle = (low + high) / 2
            if sum(_fill(alike, room, sizes[:end], left, middle).values()) >= most:
                high = middle
            else:
                low = middle
        counts = _fill(alike, room, sizes[:end], left, high)
        for device in reversed(alike):
            if taken := counts[device.name]:
                spans.insert(0, Span(device.name, end - taken, end))
                end -= taken
                left -= taken
    return Layout(tuple(spans))


def _fill(
    group: Sequence[Device], room: Mapping[str, int], sizes: Sequence[int], most: int, factor: float
) -> dict[str, int]:
    """Return how many layers each device takes if `factor` of its room may be used, from the last layer backwards."""
    counts = dict.fromkeys((device.name for device in group), 0)
    end, left = len(sizes), most
    for device in reversed(group):
        free = int(room[device.name] * factor)
        while left and end and sizes[end - 1] <= free:
            free -= sizes[end - 1]
            counts[device.name] += 1
            end -= 1
            left -= 1
    return counts


def _verify(found: Layout, devices: Sequence[Device], needs: Needs, host: Host, options: Options) -> Layout:
    sizes = needs.sizes
    wanted = len(sizes) if options.count is None else min(options.count, len(sizes))
    on_devices = sum(sum(sizes[span.start : span.end]) for span in found.spans)
    on_processor = needs.input_weights + sum(sizes) - on_devices
    if found.count < len(sizes):
        on_processor += needs.processor_graph
    if options.require_full and found.count < wanted:
        raise EngineError(
            f"The model does not fit on the graphics processor: {found.count} of its {wanted} layers do; "
            "choose a smaller context or a smaller model."
        )
    available = host.free if host.macos else host.free + host.swap
    if on_processor > available:
        raise EngineError(
            f"The model requires more system memory ({_gb(on_processor)}) than is available ({_gb(available)}); "
            "close other programs or choose a smaller model."
        )
    graphs = {device.name: device.graph for device in devices}
    asked = on_devices + sum(graphs[span.device] for span in found.spans)
    if host.macos and asked > host.total:
        # Asking a Mac for more memory than it has freezes the whole machine.
        return Layout()
    return found


def _gb(nbytes: int) -> str:
    return f"{nbytes / 1e9:.1f} GB"
