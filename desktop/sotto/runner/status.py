"""The status of an engine, derived from its events without asking the thread that computes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Self, TypeGuard

from sotto.engine.contract.events import Event, Failed, Loaded, LoadEvent, LoadProgress, ModelInfo, Unloaded
from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.errors import EngineError


class State(IntEnum):
    """What an engine is doing; the values are those of the private API."""

    READY = 0
    EMPTY = 1
    LOADING = 3


@dataclass(frozen=True, slots=True)
class Status:
    """A summary of an engine's state.

    Attributes:
        state: What it is doing.
        progress: Percentage of the load in progress; otherwise 100 with a model loaded and 0 without.
        context_length: Context length in tokens; 0 without a model.
        memory: Bytes that it holds, including those kept for reuse, as last reported.
    """

    state: State
    progress: int
    context_length: int
    memory: int

    def to_json(self) -> dict[str, int]:
        """Return the JSON object of `/v1/status`."""
        return {
            "Status": int(self.state),
            "Progress": self.progress,
            "ContextLength": self.context_length,
            "Memory": self.memory,
        }

    @classmethod
    def from_json(cls, body: Any) -> Self:
        """Return the status in an answer of `/v1/status`.

        Raises:
            EngineError: The answer is not a status.
        """
        try:
            names = ("Status", "Progress", "ContextLength", "Memory")
            state, progress, context_length, memory = (int(body[name]) for name in names)
            return cls(State(state), progress, context_length, memory)
        except (KeyError, TypeError, ValueError) as error:
            raise EngineError("The engine's process does not report its status.") from error


@dataclass(frozen=True, slots=True)
class EngineReport:
    """An engine's state as its events have reported it.

    Attributes:
        loaded: The loaded models by seat.
        progress: The load in progress, or None.
        figures: Its last memory figures.
    """

    loaded: Mapping[str, ModelInfo] = field(default_factory=dict)
    progress: LoadProgress | None = None
    figures: MemoryFigures | None = None

    def after(self, event: Event) -> "EngineReport":
        """Return the state after an event."""
        if isinstance(event, MemoryFigures):
            return replace(self, figures=event)
        if not is_load_event(event):
            return self
        loaded = {seat: info for seat, info in self.loaded.items() if seat != event.seat}
        if isinstance(event, Loaded):
            loaded[event.seat] = event.info
        return EngineReport(loaded, event if isinstance(event, LoadProgress) else None, self.figures)

    @property
    def status(self) -> Status:
        """The summary."""
        progress, figures = self.progress, self.figures
        return Status(
            state=State.LOADING if progress else State.READY if self.loaded else State.EMPTY,
            progress=100 * progress.done // max(1, progress.total) if progress else 100 if self.loaded else 0,
            context_length=max((info.context_length for info in self.loaded.values()), default=0),
            memory=figures.active + figures.pool if figures else 0,
        )


def is_load_event(event: Event) -> TypeGuard[LoadEvent]:
    """Return whether an event is about loading or unloading a model rather than about a request."""
    return isinstance(event, LoadProgress | Loaded | Unloaded) or (isinstance(event, Failed) and not event.request_id)
