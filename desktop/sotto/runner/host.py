"""The interface of an engine host, whether it runs its engines on a thread or in a process."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sotto.engine.contract.events import Failed, ModelInfo, RequestEvent
from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.errors import InvalidRequestError
from sotto.runner.commands import Ask, Command
from sotto.runner.residents import Admit, ModelRequest, Refuse, Residents, Stage
from sotto.store.records import ModelRecord

THREAD, PROCESS = "thread", "process"
_VARIABLE = "SOTTO_ENGINE_HOST"

NOT_LOADED = "The model was unloaded before it could answer; ask again."

STACK_BYTES = 16 << 20
"""Stack size of a thread that runs an engine: the 512 KB of macOS's secondary threads are too few for deep calls."""

Visit = int
ModelCallback = Callable[[Admit | Refuse], None]
AnswerCallback = Callable[[RequestEvent], None]


class CommandSink(Protocol):
    """Something that commands can be sent to."""

    def send(self, command: Command) -> None:
        """Queue a command."""


class Loop(CommandSink, Protocol):
    """A loop that serves commands, with the guarantees of `sotto.runner.loop.EngineLoop`."""

    def close(self) -> None:
        """End everything and make `run` return."""

    def run(self) -> None:
        """Serve commands until `close`."""


@dataclass(frozen=True, slots=True)
class ResidentStatus:
    """A loaded model.

    Attributes:
        seat: Its seat.
        record: The model.
        info: What loading it revealed.
        nbytes: Bytes that it holds in memory, as last reported.
        stays: Seconds until it will be unloaded if unused; infinite if it will not be.
    """

    seat: str
    record: ModelRecord
    info: ModelInfo
    nbytes: int
    stays: float


class Host(Protocol):
    """A host of engines that several callers share.

    Every method may be called on any thread. Callbacks may come on any thread too and must return at once. Each request
    is answered once unless it is withdrawn, and an answer ends with one `Finished`, `Embedded`, `Counted` or `Failed`.
    """

    @property
    def slots(self) -> int:
        """How many answers of one model are computed at a time; others wait."""

    @property
    def resident_models(self) -> Sequence[ResidentStatus]:
        """The models that are loaded now."""

    def models(self) -> Sequence[ModelRecord]:
        """Return every model on this machine; may take a while."""

    def want(self, request: ModelRequest, callback: ModelCallback) -> Visit:
        """Have a model loaded, and keep it until `leave`; see `sotto.runner.residents`."""

    def leave(self, visit: Visit) -> None:
        """End a visit, or withdraw its request."""

    def dismiss(self, record: ModelRecord, callback: Callable[[], None]) -> None:
        """Unload a model once it is idle.

        Args:
            record: The model.
            callback: Called once it is unloaded; at once where it is not loaded or still in use.
        """

    def ask(self, command: Ask, callback: AnswerCallback) -> None:
        """Have a request answered by the model in a seat, if it is still loaded; counts do not queue behind answers."""

    def cancel(self, request_id: str) -> None:
        """Cancel an answer; an unknown id is ignored."""


def start_engine_thread(run: Callable[[], None], *, daemon: bool = False) -> threading.Thread:
    """Start a thread with a stack large enough for an engine."""
    default_bytes = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=run, name="engine", daemon=daemon)
        thread.start()
    finally:
        threading.stack_size(default_bytes)
    return thread


def resident_models(residents: Residents, figures: MemoryFigures | None) -> list[ResidentStatus]:
    """Return the loaded models.

    Args:
        residents: The models.
        figures: What they hold in memory, as last reported.
    """
    held = figures.held if figures else {}
    return [
        ResidentStatus(
            seat=resident.seat,
            record=resident.record,
            info=resident.info,
            nbytes=held.get(resident.seat, resident.info.weight_bytes),
            stays=residents.stays(resident),
        )
        for resident in residents.all
        if resident.stage is Stage.READY and resident.info is not None
    ]


def forced_kind() -> str:
    """Return the kind of host set by the environment, which overrides the setting; empty if unset."""
    return os.environ.get(_VARIABLE, "")


def kind_of_host(chosen: str = THREAD) -> str:
    """Return whether engines run on a thread or in a process: as the environment says, otherwise `chosen`.

    Raises:
        InvalidRequestError: It is neither.
    """
    kind = forced_kind() or chosen
    if kind not in (THREAD, PROCESS):
        raise InvalidRequestError(f"{_VARIABLE} must be {THREAD} or {PROCESS}, not {kind!r}.")
    return kind


def not_loaded(command: Ask) -> Failed:
    """Return the failure of a request whose model has been unloaded in the meantime."""
    return Failed(command.request.id, NOT_LOADED)
