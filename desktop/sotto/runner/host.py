"""What hosts an engine, and what others may ask of it without knowing what that is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sotto.engine.memory_figures import MemoryFigures
from sotto.engine.types import (
    CountRequest,
    EmbedRequest,
    Failed,
    GenerateRequest,
    Loaded,
    ModelInfo,
    RequestEvent,
    Unloaded,
)
from sotto.store.records import ModelRecord

STACK_BYTES = 16 << 20
"""Of a thread that runs an engine: macOS gives other threads than the first 512 KB, less than deep Python needs."""

LoadEnd = Loaded | Unloaded | Failed
HeardLoad = Callable[[LoadEnd], None]
HeardAnswer = Callable[[RequestEvent], None]


class Loop(Protocol):
    """What serves commands: `sotto.runner.loop.EngineLoop`, whose documentation counts, or one that stands for it."""

    def load(self, record: ModelRecord, num_ctx: int | None = None, *, anyway: bool = False) -> None:
        """Load a model in place of what is loaded."""

    def unload(self) -> None:
        """Unload the model."""

    def generate(self, request: GenerateRequest) -> None:
        """Generate with the loaded model."""

    def embed(self, request: EmbedRequest) -> None:
        """Make vectors of texts with the loaded model."""

    def count(self, request: CountRequest) -> None:
        """Count the tokens of a conversation, beside whatever else is served."""

    def cancel(self, request_id: str) -> None:
        """End a request as cancelled."""

    def cancel_load(self) -> None:
        """Stop the load that runs or waits."""

    def measure(self, record: ModelRecord) -> None:
        """Find out what a model needs in memory, once there is nothing else to do."""

    def close(self) -> None:
        """End everything and make `run` return."""

    def run(self) -> None:
        """Serve commands until `close`."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The model that is loaded.

    Attributes:
        record: Which one; None while there is none.
        info: What is known of it since it was loaded; None while there is none.
        figures: What memory it takes, as last heard.
        num_ctx: The context it was loaded for, where one was asked for.
        lent: Whether it was loaded for those who ask by `Host`, and nobody else has taken to it.
    """

    record: ModelRecord | None = None
    info: ModelInfo | None = None
    figures: MemoryFigures | None = None
    num_ctx: int | None = None
    lent: bool = True


class Host(Protocol):
    """Whoever has an engine, for callers who share it: one model is loaded at a time.

    Every method may be called on any thread. What is `heard` comes on any thread too, and must be taken without delay;
    each load and unload is answered once, and an answer ends with one `Finished`, `Embedded` or `Failed`.

    """

    @property
    def slots(self) -> int:
        """How many answers may be under way at a time; those beyond would only wait."""

    @property
    def keep_alive(self) -> float | None:
        """Seconds that a model stays loaded when nobody asks it anything; None for as long as it may."""

    @property
    def standing(self) -> Standing:
        """The model that is loaded now."""

    def models(self) -> Sequence[ModelRecord]:
        """Return every model there is; may take a while."""

    def serves(self, record: ModelRecord, num_ctx: int | None) -> bool:
        """Tell whether a model is loaded so that it can be asked as things are."""

    def load(self, record: ModelRecord, num_ctx: int | None, heard: HeardLoad) -> None:
        """Load a model in place of what is loaded, once nobody else is at that."""

    def unload(self, heard: HeardLoad) -> None:
        """Give the model's memory back, once nobody else is at it."""

    def generate(self, record: ModelRecord, request: GenerateRequest, heard: HeardAnswer) -> None:
        """Let a model answer, if it is still loaded."""

    def embed(self, record: ModelRecord, request: EmbedRequest, heard: HeardAnswer) -> None:
        """Let a model make vectors of texts, if it is still loaded."""

    def cancel(self, request_id: str) -> None:
        """End an answer as cancelled; an id that is not known is ignored."""


def same(one: ModelRecord, other: ModelRecord) -> bool:
    """Tell whether two records are the same model."""
    return one.path == other.path or (bool(one.digest) and one.digest == other.digest)


def not_loaded(request: GenerateRequest | EmbedRequest) -> Failed:
    """Return the end of a request whose model has been unloaded in the meantime."""
    return Failed(request.id, "The model was unloaded before it could answer; ask again.")
