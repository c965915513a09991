"""What may be asked of an engine, wherever it runs: frozen values, which cross threads and processes as they are.

`sotto.runner.loop` says what every caller can rely on.
"""

from dataclasses import dataclass

from sotto.engine.contract.requests import CountRequest, EmbedRequest, GenerateRequest
from sotto.store.records import ModelRecord


@dataclass(frozen=True, slots=True)
class Load:
    """Load a model in place of what is in a seat, and end everything asked of that before.

    Attributes:
        record: The model.
        num_ctx: Most tokens that a conversation may hold; None as the model says, or as many as fit.
        anyway: Load it even where it is known not to fit.
        seat: Where to.
        roomy: Whether it fails where memory is short for a context of some length, because others could leave.
    """

    record: ModelRecord
    num_ctx: int | None = None
    anyway: bool = False
    seat: str = ""
    roomy: bool = False


@dataclass(frozen=True, slots=True)
class Unload:
    """Unload the model in a seat, and end everything asked of it before."""

    seat: str = ""


@dataclass(frozen=True, slots=True)
class Generate:
    """Generate with the model that is in a seat when the request's turn comes.

    Attributes:
        request: What to generate from.
        seat: Which model.
        background: Whether people who wait for others go first.
    """

    request: GenerateRequest
    seat: str = ""
    background: bool = False


@dataclass(frozen=True, slots=True)
class Embed:
    """Make vectors of texts with the model that is in a seat when the request's turn comes.

    Attributes:
        request: The texts.
        seat: Which model.
        background: Whether people who wait for others go first.
    """

    request: EmbedRequest
    seat: str = ""
    background: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """Count the tokens of a conversation, beside whatever else is served."""

    request: CountRequest
    seat: str = ""


@dataclass(frozen=True, slots=True)
class Cancel:
    """End a request as cancelled, wherever it is; an id that is not known has just ended and is ignored."""

    request_id: str


@dataclass(frozen=True, slots=True)
class CancelLoad:
    """Stop the load of a seat that runs or waits, if there is one; nothing is in it then."""

    seat: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """Find out what a model needs in memory, once there is nothing else to do."""

    record: ModelRecord


Ask = Generate | Embed | Count
"""Commands that are answered, by events that name the request."""
Command = Load | Unload | Ask | Cancel | CancelLoad | Measure
