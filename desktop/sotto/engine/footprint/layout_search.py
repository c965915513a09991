"""The search for a layout of layers on devices that the allocator accepts.

The proposals of `sotto.engine.footprint.placement` are tried in three stages, each more certain and more expensive than
the one before:

- fit: the loader reports what each layer and each device's graph would need, and allocates nothing;
- alloc: caches and graphs are allocated, but no weights are read;
- commit: the weights are read.

A stage can report better numbers, such as the size of a graph, which lead to a new layout. If a layout comes up again,
the assumed free memory is reduced by a tenth, repeatedly, until a layout is accepted or nothing is left. With one
device, `place_on_one` does the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sotto.engine.footprint.placement import Device, Host, Layout, Needs, Options, layout
from sotto.errors import EngineError

_BACK_OFF = 0.1


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a stage.

    Attributes:
        success: Whether the layout was accepted.
        needs: Updated needs of the layers; None if unchanged.
        graphs: Updated bytes of each device's graph, by name of the device; None if unchanged.
    """

    success: bool
    needs: Needs | None = None
    graphs: Mapping[str, int] | None = None


Stage = Callable[[Layout], Answer]


def place(
    devices: Sequence[Device],
    needs: Needs,
    host: Host,
    options: Options,
    try_fit: Stage,
    try_alloc: Stage,
    commit: Stage,
    close: Callable[[], None],
) -> Layout:
    """Find a layout and carry it out.

    Args:
        devices: The devices for layers, besides the processor.
        needs: The initial needs.
        host: The machine's own memory.
        options: Options of the layout.
        try_fit: Reports what a layout would need, and whether that is available.
        try_alloc: Allocates everything but the weights for a layout; frees its previous allocation.
        commit: Carries the layout out.
        close: Frees everything; called before any error is raised.

    Raises:
        EngineError: No layout is accepted.
    """
    try:
        agreement = _Agreement(list(devices), needs, host, options)
        agreed = agreement.agree(try_alloc, agreement.agree(try_fit, agreement.propose()))
        if not commit(agreed).success:
            raise EngineError("Memory for the model could not be taken: something else took it meanwhile; try again.")
    except BaseException:
        close()
        raise
    return agreed


def place_on_one(
    device: Device | None,
    needs: Needs,
    host: Host,
    try_fit: Stage,
    try_alloc: Stage,
    commit: Stage,
    close: Callable[[], None],
    overhead: int | None = None,
) -> Layout:
    """Place a whole model on one device, or on the processor if `device` is None; see `place`.

    Args:
        device: The device; None for the processor.
        needs: The initial needs.
        host: The machine's own memory.
        try_fit: Reports what a layout would need, and whether that is available.
        try_alloc: Allocates everything but the weights for a layout.
        commit: Carries the layout out.
        close: Frees everything; called before any error is raised.
        overhead: Bytes to leave free on the device; None for the usual overhead of its kind.

    Raises:
        EngineError: It does not fit there.
    """
    devices = [] if device is None else [device]
    options = Options(require_full=device is not None, overhead=overhead)
    return place(devices, needs, host, options, try_fit, try_alloc, commit, close)


class _Agreement:
    """The state of a search: the needs known so far, and the reduction of free memory."""

    def __init__(self, devices: list[Device], needs: Needs, host: Host, options: Options) -> None:
        self._devices, self._needs, self._host, self._options = devices, needs, host, options
        self._back_off = 0.0

    def propose(self, count: int | None = None) -> Layout:
        options = self._options if count is None else replace(self._options, count=count)
        return layout(self._devices, self._needs, self._host, options, self._back_off)

    def agree(self, stage: Stage, proposal: Layout) -> Layout:
        """Return a layout that a stage accepts and that remains the best with the reported needs."""
        tried: set[Layout] = set()
        while True:
            tried.add(proposal)
            success = self._ask(stage, proposal)
            following = self.propose()
            if following not in tried and following.count <= proposal.count:
                proposal = following
                continue
            if self._options.count is None and following.count - proposal.count >= 2:
                between = self._between(stage, proposal, following)
                if between is not None:
                    return between
            if success:
                return proposal
            if self._options.count is not None:
                raise EngineError(
                    f"The model's memory cannot be laid out with {self._options.count} layers on the graphics "
                    "processor; ask for fewer layers or a smaller context."
                )
            proposal = self._backed_off(tried)

    def _ask(self, stage: Stage, proposal: Layout) -> bool:
        answer = stage(proposal)
        if answer.needs is not None:
            self._needs = answer.needs
        if answer.graphs is not None:
            graphs = answer.graphs
            # A device that is not reported cannot be used.
            self._devices = [
                replace(device, graph=graphs.get(device.name, 0), free=device.free if device.name in graphs else 0)
                for device in self._devices
            ]
        return answer.success

    def _between(self, stage: Stage, proposal: Layout, following: Layout) -> Layout | None:
        """Return an accepted layout with more layers than `proposal` and fewer than `following`, or None."""
        for count in range(following.count - 1, proposal.count, -1):
            forced = self.propose(count)
            if forced.count == count and self._ask(stage, forced) and self.propose().count >= count:
                return forced
        return None

    def _backed_off(self, tried: set[Layout]) -> Layout:
        while True:
            self._back_off = round(self._back_off + _BACK_OFF, 1)
            if self._back_off > 1:
                raise EngineError(
                    "The model's memory cannot be laid out on the devices that are there; choose a smaller context or "
                    "a smaller model."
                )
            proposal = self.propose()
            if proposal not in tried:
                return proposal
