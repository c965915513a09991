"""What hosts engines, and what others may ask of it without knowing what that is."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sotto.engine.contract.events import Failed, ModelInfo, RequestEvent
from sotto.engine.memory.memory_figures import MemoryFigures
from sotto.errors import InvalidRequestError
from sotto.runner.commands import Ask, Command
from sotto.runner.residents import Admit, Refuse, Residents, Stage, Wish
from sotto.store.records import ModelRecord

THREAD, PROCESS = "thread", "process"
_VARIABLE = "SOTTO_ENGINE_HOST"

NOT_LOADED = "The model was unloaded before it could answer; ask again."

STACK_BYTES = 16 << 20
"""Of a thread that runs an engine: macOS gives other threads than the first 512 KB, less than deep Python needs."""

Visit = int
WishCallback = Callable[[Admit | Refuse], None]
AnswerCallback = Callable[[RequestEvent], None]


class CommandSink(Protocol):
    """What takes commands."""

    def send(self, command: Command) -> None:
        """Have a command carried out, in its turn."""


class Loop(CommandSink, Protocol):
    """What serves commands: `sotto.runner.loop.EngineLoop`, whose documentation counts, or one that stands for it."""

    def close(self) -> None:
        """End everything and make `run` return."""

    def run(self) -> None:
        """Serve commands until `close`."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A model that is loaded.

    Attributes:
        seat: Its place.
        record: Which one.
        info: What is known of it since it was loaded.
        nbytes: What it holds in memory, as last heard.
        stays: Seconds until it leaves, as things are; infinite where it does not.
    """

    seat: str
    record: ModelRecord
    info: ModelInfo
    nbytes: int
    stays: float


class Host(Protocol):
    """Whoever has engines, for callers who share them.

    Every method may be called on any thread. Callbacks may come on any thread too and must return at once. Each wish is
    answered once unless it is withdrawn, and an answer ends with one `Finished`, `Embedded`, `Counted` or `Failed`.
    """

    @property
    def slots(self) -> int:
        """How many answers of one model may be under way at a time; those beyond would only wait."""

    @property
    def standing(self) -> Sequence[Standing]:
        """The models that are loaded now."""

    def models(self) -> Sequence[ModelRecord]:
        """Return every model there is; may take a while."""

    def want(self, wish: Wish, callback: WishCallback) -> Visit:
        """Have a model loaded, and keep it until the visit is left; see `sotto.runner.residents`."""

    def leave(self, visit: Visit) -> None:
        """End a visit, or take the wish back that it began with."""

    def dismiss(self, record: ModelRecord, callback: Callable[[], None]) -> None:
        """Unload a model as soon as nobody asks it anything.

        Args:
            record: Which one.
            callback: Called once it is unloaded; at once where it is not loaded or still in use.
        """

    def ask(self, command: Ask, callback: AnswerCallback) -> None:
        """Have a request answered by the model in a seat, if it is still loaded; a count waits for no answer."""

    def cancel(self, request_id: str) -> None:
        """End an answer as cancelled; an id that is not known is ignored."""


def start_engine_thread(run: Callable[[], None], *, daemon: bool = False) -> threading.Thread:
    """Start a thread for an engine."""
    default_bytes = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=run, name="engine", daemon=daemon)
        thread.start()
    finally:
        threading.stack_size(default_bytes)
    return thread


def standing(residents: Residents, figures: MemoryFigures | None) -> list[Standing]:
    """Return how each of the loaded models stands.

    Args:
        residents: The models.
        figures: What they hold, as last heard.
    """
    held = figures.held if figures else {}
    return [
        Standing(one.seat, one.record, one.info, held.get(one.seat, one.info.weight_bytes), residents.stays(one))
        for one in residents.all
        if one.stage is Stage.READY and one.info is not None
    ]


def forced_kind() -> str:
    """Return the kind of host that the environment asks for, whatever was chosen; empty where it does not."""
    return os.environ.get(_VARIABLE, "")


def kind_of_host(chosen: str = THREAD) -> str:
    """Return whether engines live on a thread or in a process: as the environment has it, or else as was chosen.

    Raises:
        InvalidRequestError: It is neither.
    """
    kind = forced_kind() or chosen
    if kind not in (THREAD, PROCESS):
        raise InvalidRequestError(f"{_VARIABLE} must be {THREAD} or {PROCESS}, not {kind!r}.")
    return kind


def not_loaded(command: Ask) -> Failed:
    """Return the end of a request whose model has been unloaded in the meantime."""
    return Failed(command.request.id, NOT_LOADED)
