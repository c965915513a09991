"""Commands to an engine, wherever it runs: frozen values that cross threads and processes unchanged.

`sotto.runner.loop` documents the guarantees.
"""

from dataclasses import dataclass

from sotto.engine.contract.requests import CountRequest, EmbedRequest, GenerateRequest
from sotto.store.records import ModelRecord


@dataclass(frozen=True, slots=True)
class Load:
    """Load a model into a seat, replacing the one there and cancelling its pending commands.

    Attributes:
        record: The model.
        num_ctx: Largest context in tokens; None for what the model declares, or as much as fits.
        anyway: Load it even if it is known not to fit.
        seat: Where to load it.
        roomy: Whether to fail if memory does not suffice for a useful context, because other models could be unloaded.
    """

    record: ModelRecord
    num_ctx: int | None = None
    anyway: bool = False
    seat: str = ""
    roomy: bool = False


@dataclass(frozen=True, slots=True)
class Unload:
    """Unload the model in a seat and cancel its pending commands."""

    seat: str = ""


@dataclass(frozen=True, slots=True)
class Generate:
    """Generate with the model that is in a seat when the request starts.

    Attributes:
        request: What to generate from.
        seat: The seat of the model.
        background: Whether requests that a person waits for go first.
    """

    request: GenerateRequest
    seat: str = ""
    background: bool = False


@dataclass(frozen=True, slots=True)
class Embed:
    """Embed texts with the model that is in a seat when the request starts.

    Attributes:
        request: The texts.
        seat: The seat of the model.
        background: Whether requests that a person waits for go first.
    """

    request: EmbedRequest
    seat: str = ""
    background: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """Count the tokens of a conversation, concurrently with other commands."""

    request: CountRequest
    seat: str = ""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel a request, running or waiting; an unknown id is ignored, since the request may just have ended."""

    request_id: str


@dataclass(frozen=True, slots=True)
class CancelLoad:
    """Cancel the running or waiting load of a seat, if any; the seat is then empty."""

    seat: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """Measure how much memory a model needs, once the loop is otherwise idle."""

    record: ModelRecord


Ask = Generate | Embed | Count
"""Commands answered by events that name the request."""
Command = Load | Unload | Ask | Cancel | CancelLoad | Measure
