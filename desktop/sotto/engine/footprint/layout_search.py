"""Agrees on a layout of layers on devices with the allocator.

What `sotto.engine.footprint.placement` proposes is tried in three stages, each surer and dearer than the one before:

- fit: the loader says what each layer and each device's graph would take, and allocates nothing;
- alloc: caches and graphs are allocated, and no weights read;
- commit: the weights are read.

A stage tells what is known better now, how much a graph takes, say, and a new layout is made. One that comes up again
is no way out: then the free memory that is counted on is cut by a tenth, and again, until something holds or nothing is
left. With one device `place_on_one` does the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sotto.engine.footprint.placement import Device, Host, Layout, Needs, Options, layout
from sotto.errors import EngineError

_BACK_OFF = 0.1


@dataclass(frozen=True, slots=True)
class Answer:
    """What a stage came to.

    Attributes:
        success: Whether it held.
        needs: What layers take, as far as it is known now; None as before.
        graphs: Bytes of the graph of each device by name, as far as they are known now.
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
    """Agree on a layout and carry it out.

    Args:
        devices: Where layers can lie, beside the processor.
        needs: What is known to begin with.
        host: The machine's own memory.
        options: How to lay out.
        try_fit: Says what a layout would take, and whether that is there.
        try_alloc: Allocates for a layout all but the weights; frees what it allocated for the one before.
        commit: Carries the layout out.
        close: Frees everything; called before any error is raised.

    Raises:
        EngineError: No layout holds.
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
    """Lay a whole model on one device, or on the processor where that is None; see `place`.

    Args:
        device: Where to lay it.
        needs: What is known to begin with.
        host: The machine's own memory.
        try_fit: Says what a layout would take, and whether that is there.
        try_alloc: Allocates for a layout all but the weights.
        commit: Carries the layout out.
        close: Frees everything; called before any error is raised.
        overhead: Bytes to leave free on the device; None for what its kind is known to take itself.

    Raises:
        EngineError: It does not fit there.
    """
    devices = [] if device is None else [device]
    options = Options(require_full=device is not None, overhead=overhead)
    return place(devices, needs, host, options, try_fit, try_alloc, commit, close)


class _Agreement:
    """What is known so far, and the layouts that were tried with it."""

    def __init__(self, devices: list[Device], needs: Needs, host: Host, options: Options) -> None:
        self._devices, self._needs, self._host, self._options = devices, needs, host, options
        self._back_off = 0.0

    def propose(self, count: int | None = None) -> Layout:
        options = self._options if count is None else replace(self._options, count=count)
        return layout(self._devices, self._needs, self._host, options, self._back_off)

    def agree(self, stage: Stage, proposal: Layout) -> Layout:
        """Return a layout that a stage accepts and that is still the best with what it said."""
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
            # One that was not told of cannot be used.
            self._devices = [
                replace(device, graph=graphs.get(device.name, 0), free=device.free if device.name in graphs else 0)
                for device in self._devices
            ]
        return answer.success

    def _between(self, stage: Stage, proposal: Layout, following: Layout) -> Layout | None:
        """Return an accepted layout with more layers than the one and fewer than the other, or None."""
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
