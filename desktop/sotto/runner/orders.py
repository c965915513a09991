"""What waits for the engines' loop, and whose turn is next."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sotto.engine.contract.types import EmbedRequest, GenerateRequest
from sotto.store.records import ModelRecord

if TYPE_CHECKING:
    from sotto.engine.prompt.request_preparation import Prepared
    from sotto.engine.vectors.embedding import PreparedTexts


@dataclass(eq=False)
class Order:
    """Something to be served in its turn; `cancelled` asks it to end early."""

    seat: str
    cancelled: threading.Event = field(default_factory=threading.Event, init=False)


@dataclass(eq=False)
class LoadOrder(Order):
    """A model that is to be in a seat."""

    record: ModelRecord
    num_ctx: int | None
    anyway: bool
    roomy: bool


@dataclass(eq=False)
class UnloadOrder(Order):
    """A seat that is to be empty."""


@dataclass(eq=False)
class RequestOrder(Order):
    """Something to be answered.

    Attributes:
        background: Whether people who wait for others go first.
        received: `time.perf_counter_ns()` when it came.
        prepared: Becomes its tokens, once they are asked for.
    """

    request: GenerateRequest | EmbedRequest
    background: bool
    received: int
    prepared: "Future[Prepared] | Future[PreparedTexts] | None" = None


def in_order(waiting: Sequence[Order]) -> list[Order]:
    """Return what comes next for each seat: a load or unload, or one of the requests before that.

    Of requests for one seat, those of people come first.

    Args:
        waiting: Everything that waits, in the order asked.
    """
    before: dict[str, list[Order]] = {}
    shut: set[str] = set()
    for one in waiting:
        mine = before.setdefault(one.seat, [])
        if one.seat not in shut and (isinstance(one, RequestOrder) or not mine):
            mine.append(one)
        if not isinstance(one, RequestOrder):
            shut.add(one.seat)
    heads = {min(orders, key=_is_background) for orders in before.values()}
    return [one for one in waiting if one in heads]


def _is_background(order: Order) -> bool:
    return isinstance(order, RequestOrder) and order.background
